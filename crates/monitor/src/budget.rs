//! How much memory a synthesis may use.
//!
//! A monitor may have any number of states; what ends a synthesis is the memory that it has asked for, counted as it goes.

use crate::obligations::MOST_OBLIGATIONS;
use std::fmt;

/// Memory that a synthesis may still use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    total: usize,
    used: usize,
}

impl Default for Budget {
    /// 256 MiB.
    fn default() -> Self {
        Budget::new(256 << 20)
    }
}

impl Budget {
    /// A budget of this many bytes.
    pub const fn new(bytes: usize) -> Self {
        Budget { total: bytes, used: 0 }
    }
    /// The bytes counted so far.
    pub const fn used(&self) -> usize {
        self.used
    }
    /// Counts bytes that stay in use.
    ///
    /// # Errors
    /// They are more than what is left.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), OverBudget> {
        self.fits(bytes)?;
        self.used += bytes;
        Ok(())
    }
    /// Whether bytes that are soon given back are left.
    pub(crate) fn fits(&self, bytes: usize) -> Result<(), OverBudget> {
        if bytes > self.total - self.used {
            return Err(OverBudget::Memory { needed: self.used.saturating_add(bytes), total: self.total });
        }
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
    /// The formula has too many different temporal subformulas.
    Obligations,
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OverBudget::Memory { needed, total } => write!(
                f,
                "its synthesis needs {needed} bytes or more, over the budget of {total}; split the property into several \
                 monitors, or grant more memory"
            ),
            OverBudget::Obligations => write!(
                f,
                "it has more than {MOST_OBLIGATIONS} different temporal subformulas; split the property into several monitors"
            ),
        }
    }
}

impl std::error::Error for OverBudget {}
