//! The windows of a partition on a core. A table has no state: whether a partition may run follows from the time alone. So nothing
//! is charged, and a window that was noticed late ends no later for that.

use alloc::vec::Vec;
use tactus_task::Window;
use tactus_time::{CoreId, Duration, Instant};

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
    pub(super) fn new(frame: Duration, windows: &[Window], core: CoreId) -> Table {
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
