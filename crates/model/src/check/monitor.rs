//! The rules for monitors: what they name must be there, and a table must come of them.

use super::names::runs_component;
use crate::draft::{At, Draft, DraftMonitor, Given};
use crate::problem::{nearest, Collector, Complaint, Location};
use crate::MAX_MONITORS;
use tactus_monitor::{
    Action, Automaton, Encoding, Formula, Monitor, Property, Specification, Transition, DEFAULT_TABLE_LIMIT,
};

/// Checks all monitors and makes those with which nothing is wrong.
pub(super) fn check(draft: &Draft, out: &mut Collector) -> Vec<Monitor> {
    if let Some(extra) = draft.monitors.get(MAX_MONITORS) {
        let limit = format!("more than {MAX_MONITORS}");
        out.out_of_range(extra.place, "", "the number of monitors", draft.monitors.len(), limit, "leave some out");
        return Vec::new();
    }
    draft.monitors.iter().filter_map(|monitor| one(monitor, draft, out)).collect()
}

fn one(draft: &DraftMonitor, system: &Draft, out: &mut Collector) -> Option<Monitor> {
    let subject = draft.subject.as_str();
    let name = draft.name.get()?;
    super::names::check_name(&name.value, name.place, subject, "name", out);
    let mut sound = true;
    let (place, property) = match (&draft.model, &draft.property) {
        (Given::Is(at), _) => {
            sound = of_model(&at.value, draft, at.place, out);
            (at.place, at.value.properties.first().cloned().map(Property::Formula))
        }
        (Given::Absent, Given::Is(text)) => match Property::parse(&text.value) {
            Ok(property) => (text.place, Some(property)),
            Err(error) => {
                out.add(text.place, subject, Complaint::Syntax { reason: error.to_string() });
                (text.place, None)
            }
        },
        _ => return None,
    };
    let mut events = Vec::new();
    for (name, what) in &draft.events {
        match super::occurrence::occurrence(what, system, subject, out) {
            Some(occurrence) => events.push((name.value.clone(), occurrence)),
            None => sound = false,
        }
        sound &= is_name(name, "event", subject, out);
    }
    for automaton in &draft.automata {
        for name in automaton.name.get().into_iter().chain(&automaton.states) {
            sound &= is_name(name, "automaton or state", subject, out);
        }
    }
    let encoding = encoding(draft, subject, out)?;
    let action = action(draft, system, out)?;
    let automata = draft.automata.iter().map(|automaton| {
        let transition =
            |[from, event, to]: &[String; 3]| Transition { from: from.clone(), event: event.clone(), to: to.clone() };
        Some(Automaton {
            name: automaton.name.get()?.value.clone(),
            states: automaton.states.iter().map(|state| state.value.clone()).collect(),
            transitions: automaton.transitions.iter().map(transition).collect(),
        })
    });
    let of_model = draft.model.get().map(|at| at.value.automata.clone());
    let automata = of_model.map_or_else(|| automata.collect::<Option<Vec<_>>>(), Some);
    let monitor = Monitor {
        name: name.value.clone(),
        property: property?,
        events,
        automata: automata?,
        encoding,
        minimise: draft.minimise.value().unwrap_or(true),
        reset: draft.reset.value().unwrap_or(false),
        table_limit: draft.table_limit.value().unwrap_or(DEFAULT_TABLE_LIMIT),
        action,
        line: draft.place.line,
    };
    if !sound {
        return None;
    }
    match monitor.build() {
        Ok(_) => Some(monitor),
        Err(error) => {
            out.add(place, subject, Complaint::Syntax { reason: error.to_string() });
            None
        }
    }
}

/// Whether what an automaton of another tool calls its states and events are names, and the file says what each event is.
fn of_model(model: &Specification, draft: &DraftMonitor, place: Location, out: &mut Collector) -> bool {
    let subject = draft.subject.as_str();
    let at = |value: &String| At { value: value.clone(), place };
    let states = model.automata.iter().flat_map(|automaton| &automaton.states);
    let mut sound = true;
    for name in states.chain(&model.events) {
        sound &= is_name(&at(name), "state or event", subject, out);
    }
    if let Some(event) = model.events.iter().find(|event| draft.events.iter().all(|(name, _)| name.value != **event)) {
        let why = format!("the model names the event {event:?}, of which events does not say what it is");
        out.refuse(place, subject, why, format!("write events = {{ {event} = \"…\" }}"));
        sound = false;
    }
    sound
}

/// Whether a property can name it; if not, that is reported.
fn is_name(name: &At<String>, what: &str, subject: &str, out: &mut Collector) -> bool {
    let read = Property::parse(&name.value);
    let plain = matches!(&read, Ok(Property::Formula(Formula::Atom(atom))) if *atom == name.value);
    if !plain {
        let short: String = name.value.chars().take(40).collect();
        let why = format!("the {what} name {short:?} is no name of the language");
        out.refuse(name.place, subject, why, "use letters, digits, \"_\" and \".\", and no word of the language");
    }
    plain
}

