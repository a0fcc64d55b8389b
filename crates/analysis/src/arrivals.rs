//! How many distinct release instants fall into a window: releases at the same time cost one scheduler entry. Releases that time does
//! not make may each come at a time of its own.

use crate::task::Withheld;
use tactus_time::Duration;

/// Gaps are looked at over this many consecutive instants; longer windows are put together from such pieces.
const RUN: usize = 128;
/// More instants than this are not listed; the count then falls back on the sum over the tasks.
const MOST: u64 = 200_000;

/// The release instants of a set of periodic tasks with known offsets, within the length of a run.
#[derive(Clone, Debug)]
pub struct Instants {
    periods: Vec<u64>,
    /// `spans[n]`: the shortest time from the first to the last of n + 1 consecutive instants. Empty if not listed.
    spans: Vec<u64>,
    /// How many instants there are in all, if listed.
    total: u64,
    /// Further instants, each of which comes whenever it likes.
    alone: Vec<Alone>,
}

/// Instants that time ties to no others.
#[derive(Clone, Copy, Debug)]
pub struct Alone {
    /// They come a period apart,
    pub period: Duration,
    /// or by this much earlier.
    pub jitter: Duration,
}

impl Alone {
    fn most_in(&self, window: u64) -> u64 {
        (window - 1).saturating_add(self.jitter.as_nanos()) / self.period.as_nanos().max(1) + 1
    }
}

impl Instants {
    /// The instants of tasks given as (offset, period) from time zero until `duration`.
    pub fn of(tasks: impl IntoIterator<Item = (Duration, Duration)>, duration: Duration) -> Self {
        let tasks: Vec<(u64, u64)> = tasks.into_iter().map(|(o, p)| (o.as_nanos(), p.as_nanos())).collect();
        let end = duration.as_nanos();
        let periods = tasks.iter().map(|t| t.1).collect();
        let count = tasks.iter().fold(0u64, |n, &(o, p)| n.saturating_add(end.saturating_sub(o) / p + 1));
        if count > MOST {
            return Instants { periods, spans: Vec::new(), total: u64::MAX, alone: Vec::new() };
        }
        let mut instants: Vec<u64> =
            tasks.iter().flat_map(|&(o, p)| (0..).map(move |k| o + k * p).take_while(|&t| t <= end)).collect();
        instants.sort_unstable();
        instants.dedup();
        let spans = (0..instants.len().min(RUN + 1))
            .map(|n| instants.windows(n + 1).map(|w| w[n] - w[0]).min().unwrap_or(0))
            .collect();
        Instants { periods, spans, total: instants.len() as u64, alone: Vec::new() }
    }

    /// With further instants that come at any time.
    pub fn and(mut self, more: impl IntoIterator<Item = Alone>) -> Self {
        self.alone.extend(more);
        self
    }

    /// The periods of the tasks.
    pub(crate) fn periods(&self) -> impl Iterator<Item = Duration> + '_ {
        let timed = self.periods.iter().map(|p| Duration::from_nanos(*p));
        timed.chain(self.alone.iter().map(|it| it.period))
    }

    /// How many may come beyond one a period of each.
    pub(crate) fn burst(&self) -> u64 {
        let alone = self.alone.iter().map(|it| it.jitter.div_ceil(it.period) + 1);
        alone.fold(self.periods.len() as u64, u64::saturating_add)
    }

    /// The most instants in any window `[t, t + window)`.
    pub fn most_in(&self, window: Duration) -> u64 {
        let w = window.as_nanos();
        if w == 0 {
            return 0;
        }
        let each_alone = self.periods.iter().fold(0u64, |n, &p| n.saturating_add((w - 1) / p + 1));
        let listed = match self.spans.last() {
            None => u64::MAX,
            // n instants fit into a half-open window that is longer than their span.
            Some(&last) if w <= last => self.spans.partition_point(|&s| s < w) as u64,
            Some(_) if self.spans.len() <= RUN => self.total,
            // N(a + b) ≤ N(a) + N(b), in pieces of the longest span listed, which hold RUN instants each.
            Some(&last) => {
                let pieces = (w / last).saturating_mul(RUN as u64);
                pieces.saturating_add(self.spans.partition_point(|&s| s < w % last) as u64)
            }
        };
        let alone = self.alone.iter().map(|it| it.most_in(w)).fold(0, u64::saturating_add);
        each_alone.min(listed).min(self.total).saturating_add(alone)
    }
}

/// A processor that is taken away for a fixed time at most so many times per release instant.
pub struct Interrupts<'a> {
    /// When.
    pub instants: &'a Instants,
    /// For how long, per instant.
    pub cost: Duration,
}

impl Withheld for Interrupts<'_> {
    fn at_most(&self, window: Duration) -> Duration {
        if self.cost.is_zero() {
            return Duration::ZERO;
        }
        Duration::from_nanos(self.instants.most_in(window).saturating_mul(self.cost.as_nanos()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(n: u64) -> Duration {
        Duration::from_nanos(n)
    }

    #[test]
    fn releases_at_the_same_time_count_once() {
        let i = Instants::of([(ns(0), ns(10)), (ns(0), ns(20)), (ns(5), ns(10))], ns(1000));
        assert_eq!([1, 5, 6, 10, 11, 100].map(|w| i.most_in(ns(w))), [1, 1, 2, 2, 3, 20]);
    }

    #[test]
    fn what_time_does_not_release_never_counts_together_with_others() {
        let i = Instants::of([(ns(0), ns(10)), (ns(0), ns(10))], ns(1000))
            .and([0, 20].map(|jitter| Alone { period: ns(10), jitter: ns(jitter) }));
        // One of the two that are together, and of the others one and three.
        assert_eq!([1, 10, 11].map(|w| i.most_in(ns(w))), [1 + 1 + 3, 1 + 1 + 3, 2 + 2 + 4]);
    }

    #[test]
    fn long_windows_never_count_less_than_there_are() {
        let tasks = [(ns(3), ns(7)), (ns(0), ns(11)), (ns(1), ns(13))];
        let i = Instants::of(tasks, ns(4_000));
        let mut all: Vec<u64> = tasks
            .iter()
            .flat_map(|(o, p)| (0..).map(|k| o.as_nanos() + k * p.as_nanos()).take_while(|t| *t <= 4_000))
            .collect();
        all.sort_unstable();
        all.dedup();
        for w in (1..3000).step_by(97) {
            let up_to = |end: u64| all.partition_point(|s| *s < end);
            let real = all.iter().map(|t| up_to(t + w) - up_to(*t)).max().unwrap();
            assert!(i.most_in(ns(w)) >= real as u64, "window {w}");
        }
    }
}
