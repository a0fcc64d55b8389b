//! Formulas of linear temporal logic with past, with bounds in events and in time, and how they are printed.
//!
//! A printed formula is read back by [`Formula::parse`] as the same formula.

use std::collections::BTreeSet;
use std::fmt;
use tactus_time::Duration;

/// A property of a sequence of events.
///
/// Every operator is about the position at which it stands and those after it, or those before it.
/// Semantics of the operators without time: Pnueli, FOCS 1977; weak until and release as in Baier and Katoen, section 5.1; those of the
/// past as in Lichtenstein, Pnueli and Zuck, 1985: before the first event nothing holds.
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
    /// Held at the event before; at the first event it does not hold.
    Previously(Box<Formula>),
    /// Held at every event until now, this one included.
    Historically(Box<Formula>),
    /// Holds now or held at some event before.
    Once(Box<Formula>),
    /// The second held at some event, this one included, and the first at every event after it, this one included.
    Since(Box<Formula>, Box<Formula>),
    /// An operator with an interval.
    Within(Span, Interval, Box<Formula>),
    /// Until, with the second operand in the interval.
    UntilWithin(Interval, Box<Formula>, Box<Formula>),
    /// Since, with the second operand in the interval.
    SinceWithin(Interval, Box<Formula>, Box<Formula>),
}

/// How far away what an operator speaks of may be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Interval {
    /// At most this much time.
    Time(Duration),
    /// A number of events, this one being 0 away; [`FARTHEST`] at most.
    Events {
        /// No fewer.
        least: u32,
        /// No more.
        most: u32,
    },
}

/// The most events that an interval reaches.
pub const FARTHEST: u32 = 128;

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Interval::Time(length) => write!(f, "[<= {}]", exact(*length)),
            Interval::Events { least, most } => write!(f, "[{least}, {most}]"),
        }
    }
}

/// The operators of one operand that take an interval.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Span {
    /// At some later event.
    Eventually,
    /// At every later event.
    Always,
    /// At some earlier event.
    Once,
    /// At every earlier event.
    Historically,
}

impl Span {
    /// The word of the language.
    pub const fn word(self) -> &'static str {
        match self {
            Span::Eventually => "eventually",
            Span::Always => "always",
            Span::Once => "once",
            Span::Historically => "historically",
        }
    }
    /// Whether it speaks of what was.
    pub const fn is_past(self) -> bool {
        matches!(self, Span::Once | Span::Historically)
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
            Not(a)
            | Next(a)
            | Always(a)
            | Eventually(a)
            | Previously(a)
            | Historically(a)
            | Once(a)
            | Within(_, _, a) => vec![a],
            And(a, b)
            | Or(a, b)
            | Implies(a, b)
            | Iff(a, b)
            | Until(a, b)
            | WeakUntil(a, b)
            | Release(a, b)
            | Since(a, b)
            | UntilWithin(_, a, b)
            | SinceWithin(_, a, b) => vec![a, b],
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
    /// Whether an operator in it speaks of what comes later.
    pub fn looks_ahead(&self) -> bool {
        use Formula::*;
        match self {
            Next(_) | Always(_) | Eventually(_) | Until(..) | WeakUntil(..) | Release(..) | UntilWithin(..) => true,
            Within(span, ..) if !span.is_past() => true,
            other => other.operands().iter().any(|operand| operand.looks_ahead()),
        }
    }
    /// Whether it holds a bound on time anywhere.
    pub fn is_timed(&self) -> bool {
        use Formula::{SinceWithin, UntilWithin, Within};
        let interval = match self {
            Within(_, interval, _) | UntilWithin(interval, ..) | SinceWithin(interval, ..) => Some(interval),
            _ => None,
        };
        matches!(interval, Some(Interval::Time(_))) || self.operands().iter().any(|operand| operand.is_timed())
    }
    /// How tightly the operator at the top binds; the larger the tighter.
    fn rank(&self) -> u8 {
        match self {
            Formula::Iff(..) => 0,
            Formula::Implies(..) => 1,
            Formula::Or(..) => 2,
            Formula::And(..) => 3,
            Formula::Until(..) | Formula::WeakUntil(..) | Formula::Release(..) | Formula::Since(..) => 4,
            Formula::UntilWithin(..) | Formula::SinceWithin(..) => 4,
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
            Within(span, interval, a) => {
                write!(f, "{}{interval} ", span.word())?;
                return tight(f, a, 4);
            }
            UntilWithin(interval, a, b) | SinceWithin(interval, a, b) => {
                tight(f, a, 4)?;
                let word = if matches!(self, UntilWithin(..)) { "until" } else { "since" };
                write!(f, " {word}{interval} ")?;
                return tight(f, b, 4);
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
            Previously(_) => "previously ",
            Historically(_) => "historically ",
            Once(_) => "once ",
            Since(..) => "since",
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
