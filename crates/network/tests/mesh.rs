//! What is measured on a mesh at full load is below its bound, and a node that floods moves nobody further than that.

use proptest::prelude::*;
use tactus_network::mesh::{Mesh, Node};
use tactus_network::simulate::{with_rates, with_slots, Limit, Sender};
use tactus_network::slots::Table;
use tactus_network::{rates, Cycles, Flow, NetworkError};

fn mesh(columns: u32, rows: u32) -> Mesh {
    Mesh::new(columns, rows, Cycles(2)).expect("a mesh")
}

fn flow(from: u32, to: u32, flits: u32, period: u64) -> Flow {
    Flow { from: Node(from), to: Node(to), flits, period: Cycles(period) }
}

#[test]
fn three_flows_to_one_node_wait_for_each_other_as_the_theorem_says() {
    // Node 0 to 2 by way of 1, and 1 to 2: they meet on the link from 1 to 2 and on the way out.
    let (mesh, flows) = (mesh(3, 1), [flow(0, 2, 4, 100), flow(1, 2, 4, 100)]);
    let bounds = rates::bounds(&mesh, &flows).expect("there is room");
    // In: 4. East from 0: 4 + 0.04·3. East from 1: 8 and a little. Out: 8 and a little more. Three routers of two cycles.
    assert_eq!(bounds[0], Cycles(4 + 4 + 8 + 8 + 3 * 2));
    assert_eq!(bounds[1], Cycles(4 + 8 + 8 + 2 * 2));
    let both = [Sender::Periodic(Cycles(0)); 2];
    let traffic = with_rates(&mesh, &flows, &both, Limit::Declared, Cycles(1_000)).expect("flows");
    // Four flits one behind the other on four links: 3 + 4, and 3 · 2 in routers.
    assert!(traffic[0].longest >= Cycles(13) && traffic[0].longest <= bounds[0], "{traffic:?}");
}

#[test]
fn what_a_mesh_does_not_carry_is_refused() {
    let flows = [flow(0, 3, 60, 100), flow(1, 3, 60, 100)];
    assert_eq!(rates::bounds(&mesh(4, 1), &flows), Err(NetworkError::Overload { flow: 1 }));
    assert_eq!(Table::new(&mesh(4, 1), &flows, 100), Err(NetworkError::NoSlots { flow: 1 }));
    for bad in [flow(0, 4, 1, 10), flow(0, 1, 0, 10), flow(0, 1, 1, 0)] {
        assert_eq!(rates::bounds(&mesh(4, 1), &[bad]), Err(NetworkError::NoFlow { flow: 0 }));
    }
    assert!(Mesh::new(0, 4, Cycles(1)).is_none() && Mesh::new(1 << 16, 1 << 16, Cycles(1)).is_none());
}

#[test]
fn a_node_that_floods_is_held_to_its_limit_and_without_one_breaks_the_bounds_of_others() {
    let mesh = mesh(4, 4);
    // All of the lowest row to one corner, and the node beside that corner, which floods.
    let flows: Vec<Flow> = (0..15).map(|from| flow(from, 15, 4, 100)).collect();
    let bounds = rates::bounds(&mesh, &flows).expect("there is room");
    let senders = |flood: Sender| -> Vec<Sender> {
        (0..15).map(|n| if n == 14 { flood } else { Sender::Periodic(Cycles(0)) }).collect()
    };
    let run =
        |flood: Sender, limit: Limit| with_rates(&mesh, &flows, &senders(flood), limit, Cycles(20_000)).expect("flows");
    let worst =
        |flood: Sender, limit: Limit| -> Vec<Cycles> { run(flood, limit).iter().map(|it| it.longest).collect() };
    let held = worst(Sender::Floods, Limit::Declared);
    assert!(held.iter().zip(&bounds).all(|(measured, bound)| measured <= bound));
    let free = worst(Sender::Floods, Limit::None);
    assert!(free[..14].iter().zip(&bounds).any(|(measured, bound)| measured > bound), "a check that could not fail");
    // In slots, what the others do is the same whether it floods or is silent.
    let table = Table::new(&mesh, &flows, 100).expect("there is room");
    let slots = |flood: Sender| with_slots(&mesh, &flows, &senders(flood), &table, Cycles(20_000)).expect("flows");
    let (loud, silent) = (slots(Sender::Floods), slots(Sender::Silent));
    assert_eq!(loud[..14], silent[..14]);
    assert!(loud.iter().zip(table.bounds(&mesh, &flows)).all(|(it, bound)| it.longest <= bound && it.messages > 0));
}

#[test]
fn what_lost_its_distance_on_the_way_keeps_a_message_longer_than_all_others_take_and_no_longer_than_its_bound() {
    // From both ends of a row a flow of single flits to the middle, each held up by a long message that goes one node far.
    let mesh = mesh(5, 1);
    let flows = [flow(0, 1, 20, 60), flow(4, 3, 20, 60), flow(0, 2, 1, 3), flow(4, 2, 1, 3), flow(2, 2, 1, 61)];
    let bound = rates::bounds(&mesh, &flows).expect("there is room")[4];
    let traffic = with_rates(&mesh, &flows, &[Sender::Periodic(Cycles(0)); 5], Limit::Declared, Cycles(20_000));
    let longest = traffic.expect("flows")[4].longest;
    // Itself on the way in, and on the way out each of the three flows' messages once; between them a router.
    let at_once = Cycles(1 + 3 + mesh.router.0);
    assert!(at_once < longest && longest <= bound, "{longest:?} of {bound:?}");
}

fn meshes() -> impl Strategy<Value = (Mesh, Vec<Flow>, Vec<Sender>)> {
    (1..6_u32, 1..6_u32, 0..4_u64).prop_flat_map(|(columns, rows, router)| {
        let mesh = Mesh::new(columns, rows, Cycles(router)).expect("a mesh");
        let nodes = mesh.nodes();
        let flow = (0..nodes, 0..nodes, 1..9_u32, 40..400_u64, 0..60_u64);
        prop::collection::vec(flow, 1..24).prop_map(move |drawn| {
            let flows =
                drawn.iter().map(|(from, to, flits, period, _)| self::flow(*from, *to, *flits, *period)).collect();
            let senders = drawn.iter().map(|(.., from)| Sender::Periodic(Cycles(*from))).collect();
            (mesh, flows, senders)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_message_takes_longer_than_its_bound((mesh, flows, senders) in meshes()) {
        if let Ok(bounds) = rates::bounds(&mesh, &flows) {
            let traffic = with_rates(&mesh, &flows, &senders, Limit::Declared, Cycles(2_000)).expect("flows");
            for (it, bound) in traffic.iter().zip(&bounds) {
                prop_assert!(it.messages > 0 && it.longest <= *bound, "{it:?} against {bound:?}");
            }
        }
        if let Ok(table) = Table::new(&mesh, &flows, 64) {
            let bounds = table.bounds(&mesh, &flows);
            let traffic = with_slots(&mesh, &flows, &senders, &table, Cycles(2_000)).expect("flows");
            for (it, bound) in traffic.iter().zip(&bounds) {
                prop_assert!(it.messages > 0 && it.longest <= *bound, "{it:?} against {bound:?}");
            }
        }
    }
}
