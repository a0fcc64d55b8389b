//! A core of a domain: what it does, what it should do by the last decision on any core, and what it was told of that.

use super::MAX_DEPTH;
use crate::heap::IndexedHeap;
use crate::records::OnCore;
use alloc::vec::Vec;
use tactus_time::{CoreId, Instant};

/// A core of the domain.
pub(super) struct CoreState {
    pub(super) id: CoreId,
    pub(super) since: Instant,
    pub(super) doing: OnCore,
    /// What it should run, as was decided last on any core.
    pub(super) plan: Option<usize>,
    /// What it gets of the queue that it shares.
    pub(super) next: Option<usize>,
    /// The plan that it was told of.
    pub(super) told: Option<usize>,
    pub(super) idle: bool,
    pub(super) offer: Offer,
    /// The servers down to what it should run.
    pub(super) path: Path,
    /// The servers down to what it has been running since its last decision.
    pub(super) charged: Path,
    /// The servers that its last decision found most urgent and without work.
    pub(super) ghosts: Vec<usize>,
    /// When it wanted to be called.
    pub(super) armed: Instant,
    /// A budget has begun there that goes for want of work: it has to look who is most urgent.
    pub(super) called: bool,
    /// The virtual processors of this core that wait for something, by time.
    pub(super) replenish: IndexedHeap,
    /// The virtual processor of the root.
    pub(super) root: usize,
}

/// Where a core arrived on its way down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Offer {
    Idle,
    Task(usize),
    /// A queue that it shares with others.
    Queue(usize),
}

/// Virtual processors from the root down; of each, whether it is without budget.
#[derive(Clone, Copy, Default)]
pub(super) struct Path {
    length: usize,
    at: [(u16, bool); MAX_DEPTH],
}

impl Path {
    pub(super) fn push(&mut self, vp: usize, background: bool) {
        if let Some(free) = self.at.get_mut(self.length) {
            *free = (vp as u16, background);
            self.length += 1;
        }
    }
    pub(super) fn clear(&mut self) {
        self.length = 0;
    }
    /// From the root down.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, bool)> + '_ {
        self.at[..self.length].iter().map(|(vp, background)| (usize::from(*vp), *background))
    }
    pub(super) fn last(&self) -> Option<usize> {
        self.iter().next_back().map(|(vp, _)| vp)
    }
}

impl CoreState {
    pub(super) fn new(id: CoreId, vps: usize, root: usize) -> CoreState {
        CoreState {
            id,
            since: Instant::ZERO,
            doing: OnCore::Nothing,
            plan: None,
            next: None,
            told: None,
            idle: false,
            offer: Offer::Idle,
            path: Path::default(),
            charged: Path::default(),
            ghosts: Vec::with_capacity(vps),
            called: false,
            armed: Instant::NEVER,
            replenish: IndexedHeap::for_tasks(vps),
            root,
        }
    }
    /// The task that the core runs since its last decision.
    pub(super) fn running(&self) -> Option<usize> {
        match self.doing {
            OnCore::Job { place, .. } => Some(place),
            OnCore::Nothing | OnCore::Idle => None,
        }
    }
}
