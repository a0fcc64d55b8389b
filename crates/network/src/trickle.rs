//! When a node repeats what it knows (Trickle, RFC 6206): often while neighbours differ, seldom once they agree, and not at all where
//! enough of them have just said the same.

use tactus_time::{Duration, Instant};

/// The constants of the algorithm, under the names of the RFC's section 4.1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrickleSettings {
    /// The shortest interval.
    pub shortest: Duration,
    /// How often the interval doubles until it is longest.
    pub doublings: u32,
    /// A node says nothing in an interval in which it has heard the same this many times.
    pub redundancy: u32,
}

impl TrickleSettings {
    /// The longest interval.
    pub fn longest(&self) -> Duration {
        self.shortest.checked_mul(1 << self.doublings.min(40)).unwrap_or(Duration::MAX)
    }
}

/// A timer of one thing that is known.
#[derive(Clone, Copy, Debug)]
pub struct Trickle {
    interval: Duration,
    ends: Instant,
    /// When it speaks in this interval, unless it has.
    speaks: Option<Instant>,
    heard: u32,
}

impl Trickle {
    /// Starts with the shortest interval. `draw` gives any number.
    pub fn start(settings: &TrickleSettings, now: Instant, draw: u64) -> Trickle {
        let mut timer = Trickle { interval: settings.shortest, ends: now, speaks: None, heard: 0 };
        timer.begin(now, draw);
        timer
    }

    fn begin(&mut self, now: Instant, draw: u64) {
        let half = self.interval.as_nanos() / 2;
        self.ends = now.saturating_add(self.interval);
        self.speaks = Some(now.saturating_add(Duration::from_nanos(half + draw % half.max(1))));
        self.heard = 0;
    }

    /// When it is to be asked next.
    pub fn next(&self) -> Instant {
        self.speaks.unwrap_or(self.ends)
    }

    /// A neighbour said the same.
    pub fn consistent(&mut self) {
        self.heard = self.heard.saturating_add(1);
    }

    /// A neighbour said something else: the shortest interval begins, unless it has.
    pub fn inconsistent(&mut self, settings: &TrickleSettings, now: Instant, draw: u64) {
        if self.interval > settings.shortest {
            self.interval = settings.shortest;
            self.begin(now, draw);
        }
    }

    /// Does what is due; whether the node speaks now.
    pub fn advance(&mut self, settings: &TrickleSettings, now: Instant, draw: u64) -> bool {
        if self.speaks.is_some_and(|at| at <= now) {
            self.speaks = None;
            return self.heard < settings.redundancy;
        }
        if self.speaks.is_none() && self.ends <= now {
            self.interval = self.interval.checked_mul(2).unwrap_or(Duration::MAX).min(settings.longest());
            self.begin(now, draw);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: TrickleSettings =
        TrickleSettings { shortest: Duration::from_millis(100), doublings: 4, redundancy: 2 };

    /// When a node that hears nothing, or the same this often in each interval, speaks within a time.
    fn spoken(same: u32, from: Trickle, until: u64) -> alloc::vec::Vec<u64> {
        let (mut timer, mut all) = (from, alloc::vec::Vec::new());
        while timer.next().as_nanos() < until * 1_000_000 {
            let now = timer.next();
            if timer.speaks.is_some() {
                (0..same).for_each(|_| timer.consistent());
            }
            if timer.advance(&SETTINGS, now, now.as_nanos() * 7_919) {
                all.push(now.as_nanos() / 1_000_000);
            }
        }
        all
    }

    #[test]
    fn who_agrees_falls_quiet_and_a_difference_wakes_it() {
        let start = Trickle::start(&SETTINGS, Instant::ZERO, 3);
        let alone = spoken(0, start, 20_000);
        // Once in each of 100, 200, 400, 800 and then 1,600 ms.
        assert!((14..=17).contains(&alone.len()), "{alone:?}");
        assert_eq!(spoken(1, start, 20_000), alone);
        assert_eq!(spoken(2, start, 20_000), [0; 0]);
        let mut late = start;
        while late.interval < SETTINGS.longest() {
            late.advance(&SETTINGS, late.next(), 5);
        }
        let now = late.next();
        late.inconsistent(&SETTINGS, now, 1);
        assert!(late.next().since(now) < SETTINGS.shortest);
        // Not again: the shortest interval has begun.
        let begun = late;
        late.inconsistent(&SETTINGS, now + Duration::from_millis(10), 1);
        assert_eq!((late.next(), late.ends), (begun.next(), begun.ends));
    }
}
