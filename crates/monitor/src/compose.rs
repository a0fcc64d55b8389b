//! From automata over events and properties over their states to one machine that reads events.
//!
//! Source: Cotard, Faucou, Béchennec, the tool *Enforcer*: the synchronised product of the automata gives, after each event, the
//! propositions that hold; the machines of the properties read them. Several properties are watched by one machine: it is *false* as
//! soon as one of them is and *true* when all are. The initial state of the automata is not itself read: the first letter is
//! that after the first event.

use crate::automaton::{Automaton, AutomatonError, Compiled};
use crate::budget::{Budget, OverBudget};
use crate::error::SynthesisError;
use crate::formula::Formula;
use crate::letter::Letter;
use crate::moore::{explore, Moore};
use crate::synthesis::Synthesis;
use crate::verdict::Verdict;
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// What a machine is made from.
#[derive(Clone, Debug, Default)]
pub struct Specification {
    /// The automata, which see all events.
    pub automata: Vec<Automaton>,
    /// The events, in the order of the table's columns; those of the automata and of the properties must be among them.
    pub events: Vec<String>,
    /// The properties, over the names of events and of states (`state`, or `automaton.state`).
    pub properties: Vec<Formula>,
    /// Whether a run may fall silent: a continuation may then have positions at which no event happens. No step of the machine is
    /// ever such a position, but a property is not taken for broken since only events that break it are left.
    pub silence: bool,
    /// The memory and the work that all of it may use.
    pub budget: Budget,
}

/// A machine over events.
#[derive(Clone, Debug)]
pub struct Composed {
    /// The events, by column.
    pub events: Vec<String>,
    /// The machine.
    pub machine: Moore<Verdict>,
    /// What each state stands for: the states of the automata and of the properties' machines. Of a minimised machine, of one
    /// of the states that were merged.
    pub labels: Vec<String>,
    /// The number of states of the machine of each property alone, over propositions.
    pub intermediate: Vec<usize>,
}

/// A specification of which no machine was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ComposeError {
    /// There is no property.
    NoProperty,
    /// There is no event.
    NoEvent,
    /// An event is there twice.
    RepeatedEvent {
        /// Its name.
        event: String,
    },
    /// An automaton is wrong.
    Automaton(AutomatonError),
    /// Two automata have the same name.
    RepeatedAutomaton {
        /// The name.
        automaton: String,
    },
    /// An automaton names an event that is not there.
    UnknownEvent {
        /// The automaton.
        automaton: String,
        /// The event.
        event: String,
        /// The events there are.
        known: Vec<String>,
    },
    /// A proposition could be one of several things.
    Ambiguous {
        /// Its name.
        name: String,
        /// What it could be.
        meanings: Vec<String>,
    },
    /// A property has a verdict before any event.
    Trivial {
        /// The property.
        property: String,
        /// The verdict.
        verdict: Verdict,
    },
    /// No sequence of events leads to a verdict.
    Undecidable {
        /// The properties.
        properties: Vec<String>,
    },
    /// The machine of a property could not be made.
    Synthesis {
        /// The property.
        property: String,
        /// Why.
        error: SynthesisError,
    },
    /// The product with the automata needs too much.
    OverBudget(OverBudget),
}

impl From<AutomatonError> for ComposeError {
    fn from(error: AutomatonError) -> Self {
        ComposeError::Automaton(error)
    }
}

impl fmt::Display for ComposeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ComposeError::NoProperty => f.write_str("there is no property; write one"),
            ComposeError::NoEvent => f.write_str("there is no event to watch; name one or more"),
            ComposeError::RepeatedEvent { event } => write!(f, "the event {event:?} is there twice; leave one out"),
            ComposeError::Automaton(error) => error.fmt(f),
            ComposeError::RepeatedAutomaton { automaton } => {
                write!(f, "two automata are called {automaton:?}; rename one")
            }
            ComposeError::UnknownEvent { automaton, event, known } => {
                write!(f, "automaton {automaton:?}: {event:?} is not an event; the events are {}", known.join(", "))
            }
            ComposeError::Ambiguous { name, meanings } => write!(
                f,
                "the proposition {name:?} could be {}; write automaton.state, or rename one",
                meanings.join(" or ")
            ),
            ComposeError::Trivial { property, verdict: Verdict::False } => write!(
                f,
                "the property {property} is false before any event: nothing that these events and automata allow satisfies it"
            ),
            ComposeError::Trivial { property, .. } => write!(
                f,
                "the property {property} is true before any event: nothing that these events and automata allow violates it"
            ),
            ComposeError::Undecidable { properties } => write!(
                f,
                "no sequence of events ever decides {}: a monitor would say \"not yet\" for ever; bound what must happen, by an \
                 event (until) or by a time (eventually[<= 20 ms])",
                properties.join(" and ")
            ),
            ComposeError::Synthesis { property, error } => write!(f, "the property {property}: {error}"),
            ComposeError::OverBudget(error) => write!(f, "the product with the automata: {error}"),
        }
    }
}

