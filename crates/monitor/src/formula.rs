//! Formulas of linear temporal logic, with the bounded operators of time, and how they are printed.
//!
//! A printed formula is read back by [`Formula::parse`] as the same formula.

use std::collections::BTreeSet;
use std::fmt;
use tactus_time::Duration;

/// A property of a sequence of events.
///
/// Every operator is about the position at which it stands and those after it; [`Formula::Within`] may also look back.
/// Semantics of the operators without time: Pnueli, FOCS 1977; weak until and release as in Baier and Katoen, section 5.1.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Formula {
    /// Holds everywhere.
    True,
    /// Holds nowhere.
    False,
    /// The proposition of this name: an event that happens now, or the state of an automaton after it.
    Atom(String),
    /// Negation.
    Not(Box<Formula>),
    /// Conjunction.
    And(Box<Formula>, Box<Formula>),
    /// Disjunction.
    Or(Box<Formula>, Box<Formula>),
    /// Implication.
    Implies(Box<Formula>, Box<Formula>),
    /// Equivalence.
    Iff(Box<Formula>, Box<Formula>),
    /// Holds at the next event.
    Next(Box<Formula>),
    /// Holds from now on for ever.
    Always(Box<Formula>),
    /// Holds now or at some later event.
    Eventually(Box<Formula>),
    /// The second holds at some time and the first at every event before.
    Until(Box<Formula>, Box<Formula>),
    /// Like until, but the second need never hold if the first always does.
    WeakUntil(Box<Formula>, Box<Formula>),
    /// The second holds up to and including the first event at which the first operand holds, or for ever.
    Release(Box<Formula>, Box<Formula>),
    /// An operator with a bound on time.
    Within(Span, Duration, Box<Formula>),
}

/// The operators that take a bound on time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Span {
    /// At some event at most this much later.
    Eventually,
    /// At every event at most this much later.
    Always,
    /// At some event at most this much earlier.
    Once,
}

impl Span {
    /// The word of the language.
    pub const fn word(self) -> &'static str {
        match self {
            Span::Eventually => "eventually",
            Span::Always => "always",
            Span::Once => "once",
        }
    }
}

impl Formula {
    /// The proposition `name`.
    pub fn atom(name: &str) -> Formula {
        Formula::Atom(name.into())
    }
    /// Its negation, without a double one.
    #[must_use]
    pub fn negated(self) -> Formula {
        match self {
            Formula::Not(inner) => *inner,
            Formula::True => Formula::False,
            Formula::False => Formula::True,
            other => Formula::Not(Box::new(other)),
        }
    }
    /// The operands, in the order in which they are written.
    pub fn operands(&self) -> Vec<&Formula> {
        use Formula::*;
        match self {
            True | False | Atom(_) => vec![],
            Not(a) | Next(a) | Always(a) | Eventually(a) | Within(_, _, a) => vec![a],
            And(a, b) | Or(a, b) | Implies(a, b) | Iff(a, b) | Until(a, b) | WeakUntil(a, b) | Release(a, b) => {
                vec![a, b]
            }
        }
    }
    /// The names of its propositions, sorted.
    pub fn atoms(&self) -> BTreeSet<String> {
        let (mut names, mut rest) = (BTreeSet::new(), vec![self]);
        while let Some(formula) = rest.pop() {
            if let Formula::Atom(name) = formula {
                names.insert(name.clone());
            }
            rest.extend(formula.operands());
        }
        names
    }
    /// The number of its operators.
    pub fn operators(&self) -> usize {
        let below: usize = self.operands().iter().map(|operand| operand.operators()).sum();
        below + usize::from(!self.operands().is_empty())
    }
    /// Whether no operator in it speaks of another position than the present one.
    pub fn is_boolean(&self) -> bool {
        use Formula::*;
        match self {
            Next(_) | Always(_) | Eventually(_) | Until(..) | WeakUntil(..) | Release(..) | Within(..) => false,
            other => other.operands().iter().all(|operand| operand.is_boolean()),
        }
    }
    /// Whether it holds a bound on time anywhere.
    pub fn is_timed(&self) -> bool {
        matches!(self, Formula::Within(..)) || self.operands().iter().any(|operand| operand.is_timed())
    }
    /// The value of a Boolean formula at one position; `holds` tells which propositions hold there.
    ///
    /// Nothing if the formula speaks of another position ([`Formula::is_boolean`]).
    pub fn value(&self, holds: &impl Fn(&str) -> bool) -> Option<bool> {
        use Formula::*;
        Some(match self {
            True => true,
            False => false,
            Atom(name) => holds(name),
            Not(a) => !a.value(holds)?,
            And(a, b) => a.value(holds)? & b.value(holds)?,
            Or(a, b) => a.value(holds)? | b.value(holds)?,
            Implies(a, b) => !a.value(holds)? | b.value(holds)?,
            Iff(a, b) => a.value(holds)? == b.value(holds)?,
            _ => return None,
        })
    }
    /// How tightly the operator at the top binds; the larger the tighter.
    fn rank(&self) -> u8 {
        match self {
            Formula::Iff(..) => 0,
            Formula::Implies(..) => 1,
            Formula::Or(..) => 2,
            Formula::And(..) => 3,
            Formula::Until(..) | Formula::WeakUntil(..) | Formula::Release(..) => 4,
            _ => 5,
        }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Formula::*;
        // An operand is bracketed unless it binds tighter than what stands around it.
        let tight = |f: &mut fmt::Formatter<'_>, operand: &Formula, rank: u8| {
            if operand.rank() > rank {
                write!(f, "{operand}")
            } else {
                write!(f, "({operand})")
            }
        };
        let word = match self {
            True => return f.write_str("true"),
            False => return f.write_str("false"),
            Atom(name) => return f.write_str(name),
            Within(span, bound, a) => {
                write!(f, "{}[<= {}] ", span.word(), exact(*bound))?;
                return tight(f, a, 4);
            }
            Not(_) => "not ",
            Next(_) => "next ",
            Always(_) => "always ",
            Eventually(_) => "eventually ",
            And(..) => "and",
            Or(..) => "or",
            Implies(..) => "->",
            Iff(..) => "<->",
            Until(..) => "until",
            WeakUntil(..) => "unless",
            Release(..) => "release",
        };
        match self.operands()[..] {
            [a] => {
                f.write_str(word)?;
                tight(f, a, 4)
            }
            [a, b] => {
                tight(f, a, self.rank())?;
                write!(f, " {word} ")?;
                tight(f, b, self.rank())
            }
            _ => Ok(()),
        }
    }
}

/// A length of time without rounding, in the largest unit of which it is a whole number.
pub(crate) fn exact(length: Duration) -> String {
    let n = length.as_nanos();
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    match units.into_iter().find(|(unit, _)| n > 0 && n % unit == 0) {
        Some((unit, name)) => format!("{} {name}", n / unit),
        None => format!("{n} ns"),
    }
}
