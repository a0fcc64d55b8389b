//! A skip list of cores (Pugh, 1990), the greatest first: one core changes it at a time, behind a lock; finding takes no
//! lock and walks from the head until it meets an allowed core. How many rows a core is in depends on its number alone,
//! so that runs repeat.
//!
//! A walk that is overtaken by changes may meet a core twice or miss one, and ends after as many steps as there are
//! cores.

use super::values::{CachePadded, Values};
use super::{Directory, DirectoryRank};
use crate::{planted, same, Cores, Flaw};
use alloc::vec::Vec;
use tactus_sync::facade::{AtomicU32, Ordering};
use tactus_sync::{Lock, Order, Rank};

const ROWS: usize = 4;

/// A skip list of cores. The place behind the last core's is the head, and also the end.
pub struct SkipList<const BUG: u8 = { planted::NONE }> {
    values: Values,
    /// By place: its successor in each row.
    next: Vec<CachePadded<[AtomicU32; ROWS]>>,
    writer: Lock<(), DirectoryRank>,
}

/// In how many rows a core is: half of the cores in one, a quarter in two, and so on.
fn rows(core: usize) -> usize {
    // A fixed scramble, so that neighbours differ.
    let scrambled = (core as u32).wrapping_add(1).wrapping_mul(0x9E37_79B1) >> 16;
    (scrambled.trailing_zeros() as usize + 1).min(ROWS)
}

impl<const BUG: u8> SkipList<BUG> {
    fn head(&self) -> usize {
        self.values.len()
    }
    #[inline]
    fn after(&self, place: usize, row: usize) -> usize {
        self.next[place].0[row].load(Ordering::Acquire) as usize
    }
    fn link(&self, place: usize, row: usize, to: usize) {
        self.next[place].0[row].store(to as u32, Ordering::Release);
    }
    /// Whether the core's entry stands before that of another number and core.
    fn before(&self, core: usize, value: u64, other: usize) -> bool {
        let mine = self.values.get(core);
        mine > value || mine == value && core < other
    }

    /// The last place of each row before the entry.
    fn path(&self, value: u64, core: usize) -> [usize; ROWS] {
        let mut path = [self.head(); ROWS];
        let mut at = self.head();
        for row in (0..ROWS).rev() {
            loop {
                let next = self.after(at, row);
                if next == self.head() || !self.before(next, value, core) {
                    break;
                }
                at = next;
            }
            path[row] = at;
        }
        path
    }
}

impl<const BUG: u8> Directory for SkipList<BUG> {
    const NAME: &'static str = "skip list";

    fn init(cores: usize) -> Self {
        let place = |_| CachePadded(core::array::from_fn(|_| AtomicU32::new(cores as u32)));
        let list =
            SkipList { values: Values::new(cores), next: (0..=cores).map(place).collect(), writer: Lock::new(()) };
        for row in 0..ROWS {
            let mut last = cores;
            for core in (0..cores).filter(|core| rows(*core) > row) {
                list.link(last, row, core);
                last = core;
            }
        }
        list
    }
    fn preempt<H: Rank>(&self, _: usize, order: &mut Order<H>, core: usize, value: u64) {
        let _held = self.writer.lock(order);
        let old = self.values.get(core);
        if old == value {
            return;
        }
        let path = self.path(old, core);
        let out = if BUG == planted::HALF_UNLINKED { 1 } else { rows(core) };
        for (row, place) in path.iter().enumerate().take(out) {
            self.link(*place, row, self.after(core, row));
        }
        self.values.set(core, value);
        let path = self.path(value, core);
        for (row, place) in path.iter().enumerate().take(rows(core)) {
            self.link(core, row, self.after(*place, row));
            self.link(*place, row, core);
        }
    }
    #[inline]
    fn find<H: Rank>(&self, _: usize, _: &mut Order<H>, than: u64, allowed: Cores) -> Option<usize> {
        let mut at = self.head();
        for _ in 0..self.values.len() {
            at = self.after(at, 0);
            if at == self.head() || self.values.get(at) <= than {
                return None;
            }
            if allowed.contains(at) {
                return Some(at);
            }
        }
        None
    }
    fn check<H: Rank>(&self, order: &mut Order<H>, actual: &[u64]) -> Result<(), Flaw> {
        self.values.check(Self::NAME, actual)?;
        let _held = self.writer.lock(order);
        for row in 0..ROWS {
            let (mut at, mut met) = (self.after(self.head(), row), 0);
            while at != self.head() {
                met += 1;
                let next = self.after(at, row);
                let sorted = next == self.head() || self.before(at, actual[next], next);
                same(Self::NAME, "every row is sorted", at, 1, u64::from(sorted))?;
                same(Self::NAME, "a core is in its rows only", at, 1, u64::from(rows(at) > row))?;
                at = next;
            }
            let expected = (0..actual.len()).filter(|core| rows(*core) > row).count();
            same(Self::NAME, "every core is in its rows", row, expected as u64, met)?;
        }
        Ok(())
    }
}
