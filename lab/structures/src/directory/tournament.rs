//! A hierarchy of cores: a tournament in which each node knows the winner of the two below it. A core writes its own
//! number and decides the nodes above it anew, each twice if somebody else was quicker; so every change ends after
//! twice as many decisions as there are levels, whatever others do (wait-free, after Jayanti's f-arrays, 2002).
//!
//! A node holds the winner and a count of its decisions, so that a decision that was taken on older facts fails.

use super::values::{CachePadded, Values};
use super::Directory;
use crate::{planted, same, Cores, Flaw};
use alloc::vec::Vec;
use tactus_sync::facade::{barrier, AtomicU64, Ordering};
use tactus_sync::{Order, Rank};

/// A tree of winners. The node above all is 1; below node `n` are `2n` and `2n + 1`; the cores come behind the last node.
pub struct Tournament<const BUG: u8 = { planted::NONE }> {
    values: Values,
    nodes: Vec<CachePadded<AtomicU64>>,
}

const NOBODY: u64 = 0xFF;

impl<const BUG: u8> Tournament<BUG> {
    fn winner(&self, node: usize) -> u64 {
        match self.nodes.get(node) {
            Some(inner) => inner.0.load(Ordering::Acquire) & 0xFF,
            None if node - self.nodes.len() < self.values.len() => (node - self.nodes.len()) as u64,
            None => NOBODY,
        }
    }

    fn decided(&self, node: usize) -> u64 {
        let (left, right) = (self.winner(2 * node), self.winner(2 * node + 1));
        match (left, right) {
            (NOBODY, one) | (one, NOBODY) => one,
            (left, right) if self.values.get(left as usize) >= self.values.get(right as usize) => left,
            (_, right) => right,
        }
    }

    /// Decides a node anew; whether nobody else did meanwhile.
    fn decide(&self, node: usize) -> bool {
        let cell = &self.nodes[node].0;
        let old = cell.load(Ordering::Acquire);
        // What was written before a decision that this one loses to must be seen by the next one.
        barrier();
        let new = (old >> 8).wrapping_add(1) << 8 | self.decided(node);
        cell.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

impl<const BUG: u8> Directory for Tournament<BUG> {
    const NAME: &'static str = "tournament";

    fn init(cores: usize) -> Self {
        let leaves = cores.next_power_of_two().max(2);
        let tree = Tournament {
            values: Values::new(cores),
            nodes: (0..leaves).map(|_| CachePadded(AtomicU64::new(NOBODY))).collect(),
        };
        for node in (1..leaves).rev() {
            tree.decide(node);
        }
        tree
    }
    #[inline]
    fn preempt<H: Rank>(&self, _: usize, _: &mut Order<H>, core: usize, value: u64) {
        if self.values.get(core) == value {
            return;
        }
        self.values.set(core, value);
        let mut node = (self.nodes.len() + core) / 2;
        while node > 0 {
            if !self.decide(node) && BUG != planted::ONE_REFRESH {
                self.decide(node);
            }
            node /= 2;
        }
    }
    #[inline]
    fn find<H: Rank>(&self, _: usize, _: &mut Order<H>, than: u64, allowed: Cores) -> Option<usize> {
        self.values.best(self.winner(1) as usize, than, allowed)
    }
    fn check<H: Rank>(&self, _: &mut Order<H>, actual: &[u64]) -> Result<(), Flaw> {
        self.values.check(Self::NAME, actual)?;
        for node in (1..self.nodes.len()).rev() {
            let (expected, found) = (self.decided(node), self.winner(node));
            let number = |core: u64| if core == NOBODY { u64::MAX } else { self.values.get(core as usize) };
            same(Self::NAME, "a node's winner has the greater number", node, number(expected), number(found))?;
        }
        Ok(())
    }
}
