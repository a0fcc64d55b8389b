//! The supply of a static table of windows: the least service in any interval of a length, at its worst phase.
//!
//! Mok, Feng and Chen, "Resource partition for real-time systems", RTAS 2001 (static partitions); Shin and Lee, RTSS 2003
//! (supply-bound functions). With S(t) the service in [0, t), an interval of length w that opens at s has S(s + w) − S(s).
//! As s grows, that falls only while s lies in a window and s + w does not, so that some least value is found with s at
//! the end of a window.
//!
//! Where all tasks of a partition are strictly periodic, a busy period opens at a release, and releases lie at few phases
//! of the frame: task (O, T) has those that are O mod gcd(T, F). The least over these alone is no less; for a task that is
//! released whenever its window begins, nothing is lost at all.
//!
//! With several schedules, each frame may have the windows of any of them: an interval opens in one, has the least of all in whole
//! frames, and ends in that which has given least until then. So the bound holds across each switch, in whichever order they come.

use crate::reservation::supply::Supply;
use tactus_time::Duration;

/// The windows of one partition on one core.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WindowTable {
    frame: u64,
    schedules: Vec<Schedule>,
}

/// The windows in frames of one schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Schedule {
    frame: u64,
    /// Start and end in the frame, in their order, apart from each other.
    windows: Vec<(u64, u64)>,
    /// The service from the start of the frame until each window's start, and in the end the whole frame's.
    before: Vec<u64>,
    /// Where in the frame intervals open that count.
    phases: Vec<u64>,
}

/// With more phases than this, all are assumed to occur.
const MOST_PHASES: u64 = 4_096;

impl WindowTable {
    /// The windows, as start and length in a frame of this length. `None` if they overlap, leave the frame, or are none.
    pub fn new(frame: Duration, windows: impl IntoIterator<Item = (Duration, Duration)>) -> Option<WindowTable> {
        WindowTable::of_schedules(frame, [windows])
    }

    /// The same where each frame has the windows of any of these schedules. `None` also if one has none.
    pub fn of_schedules<W>(frame: Duration, schedules: impl IntoIterator<Item = W>) -> Option<WindowTable>
    where
        W: IntoIterator<Item = (Duration, Duration)>,
    {
        let schedules: Option<Vec<Schedule>> =
            schedules.into_iter().map(|windows| Schedule::new(frame, windows)).collect();
        let schedules = schedules.filter(|all| !all.is_empty())?;
        Some(WindowTable { frame: frame.as_nanos(), schedules })
    }

    /// The same for intervals that open at releases of these strictly periodic tasks, given as (offset, period), alone.
    pub fn from_releases(&self, tasks: impl IntoIterator<Item = (Duration, Duration)>) -> WindowTable {
        let mut phases = Vec::new();
        for (offset, period) in tasks {
            let step = gcd(period.as_nanos(), self.frame).max(1);
            if phases.len() as u64 + self.frame / step > MOST_PHASES {
                return self.clone();
            }
            phases.extend((0..self.frame / step).map(|k| offset.as_nanos() % step + k * step));
        }
        if phases.is_empty() {
            return self.clone();
        }
        phases.sort_unstable();
        let own = |it: &Schedule| Schedule { phases: it.worst(&phases), ..it.clone() };
        WindowTable { frame: self.frame, schedules: self.schedules.iter().map(own).collect() }
    }

    /// What a frame has at least.
    fn whole(&self) -> u64 {
        self.schedules.iter().map(Schedule::whole).min().unwrap_or(0)
    }

    /// What a frame has at least until then.
    fn until(&self, t: u64) -> u64 {
        self.schedules.iter().map(|it| it.service(t)).min().unwrap_or(0)
    }
}

impl Schedule {
    fn new(frame: Duration, windows: impl IntoIterator<Item = (Duration, Duration)>) -> Option<Schedule> {
        let mut list: Vec<(u64, u64)> = Vec::new();
        for (start, length) in windows {
            list.push((start.as_nanos(), start.checked_add(length)?.as_nanos()));
        }
        list.sort_unstable();
        let apart = list.windows(2).all(|pair| pair[0].1 <= pair[1].0);
        let whole = list.iter().all(|(start, end)| start < end && *end <= frame.as_nanos());
        if list.is_empty() || !apart || !whole {
            return None;
        }
        let mut before = vec![0];
        for (start, end) in &list {
            before.push(before[before.len() - 1] + end - start);
        }
        let phases = list.iter().map(|(_, end)| *end).collect();
        Some(Schedule { frame: frame.as_nanos(), windows: list, before, phases })
    }

