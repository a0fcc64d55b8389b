//! MC² with a lock for each container and core, and without any, under loom: every interleaving of two cores at the moments that matter.
//! Locks are taken for granted here (a wrong order would show as a deadlock); they have a model of their own.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p tactus-mc2-variants --release --test loom -- --nocapture`
#![cfg(loom)]

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;
use tactus_mc2_variants::{Fine, Machinery, Messages};
use tactus_policy::{Decision, Event, Mc2, Policy, PolicyConfig, PolicySpec, Table, Task};
use tactus_record::{EventKind, Record, Sink};
use tactus_time::{CoreId, Duration, Instant, Level};

const NOBODY: usize = usize::MAX;

struct Counts {
    completed: usize,
    released: usize,
}

impl Sink for Counts {
    fn record(&mut self, record: Record) {
        self.completed += usize::from(record.kind == EventKind::Complete);
        self.released += usize::from(record.kind == EventKind::Release);
    }
}

/// What both cores see. Its atomics are not part of the model.
struct World<P> {
    policy: P,
    on: Vec<AtomicUsize>,
    notified: [AtomicUsize; 2],
    completed: AtomicUsize,
    released: AtomicUsize,
}

struct Core<P: Policy> {
    state: P::Core,
    number: usize,
    last: Decision,
}

impl<P: Policy> World<P> {
    fn call(&self, core: &mut Core<P>, now: u64, event: Event) {
        if let Some(run) = core.last.run {
            assert_eq!(self.on[run.task.index()].swap(NOBODY, Ordering::SeqCst), core.number);
        }
        let mut counts = Counts { completed: 0, released: 0 };
        core.last = self.policy.handle(&mut core.state, Instant::from_nanos(now * 1_000), event, &mut counts);
        self.completed.fetch_add(counts.completed, Ordering::SeqCst);
        self.released.fetch_add(counts.released, Ordering::SeqCst);
        if let Some(run) = core.last.run {
            let before = self.on[run.task.index()].swap(core.number, Ordering::SeqCst);
            assert_eq!(before, NOBODY, "task {} is on two cores", run.task.0);
        }
        for other in core.last.notify.iter() {
            self.notified[other.index()].store(1, Ordering::SeqCst);
        }
    }
}

fn task(level: Level, core: Option<u8>, offset: u64, period: u64) -> Task {
    let micros = Duration::from_micros;
    Task {
        level,
        core: core.map(CoreId),
        offset: micros(offset),
        period: micros(period),
        deadline: micros(period),
        budget: micros(5),
    }
}

/// Both cores start at 0, one after the other; at 10 the calls named here come, on both at once. Afterwards all that is
/// pending is brought to its end.
fn explore(
    name: &str,
    switches: Option<[bool; 3]>,
    tasks: Vec<Task>,
    calls: [&'static [Event]; 2],
    preemptions: Option<usize>,
) {
    tactus_sync::abstraction::grant_locks();
    let mc2 =
        Mc2 { enforce: false, slack_shifting: true, allowance: Duration::ZERO, tables: vec![Table::default(); 2] };
    let setup = PolicyConfig { cores: 2, kind: PolicySpec::Mc2(mc2), tasks };
    match switches {
        Some([interrupt_master, timer_merging, work_redistribution]) => {
            let machinery = Machinery { interrupt_master, timer_merging, work_redistribution };
            let tasks = setup.tasks.len();
            explore_made(
                name,
                move || Fine::new(&setup, machinery).expect("the set-up is good"),
                tasks,
                calls,
                preemptions,
            );
        }
        None => {
            let tasks = setup.tasks.len();
            explore_made(name, move || Messages::new(&setup).expect("the set-up is good"), tasks, calls, preemptions);
        }
    }
}

fn explore_made<P: Policy + Send + Sync + 'static>(
    name: &str,
    make: impl Fn() -> (P, Vec<P::Core>) + Send + Sync + 'static,
    tasks: usize,
    calls: [&'static [Event]; 2],
    preemptions: Option<usize>,
) where
    P::Core: Send + 'static,
{
    let executions = Arc::new(AtomicU64::new(0));
    let counted = executions.clone();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.max_branches = 50_000;
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        let (policy, states) = make();
        let world = Arc::new(World {
            policy,
            on: (0..tasks).map(|_| AtomicUsize::new(NOBODY)).collect(),
            notified: Default::default(),
            completed: AtomicUsize::new(0),
            released: AtomicUsize::new(0),
        });
        let nothing = Decision { run: None, timer: Instant::NEVER, notify: Default::default(), ticket: 0 };
        let mut cores: Vec<Core<P>> =
            states.into_iter().enumerate().map(|(number, state)| Core { state, number, last: nothing }).collect();
        for core in &mut cores {
            world.call(core, 0, Event::Start);
        }
        for core in &mut cores {
            world.call(core, 0, Event::Notify);
        }
        let mut other = cores.pop().expect("two cores");
        let mut mine = cores.pop().expect("two cores");
        let thread = {
            let world = world.clone();
            loom::thread::spawn(move || {
                for event in calls[1] {
                    world.call(&mut other, 10, *event);
                }
                other
            })
        };
        for event in calls[0] {
            world.call(&mut mine, 10, *event);
        }
        let mut cores = [mine, thread.join().unwrap()];
        for round in 0..40 {
            let core = &mut cores[round % 2];
            let notified = world.notified[core.number].swap(0, Ordering::SeqCst) == 1;
            let event = if !notified && core.last.run.is_some() { Event::Complete } else { Event::Notify };
            world.call(core, 10, event);
        }
        assert!(cores.iter().all(|core| core.last.run.is_none()), "it does not come to an end");
        let (released, completed) = (world.released.load(Ordering::SeqCst), world.completed.load(Ordering::SeqCst));
        assert_eq!(released, completed, "a job was lost");
    });
    let bound = preemptions.map_or("all".to_string(), |n| format!("up to {n} preemptions"));
    println!("model {name}: holds in {} executions, {bound}", executions.load(Ordering::Relaxed));
}

