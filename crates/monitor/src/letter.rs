//! What holds at an event: a set of propositions.

use crate::error::SynthesisError;

/// A set of propositions: bit `i` is the `i`-th one.
pub type Letter = u128;

/// The most propositions of which all combinations are taken as letters.
pub const MOST_FREE_ATOMS: usize = 12;

/// All combinations of `atoms` propositions.
///
/// # Errors
/// There are more than [`MOST_FREE_ATOMS`].
pub fn all_letters(atoms: usize) -> Result<Vec<Letter>, SynthesisError> {
    if atoms > MOST_FREE_ATOMS {
        return Err(SynthesisError::TooManyAtoms { count: atoms, limit: MOST_FREE_ATOMS });
    }
    Ok((0..1 << atoms).collect())
}
