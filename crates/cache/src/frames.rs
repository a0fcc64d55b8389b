//! Frames of physical memory, given out by colour.
//!
//! A frame has one bit, in the map of its own colour. So a frame can neither be given twice nor as another colour: there is no
//! second place that could say something else.

use crate::colours::{Colour, Colours};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

/// Frames of one range of memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Frames {
    colours: Colours,
    first: u64,
    end: u64,
    /// For each colour a map of its frames, lowest first; a bit that is 1 is a frame that is free.
    free: Vec<Vec<u64>>,
}

/// A frame that cannot be given or taken back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameError {
    /// There is no such colour.
    NoSuchColour {
        /// What was asked for.
        asked: Colour,
        /// How many there are.
        count: u16,
    },
    /// No frame of this colour is free.
    Exhausted(Colour),
    /// The address is not the start of a frame of this range.
    NoFrame(u64),
    /// The frame is free already.
    Free(u64),
    /// The frame has been given out already.
    Given(u64),
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameError::NoSuchColour { asked, count } => {
                write!(f, "there is no colour {}: the colours are 0 to {}", asked.0, count - 1)
            }
            FrameError::Exhausted(colour) => {
                write!(f, "no frame of colour {} is free: give this colour to fewer, or use fewer colours", colour.0)
            }
            FrameError::NoFrame(address) => write!(f, "{address:#x} is not the start of a frame of this memory"),
            FrameError::Free(address) => write!(f, "the frame at {address:#x} is free already"),
            FrameError::Given(address) => write!(f, "the frame at {address:#x} has been given out already"),
        }
    }
}

impl core::error::Error for FrameError {}

impl Frames {
    /// All whole frames of a range of addresses, free.
    pub fn new(colours: Colours, range: Range<u64>) -> Frames {
        let (first, end) = (range.start.div_ceil(colours.page()), range.end / colours.page());
        let mut frames =
            Frames { colours, first, end: end.max(first), free: vec![Vec::new(); usize::from(colours.count())] };
        for colour in 0..colours.count() {
            let many = frames.of_colour(colour);
            let map = &mut frames.free[usize::from(colour)];
            map.resize(many.div_ceil(64) as usize, u64::MAX);
            if let (Some(last), rest @ 1..) = (map.last_mut(), many % 64) {
                *last = (1 << rest) - 1;
            }
        }
        frames
    }

    /// How the memory is coloured.
    pub const fn colours(&self) -> &Colours {
        &self.colours
    }

    /// The first frame number of this range that has a colour.
    fn lowest(&self, colour: u16) -> u64 {
        let count = u64::from(self.colours.count());
        self.first + (u64::from(colour) + count - self.first % count) % count
    }

    fn of_colour(&self, colour: u16) -> u64 {
        let lowest = self.lowest(colour);
        if lowest >= self.end {
            return 0;
        }
        (self.end - lowest).div_ceil(u64::from(self.colours.count()))
    }

    /// Colour, word and bit of a frame.
    fn bit(&self, address: u64) -> Result<(usize, usize, u64), FrameError> {
        let number = address / self.colours.page();
        if address % self.colours.page() != 0 || number < self.first || number >= self.end {
            return Err(FrameError::NoFrame(address));
        }
        let colour = self.colours.of(address).0;
        let at = (number - self.lowest(colour)) / u64::from(self.colours.count());
        Ok((usize::from(colour), (at / 64) as usize, 1 << (at % 64)))
    }

    /// Gives out the lowest free frame of a colour.
    ///
    /// # Errors
    /// Where there is none, or no such colour.
    pub fn take(&mut self, colour: Colour) -> Result<u64, FrameError> {
        let count = self.colours.count();
        if colour.0 >= count {
            return Err(FrameError::NoSuchColour { asked: colour, count });
        }
        let lowest = self.lowest(colour.0);
        let map = &mut self.free[usize::from(colour.0)];
        let word = map.iter().position(|word| *word != 0).ok_or(FrameError::Exhausted(colour))?;
        let bit = map[word].trailing_zeros();
        map[word] &= map[word] - 1;
        Ok((lowest + (word as u64 * 64 + u64::from(bit)) * u64::from(count)) * self.colours.page())
    }

    /// Gives out one frame by its address, for what has a place already (an image, a device).
    ///
    /// # Errors
    /// Where it is not here or not free.
    pub fn take_at(&mut self, address: u64) -> Result<(), FrameError> {
        let (colour, word, bit) = self.bit(address)?;
        if self.free[colour][word] & bit == 0 {
            return Err(FrameError::Given(address));
        }
        self.free[colour][word] &= !bit;
        Ok(())
    }

    /// Takes a frame back.
    ///
    /// # Errors
    /// Where it is not one of these, or free.
    pub fn give_back(&mut self, address: u64) -> Result<(), FrameError> {
        let (colour, word, bit) = self.bit(address)?;
        if self.free[colour][word] & bit != 0 {
            return Err(FrameError::Free(address));
        }
        self.free[colour][word] |= bit;
        Ok(())
    }

    /// Free frames of a colour.
    pub fn free(&self, colour: Colour) -> u64 {
        self.free.get(usize::from(colour.0)).map_or(0, |map| map.iter().map(|word| u64::from(word.count_ones())).sum())
    }
}