/// A job of B comes to core 1, told by core 0, while core 1's job of C ends or its budget is looked at.
fn preempted() -> Vec<Task> {
    vec![task(Level::B, Some(1), 10, 100), task(Level::C, None, 0, 50), task(Level::C, None, 0, 60)]
}

#[test]
fn a_job_displaced_by_the_master_is_neither_lost_nor_run_twice() {
    explore(
        "displaced while it ends",
        Some([true, false, false]),
        preempted(),
        [&[Event::Timer], &[Event::Complete]],
        None,
    );
    explore(
        "displaced while it goes on",
        Some([true, false, false]),
        preempted(),
        [&[Event::Timer], &[Event::Timer]],
        None,
    );
}

#[test]
fn work_that_is_parked_is_neither_lost_nor_run_twice() {
    let calls: [&'static [Event]; 2] = [&[Event::Timer, Event::Notify], &[Event::Timer, Event::Notify]];
    explore("parked", Some([true, true, true]), preempted(), calls, Some(2));
}

#[test]
fn a_core_that_closes_while_work_comes_to_it_gives_it_back() {
    // Core 1 starts its own job of B at the moment at which core 0 has one of C for it.
    let tasks = vec![
        task(Level::B, Some(1), 10, 100),
        task(Level::C, None, 0, 50),
        task(Level::C, None, 10, 60),
        task(Level::D, None, 0, 70),
    ];
    let calls: [&'static [Event]; 2] = [&[Event::Timer], &[Event::Timer]];
    explore("closing", Some([false; 3]), tasks.clone(), calls, None);
    explore("closing, without locks", None, tasks, calls, Some(3));
}

#[test]
fn without_locks_nothing_is_lost_where_messages_cross() {
    // Core 1 has a job of C. A more urgent one comes for it at the moment at which its own ends, goes on, or is displaced by B.
    let tasks = |b| {
        let mut tasks = vec![task(Level::C, None, 0, 50), task(Level::C, None, 0, 60), task(Level::C, None, 10, 20)];
        tasks.extend(b);
        tasks
    };
    let owner: &'static [Event] = &[Event::Timer, Event::Notify, Event::Notify];
    explore("crossing, ends", None, tasks(None), [owner, &[Event::Complete, Event::Notify]], Some(3));
    explore("crossing, goes on", None, tasks(None), [owner, &[Event::Notify, Event::Notify]], Some(3));
    let b = task(Level::B, Some(1), 10, 100);
    explore("crossing, displaced", None, tasks(Some(b)), [owner, &[Event::Timer, Event::Complete]], Some(3));
}
