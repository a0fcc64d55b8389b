//! When packets arrive: two streams on one wire, told by the timer device's counter, which runs whatever the guest does.
//!
//! The times between packets of a stream are even draws from a half to one and a half of their mean, from a seed: a strict
//! rhythm would fall in step with the round of quanta and queues, and who loses a packet would be a matter of phase.

use crate::STREAMS;

/// Fractions of a count, so that rates need not divide the device's frequency.
const FRACTION: u32 = 8;

/// Two streams of packets.
#[derive(Clone, Debug)]
pub struct Wire {
    /// Mean time between packets (fractions of counts); 0 for a silent stream.
    means: [u64; STREAMS],
    /// When the next one arrives (fractions of counts).
    next: [u64; STREAMS],
    state: u64,
}

impl Wire {
    /// Streams of so many packets per second from count `start` on, of a counter of `frequency` Hz.
    pub fn new(rates: [u64; STREAMS], start: u64, frequency: u64, seed: u64) -> Wire {
        let means = rates.map(|rate| (frequency << FRACTION).checked_div(rate).unwrap_or(0));
        // Never zero: the generator would stay there.
        let mut wire = Wire { means, next: [u64::MAX; STREAMS], state: seed << 1 | 1 };
        for (stream, mean) in means.into_iter().enumerate() {
            if mean > 0 {
                wire.next[stream] = (start << FRACTION) + wire.gap(stream);
            }
        }
        wire
    }

    /// Takes the earliest packet that arrived up to count `now`: its stream.
    pub fn take(&mut self, now: u64) -> Option<usize> {
        let stream = usize::from(self.next[1] < self.next[0]);
        if self.next[stream] > now << FRACTION {
            return None;
        }
        self.next[stream] += self.gap(stream);
        Some(stream)
    }

    /// The count at which the next packet arrives; never for a silent wire.
    pub fn next(&self) -> u64 {
        self.next[0].min(self.next[1]).div_ceil(1 << FRACTION)
    }

    fn gap(&mut self, stream: usize) -> u64 {
        // Marsaglia's xorshift (Xorshift RNGs, 2003).
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let mean = self.means[stream];
        // 24 bits of the draw, so that the product fits for every rate.
        mean / 2 + (((self.state >> 40) * mean) >> 24)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_have_their_rates_and_come_in_the_order_of_time() {
        let mut wire = Wire::new([40_000, 10_000], 1_000, 100_000_000, 1);
        let mut counts = [0_u64; STREAMS];
        assert_eq!(wire.take(1_000), None);
        for now in (1_000..=100_001_000).step_by(100) {
            while let Some(stream) = wire.take(now) {
                counts[stream] += 1;
            }
        }
        assert!(counts[0].abs_diff(40_000) < 400, "{counts:?}");
        assert!(counts[1].abs_diff(10_000) < 200, "{counts:?}");
    }

    #[test]
    fn looking_seldom_loses_no_packet() {
        let mut often = Wire::new([5_000, 7_000], 0, 100_000_000, 3);
        let mut seldom = often.clone();
        let mut streams = [[0_u64; STREAMS]; 2];
        for now in (0..=50_000_000).step_by(1_000) {
            while let Some(stream) = often.take(now) {
                streams[0][stream] += 1;
            }
        }
        while let Some(stream) = seldom.take(50_000_000) {
            streams[1][stream] += 1;
        }
        assert_eq!(streams[0], streams[1]);
        let next = often.next();
        assert!(next > 50_000_000 && often.take(next - 1).is_none() && often.take(next).is_some());
    }

    #[test]
    fn a_silent_stream_has_no_packets() {
        let mut wire = Wire::new([0, 1_000], 0, 100_000_000, 1);
        assert!((0..100).filter_map(|_| wire.take(100_000_000)).all(|stream| stream == 1));
        assert_eq!(Wire::new([0, 0], 0, 100_000_000, 1).take(u64::MAX >> FRACTION), None);
    }
}
