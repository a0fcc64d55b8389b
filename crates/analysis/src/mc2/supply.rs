//! What the level-A table of a core takes of any window: the supply that is left to the levels beneath.
//!
//! In the terms of Mok, Feng and Chen (RTAS 2001) the levels beneath live on a *partition* whose supply is what the
//! table leaves. A window in which the table takes most starts where a stretch starts or ends where one ends (shifting
//! it otherwise gains nothing), so the pairs of stretches of one cycle give the curve exactly.

use crate::task::Withheld;
use tactus_time::Duration;

/// With more stretches than this in a cycle the curve is bounded by a line instead of kept exactly.
const EXACT: usize = 128;

/// The most time that a periodic pattern of stretches takes in any window.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    cycle: u64,
    /// Time taken per cycle.
    taken: u64,
    /// How much more than its share a window may see: sup (work − taken/cycle·Δ), rounded up.
    excess: u64,
    /// Windows from the start of one stretch to the end of another, by length: length, most work up to this length,
    /// and the most of (work − length) from this one on. Empty if not kept.
    windows: Vec<(u64, u64, i64)>,
    /// Stretches may be shifted by this much.
    shift: u64,
}

impl Curve {
    /// From stretches (start, length) of one cycle, in order of start; each may come later by up to `shift`.
    pub(crate) fn new(cycle: u64, stretches: &[(u64, u64)], shift: Duration) -> Curve {
        if stretches.is_empty() {
            return Curve::default();
        }
        let taken = stretches.iter().map(|s| s.1).sum();
        let two_cycles = || (0..2).flat_map(|c| stretches.iter().map(move |&(s, l)| (s + c * cycle, l)));
        let share = |work: u64, at: u64| i128::from(work) * i128::from(cycle) - i128::from(taken) * i128::from(at);
        let (mut before, mut lowest, mut excess) = (0, i128::MAX, 0);
        for (start, length) in two_cycles() {
            lowest = lowest.min(share(before, start));
            before += length;
            excess = excess.max(share(before, start + length) - lowest);
        }
        let excess = u64::try_from(-(-excess).div_euclid(i128::from(cycle))).unwrap_or(u64::MAX);
        let mut windows = Vec::new();
        if stretches.len() <= EXACT {
            let all: Vec<_> = two_cycles().collect();
            for i in 0..stretches.len() {
                let mut work = 0;
                for &(start, length) in &all[i..i + stretches.len()] {
                    work += length;
                    windows.push((start + length - all[i].0, work, 0));
                }
            }
            windows.sort_unstable();
            let mut most = 0;
            for w in &mut windows {
                most = most.max(w.1);
                w.2 = w.1 as i64 - w.0 as i64;
                w.1 = most;
            }
            for i in (1..windows.len()).rev() {
                windows[i - 1].2 = windows[i - 1].2.max(windows[i].2);
            }
        }
        Curve { cycle, taken, excess, windows, shift: shift.as_nanos() }
    }

    /// Time taken per cycle and the cycle: the share of the core. Nothing if nothing is taken.
    pub(crate) fn share(&self) -> Option<(Duration, Duration)> {
        (self.cycle > 0).then_some((Duration::from_nanos(self.taken), Duration::from_nanos(self.cycle)))
    }

    /// How much more than its share any window may see.
    pub(crate) fn excess(&self) -> Duration {
        Duration::from_nanos(self.excess + self.shift)
    }
}

impl Withheld for Curve {
    fn at_most(&self, window: Duration) -> Duration {
        if self.cycle == 0 {
            return Duration::ZERO;
        }
        let w = window.as_nanos().saturating_add(self.shift);
        let (cycles, rest) = (w / self.cycle, w % self.cycle);
        let part = if self.windows.is_empty() {
            let line = (u128::from(self.taken) * u128::from(rest)).div_ceil(u128::from(self.cycle));
            (line as u64 + self.excess).min(rest)
        } else {
            let at = self.windows.partition_point(|x| x.0 <= rest);
            let whole = if at == 0 { 0 } else { self.windows[at - 1].1 };
            let cut = self.windows.get(at).map_or(0, |x| x.2 + rest as i64);
            whole.max(cut.max(0) as u64)
        };
        Duration::from_nanos(cycles.saturating_mul(self.taken).saturating_add(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by trying every window of unit steps.
    fn brute(cycle: u64, stretches: &[(u64, u64)], w: u64) -> u64 {
        let busy = |t: u64| stretches.iter().any(|&(s, l)| (s..s + l).contains(&(t % cycle)));
        (0..cycle).map(|t| (t..t + w).filter(|t| busy(*t)).count() as u64).max().unwrap()
    }

    #[test]
    fn the_curve_is_what_trying_every_window_gives() {
        for (cycle, stretches) in
            [(10, vec![(0, 2), (3, 2), (5, 2)]), (20, vec![(0, 1), (7, 4), (12, 1), (18, 2)]), (5, vec![(1, 4)])]
        {
            let curve = Curve::new(cycle, &stretches, Duration::ZERO);
            for w in 0..3 * cycle {
                let got = curve.at_most(Duration::from_nanos(w)).as_nanos();
                assert_eq!(got, brute(cycle, &stretches, w), "{stretches:?} window {w}");
                let (taken, excess) = (curve.taken, curve.excess().as_nanos());
                assert!(got * cycle <= taken * w + excess * cycle);
            }
        }
    }
}
