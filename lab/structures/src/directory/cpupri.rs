//! The priority map of Linux's fixed-priority classes (`cpupri`): for each level the cores at it, as a count and a set.
//! No lock. A core is put in at its new level before it is taken out of the old one; between a set and its count stands
//! a full barrier, as in the source's back-port.
//!
//! Linux itself has no more barriers there on x86 than the locked instructions are already: its `smp_mb__before_atomic`
//! and `smp_rmb` are nothing but words to the compiler. The source's port to user space has a full barrier for each. Both
//! are here; the former, [`CpupriLinux`], has its order in the atomic operations, so it is right on any processor.
//!
//! Whoever looks goes from the greatest level down, so it never misses a core that goes down meanwhile and still fits;
//! one that goes up while it is looked for can be missed, and is seen by the next look.

use super::values::Values;
use super::Directory;
use crate::{planted, same, Cores, Flaw};
use alloc::vec::Vec;
use tactus_sync::facade::{barrier, AtomicU32, AtomicU64, Ordering};
use tactus_sync::{Order, Rank};

const LEVELS: usize = 102;

struct Level {
    count: AtomicU32,
    cores: AtomicU64,
}

/// A map from priority to cores. `BARRIERS`: whether full barriers stand between set and count.
pub struct Cpupri<const BUG: u8 = { planted::NONE }, const BARRIERS: bool = true> {
    values: Values,
    levels: Vec<Level>,
}

/// The map as Linux has it on x86: with the order of the atomic operations alone.
pub type CpupriLinux<const BUG: u8 = { planted::NONE }> = Cpupri<BUG, false>;

impl<const BUG: u8, const BARRIERS: bool> Cpupri<BUG, BARRIERS> {
    /// The order of what changes a set or a count.
    const CHANGE: Ordering = if BARRIERS { Ordering::Relaxed } else { Ordering::AcqRel };
    /// The order of what reads it.
    const LOOK: Ordering = if BARRIERS { Ordering::Relaxed } else { Ordering::Acquire };

    #[inline]
    fn add(&self, level: usize, core: usize) {
        let level = &self.levels[level];
        level.cores.fetch_or(1 << core, Self::CHANGE);
        if BUG == planted::MISSING_BARRIER || !BARRIERS {
            level.count.fetch_add(1, Self::CHANGE);
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
        level.count.fetch_sub(1, Self::CHANGE);
        if BUG != planted::MISSING_BARRIER && BARRIERS {
            barrier();
        }
        level.cores.fetch_and(!(1 << core), Self::CHANGE);
    }
}

impl<const BUG: u8, const BARRIERS: bool> Directory for Cpupri<BUG, BARRIERS> {
    const NAME: &'static str = if BARRIERS { "cpupri" } else { "cpupri as in Linux" };
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
            let count = level.count.load(Self::LOOK);
            if BUG != planted::MISSING_BARRIER && BARRIERS {
                barrier();
            }
            if count == 0 {
                continue;
            }
            if let Some(core) = Cores(level.cores.load(Self::LOOK)).and(allowed).first() {
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
