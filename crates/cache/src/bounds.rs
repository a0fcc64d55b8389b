//! Bounds: what a preemption, a migration and programs on other cores can cost at most.
//!
//! *Useful* lines stand in a cache and are used again before they would go by themselves; *evicting* lines are all that a
//! preempting task touches (Lee et al. 1998; Tomiyama and Dutt 2000). Under LRU a set into which the other task brings one line can
//! lose all its useful lines (Burguière, Reineke and Altmeyer, WCET 2009), so only sets count, not lines. That what is lost is loaded
//! again and no more follows needs room below the first level ([`crate::room`]).

use crate::geometry::{Geometry, Shape};
use crate::room::{Crowd, Lasts};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// What a task leaves in the private caches and what it does to those of others. A *row* is all that the lowest bits of a line's number
/// choose, as many as the level with the fewest sets has: no set of any level belongs to two.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Footprint {
    /// For each row the most lines that were useful at one time, at most what all private ways can hold.
    pub useful: Vec<u32>,
    /// For each row the lines that the task touches at all.
    pub lines: Vec<u32>,
    /// The most lines that were useful at one time in all rows together.
    pub useful_at_once: u64,
    /// The most that one set has.
    pub crowd: Crowd,
    again: Result<u64, Lasts>,
}

/// Shapes of the private levels.
fn private(geometry: &Geometry) -> impl Iterator<Item = Shape> {
    [geometry.data, geometry.instruction].into_iter().chain(geometry.second.map(|level| level.shape))
}

impl Footprint {
    /// From the addresses that one job touches, in order. A line is useful from its first use to its last; whether it would still
    /// stand there by itself is not asked, but no row has more than its ways.
    pub fn of(geometry: &Geometry, addresses: impl Iterator<Item = u64>) -> Footprint {
        let shared = geometry.shared.shape.rows();
        let rows = private(geometry).map(|shape| shape.rows()).min().unwrap_or(shared).min(shared);
        let ways: usize = private(geometry).map(|shape| shape.ways * shape.sets().div_ceil(rows)).sum();
        let ways = ways as u32;
        let numbers: Vec<u64> = addresses.map(|address| address / geometry.line()).collect();
        let mut span: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
        for (at, number) in numbers.iter().enumerate() {
            span.entry(*number).or_insert((at, at)).1 = at;
        }
        let crowd = Crowd::of(geometry, span.keys().copied());
        let again = geometry.lasts(crowd).map_or_else(|| Ok(geometry.again(crowd).private), Err);
        let mut footprint = Footprint { useful: vec![0; rows], lines: vec![0; rows], useful_at_once: 0, crowd, again };
        let row_of = |number: u64| number as usize % rows;
        span.keys().for_each(|number| footprint.lines[row_of(*number)] += 1);
        let (mut now, mut all) = (vec![0u32; rows], 0u64);
        for (at, number) in numbers.iter().enumerate() {
            let row = row_of(*number);
            let (first, last) = span[number];
            if first == at && last > at {
                now[row] += 1;
                all += u64::from(now[row] <= ways);
                footprint.useful[row] = footprint.useful[row].max(now[row].min(ways));
                footprint.useful_at_once = footprint.useful_at_once.max(all);
            } else if last == at && first < at {
                all -= u64::from(now[row] <= ways);
                now[row] -= 1;
            }
        }
        footprint
    }

    /// The most that a preemption by `other` on the same core makes the job load again, in lines, beyond what it loads alone from caches
    /// that have none of its lines. Useful ones in rows that the other touches are lost once; and each of its lines in these is lost
    /// as often again as others' lines can still come down ([`crate::room`]).
    ///
    /// # Errors
    /// Where what the preemption leaves behind may last: no number of lines bounds it.
    pub fn lost_to(&self, other: &Footprint) -> Result<u64, Lasts> {
        let again = self.again? - 1;
        let met = (0..self.useful.len()).filter(|row| other.lines[*row] > 0);
        let (lost, lines) = met.fold((0, 0), |(lost, lines), row| {
            (lost + u64::from(self.useful[row]), lines + u64::from(self.lines[row]))
        });
        Ok(lost.min(self.useful_at_once) + lines * again)
    }

