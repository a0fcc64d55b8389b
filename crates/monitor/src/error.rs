//! Why no machine was made of a formula.

use crate::budget::OverBudget;
use std::fmt;

/// The shapes of properties that one timer can watch, for messages.
pub(crate) const SHAPES: &str = "always (p -> eventually[<= d] q), always (p -> always[<= d] r), always (p -> r until[<= d] q), \
     always (p -> once[<= d] q), always (p -> historically[<= d] r), always (p -> r since[<= d] q), distance(p) >= d, distance(p) <= d \
     and latency(p, q, …) <= d, where p, q, r say what is and what was, without a time";

/// A formula of which no machine was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SynthesisError {
    /// It needs too much.
    OverBudget(OverBudget),
    /// It holds a bound on time, which the machines without a clock cannot watch.
    Timed,
    /// An operator of the past has an operand that speaks of what comes.
    FutureInPast {
        /// The operand.
        formula: String,
    },
    /// A proposition that is not among those given.
    UnknownAtom {
        /// Its name.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// There are more propositions than letters have bits, or than can be combined freely.
    TooManyAtoms {
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
}

impl From<OverBudget> for SynthesisError {
    fn from(error: OverBudget) -> Self {
        SynthesisError::OverBudget(error)
    }
}

impl fmt::Display for SynthesisError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SynthesisError::OverBudget(error) => error.fmt(f),
            SynthesisError::Timed => {
                f.write_str("a bound on time stands where none can; the shapes with time are ")?;
                f.write_str(SHAPES)
            }
            SynthesisError::FutureInPast { formula } => write!(
                f,
                "{formula} speaks of what comes, within an operator of the past, and what was can be told without it; turn it \
                 round, as always (p -> next q) for always (previously p -> q)"
            ),
            SynthesisError::UnknownAtom { name, known } => {
                write!(f, "{name:?} is neither an event nor a state of an automaton; there are: {}", known.join(", "))
            }
            SynthesisError::TooManyAtoms { count, limit } => {
                write!(
                    f,
                    "{count} propositions, more than the {limit} possible; split the property into several monitors"
                )
            }
        }
    }
}

impl std::error::Error for SynthesisError {}
