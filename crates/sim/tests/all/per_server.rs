//! A scheduler for each server, on a machine that takes 10 ns for each decision: random trees keep the rules of servers, each scheduler's records
//! replay, and a record that is spoilt is found.

use tactus_generate::{lasting, per_server};
use tactus_model::System;
use tactus_plan::{setup, tree_view};
use tactus_policy::{divide, CoreState, Decision, Event, Input, Policy, PolicyConfig, PolicySpec, Running, Scheduler};
use tactus_record::{EntryReason, EventKind, InputKind, Record, Sink};
use tactus_sim::lockstep::lockstep;
use tactus_time::{CoreId, Duration, Instant, TaskId};
use tactus_trace::{check, merge, Trace};

const LENGTH: Duration = Duration::from_millis(300);

/// One scheduler on the core.
struct TaskPlacement {
    scheduler: Scheduler,
    state: CoreState,
    /// Its children: their proxies, and their index among the schedulers.
    children: Vec<(TaskId, usize)>,
    decision: Decision,
    begun: bool,
    /// Until when it had the core, if it does not have it.
    left: Option<Instant>,
    records: Vec<Record>,
}

struct Core<'s> {
    core: CoreId,
    system: &'s System,
    places: Vec<TaskPlacement>,
    /// Who has the core, the root first.
    path: Vec<usize>,
    /// When the last call began.
    now: Instant,
}

/// What a call takes.
const CALL: Duration = Duration::from_nanos(10);

impl Core<'_> {
    fn places(core: CoreId, system: &System, setups: &[PolicyConfig]) -> Vec<TaskPlacement> {
        let place = |setup: &PolicyConfig| {
            let PolicySpec::PerServer(plan) = &setup.kind else { panic!("one scheduler of several") };
            let (scheduler, mut states) = Scheduler::new(setup).expect("the plan is good");
            let decision =
                Decision { run: None, timer: Instant::NEVER, notify: tactus_time::CoreSet::EMPTY, ticket: 0 };
            let children = plan.children.iter().map(|child| (child.proxy, usize::from(child.plan))).collect();
            let state = states.swap_remove(core.index());
            TaskPlacement { scheduler, state, children, decision, begun: false, left: None, records: Vec::new() }
        };
        assert!(core.index() < system.cores);
        setups.iter().map(place).collect()
    }

    fn note(&mut self, at: usize, now: Instant, kind: EventKind, run: Option<(TaskId, u32)>, (level, arg): (u8, u64)) {
        let (task, job) = (run.map(|run| run.0), run.map_or(0, |run| run.1));
        let core = self.core;
        self.places[at].records.push(Record { time: now, arg, job, task, kind, level, core, ticket: 0 });
    }

    /// One call of the scheduler's policy; those below it have not the core any more.
    fn call(&mut self, at: usize, due: Instant, reason: EntryReason, sleep: Option<(TaskId, Instant)>) {
        let now = if self.places[0].begun { due.max(self.now + CALL) } else { due };
        self.now = now;
        if let Some(place) = self.path.iter().position(|it| *it == at) {
            for below in self.path.drain(place + 1..) {
                self.places[below].left = Some(now);
            }
        }
        let begun = std::mem::replace(&mut self.places[at].begun, true);
        let reason = if begun { reason } else { EntryReason::Start };
        let before = self.places[at].decision;
        let expiry = if reason == EntryReason::Timer { before.timer.as_nanos() } else { 0 };
        let running = before.run.map(|run| (run.task, 0));
        self.note(at, now, EventKind::Enter, running, (reason as u8, expiry));
        let absent = self.places[at].left.take().filter(|_| begun);
        let inputs = [
            absent.map(|since| (Input::Absent { since }, InputKind::Absent, None, since)),
            sleep.map(|(proxy, until)| (Input::Sleep { proxy, until }, InputKind::Sleep, Some((proxy, 0)), until)),
        ];
        for (input, kind, proxy, at_time) in inputs.into_iter().flatten() {
            self.note(at, now, EventKind::Input, proxy, (kind as u8, at_time.as_nanos()));
            let TaskPlacement { scheduler, state, .. } = &mut self.places[at];
            scheduler.input(state, input);
        }
        let event = match reason {
            EntryReason::Start => Event::Start,
            EntryReason::Complete => Event::Complete,
            EntryReason::Timer => Event::Timer,
            _ => Event::Notify,
        };
        let mut written = Written(Vec::new());
        let TaskPlacement { scheduler, state, .. } = &mut self.places[at];
        let decision = scheduler.handle(state, now, event, &mut written);
        self.places[at].records.append(&mut written.0);
        self.places[at].decision = decision;
        let run = decision.run.map(|run| (run.task, run.job));
        self.note(at, now + CALL / 2, EventKind::Leave, run, (reason as u8, decision.timer.as_nanos()));
    }

    /// Down to a job, or to nothing.
    fn settle(&mut self) {
        loop {
            let now = self.now;
            let at = *self.path.last().expect("the root always has the core");
            match self.places[at].decision.run {
                Some(run) => {
                    let child = self.places[at].children.iter().find(|(proxy, _)| *proxy == run.task);
                    let Some((_, child)) = child.copied() else { return };
                    self.path.push(child);
                    self.call(child, now, EntryReason::Notify, None);
                }
                None if at == 0 => return,
                None => {
                    let until = self.places[at].decision.timer;
                    self.path.pop();
                    self.places[at].left = Some(now);
                    let parent = *self.path.last().expect("a child has a parent");
                    let proxy = self.places[parent].decision.run.expect("it ran").task;
                    self.call(parent, now, EntryReason::Complete, Some((proxy, until)));
                }
            }
        }
    }

    fn run(&mut self, end: Instant) {
        self.call(0, Instant::ZERO, EntryReason::Start, None);
        loop {
            self.settle();
            // Who is called next: a finished job first, else the outermost time-out.
            let leaf = *self.path.last().expect("the root is always there");
            let finished = self.places[leaf].decision.run.map(|Running { task, job, charged, .. }| {
                let demand = self.system.tasks[task.index()].demand(self.system.seed, task, job);
                (self.now + demand.saturating_sub(charged), leaf, EntryReason::Complete)
            });
            let timers = self.path.iter().map(|at| (self.places[*at].decision.timer, *at, EntryReason::Timer));
            let next = finished.into_iter().chain(timers).min_by_key(|next| next.0);
            let Some((now, at, reason)) = next.filter(|next| next.0 < end) else { return };
            self.call(at, now, reason, None);
        }
    }
}

