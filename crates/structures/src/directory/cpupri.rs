//! The priority map of Linux's fixed-priority classes (`cpupri`): for each level the cores at it, as a count and a set.
//! No lock. A core is put in at its new level before it is taken out of the old one; between a set and its count stands
//! a full barrier, as in the source's back-port.
//!
//! Whoever looks goes from the greatest level down, so it never misses a core that goes down meanwhile and still fits;
//! one that goes up while it is looked for can be missed, and is seen by the next look.

use super::values::Values;
use super::Directory;
use crate::flaw::same;
use crate::{planted, Cores, Flaw};
use alloc::vec::Vec;
use tactus_sync::facade::{barrier, AtomicU32, AtomicU64, Ordering};
use tactus_sync::{Order, Rank};

const LEVELS: usize = 102;

struct Level {
    count: AtomicU32,
    cores: AtomicU64,
}

/// A map from priority to cores.
pub struct Cpupri<const BUG: u8 = { planted::NONE }> {
    values: Values,
    levels: Vec<Level>,
}

impl<const BUG: u8> Cpupri<BUG> {
    #[inline]
    fn add(&self, level: usize, core: usize) {
        let level = &self.levels[level];
        level.cores.fetch_or(1 << core, Ordering::Relaxed);
        if BUG == planted::MISSING_BARRIER {
            level.count.fetch_add(1, Ordering::Relaxed);
        } else {
            barrier();
            level.count.fetch_add(1, Ordering::Relaxed);
            // What follows is taking the core out of its old level.
            barrier();
        }
    }
    #[inline]
    fn take_out(&self, level: usize, core: usize) {
        let level = &self.levels[level];
        level.count.fetch_sub(1, Ordering::Relaxed);
        if BUG != planted::MISSING_BARRIER {
            barrier();
        }
        level.cores.fetch_and(!(1 << core), Ordering::Relaxed);
    }
}

impl<const BUG: u8> Directory for Cpupri<BUG> {
    const NAME: &'static str = "cpupri";
    const LEVELS: u64 = LEVELS as u64;

    fn init(cores: usize) -> Self {
        let level = |n| Level {
            count: AtomicU32::new(if n == 0 { cores as u32 } else { 0 }),
            cores: AtomicU64::new(if n == 0 { Cores::below(cores).0 } else { 0 }),
        };
        Cpupri { values: Values::new(cores), levels: (0..LEVELS).map(level).collect() }
    }
    #[inline]
    fn preempt<H: Rank>(&self, _: usize, _: &mut Order<H>, core: usize, value: u64) {
        let value = value.min(LEVELS as u64 - 1);
        // Written by whoever holds the core's queue only.
        let old = self.values.get(core);
        if old == value {
            return;
        }
        if BUG == planted::OUT_BEFORE_IN {
            self.take_out(old as usize, core);
            barrier();
            self.add(value as usize, core);
        } else {
            self.add(value as usize, core);
            self.take_out(old as usize, core);
        }
        self.values.set(core, value);
    }
    #[inline]
    fn find<H: Rank>(&self, _: usize, _: &mut Order<H>, than: u64, allowed: Cores) -> Option<usize> {
        let than = than.min(LEVELS as u64 - 1) as usize;
        for level in self.levels[than + 1..].iter().rev() {
            let count = level.count.load(Ordering::Relaxed);
            if BUG != planted::MISSING_BARRIER {
                barrier();
            }
            if count == 0 {
                continue;
            }
            if let Some(core) = Cores(level.cores.load(Ordering::Relaxed)).and(allowed).first() {
                return Some(core);
            }
        }
        None
    }
    fn check<H: Rank>(&self, _: &mut Order<H>, actual: &[u64]) -> Result<(), Flaw> {
        for (core, value) in actual.iter().enumerate() {
            let value = (*value).min(LEVELS as u64 - 1);
            same(Self::NAME, "a core's level is that of its queue", core, value, self.values.get(core))?;
        }
        for (n, level) in self.levels.iter().enumerate() {
            let mut cores = 0;
            (0..actual.len()).filter(|core| self.values.get(*core) == n as u64).for_each(|core| cores |= 1 << core);
            let found = level.cores.load(Ordering::Relaxed);
            same(Self::NAME, "a level's set holds the cores at it", n, cores, found)?;
            let count = u64::from(level.count.load(Ordering::Relaxed));
            same(Self::NAME, "a level's count is the size of its set", n, u64::from(cores.count_ones()), count)?;
        }
        Ok(())
    }
}
