//! The block service: the queue in front of a drive that has one request at a time, and what was promised of each.
//!
//! [`Service`] decides; it knows no clients and no clock. Whatever runs it, the same requests get the same answers.

use crate::map::LatencyMap;
use crate::request::{Head, Request};
use crate::scheduler::{Full, Policy, Scheduler};
use alloc::vec::Vec;
use core::fmt;
use tactus_time::{Duration, Instant};

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Outcome {
    /// It is done.
    #[default]
    Done,
    /// The drive says that it could not do it.
    Failed,
    /// The drive did another length than was asked for.
    Short,
    /// The drive said nothing for so long that it was given up and reset.
    Silent,
    /// The power went.
    PowerLost,
    /// Its client did not want it any more, and the drive had not got it yet.
    Cancelled,
}

impl Outcome {
    /// All of them, in the order of their numbers.
    pub const ALL: [Outcome; 6] =
        [Outcome::Done, Outcome::Failed, Outcome::Short, Outcome::Silent, Outcome::PowerLost, Outcome::Cancelled];
    /// Its number in tables and messages.
    pub const fn number(self) -> u64 {
        self as u64
    }
    /// The outcome with this number.
    pub fn from_number(number: u64) -> Option<Outcome> {
        Outcome::ALL.get(usize::try_from(number).ok()?).copied()
    }
    /// Whether it is the drive's doing that the request was not done.
    pub const fn is_fault(self) -> bool {
        !matches!(self, Outcome::Done | Outcome::Cancelled)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Done => "it is done",
            Outcome::Failed => "the drive could not do it; write the place anew, or read a copy",
            Outcome::Short => "the drive did another length than was asked for; ask again",
            Outcome::Silent => "the drive did not answer in time and was reset; ask again",
            Outcome::PowerLost => "the power went; read what is there",
            Outcome::Cancelled => "it was cancelled",
        })
    }
}

/// A request that ended.
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
    /// Whether no cell tells how long it takes: the drive had a pause before, or its arm was moved by writes of its cache.
    pub after_pause: bool,
    /// How long it was to take at most.
    pub expected: Duration,
    /// How it ended.
    pub outcome: Outcome,
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

/// The drive answered what nobody asked; whatever is under way goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unasked;

impl fmt::Display for Unasked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the drive answered what nobody asked; look at its controller")
    }
}

/// A request is given up after the longest that any takes, times this.
const PATIENCE: u64 = 2;

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
    write_cache: u64,
    /// Clients whose requests the drive's own memory may answer.
    cached: Vec<bool>,
}

