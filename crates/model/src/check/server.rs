//! The rules for servers, clusters and the places of tasks among them.

use super::change;
use crate::draft::{At, Draft, DraftServer, DraftTask, Given};
use crate::problem::{nearest, Collector, Complaint, Location};
use crate::{
    Migration, Mixed, Overrun, Policy, Release, Scheduling, Server, ServerKind, TaskOrder, TaskPlacement,
    DEFAULT_QUANTUM, DEFAULT_SHIFT, MAX_DEPTH, MAX_PRIORITY, MAX_SERVERS, SHORTEST_QUANTUM,
};
use tactus_time::{CoreId, CoreSet, Duration, Level};

/// Where a task can be, as the rules for tasks see it: the root or a server.
#[derive(Clone, Debug)]
pub(super) struct Home {
    pub order: TaskOrder,
    pub spread: Migration,
    pub cores: CoreSet,
    pub clusters: Vec<CoreSet>,
    /// For messages: `policy "global-edf"`, `server "video"`.
    pub name: String,
}

/// The root and all servers, as far as they can be made.
pub(super) struct Homes {
    pub root: Option<Home>,
    pub names: Vec<String>,
    pub servers: Vec<Option<Home>>,
    /// Where there are partitions, which are then the servers: whose each component is.
    pub partitions: Option<super::partition::Owners>,
    pub made: Scheduling,
    /// The least time from one line of memory to the next, and the exponent of an instruction's time.
    pub line: (Option<Duration>, u8),
}

/// What the kind of the policy tells of order and spread; nothing for MC².
pub(crate) fn of_policy(policy: &Policy) -> Option<(Migration, TaskOrder)> {
    match policy {
        Policy::Mixed(Mixed::Amc) => Some((Migration::Partitioned, TaskOrder::FixedPriority)),
        Policy::Mixed(Mixed::EdfVd) => Some((Migration::Partitioned, TaskOrder::EarliestDeadline)),
        other => other.root(),
    }
}

/// Checks servers and clusters.
pub(super) fn check(draft: &Draft, cores: Option<usize>, out: &mut Collector) -> Homes {
    let all = cores.map(CoreSet::first);
    let policy = draft.policy.value();
    let made = Scheduling::default();
    let line = (draft.platform.line.value(), draft.shift.value().unwrap_or(DEFAULT_SHIFT));
    let mut homes = Homes { root: None, names: Vec::new(), servers: Vec::new(), partitions: None, made, line };
    let (Some(policy), Some(all)) = (policy, all) else { return homes };
    if policy == Policy::Partitions {
        return super::partition::homes(draft, all, out);
    }
    if let Some(partition) = draft.partitions.first() {
        let why = format!("it has windows of its own, but policy {:?} knows none", crate::policy_key(&policy));
        out.refuse(partition.place, &partition.subject, why, "remove it, or choose kind = \"partitions\"");
    }
    let Some((spread, order)) = of_policy(&policy) else {
        if let Some(server) = draft.servers.first() {
            let why = "servers have no place beside MC², whose tasks have budgets of their own";
            out.refuse(server.place, &server.subject, why, "remove it, or choose another kind");
        }
        return homes;
    };
    if let (Policy::Mixed(_), Some(server)) = (policy, draft.servers.first()) {
        let why = format!("servers have no place beside policy {:?}", crate::policy_key(&policy));
        out.refuse(server.place, &server.subject, why, "remove it, or choose another kind");
        return homes;
    }
    let clusters = clusters(&draft.clusters, spread, all, (draft.place, "[policy]"), out);
    homes.made.quantum = quantum(&draft.quantum, order, "[policy]", out);
    homes.made.clusters = clusters.clone().unwrap_or_default();
    let name = format!("policy {:?}", crate::policy_key(&policy));
    homes.root = clusters.map(|clusters| Home { order, spread, cores: all, clusters, name });
    if draft.servers.len() > MAX_SERVERS {
        let limit = format!("more than {MAX_SERVERS}");
        let place = draft.servers[MAX_SERVERS].place;
        out.out_of_range(place, "", "the number of servers", draft.servers.len(), limit, "leave some out");
        return homes;
    }
    let mut whole = true;
    for (n, server) in draft.servers.iter().enumerate() {
        homes.names.push(server.name.get().map(|at| at.value.clone()).unwrap_or_default());
        let made = one(n, server, &homes, out);
        homes.servers.push(made.as_ref().map(|made| Home {
            order: made.order,
            spread: made.spread,
            cores: made.cores,
            clusters: made.clusters.clone(),
            name: format!("server {:?}", made.name),
        }));
        whole &= made.is_some();
        if whole {
            homes.made.servers.extend(made);
        }
    }
    if whole {
        contents(draft, &homes, out);
        loads(draft, &homes.made, all, out);
    }
    homes
}

