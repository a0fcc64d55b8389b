//! A bounded queue of packets between one who puts and one who takes, either of whom may interrupt the other. What does not
//! fit is dropped, as a network card does.

use core::sync::atomic::{AtomicU64, AtomicU8, Ordering};

/// The most places of a queue.
pub const MOST: usize = 8192;

/// Which stream a packet belongs to. Nothing else of a packet matters here: its payload is one byte.
pub type Packet = u8;

/// First in, first out.
#[derive(Debug)]
pub struct Queue {
    packets: [AtomicU8; MOST],
    /// How many were ever taken, and put.
    taken: AtomicU64,
    put: AtomicU64,
}

impl Queue {
    /// An empty one.
    pub const fn new() -> Queue {
        Queue { packets: [const { AtomicU8::new(0) }; MOST], taken: AtomicU64::new(0), put: AtomicU64::new(0) }
    }

    /// Adds a packet if fewer than `places` wait, of which there are at most [`MOST`]; false if it was dropped.
    pub fn put(&self, packet: Packet, places: u64) -> bool {
        let put = self.put.load(Ordering::Relaxed);
        if put - self.taken.load(Ordering::Acquire) >= places.min(MOST as u64) {
            return false;
        }
        self.packets[put as usize % MOST].store(packet, Ordering::Relaxed);
        self.put.store(put + 1, Ordering::Release);
        true
    }

    /// Takes the oldest packet.
    pub fn take(&self) -> Option<Packet> {
        let taken = self.taken.load(Ordering::Relaxed);
        if taken == self.put.load(Ordering::Acquire) {
            return None;
        }
        let packet = self.packets[taken as usize % MOST].load(Ordering::Relaxed);
        self.taken.store(taken + 1, Ordering::Release);
        Some(packet)
    }
}

impl Default for Queue {
    fn default() -> Self {
        Queue::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_in_the_order_in_which_they_came() {
        let queue = Queue::new();
        for round in 0..10_000 {
            assert!(queue.put(round as u8, 3) && queue.put(1, 3));
            assert_eq!((queue.take(), queue.take(), queue.take()), (Some(round as u8), Some(1), None));
        }
    }

    #[test]
    fn a_full_queue_drops_the_newest() {
        let queue = Queue::new();
        assert_eq!([queue.put(1, 2), queue.put(2, 2), queue.put(3, 2)], [true, true, false]);
        assert_eq!((queue.take(), queue.take(), queue.take()), (Some(1), Some(2), None));
        assert!((0..MOST).all(|_| queue.put(0, u64::MAX)) && !queue.put(0, u64::MAX));
    }
}
