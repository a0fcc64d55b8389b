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
    /// The shortest step to each.
    least: [u64; MOST_LOOKAHEAD],
    best: (u64, u64),
    first: usize,
    tried: usize,
}

impl Search {
    /// Tries all orders of what is left. One that can only be worse than the best is left: `rest` is the least that the
    /// steps to those left take. (The times at the ends differ by the sums of the steps alone.)
    fn deeper(&mut self, from: usize, left: u32, at: u64, late: u64, rest: u64) {
        let mut untried = left;
        while untried != 0 {
            let next = untried.trailing_zeros() as usize % MOST_LOOKAHEAD;
            untried &= untried - 1;
            let end = at + self.steps[from][next];
            let late = late.max(end.saturating_sub(self.deadlines[next]));
            let rest = rest - self.least[next];
            if late > self.best.0 || late == self.best.0 && end + rest >= self.best.1 {
                continue;
            }
            if from == self.many {
                self.tried = next;
            }
            let left = left & !(1 << next);
            if left == 0 {
                (self.best, self.first) = ((late, end), self.tried);
            } else {
                self.deeper(next, left, end, late, rest);
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
        least: [0; MOST_LOOKAHEAD],
        best: (u64::MAX, u64::MAX),
        first: 0,
        tried: 0,
    };
    for (to, request) in queue[..many].iter().enumerate() {
        search.deadlines[to] = request.deadline.as_nanos();
        let mut least = map.careful(head.granule, request.granule).as_nanos();
        search.steps[many][to] = least;
        for (from, other) in queue[..many].iter().enumerate() {
            if from != to {
                let step = map.careful(other.granule, request.granule).as_nanos();
                (search.steps[from][to], least) = (step, least.min(step));
            }
        }
        search.least[to] = least;
    }
    let rest = search.least.iter().sum();
    search.deeper(many, (1 << many) - 1, now.as_nanos(), 0, rest);
    search.first
}
