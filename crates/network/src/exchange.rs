//! The exchange of data at a node: what its own programs publish goes out, what is for them comes in, and the rest is passed on unread.
//!
//! It holds publishers to what they declared: a message that comes sooner than a period after the one before, less the jitter, is refused
//! (the generic cell rate algorithm of ITU-T I.371), and so is one of another size. So whoever floods costs nobody else anything.
//! A message and its repetitions go out in the order of messages, a part of the period apart. Frames are taken from one neighbour alone,
//! the one before this node in the stream's tree; of the frames of a message the first one is for the receiver.
//!
//! All memory is taken by [`Exchange::new`]: a publisher has room for as many messages as its rate lets wait for their repetitions.

use crate::frame::{Frame, Name, NodeId, DATA_OVERHEAD};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use tactus_time::{Duration, Instant};

/// What a node has to do with a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Role {
    /// The stream's number in its network.
    pub stream: u16,
    /// The application whose data it is: unless this node hosts it, it publishes and receives none of it.
    pub application: Option<Name>,
    /// Whose frames it takes; nobody's if it publishes itself.
    pub parent: Option<NodeId>,
    /// Whether it sends what it takes on.
    pub relays: bool,
    /// Whether it is for this node.
    pub receives: bool,
    /// Among frames that wait.
    pub priority: u8,
    /// Bytes of each message.
    pub bytes: u16,
    /// Time from one message to the next,
    pub period: Duration,
    /// and how much sooner one may be published after a late one.
    pub jitter: Duration,
    /// From one frame of a message to the next,
    pub frame_period: Duration,
    /// and how many come after the first one.
    pub repetitions: u8,
}

/// What is done with data.
#[derive(Debug)]
pub enum DataEffect<'a> {
    /// A frame is sent to whoever hears it, in the order of priorities.
    Send {
        /// The larger goes first.
        priority: u8,
        /// The frame.
        frame: &'a [u8],
    },
    /// A message is there for this node.
    Receive {
        /// Of which stream.
        stream: u16,
        /// Which.
        sequence: u32,
        /// What it says.
        bytes: &'a [u8],
    },
}

/// Why a message is not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rejected {
    /// This node publishes no such stream.
    NoPublisher,
    /// It has not the size that was declared.
    Size,
    /// It comes too soon after the last one.
    TooSoon,
    /// This node does not host its application.
    NotHosted,
    /// As many messages as have room wait for their repetitions: this node sends too seldom.
    Full,
}

/// The most messages of a stream that have room.
const MOST_PENDING: u64 = 1_024;

impl Role {
    /// How many messages can wait for their repetitions: one in each period, as many more as the jitter lets come sooner, and two, for a
    /// node that does what is due a little later.
    fn room(&self) -> usize {
        if self.parent.is_some() {
            return 0;
        }
        let sooner = self.jitter.as_nanos() / self.period.as_nanos().max(1);
        // Of a power of two, numbers that go on from the last to the first have places of their own.
        sooner.saturating_add(3).min(MOST_PENDING).next_power_of_two() as usize
    }
}

/// A message whose frames are not all sent.
#[derive(Debug)]
struct Pending {
    sequence: u32,
    repetition: u8,
    /// When its next frame is due.
    due: Instant,
}

#[derive(Debug)]
struct Party {
    role: Role,
    /// The next message has this number, of what is published here.
    sequence: u32,
    /// When the next message is expected, at the declared rate.
    expected: Instant,
    /// No more than have room,
    pending: VecDeque<Pending>,
    /// and their bytes: one after another, by the number of the message.
    bytes: Vec<u8>,
    /// The last message that was there for this node.
    last: Option<u32>,
    /// Whether its application is hosted here, if it has one.
    hosted: bool,
}

/// All data of a node.
#[derive(Debug)]
pub struct Exchange {
    id: NodeId,
    parties: Vec<Party>,
    frame: Vec<u8>,
}