impl std::error::Error for ComposeError {}

/// What a proposition of a property means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    /// The event of this column happens.
    Event(usize),
    /// The automaton of this place in the product is in the state of this number.
    State(usize, u32),
}

/// The automata side by side: those of which a property names a state. What the others do no property can tell.
pub(crate) struct Product<'a> {
    specification: &'a Specification,
    /// Each with its number among all.
    automata: Vec<(usize, Compiled)>,
}

impl<'a> Product<'a> {
    /// The automata that these propositions need; all are looked at.
    pub fn new(specification: &'a Specification, atoms: &BTreeSet<String>) -> Result<Self, ComposeError> {
        let Specification { automata, events, .. } = specification;
        let mut seen = BTreeSet::new();
        if let Some(event) = events.iter().find(|&event| !seen.insert(event)) {
            return Err(ComposeError::RepeatedEvent { event: event.clone() });
        }
        if events.is_empty() {
            return Err(ComposeError::NoEvent);
        }
        let mut names = BTreeSet::new();
        for automaton in automata {
            if !names.insert(&automaton.name) {
                return Err(ComposeError::RepeatedAutomaton { automaton: automaton.name.clone() });
            }
            if let Some(event) =
                automaton.events().into_iter().find(|&event| !events.iter().any(|known| known == event))
            {
                let (automaton, event) = (automaton.name.clone(), event.into());
                return Err(ComposeError::UnknownEvent { automaton, event, known: events.clone() });
            }
        }
        let compiled = automata.iter().map(|it| it.compiled(events)).collect::<Result<Vec<_>, _>>()?;
        let is_named = |automaton: &Automaton| {
            let full = |state: &String| atoms.contains(&format!("{}.{state}", automaton.name));
            automaton.states.iter().any(|state| atoms.contains(state) || full(state))
        };
        let named = compiled.into_iter().enumerate().filter(|(number, _)| is_named(&automata[*number]));
        Ok(Product { specification, automata: named.collect() })
    }

    pub fn initial(&self) -> Vec<u32> {
        vec![0; self.automata.len()]
    }
    pub fn step(&self, tuple: &[u32], event: usize) -> Vec<u32> {
        self.automata.iter().zip(tuple).map(|((_, automaton), &state)| automaton.step(state, event)).collect()
    }
    /// The names of the automata's states.
    pub fn label(&self, tuple: &[u32]) -> Vec<&str> {
        let name = |(number, state): (usize, u32)| self.specification.automata[number].states[state as usize].as_str();
        self.automata.iter().zip(tuple).map(|((number, _), &state)| name((*number, state))).collect()
    }

    fn meaning(&self, name: &str) -> Result<Meaning, ComposeError> {
        let Specification { automata, events, .. } = self.specification;
        let mut meanings = vec![];
        if let Some(column) = events.iter().position(|event| event == name) {
            meanings.push((Meaning::Event(column), format!("the event {name:?}")));
        }
        for (number, automaton) in automata.iter().enumerate() {
            for (state, known) in automaton.states.iter().enumerate() {
                let full = name.strip_prefix(automaton.name.as_str()).and_then(|rest| rest.strip_prefix('.'));
                if known == name || full == Some(known) {
                    let words = format!("the state {known:?} of {:?}", automaton.name);
                    let place = self.automata.iter().position(|(it, _)| *it == number).unwrap_or_default();
                    meanings.push((Meaning::State(place, state as u32), words));
                }
            }
        }
        match &meanings[..] {
            [(meaning, _)] => Ok(*meaning),
            [] => {
                let states = automata.iter().flat_map(|automaton| &automaton.states);
                let known = events.iter().chain(states).cloned().collect();
                let error = SynthesisError::UnknownAtom { name: name.into(), known };
                Err(ComposeError::Synthesis { property: name.into(), error })
            }
            _ => {
                let meanings = meanings.into_iter().map(|(_, words)| words).collect();
                Err(ComposeError::Ambiguous { name: name.into(), meanings })
            }
        }
    }

