//! Automata over events, and several of them side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A deterministic automaton: where there is no transition for an event, it stays. Its states are propositions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Automaton {
    /// Its name.
    pub name: String,
    /// Its states; the first is the initial one.
    pub states: Vec<String>,
    /// Its transitions.
    pub transitions: Vec<Transition>,
}

/// One transition of an automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    /// The state that it leaves.
    pub from: String,
    /// The event on which it is taken.
    pub event: String,
    /// The state that it leads to.
    pub to: String,
}

/// What is wrong with an automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AutomatonError {
    /// It has no state.
    Empty {
        /// The automaton.
        automaton: String,
    },
    /// It has a state twice.
    RepeatedState {
        /// The automaton.
        automaton: String,
        /// The state.
        state: String,
    },
    /// A transition names a state that it does not have.
    UnknownState {
        /// The automaton.
        automaton: String,
        /// The name.
        state: String,
        /// The states there are.
        known: Vec<String>,
    },
    /// An event leads from one state to two.
    Contradiction {
        /// The automaton.
        automaton: String,
        /// The state.
        from: String,
        /// The event.
        event: String,
        /// Where it leads.
        to: [String; 2],
    },
    /// A state cannot be reached from the initial one.
    Unreachable {
        /// The automaton.
        automaton: String,
        /// The state.
        state: String,
    },
}

impl AutomatonError {
    /// The automaton concerned.
    pub fn automaton(&self) -> &str {
        match self {
            AutomatonError::Empty { automaton }
            | AutomatonError::RepeatedState { automaton, .. }
            | AutomatonError::UnknownState { automaton, .. }
            | AutomatonError::Contradiction { automaton, .. }
            | AutomatonError::Unreachable { automaton, .. } => automaton,
        }
    }
}

impl fmt::Display for AutomatonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "automaton {:?}: ", self.automaton())?;
        match self {
            AutomatonError::Empty { .. } => f.write_str("it has no state; give it one or more, the initial one first"),
            AutomatonError::RepeatedState { state, .. } => {
                write!(f, "its state {state:?} is there twice; leave one out")
            }
            AutomatonError::UnknownState { state, known, .. } => {
                write!(f, "a transition names the state {state:?}; its states are {}", known.join(", "))
            }
            AutomatonError::Contradiction { from, event, to: [a, b], .. } => {
                write!(
                    f,
                    "in state {from:?} the event {event:?} leads to both {a:?} and {b:?}; keep one of the transitions"
                )
            }
            AutomatonError::Unreachable { state, .. } => {
                write!(f, "its state {state:?} cannot be reached; add a transition to it, or leave it out")
            }
        }
    }
}

impl std::error::Error for AutomatonError {}

impl Automaton {
    /// The events that it has transitions for, sorted.
    pub fn events(&self) -> BTreeSet<&str> {
        self.transitions.iter().map(|transition| transition.event.as_str()).collect()
    }

    /// Its transitions as numbers, over these events; those that are not among them do not happen.
    ///
    /// # Errors
    /// It contradicts itself or names a state that is not there.
    pub(crate) fn compiled(&self, events: &[String]) -> Result<Compiled, AutomatonError> {
        let automaton = || self.name.clone();
        if self.states.is_empty() {
            return Err(AutomatonError::Empty { automaton: automaton() });
        }
        let mut numbers = BTreeMap::new();
        for (number, state) in self.states.iter().enumerate() {
            if numbers.insert(state.as_str(), number as u32).is_some() {
                return Err(AutomatonError::RepeatedState { automaton: automaton(), state: state.clone() });
            }
        }
        let number = |state: &String| {
            let unknown = || {
                let known = self.states.clone();
                AutomatonError::UnknownState { automaton: automaton(), state: state.clone(), known }
            };
            numbers.get(state.as_str()).copied().ok_or_else(unknown)
        };
        let mut taken: BTreeMap<(u32, &str), u32> = BTreeMap::new();
        for Transition { from, event, to } in &self.transitions {
            let (source, target) = (number(from)?, number(to)?);
            if let Some(other) = taken.insert((source, event), target).filter(|&other| other != target) {
                let to = [self.states[other as usize].clone(), to.clone()];
                let (from, event) = (from.clone(), event.clone());
                return Err(AutomatonError::Contradiction { automaton: automaton(), from, event, to });
            }
        }
        let states = 0..self.states.len() as u32;
        let pairs = states.flat_map(|state| events.iter().map(move |event| (state, event.as_str())));
        let next = pairs.map(|pair| taken.get(&pair).copied().unwrap_or(pair.0)).collect();
        let (mut reached, mut rest) = (BTreeSet::from([0]), vec![0]);
        while let Some(state) = rest.pop() {
            let row = taken.range((state, "")..).take_while(|((from, _), _)| *from == state);
            rest.extend(row.map(|(_, to)| *to).filter(|to| reached.insert(*to)));
        }
        if let Some(state) = (0..self.states.len()).find(|&state| !reached.contains(&(state as u32))) {
            return Err(AutomatonError::Unreachable { automaton: automaton(), state: self.states[state].clone() });
        }
        Ok(Compiled { next, events: events.len() })
    }
}

/// An automaton that has been found to be in order.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    /// The state after each event, by state.
    next: Vec<u32>,
    events: usize,
}

impl Compiled {
    /// The state after the event of this column in `state`.
    pub fn step(&self, state: u32, event: usize) -> u32 {
        self.next[state as usize * self.events + event]
    }
}
