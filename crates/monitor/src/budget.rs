//! How much memory and how much work a synthesis may use.
//!
//! A monitor may have any number of states; what ends a synthesis is the memory that it has asked for, or the steps that it has made,
//! both counted as it goes. The work is counted and not timed, so that a property is refused on every machine or on none.

use std::fmt;

/// The most obligations, and the most propositions, of one formula.
pub const MOST_OBLIGATIONS: usize = 128;

/// Memory and work that a synthesis may still use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    memory: usize,
    used: usize,
    work: u64,
    done: u64,
}

impl Default for Budget {
    /// 256 MiB and 100 million steps, which take a few seconds.
    fn default() -> Self {
        Budget::new(256 << 20, 100_000_000)
    }
}

impl Budget {
    /// A budget of this many bytes and steps. A step is a look at a state, a letter, a clause or a pair of them.
    pub const fn new(bytes: usize, steps: u64) -> Self {
        Budget { memory: bytes, used: 0, work: steps, done: 0 }
    }
    /// No limit: for what cannot grow beyond what is there already.
    pub(crate) const UNLIMITED: Budget = Budget::new(usize::MAX, u64::MAX);

    /// The bytes counted so far.
    pub const fn used(&self) -> usize {
        self.used
    }
    /// The steps counted so far.
    pub const fn done(&self) -> u64 {
        self.done
    }
    /// Counts bytes that stay in use. Collections grow by doubling, with the old one beside the new: three times what is kept.
    ///
    /// # Errors
    /// They are more than what is left.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), OverBudget> {
        let bytes = bytes.saturating_mul(3);
        self.fits(bytes)?;
        self.used += bytes;
        Ok(())
    }
    /// Whether bytes that are soon given back are left.
    pub(crate) fn fits(&self, bytes: usize) -> Result<(), OverBudget> {
        if bytes > self.memory - self.used {
            return Err(OverBudget::Memory { needed: self.used.saturating_add(bytes), total: self.memory });
        }
        Ok(())
    }
    /// Counts steps that are about to be made.
    ///
    /// # Errors
    /// They are more than what is left.
    pub(crate) fn work(&mut self, steps: usize) -> Result<(), OverBudget> {
        let steps = steps as u64;
        if steps > self.work - self.done {
            return Err(OverBudget::Work { total: self.work });
        }
        self.done += steps;
        Ok(())
    }
}

/// A synthesis that was given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OverBudget {
    /// More memory would be needed than was granted.
    Memory {
        /// Bytes, those of the request included that was refused.
        needed: usize,
        /// Bytes.
        total: usize,
    },
    /// More steps would be needed than were granted.
    Work {
        /// Steps.
        total: u64,
    },
    /// The formula has too many different temporal subformulas.
    Obligations,
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OverBudget::Memory { needed, total } => write!(
                f,
                "its synthesis needs {needed} bytes or more, over the budget of {total}; split the property into several monitors"
            ),
            OverBudget::Work { total } => write!(
                f,
                "its synthesis is not done after {total} steps, its budget; split the property into several monitors, or name \
                 fewer automata in it"
            ),
            OverBudget::Obligations => write!(
                f,
                "it has more than {MOST_OBLIGATIONS} different temporal subformulas; split the property into several monitors"
            ),
        }
    }
}

impl std::error::Error for OverBudget {}