    /// What a whole frame has.
    fn whole(&self) -> u64 {
        self.before[self.windows.len()]
    }

    /// Of these phases, in their order, those that can be the worst: of all in one window the last, which loses most of it, and of all
    /// between two windows the first, which waits longest.
    fn worst(&self, phases: &[u64]) -> Vec<u64> {
        let mut worst: Vec<(usize, bool, u64)> = Vec::new();
        for &s in phases {
            let n = self.windows.partition_point(|(start, _)| *start <= s);
            let inside = n > 0 && s < self.windows[n - 1].1;
            match worst.last_mut().filter(|(other, was, _)| (*other, *was) == (n, inside)) {
                Some((.., last)) if inside => *last = s,
                Some(_) => {}
                None => worst.push((n, inside, s)),
            }
        }
        worst.into_iter().map(|(.., s)| s).collect()
    }

    /// S(t), for t in the frame or at its end.
    fn service(&self, t: u64) -> u64 {
        let n = self.windows.partition_point(|(start, _)| *start <= t);
        match n.checked_sub(1).map(|last| (self.before[last], self.windows[last])) {
            Some((before, (start, end))) => before + t.min(end) - start,
            None => 0,
        }
    }

    /// What an interval that opens at `s` has in the rest of the frame.
    fn rest(&self, s: u64) -> u64 {
        self.whole() - self.service(s)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        _ => gcd(b, a % b),
    }
}