/// The encoding, if one is chosen; nothing at all if it is unknown.
fn encoding(draft: &DraftMonitor, subject: &str, out: &mut Collector) -> Option<Option<Encoding>> {
    let at = match &draft.encoding {
        Given::Absent => return Some(None),
        Given::Broken => return None,
        Given::Is(at) => at,
    };
    let found = Encoding::ALL.into_iter().find(|encoding| encoding.name() == at.value);
    if found.is_none() {
        let complaint = Complaint::UnknownName {
            what: "encoding",
            nearest: nearest(&at.value, Encoding::ALL.map(Encoding::name)),
            name: at.value.chars().take(40).collect(),
            remedy: format!("choose one of {}", Encoding::ALL.map(Encoding::name).join(", ")),
        };
        out.add(at.place, subject, complaint);
    }
    found.map(Some)
}

/// Whether the task can be released by a violation, and is released by nothing else.
fn handler(name: &str, at: &At<String>, system: &Draft, subject: &str, out: &mut Collector) -> bool {
    let names = || system.tasks.iter().filter_map(|task| task.name.get().map(|at| at.value.as_str()));
    let Some(task) = system.tasks.iter().find(|task| task.name.get().is_some_and(|at| at.value == name)) else {
        let complaint = Complaint::UnknownName {
            what: "task",
            name: name.chars().take(40).collect(),
            nearest: nearest(name, names()),
            remedy: format!("the file has {}", names().collect::<Vec<_>>().join(", ")),
        };
        out.add(at.place, subject, complaint);
        return false;
    };
    let placing = &task.placing;
    let (why, remedy) = if placing.raised_by.get().is_some() || placing.message.get().is_some() {
        (
            format!("components release {name}, and what they raise and what is violated would not be told apart"),
            "give the handler a task of its own",
        )
    } else if placing.interrupt.get().is_some() || placing.after.get().is_some() {
        (format!("something else releases {name}"), "give the handler a task of its own")
    } else if placing.sporadic.value() != Some(true) {
        (format!("time releases {name}"), "write release = \"sporadic\" in its [[task]]")
    } else if system.platform.root.get().is_some() {
        ("a root scheduler of your own is told of no violations".to_owned(), "remove \"root\", or write \"note\"")
    } else {
        return true;
    };
    out.refuse(at.place, subject, why, remedy);
    false
}

/// What is done where the property is violated, if the system has whom it concerns.
fn action(draft: &DraftMonitor, system: &Draft, out: &mut Collector) -> Option<Action> {
    let (at, subject) = match &draft.action {
        Given::Absent => return Some(Action::Note),
        Given::Broken => return None,
        Given::Is(at) => (at, draft.subject.as_str()),
    };
    let Some(action) = Action::parse(&at.value) else {
        let (what, found) = ("on-violation".into(), format!("{:?}", at.value.chars().take(40).collect::<String>()));
        let expected = crate::form::ACTIONS.into();
        out.add(at.place, subject, Complaint::Malformed { what, found, expected });
        return None;
    };
    if let Action::Run(name) = &action {
        return handler(name, at, system, subject, out).then_some(action);
    }
    let (Action::Stop(name) | Action::Restart(name)) = &action else { return Some(action) };
    let component = system.components.iter().find(|it| it.name.get().is_some_and(|at| at.value == *name));
    let is_own = |task: &&crate::draft::DraftTask| {
        task.name.get().is_some_and(|at| at.value == *name) && task.component.is_absent()
    };
    let workload = system.tasks.iter().find(is_own);
    let restarted = component.is_some_and(|it| !it.rights.restarted_by.is_absent());
    let (why, remedy) = match &action {
        _ if component.is_none() && workload.is_none() => {
            let runs = system.tasks.iter().filter(|task| task.component.is_absent()).filter_map(|it| it.name.get());
            let known = system.components.iter().filter_map(|it| it.name.get()).chain(runs);
            let known: Vec<&str> = known.map(|at| at.value.as_str()).collect();
            let complaint = Complaint::UnknownName {
                what: "component",
                name: name.chars().take(40).collect(),
                nearest: nearest(name, known.iter().copied()),
                remedy: format!("the file has {}", known.join(", ")),
            };
            out.add(at.place, subject, complaint);
            return None;
        }
        _ if system.platform.root.get().is_some_and(|root| root.value == *name) => (
            "it is the root scheduler, without which nothing runs".to_owned(),
            "write on-violation = \"end\"".to_owned(),
        ),
        Action::Stop(_) if restarted => {
            (format!("{name} is restarted when it is stopped"), format!("write on-violation = \"restart {name}\""))
        }
        Action::Restart(_) if !restarted => {
            let tasks = system.tasks.iter().any(|task| runs_component(task, name));
            let whose =
                if tasks || component.is_some() { "in its [[component]]" } else { "in a [[component]] of its own" };
            (
                format!("nobody may restart {name}"),
                format!("write restarted-by = \"root\" {whose}, or \"stop {name}\" here"),
            )
        }
        _ => return Some(action),
    };
    out.refuse(at.place, subject, why, remedy);
    None
}
