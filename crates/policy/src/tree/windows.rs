//! Partitions: servers whose time is the windows of a static table. A window begins and ends by the table, whatever runs;
//! what a partition leaves of its window stays idle, but for partitions that may go on in the background.
//!
//! A table has no state: whether a partition may run follows from the time alone. So nothing is charged, and a window
//! that was noticed late ends no later for that.

use super::domain::Domain;
use super::{Server, ServerKind, Tree};
use crate::codec::{put, DecodeError, Input, Parameters};
use crate::{PolicyConfig, PolicyConfigError};
use alloc::vec::Vec;
use tactus_task::Window;
use tactus_time::{CoreId, Duration, Instant, TaskId};

/// A tree whose outermost servers are partitions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partitions {
    /// The servers and tasks. Each server in the root is of [`ServerKind::Windows`], and no task is in the root.
    pub tree: Tree,
    /// The length of the major frame, with which all windows repeat.
    pub frame: Duration,
    /// The windows of each server, in the order of the servers; none of the root and of servers inside partitions.
    pub windows: Vec<Vec<Window>>,
}

/// The windows of one partition on one core.
#[derive(Clone, Debug)]
pub(super) struct Table {
    frame: u64,
    /// Start and end in the frame, in their order.
    windows: Vec<(u64, u64)>,
}

/// Where an instant lies in a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position {
    /// Whether it lies in a window.
    pub inside: bool,
    /// The end of that window, or the start of the next one.
    pub until: Instant,
}

impl Table {
    fn new(frame: Duration, windows: &[Window], core: CoreId) -> Table {
        let own = windows.iter().filter(|window| window.core == core);
        let mut windows: Vec<(u64, u64)> =
            own.map(|window| (window.start.as_nanos(), window.end().as_nanos())).collect();
        windows.sort_unstable();
        Table { frame: frame.as_nanos().max(1), windows }
    }

    /// Where `now` lies.
    pub(super) fn position(&self, now: Instant) -> Position {
        let now = now.as_nanos();
        let (begin, offset) = (now - now % self.frame, now % self.frame);
        let until = |offset: u64| Instant::from_nanos(begin.saturating_add(offset));
        match self.windows.get(self.windows.partition_point(|(_, end)| *end <= offset)) {
            Some((start, end)) if *start <= offset => Position { inside: true, until: until(*end) },
            Some((start, _)) => Position { inside: false, until: until(*start) },
            None => match self.windows.first() {
                Some((start, _)) => Position { inside: false, until: until(self.frame.saturating_add(*start)) },
                None => Position { inside: false, until: Instant::NEVER },
            },
        }
    }
}

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

const WINDOW_BYTES: usize = 1 + 2 * 8;

impl Parameters for Partitions {
    fn encode(&self, out: &mut Vec<u8>) {
        self.tree.encode(out);
        put(out, self.frame.as_nanos());
        put(out, self.windows.len() as u64);
        for windows in &self.windows {
            put(out, windows.len() as u64);
            for window in windows {
                out.push(window.core.0);
                put(out, window.start.as_nanos());
                put(out, window.length.as_nanos());
            }
        }
    }

    fn decode(input: &mut Input) -> Result<Partitions, DecodeError> {
        let tree = Tree::decode(input)?;
        let frame = input.time()?;
        let windows = input.list(8, |input| {
            input.list(WINDOW_BYTES, |input| {
                Ok(Window { core: CoreId(input.byte()?), start: input.time()?, length: input.time()? })
            })
        })?;
        Ok(Partitions { tree, frame, windows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_tells_the_window_and_what_comes_next() {
        let ms = Duration::from_millis;
        let window = |start, length| Window { core: CoreId(0), start: ms(start), length: ms(length) };
        let table = Table::new(ms(20), &[window(12, 8), window(3, 4)], CoreId(0));
        let position = |at| {
            let Position { inside, until } = table.position(Instant::ZERO + ms(at));
            (inside, until.as_nanos() / 1_000_000)
        };
        let expected =
            [(0, (false, 3)), (3, (true, 7)), (6, (true, 7)), (7, (false, 12)), (12, (true, 20)), (20, (false, 23))];
        for (at, told) in expected {
            assert_eq!(position(at), told, "at {at}");
            assert_eq!(position(at + 40), (told.0, told.1 + 40), "at {at} of the third frame");
        }
        assert_eq!(Table::new(ms(20), &[], CoreId(0)).position(Instant::ZERO).until, Instant::NEVER);
    }
}