struct Written(Vec<Record>);

impl Sink for Written {
    fn record(&mut self, record: Record) {
        self.0.push(record);
    }
}

/// The trace of each scheduler.
fn traces(system: &System, setups: &[PolicyConfig]) -> Vec<Trace> {
    let mut traces = vec![Trace::default(); setups.len()];
    for core in (0..system.cores).map(|core| CoreId(core as u8)) {
        let places = Core::places(core, system, setups);
        let mut core = Core { core, system, places, path: vec![0], now: Instant::ZERO };
        core.run(Instant::ZERO + LENGTH);
        for (trace, place) in traces.iter_mut().zip(core.places) {
            trace.cores.push(place.records);
            trace.dropped.push(0);
        }
    }
    traces
}

#[test]
fn a_system_is_divided_into_as_many_schedulers_as_its_file_is_said_to_have() {
    let (mut systems, mut without_tasks) = (0, 0);
    for mut system in (0..1_500).filter_map(per_server) {
        // Some of its tasks are in the root, so that servers have none.
        for place in system.scheduling.places.iter_mut().skip(1).step_by(2) {
            place.server = None;
        }
        let schedulers = divide(&setup(&system, Vec::new(), &[])).expect("it was drawn so").len();
        assert_eq!(system.scheduling.scheduler_count(), schedulers, "{}", system.name);
        systems += 1;
        without_tasks += usize::from(schedulers <= system.scheduling.servers.len());
    }
    assert!(systems > 800 && without_tasks > 200, "{systems} systems, {without_tasks} with servers without tasks");
}

#[test]
fn each_scheduler_replays_and_no_rule_of_servers_is_broken() {
    let (mut systems, mut calls, mut spoilt) = (0, 0, 0);
    for mut system in (0..150).filter_map(per_server) {
        lasting(&mut system, LENGTH);
        let whole = setup(&system, Vec::new(), &[]);
        let setups = divide(&whole).expect("it was drawn so");
        let parts = traces(&system, &setups);
        let demand = |task: TaskId, job| Some(system.tasks.get(task.index())?.demand(system.seed, task, job));
        let tolerance = Duration::from_micros(1);
        for (n, (setup, trace)) in setups.iter().zip(&parts).enumerate() {
            let agreed = lockstep(setup, demand, trace, tolerance).expect("the plan is good");
            calls += agreed.unwrap_or_else(|wrong| panic!("{}, scheduler {n}: {wrong}", system.name)).calls;
            // What a scheduler was told is part of what it decided upon: another time gives another schedule.
            let mut other = trace.clone();
            let input =
                other.cores.iter_mut().flatten().rev().find(|it| it.kind == EventKind::Input && it.arg < 1 << 60);
            let Some(input) = input.filter(|it| it.level == InputKind::Sleep as u8) else { continue };
            input.arg = input.arg.saturating_sub(1_000_000);
            spoilt += u32::from(lockstep(setup, demand, &other, tolerance).expect("the plan is good").is_err());
        }
        let view = tree_view(&whole).expect("it has servers");
        let view = tactus_trace::check::TreeView { per_server: true, ..view };
        let broken = check::servers(&view, &merge(&parts, system.tasks.len()), tolerance);
        assert!(broken.is_empty(), "{}: {:?}", system.name, broken[0]);
        systems += 1;
    }
    println!("{systems} systems, {calls} calls, {spoilt} spoilt inputs found");
    assert!(systems > 80 && calls > 10_000 && spoilt > 20, "{systems} systems, {calls} calls, {spoilt} found");
}
