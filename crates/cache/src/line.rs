//! One line of a cache as one machine word: number, coherence state, owner, and the cores that may hold it.
//!
//! A set of 16 ways is two host cache lines this way, which is most of what makes the model fast.

/// What a cache knows about its copy of a line, in the union of the three protocols.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum State {
    /// No copy.
    Invalid = 0,
    /// A clean copy; others may have one.
    Shared = 1,
    /// A clean copy that answers for all sharers (MESIF).
    Forward = 2,
    /// The only copy, clean.
    Exclusive = 3,
    /// A changed copy; others may have clean ones (MOESI).
    Owned = 4,
    /// The only copy, changed.
    Modified = 5,
}

impl State {
    /// All states, weakest first.
    pub const ALL: [State; 6] =
        [State::Invalid, State::Shared, State::Forward, State::Exclusive, State::Owned, State::Modified];

    /// Whether memory or the next level has an older value.
    pub const fn is_dirty(self) -> bool {
        matches!(self, State::Owned | State::Modified)
    }

    /// The copy that the level above gets when this level keeps the duty to write back.
    pub const fn above(self) -> State {
        match self {
            State::Modified | State::Exclusive => State::Exclusive,
            State::Invalid => State::Invalid,
            State::Owned | State::Forward | State::Shared => State::Shared,
        }
    }
}

/// Who brought a line in: a component of the system. 0 is everybody who has no name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord, Default)]
pub struct Owner(pub u8);

const STATE: u64 = 0b111;
/// A table: what is done with a state is then not done by branches that are hard to foresee.
static STATES: [State; 8] = {
    use State::{Exclusive, Forward, Invalid, Modified, Owned, Shared};
    [Invalid, Shared, Forward, Exclusive, Owned, Modified, Invalid, Invalid]
};
const WAY: u32 = 3;
const WAYS: usize = 16;
const WAY_BITS: u64 = (WAYS as u64 - 1) << WAY;
const SHARERS: u32 = 8;
const OWNER: u32 = 16;
const NUMBER: u32 = 24;

/// The largest line number: addresses of 45 bits with lines of 64 bytes. What is above is cut off.
pub const MOST_NUMBER: u64 = (1 << (63 - NUMBER)) - 1;

/// A line in a cache. The word 0 is an empty way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct Line(u64);

impl Line {
    /// An empty way.
    pub const EMPTY: Line = Line(0);

    /// A copy of line `number` in `state`, brought in by `owner`, held by no core yet.
    #[inline]
    pub const fn new(number: u64, state: State, owner: Owner) -> Line {
        Line(((number + 1) << NUMBER) | ((owner.0 as u64) << OWNER) | state as u64)
    }

    /// Whether this is a copy that can be used.
    #[inline]
    pub const fn is_valid(self) -> bool {
        self.0 & STATE != 0
    }

    /// What stays of a copy of line `number` that was invalidated.
    #[inline]
    pub const fn invalidated(number: u64) -> Line {
        Line::new(number, State::Invalid, Owner(0))
    }

    /// Whether this is a valid copy of the line of which `invalidated` stays.
    #[inline]
    pub(crate) const fn is_copy_of(self, invalidated: Line) -> bool {
        let rest = self.0 ^ invalidated.0;
        rest.wrapping_sub(1) < (1 << NUMBER) - 1
    }

    /// Address divided by line length. Of an empty way it means nothing.
    #[inline]
    pub const fn number(self) -> u64 {
        (self.0 >> NUMBER).wrapping_sub(1)
    }

    /// Whether this is a valid copy of line `number`.
    #[inline]
    pub const fn is(self, number: u64) -> bool {
        self.0 >> NUMBER == number + 1 && self.is_valid()
    }

    /// Its coherence state.
    #[inline]
    pub fn state(self) -> State {
        STATES[(self.0 & STATE) as usize]
    }

    /// Who brought it in.
    #[inline]
    pub const fn owner(self) -> Owner {
        Owner((self.0 >> OWNER) as u8)
    }

    /// The cores whose private caches may hold it: bit i is core i. A core that dropped it in silence is still in.
    #[inline]
    pub const fn sharers(self) -> u8 {
        (self.0 >> SHARERS) as u8
    }

    /// The way in which the level below was when it last had the line: where to look first. It decides nothing.
    #[inline]
    pub(crate) const fn way_below(self) -> usize {
        (self.0 >> WAY) as usize % WAYS
    }

    /// Notes the way in which the level below has the line; of a way beyond the sixteenth, one in which it is not found.
    #[inline]
    pub(crate) const fn with_way_below(self, way: usize) -> Line {
        Line(self.0 & !WAY_BITS | (way as u64) << WAY & WAY_BITS)
    }

    /// Without that note.
    pub(crate) const fn without_way(self) -> Line {
        Line(self.0 & !WAY_BITS)
    }

    /// Changes the state.
    #[inline]
    pub fn set_state(&mut self, state: State) {
        self.0 = (self.0 & !STATE) | state as u64;
    }

    /// Changes the set of cores that may hold it.
    #[inline]
    pub fn set_sharers(&mut self, cores: u8) {
        self.0 = (self.0 & !(0xff << SHARERS)) | ((cores as u64) << SHARERS);
    }
}
