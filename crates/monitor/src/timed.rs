//! From a property with a bound on time to the table and the rule of a monitor with a clock.
//!
//! The automata and the propositions are worked out beforehand: a state of the table stands for the states of the automata and for
//! what holds after the event, of the present and of the past. What is left for run time is one stamp, or one for each stage of a chain.

use crate::automaton::Automaton;
use crate::budget::{Budget, OverBudget};
use crate::clock::{Rule, TimedDescriptor, TimedStepper, BROKEN, CONDITION, DEMAND, MOST_STAGES};
use crate::compose::{ComposeError, Product, Specification};
use crate::encode::encode;
use crate::error::SHAPES;
use crate::formula::{Formula, Interval, Span};
use crate::moore::{explore, Moore};
use crate::past::{Carried, Past};
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
            TimedError::Shape { property, reason } => {
                write!(f, "the property {property}: {reason}; the shapes with time are {SHAPES}")
            }
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
fn rule(property: &Property) -> Result<(Rule, Vec<Formula>), TimedError> {
    let refuse = |reason| Err(TimedError::Shape { property: property.to_string(), reason });
    let formula = match property {
        Property::Distance { of, bound: Bound::AtLeast, length } => {
            return Ok((Rule::LeastDistance(*length), vec![of.clone()]))
        }
        Property::Distance { of, bound: Bound::AtMost, length } => {
            return Ok((Rule::GreatestDistance(*length), vec![of.clone()]))
        }
        Property::Latency { chain, length } => {
            if chain.len() > MOST_STAGES {
                return Err(TimedError::TooLong { stages: chain.len() });
            }
            return Ok((Rule::Latency { stages: chain.len() as u8, length: *length }, chain.clone()));
        }
        Property::Formula(formula) => formula,
    };
    let Formula::Always(inner) = formula else {
        return refuse("with a bound on time it must begin with always");
    };
    let (condition, conclusion) = match &**inner {
        Formula::Implies(condition, conclusion) => ((**condition).clone(), (**conclusion).clone()),
        conclusion => (Formula::True, conclusion.clone()),
    };
    let conclusion = positive(conclusion);
    if !matches!(conclusion, Formula::Within(..) | Formula::UntilWithin(..) | Formula::SinceWithin(..)) {
        return refuse("the bound on time must be the conclusion of ->");
    }
    for operand in conclusion.operands().into_iter().chain([&condition]) {
        if operand.is_timed() {
            return refuse("bounds on time are nested, which takes more than one timer");
        }
        if operand.looks_ahead() {
            return refuse("beside a bound on time only what is and what was may stand");
        }
    }
    let both = |a: Formula, b: Formula| Formula::And(Box::new(a), Box::new(b));
    let since = |a: Formula, b: Formula| Formula::Since(Box::new(a), Box::new(b));
    Ok(match conclusion {
        Formula::Within(Span::Eventually, Interval::Time(length), q) => (Rule::Response(length), vec![condition, *q]),
        Formula::Within(Span::Always, Interval::Time(length), r) => (Rule::Invariance(length), vec![condition, *r]),
        Formula::Within(Span::Once, Interval::Time(length), q) => (Rule::Freshness(length), vec![condition, *q]),
        // From each event without r on, no p: the same, seen from the other side.
        Formula::Within(Span::Historically, Interval::Time(length), r) => {
            (Rule::Invariance(length), vec![r.negated(), condition.negated()])
        }
        // Whoever waits for q, and finds neither it nor r, is broken at once.
        Formula::UntilWithin(Interval::Time(length), r, q) => {
            let begins = both(condition.clone(), q.clone().negated());
            let waits = since(q.clone().negated(), begins);
            let broken = both(waits, r.negated());
            (Rule::Response(length), vec![condition, *q, broken])
        }
        // The latest q is the youngest, and r need hold the shortest since.
        Formula::SinceWithin(Interval::Time(length), r, q) => {
            let broken = both(condition.clone(), since(*r, (*q).clone()).negated());
            (Rule::Freshness(length), vec![condition, *q, broken])
        }
        _ => return refuse("the bound on time must be the conclusion of ->"),
    })
}

/// The same formula without a negation before an operator with a bound on time.
fn positive(formula: Formula) -> Formula {
    let Formula::Not(inner) = formula else { return formula };
    match *inner {
        Formula::Within(span, interval @ Interval::Time(_), a) => {
            let dual = match span {
                Span::Eventually => Span::Always,
                Span::Always => Span::Eventually,
                Span::Once => Span::Historically,
                Span::Historically => Span::Once,
            };
            Formula::Within(dual, interval, Box::new(a.negated()))
        }
        other => Formula::Not(Box::new(other)),
    }
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
        let failed = |error| ComposeError::Synthesis { property: property.to_string(), error };
        let mut past = Past::new(&propositions.names);
        let bits = formulas.iter().map(|formula| past.output(formula)).collect::<Result<Vec<usize>, _>>();
        let bits = bits.map_err(failed)?;
        // The states of the automata, what is carried of the past, and the class.
        type State = (Vec<u32>, Carried, u8);
        let step = |(tuple, carried, _): &State, event: usize, budget: &mut Budget| {
            budget.work(tuple.len() + propositions.names.len() + past.effort())?;
            let tuple = product.step(tuple, event);
            let (letter, carried) = past.read(*carried, propositions.letter(&tuple, event));
            let class = bits.iter().enumerate().fold(0, |class, (n, bit)| class | ((letter >> bit & 1) as u8) << n);
            Ok((tuple, carried, class))
        };
        let size = |(tuple, ..): &State| tuple.len() * size_of::<u32>();
        let explored = explore((product.initial(), 0, 0), events.len(), budget, step, size)?;
        let (machine, _) = explored.map_outputs(|(.., class)| *class).minimised_from(budget)?;
        let occurs = |f: &dyn Fn(u8) -> bool| machine.next.iter().any(|&state| f(machine.output(state)));
        let breakable = match rule {
            Rule::Response(_) | Rule::Freshness(_) => {
                occurs(&|class| class & (CONDITION | DEMAND) == CONDITION || class & BROKEN != 0)
            }
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
