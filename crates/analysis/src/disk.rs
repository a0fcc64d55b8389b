//! The check of disks: whether the requests of each disk's clients are served in time, whatever happens, and how long each
//! takes at most.
//!
//! What a request takes is the longest cell of the surveyed map that leads to its client. One request of each busy time comes
//! after a pause and may take as long as the drive's longest; one that is promised nothing may be under way when it begins.
//! EDF: `tactus_disk::admission::edf`; G-MATRIX: `any_order`.
//!
//! A drive with a write cache may, for one request of a client that writes, write all that it keeps; its arm is anywhere
//! afterwards, so that the next request takes as long as after a pause. A request that the drive does not answer is given up after
//! twice the longest, and the next one comes after a pause as well.

use tactus_disk::admission::{any_order, busy_time, edf, Beside, Refused, Stream};
use tactus_disk::{longest, services, survey, Arrivals, LatencyMap, Policy};
use tactus_model::{Disk, System};
use tactus_time::Duration;

/// What was found about a disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiskCheck {
    /// Its name.
    pub name: String,
    /// The map of the drive that the file names; nothing if the drive cannot be surveyed.
    pub map: Option<LatencyMap>,
    /// The longest that any request takes after a pause.
    pub after_pause: Duration,
    /// The longest time that the drive is busy at a time, as far as something is promised.
    pub busy: Duration,
    /// The share of its time that promised requests take at most, in thousandths, rounded up.
    pub share: u64,
    /// Each client, in file order.
    pub clients: Vec<DiskClientVerdict>,
    /// What fails: the line of the system file, and a sentence; nothing if the disk is accepted.
    pub refused: Option<(usize, String)>,
}

/// The verdict on a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiskClientVerdict {
    /// Its name.
    pub name: String,
    /// What one request takes at most right after another.
    pub service: Duration,
    /// How long it takes at most from its arrival to its end; nothing if it is promised nothing.
    pub bound: Option<Duration>,
    /// Its deadline; nothing if it is best-effort.
    pub deadline: Option<Duration>,
}

/// Checks every disk of a system, in file order.
pub fn disks(system: &System) -> Vec<DiskCheck> {
    system.disks.iter().map(disk).collect()
}

fn disk(disk: &Disk) -> DiskCheck {
    let mut check = DiskCheck {
        name: disk.name.clone(),
        map: None,
        after_pause: Duration::ZERO,
        busy: Duration::ZERO,
        share: 0,
        clients: Vec::new(),
        refused: None,
    };
    let clients = disk.streams();
    let geometry = match disk.drive.geometry() {
        Ok(geometry) => geometry,
        Err(error) => return DiskCheck { refused: Some((disk.line, error.to_string())), ..check },
    };
    let map = match survey(&geometry, &clients, disk.map) {
        Ok(map) => map,
        Err(error) => return DiskCheck { refused: Some((disk.line, error.to_string())), ..check },
    };
    let mut services = services(&map, &clients);
    check.after_pause = longest(&geometry, &clients);
    let shortest = services.iter().copied().min().unwrap_or_default();
    let more = check.after_pause.saturating_sub(shortest);
    let times = |time: Duration, many: u32| time.checked_mul(many.into()).unwrap_or(Duration::MAX);
    if disk.write_cache > 0 {
        for (_, service) in clients.iter().zip(&mut services).filter(|(client, _)| client.write) {
            *service = times(check.after_pause, disk.write_cache).checked_add(more).unwrap_or(Duration::MAX);
        }
    }
    let given_up = times(check.after_pause, 2 * disk.write_cache.max(1)).checked_add(more).unwrap_or(Duration::MAX);
    let after_pause = more.checked_add(times(given_up, disk.tolerated)).unwrap_or(Duration::MAX);
    let mut beside = Beside { after_pause, ..Beside::default() };
    let (mut streams, mut places) = (Vec::new(), Vec::new());
    for (n, (client, service)) in clients.iter().zip(&services).enumerate() {
        match client.arrivals {
            Arrivals::Periodic { period, deadline, .. } => {
                streams.push(Stream { period, deadline, service: *service });
                places.push(n);
            }
            Arrivals::BestEffort { .. } => beside.best_effort = beside.best_effort.max(*service),
        }
    }
    let part = |stream: &Stream| {
        (u128::from(stream.service.as_nanos()) * 1_000_000).div_ceil(u128::from(stream.period.as_nanos().max(1)))
    };
    check.share = u64::try_from(streams.iter().map(part).sum::<u128>().div_ceil(1_000)).unwrap_or(u64::MAX);
    let bounds = match (streams.is_empty(), disk.queue) {
        (true, _) => Ok(Vec::new()),
        (_, Policy::Edf) => edf(&streams, &beside),
        _ => any_order(&streams, &beside),
    };
    check.busy = busy_time(&streams, &beside).unwrap_or_default();
    check.clients = disk
        .clients
        .iter()
        .zip(&services)
        .map(|(client, service)| DiskClientVerdict {
            name: client.name.clone(),
            service: *service,
            bound: None,
            deadline: match client.client.arrivals {
                Arrivals::Periodic { deadline, .. } => Some(deadline),
                Arrivals::BestEffort { .. } => None,
            },
        })
        .collect();
    match bounds {
        Ok(bounds) => {
            for (place, bound) in places.into_iter().zip(bounds) {
                check.clients[place].bound = Some(bound);
            }
        }
        Err(why) => check.refused = Some(refused(disk, &places, &why)),
    }
    check.map = Some(map);
    check
}

/// The refusal with the clients' names.
fn refused(disk: &Disk, places: &[usize], why: &Refused) -> (usize, String) {
    let named = |stream: usize| places.get(stream).map(|place| &disk.clients[*place]);
    match *why {
        Refused::Busy(stream, busy) => match named(stream) {
            Some(client) => {
                let (name, edf) = (&client.name, "or write queue = \"edf\", whose bound is sharper");
                let what =
                    format!("the drive may be busy for {busy} at a time, longer than the deadline of client `{name}`");
                (client.line, format!("{what}; lengthen the deadline or periods, {edf}"))
            }
            None => (disk.line, why.to_string()),
        },
        Refused::Nothing(stream) => (named(stream).map_or(disk.line, |client| client.line), why.to_string()),
        _ => (disk.line, why.to_string()),
    }
}