/// Clusters part the cores, where the spread is clustered; elsewhere there are none.
fn clusters(
    given: &Given<Vec<At<Vec<At<u64>>>>>,
    spread: Migration,
    all: CoreSet,
    (place, subject): (Location, &str),
    out: &mut Collector,
) -> Option<Vec<CoreSet>> {
    let given = match (given, spread) {
        (Given::Broken, _) => return None,
        (Given::Absent, Migration::Clustered) => {
            let complaint = Complaint::MissingKey { key: "clusters", example: "clusters = [[0, 1], [2, 3]]".into() };
            out.add(place, subject, complaint);
            return None;
        }
        (Given::Absent, _) => return Some(Vec::new()),
        (Given::Is(at), Migration::Clustered) => at,
        (Given::Is(at), _) => {
            out.refuse(at.place, subject, "clusters are given, but the policy is not clustered", "remove them");
            return None;
        }
    };
    let mut sets = Vec::new();
    let mut left = all;
    for cluster in &given.value {
        let mut set = CoreSet::EMPTY;
        for core in &cluster.value {
            let id = u8::try_from(core.value).ok().map(CoreId).filter(|id| id.index() < 8 && left.contains(*id));
            let Some(id) = id else {
                let limit = "not a core that is there and in no other cluster";
                out.out_of_range(core.place, subject, "a core of clusters", core.value, limit, "choose another one");
                return None;
            };
            left.remove(id);
            set.insert(id);
        }
        if set.is_empty() {
            out.refuse(cluster.place, subject, "a cluster has no cores", "remove it");
            return None;
        }
        sets.push(set);
    }
    if let Some(core) = left.iter().next() {
        out.refuse(given.place, subject, format!("core {core} is in no cluster"), "put each core into one of them");
        return None;
    }
    Some(sets)
}

/// The quantum: given or not where the order has one, not given elsewhere.
pub(super) fn quantum(given: &Given<Duration>, order: TaskOrder, subject: &str, out: &mut Collector) -> Duration {
    match given {
        Given::Is(at) if !order.has_quantum() => {
            out.refuse(at.place, subject, "a quantum is given, but only rr, fp-rr and llf have one", "remove it");
        }
        Given::Is(at) if at.value < SHORTEST_QUANTUM => {
            let limit = format!("less than the shortest, {SHORTEST_QUANTUM}");
            out.out_of_range(at.place, subject, "quantum", at.value, limit, "lengthen it");
        }
        Given::Is(at) => return at.value,
        Given::Absent | Given::Broken => {}
    }
    if order.has_quantum() {
        DEFAULT_QUANTUM
    } else {
        Duration::ZERO
    }
}

/// A priority is given where there is an order by priority, and nowhere else.
fn priority(
    given: &Given<u64>,
    wanted: Option<&Home>,
    (place, subject): (Location, &str),
    out: &mut Collector,
) -> Option<u32> {
    let home = wanted?;
    match (given, home.order) {
        (Given::Broken, _) => None,
        (Given::Absent, order) if order.has_priorities() => {
            out.add(place, subject, Complaint::MissingKey { key: "priority", example: "priority = 10".into() });
            None
        }
        (Given::Absent, _) => Some(0),
        (Given::Is(at), order) if order.has_priorities() => match u32::try_from(at.value) {
            Ok(priority) if priority <= MAX_PRIORITY => Some(priority),
            _ => {
                let limit = format!("more than {MAX_PRIORITY}");
                out.out_of_range(at.place, subject, "priority", at.value, limit, "lower it");
                None
            }
        },
        (Given::Is(at), _) => {
            let why = format!("a priority is given, but {} does not order by priority", home.name);
            out.refuse(at.place, subject, why, "remove it, or choose an order with fp");
            None
        }
    }
}

