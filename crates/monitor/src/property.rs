//! What a monitor is asked to watch: a formula, or a relation of times that a formula cannot say.

use crate::formula::{exact, Formula};
use std::collections::BTreeSet;
use std::fmt;
use tactus_time::Duration;

/// A property as a person writes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Property {
    /// A formula of temporal logic.
    Formula(Formula),
    /// A bound on the time between one event at which `of` holds and the next such event.
    Distance {
        /// A Boolean formula.
        of: Formula,
        /// Which side is bounded.
        bound: Bound,
        /// The least or greatest distance.
        length: Duration,
    },
    /// A bound on the age of data that passes along a chain of events, each taking what the one before it left.
    Latency {
        /// Boolean formulas, two or more: the write of the first channel, its read, the write of the second, and so on.
        chain: Vec<Formula>,
        /// The greatest age at the last event.
        length: Duration,
    },
}

/// Which side a distance is bounded on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// No shorter.
    AtLeast,
    /// No longer.
    AtMost,
}

impl Property {
    /// The names of its propositions, sorted.
    pub fn atoms(&self) -> BTreeSet<String> {
        match self {
            Property::Formula(formula) => formula.atoms(),
            Property::Distance { of, .. } => of.atoms(),
            Property::Latency { chain, .. } => chain.iter().flat_map(Formula::atoms).collect(),
        }
    }
    /// Whether it speaks of time.
    pub fn is_timed(&self) -> bool {
        !matches!(self, Property::Formula(formula) if !formula.is_timed())
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Property::Formula(formula) => write!(f, "{formula}"),
            Property::Distance { of, bound, length } => {
                let sign = if *bound == Bound::AtLeast { ">=" } else { "<=" };
                write!(f, "distance({of}) {sign} {}", exact(*length))
            }
            Property::Latency { chain, length } => {
                let chain: Vec<String> = chain.iter().map(ToString::to_string).collect();
                write!(f, "latency({}) <= {}", chain.join(", "), exact(*length))
            }
        }
    }
}
