//! From a machine to the bytes of its table, and what a look-up in them costs.

use crate::compose::Composed;
use crate::moore::Moore;
use crate::step::{Descriptor, Stepper};
use crate::table::{look_up, Arithmetic, Encoding, Layout, Table, TableError};
use crate::verdict::Verdict;
use std::cell::Cell;
use std::hash::Hash;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Shl, Shr, Sub};

/// The bytes of a machine's transitions.
///
/// # Errors
/// The encoding cannot hold it.
pub fn encode<O: Copy + Eq + Hash>(machine: &Moore<O>, encoding: Encoding) -> Result<(Layout, Vec<u8>), TableError> {
    let layout = Layout::new(encoding, machine.states() as u32, machine.inputs as u32)?;
    let mut bytes = vec![0_u8; layout.bytes as usize];
    for (position, &next) in machine.next.iter().enumerate() {
        let (bits, word) = (layout.bits as usize, 8 * layout.word as usize);
        let first = match encoding {
            Encoding::Plain => 8 * position,
            Encoding::BitString => bits * position,
            Encoding::RowPerWord | Encoding::PackedWords => {
                let per_word = layout.per_word as usize;
                position / per_word * word + position % per_word * bits
            }
        };
        for bit in (0..bits).filter(|bit| next >> bit & 1 == 1) {
            bytes[(first + bit) / 8] |= 1 << ((first + bit) % 8);
        }
    }
    Ok((layout, bytes))
}

/// A table that owns its bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Encoded {
    /// Where the values lie.
    pub layout: Layout,
    /// The bytes.
    pub bytes: Vec<u8>,
    initial: u32,
    true_state: Option<u32>,
    false_state: Option<u32>,
}

impl Encoded {
    /// The table of a composed machine. Without an encoding the smallest; the quicker to look up where two are equal.
    ///
    /// # Errors
    /// The encoding cannot hold it.
    pub fn new(composed: &Composed, encoding: Option<Encoding>) -> Result<Encoded, TableError> {
        let machine = &composed.machine;
        let chosen = match encoding {
            Some(encoding) => encoding,
            None => {
                let quick = [Encoding::Plain, Encoding::RowPerWord, Encoding::BitString, Encoding::PackedWords];
                let size = |&encoding: &Encoding| {
                    let layout = Layout::new(encoding, machine.states() as u32, machine.inputs as u32);
                    layout.map_or(u32::MAX, |layout| layout.bytes)
                };
                quick.into_iter().min_by_key(size).unwrap_or(Encoding::BitString)
            }
        };
        let (layout, bytes) = encode(machine, chosen)?;
        let state = |verdict| machine.outputs.iter().position(|&output| output == verdict).map(|state| state as u32);
        let (true_state, false_state) = (state(Verdict::True), state(Verdict::False));
        Ok(Encoded { layout, bytes, initial: machine.initial, true_state, false_state })
    }

    /// The state before the first event.
    pub(crate) const fn initial(&self) -> u32 {
        self.initial
    }
    /// The state in which the property is satisfied for good, and the one in which it is violated.
    pub(crate) const fn finals(&self) -> (Option<u32>, Option<u32>) {
        (self.true_state, self.false_state)
    }

    /// A monitor over this table.
    ///
    /// # Errors
    /// The bytes were damaged.
    pub fn stepper(&self, reset: bool) -> Result<Stepper<'_>, TableError> {
        let Layout { encoding, states, events, .. } = self.layout;
        let table = Table::new(encoding, states, events, &self.bytes)?;
        let Encoded { initial, true_state, false_state, .. } = *self;
        Ok(Stepper::new(Descriptor { table, initial, true_state, false_state, reset }))
    }
}

/// What a look-up does, counted while it is done.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Operations {
    /// Words read from the table.
    pub loads: u32,
    /// Additions, shifts, comparisons and the like.
    pub simple: u32,
    /// Multiplications.
    pub multiplications: u32,
    /// Divisions.
    pub divisions: u32,
}

impl Operations {
    /// The operations of one look-up. `state` and `event` must be within the layout.
    pub fn of(layout: &Layout, bytes: &[u8], state: u32, event: u32) -> Operations {
        let count = Cell::new(Operations::default());
        let counted = |value| Counted { value, count: &count };
        look_up(layout, bytes, counted(state), counted(event));
        count.get()
    }
    /// Processor cycles in the model of a small processor without a divider: 3 for a load, 2 for a multiplication, `division` for a
    /// division, 1 for what remains.
    pub const fn cycles(&self, division: u32) -> u32 {
        3 * self.loads + 2 * self.multiplications + division * self.divisions + self.simple
    }
}

/// A number that counts what is done with it.
#[derive(Clone, Copy)]
struct Counted<'c> {
    value: u32,
    count: &'c Cell<Operations>,
}

impl Counted<'_> {
    fn note(self, value: u32, add: impl Fn(&mut Operations)) -> Self {
        let mut operations = self.count.get();
        add(&mut operations);
        self.count.set(operations);
        Counted { value, ..self }
    }
}

macro_rules! counted {
    ($($operator:ident $method:ident $field:ident;)*) => {$(
        impl $operator for Counted<'_> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                self.note(self.value.$method(other.value), |operations| operations.$field += 1)
            }
        }
    )*};
}

counted! {
    Add add simple; Sub sub simple; Shl shl simple; Shr shr simple; BitAnd bitand simple; BitOr bitor simple;
    Mul mul multiplications; Div div divisions;
}

impl Arithmetic for Counted<'_> {
    fn constant(self, value: u32) -> Self {
        Counted { value, ..self }
    }
    fn value(self) -> u32 {
        self.value
    }
    fn load(self, bytes: &[u8], width: u32) -> Self {
        self.note(self.value.load(bytes, width), |operations| operations.loads += 1)
    }
    fn exceeds(self, limit: u32) -> bool {
        self.note(0, |operations| operations.simple += 1);
        self.value > limit
    }
}
