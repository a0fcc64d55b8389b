//! Meshes of 32 to 1,024 nodes at full load, all of whose nodes send to a node drawn for each: what is measured against the bound.
//!
//! ```text
//! cargo run --release -p tactus-network --example mesh
//! ```

use tactus_network::mesh::{Mesh, Node};
use tactus_network::simulate::{with_rates, with_slots, Limit, Sender, Traffic};
use tactus_network::slots::Table;
use tactus_network::{rates, Cycles, Flow};

const CYCLES: Cycles = Cycles(100_000);
/// Flits of a message.
const FLITS: u32 = 4;

fn flows(nodes: u32, period: u64) -> Vec<Flow> {
    let mut state = 1_u64;
    let mut drawn = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % nodes
    };
    (0..nodes).map(|from| Flow { from: Node(from), to: Node(drawn()), flits: FLITS, period: Cycles(period) }).collect()
}

/// The longest that was measured, the largest bound, and the largest share of a bound that was reached.
fn compare(traffic: &[Traffic], bounds: &[Cycles]) -> (Cycles, Cycles, f64) {
    let share = |(it, bound): (&Traffic, &Cycles)| it.longest.0 as f64 / bound.0 as f64;
    let longest = traffic.iter().map(|it| it.longest).max().unwrap_or_default();
    let bound = bounds.iter().copied().max().unwrap_or_default();
    (longest, bound, traffic.iter().zip(bounds).map(share).fold(0.0, f64::max))
}

fn main() {
    for (columns, rows) in [(8, 4), (8, 8), (16, 16), (32, 32)] {
        let Some(mesh) = Mesh::new(columns, rows, Cycles(2)) else { continue };
        // The shortest period that the busiest link carries.
        let carried = (FLITS.into()..10_000).find_map(|period| {
            let flows = flows(mesh.nodes(), period);
            rates::bounds(&mesh, &flows).ok().map(|bounds| (flows, bounds))
        });
        let Some((full, _)) = carried else { continue };
        let full = full[0].period.0;
        let senders = vec![Sender::Floods; mesh.nodes() as usize];
        println!("{columns} x {rows}: the busiest link carries messages of {FLITS} flits each {full} cycles");
        for period in [full, 2 * full, 4 * full] {
            let own = flows(mesh.nodes(), period);
            let Ok(bounds) = rates::bounds(&mesh, &own) else { continue };
            let Ok(traffic) = with_rates(&mesh, &own, &senders, Limit::Declared, CYCLES) else { continue };
            let (longest, bound, share) = compare(&traffic, &bounds);
            let messages = traffic.iter().map(|it| it.messages).sum::<u64>();
            println!("  each {period}: {messages} messages, at most {longest}, bound {bound}, worst share {share:.3}");
        }
        let slotted = (full..10_000).find_map(|period| {
            let flows = flows(mesh.nodes(), period);
            Table::new(&mesh, &flows, 64).ok().map(|table| (flows, table))
        });
        let Some((own, table)) = slotted else { continue };
        let Ok(traffic) = with_slots(&mesh, &own, &senders, &table, CYCLES) else { continue };
        let (longest, bound, share) = compare(&traffic, &table.bounds(&mesh, &own));
        println!(
            "  in slots of 64, each {}: at most {longest}, bound {bound}, worst share {share:.3}",
            own[0].period.0
        );
    }
}
