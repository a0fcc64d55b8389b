//! Monitors in `run.json`, as a system file would have them.

use serde::{Deserialize, Serialize};
use tactus_monitor::{Action, Automaton, Encoding, Monitor, Occurrence, Property, Transition};

#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    name: String,
    property: String,
    /// Names, and what happens.
    events: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    automata: Vec<StoredAutomaton>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    encoding: Option<String>,
    minimise: bool,
    reset: bool,
    table_limit: u64,
    action: String,
    line: usize,
}

#[derive(Serialize, Deserialize)]
struct StoredAutomaton {
    name: String,
    states: Vec<String>,
    transitions: Vec<[String; 3]>,
}

pub(super) fn store(monitor: &Monitor) -> Stored {
    let automaton = |it: &Automaton| StoredAutomaton {
        name: it.name.clone(),
        states: it.states.clone(),
        transitions: it.transitions.iter().map(|it| [it.from.clone(), it.event.clone(), it.to.clone()]).collect(),
    };
    Stored {
        name: monitor.name.clone(),
        property: monitor.property.to_string(),
        events: monitor.events.iter().map(|(name, what)| (name.clone(), what.to_string())).collect(),
        automata: monitor.automata.iter().map(automaton).collect(),
        encoding: monitor.encoding.map(|it| it.name().to_owned()),
        minimise: monitor.minimise,
        reset: monitor.reset,
        table_limit: monitor.table_limit,
        action: monitor.action.to_string(),
        line: monitor.line,
    }
}

pub(super) fn restore(stored: Stored) -> Result<Monitor, String> {
    let wrong = |why: String| format!("monitor {}: {why}", stored.name);
    let event = |(name, text): &(String, String)| {
        Occurrence::parse(text).map(|what| (name.clone(), what)).map_err(|error| wrong(error.to_string()))
    };
    let automaton = |it: &StoredAutomaton| Automaton {
        name: it.name.clone(),
        states: it.states.clone(),
        transitions: it
            .transitions
            .iter()
            .map(|[from, event, to]| Transition { from: from.clone(), event: event.clone(), to: to.clone() })
            .collect(),
    };
    let encoding = |name: &String| {
        let known = Encoding::ALL.into_iter().find(|known| known.name() == name);
        known.ok_or_else(|| wrong(format!("there is no encoding {name:?}")))
    };
    let monitor = Monitor {
        property: Property::parse(&stored.property).map_err(|error| wrong(error.to_string()))?,
        events: stored.events.iter().map(event).collect::<Result<_, _>>()?,
        automata: stored.automata.iter().map(automaton).collect(),
        encoding: stored.encoding.as_ref().map(encoding).transpose()?,
        action: Action::parse(&stored.action).ok_or_else(|| wrong(format!("{:?} is nothing to do", stored.action)))?,
        minimise: stored.minimise,
        reset: stored.reset,
        table_limit: stored.table_limit,
        line: stored.line,
        name: stored.name.clone(),
    };
    monitor.build().map_err(|error| wrong(error.to_string()))?;
    Ok(monitor)
}