impl Supply for WindowTable {
    fn least(&self, window: Duration) -> Duration {
        let (frames, rest) = (window.as_nanos() / self.frame, window.as_nanos() % self.frame);
        let from = |schedule: &Schedule, s: u64| match (s + rest).checked_sub(self.frame) {
            // The interval ends in the frame in which it opens.
            None if frames == 0 => schedule.service(s + rest) - schedule.service(s),
            None => schedule.rest(s) + self.until(s + rest) + (frames - 1).saturating_mul(self.whole()),
            Some(last) => (schedule.rest(s) + self.until(last)).saturating_add(frames.saturating_mul(self.whole())),
        };
        let all = self.schedules.iter().flat_map(|it| it.phases.iter().map(move |s| from(it, *s)));
        Duration::from_nanos(all.min().unwrap_or(0))
    }
    fn share(&self) -> (Duration, Duration) {
        (Duration::from_nanos(self.whole()), Duration::from_nanos(self.frame))
    }
    fn delay(&self) -> Duration {
        // Δ: at the start of each window, what a line of slope α would have given since an interval opened. In whole frames it has
        // that at least, so that windows in the frame where the interval opens and in the next one do.
        let (q, p) = (u128::from(self.whole()), u128::from(self.frame));
        let behind = |t: u64, had: u64| u128::from(t).saturating_sub(u128::from(had) * p / q);
        let mut most = 0;
        for schedule in &self.schedules {
            for &s in &schedule.phases {
                let here = schedule.windows.iter().filter(|(start, _)| *start >= s);
                let had = |start: u64| schedule.service(start) - schedule.service(s);
                most = here.map(|(start, _)| behind(start - s, had(*start))).fold(most, u128::max);
                for next in &self.schedules {
                    let starts = next.windows.iter().zip(&next.before);
                    let at = |(start, before): (&(u64, u64), &u64)| {
                        behind(self.frame + start.0 - s, schedule.rest(s) + before)
                    };
                    most = starts.map(at).fold(most, u128::max);
                }
            }
        }
        Duration::from_nanos(u64::try_from(most).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(n: u64) -> Duration {
        Duration::from_nanos(n)
    }

    /// SplitMix64.
    fn below(state: &mut u64, n: u64) -> u64 {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % n
    }

    /// A drawn frame, one entry for each nanosecond: whether it lies in a window.
    fn drawn(state: &mut u64) -> (Vec<bool>, WindowTable) {
        loop {
            let frame = 2 + below(state, 40);
            let (mut slots, mut windows, mut at) = (vec![false; frame as usize], Vec::new(), below(state, 4));
            while at < frame {
                let length = (1 + below(state, 6)).min(frame - at);
                windows.push((ns(at), ns(length)));
                (at..at + length).for_each(|t| slots[t as usize] = true);
                at += length + below(state, 9);
            }
            if let Some(table) = WindowTable::new(ns(frame), windows) {
                return (slots, table);
            }
        }
    }

    fn served(slots: &[bool], from: u64, length: u64) -> u64 {
        (from..from + length).filter(|t| slots[(*t % slots.len() as u64) as usize]).count() as u64
    }

    #[test]
    fn the_least_supply_is_that_of_the_worst_of_all_phases() {
        let mut state = 1;
        for _ in 0..500 {
            let (slots, table) = drawn(&mut state);
            let frame = slots.len() as u64;
            for length in 0..3 * frame {
                let worst = (0..frame).map(|from| served(&slots, from, length)).min();
                assert_eq!(Some(table.least(ns(length)).as_nanos()), worst, "{table:?} for {length}");
                assert!(table.least_linear(ns(length)) <= table.least(ns(length)), "{table:?} for {length}");
            }
        }
    }

    #[test]
    fn across_switches_the_least_supply_is_that_of_the_worst_order_of_schedules() {
        let mut state = 3;
        for _ in 0..60 {
            let (a, first) = drawn(&mut state);
            let (b, second) = loop {
                let (b, second) = drawn(&mut state);
                if a.len() == b.len() {
                    break (b, second);
                }
            };
            let frame = a.len() as u64;
            let both = WindowTable { frame, schedules: [first.schedules, second.schedules].concat() };
            let released = both.from_releases([(ns(3), ns(6))]);
            let step = gcd(6, frame);
            // Each order of the two in four frames.
            let runs: Vec<Vec<bool>> =
                (0..16).map(|order| (0..4).flat_map(|n| [&a, &b][order >> n & 1].clone()).collect()).collect();
            for length in 0..=3 * frame {
                let worst = |from: &dyn Fn(u64) -> bool| {
                    let all = runs
                        .iter()
                        .flat_map(|run| (0..frame).filter(|s| from(*s)).map(move |s| served(run, s, length)));
                    all.min()
                };
                assert_eq!(Some(both.least(ns(length)).as_nanos()), worst(&|_| true), "{both:?} for {length}");
                let least = released.least(ns(length)).as_nanos();
                assert_eq!(Some(least), worst(&|s| s % step == 3 % step), "{both:?} for {length}");
                assert!(both.least_linear(ns(length)) <= both.least(ns(length)), "{both:?} for {length}");
                assert!(released.least_linear(ns(length)).as_nanos() <= least, "{both:?} for {length}");
            }
        }
    }

    #[test]
    fn from_releases_the_least_supply_is_that_of_the_worst_release() {
        let mut state = 2;
        for _ in 0..500 {
            let (slots, table) = drawn(&mut state);
            let frame = slots.len() as u64;
            let tasks: Vec<(u64, u64)> =
                (0..1 + below(&mut state, 2)).map(|_| (below(&mut state, 50), 1 + below(&mut state, 60))).collect();
            let table = table.from_releases(tasks.iter().map(|(offset, period)| (ns(*offset), ns(*period))));
            let releases: Vec<u64> =
                tasks.iter().flat_map(|(offset, period)| (0..frame).map(move |k| offset + k * period)).collect();
            for length in 0..2 * frame {
                let worst = releases.iter().map(|from| served(&slots, *from, length)).min();
                assert_eq!(Some(table.least(ns(length)).as_nanos()), worst, "{tasks:?} in {table:?} for {length}");
            }
        }
    }

    #[test]
    fn a_regular_table_is_a_periodic_server_that_is_never_late() {
        // 2 of 5, as Mok, Feng and Chen draw it: nothing for 3, then 2 in each 5.
        let table = WindowTable::new(ns(5), [(ns(1), ns(2))]).expect("a table");
        let least: Vec<u64> = (0..12).map(|t| table.least(ns(t)).as_nanos()).collect();
        assert_eq!(least, [0, 0, 0, 0, 1, 2, 2, 2, 2, 3, 4, 4]);
        assert_eq!((table.share(), table.delay()), ((ns(2), ns(5)), ns(3)));
        assert!(WindowTable::new(ns(5), [(ns(1), ns(2)), (ns(2), ns(1))]).is_none(), "they overlap");
        assert!(WindowTable::new(ns(5), [(ns(4), ns(2))]).is_none(), "it leaves the frame");
    }
}
