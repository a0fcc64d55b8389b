//! A bounded queue of packets. What does not fit is dropped, as a network card does.

/// The most places of a queue.
pub const MOST: usize = 1024;

/// Which stream a packet belongs to. Nothing else of a packet matters here: its payload is one byte.
pub type Packet = u8;

/// First in, first out.
#[derive(Debug)]
pub struct Queue {
    packets: [Packet; MOST],
    first: usize,
    length: usize,
    places: usize,
}

impl Queue {
    /// An empty one of so many places, at most [`MOST`].
    pub const fn new(places: usize) -> Queue {
        Queue { packets: [0; MOST], first: 0, length: 0, places: if places < MOST { places } else { MOST } }
    }

    /// Adds a packet; false if it was dropped.
    pub fn put(&mut self, packet: Packet) -> bool {
        if self.length >= self.places {
            return false;
        }
        self.packets[(self.first + self.length) % MOST] = packet;
        self.length += 1;
        true
    }

    /// Takes the oldest packet.
    pub fn take(&mut self) -> Option<Packet> {
        if self.length == 0 {
            return None;
        }
        let packet = self.packets[self.first];
        self.first = (self.first + 1) % MOST;
        self.length -= 1;
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_in_the_order_in_which_they_came() {
        let mut queue = Queue::new(3);
        for round in 0..1_000 {
            assert!(queue.put(round as u8) && queue.put(1));
            assert_eq!((queue.take(), queue.take(), queue.take()), (Some(round as u8), Some(1), None));
        }
    }

    #[test]
    fn a_full_queue_drops_the_newest() {
        let mut queue = Queue::new(2);
        assert_eq!([queue.put(1), queue.put(2), queue.put(3)], [true, true, false]);
        assert_eq!((queue.take(), queue.take(), queue.take()), (Some(1), Some(2), None));
    }
}
