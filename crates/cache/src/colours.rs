//! Colours: parts of the shared level, and the frames of memory that fall into them.
//!
//! Frames whose numbers are equal modulo the page colours compete for the same sets. A *super colour*, here just colour, is a page
//! colour modulo the number of colours that a system uses (Gracioli 2014, section 4.2).

use crate::geometry::{Geometry, Index};
use core::fmt;

/// A colour, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Colour(pub u16);

/// A set of colours below 128, as many as the source's machine has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ColourSet(u128);

impl ColourSet {
    /// Colours that a set can hold.
    pub const MOST: u16 = 128;

    /// No colour.
    pub const EMPTY: ColourSet = ColourSet(0);

    /// These colours; nothing where one is too large for a set.
    pub fn of(colours: &[u16]) -> Option<ColourSet> {
        colours.iter().try_fold(0u128, |set, colour| (*colour < Self::MOST).then(|| set | 1 << colour)).map(ColourSet)
    }

    /// Whether both have a colour in common.
    pub const fn meets(self, other: ColourSet) -> bool {
        self.0 & other.0 != 0
    }

    /// The colours of both.
    #[must_use]
    pub const fn union(self, other: ColourSet) -> ColourSet {
        ColourSet(self.0 | other.0)
    }

    /// How many.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its colours, lowest first.
    pub fn iter(self) -> impl Iterator<Item = Colour> {
        (0..Self::MOST).filter(move |colour| self.0 >> colour & 1 == 1).map(Colour)
    }
}

/// How memory is coloured.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Colours {
    page: u64,
    page_colours: u64,
    count: u16,
}

/// Colours that a machine cannot have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColoursError {
    /// Not a power of two.
    PowerOfTwo(u64),
    /// More than the geometry has.
    TooMany {
        /// How many were asked for.
        asked: u64,
        /// Page colours of the geometry.
        page_colours: u64,
    },
    /// With a hashed index, colours are kept apart only by the bits below the hash.
    NotApart {
        /// How many were asked for.
        asked: u64,
        /// How many are kept apart.
        most: u64,
    },
}

impl fmt::Display for ColoursError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColoursError::PowerOfTwo(asked) => write!(f, "{asked} colours: give a power of two"),
            ColoursError::TooMany { asked, page_colours } => {
                write!(f, "{asked} colours: the shared level has {page_colours} page colours, give at most that number")
            }
            ColoursError::NotApart { asked, most } => {
                write!(f, "{asked} colours: the slice hash of the shared level keeps at most {most} apart, give at most that number")
            }
        }
    }
}

impl core::error::Error for ColoursError {}

impl Colours {
    /// So many colours of the nominal index of a geometry.
    ///
    /// # Errors
    /// Where the geometry does not have that many.
    pub fn new(geometry: &Geometry, count: u64) -> Result<Colours, ColoursError> {
        let (page, page_colours) = (geometry.page, geometry.page_colours());
        if !count.is_power_of_two() {
            return Err(ColoursError::PowerOfTwo(count));
        }
        match u16::try_from(count) {
            Ok(count) if u64::from(count) <= page_colours => Ok(Colours { page, page_colours, count }),
            _ => Err(ColoursError::TooMany { asked: count, page_colours }),
        }
    }

    /// So many colours that no set of the shared level belongs to two of, whatever the index.
    ///
    /// # Errors
    /// Where the geometry does not have that many.
    pub fn on_hashed_index(geometry: &Geometry, count: u64) -> Result<Colours, ColoursError> {
        let colours = Colours::new(geometry, count)?;
        let most = match geometry.shared.shape.index {
            Index::Modulo => colours.page_colours,
            Index::SandyBridge4 => (colours.page_colours / 4).max(1),
        };
        if count > most {
            return Err(ColoursError::NotApart { asked: count, most });
        }
        Ok(colours)
    }

    /// How many.
    pub const fn count(&self) -> u16 {
        self.count
    }

    /// Bytes of a frame.
    pub const fn page(&self) -> u64 {
        self.page
    }

    /// The page colour of an address: frame k and frame k + page colours are alike.
    pub const fn page_colour(&self, address: u64) -> u64 {
        (address / self.page) % self.page_colours
    }

    /// The colour of an address.
    pub const fn of(&self, address: u64) -> Colour {
        Colour((self.page_colour(address) % self.count as u64) as u16)
    }

    /// Bytes of the shared level that each colour has.
    pub const fn bytes_each(&self, geometry: &Geometry) -> u64 {
        geometry.shared.shape.bytes / self.count as u64
    }

    /// The address of byte `offset` of a buffer whose frames are the `skip`-th, next, … frames of one colour: what a paged
    /// address space makes of contiguous virtual addresses.
    pub const fn place(&self, colour: Colour, skip: u64, offset: u64) -> u64 {
        self.place_over(colour, 1, skip, offset)
    }

    /// The same for a buffer whose pages take `span` colours in turn, 1 or more, from `first` on.
    pub const fn place_over(&self, first: Colour, span: u16, skip: u64, offset: u64) -> u64 {
        let (page, span) = (offset / self.page, if span == 0 { 1 } else { span as u64 });
        let colour = (first.0 as u64 + page % span) % self.count as u64;
        ((skip + page / span) * self.count as u64 + colour) * self.page + offset % self.page
    }
}