    /// The propositions of these names.
    pub fn propositions(&self, names: BTreeSet<String>) -> Result<Propositions, ComposeError> {
        let names: Vec<String> = names.into_iter().collect();
        let limit = Letter::BITS as usize;
        if names.len() > limit {
            let error = SynthesisError::TooManyAtoms { count: names.len(), limit };
            return Err(ComposeError::Synthesis { property: names.join(", "), error });
        }
        let meanings = names.iter().map(|name| self.meaning(name)).collect::<Result<_, _>>()?;
        Ok(Propositions { names, meanings })
    }

    /// All states of the automata that occur together.
    pub fn reachable(&self, budget: &mut Budget) -> Result<Vec<Vec<u32>>, OverBudget> {
        let inputs = self.specification.events.len();
        let step = |tuple: &Vec<u32>, event, budget: &mut Budget| {
            budget.work(tuple.len())?;
            Ok(self.step(tuple, event))
        };
        Ok(explore(self.initial(), inputs, budget, step, |tuple| tuple.len() * size_of::<u32>())?.into_states())
    }
}

/// The column of no event.
const NO_EVENT: usize = usize::MAX;

/// The propositions of a property, and what they mean here.
pub(crate) struct Propositions {
    pub names: Vec<String>,
    meanings: Vec<Meaning>,
}

impl Propositions {
    /// Those that hold after an event that led to a state of the automata.
    pub fn letter(&self, tuple: &[u32], event: usize) -> Letter {
        let holds = |meaning: &Meaning| match *meaning {
            Meaning::Event(column) => column == event,
            Meaning::State(automaton, state) => tuple[automaton] == state,
        };
        self.meanings.iter().enumerate().fold(0, |letter, (bit, meaning)| letter | Letter::from(holds(meaning)) << bit)
    }
}

/// The machine of one property and the letters it reads.
struct Part {
    propositions: Propositions,
    machine: Moore<Verdict>,
    inputs: HashMap<Letter, usize>,
}

impl Composed {
    /// Makes the machine of a specification, with all states that the product reaches; [`Composed::minimised`] merges those that
    /// no sequence of events tells apart.
    ///
    /// # Errors
    /// See [`ComposeError`].
    pub fn new(specification: &Specification) -> Result<Composed, ComposeError> {
        Composed::within(specification, &mut { specification.budget })
    }

    /// As [`Composed::new`], with the states merged that no sequence of events tells apart.
    ///
    /// # Errors
    /// See [`ComposeError`].
    pub fn smallest(specification: &Specification) -> Result<Composed, ComposeError> {
        let budget = &mut { specification.budget };
        let composed = Composed::within(specification, budget)?;
        composed.merged(budget).map_err(ComposeError::OverBudget)
    }

