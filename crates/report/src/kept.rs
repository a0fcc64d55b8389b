//! What is kept beside a trace so that it can be judged again: the system as the judge sees it, and the facts of the
//! run. The file `run.json`.
//!
//! Times are whole nanoseconds in fields that end in `_ns`.

mod changes;
mod disk;
mod monitor;
mod numbers;
mod partition;
mod service;
mod tree;

use crate::Details;
use serde::{Deserialize, Serialize};
use tactus_task::{Burst, EarlyArrival, Release, WaitLimit};
use tactus_time::{CoreId, Duration, Level, TaskId};
use tactus_trace::{judge, written_promise, Bound, ChainView, HeapUse, Summary, TaskView, Trace, View};

/// The version of the file's names and meanings.
const FORMAT: u32 = 3;

/// What a trace has to be read against, and what the report says beside it.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The system and its promises.
    pub view: View,
    /// Machine, seed, command.
    pub details: Details,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    format: u32,
    system: String,
    policy: String,
    cores: usize,
    duration_ns: u64,
    accepted: bool,
    machine: String,
    seed: u64,
    command: String,
    components: Vec<String>,
    facts: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    panics: Vec<(u32, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    findings: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    console: Vec<String>,
    tasks: Vec<StoredTask>,
    /// Left out where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    colours: Option<crate::ColourUse>,
    /// Left out where the rules of servers and queues do not apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tree: Option<tree::Stored>,
    /// Left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    chains: Vec<StoredChain>,
    /// Left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    services: Vec<service::Stored>,
    /// Left out where the system does not change while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changes: Option<changes::Stored>,
    /// Left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    disks: Vec<disk::Stored>,
    /// Left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    partitions: Vec<partition::Stored>,
    /// Left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    monitors: Vec<monitor::Stored>,
    /// Left out where there are no monitors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    servers: Vec<String>,
    /// Left out where no component asked its heap for memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    heaps: Vec<HeapUse>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refuted: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    uncounted: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredTask {
    name: String,
    level: Option<String>,
    core: Option<u8>,
    offset_ns: u64,
    period_ns: u64,
    deadline_ns: u64,
    #[serde(with = "written_promise")]
    promise: Option<Bound>,
    /// By level, A to D.
    assumed_ns: [Option<u64>; 4],
    budget_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    minimum_ns: Option<u64>,
    /// Left out where time releases its jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    releases: Option<StoredRelease>,
    /// Left out where its jobs do not wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    waits: Option<StoredWaits>,
}

#[derive(Serialize, Deserialize)]
struct StoredChain {
    name: String,
    tasks: Vec<u16>,
    #[serde(default)]
    by_message: Vec<u16>,
    /// Left out where none is told by messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    told: Vec<bool>,
    /// Left out where none is told by a sampling channel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    samples: Vec<(u16, u8)>,
    /// Left out where it is no service's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client: Option<u16>,
    deadline_ns: Option<u64>,
    bound_ns: Option<u64>,
}

/// What releases the jobs of a task that time does not release.
#[derive(Serialize, Deserialize)]
struct StoredRelease {
    /// The task whose completions do; left out if arrivals from outside do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<u16>,
    /// What becomes of early arrivals: the place in [`EarlyArrival::ALL`].
    early: u8,
    /// Jitter and least distance, where arrivals may come in bursts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    burst_ns: Option<[u64; 2]>,
}

impl StoredRelease {
    fn of(release: Release) -> Option<StoredRelease> {
        let own = release.early()?;
        let early = EarlyArrival::ALL.iter().position(|early| *early == own)? as u8;
        let burst_ns = release.burst().map(|burst| [burst.jitter.as_nanos(), burst.distance.as_nanos()]);
        Some(StoredRelease { after: release.predecessor().map(|task| task.0), early, burst_ns })
    }

    fn release(self) -> Release {
        let early = EarlyArrival::ALL.get(usize::from(self.early)).copied().unwrap_or_default();
        match (self.after, self.burst_ns) {
            (Some(task), _) => Release::After(TaskId(task), early),
            (None, None) => Release::Sporadic(early),
            (None, Some(burst)) => {
                let [jitter, distance] = burst.map(Duration::from_nanos);
                Release::Bursts(early, Burst { jitter, distance })
            }
        }
    }
}

/// How often and how long jobs of a task may wait.
#[derive(Serialize, Deserialize)]
struct StoredWaits {
    most: u16,
    longest_ns: u64,
}

impl StoredWaits {
    fn of(limit: WaitLimit) -> Option<StoredWaits> {
        (limit.most > 0).then(|| StoredWaits { most: limit.most, longest_ns: limit.longest.as_nanos() })
    }