    /// The same for what the job finds in the caches when it begins.
    ///
    /// # Errors
    /// As [`Footprint::lost_to`].
    pub fn lost_at_start(&self) -> Result<u64, Lasts> {
        Ok(self.all() * (self.again? - 1))
    }

    /// The same for a job that goes on on another core: every line.
    ///
    /// # Errors
    /// As [`Footprint::lost_to`]; and where the core that was left may answer for the same line again and again.
    pub fn lost_by_moving(&self, geometry: &Geometry) -> Result<u64, Lasts> {
        let again = self.again?;
        if geometry.leaves_nothing_behind(self.crowd) {
            Ok(self.all() * again)
        } else {
            Err(Lasts::Moved)
        }
    }

    /// Lines that it touches at all.
    pub fn all(&self) -> u64 {
        self.lines.iter().copied().map(u64::from).sum()
    }
}

/// Where a task finds again what it lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReloadFrom {
    /// In the shared level: its colours are its own and hold all its lines.
    Shared,
    /// In the caches of the core that it left.
    OtherCore,
    /// In memory.
    Memory,
}

impl Geometry {
    /// Cycles that reloading this number of lines takes at most.
    pub fn reload(&self, lines: u64, from: ReloadFrom) -> u64 {
        let costs = &self.costs;
        let each = match from {
            ReloadFrom::Shared => costs.shared,
            // The copy that stays behind makes the first write an upgrade.
            ReloadFrom::OtherCore => {
                costs.shared.max(costs.remote_clean).max(costs.remote_modified) + costs.remote_clean
            }
            ReloadFrom::Memory => costs.memory,
        };
        lines * u64::from(each)
    }

    /// Cycles for which a line from memory waits at most for so many other processors, which ask for one line at a time: for a line of
    /// each, and one that it drives out; with the prefetcher for a second one.
    pub fn wait_for_others(&self, others: u64) -> u64 {
        let lines = if self.next_line { 3 } else { 2 };
        others * lines * u64::from(self.costs.busy)
    }

    /// The source's estimate of the delay of a preemption or migration: every line of the working set comes from memory
    /// (Gracioli 2014, section 6.6). Cycles. No bound where a level has no room ([`crate::room`]).
    pub fn reload_all(&self, bytes: u64) -> u64 {
        self.reload(bytes.div_ceil(self.line()), ReloadFrom::Memory)
    }
}

/// What programs on other processors can do to one that has colours of its own: only memory is shared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interference {
    /// Cycles for which memory is busy with a line that another processor asks for; twice that where each may drive out a changed one.
    pub service: u64,
    /// Other processors.
    pub others: u64,
    /// Lines that each of them may ask memory for in a period, and the period in cycles; nothing if they are not regulated.
    pub regulation: Option<(u64, u64)>,
}

impl Interference {
    /// Cycles that a job can lose at most: `alone` is its time alone in its colours, `misses` its accesses to memory.
    ///
    /// Each access waits for at most one of each other processor; and all of them together for what the others may ask for
    /// while the job runs, a budget more at each end, and a line each that was asked for before and still waits. Where the second
    /// does not converge, the first holds.
    pub fn delay(&self, alone: u64, misses: u64) -> u64 {
        let by_access = misses * self.others * self.service;
        let Some((lines, period)) = self.regulation else { return by_access };
        let mut delay = 0;
        loop {
            let periods = (alone + delay).div_ceil(period) + 1;
            let next = (self.others * (lines * periods + 1) * self.service).min(by_access);
            if next <= delay || next == by_access {
                return next.max(delay);
            }
            delay = next;
        }
    }
}