impl Exchange {
    /// The exchange of a node with these roles.
    pub fn new(id: NodeId, roles: impl IntoIterator<Item = Role>) -> Exchange {
        let party = |role: Role| Party {
            hosted: role.application.is_none(),
            sequence: 0,
            expected: Instant::ZERO,
            pending: VecDeque::with_capacity(role.room()),
            bytes: alloc::vec![0; role.room() * usize::from(role.bytes)],
            last: None,
            role,
        };
        let mut parties: Vec<Party> = roles.into_iter().map(party).collect();
        parties.sort_by_key(|it| it.role.stream);
        let longest = parties.iter().map(|it| usize::from(it.role.bytes)).max().unwrap_or(0);
        Exchange { id, parties, frame: Vec::with_capacity(longest + DATA_OVERHEAD) }
    }

    /// This node hosts an application from now on, or no longer.
    pub fn hosts(&mut self, app: Name, whether: bool) {
        let of = self.parties.iter_mut().filter(|it| it.role.application == Some(app));
        of.for_each(|it| it.hosted = whether);
    }

    fn party(&mut self, stream: u16) -> Option<usize> {
        self.parties.binary_search_by_key(&stream, |it| it.role.stream).ok()
    }

    /// A program here has a message for all receivers; gives its number.
    ///
    /// # Errors
    /// Where it is not what was declared.
    pub fn publish(
        &mut self,
        now: Instant,
        stream: u16,
        bytes: &[u8],
        put: &mut dyn FnMut(DataEffect<'_>),
    ) -> Result<u32, Rejected> {
        let at =
            self.party(stream).filter(|&at| self.parties[at].role.parent.is_none()).ok_or(Rejected::NoPublisher)?;
        let party = &mut self.parties[at];
        if !party.hosted {
            return Err(Rejected::NotHosted);
        }
        if bytes.len() != usize::from(party.role.bytes) {
            return Err(Rejected::Size);
        }
        if now.saturating_add(party.role.jitter) < party.expected {
            return Err(Rejected::TooSoon);
        }
        if party.pending.len() == party.role.room() {
            return Err(Rejected::Full);
        }
        party.expected = party.expected.max(now).saturating_add(party.role.period);
        let sequence = party.sequence;
        party.sequence = sequence.wrapping_add(1);
        party.bytes[place(&party.role, sequence)].copy_from_slice(bytes);
        party.pending.push_back(Pending { sequence, repetition: 0, due: now });
        self.advance_one(now, at, put);
        Ok(sequence)
    }

    /// A frame of data has come.
    pub fn receive(
        &mut self,
        sender: NodeId,
        (stream, sequence, repetition): (u16, u32, u8),
        bytes: &[u8],
        put: &mut dyn FnMut(DataEffect<'_>),
    ) {
        let Some(at) = self.party(stream) else { return };
        let party = &mut self.parties[at];
        if party.role.parent != Some(sender) || bytes.len() != usize::from(party.role.bytes) {
            return;
        }
        // What came before its application was hosted here does not come by a repetition afterwards.
        let is_new = party.last.is_none_or(|last| (sequence.wrapping_sub(last) as i32) > 0);
        if party.role.receives && is_new {
            party.last = Some(sequence);
            if party.hosted {
                put(DataEffect::Receive { stream, sequence, bytes });
            }
        }
        if party.role.relays {
            Frame::Data { stream, sequence, repetition, bytes }.write(self.id, &mut self.frame);
            put(DataEffect::Send { priority: party.role.priority, frame: &self.frame });
        }
    }

    /// When something is to be done next.
    pub fn next(&self) -> Instant {
        self.parties.iter().filter_map(|it| it.pending.front()).map(|it| it.due).min().unwrap_or(Instant::NEVER)
    }

    /// Sends what is due.
    pub fn advance(&mut self, now: Instant, put: &mut dyn FnMut(DataEffect<'_>)) {
        (0..self.parties.len()).for_each(|at| self.advance_one(now, at, put));
    }

    fn advance_one(&mut self, now: Instant, at: usize, put: &mut dyn FnMut(DataEffect<'_>)) {
        let Exchange { id, parties, frame } = self;
        let Party { role, pending, bytes, .. } = &mut parties[at];
        while let Some(it) = pending.front_mut().filter(|it| it.due <= now) {
            let bytes = &bytes[place(role, it.sequence)];
            Frame::Data { stream: role.stream, sequence: it.sequence, repetition: it.repetition, bytes }
                .write(*id, frame);
            put(DataEffect::Send { priority: role.priority, frame });
            if it.repetition == role.repetitions {
                pending.pop_front();
            } else {
                it.repetition += 1;
                it.due = it.due.saturating_add(role.frame_period);
            }
        }
    }
}

/// Where the bytes of a message wait: those that wait are numbered one after another.
fn place(role: &Role, sequence: u32) -> core::ops::Range<usize> {
    let bytes = usize::from(role.bytes);
    let from = sequence as usize % role.room().max(1) * bytes;
    from..from + bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn millis(it: u64) -> Duration {
        Duration::from_millis(it)
    }

    fn role(stream: u16, parent: Option<u32>) -> Role {
        Role {
            stream,
            application: None,
            parent: parent.map(NodeId),
            relays: true,
            receives: parent.is_some(),
            priority: 3,
            bytes: 2,
            period: millis(30),
            jitter: millis(5),
            frame_period: millis(10),
            repetitions: 2,
        }
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// What an exchange sends and receives: message and repetition, or the message and its first byte.
    #[derive(PartialEq, Debug)]
    enum Seen {
        Sent(u32, u8),
        Received(u32, u8),
    }

    fn note(seen: &mut Vec<Seen>, effect: DataEffect<'_>) {
        seen.push(match effect {
            DataEffect::Receive { sequence, bytes, .. } => Seen::Received(sequence, bytes[0]),
            DataEffect::Send { frame, .. } => match Frame::read(frame) {
                Ok((NodeId(7), Frame::Data { sequence, repetition, .. })) => Seen::Sent(sequence, repetition),
                other => panic!("{other:?}"),
            },
        });
    }

    #[test]
    fn a_message_and_its_repetitions_go_out_before_the_next_message() {
        let mut exchange = Exchange::new(NodeId(7), [role(4, None)]);
        let mut seen = Vec::new();
        let mut publish = |exchange: &mut Exchange, millis, bytes: &[u8]| {
            exchange.publish(at(millis), 4, bytes, &mut |effect| note(&mut seen, effect))
        };
        // The first one is late by its jitter, the second one is not.
        assert_eq!(publish(&mut exchange, 5, &[1, 1]), Ok(0));
        assert_eq!(publish(&mut exchange, 29, &[2, 2]), Err(Rejected::TooSoon));
        assert_eq!(publish(&mut exchange, 30, &[2]), Err(Rejected::Size));
        assert_eq!(exchange.publish(at(30), 5, &[2, 2], &mut |_| ()), Err(Rejected::NoPublisher));
        assert_eq!((exchange.next(), publish(&mut exchange, 30, &[2, 2])), (at(15), Ok(1)));
        while exchange.next() < Instant::NEVER {
            let now = exchange.next();
            exchange.advance(now, &mut |effect| note(&mut seen, effect));
        }
        let sent = |message, of: core::ops::Range<u8>| of.map(move |n| Seen::Sent(message, n));
        assert_eq!(seen, sent(0, 0..3).chain(sent(1, 0..3)).collect::<Vec<_>>());
    }

    #[test]
    fn no_message_takes_memory_after_set_up_and_one_without_room_is_refused() {
        let repeated = Role { repetitions: 15, jitter: millis(70), frame_period: millis(100), ..role(4, None) };
        let mut exchange = Exchange::new(NodeId(7), [repeated, role(9, Some(3))]);
        let memory = |it: &Exchange| {
            let of = |it: &Party| (it.pending.capacity(), it.bytes.as_ptr(), it.bytes.capacity());
            (it.parties.iter().map(of).collect::<Vec<_>>(), it.frame.as_ptr(), it.frame.capacity())
        };
        let (before, room) = (memory(&exchange), 8);
        // As many as have room come while nothing is sent; then all that waited goes out, over and over.
        for round in 0..1_000 {
            let base = 10_000 * round;
            let sent: Vec<Result<u32, Rejected>> =
                (0..=room).map(|n| exchange.publish(at(base + 30 * n), 4, &[n as u8, 1], &mut |_| ())).collect();
            let first = 8 * round as u32;
            assert_eq!(sent[..8], (first..first + 8).map(Ok).collect::<Vec<_>>());
            assert_eq!(sent[8], Err(Rejected::Full));
            let mut last = Vec::new();
            exchange.advance(at(base + 5_000), &mut |effect| note(&mut last, effect));
            assert_eq!((last.len() > 7 * 16, last.last()), (true, Some(&Seen::Sent(first + 7, 15))));
            exchange.receive(NodeId(3), (9, round as u32, 0), &[1, 1], &mut |_| ());
        }
        assert_eq!(memory(&exchange), before);
    }

    #[test]
    fn who_floods_is_held_to_what_was_declared() {
        let mut exchange = Exchange::new(NodeId(7), [role(4, None)]);
        let taken = |n: &u64| exchange.publish(at(*n), 4, &[0, 0], &mut |_| ()).is_ok();
        // With the jitter of 5 ms one more at most in any time: at 0, 25, 55, …
        assert_eq!((0..120).filter(taken).collect::<Vec<_>>(), vec![0, 25, 55, 85, 115]);
    }

    #[test]
    fn data_of_an_application_is_published_and_received_where_it_is_hosted_and_passed_on_anywhere() {
        let (one, other) = (Name::new("one"), Name::new("other"));
        let roles = [Role { application: one, ..role(1, None) }, Role { application: other, ..role(2, Some(3)) }];
        let mut exchange = Exchange::new(NodeId(7), roles);
        let mut seen = Vec::new();
        let mut put = |effect: DataEffect<'_>| note(&mut seen, effect);
        assert_eq!(exchange.publish(at(0), 1, &[1, 1], &mut put), Err(Rejected::NotHosted));
        exchange.receive(NodeId(3), (2, 0, 0), &[1, 1], &mut put);
        exchange.hosts(one.expect("a name"), true);
        exchange.receive(NodeId(3), (2, 1, 0), &[2, 2], &mut put);
        assert_eq!(exchange.publish(at(0), 1, &[1, 1], &mut put), Ok(0));
        exchange.hosts(other.expect("a name"), true);
        exchange.receive(NodeId(3), (2, 1, 1), &[2, 2], &mut put);
        exchange.receive(NodeId(3), (2, 2, 0), &[3, 3], &mut put);
        exchange.hosts(other.expect("a name"), false);
        exchange.receive(NodeId(3), (2, 3, 0), &[4, 4], &mut put);
        let [a, b, c, d, e, f] =
            [(0, 0), (1, 0), (0, 0), (1, 1), (2, 0), (3, 0)].map(|(it, frame)| Seen::Sent(it, frame));
        assert_eq!(seen, [a, b, c, d, Seen::Received(2, 3), e, f]);
    }

    #[test]
    fn frames_of_others_than_the_neighbour_before_are_nobodys_and_each_message_comes_once() {
        let leaf = Role { relays: false, ..role(9, Some(3)) };
        let passed = Role { receives: false, ..role(5, Some(3)) };
        let mut exchange = Exchange::new(NodeId(7), [leaf, passed]);
        let mut seen = Vec::new();
        let mut take = |from, stream, frame: (u32, u8), bytes: &[u8]| {
            exchange.receive(NodeId(from), (stream, frame.0, frame.1), bytes, &mut |effect| note(&mut seen, effect));
        };
        take(3, 9, (0, 0), &[1, 1]);
        take(3, 9, (0, 1), &[1, 1]);
        take(2, 9, (1, 0), &[2, 2]);
        take(3, 9, (1, 0), &[2, 2, 2]);
        take(3, 9, (2, 1), &[3, 3]);
        take(3, 9, (1, 2), &[2, 2]);
        take(3, 8, (1, 2), &[2, 2]);
        take(3, 5, (6, 1), &[9, 9]);
        take(3, 9, (u32::MAX, 0), &[4, 4]);
        assert_eq!(seen, [Seen::Received(0, 1), Seen::Received(2, 3), Seen::Sent(6, 1)]);
    }
}
