//! The rules for mailboxes: two tasks of two sandboxes, and what is a queuing channel to each.

use super::channel::{has_room, numbers, port, size, Owner};
use super::names::unique;
use crate::draft::{At, DraftMailbox, DraftMailboxEnd};
use crate::mailbox::pages;
use crate::problem::{nearest, Collector, Complaint};
use crate::{Mailbox, MailboxEnd, MailboxPort, Sandbox, System, MAX_CHANNELS, MAX_MAILBOXES, MAX_MAILBOX_PAGES};

/// Checks the mailboxes, and gives each of the systems its ends of them.
pub(super) fn check(drafts: &[DraftMailbox], parts: &mut [Sandbox], out: &mut Collector) -> Vec<Mailbox> {
    unique(drafts.iter().map(|it| (&it.name, it.subject.as_str())), "mailbox", out);
    if let Some(more) = drafts.get(MAX_MAILBOXES) {
        let limit = format!("more than {MAX_MAILBOXES}");
        out.out_of_range(more.place, "", "the number of mailboxes", drafts.len(), limit, "leave some out");
        return Vec::new();
    }
    // The names of ports, by sandbox: those of channels are there already.
    let mut ports: Vec<Vec<(Owner, String)>> = parts.iter().map(|part| of_channels(&part.system)).collect();
    let (mut made, mut page) = (Vec::new(), 0);
    for drafted in drafts {
        let Some((mailbox, names)) = one(drafted, parts, &mut ports, out) else { continue };
        let needed = pages(mailbox.size, mailbox.depth) + 1;
        if page + needed > MAX_MAILBOX_PAGES {
            let limit = format!("more than {MAX_MAILBOX_PAGES}");
            let remedy = "lower depths or sizes";
            out.out_of_range(
                drafted.place,
                &drafted.subject,
                "the pages of all mailboxes",
                page + needed,
                limit,
                remedy,
            );
            return made;
        }
        let ends = [(mailbox.source, true), (mailbox.destination, false)];
        for ((end, sends), name) in ends.into_iter().zip(names) {
            let Mailbox { size, depth, messages, .. } = mailbox;
            let (number, task) = (made.len(), end.task);
            let own = MailboxPort { name, task, sends, number, size, depth, messages, first_page: page };
            parts[end.sandbox].system.mailboxes.push(own);
        }
        page += needed;
        made.push(mailbox);
    }
    made
}

/// Whose ports have which names.
fn of_channels(system: &System) -> Vec<(Owner, String)> {
    let ports = system.channels.iter().flat_map(|it| [&it.source].into_iter().chain(&it.destinations));
    ports.map(|port| (Owner::of(system, port.task), port.name.clone())).collect()
}

/// One mailbox, and the names of its ports.
fn one(
    drafted: &DraftMailbox,
    parts: &[Sandbox],
    ports: &mut [Vec<(Owner, String)>],
    out: &mut Collector,
) -> Option<(Mailbox, [String; 2])> {
    let subject = drafted.subject.as_str();
    if let Some(at) = drafted.arrival.get().filter(|at| at.value != "polled") {
        let why = match at.value.as_str() {
            "interrupt" => "an interrupt would enter the destination's kernel whenever the source likes".to_owned(),
            other => format!("there is no arrival {:?}", other.chars().take(40).collect::<String>()),
        };
        out.refuse(at.place, subject, why, "take it out: each job of the destination looks, and the bound counts that");
        return None;
    }
    let (name, size) = (drafted.name.get()?, size(&drafted.size, subject, out)?);
    let depth = drafted.depth.get()?;
    let place = depth.place;
    let (depth, messages) = numbers(depth, &drafted.messages, subject, out)?;
    if !has_room((size, depth.into()), (place, subject), out) {
        return None;
    }
    let ends = [drafted.source.get()?, drafted.destination.get()?];
    let [from, to] = ends.map(|end| sandbox(end, parts, subject, out));
    let sandboxes = [from?, to?];
    if sandboxes[0] == sandboxes[1] {
        let why = format!("both ends are in sandbox {:?}", ends[0].value.sandbox);
        let remedy = "make it a channel of that sandbox: [[sandbox.channel]] with kind = \"queuing\"";
        out.refuse(ends[1].place, subject, why, remedy);
        return None;
    }
    let mut made = Vec::new();
    for (end, n) in ends.into_iter().zip(sandboxes) {
        let system = &parts[n].system;
        if let Some(change) = system.scheduling.changes.first() {
            let why = format!("sandbox {:?} has changes, and a task that is removed answers nobody", system.name);
            out.refuse(end.place, subject, why, format!("remove the change at line {}, or the mailbox", change.line));
            return None;
        }
        let others = system.channels.len() + system.mailboxes.len();
        let services: usize = system.services.iter().map(|service| 2 * service.clients.len()).sum();
        if others + services >= MAX_CHANNELS {
            let limit = format!("more than {MAX_CHANNELS}");
            let what = format!("the number of channels and mailboxes of sandbox {:?}", system.name);
            out.out_of_range(end.place, subject, what, others + services + 1, limit, "leave some out");
            return None;
        }
        let at = At { value: end.value.port.clone(), place: end.place };
        made.push(port(&at, (subject, &name.value, None), system, &mut ports[n], out)?);
    }
    if let Some(at) = drafted.latency.get().filter(|at| at.value.is_zero()) {
        out.out_of_range(at.place, subject, "latency", at.value, "no time at all", "raise it");
        return None;
    }
    let [source, destination] = [0, 1].map(|n| MailboxEnd { sandbox: sandboxes[n], task: made[n].task });
    let names = [0, 1].map(|n| made[n].name.clone());
    let latency = drafted.latency.value();
    let (name, line) = (name.value.clone(), drafted.place.line);
    Some((Mailbox { name, source, destination, size, depth, messages, latency, line }, names))
}

/// The sandbox of an end.
fn sandbox(at: &At<DraftMailboxEnd>, parts: &[Sandbox], subject: &str, out: &mut Collector) -> Option<usize> {
    let name = at.value.sandbox.as_str();
    let found = parts.iter().position(|part| part.system.name == name);
    if found.is_none() {
        let complaint = Complaint::UnknownName {
            what: "sandbox",
            nearest: nearest(name, parts.iter().map(|part| part.system.name.as_str())),
            name: name.chars().take(40).collect(),
            remedy: "name a sandbox of this file".into(),
        };
        out.add(at.place, subject, complaint);
    }
    found
}