/// The server of this name, by its place.
fn find(names: &[String], wanted: &At<String>, subject: &str, out: &mut Collector) -> Option<usize> {
    let found = names.iter().position(|name| *name == wanted.value);
    if found.is_none() {
        let complaint = Complaint::UnknownName {
            what: "server",
            nearest: nearest(&wanted.value, names.iter().map(String::as_str)),
            name: wanted.value.chars().take(40).collect(),
            remedy: "describe it in a [[server]] before the place where it is named".into(),
        };
        out.add(wanted.place, subject, complaint);
    }
    found
}

/// One server by itself; those before it have been checked.
fn one(n: usize, server: &DraftServer, homes: &Homes, out: &mut Collector) -> Option<Server> {
    let subject = server.subject.as_str();
    let here = (server.place, subject);
    let parent = match &server.parent {
        Given::Broken => return None,
        Given::Absent => None,
        Given::Is(at) => Some(find(&homes.names[..n], at, subject, out)?),
    };
    let outer = match parent {
        Some(parent) => homes.servers[parent].as_ref(),
        None => homes.root.as_ref(),
    }?;
    let depth = |mut at: Option<usize>| {
        let mut depth = 2;
        while let Some(server) = at {
            depth += 1;
            at = homes.made.servers.get(server).and_then(|server| server.parent);
        }
        depth
    };
    if depth(parent) > MAX_DEPTH {
        let why = format!("it lies more than {} servers deep", MAX_DEPTH - 1);
        out.refuse(server.place, subject, why, "put it into an outer one");
        return None;
    }
    let cores = cores(server, outer, out);
    let (spread, order) = server.order.get().map(|at| at.value)?;
    let yields = server.kind.value().is_some_and(ServerKind::yields);
    let priority = if yields {
        super::yielding::priority(server, out)
    } else {
        priority(&server.priority, Some(outer), here, out)
    };
    let supply = supply(n, server, homes, out);
    let write_backs = super::misses::write_backs(server, homes.line.0, out);
    let quantum = quantum(&server.quantum, order, subject, out);
    let clusters = clusters(&server.clusters, spread, cores?, here, out)?;
    let (kind, (budget, period)) = (super::yielding::kind(server)?, supply?);
    Some(Server {
        name: server.name.get()?.value.clone(),
        parent,
        cores: cores?,
        kind,
        budget,
        period,
        write_backs: write_backs?,
        order,
        spread,
        clusters,
        quantum,
        priority: priority?,
        background: server.background.value().unwrap_or(false),
        line: server.place.line,
    })
}

/// Some of the outer server's cores; all, if none are named.
fn cores(server: &DraftServer, outer: &Home, out: &mut Collector) -> Option<CoreSet> {
    let at = match &server.cores {
        Given::Broken => return None,
        Given::Absent => return Some(outer.cores),
        Given::Is(at) => at,
    };
    let mut set = CoreSet::EMPTY;
    for core in &at.value {
        let id = u8::try_from(core.value).ok().map(CoreId).filter(|id| id.index() < 8 && outer.cores.contains(*id));
        let Some(id) = id else {
            let limit = format!("not one of the cores of {}", outer.name);
            out.out_of_range(core.place, &server.subject, "core", core.value, limit, "choose one of them");
            return None;
        };
        set.insert(id);
    }
    if set.is_empty() {
        out.refuse(at.place, &server.subject, "it has no cores", "name some, or leave \"cores\" out");
        return None;
    }
    Some(set)
}

