//! Frames of physical memory by colour, handed out in ascending order and never taken back: what the kernel makes a system from.
//!
//! A frame has the colour of its number modulo the number of colours. For each colour one address says which of its frames have been
//! handed out: all below. So none can be handed out twice, nor as one of another colour.

use crate::layout::PAGE;

/// The most colours.
pub const MAX_COLOURS: usize = 64;
/// Stands for no frame.
const NONE: u64 = u64::MAX;

/// A range of physical addresses, the end excluded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// First address.
    pub start: u64,
    /// One past the last.
    pub end: u64,
}

impl Range {
    /// Nothing.
    pub const EMPTY: Range = Range { start: 0, end: 0 };

    /// Whether the two share an address.
    pub fn overlaps(self, other: Range) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// What is left of physical memory, which lies in so many ranges at most.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stock<const RANGES: usize> {
    colours: u64,
    /// For each colour the lowest frame that was not handed out; [`NONE`] if there is none.
    next: [u64; MAX_COLOURS],
    usable: [Range; RANGES],
    /// What is not to be handed out.
    pub reserved: [Range; 4],
    /// Bytes handed out.
    pub used: u64,
}

impl<const RANGES: usize> Stock<RANGES> {
    /// All usable memory from an address on.
    pub fn new(colours: u32, usable: [Range; RANGES], from: u64) -> Self {
        let colours = u64::from(colours).clamp(1, MAX_COLOURS as u64);
        let mut stock = Stock { colours, next: [NONE; MAX_COLOURS], usable, reserved: [Range::EMPTY; 4], used: 0 };
        stock.advance(from);
        stock
    }

    /// Whether these are all colours: then frames that follow each other can be had.
    pub fn is_every(&self, colours: u64) -> bool {
        let every = u64::MAX >> (64 - self.colours);
        colours & every == every
    }

    /// Everything below was handed out, or is lost.
    fn advance(&mut self, end: u64) {
        for colour in 0..self.colours {
            self.next[colour as usize % MAX_COLOURS] = self.above(end, colour);
        }
    }

    /// The first frame of the colour from this address on.
    fn above(&self, address: u64, colour: u64) -> u64 {
        let number = address.div_ceil(PAGE);
        (number + (colour + self.colours - number % self.colours) % self.colours) * PAGE
    }

    /// The lowest address above all that was handed out.
    fn high(&self) -> Option<u64> {
        let highest = self.next.iter().take(self.colours as usize).max()?;
        highest.checked_add(PAGE)?.checked_sub(self.colours * PAGE)
    }

    /// Whether the whole range is usable memory that was not handed out, nor reserved.
    pub fn is_free(&self, range: Range) -> bool {
        self.high().is_some_and(|high| range.start >= high) && self.is_usable(range)
    }

    fn is_usable(&self, range: Range) -> bool {
        self.usable.iter().any(|u| u.start <= range.start && range.end <= u.end)
            && !self.reserved.iter().any(|r| r.overlaps(range))
    }

    /// Where to go on from a place that is no memory, or reserved.
    fn beyond(&self, wanted: Range) -> Option<u64> {
        if let Some(taken) = self.reserved.iter().find(|r| r.overlaps(wanted)) {
            return Some(taken.end);
        }
        self.usable.iter().filter(|u| u.start > wanted.start && u.end != 0).map(|u| u.start).min()
    }

    /// `pages` frames of these colours in one piece; their physical address. Frames of some colours only are in one piece where their
    /// colours follow each other.
    pub fn pages(&mut self, pages: u64, colours: u64) -> Option<u64> {
        let bytes = pages * PAGE;
        let every = self.is_every(colours);
        let mut at = if every { self.high()? } else { *self.next.iter().take(self.colours as usize).min()? };
        loop {
            let wanted = Range { start: at, end: at.checked_add(bytes)? };
            if !self.is_usable(wanted) {
                at = self.beyond(wanted)?.next_multiple_of(PAGE);
            } else if !every && !self.are_next(wanted, colours) {
                at += PAGE;
            } else if every {
                self.advance(wanted.end);
                self.used += bytes;
                return Some(at);
            } else {
                for frame in (0..pages).map(|page| at + page * PAGE) {
                    self.next[self.colour(frame)] = frame + self.colours * PAGE;
                }
                self.used += bytes;
                return Some(at);
            }
        }
    }

    fn colour(&self, frame: u64) -> usize {
        (frame / PAGE % self.colours) as usize % MAX_COLOURS
    }

    /// Whether all frames of the range have one of these colours and were not handed out.
    fn are_next(&self, range: Range, colours: u64) -> bool {
        (range.start / PAGE..range.end / PAGE).all(|number| {
            let colour = self.colour(number * PAGE);
            colours >> colour & 1 != 0 && number * PAGE >= self.next[colour]
        })
    }

