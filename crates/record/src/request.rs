//! Requests to servers: how records tell them, and whom a server serves next.
//!
//! A client has one request outstanding at most. Its request and the answer are signals of events ([`crate::InputKind::Signal`]) that
//! nobody awaits: [`RequestEvent`]. A server polls: a job of it looks which clients' requests wait, and serves as many as it may, one
//! after another. Simulator, machine and judge go by the same rule.

use crate::{EventKind, InputKind, Record};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The most clients of a server.
pub const MAX_CLIENTS: usize = 32;

/// Whom a server serves first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum RequestOrder {
    /// Each in turn, those that ask for nothing left out.
    Turns = 0,
    /// The client that comes first in the file.
    Priority = 1,
    /// Each in a slot of its own, whether or not it asks.
    Slots = 2,
}

impl RequestOrder {
    /// Whether a job that finds nobody to serve looks again for its next request.
    pub const fn skips(self) -> bool {
        matches!(self, RequestOrder::Slots)
    }

    /// The order with this number, if there is one.
    pub const fn from_u8(n: u8) -> Option<RequestOrder> {
        Some(match n {
            0 => RequestOrder::Turns,
            1 => RequestOrder::Priority,
            2 => RequestOrder::Slots,
            _ => return None,
        })
    }
}

/// What a job of a client or a server signals. Clients are numbered through the system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestEvent {
    /// The client has asked.
    Request(u16),
    /// The server has answered the client.
    Answer(u16),
}

/// Events from here on are those of requests, and then those of answers.
const REQUESTS: u16 = 0x4000;
const ANSWERS: u16 = 0x8000;

impl RequestEvent {
    /// The event's number.
    pub const fn event(self) -> u16 {
        match self {
            RequestEvent::Request(client) => REQUESTS + client,
            RequestEvent::Answer(client) => ANSWERS + client,
        }
    }

    /// What the record tells, if it is one of these.
    pub fn of(record: &Record) -> Option<RequestEvent> {
        let signal = record.kind == EventKind::Input && record.level == InputKind::Signal as u8;
        match u16::try_from(record.arg).ok().filter(|_| signal)? {
            event if event >= ANSWERS => Some(RequestEvent::Answer(event - ANSWERS)),
            event if event >= REQUESTS => Some(RequestEvent::Request(event - REQUESTS)),
            _ => None,
        }
    }
}

/// How a server serves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestRules {
    /// In which order.
    pub order: RequestOrder,
    /// How many clients it has.
    pub clients: usize,
    /// How many requests a job serves at most.
    pub requests: u32,
}

/// What a server keeps from one request to the next. One thread at a time uses it.
#[derive(Debug)]
pub struct RequestChoice {
    /// The client served last, and one.
    last: AtomicU32,
    /// Whose waiting requests it has seen, as bits.
    seen: AtomicU32,
    /// By priority: from which of the server's jobs on it serves the request of a client that it has seen, and may serve the next one.
    /// So a client that asks more often than it declares keeps nobody waiting but itself.
    from: [AtomicU64; MAX_CLIENTS],
    next: [AtomicU64; MAX_CLIENTS],
}

impl Default for RequestChoice {
    fn default() -> RequestChoice {
        RequestChoice::new()
    }
}

impl RequestChoice {
    /// Before the first request.
    pub const fn new() -> RequestChoice {
        RequestChoice {
            last: AtomicU32::new(0),
            seen: AtomicU32::new(0),
            from: [const { AtomicU64::new(0) }; MAX_CLIENTS],
            next: [const { AtomicU64::new(0) }; MAX_CLIENTS],
        }
    }