    fn within(specification: &Specification, budget: &mut Budget) -> Result<Composed, ComposeError> {
        let Specification { events, properties, .. } = specification;
        if properties.is_empty() {
            return Err(ComposeError::NoProperty);
        }
        let atoms = properties.iter().flat_map(Formula::atoms).collect();
        let product = Product::new(specification, &atoms)?;
        let tuples = product.reachable(budget).map_err(ComposeError::OverBudget)?;
        let mut parts = Vec::new();
        for property in properties {
            let propositions = product.propositions(property.atoms())?;
            let failed = |error| ComposeError::Synthesis { property: property.to_string(), error };
            // The letters that can occur: those after some event in some state of the automata.
            let steps = tuples.len() * events.len() * (1 + propositions.names.len());
            budget.work(steps).map_err(|error| failed(error.into()))?;
            let steps = tuples.iter().flat_map(|tuple| (0..events.len()).map(move |event| (tuple, event)));
            let occurring = steps.map(|(tuple, event)| propositions.letter(&product.step(tuple, event), event));
            let silent =
                tuples.iter().filter(|_| specification.silence).map(|tuple| propositions.letter(tuple, NO_EVENT));
            let letters: Vec<Letter> = occurring.chain(silent).collect::<BTreeSet<_>>().into_iter().collect();
            let synthesis = Synthesis::new(property, &propositions.names, &letters, budget).map_err(failed)?;
            let (machine, _) = synthesis.machine.minimised_from(budget).map_err(|error| failed(error.into()))?;
            let verdict = machine.output(machine.initial);
            if verdict.is_final() {
                return Err(ComposeError::Trivial { property: property.to_string(), verdict });
            }
            let inputs = letters.into_iter().enumerate().map(|(input, letter)| (letter, input)).collect();
            parts.push(Part { propositions, machine, inputs });
        }
        let verdict = |states: &[u32]| {
            let verdicts = || parts.iter().zip(states).map(|(part, &state)| part.machine.output(state));
            if verdicts().any(|verdict| verdict == Verdict::False) {
                Verdict::False
            } else if verdicts().all(|verdict| verdict == Verdict::True) {
                Verdict::True
            } else {
                Verdict::NotYet
            }
        };
        // A state is the automata's states and those of the parts, or a final verdict.
        type State = Result<(Vec<u32>, Vec<u32>), Verdict>;
        let step = |state: &State, event: usize, budget: &mut Budget| {
            let Ok((tuple, states)) = state else { return Ok(state.clone()) };
            budget.work(tuple.len() + parts.iter().map(|part| 1 + part.propositions.names.len()).sum::<usize>())?;
            let tuple = product.step(tuple, event);
            let read = |(part, &state): (&Part, &u32)| {
                part.machine.step(state, part.inputs[&part.propositions.letter(&tuple, event)])
            };
            let states: Vec<u32> = parts.iter().zip(states).map(read).collect();
            Ok(match verdict(&states) {
                Verdict::NotYet => Ok((tuple, states)),
                settled => Err(settled),
            })
        };
        let initial: State = Ok((product.initial(), parts.iter().map(|part| part.machine.initial).collect()));
        let size = |_: &State| (product.initial().len() + parts.len()) * size_of::<u32>();
        let explored = explore(initial, events.len(), budget, step, size).map_err(ComposeError::OverBudget)?;
        let machine = explored.map_outputs(|state| state.as_ref().err().copied().unwrap_or(Verdict::NotYet));
        if machine.outputs.iter().all(|verdict| !verdict.is_final()) {
            let properties = properties.iter().map(ToString::to_string).collect();
            return Err(ComposeError::Undecidable { properties });
        }
        let label = |state: State| match state {
            Ok((tuple, states)) => {
                let mut words: Vec<String> = product.label(&tuple).into_iter().map(Into::into).collect();
                words.extend(states.iter().map(|state| format!("#{state}")));
                words.join(" ")
            }
            Err(verdict) => verdict.to_string(),
        };
        let labels = explored.into_states().into_iter().map(label).collect();
        let intermediate = parts.iter().map(|part| part.machine.states()).collect();
        Ok(Composed { events: events.clone(), machine, labels, intermediate }.with_verdicts_last())
    }

    /// The smallest machine with the same verdicts.
    #[must_use]
    pub fn minimised(&self) -> Composed {
        self.merged(&mut { Budget::UNLIMITED }).unwrap_or_else(|_| self.clone())
    }
    fn merged(&self, budget: &mut Budget) -> Result<Composed, OverBudget> {
        let (machine, kept) = self.machine.minimised_from(budget)?;
        let labels = kept.iter().map(|&state| self.labels[state as usize].clone()).collect();
        let (events, intermediate) = (self.events.clone(), self.intermediate.clone());
        Ok(Composed { events, machine, labels, intermediate }.with_verdicts_last())
    }

    /// The same machine, with states numbered such that those with a verdict come last, so that one comparison tells whether
    /// a step has reached a verdict.
    fn with_verdicts_last(self) -> Composed {
        let mut old: Vec<u32> = (0..self.machine.states() as u32).collect();
        old.sort_by_key(|&state| self.machine.output(state).is_final());
        let mut new = vec![0; old.len()];
        old.iter().zip(0..).for_each(|(&state, number)| new[state as usize] = number);
        let machine = Moore {
            inputs: self.machine.inputs,
            initial: new[self.machine.initial as usize],
            next: old.iter().flat_map(|&state| self.machine.row(state)).map(|&next| new[next as usize]).collect(),
            outputs: old.iter().map(|&state| self.machine.output(state)).collect(),
        };
        let labels = old.iter().map(|&state| self.labels[state as usize].clone()).collect();
        Composed { machine, labels, ..self }
    }
}