    /// One frame of any of these colours: the lowest there is.
    pub fn page(&mut self, colours: u64) -> Option<u64> {
        loop {
            let named = |colour: &usize| colours >> colour & 1 != 0;
            let colour =
                (0..self.colours as usize).filter(named).min_by_key(|colour| self.next[colour % MAX_COLOURS])?;
            let at = self.next[colour % MAX_COLOURS];
            let wanted = Range { start: at, end: at.checked_add(PAGE)? };
            if self.is_usable(wanted) {
                self.next[colour % MAX_COLOURS] = at + self.colours * PAGE;
                self.used += PAGE;
                return Some(at);
            }
            self.next[colour % MAX_COLOURS] = self.beyond(wanted).map_or(NONE, |at| self.above(at, colour as u64));
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    /// Memory of so many frames with a hole and a reserved frame in it.
    fn stock(colours: u32, frames: u64, hole: u64, kept: u64) -> Stock<2> {
        let usable = [Range { start: 0, end: hole * PAGE }, Range { start: (hole + 1) * PAGE, end: frames * PAGE }];
        let mut stock = Stock::new(colours, usable, 0);
        stock.reserved[0] = Range { start: kept * PAGE, end: (kept + 1) * PAGE };
        stock
    }

    /// Takes frames by one order of requests after another, each of a set of colours, and looks at each that comes.
    fn follow(
        stock: &Stock<2>,
        taken: &BTreeSet<u64>,
        (colours, frames, hole, kept): (u32, u64, u64, u64),
        seen: &mut u64,
    ) {
        for bits in 1..1_u64 << colours {
            let mut next = stock.clone();
            let Some(frame) = next.page(bits) else {
                // Then none of these colours is left.
                let left = (0..frames).filter(|it| ![hole, kept].contains(it) && !taken.contains(it));
                assert!(left.clone().all(|it| bits >> (it % u64::from(colours)) & 1 == 0), "{taken:?} {bits:b}");
                continue;
            };
            let number = frame / PAGE;
            assert!(number < frames && number != hole && number != kept && frame % PAGE == 0);
            assert!(bits >> (number % u64::from(colours)) & 1 != 0, "a foreign colour");
            let mut more = taken.clone();
            assert!(more.insert(number), "twice");
            *seen += 1;
            // What is left depends on how many of each colour are gone alone, so that orders that differ in nothing else are one.
            if number
                == *more.iter().filter(|it| **it % u64::from(colours) == number % u64::from(colours)).max().unwrap()
            {
                follow(&next, &more, (colours, frames, hole, kept), seen);
            }
        }
    }

    #[test]
    fn no_frame_is_handed_out_twice_or_as_a_foreign_colour_in_any_order_of_requests() {
        let mut seen = 0;
        for colours in [1, 2, 4] {
            for (frames, hole, kept) in [(4, 1, 2), (5, 0, 3)] {
                follow(&stock(colours, frames, hole, kept), &BTreeSet::new(), (colours, frames, hole, kept), &mut seen);
            }
        }
        assert!(seen > 1_000, "{seen}");
    }

    /// What follows depends on the state alone: all states that any requests of single frames lead to.
    #[test]
    fn no_state_of_16_frames_of_4_colours_hands_out_a_frame_twice_or_as_a_foreign_colour() {
        for colours in [1_u32, 2, 4] {
            let mut known: Vec<(Stock<2>, BTreeSet<u64>)> = std::vec![(stock(colours, 16, 5, 10), BTreeSet::new())];
            let mut at = 0;
            while at < known.len() {
                let (stock, taken) = known[at].clone();
                at += 1;
                for bits in 1..1_u64 << colours {
                    let mut next = stock.clone();
                    let Some(frame) = next.page(bits) else { continue };
                    let number = frame / PAGE;
                    assert!(
                        bits >> (number % u64::from(colours)) & 1 != 0 && ![5, 10].contains(&number) && number < 16
                    );
                    let mut more = taken.clone();
                    assert!(more.insert(number));
                    if !known.iter().any(|(_, it)| *it == more) {
                        known.push((next, more));
                    }
                }
            }
            assert!(known.iter().any(|(_, taken)| taken.len() == 14), "all frames come in the end");
        }
    }

    #[test]
    fn pieces_and_single_frames_never_overlap() {
        let mut random = 1_u64;
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        for _ in 0..300 {
            let colours = 1_u32 << draw(7);
            let every = u64::MAX >> (64 - colours);
            let mut stock = stock(colours, 2_000, 700, 1_100);
            let mut taken = BTreeSet::new();
            for _ in 0..200 {
                let low = draw(u64::from(colours));
                let run = 1 + draw(u64::from(colours) - low);
                let bits = if draw(4) == 0 { every } else { (every >> (u64::from(colours) - run)) << low };
                let pages = 1 + draw(5);
                let got = if pages == 1 { stock.page(bits) } else { stock.pages(pages, bits) };
                for frame in got.into_iter().flat_map(|got| (0..pages).map(move |page| got / PAGE + page)) {
                    assert!(bits >> (frame % u64::from(colours)) & 1 != 0, "a foreign colour");
                    assert!(frame < 2_000 && ![700, 1_100].contains(&frame));
                    assert!(taken.insert(frame), "twice");
                }
            }
        }
    }
}
