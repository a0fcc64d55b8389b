//! The queue of a disk and the rule by which the next request is picked, one at a time.

use crate::gmatrix;
use crate::map::{LatencyMap, CODES};
use crate::order;
use crate::request::{Head, Request};
use alloc::vec::Vec;
use core::fmt;
use tactus_time::{Duration, Instant};

/// The rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// First come, first served.
    Noop,
    /// Upwards by block, and again from the lowest; whoever waits longer than this goes first, the oldest before all.
    Deadline(Duration),
    /// The next client's oldest, in turn: what CFQ makes of synchronous processes of one priority. A request tells its
    /// client by its name ([`Request::client`]).
    Cfq,
    /// The nearest by block number.
    SatfBlock,
    /// The nearest by block number among a frozen queue; who comes later waits for the next round.
    FsatfBlock,
    /// A path by the map into which each arrival is inserted at once.
    SatfMap,
    /// A path by the map, by nearest insertion over a frozen queue.
    FsatfMap,
    /// The shortest path of all by the map over a frozen queue of at most this number, and at most [`order::MOST_EXACT`].
    FsatfExact(usize),
    /// The nearest by the map. Not in the source; what the directed map is best used for.
    GreedyMap,
    /// The earliest deadline.
    Edf,
    /// The source's rule with a look-ahead of k.
    GMatrix(usize),
}

impl Policy {
    fn freezes(self) -> bool {
        matches!(self, Policy::FsatfBlock | Policy::FsatfMap | Policy::FsatfExact(_))
    }
    fn by_deadline(self) -> bool {
        matches!(self, Policy::Edf | Policy::GMatrix(_))
    }
}

/// The queue is full: take a request out first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the disk's queue is full; wait for a completion, or give it a larger queue")
    }
}

/// A queue with its rule.
#[derive(Clone, Debug)]
pub struct Scheduler {
    policy: Policy,
    /// Who can go now. By deadline, the earliest last, so that little moves when it goes; or as a path, or as they came.
    live: Vec<Request>,
    /// Who came after the queue was frozen.
    later: Vec<Request>,
    near: Vec<u64>,
    capacity: usize,
    steps: u64,
    /// Whose request went last.
    client: u32,
}

impl Scheduler {
    /// A queue for this number of requests; nothing is allocated later.
    pub fn new(policy: Policy, capacity: usize) -> Scheduler {
        let room = Vec::with_capacity(capacity);
        let near = Vec::with_capacity(capacity);
        Scheduler {
            policy,
            live: room.clone(),
            later: Vec::with_capacity(capacity),
            near,
            capacity,
            steps: 0,
            client: u32::MAX,
        }
        .with_room()
    }
    fn with_room(mut self) -> Scheduler {
        self.live.reserve_exact(self.capacity);
        self
    }
    /// How many wait.
    pub fn len(&self) -> usize {
        self.live.len() + self.later.len()
    }
    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Whether it has room for one more.
    pub fn has_room(&self) -> bool {
        self.len() < self.capacity
    }
    /// Steps that the exact order has tried so far.
    pub fn exact_steps(&self) -> u64 {
        self.steps
    }

    /// A request comes.
    ///
    /// # Errors
    /// Where the queue is full.
    pub fn arrive(&mut self, request: Request, head: Head, map: &LatencyMap) -> Result<(), Full> {
        if !self.has_room() {
            return Err(Full);
        }
        if self.policy.freezes() {
            self.later.push(request);
        } else if self.policy.by_deadline() {
            let at = self.live.partition_point(|other| other.deadline > request.deadline);
            self.live.insert(at, request);
        } else if self.policy == Policy::SatfMap {
            order::insert(&mut self.live, head, request, &|from, to: &Request| exploring(map, from, to));
        } else {
            self.live.push(request);
        }
        Ok(())
    }

    /// The drive is free: who goes next. `head` is where the last one left it.
    pub fn next(&mut self, now: Instant, head: Head, map: &LatencyMap) -> Option<Request> {
        if self.policy.freezes() && self.live.is_empty() {
            self.freeze(head, map);
        }
        let first = self.live.first()?;
        let at = match self.policy {
            Policy::Noop | Policy::SatfMap | Policy::FsatfMap | Policy::FsatfExact(_) => 0,
            Policy::Edf => self.live.len() - 1,
            Policy::Deadline(expiry) if now.since(first.arrival) >= expiry => 0,
            Policy::Deadline(_) => {
                let up = |request: &Request| (request.block < head.block, request.block);
                least(&self.live, up)
            }
            Policy::Cfq => {
                let last = self.client;
                least(&self.live, |request| (request.client() <= last, request.client()))
            }
            Policy::SatfBlock | Policy::FsatfBlock => least(&self.live, |request| head.block.abs_diff(request.block)),
            Policy::GreedyMap => least(&self.live, |request| exploring(map, head, request)),
            Policy::GMatrix(k) => gmatrix::choose(&self.live, k, now, head, map),
        };
        let request = self.live.remove(at);
        self.client = request.client();
        Some(request)
    }

    /// Takes a request out, as its client wishes.
    pub fn cancel(&mut self, id: u64) -> Option<Request> {
        let take = |list: &mut Vec<Request>| list.iter().position(|request| request.id == id).map(|at| list.remove(at));
        take(&mut self.live).or_else(|| take(&mut self.later))
    }

    /// Takes any request out; none if there is none.
    pub(crate) fn take_any(&mut self) -> Option<Request> {
        self.live.pop().or_else(|| self.later.pop())
    }

    fn freeze(&mut self, head: Head, map: &LatencyMap) {
        let weight = |from: Head, to: &Request| exploring(map, from, to);
        match self.policy {
            Policy::FsatfMap => {
                order::nearest_insertion(&mut self.live, &mut self.later, &mut self.near, head, &weight);
            }
            Policy::FsatfExact(most) => {
                let many = self.later.len().min(most.clamp(1, order::MOST_EXACT));
                self.live.extend(self.later.drain(..many));
                self.steps += order::exact(&mut self.live, head, &weight);
            }
            _ => core::mem::swap(&mut self.live, &mut self.later),
        }
    }
}

/// A step by the map; what is unknown comes before all, the nearest by block first, so that the map is filled. A request that
/// begins where the other ends needs no map and comes before that: the drive reads on, and a cell that was learned when it could
/// not would never tell so again.
fn exploring(map: &LatencyMap, from: Head, to: &Request) -> u64 {
    const UNIT: u64 = 1 << 32;
    if from.block == to.block {
        return 0;
    }
    match map.code(from.granule, to.granule) {
        0 => from.block.abs_diff(to.block).min(UNIT - 1),
        code => u64::from(code.min(CODES)) * UNIT,
    }
}

fn least<K: Ord>(live: &[Request], key: impl Fn(&Request) -> K) -> usize {
    live.iter().enumerate().min_by_key(|(_, request)| key(request)).map_or(0, |(at, _)| at)
}