/// Budget and period, told in one of three ways.
fn supply(n: usize, server: &DraftServer, homes: &Homes, out: &mut Collector) -> Option<(Duration, Duration)> {
    const REMEDY: &str = "give budget and period, or alpha and delta, and nothing else of these";
    let subject = server.subject.as_str();
    if server.kind.value()?.yields() {
        return super::yielding::supply(server, homes.line.1, out);
    }
    super::yielding::refuse_keys(server, out)?;
    if server.kind.value()? == ServerKind::Misses {
        return super::misses::supply(server, homes.line, out);
    }
    for (key, said) in [("misses", &server.misses), ("write-backs", &server.write_backs)] {
        if let Given::Is(at) = said {
            let why = format!("only a server of kind misses has a budget of {key}");
            out.refuse(at.place, subject, why, "choose that kind, or remove it");
            return None;
        }
    }
    let inheriting = server.kind.value()? == ServerKind::PriorityInheriting;
    let ways = [
        !server.budget.is_absent() || !server.period.is_absent(),
        !server.alpha.is_absent() || !server.delta.is_absent(),
        !server.share.is_absent() || !server.works_for.is_absent(),
    ];
    let wanted = if inheriting { [false, false, true] } else { [ways[0], !ways[0] && ways[1], false] };
    if ways != wanted || !ways.contains(&true) {
        let (why, remedy) = match inheriting {
            true => ("a server of kind pibs works for another one", "give share = 0.04 and for = \"its name\" alone"),
            false if ways[2] => ("share and for are of servers of kind pibs alone", REMEDY),
            false if ways[0] && ways[1] => ("it says its budget in two ways", REMEDY),
            false => ("it says no budget", REMEDY),
        };
        out.refuse(server.place, subject, why, remedy);
        return None;
    }
    let missing = |key: &'static str, example: &str, out: &mut Collector| {
        out.add(server.place, subject, Complaint::MissingKey { key, example: example.into() });
    };
    let fraction = |given: &Given<f64>, key: &'static str, out: &mut Collector| match given {
        Given::Is(at) if at.value > 0.0 && at.value < 1.0 => Some(at.value),
        Given::Is(at) => {
            out.out_of_range(at.place, subject, key, at.value, "not between 0 and 1", "choose a number between them");
            None
        }
        Given::Absent => {
            missing(key, &format!("{key} = 0.2"), out);
            None
        }
        Given::Broken => None,
    };
    let (budget, period) = if inheriting {
        let share = fraction(&server.share, "share", out);
        let Given::Is(at) = &server.works_for else {
            if server.works_for.is_absent() {
                missing("for", "for = \"video\"", out);
            }
            return None;
        };
        let whose = find(&homes.names[..n], at, subject, out)?;
        let period = homes.made.servers.get(whose).map(|server| server.period)?;
        (Duration::from_nanos((share? * period.as_nanos() as f64).round() as u64), period)
    } else if ways[1] {
        // The budget's longest absence, 2 (P - Q), is Δ; its share, Q / P, is α or hardly more (JUNIPER D3.6).
        let alpha = fraction(&server.alpha, "alpha", out);
        let Some(delta) = server.delta.value() else {
            if server.delta.is_absent() {
                missing("delta", "delta = \"20 ms\"", out);
            }
            return None;
        };
        let half = delta.as_nanos() / 2;
        let period = Duration::from_nanos((half as f64 / (1.0 - alpha?)).ceil() as u64);
        (period.saturating_sub(Duration::from_nanos(half)), period)
    } else {
        let mut take = |given: &Given<Duration>, key: &'static str, example: &str| {
            if given.is_absent() {
                missing(key, example, out);
            }
            given.value()
        };
        let (budget, period) =
            (take(&server.budget, "budget", "budget = \"2 ms\""), take(&server.period, "period", "period = \"10 ms\""));
        (budget?, period?)
    };
    let place = [server.budget.get().map(|at| at.place), server.alpha.get().map(|at| at.place)];
    let place = place.into_iter().flatten().next().unwrap_or(server.place);
    if budget < SHORTEST_QUANTUM {
        let limit = format!("less than the shortest, {SHORTEST_QUANTUM}");
        out.out_of_range(place, subject, "budget", budget, limit, "lengthen it");
        return None;
    }
    if budget > period {
        let limit = format!("more than its period of {period}");
        out.out_of_range(place, subject, "budget", budget, limit, "lower it or lengthen the period");
        return None;
    }
    Some((budget, period))
}