impl Service {
    /// A service with a queue for this number of requests. `after_pause` is the longest that any request takes after a pause.
    pub fn new(policy: Policy, capacity: usize, map: LatencyMap, after_pause: Duration) -> Service {
        let queue = Scheduler::new(policy, capacity);
        Service {
            queue,
            map,
            after_pause,
            head: Head::default(),
            last: None,
            under_way: None,
            withdrawn: None,
            write_cache: 0,
            cached: Vec::new(),
        }
    }
    /// The drive answers writes before they are on the platter, of which it keeps this number. `writers` says of each client
    /// whether it writes.
    pub fn with_write_cache(mut self, writes: u32, writers: impl IntoIterator<Item = bool>) -> Service {
        (self.write_cache, self.cached) =
            (writes.into(), writers.into_iter().map(|writes_too| writes > 0 && writes_too).collect());
        self
    }
    /// Whether the drive answers writes before they are on the platter.
    pub fn has_write_cache(&self) -> bool {
        self.write_cache > 0
    }
    /// Whether the drive's own memory may answer this request, or the arm go where the cache's writes belong.
    fn is_cached(&self, request: &Request) -> bool {
        self.cached.get(request.client() as usize).copied().unwrap_or(false)
    }
    /// The map.
    pub fn map(&self) -> &LatencyMap {
        &self.map
    }
    /// When the drive first took longer than its map says, or its power went. Promises do not bind from then on.
    pub fn withdrawn(&self) -> Option<Instant> {
        self.withdrawn
    }
    /// Whether the queue has room for one more request.
    pub fn has_room(&self) -> bool {
        self.queue.has_room()
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
    /// If nobody asked.
    pub fn answer(&mut self, now: Instant, answer: &Answer) -> Result<Finished, Unasked> {
        let request = self.under_way.map(|it| it.request).filter(|it| it.id == answer.id).ok_or(Unasked)?;
        let outcome = match answer {
            Answer { failed: true, .. } => Outcome::Failed,
            Answer { blocks, .. } if *blocks != request.blocks => Outcome::Short,
            _ => Outcome::Done,
        };
        self.end(now, outcome).ok_or(Unasked)
    }
    /// When the request at the drive is given up if there is no answer.
    pub fn gives_up(&self) -> Option<Instant> {
        let limit = self.longest().checked_mul(PATIENCE).unwrap_or(Duration::MAX);
        self.under_way.map(|it| it.started.saturating_add(limit))
    }
    /// Gives up the request at the drive, if it is time. The drive must be reset before the next is dispatched.
    pub fn give_up(&mut self, now: Instant) -> Option<Finished> {
        self.gives_up().filter(|at| now >= *at)?;
        self.end(now, Outcome::Silent)
    }
    /// The drive has ended its request.
    pub fn complete(&mut self, now: Instant) -> Option<Finished> {
        self.end(now, Outcome::Done)
    }
    /// The power goes: promises do not bind from then on, and the request at the drive ends, if there is one.
    pub fn lose(&mut self, now: Instant) -> Option<Finished> {
        self.withdrawn.get_or_insert(now);
        self.end(now, Outcome::PowerLost)
    }
    /// The request at the drive, as if it were given up now.
    pub fn unanswered(&self, now: Instant) -> Option<Finished> {
        self.as_if_ended(now, Outcome::Silent)
    }
    /// The request at the drive.
    pub fn under_way(&self) -> Option<Request> {
        self.under_way.map(|it| it.request)
    }
    /// Takes a request out that waits. One that the drive has got cannot be stopped.
    pub fn cancel(&mut self, now: Instant, id: u64) -> Option<Finished> {
        let request = self.queue.cancel(id)?;
        Some(self.unserved(now, request, Outcome::Cancelled))
    }
    /// Takes any request out that waits, since the power went.
    pub(crate) fn lose_waiting(&mut self, now: Instant) -> Option<Finished> {
        let request = self.queue.take_any()?;
        Some(self.unserved(now, request, Outcome::PowerLost))
    }
    fn unserved(&self, now: Instant, request: Request, outcome: Outcome) -> Finished {
        let (from, expected) = (self.head.granule, Duration::ZERO);
        Finished { request, started: now, ended: now, from, after_pause: true, expected, outcome }
    }
    /// The longest that anything takes.
    fn longest(&self) -> Duration {
        self.after_pause.checked_mul(self.write_cache.max(1)).unwrap_or(Duration::MAX)
    }

    fn end(&mut self, now: Instant, outcome: Outcome) -> Option<Finished> {
        let finished = self.as_if_ended(now, outcome)?;
        self.under_way = None;
        let request = finished.request;
        // A request that is given up was not completed: how often that may be, the check has counted.
        if !matches!(outcome, Outcome::Silent | Outcome::PowerLost) && finished.is_over() {
            self.withdrawn.get_or_insert(now);
        }
        self.head = Head::from(&request);
        // Where the arm is after a failure, or after a request that the drive's memory answered, nobody knows.
        self.last = (outcome == Outcome::Done && !self.is_cached(&request)).then_some(now);
        Some(finished)
    }
    /// The request at the drive as if it ended so now.
    fn as_if_ended(&self, now: Instant, outcome: Outcome) -> Option<Finished> {
        let UnderWay { request, started, from, after_pause } = self.under_way?;
        let cached = self.is_cached(&request);
        let expected = match (cached, after_pause) {
            (true, _) => self.longest(),
            (_, true) => self.after_pause,
            _ => self.map.careful(from, request.granule),
        };
        Some(Finished { request, started, ended: now, from, after_pause: after_pause || cached, expected, outcome })
    }
}
