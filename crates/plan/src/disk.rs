//! From a disk of the system file and its check to what runs, and to what the run is held against.

use tactus_analysis::DiskCheck;
use tactus_disk::{Arrivals, ClientSetup, DiskSetup, Limit};
use tactus_model::{Disk, DiskClient, System};
use tactus_trace::{DiskClientView, DiskView, Tolerated};

/// What all disks are made from, in file order. One that could not be surveyed is left out, and refused by the check.
pub(crate) fn setups(system: &System, checks: &[DiskCheck]) -> Vec<DiskSetup> {
    let disks = system.disks.iter().zip(checks).enumerate();
    disks.filter_map(|(n, (disk, check))| setup(n, disk, check, system.seed.wrapping_add(n as u64))).collect()
}

fn setup(number: usize, disk: &Disk, check: &DiskCheck, seed: u64) -> Option<DiskSetup> {
    let client = |it: &DiskClient| ClientSetup {
        client: it.client,
        budget: it.budget,
        buffer: it.buffer.map(|buffer| buffer as u32),
    };
    Some(DiskSetup {
        number: number as u32,
        seed,
        drive: disk.drive,
        actual: disk.actual,
        queue: disk.queue,
        write_cache: disk.write_cache,
        faults: disk.faults,
        after_pause: check.after_pause,
        map: check.map.clone()?,
        clients: disk.clients.iter().map(client).collect(),
    })
}

/// What the judge knows of all disks.
pub(crate) fn views(system: &System, checks: &[DiskCheck]) -> Vec<DiskView> {
    let view = |(disk, check): (&Disk, &DiskCheck)| {
        let clients = disk.clients.iter().zip(&check.clients).map(|(client, verdict)| DiskClientView {
            name: client.name.clone(),
            periodic: match client.client.arrivals {
                Arrivals::Periodic { offset, period, deadline } => Some([offset, period, deadline]),
                Arrivals::BestEffort { .. } => None,
            },
            bound: verdict.bound,
            places: client.client.places,
            sporadic: false,
            limit: client.budget.map(|it| {
                let Limit { budget, request } = Limit::new(it, &client.client, check.after_pause, disk.write_cache);
                [budget.time, budget.per, request]
            }),
        });
        let tolerated = Tolerated { faults: disk.tolerated, within: check.busy };
        DiskView { name: disk.name.clone(), clients: clients.collect(), tolerated }
    };
    system.disks.iter().zip(checks).map(view).collect()
}
