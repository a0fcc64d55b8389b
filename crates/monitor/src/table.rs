//! Transition tables as bytes, and how the next state is looked up in them. Nothing here allocates.
//!
//! Source of the four encodings: Cotard, Faucou, Béchennec, section on table encodings. A state takes b bits, enough for the
//! largest state number; the table has a value for each pair of state and event, the events of one state side by side.

use core::fmt;
use core::ops::{Add, BitAnd, BitOr, Div, Mul, Shl, Shr, Sub};

/// How a table is laid out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Encoding {
    /// A byte for each pair; 256 states or fewer.
    Plain,
    /// A word of 8, 16, 24 or 32 bits for each state, with the values of all events in it.
    RowPerWord,
    /// As many values in each word as fit whole.
    PackedWords,
    /// One string of bits, values right after each other.
    BitString,
}

impl Encoding {
    /// All of them, in the source's order.
    pub const ALL: [Encoding; 4] = [Encoding::Plain, Encoding::RowPerWord, Encoding::PackedWords, Encoding::BitString];

    /// The word that files and messages use.
    pub const fn name(self) -> &'static str {
        match self {
            Encoding::Plain => "plain",
            Encoding::RowPerWord => "row-per-word",
            Encoding::PackedWords => "packed-words",
            Encoding::BitString => "bit-string",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The most bits of a state.
pub const MOST_BITS: u32 = 24;

/// The bits that hold any of `states` state numbers; one at least.
pub const fn bits_for(states: u32) -> u32 {
    match states {
        0..=2 => 1,
        _ => 32 - (states - 1).leading_zeros(),
    }
}

/// A table that cannot be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableError {
    /// Plain tables have no more than 256 states.
    TooManyStates {
        /// How many there are.
        states: u32,
        /// How many there may be.
        limit: u32,
    },
    /// The values of one state do not fit into a word.
    RowTooWide {
        /// The bits of one state number times the number of events.
        bits: u32,
    },
    /// There is no event or no state.
    Empty,
    /// There are not as many bytes as the layout has.
    WrongLength {
        /// Bytes given.
        given: usize,
        /// Bytes of the layout.
        needed: usize,
    },
    /// A value is no state.
    NoSuchState {
        /// The state whose row it is in.
        state: u32,
        /// The event.
        event: u32,
        /// The value.
        next: u32,
    },
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::TooManyStates { states, limit } => write!(
                f,
                "{states} states, more than the {limit} of this encoding; use the encoding bit-string, or minimise the monitor"
            ),
            TableError::RowTooWide { bits } => write!(
                f,
                "the next states of one state take {bits} bits, more than the 32 of a word; use the encoding bit-string or plain"
            ),
            TableError::Empty => f.write_str("a table has one state and one event at least"),
            TableError::WrongLength { given, needed } => {
                write!(f, "the table has {given} bytes where its layout has {needed}; it was cut short or is another one's")
            }
            TableError::NoSuchState { state, event, next } => {
                write!(f, "event {event} leads from state {state} to {next}, which is no state; the table is damaged")
            }
        }
    }
}

impl core::error::Error for TableError {}

/// Where the values of a table lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The encoding.
    pub encoding: Encoding,
    /// The number of states.
    pub states: u32,
    /// The number of events.
    pub events: u32,
    /// The bits of a value.
    pub bits: u32,
    /// The bytes of a word, where the encoding has words; else 1.
    pub word: u32,
    /// The values in a word, where the encoding has words; else 1.
    pub per_word: u32,
    /// The bytes of the table.
    pub bytes: u32,
}

impl Layout {
    /// The smallest layout of an encoding: words are as long as makes the table smallest, the shorter where two are equal.
    ///
    /// # Errors
    /// The encoding cannot hold that many states or events.
    pub const fn new(encoding: Encoding, states: u32, events: u32) -> Result<Layout, TableError> {
        if states == 0 || events == 0 {
            return Err(TableError::Empty);
        }
        let bits = bits_for(states);
        if bits > MOST_BITS || events > 1 << 16 || (states as u64) * (events as u64) > u32::MAX as u64 / 32 {
            return Err(TableError::TooManyStates { states, limit: 1 << MOST_BITS });
        }
        let values = states * events;
        let plain = Layout { encoding, states, events, bits, word: 1, per_word: 1, bytes: values };
        match encoding {
            Encoding::Plain if states > 256 => Err(TableError::TooManyStates { states, limit: 256 }),
            Encoding::Plain => Ok(plain),
            Encoding::RowPerWord if bits * events > 32 => Err(TableError::RowTooWide { bits: bits * events }),
            Encoding::RowPerWord => {
                let word = (bits * events).div_ceil(8);
                Ok(Layout { word, per_word: events, bytes: states * word, ..plain })
            }
            Encoding::PackedWords => {
                let mut best = Layout { word: 4, per_word: 32 / bits, bytes: u32::MAX, ..plain };
                let mut word = 1;
                while word <= 4 {
                    let per_word = 8 * word / bits;
                    if per_word > 0 && values.div_ceil(per_word) * word < best.bytes {
                        best = Layout { word, per_word, bytes: values.div_ceil(per_word) * word, ..plain };
                    }
                    word += 1;
                }
                Ok(best)
            }
            Encoding::BitString => Ok(Layout { bytes: (values * bits).div_ceil(8), ..plain }),
        }
    }
}

