//! In what order the ways of a set were used.

/// An order of ways, the most recently used first.
pub(crate) trait Order: Copy + core::fmt::Debug {
    /// As the ways are numbered.
    const START: Self;

    /// The way that was used this number of uses ago.
    fn at(&self, turns: usize) -> usize;

    /// `way` is the most recently used.
    fn to_front(&mut self, way: usize);

    /// `way`, which was the least recently used of those that count, is the most recently used.
    fn last_to_front(&mut self, way: usize);

    /// `way` is the least recently used of the first `ways`.
    fn to_back(&mut self, way: usize, ways: usize);
}

/// Each half byte 1; times a way, that way in each of them.
const ONES: u64 = 0x1111_1111_1111_1111;

/// The half bytes up to that which holds `way`.
#[inline(always)]
const fn up_to(word: u64, way: usize) -> u64 {
    let other = word ^ (ONES * way as u64);
    // The lowest bit set marks the lowest half byte that is zero; higher ones may be wrong, and are not used.
    let zero = other.wrapping_sub(ONES) & !other & (ONES << 3);
    zero ^ zero.wrapping_sub(1)
}

/// Up to sixteen ways are the half bytes of a word, the most recently used way in the lowest: moving one to either end is a dozen
/// instructions without a branch, whatever its place.
impl Order for u64 {
    const START: u64 = 0xfedc_ba98_7654_3210;

    #[inline(always)]
    fn at(&self, turns: usize) -> usize {
        (self >> (4 * turns)) as usize % 16
    }

    #[inline(always)]
    fn to_front(&mut self, way: usize) {
        let moved = up_to(*self, way);
        *self = (*self & !moved) | ((*self << 4) & moved) | way as u64;
    }

    /// What it leaves above the half bytes of the ways that count means nothing: nobody looks there.
    #[inline(always)]
    fn last_to_front(&mut self, way: usize) {
        *self = *self << 4 | way as u64;
    }

    #[inline(always)]
    fn to_back(&mut self, way: usize, ways: usize) {
        let there = !0 >> (64 - 4 * ways);
        let moved = there & !(up_to(*self, way) >> 4);
        *self = (*self & !moved) | (((*self & there) >> 4) & moved) | (way as u64) << (4 * (ways - 1));
    }
}

/// More ways are a byte each.
impl Order for [u8; 64] {
    const START: [u8; 64] = {
        let mut ways = [0; 64];
        let mut way = 0;
        while way < 64 {
            ways[way] = way as u8;
            way += 1;
        }
        ways
    };

    fn at(&self, turns: usize) -> usize {
        usize::from(self[turns]) % 64
    }

    fn to_front(&mut self, way: usize) {
        let at = self.iter().position(|other| usize::from(*other) == way).unwrap_or(0);
        self[..=at].rotate_right(1);
    }

    fn last_to_front(&mut self, way: usize) {
        self.to_front(way);
    }

    fn to_back(&mut self, way: usize, ways: usize) {
        let at = self.iter().position(|other| usize::from(*other) == way).unwrap_or(0);
        self[at..ways].rotate_left(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Against a list of which elements are taken out and put in at an end.
    fn moves<O: Order>(ways: usize) {
        let (mut order, mut list) = (O::START, (0..ways).collect::<Vec<_>>());
        for turn in 0..2000 {
            let way = turn * turn / 3 % ways;
            let last = list[ways - 1];
            list.retain(|other| *other != if turn % 5 == 0 { last } else { way });
            if turn % 5 == 0 {
                list.insert(0, last);
                order.last_to_front(last);
            } else if turn % 3 == 1 {
                list.push(way);
                order.to_back(way, ways);
            } else {
                list.insert(0, way);
                order.to_front(way);
            }
            assert_eq!(list, (0..ways).map(|turns| order.at(turns)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn ways_move_to_either_end_and_others_keep_their_order() {
        (1..=16).for_each(moves::<u64>);
        (1..=64).for_each(moves::<[u8; 64]>);
    }
}
