//! What waits for a node's sender: the most urgent frame goes first, of equally urgent ones the first, and none stops another.
//!
//! Simulations let any number wait. A machine has a [`SendQueue`], whose memory is taken when it is made; where it is full, the least urgent
//! frame is lost.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};

/// How urgent a frame is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Urgency {
    /// All that is not data.
    Other,
    /// Data, by its priority.
    Data(u8),
}

struct Waiting<F> {
    order: (Urgency, Reverse<u64>),
    frame: F,
}

impl<F> PartialEq for Waiting<F> {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}
impl<F> Eq for Waiting<F> {}
impl<F> PartialOrd for Waiting<F> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<F> Ord for Waiting<F> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order.cmp(&other.order)
    }
}

/// Frames that wait.
pub struct Sender<F> {
    waiting: BinaryHeap<Waiting<F>>,
    serial: u64,
    room: usize,
}

impl<F> Default for Sender<F> {
    fn default() -> Self {
        Sender { waiting: BinaryHeap::new(), serial: 0, room: usize::MAX }
    }
}

impl<F> Sender<F> {
    /// With room for this number of frames, taken now.
    pub fn with_room(room: usize) -> Self {
        Sender { waiting: BinaryHeap::with_capacity(room), serial: 0, room }
    }
    /// A frame comes to wait. Where there is no room, the least urgent of all, of equal ones the last, is given back.
    pub fn push(&mut self, urgency: Urgency, frame: F) -> Option<F> {
        self.serial += 1;
        let new = Waiting { order: (urgency, Reverse(self.serial)), frame };
        if self.waiting.len() < self.room {
            self.waiting.push(new);
            return None;
        }
        let mut all = core::mem::take(&mut self.waiting).into_vec();
        let least = all.iter_mut().min().filter(|least| **least < new);
        let lost = match least {
            Some(least) => core::mem::replace(least, new),
            None => new,
        };
        self.waiting = BinaryHeap::from(all);
        Some(lost.frame)
    }
    /// The frame that goes next.
    pub fn pop(&mut self) -> Option<F> {
        self.waiting.pop().map(|it| it.frame)
    }
    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }
    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// Frames that wait, with memory for them.
pub struct SendQueue {
    sender: Sender<usize>,
    bytes: Vec<u8>,
    /// The longest frame.
    longest: usize,
    /// Of each place.
    lengths: Vec<usize>,
    free: Vec<usize>,
    lost: u64,
}

impl SendQueue {
    /// With room for `frames` frames, each of at most `longest` bytes.
    pub fn new(frames: usize, longest: usize) -> SendQueue {
        // One more place, for the frame that comes while all others wait.
        let places = frames + 1;
        SendQueue {
            sender: Sender::with_room(frames),
            bytes: alloc::vec![0; places * longest],
            longest,
            lengths: alloc::vec![0; places],
            free: (0..places).collect(),
            lost: 0,
        }
    }
    /// A frame comes to wait. One that is too long is lost, and so is the least urgent of all where there is no room.
    pub fn push(&mut self, urgency: Urgency, frame: &[u8]) {
        if frame.len() > self.longest {
            self.lost += 1;
            return;
        }
        let Some(place) = self.free.pop() else { return };
        let from = place * self.longest;
        self.bytes[from..from + frame.len()].copy_from_slice(frame);
        self.lengths[place] = frame.len();
        if let Some(lost) = self.sender.push(urgency, place) {
            self.free.push(lost);
            self.lost += 1;
        }
    }
    /// Takes the frame that goes next: what is made of its bytes. Nothing if none waits.
    pub fn pop<R>(&mut self, send: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let place = self.sender.pop()?;
        let from = place * self.longest;
        let sent = send(&self.bytes[from..from + self.lengths[place]]);
        self.free.push(place);
        Some(sent)
    }
    /// How many frames found no room.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_urgent_goes_first_and_of_equal_ones_who_came_first() {
        let mut sender = Sender::default();
        let all =
            [Urgency::Other, Urgency::Data(0), Urgency::Data(7), Urgency::Other, Urgency::Data(7), Urgency::Data(0)];
        all.iter().enumerate().for_each(|(n, urgency)| assert_eq!(sender.push(*urgency, n), None));
        assert_eq!(core::iter::from_fn(|| sender.pop()).collect::<Vec<_>>(), [2, 4, 1, 5, 0, 3]);
    }

    #[test]
    fn where_there_is_no_room_the_least_urgent_is_lost_and_the_most_urgent_waits_for_none() {
        let mut queue = SendQueue::new(3, 4);
        let data = Urgency::Data;
        for (urgency, frame) in [(Urgency::Other, b"a"), (data(1), b"b"), (Urgency::Other, b"c")] {
            queue.push(urgency, frame);
        }
        queue.push(Urgency::Other, b"d");
        queue.push(data(9), b"long!");
        assert_eq!(queue.lost(), 2, "the last of the least urgent, and one that is too long");
        queue.push(data(7), b"e");
        queue.push(data(0), b"f");
        queue.push(data(0), b"g");
        assert_eq!(queue.lost(), 5);
        let mut pop = || queue.pop(|bytes| bytes.to_vec());
        let all: Vec<Vec<u8>> = core::iter::from_fn(&mut pop).collect();
        assert_eq!(all, [b"e", b"b", b"f"]);
        queue.push(data(2), b"h");
        assert_eq!(queue.pop(|bytes| bytes.len()), Some(1));
        assert_eq!(queue.pop(|_| ()), None);
    }
}
