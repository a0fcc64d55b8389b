//! Orders of a queue for throughput: the shortest path through all requests that begins at the drive's head.
//!
//! Source §III: nearest insertion, O(N²) for a batch, at most twice the optimum where weights are a metric. The path is
//! tied to the head here, which the source leaves open; without that its first step would be left to chance.

use crate::request::{Head, Request};
use alloc::vec::Vec;

/// The largest queue that `exact` looks through. 8 requests are 40,320 orders, where the source's collapsed (§V); 10 are 3,628,800.
pub const MOST_EXACT: usize = 10;

/// The weight of a step.
pub(crate) trait Weight {
    fn between(&self, from: Head, to: &Request) -> u64;
}
impl<F: Fn(Head, &Request) -> u64> Weight for F {
    fn between(&self, from: Head, to: &Request) -> u64 {
        self(from, to)
    }
}

/// Puts a request into the path where the path grows least.
pub(crate) fn insert(path: &mut Vec<Request>, head: Head, request: Request, weight: &impl Weight) {
    let (mut best, mut place) = (u64::MAX, path.len());
    let mut before = head;
    for (at, next) in path.iter().enumerate() {
        let detour = (weight.between(before, &request) + weight.between(Head::from(&request), next))
            .saturating_sub(weight.between(before, next));
        if detour < best {
            (best, place) = (detour, at);
        }
        before = Head::from(next);
    }
    if weight.between(before, &request) < best {
        place = path.len();
    }
    path.insert(place, request);
}

/// Nearest insertion: moves all of `waiting` into `path`, always the one that is nearest to what the path holds.
/// `near` is room for one number each.
pub(crate) fn nearest_insertion(
    path: &mut Vec<Request>,
    waiting: &mut Vec<Request>,
    near: &mut Vec<u64>,
    head: Head,
    weight: &impl Weight,
) {
    near.clear();
    let distance = |request: &Request| {
        path.iter().map(|from| weight.between(Head::from(from), request)).fold(weight.between(head, request), u64::min)
    };
    near.extend(waiting.iter().map(distance));
    while let Some((at, _)) = near.iter().enumerate().min_by_key(|(_, distance)| **distance) {
        near.swap_remove(at);
        let request = waiting.swap_remove(at);
        for (other, near) in waiting.iter().zip(near.iter_mut()) {
            *near = (*near).min(weight.between(Head::from(&request), other));
        }
        insert(path, head, request, weight);
    }
}

/// Sorts the first [`MOST_EXACT`] requests into the shortest order by trying all; tells how many steps were tried.
pub(crate) fn exact(path: &mut [Request], head: Head, weight: &impl Weight) -> u64 {
    struct Search<'a, W> {
        weight: &'a W,
        best: u64,
        order: [Option<Request>; MOST_EXACT],
        steps: u64,
    }
    fn deeper<W: Weight>(search: &mut Search<'_, W>, path: &mut [Request], depth: usize, head: Head, sum: u64) {
        if depth == path.len() {
            if sum < search.best {
                search.best = sum;
                for (kept, request) in search.order.iter_mut().zip(path.iter()) {
                    *kept = Some(*request);
                }
            }
            return;
        }
        for at in depth..path.len() {
            search.steps += 1;
            path.swap(depth, at);
            let next = path[depth];
            let sum = sum + search.weight.between(head, &next);
            deeper(search, path, depth + 1, Head::from(&next), sum);
            path.swap(depth, at);
        }
    }
    let many = path.len().min(MOST_EXACT);
    let mut search = Search { weight, best: u64::MAX, order: [None; MOST_EXACT], steps: 0 };
    deeper(&mut search, &mut path[..many], 0, head, 0);
    for (request, best) in path.iter_mut().zip(search.order.iter().flatten()) {
        *request = *best;
    }
    search.steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;
    use tactus_time::Instant;

    #[test]
    fn nearest_insertion_asks_for_four_times_the_weights_where_twice_as_many_wait() {
        let asked = |many: u64| {
            let request = |id: u64| Request {
                id,
                granule: id as u32,
                block: id * 7919 % 1009,
                blocks: 8,
                write: false,
                arrival: Instant::ZERO,
                deadline: Instant::NEVER,
            };
            let count = Cell::new(0_u64);
            let weight = |from: Head, to: &Request| {
                count.set(count.get() + 1);
                from.block.abs_diff(to.block)
            };
            let mut waiting: Vec<Request> = (0..many).map(request).collect();
            let (mut path, mut near) = (Vec::new(), Vec::new());
            nearest_insertion(&mut path, &mut waiting, &mut near, Head::default(), &weight);
            assert_eq!(path.len() as u64, many);
            count.get()
        };
        for many in [32, 64, 128] {
            let growth = asked(2 * many) as f64 / asked(many) as f64;
            assert!((3.7..4.3).contains(&growth), "{many}: {growth}");
        }
    }
}
