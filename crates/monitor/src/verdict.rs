//! The three values of a verdict.

use core::fmt;

/// What a monitor says after the events seen so far (Bauer, Leucker, Schallhart, TOSEM 2011, definition 1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Verdict {
    /// Every continuation satisfies the property.
    True,
    /// No continuation satisfies the property.
    False,
    /// Some continuation satisfies the property and some other violates it.
    NotYet,
}

impl Verdict {
    /// Whether no further event can change it.
    pub const fn is_final(self) -> bool {
        !matches!(self, Verdict::NotYet)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::True => "true",
            Verdict::False => "false",
            Verdict::NotYet => "not yet",
        })
    }
}
