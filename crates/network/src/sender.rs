//! What waits for a node's sender: the most urgent frame goes first, of equally urgent ones the first, and none stops another.

use alloc::collections::BinaryHeap;
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
}

impl<F> Default for Sender<F> {
    fn default() -> Self {
        Sender { waiting: BinaryHeap::new(), serial: 0 }
    }
}

impl<F> Sender<F> {
    /// A frame comes to wait.
    pub fn push(&mut self, urgency: Urgency, frame: F) {
        self.serial += 1;
        self.waiting.push(Waiting { order: (urgency, Reverse(self.serial)), frame });
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn the_most_urgent_goes_first_and_of_equal_ones_who_came_first() {
        let mut sender = Sender::default();
        let all =
            [Urgency::Other, Urgency::Data(0), Urgency::Data(7), Urgency::Other, Urgency::Data(7), Urgency::Data(0)];
        all.iter().enumerate().for_each(|(n, urgency)| sender.push(*urgency, n));
        assert_eq!(core::iter::from_fn(|| sender.pop()).collect::<Vec<_>>(), [2, 4, 1, 5, 0, 3]);
    }
}