    fn limit(self) -> WaitLimit {
        WaitLimit { most: self.most, longest: Duration::from_nanos(self.longest_ns) }
    }
}

impl Kept {
    /// Reads the trace against the promises; components have their names.
    pub fn judge(&self, trace: &Trace) -> Summary {
        let mut summary = judge(&self.view, trace);
        let name = |component| self.details.components.get(component as usize).cloned();
        let mut said: Vec<_> = self.details.panics.iter().collect();
        for culprit in &mut summary.culprits {
            culprit.component_name = name(culprit.component);
            // Each panic of a component has said its own, in order.
            let own = said.iter().position(|(component, _)| culprit.panicked && *component == culprit.component);
            if let Some(place) = own {
                culprit.fault = format!("panicked at {}", said.remove(place).1).into();
            }
        }
        for restart in &mut summary.restarts {
            restart.component_name = name(restart.component);
            restart.by_name = restart.by.and_then(name);
        }
        summary
    }

    /// The text of `run.json`.
    pub fn to_json(&self) -> String {
        let (view, details) = (&self.view, &self.details);
        let stored = Stored {
            format: FORMAT,
            system: view.name.clone(),
            policy: view.policy.clone(),
            cores: view.cores,
            duration_ns: view.duration.as_nanos(),
            accepted: view.accepted,
            machine: details.machine.clone(),
            seed: details.seed,
            command: details.command.clone(),
            components: details.components.clone(),
            facts: details.facts.clone(),
            panics: details.panics.clone(),
            findings: details.findings.clone(),
            console: details.console.clone(),
            colours: details.colours.clone(),
            tasks: view.tasks.iter().map(store).collect(),
            chains: view.chains.iter().map(store_chain).collect(),
            services: view.services.iter().map(service::store).collect(),
            tree: view.tree.as_ref().map(tree::store),
            changes: view.changes.as_ref().map(changes::store),
            disks: view.disks.iter().map(disk::store).collect(),
            partitions: view.partitions.iter().map(partition::store).collect(),
            monitors: view.monitors.iter().map(monitor::store).collect(),
            servers: view.servers.clone(),
            heaps: view.heaps.clone(),
            refuted: view.refuted.clone(),
            uncounted: view.uncounted,
        };
        // Nothing in these types can fail: no maps, no foreign serialisers.
        let mut text = serde_json::to_string_pretty(&stored).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads the text of `run.json`.
    ///
    /// # Errors
    /// If the text is not of this format, with the reason.
    pub fn from_json(text: &str) -> Result<Kept, String> {
        let stored: Stored = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if stored.format != FORMAT {
            return Err(format!("it has format {}, this program reads {FORMAT}: run the system again", stored.format));
        }
        numbers::check(&serde_json::from_str(text).map_err(|error| error.to_string())?)?;
        let changes = stored.changes;
        let changes = changes.map(|it| changes::restore(it, stored.tasks.len(), stored.cores)).transpose()?;
        let count = changes.as_ref().map_or(0, |changes| changes.list.len());
        let tree = stored.tree.map(|tree| tree::restore(tree, stored.tasks.len(), count)).transpose()?;
        let tasks = stored.tasks.len();
        let chains = stored.chains.into_iter().map(|chain| restore_chain(chain, tasks)).collect::<Result<_, _>>()?;
        let view = View {
            name: stored.system,
            policy: stored.policy,
            cores: stored.cores,
            duration: Duration::from_nanos(stored.duration_ns),
            accepted: stored.accepted,
            tasks: stored.tasks.into_iter().map(restore).collect::<Result<_, _>>()?,
            tree,
            chains,
            services: stored.services.into_iter().map(|it| service::restore(it, tasks)).collect::<Result<_, _>>()?,
            changes,
            disks: stored.disks.into_iter().map(disk::restore).collect(),
            partitions: stored
                .partitions
                .into_iter()
                .map(|it| partition::restore(it, tasks))
                .collect::<Result<_, _>>()?,
            monitors: stored.monitors.into_iter().map(monitor::restore).collect::<Result<_, _>>()?,
            servers: stored.servers,
            heaps: stored.heaps,
            refuted: stored.refuted,
            uncounted: stored.uncounted,
        };
        let details = Details {
            machine: stored.machine,
            seed: stored.seed,
            command: stored.command,
            components: stored.components,
            facts: stored.facts,
            panics: stored.panics,
            findings: stored.findings,
            console: stored.console,
            colours: stored.colours,
        };
        Ok(Kept { view, details })
    }
}

fn store(task: &TaskView) -> StoredTask {
    StoredTask {
        name: task.name.clone(),
        level: task.level.map(|level| level.to_string()),
        core: task.core.map(|core| core.0),
        offset_ns: task.offset.as_nanos(),
        period_ns: task.period.as_nanos(),
        deadline_ns: task.deadline.as_nanos(),
        promise: task.promise,
        assumed_ns: task.assumed.map(|length| length.map(Duration::as_nanos)),
        budget_ns: task.budget.map(Duration::as_nanos),
        minimum_ns: task.minimum.map(Duration::as_nanos),
        releases: StoredRelease::of(task.releases),
        waits: StoredWaits::of(task.waits),
    }
}

fn store_chain(chain: &ChainView) -> StoredChain {
    StoredChain {
        name: chain.name.clone(),
        tasks: chain.tasks.iter().map(|task| task.0).collect(),
        by_message: chain.by_message.iter().map(|task| task.0).collect(),
        told: if chain.told.contains(&true) { chain.told.clone() } else { Vec::new() },
        samples: chain.samples.iter().map(|(task, channel)| (task.0, *channel)).collect(),
        client: chain.client,
        deadline_ns: chain.deadline.map(Duration::as_nanos),
        bound_ns: chain.bound.map(Duration::as_nanos),
    }
}

fn restore_chain(chain: StoredChain, tasks: usize) -> Result<ChainView, String> {
    match chain.tasks.iter().find(|task| usize::from(**task) >= tasks) {
        Some(task) => Err(format!("chain {}: there is no task {task}", chain.name)),
        None => Ok(ChainView {
            name: chain.name,
            client: chain.client,
            samples: chain.samples.into_iter().map(|(task, channel)| (TaskId(task), channel)).collect(),
            told: match chain.told.len() {
                0 => vec![false; chain.tasks.len().saturating_sub(1)],
                _ => chain.told,
            },
            tasks: chain.tasks.into_iter().map(TaskId).collect(),
            by_message: chain.by_message.into_iter().map(TaskId).collect(),
            deadline: chain.deadline_ns.map(Duration::from_nanos),
            bound: chain.bound_ns.map(Duration::from_nanos),
        }),
    }
}

fn restore(task: StoredTask) -> Result<TaskView, String> {
    let level = match task.level {
        None => None,
        Some(name) => {
            let found = Level::ALL.into_iter().find(|level| level.to_string() == name);
            Some(found.ok_or_else(|| format!("task {}: there is no level {name:?}", task.name))?)
        }
    };
    Ok(TaskView {
        name: task.name,
        level,
        core: task.core.map(CoreId),
        offset: Duration::from_nanos(task.offset_ns),
        period: Duration::from_nanos(task.period_ns),
        deadline: Duration::from_nanos(task.deadline_ns),
        promise: task.promise,
        assumed: task.assumed_ns.map(|length| length.map(Duration::from_nanos)),
        budget: task.budget_ns.map(Duration::from_nanos),
        minimum: task.minimum_ns.map(Duration::from_nanos),
        releases: task.releases.map(StoredRelease::release).unwrap_or_default(),
        waits: task.waits.map(StoredWaits::limit).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use tactus_monitor::{Action, Automaton, Monitor, Occurrence, Property, Transition};
    use tactus_record::{EventKind, Record};
    use tactus_task::{Overrun, ServerKind};
    use tactus_time::{CoreSet, Instant};
    use tactus_trace::check::{InTree, Rank, ServerView, TreeChange, TreeView};
    use tactus_trace::{ChangeView, Changes, Now, Target};

    fn task(name: &str, level: Option<Level>, promise: Option<Bound>) -> TaskView {
        let (period, deadline) = (Duration::from_millis(10), Duration::from_millis(9));
        let (core, offset, budget) = (Some(CoreId(1)), Duration::ZERO, Some(Duration::from_micros(8)));
        let assumed = [budget, None, Some(Duration::MAX), None];
        let minimum = Some(Duration::from_micros(3));
        let releases = Release::After(TaskId(1), EarlyArrival::Drop);
        TaskView {
            name: name.into(),
            level,
            core,
            releases,
            waits: WaitLimit { most: 2, longest: Duration::from_micros(70) },
            offset,
            period,
            deadline,
            promise,
            assumed,
            budget,
            minimum,
        }
    }

    fn kept() -> Kept {
        let tasks = vec![
            task("nav", Some(Level::A), Some(Bound::Response(Duration::from_micros(7)))),
            task("map", Some(Level::C), Some(Bound::Tardiness(Duration::ZERO))),
            task("log", None, None),
        ];
        let duration = Duration::from_secs(1);
        let deadline = Duration::from_nanos(2);
        let place = |server, rank| InTree {
            server,
            core: Some(CoreId(1)),
            rank,
            period: duration,
            deadline,
            overrun: Overrun::ALL[server + 1],
        };
        let root = ServerView {
            name: "root".into(),
            parent: 0,
            cores: CoreSet::first(2),
            queues: vec![CoreSet::first(1), CoreSet::from_bits(2)],
            supply: None,
            write_backs: None,
            background: false,
            absent: false,
            rank: Rank::Fixed(4),
        };
        let supply = Some((Duration::from_micros(100), Duration::from_micros(900), ServerKind::Periodic));
        let write_backs = Some(Duration::from_nanos(3));
        let server = ServerView { supply, write_backs, background: true, absent: true, ..root.clone() };
        let tree = TreeView {
            servers: vec![root, server],
            tasks: vec![place(0, Rank::Fixed(7)), place(1, Rank::Deadline), place(1, Rank::Dynamic)],
            changes: vec![
                TreeChange::Nothing,
                TreeChange::Task {
                    task: TaskId(1),
                    rank: Some(Rank::RelativeDeadline),
                    period: None,
                    deadline: Some(deadline),
                },
                TreeChange::Begins(1),
                TreeChange::Ends(1),
                TreeChange::Lengths { server: 1, budget: None, period: Some(Duration::from_micros(5)) },
            ],
            per_server: true,
            ceilings: None,
            line: Duration::ZERO,
            misses: Vec::new(),
            write_backs: vec![None, Some(4), None],
        };
        let (name, policy) = ("n".into(), "MC²".into());
        let now = |promise| Now {
            there: true,
            period: Duration::from_micros(9),
            deadline: Duration::from_nanos(8),
            promise,
            budget: Some(deadline),
        };
        let start = vec![now(None), now(Some(Bound::Tardiness(Duration::ZERO))), now(None)];
        let change = ChangeView {
            what: "remove task log".into(),
            core: CoreId(1),
            at: Duration::from_millis(3),
            refused: Some("no".into()),
            target: Target::Task(TaskId(2)),
            action: tactus_trace::Action::Ends,
            budgets: vec![(TaskId(1), deadline)],
            promises: vec![None, Some(Bound::Response(duration)), None],
        };
        let alters = tactus_trace::Action::Alters { period: None, deadline: Some(deadline) };
        let altered = ChangeView { target: Target::Server(1), action: alters, ..change.clone() };
        let list = vec![altered, change.clone(), change.clone(), change.clone(), change];
        let changes = Some(Changes { start, list, together: true });
        let chain = ChainView {
            name: "a to b".into(),
            tasks: vec![TaskId(0), TaskId(1)],
            by_message: vec![TaskId(1)],
            told: vec![false],
            samples: Vec::new(),
            client: None,
            deadline: Some(duration),
            bound: Some(Duration::from_millis(3)),
        };
        let told = ChainView {
            told: vec![true],
            samples: vec![(TaskId(0), 3)],
            client: Some(2),
            deadline: None,
            ..chain.clone()
        };
        let chains = vec![chain, told];
        let service = tactus_trace::ServiceView {
            name: "storage".into(),
            server: TaskId(1),
            order: tactus_record::RequestOrder::Slots,
            requests: 3,
            first: 2,
            clients: vec![vec![TaskId(0)], vec![TaskId(0), TaskId(1)]],
            every: vec![1, 4],
        };
        let periodic = Some([0, 5, 4].map(Duration::from_millis));
        let client = |name: &str, periodic| tactus_trace::DiskClientView {
            name: name.into(),
            periodic,
            bound: None,
            places: 3,
            sporadic: true,
            limit: Some([2, 20, 3].map(Duration::from_millis)),
        };
        let clients = vec![client("recorder", periodic), client("copy", None)];
        let disks = vec![tactus_trace::DiskView {
            name: "log".into(),
            clients,
            tolerated: tactus_trace::Tolerated { faults: 1, within: Duration::from_millis(60) },
        }];
        let window =
            tactus_task::Window { core: CoreId(1), start: deadline, length: Duration::from_nanos(3), schedule: 1 };
        let partitions = vec![tactus_trace::PartitionView {
            name: "display".into(),
            criticality: "C".into(),
            frame: Duration::from_millis(3),
            windows: vec![window],
            switches: vec![tactus_task::ScheduleSwitch { frame: 7, schedule: 1 }],
            background: true,
            tasks: vec![TaskId(1)],
        }];
        let event = |name: &str, text: &str| (name.to_owned(), Occurrence::parse(text).expect("an event"));
        let transition = Transition { from: "idle".into(), event: "go".into(), to: "busy".into() };
        let monitors = vec![Monitor {
            name: "order".into(),
            property: Property::parse("always (done -> next (not go or busy)) unless done and idle").expect("one"),
            events: vec![event("go", "signal camera.ready"), event("done", "complete nav")],
            automata: vec![Automaton {
                name: "a".into(),
                states: vec!["idle".into(), "busy".into()],
                transitions: vec![transition],
            }],
            encoding: Some(tactus_monitor::Encoding::BitString),
            minimise: false,
            reset: true,
            table_limit: 900,
            action: Action::Restart("camera".into()),
            line: 7,
        }];
        let tree = Some(tree);
        let heap = HeapUse { component: "log".into(), bytes: 4096, used: 1, most: 2, allocations: 3, refused: 4 };
        let heaps = vec![heap];
        let (cores, accepted, servers) = (2, true, vec![String::new(), "radio".into()]);
        let view = View {
            name,
            policy,
            cores,
            duration,
            accepted,
            tasks,
            tree,
            chains,
            services: vec![service],
            changes,
            disks,
            partitions,
            monitors,
            servers,
            heaps,
            refuted: Some("a decision that is not the policy's".into()),
            uncounted: true,
        };
        let details = Details {
            machine: "m".into(),
            seed: u64::MAX,
            command: "c".into(),
            components: vec!["scheduler".into()],
            facts: vec![("image".into(), "412 KiB".into())],
            panics: vec![(3, "src/lib.rs:4: no".into())],
            findings: vec!["a.toml:3: task `a` fails; lengthen it".into()],
            console: vec!["brake: hello".into()],
            colours: Some(crate::ColourUse { colours: 2, apart: true, ..crate::ColourUse::default() }),
        };
        Kept { view, details }
    }

    #[test]
    fn what_is_kept_of_a_run_is_read_back_as_it_was() {
        let kept = kept();
        let again = Kept::from_json(&kept.to_json()).expect("what was just written");
        assert_eq!(format!("{again:?}"), format!("{kept:?}"));
    }

    /// Whatever stands below a value, by the way there.
    fn numbers(value: &Value, way: &str, out: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(key, it)| numbers(it, &format!("{way}/{key}"), out)),
            Value::Array(list) => list.iter().enumerate().for_each(|(n, it)| numbers(it, &format!("{way}/{n}"), out)),
            Value::Number(_) => out.push(way.to_string()),
            _ => {}
        }
    }

    #[test]
    fn whatever_number_is_another_one_the_run_is_judged_or_refused() {
        let good: Value = serde_json::from_str(&kept().to_json()).expect("what was just written");
        let mut all = Vec::new();
        numbers(&good, "", &mut all);
        let record = |(time, kind, task, core): (u64, EventKind, u16, u8)| Record {
            time: Instant::from_nanos(time),
            arg: 0,
            job: 0,
            task: Some(TaskId(task)),
            kind,
            level: 0,
            core: CoreId(core),
            ticket: 0,
        };
        let of_core = |core: u8| {
            let task = u16::from(core);
            let all =
                [EventKind::Release, EventKind::Dispatch, EventKind::Complete].into_iter().zip([0, 1_000, 99_000_000]);
            all.map(|(kind, time)| record((time, kind, task, core))).collect()
        };
        let trace = Trace { cores: vec![of_core(0), of_core(1)], dropped: vec![0; 2], ..Trace::default() };
        let (mut judged, mut refused, mut astray) = (0, 0, Vec::new());
        for (way, number) in all.iter().flat_map(|way| [0, 1, 7, 200, 1 << 31, 1 << 63, u64::MAX].map(|it| (way, it))) {
            let mut run = good.clone();
            *run.pointer_mut(way).expect("it was found there") = number.into();
            let text = run.to_string();
            let judge = || {
                Kept::from_json(&text)
                    .ok()
                    .map(|kept| crate::html(&kept.view, &trace, &kept.judge(&trace), &kept.details))
            };
            match std::panic::catch_unwind(judge) {
                Ok(Some(page)) => judged += usize::from(page.len() > 1_000),
                Ok(None) => refused += 1,
                Err(_) => astray.push(format!("{way} = {number}")),
            }
        }
        assert!(astray.is_empty(), "{astray:?}");
        assert!(judged > 300 && refused > 100, "{judged} {refused}");
    }

    #[test]
    fn a_file_of_another_format_is_refused_and_not_guessed_at() {
        assert!(Kept::from_json("{}").is_err());
        assert!(Kept::from_json("[]").is_err());
    }
}
