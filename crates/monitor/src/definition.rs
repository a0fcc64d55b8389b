//! A monitor as a system file defines it, and what it becomes.

use crate::automaton::Automaton;
use crate::budget::Budget;
use crate::compose::{ComposeError, Composed, Specification};
use crate::encode::Encoded;
use crate::occurrence::Occurrence;
use crate::property::Property;
use crate::table::{Encoding, Layout, TableError};
use crate::timed::{Timed, TimedError};
use crate::watcher::Watcher;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The bytes that the table of a monitor may take unless its definition says otherwise.
pub const DEFAULT_TABLE_LIMIT: u64 = 64 << 10;

/// What is done where a property is violated.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Action {
    /// It is noted.
    #[default]
    Note,
    /// The component with this name is stopped, and stays so.
    Stop(String),
    /// The component with this name is stopped, and begins anew by the rules of its restarts.
    Restart(String),
    /// A job of the task with this name is released, which may ask what was violated.
    Run(String),
    /// The run ends.
    End,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Note => f.write_str("note"),
            Action::Stop(component) => write!(f, "stop {component}"),
            Action::Restart(component) => write!(f, "restart {component}"),
            Action::Run(task) => write!(f, "run {task}"),
            Action::End => f.write_str("end"),
        }
    }
}

impl Action {
    /// Reads `stop camera`; nothing if it is none.
    pub fn parse(text: &str) -> Option<Action> {
        match text.split_whitespace().collect::<Vec<_>>()[..] {
            ["note"] => Some(Action::Note),
            ["stop", component] => Some(Action::Stop(component.to_owned())),
            ["restart", component] => Some(Action::Restart(component.to_owned())),
            ["run", task] => Some(Action::Run(task.to_owned())),
            ["end"] => Some(Action::End),
            _ => None,
        }
    }
}

/// A monitor as it is defined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Monitor {
    /// Its name.
    pub name: String,
    /// What it watches.
    pub property: Property,
    /// The events, by the names that the property gives them.
    pub events: Vec<(String, Occurrence)>,
    /// Automata over the events, whose states the property may name.
    pub automata: Vec<Automaton>,
    /// The encoding of the table; the smallest if it is left open.
    pub encoding: Option<Encoding>,
    /// Whether states that nothing tells apart are merged.
    pub minimise: bool,
    /// Whether it starts anew after a verdict; otherwise it stops.
    pub reset: bool,
    /// The most bytes of its table.
    pub table_limit: u64,
    /// What is done where it is violated, on the machine.
    pub action: Action,
    /// The line of the system file, for messages.
    pub line: usize,
}

/// A definition of which no monitor was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BuildError {
    /// The property without time, or the automata.
    Compose(ComposeError),
    /// The property with time.
    Timed(TimedError),
    /// The table does not fit its encoding.
    Table(TableError),
    /// The table is larger than it may be.
    TooLarge {
        /// Its bytes.
        bytes: u32,
        /// The limit.
        limit: u64,
    },
    /// Two names for one occurrence, which would step twice.
    SameOccurrence {
        /// The names.
        names: [String; 2],
        /// What both are.
        what: Occurrence,
    },
    /// An event that neither the property nor an automaton names.
    UnusedEvent {
        /// Its name.
        event: String,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Compose(error) => error.fmt(f),
            BuildError::Timed(error) => error.fmt(f),
            BuildError::Table(error) => error.fmt(f),
            BuildError::TooLarge { bytes, limit } => write!(
                f,
                "its table has {bytes} bytes, more than the {limit} granted; minimise it, choose the encoding bit-string, or \
                 write a larger table-limit"
            ),
            BuildError::SameOccurrence { names: [a, b], what } => write!(
                f,
                "the events {a:?} and {b:?} are both \"{what}\", which would count twice each time; write {a} in place of {b}"
            ),
            BuildError::UnusedEvent { event } => write!(
                f,
                "neither the property nor an automaton names the event {event:?}, though it would count for next and until; \
                 name it or leave it out"
            ),
        }
    }
}

