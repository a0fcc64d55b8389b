//! Why there is no test, in words that name who it is for and what is missing.

use crate::reservation::tree::Untested;
use tactus_model::{Server, ServerKind, TaskOrder};

/// A server that takes away a promise, beneath a scheduler of this order.
pub(super) fn no_test(server: &Server, above: TaskOrder, why: Untested) -> String {
    let name = &server.name;
    let edf = above == TaskOrder::EarliestDeadline;
    let soft = server.kind.is_soft();
    match why {
        _ if server.kind == ServerKind::Misses => format!(
            "no test: server `{name}` has a budget of misses, which bounds no time: give it a core of its own, or a priority below all others there"
        ),
        Untested::Itself | Untested::Peer(_) if server.kind == ServerKind::Reclaiming && edf => format!(
            "no test: server `{name}` is grub beside what is no bandwidth server, or inside another one (Lipari and Baruah 2000)"
        ),
        Untested::Inside if soft => {
            format!("no test: server `{name}` is {}, for which no supply to servers inside is known", server.kind.key())
        }
        _ if soft => format!(
            "no test: server `{name}` is {} beneath fixed priorities, where it never waits and its budget bounds nothing",
            server.kind.key()
        ),
        _ if server.kind == ServerKind::PriorityInheriting && edf => format!(
            "no test: server `{name}` is pibs beneath EDF; its bound (Danish, Li and West 2011) is for fixed priorities"
        ),
        Untested::Peer(_) | Untested::Itself | Untested::Inside => {
            format!("no test: nothing is known of server `{name}`")
        }
    }
}

/// A task that a budget of misses may keep from its deadline.
pub(super) fn may_stall(server: &Server) -> String {
    let (budget, keys) = match server.write_backs {
        None => ("its budget of misses", "\"misses\""),
        Some(_) => ("a budget of misses or write-backs", "\"misses\" and \"write-backs\""),
    };
    format!(
        "no promise: its deadline does not hold where jobs in server `{}` use up {budget} as fast as memory serves them; give all tasks in it fewer {keys}",
        server.name
    )
}

/// A task of best-effort work that gives way to a counter.
pub(super) fn gives_way(server: &Server) -> String {
    format!("no promise: best-effort work in server `{}` gives way to all others, and to a counter", server.name)
}

/// A task in a server that has another server inside, where no tree of servers is tested.
pub(super) fn beside_inner(server: &Server, inner: &Server) -> String {
    let (name, inner) = (&server.name, &inner.name);
    format!("no test: what server `{inner}` takes of server `{name}` around it is in no test of tasks in `{name}`; give them a server of their own")
}