/// Where servers are inside, tasks beside them wait on their own core, and the order is one that servers know.
fn contents(draft: &Draft, homes: &Homes, out: &mut Collector) {
    let inner = |n: Option<usize>| homes.made.servers.iter().any(|server| server.parent == n);
    for n in 0..=homes.servers.len() {
        let (home, at, key) = match n {
            0 => (homes.root.as_ref(), draft.policy.get().map(|at| at.place), None),
            n => (homes.servers[n - 1].as_ref(), draft.servers[n - 1].order.get().map(|at| at.place), Some(n - 1)),
        };
        let Some(home) = home.filter(|_| inner(key)) else { continue };
        let place = at.unwrap_or(draft.place);
        if home.spread != Migration::Partitioned {
            let why = format!("{} has servers inside, which are bound to their cores", home.name);
            out.refuse(place, "", why, "choose partitioned- there; what is in a server may be global");
        }
        if !home.order.orders_servers() {
            let why = format!("{} has servers inside, which this order cannot compare", home.name);
            out.refuse(place, "", why, "choose fp, rm, dm or edf there");
        }
    }
}

/// No more is promised on a core than there is: at the root all of it, in a server its share.
fn loads(draft: &Draft, made: &Scheduling, all: CoreSet, out: &mut Collector) {
    let share = |server: &Server| server.budget.as_nanos() as f64 / server.period.as_nanos() as f64;
    for parent in std::iter::once(None).chain((0..made.servers.len()).map(Some)) {
        let (within, limit) = parent.map_or((all, 1.0), |n: usize| (made.servers[n].cores, share(&made.servers[n])));
        for core in within.iter() {
            let mut sum = 0.0;
            for (n, server) in made.servers.iter().enumerate() {
                if server.parent != parent || !server.cores.contains(core) || change::begins_absent(draft, &server.name)
                {
                    continue;
                }
                sum += share(server);
                if sum > limit + 1e-9 {
                    let place = draft.servers[n].place;
                    let what = format!("what servers are promised of core {core} up to this one");
                    let limit = match parent {
                        None => "more than the whole core".to_string(),
                        Some(n) => format!("more than the {limit:.4} of server {:?}", made.servers[n].name),
                    };
                    out.out_of_range(
                        place,
                        &draft.servers[n].subject,
                        what,
                        format!("{sum:.4}"),
                        limit,
                        "lower a budget",
                    );
                    return;
                }
            }
        }
    }
}

/// Where a task is; nothing if that is broken.
pub(super) fn home<'h>(draft: &DraftTask, homes: &'h Homes, out: &mut Collector) -> Option<(Option<usize>, &'h Home)> {
    if let Some(of) = &homes.partitions {
        let n = super::partition::of_task(draft, of, out)?;
        return homes.servers[n].as_ref().map(|home| (Some(n), home));
    }
    if let Given::Is(at) = &draft.placing.partition {
        let why = "it names a partition, but the policy knows none";
        out.refuse(at.place, &draft.subject, why, "remove it, or choose kind = \"partitions\"");
        return None;
    }
    match &draft.placing.server {
        Given::Broken => None,
        Given::Absent => homes.root.as_ref().map(|root| (None, root)),
        Given::Is(at) => {
            let n = find(&homes.names, at, &draft.subject, out)?;
            homes.servers[n].as_ref().map(|home| (Some(n), home))
        }
    }
}

/// What a task may do in its place.
pub(super) fn place(
    draft: &DraftTask,
    home: Option<(Option<usize>, &Home)>,
    policy: Option<Policy>,
    level: Option<Level>,
    deadline: Option<Duration>,
    out: &mut Collector,
) -> Option<TaskPlacement> {
    let placing = &draft.placing;
    let virtual_deadline = virtual_deadline(draft, policy, level, deadline, out);
    if matches!(policy, Some(Policy::Mc2 { .. })) {
        let given = [
            placing.server.get().map(|at| (at.place, "server")),
            placing.cluster.get().map(|at| (at.place, "cluster")),
            placing.priority.get().map(|at| (at.place, "priority")),
            placing.threshold.get().map(|at| (at.place, "preemption-threshold")),
            placing.overrun.get().map(|at| (at.place, "overrun")),
        ];
        for (place, key) in given.into_iter().flatten() {
            let why = format!("{key:?} has no meaning under MC², whose levels tell all that");
            out.refuse(place, &draft.subject, why, "remove it, or choose another kind");
        }
        return Some(TaskPlacement::default());
    }
    let (server, home) = home?;
    let priority = priority(&placing.priority, Some(home), (draft.place, &draft.subject), out);
    let overrun = match &placing.overrun {
        Given::Broken => None,
        Given::Is(at) if matches!(policy, Some(Policy::Mixed(_))) => {
            let why = "\"overrun\" has no meaning where jobs have levels: what happens is told by those";
            out.refuse(at.place, &draft.subject, why, "remove it, or choose another kind");
            None
        }
        _ => Some(placing.overrun.value().unwrap_or(Overrun::Continue)),
    };
    // What releases it is resolved when all tasks are known.
    let longest_distance = placing.longest_distance.value();
    Some(TaskPlacement {
        server,
        priority: priority?,
        threshold: None,
        overrun: overrun?,
        virtual_deadline,
        release: Release::Periodic,
        longest_distance,
        raised_by: None,
        interrupt: None,
        message: None,
    })
}