impl std::error::Error for BuildError {}

/// A monitor with its table.
#[derive(Clone, Debug)]
pub enum Built {
    /// Without a clock.
    Untimed {
        /// The machine.
        composed: Composed,
        /// Its table.
        encoded: Encoded,
    },
    /// With a clock.
    Timed(Timed),
}

/// What a table is made of.
#[derive(PartialEq)]
struct Ingredients {
    property: Property,
    events: Vec<String>,
    automata: Vec<Automaton>,
    encoding: Option<Encoding>,
    minimise: bool,
    table_limit: u64,
}

/// The tables made last, since each of those who read a system file asks for them, and one can take seconds to make.
static MADE: Mutex<VecDeque<(Ingredients, Built)>> = Mutex::new(VecDeque::new());

/// As many as a system may have.
const KEPT: usize = 64;

impl Monitor {
    /// Makes its table, or finds the one that was made before.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn build(&self) -> Result<Built, BuildError> {
        for (n, (name, what)) in self.events.iter().enumerate() {
            if let Some((first, _)) = self.events[..n].iter().find(|(_, known)| known == what) {
                return Err(BuildError::SameOccurrence { names: [first.clone(), name.clone()], what: what.clone() });
            }
        }
        let ingredients = Ingredients {
            property: self.property.clone(),
            events: self.events.iter().map(|(name, _)| name.clone()).collect(),
            automata: self.automata.clone(),
            encoding: self.encoding,
            minimise: self.minimise,
            table_limit: self.table_limit,
        };
        let made = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, built)) = made().iter().find(|(known, _)| *known == ingredients) {
            return Ok(built.clone());
        }
        let built = self.made(&ingredients.events)?;
        let mut all = made();
        all.push_back((ingredients, built.clone()));
        let excess = all.len().saturating_sub(KEPT);
        all.drain(..excess);
        Ok(built)
    }

    fn made(&self, events: &[String]) -> Result<Built, BuildError> {
        let built = match &self.property {
            Property::Formula(formula) if !self.property.is_timed() => {
                let (automata, events, properties) = (self.automata.clone(), events.to_vec(), vec![formula.clone()]);
                let specification =
                    Specification { automata, events, properties, silence: true, budget: Budget::default() };
                let make = if self.minimise { Composed::smallest } else { Composed::new };
                let composed = make(&specification).map_err(BuildError::Compose)?;
                let encoded = Encoded::new(&composed, self.encoding).map_err(BuildError::Table)?;
                Built::Untimed { composed, encoded }
            }
            property => Timed::new(&self.automata, events, property, self.encoding)
                .map(Built::Timed)
                .map_err(BuildError::Timed)?,
        };
        let atoms = self.property.atoms();
        let named =
            |event: &String| atoms.contains(event) || self.automata.iter().any(|a| a.events().contains(event.as_str()));
        if let Some(event) = self.events.iter().map(|(name, _)| name).find(|&event| !named(event)) {
            return Err(BuildError::UnusedEvent { event: event.clone() });
        }
        let bytes = built.layout().bytes;
        if u64::from(bytes) > self.table_limit {
            return Err(BuildError::TooLarge { bytes, limit: self.table_limit });
        }
        Ok(built)
    }
}

impl Built {
    /// Where the values of the table lie.
    pub fn layout(&self) -> &Layout {
        match self {
            Built::Untimed { encoded, .. } => &encoded.layout,
            Built::Timed(timed) => &timed.layout,
        }
    }
    /// The monitor at work.
    ///
    /// # Errors
    /// The bytes were damaged.
    pub fn watcher(&self, reset: bool) -> Result<Watcher<'_>, TableError> {
        Ok(match self {
            Built::Untimed { encoded, .. } => Watcher::Untimed(encoded.stepper(reset)?),
            Built::Timed(timed) => Watcher::Timed(timed.stepper(reset)?),
        })
    }
}
