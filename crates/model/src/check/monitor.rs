//! The rules for monitors: what they name must be there, and a table must come of them.

use crate::draft::{At, Draft, DraftMonitor, Given};
use crate::problem::{nearest, Collector, Complaint};
use crate::MAX_MONITORS;
use tactus_monitor::{
    Automaton, Encoding, Formula, Monitor, Occurrence, OccurrenceKind, Property, SubjectKind, Transition,
    DEFAULT_TABLE_LIMIT,
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
    let (name, text) = (draft.name.get()?, draft.property.get()?);
    super::names::check_name(&name.value, name.place, subject, "name", out);
    let property = match Property::parse(&text.value) {
        Ok(property) => Some(property),
        Err(error) => {
            out.add(text.place, subject, Complaint::Syntax { reason: error.to_string() });
            None
        }
    };
    let mut events = Vec::new();
    let mut sound = true;
    for (name, what) in &draft.events {
        match occurrence(what, system, subject, out) {
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
    let automata = draft.automata.iter().map(|automaton| {
        let transition =
            |[from, event, to]: &[String; 3]| Transition { from: from.clone(), event: event.clone(), to: to.clone() };
        Some(Automaton {
            name: automaton.name.get()?.value.clone(),
            states: automaton.states.iter().map(|state| state.value.clone()).collect(),
            transitions: automaton.transitions.iter().map(transition).collect(),
        })
    });
    let monitor = Monitor {
        name: name.value.clone(),
        property: property?,
        events,
        automata: automata.collect::<Option<_>>()?,
        encoding,
        minimise: draft.minimise.value().unwrap_or(true),
        reset: draft.reset.value().unwrap_or(false),
        table_limit: draft.table_limit.value().unwrap_or(DEFAULT_TABLE_LIMIT),
        line: draft.place.line,
    };
    if !sound {
        return None;
    }
    match monitor.build() {
        Ok(_) => Some(monitor),
        Err(error) => {
            out.add(text.place, subject, Complaint::Syntax { reason: error.to_string() });
            None
        }
    }
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

/// What an event is, if the system has it.
fn occurrence(what: &At<String>, system: &Draft, subject: &str, out: &mut Collector) -> Option<Occurrence> {
    let occurrence = match Occurrence::parse(&what.value) {
        Ok(occurrence) => occurrence,
        Err(error) => {
            out.add(what.place, subject, Complaint::Syntax { reason: error.to_string() });
            return None;
        }
    };
    if occurrence.kind == OccurrenceKind::Miss && !system.changes.is_empty() {
        let why = "deadlines change with [[change]], and \"miss\" knows those of the file's tasks only";
        out.refuse(what.place, subject, why, "write always (release -> eventually[<= deadline] complete) instead");
        return None;
    }
    if occurrence.kind == OccurrenceKind::Reconfigure && system.changes.is_empty() {
        let why = "\"reconfigure\" cannot occur: the system has no [[change]]";
        out.refuse(what.place, subject, why, "leave the event out, or add a change");
        return None;
    }
    let Some(name) = &occurrence.of else { return Some(occurrence) };
    let names = |given: &Given<String>| given.get().map(|at| at.value.clone());
    let tasks = system.tasks.iter().filter_map(|task| names(&task.name));
    let servers = system.servers.iter().filter_map(|server| names(&server.name));
    let (what_kind, known): (&'static str, Vec<String>) = match occurrence.kind.subject() {
        SubjectKind::TaskOrServer => ("task or server", tasks.chain(servers).collect()),
        _ => ("task", tasks.collect()),
    };
    if known.contains(name) {
        return Some(occurrence);
    }
    let complaint = Complaint::UnknownName {
        what: what_kind,
        name: name.chars().take(40).collect(),
        nearest: nearest(name, known.iter().map(String::as_str)),
        remedy: format!("the file has {}", known.join(", ")),
    };
    out.add(what.place, subject, complaint);
    None
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
