//! The rules for systems in which each server has a scheduler of its own: what such schedulers, which share no memory,
//! cannot decide is refused.

use crate::problem::{Collector, Location};
use crate::{Server, System};
use tactus_monitor::{Action, Built, Rule};

/// The most servers inside one another: the root's scheduler is the fourth.
const DEEPEST: usize = 3;
const REMEDY: &str = "or choose schedulers = \"single\"";

/// Finds all that is in the way. `place` is that of the key.
pub(super) fn check(system: &System, place: Location, out: &mut Collector) {
    let refuse = |out: &mut Collector, line: usize, subject: &str, why: &str, remedy: &str| {
        let why = format!("{why}, and schedulers are \"per-server\"");
        out.refuse(Location { line, column: 1 }, subject, why, format!("{remedy}, {REMEDY}"));
    };
    let servers = &system.scheduling.servers;
    let places = &system.scheduling.places;
    if !places.iter().any(|place| place.server.is_some()) {
        let why = "schedulers are \"per-server\", but no server has anything inside";
        out.refuse(place, "[policy]", why, "put tasks into servers, or remove the key");
        return;
    }
    for server in servers {
        let subject = format!("server {:?}", server.name);
        if server.cores.iter().nth(1).is_some() {
            let remedy = "make it a server for each core, with a line like cores = [0]";
            refuse(out, server.line, &subject, "it is on several cores", remedy);
        }
        if server.parent.is_some() && server.kind.loses_unused() {
            let why =
                "it lies in another server and loses budget while it has no work, which that one's scheduler cannot \
                       see without the core";
            refuse(out, server.line, &subject, why, "make it deferrable or sporadic");
        }
        if depth(servers, server) > DEEPEST {
            refuse(out, server.line, &subject, "it is more than three servers deep", "make the tree flatter");
        }
    }
    for monitor in &system.monitors {
        let subject = format!("monitor {:?}", monitor.name);
        let awaits = |built| matches!(built, Built::Timed(it) if matches!(it.rule, Rule::Response(_) | Rule::GreatestDistance(_)));
        if monitor.action != Action::Note {
            let why = "violations are noted where the root is only one of several schedulers";
            refuse(out, monitor.line, &subject, why, "write on-violation = \"note\"");
        } else if monitor.build().is_ok_and(awaits) {
            let why = "something must come in time, and when that time is over no scheduler looks";
            refuse(out, monitor.line, &subject, why, "say the same of events that happen, with once or distance >=");
        }
    }
    if let Some(change) = system.scheduling.changes.first() {
        let why = "the system changes while it runs, which several schedulers would have to agree upon";
        refuse(out, change.line, "change", why, "remove the changes");
    }
    for component in &system.components {
        let rights = &component.rights;
        let subject = format!("component {:?}", component.name);
        if rights.scheduler.is_some() || system.platform.root.is_some() {
            let why = "there are schedulers of the file's own";
            refuse(out, component.line, &subject, why, "remove them");
        }
    }
}

/// How many servers the server is inside of, itself included.
fn depth(servers: &[Server], server: &Server) -> usize {
    std::iter::successors(Some(server), |it| it.parent.map(|parent| &servers[parent])).count()
}
