//! The rules for servers that reclaim bandwidth. Their theorem (Lipari and Baruah, ECRTS 2000) is about servers by their
//! deadlines on one processor that gives all its time: what else would take time there without counting, and
//! queues by which another core changes what is active, are refused.

use crate::problem::{Collector, Location};
use crate::{Server, ServerKind, System, TaskOrder};
use tactus_time::CoreSet;

/// Finds all that is in the way.
pub(super) fn check(system: &System, out: &mut Collector) {
    let scheduling = &system.scheduling;
    let refuse = |out: &mut Collector, server: &Server, why: String, remedy: &str| {
        let subject = format!("server {:?}", server.name);
        let remedy = format!("{remedy}, or choose kind = \"cbs-soft\"");
        out.refuse(Location { line: server.line, column: 1 }, &subject, why, remedy);
    };
    let Some((migration, order)) = super::server::of_policy(&system.policy) else { return };
    for server in scheduling.servers.iter().filter(|server| server.kind == ServerKind::Reclaiming) {
        if server.parent.is_some() {
            let why = "it is of kind grub and lies in another server, whose time comes in pieces".to_string();
            refuse(out, server, why, "remove \"parent\"");
            continue;
        }
        if order != TaskOrder::EarliestDeadline {
            let why = "it is of kind grub, and the policy does not order by deadlines".to_string();
            refuse(out, server, why, "choose policy kind = \"partitioned-edf\"");
        }
        let meets = |cores: CoreSet| cores.bits() & server.cores.bits() != 0;
        let all = CoreSet::first(system.cores);
        let own = scheduling.servers.iter().flat_map(|it| scheduling.queues(Some(it), it.spread, it.cores));
        let mut queues = own.chain(scheduling.queues(None, migration, all));
        if let Some(queue) = queues.find(|queue| meets(*queue) && queue.iter().nth(1).is_some()) {
            let cores: Vec<String> = queue.iter().map(|core| core.0.to_string()).collect();
            let why = format!("it is of kind grub, but cores {} share a queue", cores.join(" and "));
            refuse(out, server, why, "choose partitioned orders there");
        }
        let is_bandwidth = |kind: ServerKind| kind.is_soft() || kind == ServerKind::HardBandwidth;
        let beside =
            scheduling.servers.iter().find(|it| it.parent.is_none() && meets(it.cores) && !is_bandwidth(it.kind));
        if let Some(beside) = beside {
            let why = format!("it is of kind grub, but server {:?} on its core is {}", beside.name, beside.kind.key());
            refuse(out, server, why, "make that one grub, cbs-hard or cbs-soft");
        }
        for (n, task) in system.tasks.iter().enumerate() {
            let placement = scheduling.places.get(n).copied().unwrap_or_default();
            if placement.server.is_none() && task.core.is_some_and(|core| server.cores.contains(core)) {
                let why = format!("it is of kind grub, but task {:?} on its core is in no server", task.name);
                refuse(out, server, why, "put that task into a server of kind grub, cbs-hard or cbs-soft");
            }
        }
    }
}
