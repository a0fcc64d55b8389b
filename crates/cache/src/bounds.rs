//! Bounds: what a preemption, a migration and programs on other cores can cost at most.
//!
//! *Useful* lines stand in a cache and are used again before they would go by themselves; *evicting* lines are all that a
//! preempting task touches (Lee et al. 1998; Tomiyama and Dutt 2000). Under LRU a set into which the other task brings one line can
//! lose all its useful lines (Burguière, Reineke and Altmeyer, WCET 2009), so only sets count, not lines.

use crate::geometry::Geometry;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// What a task leaves in the private caches and what it does to those of others, by sets of the first level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Footprint {
    /// For each set of the data cache the most lines that were useful at one time, at most what all private ways can hold.
    pub useful: Vec<u32>,
    /// For each set whether the task brings a line into it.
    pub evicting: Vec<bool>,
    /// The most lines that were useful at one time in all sets together.
    pub useful_at_once: u64,
    /// Lines that it touches at all.
    pub lines: u64,
}

/// Lines that the private caches of a core can hold for one set of the data cache.
fn private_ways(geometry: &Geometry) -> usize {
    let sets = geometry.data.sets();
    let second = geometry.second.map_or(0, |level| level.shape.ways * (level.shape.sets().div_ceil(sets)));
    geometry.data.ways + second
}

impl Footprint {
    /// From the addresses that one job touches, in order. A line is useful from its first use to its last; whether it would still
    /// stand there by itself is not asked, but no set has more than its ways.
    pub fn of(geometry: &Geometry, addresses: impl Iterator<Item = u64>) -> Footprint {
        let (shape, ways) = (geometry.data, private_ways(geometry) as u32);
        let numbers: Vec<u64> = addresses.map(|address| address / geometry.line()).collect();
        let mut span: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
        for (at, number) in numbers.iter().enumerate() {
            span.entry(*number).or_insert((at, at)).1 = at;
        }
        let mut footprint = Footprint {
            useful: vec![0; shape.sets()],
            evicting: vec![false; shape.sets()],
            useful_at_once: 0,
            lines: span.len() as u64,
        };
        let (mut now, mut all) = (vec![0u32; shape.sets()], 0u64);
        for (at, number) in numbers.iter().enumerate() {
            let set = shape.set_of(*number);
            footprint.evicting[set] = true;
            let (first, last) = span[number];
            if first == at && last > at {
                now[set] += 1;
                all += u64::from(now[set] <= ways);
                footprint.useful[set] = footprint.useful[set].max(now[set].min(ways));
                footprint.useful_at_once = footprint.useful_at_once.max(all);
            } else if last == at && first < at {
                all -= u64::from(now[set] <= ways);
                now[set] -= 1;
            }
        }
        footprint
    }

    /// Lines that a preemption by `other` on the same core can take at most.
    pub fn lost_to(&self, other: &Footprint) -> u64 {
        let sets = self.useful.iter().zip(&other.evicting).filter(|(_, evicting)| **evicting);
        let lost: u64 = sets.map(|(useful, _)| u64::from(*useful)).sum();
        lost.min(self.useful_at_once)
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

    /// The source's bound on the delay of a preemption or migration: every line of the working set comes from memory
    /// (Gracioli 2014, section 6.6). Cycles.
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
