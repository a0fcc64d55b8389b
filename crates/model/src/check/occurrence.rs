//! The rules for what a monitor may name as an event: the system must have it.

use crate::draft::{At, Draft, Given};
use crate::problem::{nearest, Collector, Complaint};
use crate::Schedulers;
use tactus_monitor::{Integrity, Occurrence, OccurrenceKind, SubjectKind};

/// What an event is, if the system has it.
pub(super) fn occurrence(what: &At<String>, system: &Draft, subject: &str, out: &mut Collector) -> Option<Occurrence> {
    let occurrence = match Occurrence::parse(&what.value) {
        Ok(occurrence) => occurrence,
        Err(error) => {
            out.add(what.place, subject, Complaint::Syntax { reason: error.to_string() });
            return None;
        }
    };
    let per_server = system.schedulers.value() == Some(Schedulers::PerServer);
    if occurrence.kind.integrity() == Integrity::Scheduler && per_server {
        let word = occurrence.kind.word();
        let why = format!("\"{word}\" is known to the scheduler of a server alone, and those tell the kernel nothing");
        out.refuse(what.place, subject, why, "choose schedulers = \"single\", or watch what the kernel sees");
        return None;
    }
    if occurrence.kind == OccurrenceKind::Miss && !system.changes.is_empty() {
        let why = "deadlines change with [[change]], and \"miss\" knows those of the file's tasks only";
        out.refuse(what.place, subject, why, "write always (release -> eventually[<= deadline] complete) instead");
        return None;
    }
    if let Some((why, remedy)) = super::impossible::reason(&occurrence, system) {
        out.refuse(what.place, subject, why, remedy);
        return None;
    }
    let Some(name) = &occurrence.of else { return Some(occurrence) };
    let names = |given: &Given<String>| given.get().map(|at| at.value.clone());
    let tasks = system.tasks.iter().filter_map(|task| names(&task.name));
    let servers = system.servers.iter().filter_map(|server| names(&server.name));
    let (kind, known): (&'static str, Vec<String>) = match occurrence.kind.subject() {
        SubjectKind::TaskOrServer => ("task or server", tasks.chain(servers).collect()),
        SubjectKind::Channel => {
            ("buffer", system.platform.buffers.iter().filter_map(|buffer| names(&buffer.name)).collect())
        }
        SubjectKind::Component => return of_component(what, system, subject, occurrence, out),
        SubjectKind::Restarted => {
            let root =
                |it: &&crate::draft::DraftComponent| it.rights.restarted_by.get().is_some_and(|at| at.value == "root");
            let restarted = system.components.iter().filter(root);
            ("component that the root scheduler restarts", restarted.filter_map(|it| names(&it.name)).collect())
        }
        SubjectKind::Task | SubjectKind::Nobody => ("task", tasks.collect()),
    };
    if !known.contains(name) {
        unknown(kind, name, &known, what, subject, out);
        return None;
    }
    let buffer = system.platform.buffers.iter().find(|it| names(&it.name).as_ref() == Some(name));
    if let Some(buffer) = buffer.filter(|_| occurrence.kind.subject() == SubjectKind::Channel) {
        if buffer.between.len() != 2 {
            let why = format!("nothing is sent through {name}, which is not between two components");
            out.refuse(what.place, subject, why, "write between = [sender, receiver] in its [[buffer]]");
            return None;
        }
    }
    Some(occurrence)
}

/// An event of a component: one of its own, or a call by one of its grants.
fn of_component(
    what: &At<String>,
    system: &Draft,
    subject: &str,
    occurrence: Occurrence,
    out: &mut Collector,
) -> Option<Occurrence> {
    let word = occurrence.kind.word();
    let text = occurrence.of.as_deref().unwrap_or_default();
    let Some((component, name)) = text.rsplit_once('.').filter(|(_, name)| !name.is_empty()) else {
        let why = format!("{text:?} does not say whose it is");
        out.refuse(what.place, subject, why, format!("write the component before it, like \"{word} camera.{text}\""));
        return None;
    };
    let is = |it: &&crate::draft::DraftComponent| it.name.get().is_some_and(|at| at.value == component);
    let Some(it) = system.components.iter().find(is) else {
        let known: Vec<String> =
            system.components.iter().filter_map(|it| it.name.get().map(|at| at.value.clone())).collect();
        unknown("component", component, &known, what, subject, out);
        return None;
    };
    if system.platform.root.get().is_some_and(|root| root.value == component) {
        let why = format!("{component} is the root scheduler, whose events have words of their own");
        out.refuse(what.place, subject, why, "name another event, like release or complete");
        return None;
    }
    if occurrence.kind == OccurrenceKind::Signal {
        return Some(occurrence);
    }
    let Some(grant) = it.uses.iter().find(|grant| grant.value.name == name) else {
        let known: Vec<String> = it.uses.iter().map(|grant| grant.value.name.clone()).collect();
        if known.is_empty() {
            let why = format!("{component} uses no service, and so calls none");
            out.refuse(what.place, subject, why, "leave the event out, or give the component a grant in uses");
        } else {
            unknown("grant", name, &known, what, subject, out);
        }
        return None;
    };
    if system.platform.root.get().is_some_and(|root| root.value == grant.value.provider) {
        let why = format!("{text} calls the root scheduler, from which a thread need not return");
        out.refuse(what.place, subject, why, "watch a service of another component");
        return None;
    }
    let is = |it: &&crate::draft::DraftComponent| it.name.get().is_some_and(|at| at.value == grant.value.provider);
    if system.components.iter().find(is).is_some_and(|it| it.rights.scheduler.value() == Some(true)) {
        let why = format!("{text} calls a scheduler, which may give the core to others before it returns");
        out.refuse(what.place, subject, why, "watch a service of a component that is no scheduler");
        return None;
    }
    Some(occurrence)
}

fn unknown(what: &'static str, name: &str, known: &[String], at: &At<String>, subject: &str, out: &mut Collector) {
    let remedy = match known {
        [] => format!("the file has no {what}"),
        _ => format!("the file has {}", known.join(", ")),
    };
    let nearest = nearest(name, known.iter().map(String::as_str));
    let name = name.chars().take(40).collect();
    out.add(at.place, subject, Complaint::UnknownName { what, name, nearest, remedy });
}
