//! What a checker says about a structure that is not as it must be.

use core::fmt;

/// A rule that is broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flaw {
    /// Which structure.
    pub structure: &'static str,
    /// The rule, in words.
    pub rule: &'static str,
    /// Where: a core, a task, or a place in the structure, as the rule says.
    pub at: usize,
    /// What was expected there.
    pub expected: u64,
    /// What was found.
    pub found: u64,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Flaw { structure, rule, at, expected, found } = self;
        write!(f, "{structure}: {rule}, but not at {at}: expected {expected}, found {found}")
    }
}

impl core::error::Error for Flaw {}

/// Holds unless the two differ.
///
/// # Errors
/// The rule, which is broken.
pub fn same(structure: &'static str, rule: &'static str, at: usize, expected: u64, found: u64) -> Result<(), Flaw> {
    if expected == found {
        Ok(())
    } else {
        Err(Flaw { structure, rule, at, expected, found })
    }
}