/// The arithmetic of a look-up: that of the processor, or one that counts ([`Operations`]).
pub(crate) trait Arithmetic:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Shl<Output = Self>
    + Shr<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
{
    /// A number that the code or the descriptor holds.
    fn constant(self, value: u32) -> Self;
    /// The number itself.
    fn value(self) -> u32;
    /// A word of `width` bytes at an offset of `self` bytes, the least significant byte first.
    fn load(self, bytes: &[u8], width: u32) -> Self;
    /// Whether it is larger; a comparison.
    fn exceeds(self, limit: u32) -> bool;
}

impl Arithmetic for u32 {
    #[inline(always)]
    fn constant(self, value: u32) -> u32 {
        value
    }
    #[inline(always)]
    fn value(self) -> u32 {
        self
    }
    #[inline(always)]
    fn load(self, bytes: &[u8], width: u32) -> u32 {
        let at = self as usize;
        match width {
            1 => u32::from(bytes[at]),
            2 => u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])),
            3 => u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], 0]),
            _ => u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]),
        }
    }
    #[inline(always)]
    fn exceeds(self, limit: u32) -> bool {
        self > limit
    }
}

/// The look-up itself. `state` and `event` are within the layout.
#[inline(always)]
pub(crate) fn look_up<N: Arithmetic>(layout: &Layout, bytes: &[u8], state: N, event: N) -> N {
    let Layout { bits, word, per_word, events, .. } = *layout;
    let mask = state.constant((1 << bits) - 1);
    let position = || state * state.constant(events) + event;
    match layout.encoding {
        Encoding::Plain => position().load(bytes, 1),
        Encoding::RowPerWord => {
            let row = (state * state.constant(word)).load(bytes, word);
            (row >> (event * state.constant(bits))) & mask
        }
        Encoding::PackedWords => {
            let position = position();
            let index = position / state.constant(per_word);
            let place = position - index * state.constant(per_word);
            let values = (index * state.constant(word)).load(bytes, word);
            (values >> (place * state.constant(bits))) & mask
        }
        Encoding::BitString => {
            let first = position() * state.constant(bits);
            let (mut at, offset) = (first >> state.constant(3), first & state.constant(7));
            let mut value = at.load(bytes, 1) >> offset;
            let mut have = state.constant(8) - offset;
            while state.constant(bits).exceeds(have.value()) {
                at = at + state.constant(1);
                value = value | (at.load(bytes, 1) << have);
                have = have + state.constant(8);
            }
            value & mask
        }
    }
}

/// A table whose values have all been found to be states.
#[derive(Clone, Copy, Debug)]
pub struct Table<'t> {
    layout: Layout,
    bytes: &'t [u8],
}

impl<'t> Table<'t> {
    /// Takes the bytes of a table.
    ///
    /// # Errors
    /// They are not a table of this layout; every value is looked at, so that no later step can go astray.
    pub fn new(encoding: Encoding, states: u32, events: u32, bytes: &'t [u8]) -> Result<Table<'t>, TableError> {
        let layout = Layout::new(encoding, states, events)?;
        if bytes.len() != layout.bytes as usize {
            return Err(TableError::WrongLength { given: bytes.len(), needed: layout.bytes as usize });
        }
        for state in 0..states {
            for event in 0..events {
                let next = look_up(&layout, bytes, state, event);
                if next >= states {
                    return Err(TableError::NoSuchState { state, event, next });
                }
            }
        }
        Ok(Table { layout, bytes })
    }
    /// Where the values lie.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }
    /// The bytes.
    pub const fn bytes(&self) -> &'t [u8] {
        self.bytes
    }
    /// The state after `event` in `state`; the same state if there is no such event or state.
    #[inline(always)]
    pub fn next(&self, state: u32, event: u32) -> u32 {
        if event >= self.layout.events {
            return state;
        }
        if self.layout.encoding == Encoding::Plain {
            // The usual one first; the index is looked at once, by the slice.
            let index = state.wrapping_mul(self.layout.events).wrapping_add(event);
            return self.bytes.get(index as usize).map_or(state, |&next| u32::from(next));
        }
        if state >= self.layout.states {
            return state;
        }
        look_up(&self.layout, self.bytes, state, event)
    }
}
