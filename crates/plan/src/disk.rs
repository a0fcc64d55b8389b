//! From a disk of the system file and its check to what runs, and to what the run is held against.

use tactus_analysis::DiskCheck;
use tactus_disk::{Arrivals, CacheSettings, Drive, Service, Station};
use tactus_model::{Disk, System};
use tactus_trace::{DiskClientView, DiskView};

/// The stations of all disks, in file order, at time zero. A disk that could not be surveyed has none.
pub(crate) fn stations(system: &System, checks: &[DiskCheck]) -> Vec<Station> {
    let disks = system.disks.iter().zip(checks).enumerate();
    disks.filter_map(|(n, (disk, check))| station(disk, check, system.seed.wrapping_add(n as u64))).collect()
}

fn station(disk: &Disk, check: &DiskCheck, seed: u64) -> Option<Station> {
    let drive = Drive::new(disk.actual.geometry().ok()?, CacheSettings::default());
    let clients = disk.streams();
    let service = Service::new(disk.queue, Station::room(&clients), check.map.clone()?, check.after_pause);
    Some(Station::new(service, drive, clients, seed))
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
        });
        DiskView { name: disk.name.clone(), clients: clients.collect() }
    };
    system.disks.iter().zip(checks).map(view).collect()
}
