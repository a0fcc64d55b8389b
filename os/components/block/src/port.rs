//! A client's side of the service: the requests that are in its buffer, checked, and those that are under way.
//!
//! Nothing in a buffer is believed. A request is taken only while its answer has room, so that nobody waits for a client that takes
//! none; each job looks at a few of each client, so that one that asks without end delays nobody.

use alloc::vec::Vec;
use tactus_disk::{Finished, Outcome, Refusal, Request};
use tactus_rt::channel::{ChannelError, Message};
use tactus_rt::disk::{DiskAnswer, DiskRequest, Operation, Status};
use tactus_time::Instant;

/// The buffer of a client.
pub trait Port {
    /// The next request, if there is one.
    ///
    /// # Errors
    /// Where the client has spoilt its buffer.
    fn receive(&mut self) -> Result<Option<Message>, ChannelError>;
    /// How many answers there is room for.
    ///
    /// # Errors
    /// Likewise.
    fn room(&mut self) -> Result<u64, ChannelError>;
    /// Puts an answer; there is room.
    fn answer(&mut self, message: &Message);
    /// Whether the data has these bytes.
    fn holds(&self, at: u64, bytes: u64) -> bool;
    /// Copies bytes out of the data.
    fn load(&mut self, at: u64, bytes: &mut [u8]);
    /// Copies bytes into the data.
    fn store(&mut self, at: u64, bytes: &[u8]);
}

/// The most requests of a client that are under way.
pub(crate) const MOST: usize = 48;

/// A request that is under way.
#[derive(Clone, Copy, Debug)]
struct Entry {
    number: u32,
    tag: u64,
    at: u64,
}

/// A client of the service.
#[derive(Debug)]
pub(crate) struct Client<P> {
    port: P,
    under_way: Vec<Entry>,
    /// The power went, and the client was told by an answer; it went, and it has still to be told.
    told: bool,
    attention: bool,
}

/// A request as it may be put to the disk.
pub(crate) struct Wanted {
    pub(crate) request: DiskRequest,
    pub(crate) place: u32,
    pub(crate) blocks: u32,
    pub(crate) write: bool,
}

/// What is to be done about a message.
pub(crate) enum Taken {
    /// Nothing more: none is there, or it was refused.
    Nothing,
    /// Put it to the disk.
    Ask(Wanted),
    /// Take the request with this number out, whose client calls it so.
    Cancel { number: u32, tag: u64 },
}

impl<P: Port> Client<P> {
    pub(crate) fn new(port: P) -> Client<P> {
        Client { port, under_way: Vec::with_capacity(MOST), told: false, attention: false }
    }
    /// The power went: who had no request under way is told by its next one, as drives do, since what it has not flushed may be lost.
    pub(crate) fn power_lost(&mut self) {
        self.attention |= !core::mem::take(&mut self.told);
    }
    pub(crate) fn port(&mut self) -> &mut P {
        &mut self.port
    }

