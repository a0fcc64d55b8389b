//! A core of a domain: what it runs, the plan that the last decision on any core made for it, and the plan that it was notified of.

use super::parameters::MAX_DEPTH;
use crate::heap::IndexedHeap;
use crate::records::OnCore;
use alloc::vec::Vec;
use tactus_time::{CoreId, Instant};

/// A core of the domain.
pub(super) struct CoreState {
    pub(super) id: CoreId,
    pub(super) since: Instant,
    pub(super) doing: OnCore,
    /// The task that it is to run by the last decision on any core.
    pub(super) plan: Option<usize>,
    /// The task that it gets from the queue that it shares.
    pub(super) next: Option<usize>,
    /// The plan that it was notified of.
    pub(super) notified: Option<usize>,
    pub(super) idle: bool,
    pub(super) offer: Offer,
    /// The servers on the way to the planned task.
    pub(super) path: Path,
    /// The servers that are charged for what it has run since its last decision.
    pub(super) charged: Path,
    /// The servers that its last decision found the most urgent, without work.
    pub(super) ghosts: Vec<usize>,
    /// When it is to be entered.
    pub(super) armed: Instant,
    /// Whether it must decide because a budget was replenished there that is lost without work.
    pub(super) called: bool,
    /// The next replenishment of each virtual processor of this core.
    pub(super) replenish: IndexedHeap,
    /// The virtual processor of the root, and the queue of what is directly inside.
    pub(super) root: usize,
    pub(super) queue: usize,
}

/// Where a core's walk from the root ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Offer {
    Idle,
    Task(usize),
    /// A queue that it shares with others.
    Queue(usize),
}

/// Virtual processors from the root down, each with whether it runs in background.
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
    /// The server on the way is another one than the [only one](Path::only_server).
    #[inline(always)]
    pub(super) fn go_to(&mut self, vp: usize) {
        self.at[1] = (vp as u16, false);
    }
    /// The only server on the way, if it does not run in background.
    #[inline(always)]
    pub(super) fn only_server(&self) -> Option<usize> {
        match self.at[1] {
            (vp, false) if self.length == 2 => Some(usize::from(vp)),
            _ => None,
        }
    }
    pub(super) fn last(&self) -> Option<usize> {
        self.iter().next_back().map(|(vp, _)| vp)
    }
}

impl CoreState {
    pub(super) fn new(id: CoreId, vps: usize, (root, queue): (usize, usize)) -> CoreState {
        CoreState {
            id,
            since: Instant::ZERO,
            doing: OnCore::Nothing,
            plan: None,
            next: None,
            notified: None,
            idle: false,
            offer: Offer::Idle,
            path: Path::default(),
            charged: Path::default(),
            ghosts: Vec::with_capacity(vps),
            called: false,
            armed: Instant::NEVER,
            replenish: IndexedHeap::for_tasks(vps),
            root,
            queue,
        }
    }
    /// The task that the core runs since its last decision.
    pub(super) fn running(&self) -> Option<usize> {
        match self.doing {
            OnCore::Job { place, .. } => Some(place),
            OnCore::Nothing | OnCore::Idle => None,
        }
    }
    /// Whether it is inside the root alone.
    pub(super) fn is_in_root(&self) -> bool {
        [&self.path, &self.charged].into_iter().all(|path| path.iter().eq([(self.root, false)]))
    }
    /// The core, the only one of its domain, which was idle, is in this server from now on. What it is charged for says so, and the next plan
    /// finds the way to the planned task anew.
    #[inline(always)]
    pub(super) fn enter_server(&mut self, vp: usize) {
        self.charged.length = 2;
        [self.charged.at[0], self.charged.at[1]] = [(self.root as u16, false), (vp as u16, false)];
    }
    /// The core, the only one of its domain, runs the job from now on, inside the server that it is in. What other cores ask for it need not
    /// say: what it was offered and notified of, what it is planned to run, and when it is to be entered.
    #[inline(always)]
    pub(super) fn go_to(&mut self, now: Instant, place: usize, job: u32) {
        self.since = now;
        self.doing = OnCore::Job { place, job };
        (self.idle, self.called) = (false, false);
    }
}
