//! The rules for systems whose servers have schedulers of their own: what makes the same schedule there, and what the
//! schedulers know how to do.

use crate::problem::{Collector, Place};
use crate::{Change, Server, System};
use tactus_time::CoreId;

/// The most servers inside one another: the root's scheduler is the fourth.
const DEEPEST: usize = 3;
/// The most changes of a core, or of cores that share queues, that schedulers tell each other of.
const MOST_CHANGES: usize = 30;
const REMEDY: &str = "or choose schedulers = \"together\"";

/// Finds all that is in the way. `place` is that of the key.
pub(super) fn check(system: &System, place: Place, out: &mut Collector) {
    let refuse = |out: &mut Collector, line: usize, subject: &str, why: &str, remedy: &str| {
        let why = format!("{why}, and schedulers are \"apart\"");
        out.refuse(Place { line, column: 1 }, subject, why, format!("{remedy}, {REMEDY}"));
    };
    let servers = &system.scheduling.servers;
    let places = &system.scheduling.places;
    if !places.iter().any(|place| place.server.is_some()) {
        let why = "schedulers are \"apart\", but no server has anything inside";
        out.refuse(place, "[policy]", why, "put tasks into servers, or remove the key");
        return;
    }
    for server in servers {
        let subject = format!("server {:?}", server.name);
        if depth(servers, server) > DEEPEST {
            refuse(out, server.line, &subject, "it is more than three servers deep", "make the tree flatter");
        }
    }
    for cores in system.scheduling.sharing(system.cores) {
        let concerned = |change: &&Change| system.cores_of(change.part).bits() & cores.bits() != 0;
        let mut here = system.scheduling.changes.iter().filter(concerned);
        if let Some(change) = here.nth(MOST_CHANGES) {
            let core = cores.iter().next().unwrap_or(CoreId(0));
            let why =
                format!("it is one of more than {MOST_CHANGES} of core {core} and those that share queues with it");
            refuse(out, change.line, "change", &why, "leave out some");
        }
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