/// Critical tasks under EDF-VD may be given one, before their deadline.
fn virtual_deadline(
    draft: &DraftTask,
    policy: Option<Policy>,
    level: Option<Level>,
    deadline: Option<Duration>,
    out: &mut Collector,
) -> Option<Duration> {
    let at = draft.placing.virtual_deadline.get()?;
    let what = "virtual-deadline";
    if policy.is_some_and(|policy| policy != Policy::Mixed(Mixed::EdfVd)) || level == Some(Level::B) {
        let why = "only tasks of level A under edf-vd have virtual deadlines";
        out.refuse(at.place, &draft.subject, why, "remove it");
    } else if at.value.is_zero() {
        out.out_of_range(at.place, &draft.subject, what, at.value, "no time at all", "raise it");
    } else if let Some(deadline) = deadline.filter(|deadline| at.value > *deadline) {
        let limit = format!("more than its deadline of {deadline}");
        out.out_of_range(at.place, &draft.subject, what, at.value, limit, "lower it");
    }
    Some(at.value)
}

/// The core of a task, or the first one of its cluster.
pub(super) fn core(draft: &DraftTask, home: &Home, out: &mut Collector) -> Option<CoreId> {
    let subject = draft.subject.as_str();
    let own: Vec<CoreId> = home.cores.iter().collect();
    if let (Given::Is(at), true) = (&draft.placing.cluster, home.spread != Migration::Clustered) {
        let why = format!("a cluster is given, but {} has none", home.name);
        out.refuse(at.place, subject, why, "remove it");
    }
    match (home.spread, &draft.core) {
        (Migration::Partitioned, Given::Is(at)) => {
            let core = u8::try_from(at.value).ok().map(CoreId).filter(|core| own.contains(core));
            if core.is_none() {
                let limit = match home.name.starts_with("policy") {
                    true => format!("not one of the system's cores, 0 to {}", own.len() - 1),
                    false => format!("not one of the cores of {}", home.name),
                };
                out.out_of_range(at.place, subject, "core", at.value, limit, "choose one of them");
            }
            core
        }
        (Migration::Partitioned, Given::Absent) if own.len() == 1 => own.first().copied(),
        (Migration::Partitioned, Given::Absent) => {
            out.add(draft.place, subject, Complaint::MissingKey { key: "core", example: "core = 0".into() });
            None
        }
        (_, Given::Is(at)) => {
            let any = if home.spread == Migration::Global { "any core" } else { "any core of its cluster" };
            let why = format!("a core is given, but {} runs a task on {any}", home.name);
            out.refuse(at.place, subject, why, "remove it");
            None
        }
        (Migration::Clustered, _) => match &draft.placing.cluster {
            Given::Is(at) => {
                let cluster = usize::try_from(at.value).ok().and_then(|n| home.clusters.get(n));
                if cluster.is_none() {
                    let limit = format!("not one of the {} clusters, counted from 0", home.clusters.len());
                    out.out_of_range(at.place, subject, "cluster", at.value, limit, "choose one of them");
                }
                cluster.and_then(|cluster| cluster.iter().next())
            }
            Given::Absent => {
                out.add(draft.place, subject, Complaint::MissingKey { key: "cluster", example: "cluster = 0".into() });
                None
            }
            Given::Broken => None,
        },
        (_, Given::Absent | Given::Broken) => None,
    }
}
