//! Partitions: servers whose time is the windows of a static table. A window begins and ends by the table, whatever runs;
//! what a partition leaves of its window stays idle, but for partitions that may go on in the background.

use super::domain::Domain;
use super::parameters::{Partitions, Server, Tree};
use super::timetable::Table;
use crate::{PolicyConfig, PolicyConfigError};
use alloc::vec::Vec;
use tactus_task::{ServerKind, Window};
use tactus_time::{CoreId, Instant, TaskId};

/// Gives the partitions of the domain their tables.
pub(super) fn attach(domain: &mut Domain, partitions: &Partitions) {
    for n in 0..domain.vps.len() {
        let vp = &domain.vps[n];
        let core = domain.core_states[vp.core].id;
        let windows = partitions.windows.get(usize::from(vp.server)).map_or(&[][..], Vec::as_slice);
        if windows.is_empty() {
            continue;
        }
        if let Some(budget) = &mut domain.vps[n].budget {
            budget.follow(Table::new(partitions.frame, windows, core));
        }
        domain.show(n, Instant::ZERO);
    }
}

/// Finds the first thing that is wrong with partitions, or with windows where there are none.
pub(super) fn check(setup: &PolicyConfig, tree: &Tree) -> Result<(), PolicyConfigError> {
    let partitions = match &setup.kind {
        crate::PolicySpec::Partitions(partitions) => Some(partitions),
        _ => None,
    };
    for (n, server) in tree.servers.iter().enumerate().skip(1) {
        let fits = match partitions {
            Some(all) if server.parent == 0 => fits(all, n, server),
            Some(all) => !is_partition(server) && all.windows.get(n).is_none_or(Vec::is_empty),
            None => !is_partition(server),
        };
        if !fits {
            return Err(PolicyConfigError::ServerWindows(n as u16));
        }
    }
    let in_root = tree.places.iter().position(|place| place.server == 0).filter(|_| partitions.is_some());
    in_root.map_or(Ok(()), |task| Err(PolicyConfigError::TaskServer(TaskId(task as u16))))
}

fn is_partition(server: &Server) -> bool {
    server.supply.is_some_and(|supply| supply.kind == ServerKind::Windows)
}

/// Whether the partition has windows on each of its cores and no others, within the frame, and apart from all others.
fn fits(all: &Partitions, n: usize, server: &Server) -> bool {
    let Some(windows) = all.windows.get(n) else { return false };
    let apart = |window: &Window| {
        let others = all.windows.iter().flatten().filter(|other| other.core == window.core && *other != window);
        let overlaps = |other: &Window| other.start < window.end() && window.start < other.end();
        !others.into_iter().any(overlaps) && all.windows.iter().flatten().filter(|other| *other == window).count() == 1
    };
    let sound = |window: &Window| {
        server.cores.contains(window.core) && !window.length.is_zero() && window.end() <= all.frame && apart(window)
    };
    let served = |core: CoreId| windows.iter().any(|window| window.core == core);
    is_partition(server)
        && server.supply.is_some_and(|supply| supply.period == all.frame)
        && windows.iter().all(sound)
        && server.cores.iter().all(served)
}
