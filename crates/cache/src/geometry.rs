//! What a cache hierarchy is made of: the shape of each array, who shares it, the protocol, and what each answer costs.
//!
//! [`Geometry::check`] is the one place where a hierarchy that cannot be is refused; everything else takes a checked one.

use crate::coherence::Protocol;
use alloc::string::String;
use core::fmt;

/// Private caches that one hierarchy can have: the cores of a line are one byte.
pub const MOST_CORES: usize = 8;

/// How the number of a line chooses a set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Index {
    /// The low bits of the line's number.
    #[default]
    Modulo,
    /// Four slices, chosen by parities of address bits; inside a slice the low bits. Intel's with four cores, as Maurice et
    /// al. (RAID 2015, table 3) found them.
    SandyBridge4,
}

/// Address bits whose parity is bit 0 and bit 1 of the slice (Maurice et al., table 3, column "4 cores").
const SLICE: [u64; 2] = [0x1b_5f57_5440, 0x2e_b5fa_a880];

/// Size and form of one array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// Bytes.
    pub bytes: u64,
    /// Lines in a set.
    pub ways: usize,
    /// Bytes in a line, the same in the whole hierarchy.
    pub line: u64,
    /// How a set is chosen.
    pub index: Index,
}

impl Shape {
    /// An array whose sets are chosen by the low bits.
    pub const fn new(bytes: u64, ways: usize, line: u64) -> Shape {
        Shape { bytes, ways, line, index: Index::Modulo }
    }

    /// Sets of the whole array.
    pub const fn sets(&self) -> usize {
        (self.bytes / (self.ways as u64 * self.line)) as usize
    }

    /// The set in which line `number` belongs.
    #[inline]
    pub const fn set_of(&self, number: u64) -> usize {
        match self.index {
            Index::Modulo => number as usize & (self.sets() - 1),
            Index::SandyBridge4 => {
                let address = number * self.line;
                let slice = ((address & SLICE[0]).count_ones() & 1) | (((address & SLICE[1]).count_ones() & 1) << 1);
                let inside = self.sets() / 4;
                slice as usize * inside + (number as usize & (inside - 1))
            }
        }
    }

    /// Page colours: how many pages lie side by side before the sets repeat (epos, section 4.2).
    pub const fn page_colours(&self, page: u64) -> u64 {
        let one_way = self.sets() as u64 * self.line;
        if one_way < page {
            1
        } else {
            one_way / page
        }
    }
}

/// What a level below keeps of what is above.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Inclusion {
    /// It holds every line that is above; what it drops goes above, too.
    Inclusive,
    /// It is filled with the levels above and drops lines on its own.
    NonInclusive,
    /// It is filled by what the level above drops. Last level only.
    Victim,
}

/// One unified level below the first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Level {
    /// Its array.
    pub shape: Shape,
    /// What it keeps of what is above.
    pub inclusion: Inclusion,
}

/// Cycles from a request to its data, by who answers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Costs {
    /// The first level.
    pub first: u32,
    /// The private second level.
    pub second: u32,
    /// The shared level, or an upgrade that nobody has to answer.
    pub shared: u32,
    /// The shared level when another core has a clean copy.
    pub remote_clean: u32,
    /// The shared level when another core has changed the line.
    pub remote_modified: u32,
    /// Memory.
    pub memory: u32,
    /// For how long memory is busy with a line, so that the next one waits: at most `memory`.
    pub busy: u32,
}

/// A whole hierarchy.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Geometry {
    /// What the machine is called.
    pub name: String,
    /// Sets of private caches.
    pub cores: usize,
    /// Processors that share one set of private caches (hyper-threads), 1 or more.
    pub threads: usize,
    /// First level for instructions, one for each core.
    pub instruction: Shape,
    /// First level for data, one for each core.
    pub data: Shape,
    /// Second level, one for each core, if there is one.
    pub second: Option<Level>,
    /// The level that all cores share.
    pub shared: Level,
    /// How copies are kept coherent.
    pub protocol: Protocol,
    /// Whether a miss of the last private level brings in the next line of the same page, too.
    pub next_line: bool,
    /// Bytes of a page.
    pub page: u64,
    /// Processor cycles in a second.
    pub clock: u64,
    /// What answers cost.
    pub costs: Costs,
}

/// A hierarchy that cannot be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GeometryError {
    /// A number must be a power of two.
    PowerOfTwo {
        /// Which.
        what: &'static str,
        /// What it is.
        value: u64,
    },
    /// Size, ways and line do not give a whole number of sets.
    Sets {
        /// Which array.
        array: &'static str,
        /// Bytes.
        bytes: u64,
        /// Ways.
        ways: usize,
        /// Bytes of a line.
        line: u64,
    },
    /// Two levels have lines of different length.
    LineLengths {
        /// Which array differs.
        array: &'static str,
        /// Its line.
        line: u64,
        /// The line of the data cache.
        data: u64,
    },
    /// Too few or too many.
    Count {
        /// Of what.
        what: &'static str,
        /// How many.
        value: usize,
        /// At least.
        least: usize,
        /// At most.
        most: usize,
    },
    /// An inclusive level is smaller than what is above it.
    TooSmallToInclude {
        /// Which level.
        level: &'static str,
        /// Its bytes.
        bytes: u64,
        /// Bytes above.
        above: u64,
    },
    /// Only the last level can be filled by victims.
    VictimInside,
    /// The slice hash needs at least four slices of sets.
    TooSmallToSlice(&'static str),
    /// Memory is busy with a line for longer than a line takes.
    Busy {
        /// For how long.
        busy: u32,
        /// What a line takes.
        memory: u32,
    },
}

