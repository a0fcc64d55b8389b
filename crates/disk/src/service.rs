//! The block service: the queue in front of a drive that has one request at a time, and what was promised of each.
//!
//! [`Service`] decides; it knows no clients and no clock. [`Station`] is a disk with its clients: who wants to run it says
//! when time has come ([`Station::next`], [`Station::advance`]). Whatever runs it, the same requests get the same answers.

use crate::client::{Arrivals, Client};
use crate::drive::Drive;
use crate::map::LatencyMap;
use crate::request::{Head, Request};
use crate::scheduler::{Full, Policy, Scheduler};
use alloc::vec::Vec;
use core::fmt;
use tactus_time::{Duration, Instant};

/// A request that was served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finished {
    /// The request.
    pub request: Request,
    /// When it was dispatched.
    pub started: Instant,
    /// When it ended.
    pub ended: Instant,
    /// The row of the map from which the drive came.
    pub from: u32,
    /// Whether the drive had a pause before: then no cell tells how long it takes.
    pub after_pause: bool,
    /// How long it was to take at most.
    pub expected: Duration,
}

impl Finished {
    /// Whether the drive took longer than was promised of it.
    pub fn is_over(&self) -> bool {
        self.ended.since(self.started) > self.expected
    }
}

/// A request at the drive.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    request: Request,
    started: Instant,
    from: u32,
    after_pause: bool,
}

/// What the drive says of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// Which request.
    pub id: u64,
    /// How many blocks it has done.
    pub blocks: u32,
    /// Whether it says that it could not.
    pub failed: bool,
}

/// What is wrong with an answer, or with there being none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Nobody asked for that; whatever is under way goes on.
    Unasked,
    /// The drive says that it could not do this request.
    Failed(Request),
    /// Another length than was asked for.
    Length(Request),
    /// The drive has said nothing for so long that it is given up; it has to be reset.
    Silent(Request),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Unasked => write!(f, "the drive answered what nobody asked; look at its controller"),
            Fault::Failed(it) => write!(f, "the drive could not do block {}; write it anew or read a copy", it.block),
            Fault::Length(it) => {
                write!(f, "the drive did not do {} blocks from block {} on; ask again", it.blocks, it.block)
            }
            Fault::Silent(it) => {
                write!(f, "the drive did not answer for block {} in time; reset it, ask again", it.block)
            }
        }
    }
}

/// The queue, the map and the head.
#[derive(Clone, Debug)]
pub struct Service {
    queue: Scheduler,
    map: LatencyMap,
    after_pause: Duration,
    head: Head,
    last: Option<Instant>,
    under_way: Option<UnderWay>,
    withdrawn: Option<Instant>,
}

impl Service {
    /// A service with a queue for this number of requests. `after_pause` is the longest that any request takes after a pause.
    pub fn new(policy: Policy, capacity: usize, map: LatencyMap, after_pause: Duration) -> Service {
        let queue = Scheduler::new(policy, capacity);
        Service { queue, map, after_pause, head: Head::default(), last: None, under_way: None, withdrawn: None }
    }
    /// The map.
    pub fn map(&self) -> &LatencyMap {
        &self.map
    }
    /// When the drive first took longer than its map says. Promises do not bind from then on.
    pub fn withdrawn(&self) -> Option<Instant> {
        self.withdrawn
    }
    /// A request comes.
    ///
    /// # Errors
    /// Where the queue is full.
    pub fn submit(&mut self, request: Request) -> Result<(), Full> {
        self.queue.arrive(request, self.head, &self.map)
    }
    /// Which request goes to the drive now; none if the drive has one, or nobody waits.
    pub fn dispatch(&mut self, now: Instant) -> Option<Request> {
        if self.under_way.is_some() {
            return None;
        }
        let request = self.queue.next(now, self.head, &self.map)?;
        let after_pause = self.last != Some(now);
        self.under_way = Some(UnderWay { request, started: now, from: self.head.granule, after_pause });
        Some(request)
    }
    /// The drive answers. A request ends with it, well or not, unless nobody asked for it.
    ///
    /// # Errors
    /// What the request's client is to be told, if the answer is not that it is done.
    pub fn answer(&mut self, now: Instant, answer: &Answer) -> Result<Finished, Fault> {
        let request = self.under_way.map(|it| it.request).filter(|it| it.id == answer.id).ok_or(Fault::Unasked)?;
        let finished = self.complete(now).ok_or(Fault::Unasked)?;
        if answer.failed {
            // Where the arm is after that nobody knows.
            self.last = None;
            return Err(Fault::Failed(request));
        }
        if answer.blocks != request.blocks {
            self.last = None;
            return Err(Fault::Length(request));
        }
        Ok(finished)
    }
    /// When the request at the drive is given up if there is no answer: after four times the longest that any request takes.
    pub fn gives_up(&self) -> Option<Instant> {
        let limit = self.after_pause.checked_mul(4).unwrap_or(Duration::MAX);
        self.under_way.map(|it| it.started.saturating_add(limit))
    }
    /// Gives up the request at the drive, if it is time. The drive must be reset before the next is dispatched.
    pub fn give_up(&mut self, now: Instant) -> Option<Fault> {
        if self.gives_up().is_none_or(|at| now < at) {
            return None;
        }
        let finished = self.complete(now)?;
        self.last = None;
        Some(Fault::Silent(finished.request))
    }
    /// The drive has ended its request.
    pub fn complete(&mut self, now: Instant) -> Option<Finished> {
        let UnderWay { request, started, from, after_pause } = self.under_way.take()?;
        let expected = if after_pause { self.after_pause } else { self.map.careful(from, request.granule) };
        let finished = Finished { request, started, ended: now, from, after_pause, expected };
        if finished.is_over() {
            self.withdrawn.get_or_insert(now);
        }
        (self.head, self.last) = (Head::from(&request), Some(now));
        Some(finished)
    }
}

