//! From a property with a bound on time to the table and the rule of a monitor with a clock.
//!
//! The automata and the propositions are worked out beforehand: a state of the table stands for the states of the automata and for
//! which conditions hold after the event. What is left for run time is one stamp, or one for each stage of a chain.

use crate::automaton::Automaton;
use crate::budget::{Budget, OverBudget};
use crate::clock::{Rule, TimedDescriptor, TimedStepper, CONDITION, DEMAND, MOST_STAGES};
use crate::compose::{ComposeError, Product, Specification};
use crate::encode::encode;
use crate::formula::{Formula, Span};
use crate::moore::{explore, Moore};
use crate::property::{Bound, Property};
use crate::table::{Encoding, Layout, Table, TableError};
use crate::verdict::Verdict;
use std::fmt;

/// A property of time of which no monitor was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TimedError {
    /// Its shape is none of those that one timer can watch.
    Shape {
        /// The property.
        property: String,
        /// What stands in the way.
        reason: &'static str,
    },
    /// A chain has more events than a monitor has stamps.
    TooLong {
        /// How many it has.
        stages: usize,
    },
    /// The automata or the propositions are wrong, or the property is trivial.
    Compose(ComposeError),
    /// The table cannot be encoded.
    Table(TableError),
}

impl From<ComposeError> for TimedError {
    fn from(error: ComposeError) -> Self {
        TimedError::Compose(error)
    }
}

impl From<OverBudget> for TimedError {
    fn from(error: OverBudget) -> Self {
        TimedError::Compose(ComposeError::OverBudget(error))
    }
}

impl From<TableError> for TimedError {
    fn from(error: TableError) -> Self {
        TimedError::Table(error)
    }
}

