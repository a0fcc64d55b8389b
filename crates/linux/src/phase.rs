//! When the periods of a thread begin.
//!
//! A system file says how long a task's period is; when a thread on Linux began, only its trace tells. A thread that keeps its period is
//! woken by a timer right after each period begins, and elsewhere only where it waited for something else. So the phase is where wake-ups
//! crowd, and its beginning is the earliest of the crowd: a timer is never early.

use tactus_time::{Duration, Instant};

/// How long after the beginning of its period a wake-up may come and still be the timer's.
pub(crate) fn latest_wakeup(period: Duration) -> Duration {
    Duration::from_nanos((period.as_nanos() / 8).min(500_000))
}

/// How close the wake-ups of a crowd are: within so much of time most of them fall, and each is so near to the next.
const CROWD: (u64, u64) = (50_000, 20_000);

/// The beginning of the first period that begins no earlier than zero; nothing if there are no wake-ups.
pub(crate) fn of(wakeups: &[Instant], period: Duration) -> Option<Instant> {
    let period_ns = period.as_nanos().max(1);
    let width = CROWD.0.min(period_ns / 8);
    let mut phases: Vec<u64> = wakeups.iter().map(|time| time.as_nanos() % period_ns).collect();
    phases.sort_unstable();
    let count = phases.len();
    // Round the period once more: a window may reach over its end.
    let around: Vec<u64> = phases.iter().copied().chain(phases.iter().map(|phase| phase + period_ns)).collect();
    let mut best: Option<(usize, u64)> = None;
    let mut end = 0;
    for start in 0..count {
        end = end.max(start);
        while end < start + count && around[end] - around[start] <= width {
            end += 1;
        }
        if best.is_none_or(|(most, _)| end - start > most) {
            best = Some((end - start, around[start]));
        }
    }
    let (_, phase) = best?;
    let mut first = phase.saturating_add(period_ns);
    for earlier in around.iter().rev().filter(|earlier| **earlier < phase + period_ns) {
        if first - earlier > CROWD.1 || phase + period_ns - earlier > latest_wakeup(period).as_nanos() {
            break;
        }
        first = *earlier;
    }
    Some(Instant::from_nanos(first % period_ns))
}

/// Periods from one phase on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) phase: Instant,
    pub(crate) period: Duration,
}

impl Grid {
    /// The same, by less than a period earlier.
    pub(crate) fn earlier(self, by: Duration) -> Grid {
        let first = if self.phase.since(Instant::ZERO) < by { self.begin(1) } else { self.phase };
        let phase = Instant::ZERO.saturating_add(first.since(Instant::ZERO).saturating_sub(by));
        Grid { phase, ..self }
    }
    /// In which period an instant lies; nothing before the first.
    pub(crate) fn index(self, time: Instant) -> Option<u64> {
        (time >= self.phase).then(|| time.since(self.phase) / self.period)
    }
    /// When a period begins.
    pub(crate) fn begin(self, index: u64) -> Instant {
        self.phase.saturating_add(self.period.checked_mul(index).unwrap_or(Duration::MAX))
    }
    /// The period that a wake-up begins, if it is a timer's.
    pub(crate) fn released(self, wakeup: Instant) -> Option<u64> {
        let index = self.index(wakeup)?;
        (wakeup.since(self.begin(index)) <= latest_wakeup(self.period)).then_some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phase_is_where_most_wakeups_are_and_no_later_than_the_first_of_them() {
        let at = |micros: u64| Instant::from_nanos(micros * 1_000);
        let period = Duration::from_micros(10_000);
        // Five by the timer, up to 40 µs late; two after waits.
        let wakeups = [3_020, 13_000, 17_500, 23_040, 28_100, 33_005, 43_010].map(at);
        assert_eq!(of(&wakeups, period), Some(at(3_000)));
        // Over the end of the period.
        assert_eq!(of(&[9_990, 20_005, 29_995].map(at), period), Some(at(9_990)));
        assert_eq!(of(&[], period), None);
    }
}