impl fmt::Display for GeometryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GeometryError::PowerOfTwo { what, value } => write!(f, "{what} is {value}: give a power of two"),
            GeometryError::Sets { array, bytes, ways, line } => write!(
                f,
                "{array}: {bytes} bytes in {ways} ways of {line}-byte lines are not a power of two of sets: give a size that is ways × line × 2^k"
            ),
            GeometryError::LineLengths { array, line, data } => {
                write!(f, "{array} has lines of {line} bytes, the data cache of {data}: give all levels the same line")
            }
            GeometryError::Count { what, value, least, most } => {
                write!(f, "{value} {what}: give {least} to {most}")
            }
            GeometryError::TooSmallToInclude { level, bytes, above } => write!(
                f,
                "{level} is inclusive and has {bytes} bytes, the caches above it {above}: make it larger or \"non-inclusive\""
            ),
            GeometryError::VictimInside => {
                f.write_str("the second level cannot be filled by victims here: say \"inclusive\" or \"non-inclusive\"")
            }
            GeometryError::TooSmallToSlice(array) => {
                write!(f, "{array} has fewer than four sets: leave the index \"modulo\"")
            }
            GeometryError::Busy { busy, memory } => write!(
                f,
                "memory is busy with a line for {busy} cycles, and a line is there after {memory}: give memory_busy at most that, or leave it out"
            ),
        }
    }
}

impl core::error::Error for GeometryError {}

fn between(what: &'static str, value: usize, least: usize, most: usize) -> Result<(), GeometryError> {
    if value < least || value > most {
        return Err(GeometryError::Count { what, value, least, most });
    }
    Ok(())
}

fn power_of_two(what: &'static str, value: u64) -> Result<(), GeometryError> {
    if value.is_power_of_two() {
        return Ok(());
    }
    Err(GeometryError::PowerOfTwo { what, value })
}

impl Geometry {
    /// Finds out whether this hierarchy can be.
    ///
    /// # Errors
    /// The first number that cannot be.
    pub fn check(&self) -> Result<(), GeometryError> {
        between("cores", self.cores, 1, MOST_CORES)?;
        between("threads of a core", self.threads, 1, 8)?;
        power_of_two("the page", self.page)?;
        power_of_two("the line", self.data.line)?;
        between("bytes of a line", self.data.line as usize, 8, 4096.min(self.page as usize))?;
        between("cycles in a second", self.clock as usize, 1, usize::MAX)?;
        let second = self.second.map(|level| ("the second level", level.shape));
        let shapes = [("the instruction cache", self.instruction), ("the data cache", self.data)];
        for (array, shape) in shapes.into_iter().chain(second).chain([("the shared level", self.shared.shape)]) {
            between("ways", shape.ways, 1, 64)?;
            let Shape { bytes, ways, line, .. } = shape;
            if line != self.data.line {
                return Err(GeometryError::LineLengths { array, line, data: self.data.line });
            }
            let set = ways as u64 * line;
            if bytes == 0 || bytes % set != 0 || !(bytes / set).is_power_of_two() {
                return Err(GeometryError::Sets { array, bytes, ways, line });
            }
            if shape.index == Index::SandyBridge4 && shape.sets() < 4 {
                return Err(GeometryError::TooSmallToSlice(array));
            }
        }
        let Costs { busy, memory, .. } = self.costs;
        if busy > memory {
            return Err(GeometryError::Busy { busy, memory });
        }
        let first = self.instruction.bytes + self.data.bytes;
        let mut private = first;
        if let Some(second) = self.second {
            match second.inclusion {
                Inclusion::Victim => return Err(GeometryError::VictimInside),
                Inclusion::Inclusive if second.shape.bytes < first => {
                    let bytes = second.shape.bytes;
                    return Err(GeometryError::TooSmallToInclude { level: "the second level", bytes, above: first });
                }
                Inclusion::Inclusive => private = second.shape.bytes,
                Inclusion::NonInclusive => private += second.shape.bytes,
            }
        }
        let (bytes, above) = (self.shared.shape.bytes, private * self.cores as u64);
        if self.shared.inclusion == Inclusion::Inclusive && bytes < above {
            return Err(GeometryError::TooSmallToInclude { level: "the shared level", bytes, above });
        }
        Ok(())
    }

    /// Processors: cores times threads.
    pub const fn processors(&self) -> usize {
        self.cores * self.threads
    }

    /// Bytes of a line.
    pub const fn line(&self) -> u64 {
        self.data.line
    }

    /// Page colours of the shared level, by its nominal index (epos, section 4.2).
    pub const fn page_colours(&self) -> u64 {
        self.shared.shape.page_colours(self.page)
    }
}
