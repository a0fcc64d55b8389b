//! What is kept beside a trace so that it can be judged again: the system as the judge sees it, and the facts of the
//! run. The file `run.json`.
//!
//! Times are whole nanoseconds in fields that end in `_ns`.

mod monitor;
mod numbers;
mod partition;
mod rules;
mod slot;
mod task;
mod tree;

use crate::{Details, Stop};
use serde::{Deserialize, Serialize};
use tactus_time::Duration;
use tactus_trace::{judge, ChainView, Changes, DiskView, HeapUse, ServiceView, Summary, Trace, View};

/// The version of the file's names and meanings.
const FORMAT: u32 = 4;

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
    stops: Vec<Stop>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    findings: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    console: Vec<String>,
    tasks: Vec<task::Stored>,
    /// Left out where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    colours: Option<crate::ColourUse>,
    /// Left out where the rules of servers and queues do not apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tree: Option<tree::Stored>,
    /// Left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    chains: Vec<ChainView>,
    /// Left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    services: Vec<ServiceView>,
    /// Left out where the system does not change while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changes: Option<Changes>,
    /// Left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    slots: Vec<slot::Stored>,
    /// Left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    disks: Vec<DiskView>,
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
            culprit.source = self.details.stops.iter().find(|it| it.is_of(culprit)).map(|it| it.source.clone());
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
            stops: details.stops.clone(),
            findings: details.findings.clone(),
            console: details.console.clone(),
            colours: details.colours.clone(),
            tasks: view.tasks.iter().map(task::store).collect(),
            chains: view.chains.clone(),
            services: view.services.clone(),
            tree: view.tree.as_ref().map(tree::store),
            changes: view.changes.clone(),
            slots: view.slots.iter().map(slot::store).collect(),
            disks: view.disks.clone(),
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
        let tasks = stored.tasks.len();
        let changes = stored.changes;
        changes.iter().try_for_each(|it| rules::changes(it, tasks, stored.cores))?;
        stored.services.iter().try_for_each(|it| rules::service(it, tasks))?;
        let chains: Vec<_> = stored.chains.into_iter().map(|it| rules::chain(it, tasks)).collect::<Result<_, _>>()?;
        let count = changes.as_ref().map_or(0, |changes| changes.list.len());
        let tree = stored.tree.map(|tree| tree::restore(tree, tasks, count)).transpose()?;
        let view = View {
            name: stored.system,
            policy: stored.policy,
            cores: stored.cores,
            duration: Duration::from_nanos(stored.duration_ns),
            accepted: stored.accepted,
            tasks: stored.tasks.into_iter().map(task::restore).collect::<Result<_, _>>()?,
            tree,
            chains,
            services: stored.services,
            changes,
            slots: stored.slots.into_iter().map(|it| slot::restore(it, tasks)).collect::<Result<_, _>>()?,
            disks: stored.disks,
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
            stops: stored.stops,
            findings: stored.findings,
            console: stored.console,
            colours: stored.colours,
        };
        Ok(Kept { view, details })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use tactus_monitor::{Action, Automaton, Monitor, Occurrence, Property, Transition};
    use tactus_record::{EventKind, Record, SlotRefusal};
    use tactus_task::{Bound, EarlyArrival, Overrun, Release, ServerKind, SlotTaskValues, SlotTold, WaitLimit};
    use tactus_time::{CoreId, CoreSet, Instant, Level, TaskId};
    use tactus_trace::check::{InTree, Rank, ServerView, TreeChange, TreeView};
    use tactus_trace::{ChangeView, LoadView, Now, SlotView, Target, TaskView};

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
            execution: None,
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
            slots: vec![SlotView {
                name: "guest".into(),
                tasks: 1..2,
                loader: TaskId(0),
                loads: vec![
                    LoadView {
                        number: 3,
                        at: deadline,
                        job: 7,
                        told: SlotTold::Loaded(vec![SlotTaskValues {
                            task: TaskId(1),
                            execution: Duration::from_nanos(2),
                            demand: Duration::from_nanos(1),
                            period: Duration::from_nanos(9),
                            deadline,
                            priority: 5,
                        }]),
                        program: Some("blink 1.0.0".into()),
                        tasks: vec!["blink.flash".into()],
                        refused: None,
                    },
                    LoadView {
                        number: 4,
                        at: deadline,
                        job: 8,
                        told: SlotTold::Refused(SlotRefusal::Full),
                        program: None,
                        tasks: Vec::new(),
                        refused: Some("full".into()),
                    },
                ],
            }],
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
            stops: vec![Stop { component: 3, at: "src/lib.rs:4".into(), source: "fly::steer".into() }],
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
    fn a_thread_that_is_no_task_of_the_file_has_no_period_and_a_task_has_one() {
        let mut stranger = task("(kworker/0:1)", None, None);
        (stranger.releases, stranger.period) = (Release::Sporadic(EarlyArrival::Delay), Duration::ZERO);
        let with = |other: TaskView| {
            let mut kept = kept();
            *kept.view.tasks.last_mut().expect("tasks") = other;
            Kept::from_json(&kept.to_json())
        };
        assert_eq!(with(stranger.clone()).err(), None);
        let promised = TaskView { promise: Some(Bound::Response(Duration::from_millis(1))), ..stranger.clone() };
        let periodic = TaskView { releases: Release::Periodic, ..stranger };
        for other in [promised, periodic] {
            assert!(with(other).is_err_and(|why| why.contains("a period of 0 ns")));
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
