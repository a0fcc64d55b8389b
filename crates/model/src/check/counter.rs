//! What the kinds of servers have in common that go by a counter of their core: misses and yielding.

use crate::draft::DraftServer;
use crate::problem::{Collector, Complaint, Location};
use crate::{Schedulers, Server, System};

/// Complains of keys that the kind needs and that are absent: of each, whether it is, its name, and an example.
pub(super) fn demand_keys<const N: usize>(
    server: &DraftServer,
    keys: [(bool, &'static str, &str); N],
    out: &mut Collector,
) {
    for (_, key, example) in keys.into_iter().filter(|(absent, ..)| *absent) {
        out.add(server.place, &server.subject, Complaint::MissingKey { key, example: example.into() });
    }
}

/// The words of a kind.
pub(super) struct Words {
    /// Its name.
    pub kind: &'static str,
    /// What is one of the core.
    pub of_core: &'static str,
    /// Why it does not go on in the background, and the remedy.
    pub background: (&'static str, &'static str),
}

impl Words {
    /// Refuses such a server.
    pub fn refuse(&self, server: &Server, why: &str, remedy: &str, out: &mut Collector) {
        let place = Location { line: server.line, column: 1 };
        out.refuse(place, &format!("server {:?}", server.name), format!("it is of kind {}, {why}", self.kind), remedy);
    }

    /// It lies in the root, has tasks inside, goes by its counter all the time, and the built-in root scheduler reads that.
    pub fn check(&self, system: &System, n: usize, out: &mut Collector) {
        let servers = &system.scheduling.servers;
        let server = &servers[n];
        let mut refuse = |why: &str, remedy: &str| self.refuse(server, why, remedy, out);
        if server.parent.is_some() {
            refuse("and lies in another server", &format!("remove \"parent\": {} is one of the core", self.of_core));
        }
        if servers.iter().any(|inner| inner.parent == Some(n)) {
            refuse("and there are servers inside", "put tasks into it");
        }
        if server.background {
            refuse(self.background.0, self.background.1);
        }
        if !system.scheduling.changes.is_empty() {
            refuse("and the system changes while it runs", "remove the changes");
        }
        if system.scheduling.schedulers == Schedulers::PerServer {
            refuse("and schedulers are \"per-server\", which see no counter", "choose schedulers = \"single\"");
        }
        if system.platform.root.is_some() {
            refuse("and the root scheduler is one of the file's own", "remove \"root\"");
        }
    }
}