impl fmt::Display for TimedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimedError::Shape { property, reason } => write!(
                f,
                "the property {property}: {reason}; the shapes with time are always (p -> eventually[<= d] q), \
                 always (p -> always[<= d] r), always (p -> once[<= d] q), distance(p) >= d, distance(p) <= d and \
                 latency(p, q, …) <= d, with p, q, r without time"
            ),
            TimedError::TooLong { stages } => {
                write!(
                    f,
                    "the chain has {stages} events, more than the {MOST_STAGES} of a monitor; split it and its bound"
                )
            }
            TimedError::Compose(error) => error.fmt(f),
            TimedError::Table(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TimedError {}

/// A monitor with a clock, ready to be put into an image.
#[derive(Clone, Debug)]
pub struct Timed {
    /// The events, by column.
    pub events: Vec<String>,
    /// The machine; its outputs are classes ([`CONDITION`], [`DEMAND`], or the stages of a chain).
    pub machine: Moore<u8>,
    /// What it watches.
    pub rule: Rule,
    /// Where the values of the table lie.
    pub layout: Layout,
    /// The bytes of the table.
    pub bytes: Vec<u8>,
}

/// The rule of a property and the formulas whose values are the bits of the class.
fn rule(property: &Property) -> Result<(Rule, Vec<&Formula>), TimedError> {
    let refuse = |reason| Err(TimedError::Shape { property: property.to_string(), reason });
    let formula = match property {
        Property::Distance { of, bound: Bound::AtLeast, length } => {
            return Ok((Rule::LeastDistance(*length), vec![of]))
        }
        Property::Distance { of, bound: Bound::AtMost, length } => {
            return Ok((Rule::GreatestDistance(*length), vec![of]))
        }
        Property::Latency { chain, length } => {
            if chain.len() > MOST_STAGES {
                return Err(TimedError::TooLong { stages: chain.len() });
            }
            return Ok((Rule::Latency { stages: chain.len() as u8, length: *length }, chain.iter().collect()));
        }
        Property::Formula(formula) => formula,
    };
    let Formula::Always(inner) = formula else {
        return refuse("with a bound on time it must begin with always");
    };
    let (condition, inner) = match &**inner {
        Formula::Implies(condition, inner) => (&**condition, &**inner),
        Formula::Within(..) => (&Formula::True, &**inner),
        _ => return refuse("the bound on time must be the conclusion of ->"),
    };
    let Formula::Within(span, length, demand) = inner else {
        return refuse("the bound on time must be the conclusion of ->");
    };
    if demand.is_timed() || condition.is_timed() {
        return refuse("bounds on time are nested, which takes more than one timer");
    }
    if !demand.is_boolean() || !condition.is_boolean() {
        return refuse("beside a bound on time only not, and, or and -> may stand");
    }
    let rule = match span {
        Span::Eventually => Rule::Response(*length),
        Span::Always => Rule::Invariance(*length),
        Span::Once => Rule::Freshness(*length),
    };
    Ok((rule, vec![condition, demand]))
}

impl Timed {
    /// Makes the monitor of a property over automata and events. Without an encoding, plain if it has 256 states or fewer.
    ///
    /// # Errors
    /// See [`TimedError`].
    pub fn new(
        automata: &[Automaton],
        events: &[String],
        property: &Property,
        encoding: Option<Encoding>,
    ) -> Result<Timed, TimedError> {
        let (rule, formulas) = rule(property)?;
        let specification =
            Specification { automata: automata.to_vec(), events: events.to_vec(), ..Specification::default() };
        let budget = &mut { specification.budget };
        let product = Product::new(&specification, &property.atoms())?;
        let propositions = product.propositions(property.atoms())?;
        let operators: usize = formulas.iter().map(|formula| 1 + formula.operators()).sum();
        let class = |tuple: &[u32], event: usize| {
            let letter = propositions.letter(tuple, event);
            let holds = |name: &str| {
                let bit = propositions.names.iter().position(|known| known == name);
                bit.is_some_and(|bit| letter >> bit & 1 == 1)
            };
            let values = formulas.iter().map(|formula| formula.value(&holds).unwrap_or(false));
            values.enumerate().fold(0, |class, (bit, value)| class | u8::from(value) << bit)
        };
        let step = |(tuple, _): &(Vec<u32>, u8), event: usize, budget: &mut Budget| {
            budget.work(tuple.len() + operators)?;
            let tuple = product.step(tuple, event);
            let class = class(&tuple, event);
            Ok((tuple, class))
        };
        let size = |(tuple, _): &(Vec<u32>, u8)| tuple.len() * size_of::<u32>();
        let explored = explore((product.initial(), 0), events.len(), budget, step, size)?;
        let (machine, _) = explored.map_outputs(|(_, class)| *class).minimised_from(budget)?;
        let occurs = |f: &dyn Fn(u8) -> bool| machine.next.iter().any(|&state| f(machine.output(state)));
        let breakable = match rule {
            Rule::Response(_) | Rule::Freshness(_) => occurs(&|class| class & (CONDITION | DEMAND) == CONDITION),
            Rule::Invariance(_) => occurs(&|class| class & CONDITION != 0) && occurs(&|class| class & DEMAND == 0),
            Rule::LeastDistance(_) | Rule::GreatestDistance(_) => occurs(&|class| class & CONDITION != 0),
            Rule::Latency { stages, .. } => (0..stages).all(|stage| occurs(&|class| class >> stage & 1 == 1)),
        };
        if !breakable {
            let (property, verdict) = (property.to_string(), Verdict::True);
            return Err(ComposeError::Trivial { property, verdict }.into());
        }
        let fitting = if machine.states() <= 256 { Encoding::Plain } else { Encoding::BitString };
        let (layout, bytes) = encode(&machine, encoding.unwrap_or(fitting))?;
        Ok(Timed { events: events.to_vec(), machine, rule, layout, bytes })
    }

    /// The monitor at work.
    ///
    /// # Errors
    /// The bytes were damaged.
    pub fn stepper(&self, reset: bool) -> Result<TimedStepper<'_>, TableError> {
        let Layout { encoding, states, events, .. } = self.layout;
        let table = Table::new(encoding, states, events, &self.bytes)?;
        let descriptor = TimedDescriptor {
            table,
            classes: &self.machine.outputs,
            initial: self.machine.initial,
            rule: self.rule,
            reset,
        };
        Ok(TimedStepper::new(descriptor))
    }
}
