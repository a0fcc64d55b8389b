//! G-MATRIX (source §III-C): among the k requests with the earliest deadlines, the first of the order that is least late
//! and, among such orders, shortest. The step from the head is counted, which the source's sum leaves out.

use crate::map::LatencyMap;
use crate::request::{Head, Request};
use tactus_time::Instant;

/// The largest k; the source saw no benefit beyond 4.
pub const MOST_LOOKAHEAD: usize = 6;

struct Search {
    many: usize,
    /// Step from request to request; row `many` is from the head.
    steps: [[u64; MOST_LOOKAHEAD]; MOST_LOOKAHEAD + 1],
    deadlines: [u64; MOST_LOOKAHEAD],
    best: (u64, u64),
    first: usize,
}

impl Search {
    /// Tries all orders of what is left; one that is already worse than the best is left.
    fn deeper(&mut self, from: usize, left: u32, first: usize, at: u64, late: u64) {
        if left == 0 {
            // The times at the ends differ by the sums of the steps alone.
            if (late, at) < self.best {
                (self.best, self.first) = ((late, at), first);
            }
            return;
        }
        for next in 0..self.many {
            if left & 1 << next != 0 {
                let end = at + self.steps[from][next];
                let late = late.max(end.saturating_sub(self.deadlines[next]));
                if (late, end) < self.best {
                    let first = if from == self.many { next } else { first };
                    self.deeper(next, left & !(1 << next), first, end, late);
                }
            }
        }
    }
}

/// Which of the queue, sorted by deadline, goes next.
pub(crate) fn choose(queue: &[Request], k: usize, now: Instant, head: Head, map: &LatencyMap) -> usize {
    let many = k.clamp(1, MOST_LOOKAHEAD).min(queue.len());
    if many < 2 {
        return 0;
    }
    let mut search = Search {
        many,
        steps: [[0; MOST_LOOKAHEAD]; MOST_LOOKAHEAD + 1],
        deadlines: [0; MOST_LOOKAHEAD],
        best: (u64::MAX, u64::MAX),
        first: 0,
    };
    for (to, request) in queue[..many].iter().enumerate() {
        search.deadlines[to] = request.deadline.as_nanos();
        search.steps[many][to] = map.careful(head.granule, request.granule).as_nanos();
        for (from, other) in queue[..many].iter().enumerate() {
            if from != to {
                search.steps[from][to] = map.careful(other.granule, request.granule).as_nanos();
            }
        }
    }
    search.deeper(many, (1 << many) - 1, 0, now.as_nanos(), 0);
    search.first
}