    /// The client that the server's job of this number serves as its request of this number, both from 0; nothing if none is to be. `waiting`:
    /// whose requests wait, as bits. `every`: a request of the client counts in one of so many jobs at most.
    pub fn next(
        &self,
        rules: &RequestRules,
        (job, request): (u64, u32),
        waiting: u32,
        every: impl Fn(usize) -> u64,
    ) -> Option<usize> {
        let clients = rules.clients.min(MAX_CLIENTS);
        let seen = self.seen.load(Ordering::Relaxed) & waiting;
        let mut may = 0;
        for client in (0..clients).filter(|client| waiting & 1 << client != 0) {
            let (from, next) = (&self.from[client], &self.next[client]);
            if seen & 1 << client == 0 {
                let first = next.load(Ordering::Relaxed).max(job);
                from.store(first, Ordering::Relaxed);
                next.store(first.saturating_add(every(client)), Ordering::Relaxed);
            }
            if rules.order != RequestOrder::Priority || from.load(Ordering::Relaxed) <= job {
                may |= 1_u32 << client;
            }
        }
        let last = self.last.load(Ordering::Relaxed) as usize;
        let chosen = match rules.order {
            RequestOrder::Turns => (last..clients).chain(0..last.min(clients)).find(|client| may & 1 << client != 0),
            RequestOrder::Priority => (0..clients).find(|client| may & 1 << client != 0),
            RequestOrder::Slots => {
                let slot = job.wrapping_mul(rules.requests.into()).wrapping_add(request.into()) % clients.max(1) as u64;
                Some(slot as usize).filter(|client| may & 1_u32 << client != 0)
            }
        };
        let served = chosen.map_or(0, |client| 1_u32 << client);
        self.seen.store(waiting & !served, Ordering::Relaxed);
        if let Some(client) = chosen {
            self.last.store(client as u32 + 1, Ordering::Relaxed);
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three clients whose requests wait in the first job, and come again as soon as they are served; two are served in each job.
    fn served(order: RequestOrder, every: [u64; 3]) -> [usize; 8] {
        let (choice, rules) = (RequestChoice::new(), RequestRules { order, clients: 3, requests: 2 });
        let mut all = [9; 8];
        for (n, served) in all.iter_mut().enumerate() {
            let place = (n as u64 / 2, n as u32 % 2);
            *served = choice.next(&rules, place, 0b111, |client| every[client]).unwrap_or(9);
        }
        all
    }

    #[test]
    fn clients_are_served_in_turns_in_slots_and_by_priority_as_often_as_they_declare() {
        assert_eq!(served(RequestOrder::Turns, [1; 3]), [0, 1, 2, 0, 1, 2, 0, 1]);
        assert_eq!(served(RequestOrder::Slots, [1; 3]), [0, 1, 2, 0, 1, 2, 0, 1]);
        assert_eq!(served(RequestOrder::Priority, [1; 3]), [0, 1, 0, 1, 0, 1, 0, 1]);
        // The first two ask all the time, and have every second job; the other one's request waited since the job before, and it asks again.
        assert_eq!(served(RequestOrder::Priority, [2, 2, 1]), [0, 1, 2, 2, 0, 1, 2, 2]);
        assert_eq!(served(RequestOrder::Priority, [2, 2, 2]), [0, 1, 2, 9, 0, 1, 2, 9]);
        let (choice, rules) =
            (RequestChoice::new(), RequestRules { order: RequestOrder::Slots, clients: 3, requests: 1 });
        // A slot of one who does not ask is nobody's.
        assert_eq!([0, 1, 2].map(|job| choice.next(&rules, (job, 0), 0b101, |_| 1)), [Some(0), None, Some(2)]);
    }

    #[test]
    fn records_tell_requests_from_other_signals() {
        for event in [RequestEvent::Request(0), RequestEvent::Request(200), RequestEvent::Answer(7)] {
            let record = Record {
                time: tactus_time::Instant::ZERO,
                arg: event.event().into(),
                job: 0,
                task: None,
                kind: EventKind::Input,
                level: InputKind::Signal as u8,
                core: tactus_time::CoreId(0),
                ticket: 0,
            };
            assert_eq!(RequestEvent::of(&record), Some(event));
            assert_eq!(RequestEvent::of(&Record { arg: 3, ..record }), None);
            assert_eq!(RequestEvent::of(&Record { level: InputKind::Await as u8, ..record }), None);
        }
    }
}