/// The longest queue of a station.
const MOST_WAITING: usize = 4_096;

/// A disk and its clients.
#[derive(Clone, Debug)]
pub struct Station {
    service: Service,
    drive: Drive,
    clients: Vec<Client>,
    rows: Vec<u32>,
    seed: u64,
    /// When each client sends its next request, and its number.
    next: Vec<(Instant, u32)>,
    ends: Option<Instant>,
    refused: u64,
}

impl Station {
    /// At time zero, before any request. Each client has one row of the service's map for each of its places, in order.
    pub fn new(service: Service, drive: Drive, clients: Vec<Client>, seed: u64) -> Station {
        let mut row = 0;
        let first_row = |client: &Client| {
            row += client.places;
            row - client.places
        };
        let rows = clients.iter().map(first_row).collect();
        let first = |client: &Client| match client.arrivals {
            Arrivals::Periodic { offset, .. } => (Instant::ZERO.saturating_add(offset), 0),
            Arrivals::BestEffort { .. } => (Instant::ZERO, 0),
        };
        let next = clients.iter().map(first).collect();
        Station { service, drive, clients, rows, seed, next, ends: None, refused: 0 }
    }
    /// The service.
    pub fn service(&self) -> &Service {
        &self.service
    }
    /// When something happens next.
    pub fn next(&self) -> Instant {
        let arrival = self.next.iter().map(|next| next.0).min().unwrap_or(Instant::NEVER);
        self.ends.unwrap_or(Instant::NEVER).min(arrival)
    }

    /// Room for all requests that wait while every deadline is kept, and as many more as to see by how much they are not.
    pub fn room(clients: &[Client]) -> usize {
        let waiting = |client: &Client| match client.arrivals {
            Arrivals::Periodic { period, deadline, .. } => deadline.as_nanos() / period.as_nanos().max(1) + 2,
            Arrivals::BestEffort { outstanding } => u64::from(outstanding),
        };
        let all: u64 = clients.iter().map(waiting).sum();
        usize::try_from(all).map_or(MOST_WAITING, |all| (4 * all).min(MOST_WAITING))
    }

    /// A request that finds the queue full is never served.
    fn send(&mut self, client: usize, now: Instant) {
        let number = self.next[client].1;
        let request = self.clients[client].request(self.seed, client as u32, self.rows[client], number, now);
        self.next[client].1 += 1;
        self.refused += u64::from(self.service.submit(request).is_err());
    }
    /// How many requests found the queue full.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Does what happens at [`Station::next`]: a completion first, then requests in the order of the clients, then the drive
    /// gets its next request. Tells what ended and what was dispatched.
    pub fn advance(&mut self) -> (Option<Finished>, Option<Request>) {
        let now = self.next();
        let mut finished = None;
        if self.ends == Some(now) {
            self.ends = None;
            finished = self.service.complete(now);
            let client = finished.map(|it| it.request.client() as usize);
            if let Some(client) = client.filter(|&n| matches!(self.clients[n].arrivals, Arrivals::BestEffort { .. })) {
                self.send(client, now);
            }
        }
        for client in 0..self.clients.len() {
            if self.next[client].0 > now {
                continue;
            }
            match self.clients[client].arrivals {
                Arrivals::Periodic { period, .. } => {
                    self.next[client].0 = now.saturating_add(period);
                    self.send(client, now);
                }
                Arrivals::BestEffort { outstanding } => {
                    self.next[client].0 = Instant::NEVER;
                    for _ in 0..outstanding {
                        self.send(client, now);
                    }
                }
            }
        }
        let dispatched = self.service.dispatch(now);
        if let Some(request) = dispatched {
            self.ends = Some(self.drive.serve(now, &request).end);
        }
        (finished, dispatched)
    }
}
