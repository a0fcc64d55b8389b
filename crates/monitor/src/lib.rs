//! Monitors: what happens in which order, and how fresh it is, judged event by event.
//!
//! Sources: Cotard, Faucou, Béchennec on monitoring the dataflow of AUTOSAR tasks; Bauer, Leucker, Schallhart, "Runtime
//! verification for LTL and TLTL", TOSEM 2011, for the three values of a verdict.
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

pub use clock::{Rule, TimedDescriptor, TimedStepper, CONDITION, DEMAND, MOST_STAGES};
pub use step::{Descriptor, Step, Stepper};
pub use stored::{Stored, StoredError};
pub use table::{bits_for, Encoding, Layout, Table, TableError, MOST_BITS};
pub use verdict::Verdict;
pub use watcher::Watcher;

mod clock;
mod step;
mod stored;
mod table;
mod verdict;
mod watcher;

#[cfg(feature = "std")]
mod alphabet;
#[cfg(feature = "std")]
mod automaton;
#[cfg(feature = "std")]
mod budget;
#[cfg(feature = "std")]
mod clauses;
#[cfg(feature = "std")]
mod compose;
#[cfg(feature = "std")]
mod definition;
#[cfg(feature = "std")]
mod draw;
#[cfg(feature = "std")]
mod encode;
#[cfg(feature = "std")]
mod error;
#[cfg(feature = "std")]
mod formula;
#[cfg(feature = "std")]
mod languages;
#[cfg(feature = "std")]
mod letter;
#[cfg(feature = "std")]
mod moore;
#[cfg(feature = "std")]
mod obligations;
#[cfg(feature = "std")]
mod occurrence;
#[cfg(feature = "std")]
mod parse;
#[cfg(feature = "std")]
mod past;
#[cfg(feature = "std")]
mod property;
#[cfg(feature = "std")]
mod synthesis;
#[cfg(feature = "std")]
mod timed;
#[cfg(feature = "std")]
mod tokens;

#[cfg(feature = "std")]
pub use {
    alphabet::alphabet,
    automaton::{Automaton, AutomatonError, Transition},
    budget::{Budget, OverBudget, MOST_OBLIGATIONS},
    clauses::Lasso,
    compose::{ComposeError, Composed, Specification},
    definition::{Action, BuildError, Built, Monitor, DEFAULT_TABLE_LIMIT},
    encode::{encode, Encoded, Operations},
    error::SynthesisError,
    formula::{Formula, Interval, Span, FARTHEST},
    languages::{read_dot, read_hoa, read_oil, LanguageError, Oil, OilAction, OilEvent, OilRule, VIOLATION},
    letter::{all_letters, Letter, MOST_FREE_ATOMS},
    moore::Moore,
    occurrence::{Integrity, Occurrence, OccurrenceError, OccurrenceKind, SubjectKind},
    parse::DEEPEST,
    property::{Bound, Property},
    synthesis::Synthesis,
    timed::{Timed, TimedError},
    tokens::{ParseError, LONGEST},
};

/// The examples of the crate's page, which are run as tests.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Page;