    /// Looks at the next request. `None`: there is none, or no room for an answer.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Taken> {
        // A client that has spoilt its buffer is not heard.
        let room = self.port.room().ok()?;
        if room <= self.under_way.len() as u64 {
            return None;
        }
        let message = self.port.receive().ok()??;
        let request = match DiskRequest::read(&message) {
            Ok(request) => request,
            Err(tag) => {
                self.tell(now, tag, Status::Unknown, Instant::ZERO);
                return Some(Taken::Nothing);
            }
        };
        if request.operation == Operation::Cancel {
            let found = self.under_way.iter().find(|it| it.tag == request.place);
            let number = found.map(|it| it.number);
            return Some(number.map_or_else(
                || {
                    self.tell(now, request.tag, Status::NotWaiting, Instant::ZERO);
                    Taken::Nothing
                },
                |number| Taken::Cancel { number, tag: request.tag },
            ));
        }
        if core::mem::take(&mut self.attention) {
            self.tell(now, request.tag, Status::PowerLost, Instant::ZERO);
            return Some(Taken::Nothing);
        }
        let flush = request.operation == Operation::Flush;
        let bytes = if flush { 0 } else { request.blocks.saturating_mul(512) };
        let why = match (u32::try_from(request.place), u32::try_from(request.blocks)) {
            _ if self.under_way.len() == MOST => Status::Outstanding,
            (Err(_), _) => Status::Place,
            (_, Err(_)) => Status::Length,
            (Ok(_), Ok(0)) if !flush => Status::Length,
            _ if !self.port.holds(request.at, bytes) => Status::Data,
            (Ok(place), Ok(blocks)) => {
                let (place, blocks) = if flush { (0, 0) } else { (place, blocks) };
                let write = request.operation != Operation::Read;
                return Some(Taken::Ask(Wanted { request, place, blocks, write }));
            }
        };
        self.tell(now, request.tag, why, Instant::ZERO);
        Some(Taken::Nothing)
    }

    /// The disk has let a request in.
    pub(crate) fn let_in(&mut self, wanted: &Wanted, request: &Request) {
        let DiskRequest { tag, at, .. } = wanted.request;
        self.under_way.push(Entry { number: request.number(), tag, at });
    }
    /// The disk has refused it.
    pub(crate) fn refused(&mut self, now: Instant, tag: u64, why: &Refusal) {
        let (status, again) = match *why {
            Refusal::NoClient | Refusal::Place(_) => (Status::Place, Instant::ZERO),
            Refusal::Length(_) => (Status::Length, Instant::ZERO),
            Refusal::Direction => (Status::ReadOnly, Instant::ZERO),
            Refusal::Early(again) => (Status::Early, again),
            Refusal::Outstanding(_) => (Status::Outstanding, Instant::ZERO),
            Refusal::Budget(again) => (Status::Budget, again),
        };
        self.tell(now, tag, status, again);
    }
    /// What was to be cancelled does not wait, or was cancelled.
    pub(crate) fn cancelled(&mut self, now: Instant, tag: u64, done: bool) {
        self.tell(now, tag, if done { Status::Done } else { Status::NotWaiting }, Instant::ZERO);
    }

    /// There is nothing to flush.
    pub(crate) fn flushed(&mut self, now: Instant, tag: u64) {
        self.tell(now, tag, Status::Done, Instant::ZERO);
    }

    fn tell(&mut self, now: Instant, tag: u64, status: Status, again: Instant) {
        let answer = DiskAnswer { tag, status, arrived: now, ended: now, again, withdrawn: false };
        self.port.answer(&answer.message());
    }

    /// Puts what a request writes into `bytes`.
    pub(crate) fn load(&mut self, request: &Request, bytes: &mut [u8]) {
        if let Some(at) = self.entry(request) {
            self.port.load(at, bytes);
        }
    }
    /// Hands over what a request has read.
    pub(crate) fn store(&mut self, request: &Request, bytes: &[u8]) {
        if let Some(at) = self.entry(request) {
            self.port.store(at, bytes);
        }
    }
    fn entry(&self, request: &Request) -> Option<u64> {
        self.under_way.iter().find(|it| it.number == request.number()).map(|it| it.at)
    }

    /// A request ended: its client is told.
    pub(crate) fn ended(&mut self, it: &Finished, withdrawn: bool) {
        let Some(place) = self.under_way.iter().position(|entry| entry.number == it.request.number()) else { return };
        let entry = self.under_way.swap_remove(place);
        self.told |= it.outcome == Outcome::PowerLost;
        let status = match it.outcome {
            Outcome::Done => Status::Done,
            Outcome::Failed => Status::Failed,
            Outcome::Short => Status::Short,
            Outcome::Silent => Status::Silent,
            Outcome::PowerLost => Status::PowerLost,
            Outcome::Cancelled => Status::Cancelled,
        };
        let (arrived, ended) = (it.request.arrival, it.ended);
        let answer = DiskAnswer { tag: entry.tag, status, arrived, ended, again: Instant::ZERO, withdrawn };
        self.port.answer(&answer.message());
    }
}
