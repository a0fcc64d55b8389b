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

/// Which of the queue goes next. The earliest deadline is the queue's last, and of equal ones the first that came.
pub(crate) fn choose(queue: &[Request], k: usize, now: Instant, head: Head, map: &LatencyMap) -> usize {
    let end = queue.len();
    let window = &queue[end - k.clamp(1, MOST_LOOKAHEAD).min(end)..];
    // Who has no deadline waits until nobody with one does.
    let promised = match window.last() {
        Some(last) if last.deadline < Instant::NEVER => {
            window.iter().rev().take_while(|request| request.deadline < Instant::NEVER).count()
        }
        _ => window.len(),
    };
    let window = &window[window.len() - promised..];
    let first = match <&[Request; 4]>::try_from(window) {
        Ok(four) => best_of_four(four, now, head, map),
        Err(_) => best_of(window, now, head, map),
    };
    end - promised + first
}

/// All 24 orders of four, which is what a look-ahead of 4 has nearly always, without the general search's bookkeeping.
fn best_of_four(window: &[Request; 4], now: Instant, head: Head, map: &LatencyMap) -> usize {
    let rows = [window[0].granule, window[1].granule, window[2].granule, window[3].granule];
    let mut steps = [[0; 4]; 5];
    let mut longest = 0;
    for (from, steps) in [rows[0], rows[1], rows[2], rows[3], head.granule].into_iter().zip(&mut steps) {
        longest = longest.max(map.careful_four(from, &rows, steps));
    }
    // The last is due first.
    if window[3].deadline.as_nanos() >= now.as_nanos().saturating_add(4 * longest) {
        return shortest_of_four(&steps);
    }
    let due = [0, 1, 2, 3].map(|n: usize| window[n].deadline.as_nanos());
    let late = |end: u64, request: usize| end.saturating_sub(due[request]);
    let (mut least, mut length, mut first) = (u64::MAX, u64::MAX, 3);
    // From the last on: among equals the earliest deadline wins.
    for a in (0..4).rev() {
        let end_a = now.as_nanos() + steps[4][a];
        let late_a = late(end_a, a);
        if late_a > least {
            continue;
        }
        for [b, c, d] in REST[a] {
            let end_b = end_a + steps[a][b];
            let late_b = late_a.max(late(end_b, b));
            if late_b > least {
                continue;
            }
            let mut last = |c: usize, d: usize| {
                let end_c = end_b + steps[b][c];
                let end = end_c + steps[c][d];
                let late = late_b.max(late(end_c, c)).max(late(end, d));
                if late < least || late == least && end < length {
                    (least, length, first) = (late, end, a);
                }
            };
            last(c, d);
            last(d, c);
        }
    }
    first
}

/// The same where no order can be late.
fn shortest_of_four(steps: &[[u64; 4]; 5]) -> usize {
    let (mut length, mut first) = (u64::MAX, 3);
    for a in (0..4).rev() {
        for [b, c, d] in REST[a] {
            let rest = (steps[b][c] + steps[c][d]).min(steps[b][d] + steps[d][c]);
            let end = steps[4][a] + steps[a][b] + rest;
            if end < length {
                (length, first) = (end, a);
            }
        }
    }
    first
}

/// For each first of four the three that can be second, each with the two that are left.
const REST: [[[usize; 3]; 3]; 4] = [
    [[3, 2, 1], [2, 3, 1], [1, 3, 2]],
    [[3, 2, 0], [2, 3, 0], [0, 3, 2]],
    [[3, 1, 0], [1, 3, 0], [0, 3, 1]],
    [[2, 1, 0], [1, 2, 0], [0, 2, 1]],
];

/// The same for any number.
fn best_of(window: &[Request], now: Instant, head: Head, map: &LatencyMap) -> usize {
    let many = window.len().min(MOST_LOOKAHEAD);
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
    for (to, request) in window.iter().rev().enumerate() {
        search.deadlines[to] = request.deadline.as_nanos();
        let mut least = map.careful(head.granule, request.granule).as_nanos();
        search.steps[many][to] = least;
        for (from, other) in window.iter().rev().enumerate() {
            if from != to {
                let step = map.careful(other.granule, request.granule).as_nanos();
                (search.steps[from][to], least) = (step, least.min(step));
            }
        }
        search.least[to] = least;
    }
    let rest = search.least.iter().sum();
    search.deeper(many, (1 << many) - 1, now.as_nanos(), 0, rest);
    // The search counts from the earliest deadline.
    many - 1 - search.first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::Form;
    use tactus_time::Duration;

    #[test]
    fn of_four_both_searches_find_an_order_that_is_as_good() {
        let mut seed = 1_u64;
        let mut draw = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        for _ in 0..20_000 {
            let mut map = LatencyMap::new(Form::Directed, 5, Duration::from_millis(1)).unwrap();
            for (from, to) in (0..25).map(|n| (n / 5, n % 5)) {
                map.learn(from, to, Duration::from_millis(1 + draw(15)));
            }
            let due: [u64; 4] = core::array::from_fn(|_| draw(40));
            let mut window = due.map(|due| Request {
                id: 0,
                granule: 0,
                block: 0,
                blocks: 1,
                write: false,
                arrival: Instant::ZERO,
                deadline: Instant::ZERO + Duration::from_millis(due),
            });
            window.sort_by_key(|request| core::cmp::Reverse(request.deadline));
            for (n, request) in window.iter_mut().enumerate() {
                request.granule = n as u32;
            }
            let head = Head { granule: 4, block: 0 };
            // What comes of it: the best that is left after each choice.
            let worth = |first: usize| {
                let mut best = (u64::MAX, u64::MAX);
                for n in 0..64 {
                    let order = [first, n / 16 % 4, n / 4 % 4, n % 4];
                    if (0..4).all(|request| order.contains(&request)) {
                        let (mut at, mut late, mut from) = (0, 0, 4);
                        for request in order {
                            at += map.careful(from, request as u32).as_nanos();
                            late = late.max(at.saturating_sub(window[request].deadline.as_nanos()));
                            from = request as u32;
                        }
                        best = best.min((late, at));
                    }
                }
                best
            };
            let (four, any) =
                (best_of_four(&window, Instant::ZERO, head, &map), best_of(&window, Instant::ZERO, head, &map));
            let least = (0..4).map(worth).min().unwrap();
            assert_eq!((worth(four), worth(any)), (least, least));
        }
    }
}
