//! The three protocols as what they are: rules for two copies.
//!
//! Nothing here knows arrays or levels; [`crate::Hierarchy`] finds copies and asks these rules what becomes of them.

use crate::line::State;

/// How copies in several private caches are kept coherent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Protocol {
    /// Modified, exclusive, shared, invalid. A changed line is written back before it is shared.
    Mesi,
    /// MESI with one sharer that answers for all (Intel): the newest one.
    Mesif,
    /// MESI where a changed line is shared without being written back; its owner answers (AMD).
    Moesi,
}

/// What a read by another core does to a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Snooped {
    /// What the copy becomes.
    pub copy: State,
    /// Whether the data go back to the shared level or memory.
    pub write_back: bool,
}

/// The rules as a table: in what state a copy is met is hard to foresee for branches.
static SNOOPED: [[Snooped; State::ALL.len()]; 3] = {
    let mut table = [[Snooped { copy: State::Invalid, write_back: false }; State::ALL.len()]; 3];
    let protocols = [Protocol::Mesi, Protocol::Mesif, Protocol::Moesi];
    let mut at = 0;
    while at < protocols.len() * State::ALL.len() {
        let (protocol, copy) = (protocols[at / State::ALL.len()], State::ALL[at % State::ALL.len()]);
        table[protocol as usize][copy as usize] = protocol.rule(copy);
        at += 1;
    }
    table
};

impl Protocol {
    /// What becomes of a copy when another core reads the line.
    #[inline]
    pub fn snoop_read(self, copy: State) -> Snooped {
        SNOOPED[self as usize][copy as usize]
    }

    const fn rule(self, copy: State) -> Snooped {
        match (self, copy) {
            (_, State::Invalid) => Snooped { copy: State::Invalid, write_back: false },
            (Protocol::Moesi, State::Modified | State::Owned) => Snooped { copy: State::Owned, write_back: false },
            (_, State::Modified | State::Owned) => Snooped { copy: State::Shared, write_back: true },
            (_, State::Exclusive | State::Forward | State::Shared) => {
                Snooped { copy: State::Shared, write_back: false }
            }
        }
    }

    /// The state in which a reader gets a line; `shared` tells whether another core has a copy.
    pub const fn read_fill(self, shared: bool) -> State {
        match (self, shared) {
            (_, false) => State::Exclusive,
            (Protocol::Mesif, true) => State::Forward,
            (_, true) => State::Shared,
        }
    }

    /// Whether one core may hold a line in state `a` while another holds it in state `b`.
    pub const fn compatible(self, a: State, b: State) -> bool {
        match (a, b) {
            (State::Invalid, _) | (_, State::Invalid) | (State::Shared, State::Shared) => true,
            (State::Shared, State::Forward) | (State::Forward, State::Shared) => matches!(self, Protocol::Mesif),
            (State::Shared, State::Owned) | (State::Owned, State::Shared) => matches!(self, Protocol::Moesi),
            _ => false,
        }
    }
}
