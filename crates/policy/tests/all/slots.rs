//! Tasks of slots: they begin with what is loaded, end with what is unloaded, and take no more than their server has.

use crate::common::changes::root;
use crate::common::{core, ms};
use tactus_policy::{
    CoreState, Decision, Event, Input, Overrun, Part, Policy, PolicyConfig, PolicyConfigError, PolicySpec, Protocol,
    ReconfigurableTree, Scheduler, Server, ServerKind, SlotAction, SlotTasks, Supply, Task, TaskOrder, TaskPlacement,
    Tree, Values,
};
use tactus_record::{EventKind, Record, Sink, SlotRefusal};
use tactus_time::{Duration, Instant, Level, TaskId};

const LOADER: TaskId = TaskId(0);
const FIRST: TaskId = TaskId(1);
const SECOND: TaskId = TaskId(2);

/// A loader beside a slot of two tasks, whose server of this kind has 3 ms in 10.
fn setup(kind: ServerKind) -> PolicyConfig {
    let supply = Some(Supply { kind, budget: ms(3), period: ms(10), write_backs: None });
    let server = Server { supply, ..root(TaskOrder::EarliestDeadline) };
    let task = |period: u64, budget: u64| Task {
        level: Level::A,
        core: core(0),
        offset: Duration::ZERO,
        period: ms(period),
        deadline: ms(period),
        budget: ms(budget),
    };
    let place = |server| TaskPlacement { server, priority: 0, overrun: Overrun::Continue };
    let tree = Tree {
        servers: vec![root(TaskOrder::EarliestDeadline), server],
        places: [0, 1, 1].map(place).to_vec(),
        releases: Vec::new(),
        waits: Vec::new(),
        line: Duration::ZERO,
        seed: 0,
    };
    let kind = PolicySpec::ReconfigurableTree(ReconfigurableTree {
        tree,
        absent: vec![Part::Task(FIRST), Part::Task(SECOND)],
        changes: Vec::new(),
        slots: vec![SlotTasks { first: FIRST, tasks: 2 }],
        protocol: Protocol::IdleInstant,
    });
    PolicyConfig { cores: 1, kind, tasks: vec![task(5, 1), task(10, 3), task(10, 3)] }
}

#[derive(Default)]
struct Kept(Vec<Record>);

impl Sink for Kept {
    fn record(&mut self, record: Record) {
        self.0.push(record);
    }
}

/// A core whose loader's jobs take 1 ms and whose other jobs never end by themselves before this long.
struct Machine {
    scheduler: Scheduler,
    core: CoreState,
    decision: Decision,
    demand: Duration,
    kept: Kept,
}

impl Machine {
    fn new(setup: &PolicyConfig, demand: Duration) -> Machine {
        let (scheduler, mut cores) = Scheduler::new(setup).expect("a sound set-up");
        let (mut core, mut kept) = (cores.remove(0), Kept::default());
        let decision = scheduler.handle(&mut core, Instant::ZERO, Event::Start, &mut kept);
        Machine { scheduler, core, decision, demand, kept }
    }

    fn call(&mut self, now: Instant, event: Event) {
        self.decision = self.scheduler.handle(&mut self.core, now, event, &mut self.kept);
    }

    /// Goes on until then.
    fn run(&mut self, until: Instant, from: Instant) {
        let mut now = from;
        loop {
            let demand = |task: TaskId| if task == LOADER { ms(1) } else { self.demand };
            let done = self
                .decision
                .run
                .map_or(Instant::NEVER, |job| now.saturating_add(demand(job.task).saturating_sub(job.charged)));
            let next = done.min(self.decision.timer);
            if next >= until {
                return;
            }
            now = next.max(now);
            self.call(now, if done <= self.decision.timer { Event::Complete } else { Event::Timer });
        }
    }

    /// The loader tells this of the slot.
    fn tell(&mut self, now: Instant, values: &[(TaskId, u64, u64)], action: SlotAction) {
        for (task, time, period) in values {
            let values = Values { time: ms(*time), period: ms(*period), deadline: ms(*period), priority: 0 };
            self.scheduler.input(&mut self.core, Input::SlotTask { task: *task, values });
        }
        self.scheduler.input(&mut self.core, Input::Slot { slot: 0, load: 0, action });
        self.call(now, Event::Slot);
    }

    /// Nominal releases of the task so far (ms), each with the job's number.
    fn releases(&self, task: TaskId) -> Vec<(u32, u64)> {
        let of = |r: &&Record| r.kind == EventKind::Release && r.task == Some(task);
        self.kept.0.iter().filter(of).map(|r| (r.job, r.arg / 1_000_000)).collect()
    }

    fn dropped(&self) -> Vec<(TaskId, u32, u64)> {
        let dropped = self.kept.0.iter().filter(|r| r.kind == EventKind::Dropped);
        dropped.map(|r| (r.task.expect("a task"), r.job, r.arg)).collect()
    }
}

fn at(millis: u64) -> Instant {
    Instant::ZERO.saturating_add(ms(millis))
}

const KINDS: [ServerKind; 5] = [
    ServerKind::Deferrable,
    ServerKind::Periodic,
    ServerKind::Polling,
    ServerKind::Sporadic,
    ServerKind::HardBandwidth,
];

#[test]
fn what_is_loaded_begins_at_once_and_what_is_unloaded_ends_and_may_come_again() {
    for kind in KINDS {
        let mut machine = Machine::new(&setup(kind), ms(1));
        machine.run(at(7), Instant::ZERO);
        assert_eq!(machine.releases(FIRST), [], "{kind:?}");
        machine.tell(at(7), &[(FIRST, 1, 20), (SECOND, 1, 30)], SlotAction::Load);
        machine.run(at(50), at(7));
        assert_eq!(machine.releases(FIRST), [(0, 7), (1, 27), (2, 47)], "{kind:?}");
        assert_eq!(machine.releases(SECOND), [(0, 7), (1, 37)], "{kind:?}");
        machine.tell(at(50), &[], SlotAction::Unload);
        machine.run(at(100), at(50));
        assert_eq!(machine.releases(FIRST).len() + machine.releases(SECOND).len(), 5, "{kind:?}");
        // Another program with one task and other values; numbers go on.
        machine.tell(at(100), &[(SECOND, 1, 12)], SlotAction::Load);
        machine.run(at(130), at(100));
        assert_eq!(machine.releases(FIRST).len(), 3, "{kind:?}");
        assert_eq!(machine.releases(SECOND)[2..], [(2, 100), (3, 112), (4, 124)], "{kind:?}");
    }
}

#[test]
fn jobs_of_a_program_that_is_unloaded_are_dropped_and_its_server_has_what_it_had() {
    for kind in KINDS {
        // Each job would take far more than there is.
        let mut machine = Machine::new(&setup(kind), ms(1_000));
        for round in 0..20 {
            let begin = 7 + 13 * round;
            machine.tell(at(begin), &[(FIRST, 1, 4), (SECOND, 1, 30)], SlotAction::Load);
            machine.run(at(begin + 6), at(begin));
            let before = machine.dropped().len();
            machine.tell(at(begin + 6), &[], SlotAction::Unload);
            let dropped = machine.dropped().split_off(before);
            assert_eq!(dropped.len(), 2, "{kind:?}");
            assert!(dropped.iter().all(|(_, _, why)| *why == 4), "{kind:?}");
            machine.run(at(begin + 13), at(begin + 6));
        }
        // What was charged to the slot: its server's budget at most.
        let mut charged = Duration::ZERO;
        let mut since = None;
        for r in &machine.kept.0 {
            if let Some(began) = since.take() {
                charged += r.time.since(began);
            }
            since = (r.kind == EventKind::Dispatch && r.task != Some(LOADER)).then_some(r.time);
        }
        let periods = (7 + 13 * 20_u64).div_ceil(10) + 1;
        assert!(charged <= ms(3 * periods) && charged > ms(20), "{kind:?}: {charged}");
        // Nothing is left of a program: a job of the loader runs as if there had never been one.
        assert_eq!(machine.releases(LOADER).last().map(|(job, _)| *job), Some((7 + 13 * 20 - 1) as u32 / 5));
    }
}

#[test]
fn what_makes_no_sense_is_left_out() {
    let mut machine = Machine::new(&setup(ServerKind::Deferrable), ms(1));
    machine.run(at(2), Instant::ZERO);
    // No program to unload; a task that is not the slot's; a period of no length; a slot that is not there; a refusal.
    machine.tell(at(2), &[], SlotAction::Unload);
    machine.tell(at(2), &[(LOADER, 1, 1), (FIRST, 1, 0)], SlotAction::Load);
    machine.scheduler.input(&mut machine.core, Input::Slot { slot: 9, load: 0, action: SlotAction::Load });
    machine.call(at(2), Event::Slot);
    machine.tell(at(2), &[(FIRST, 1, 10)], SlotAction::Refuse(SlotRefusal::Full));
    machine.run(at(21), at(2));
    assert_eq!((machine.releases(FIRST), machine.releases(SECOND)), (vec![], vec![]));
    assert_eq!(machine.releases(LOADER), [(0, 0), (1, 5), (2, 10), (3, 15), (4, 20)]);
    // The slot counts as full now, with a program of no tasks.
    machine.tell(at(21), &[(FIRST, 1, 10)], SlotAction::Load);
    assert_eq!(machine.releases(FIRST), []);
    machine.tell(at(22), &[], SlotAction::Unload);
    machine.tell(at(22), &[(FIRST, 1, 10)], SlotAction::Load);
    assert_eq!(machine.releases(FIRST), [(0, 22)]);
    // An event without a word changes nothing, nor do values without an action keep for later.
    machine.call(at(22), Event::Slot);
    assert_eq!(machine.releases(FIRST), [(0, 22)]);
}

#[test]
fn slots_that_are_not_sound_are_refused_and_sound_ones_are_stored() {
    let sound = setup(ServerKind::Sporadic);
    assert_eq!(PolicyConfig::decode(&sound.encode()), Ok(sound.clone()));
    let with = |alter: &dyn Fn(&mut ReconfigurableTree)| {
        let mut setup = sound.clone();
        if let PolicySpec::ReconfigurableTree(all) = &mut setup.kind {
            alter(all);
        }
        Scheduler::new(&setup).map(|_| ()).err()
    };
    assert_eq!(with(&|_| {}), None);
    let wrong: [&dyn Fn(&mut ReconfigurableTree); 7] = [
        &|all| all.slots[0].tasks = 0,
        &|all| all.slots[0].tasks = 3,
        &|all| all.slots[0].first = TaskId(0),
        &|all| all.absent.truncate(1),
        &|all| all.tree.places[2].server = 0,
        &|all| all.tree.places[1].overrun = Overrun::Skip,
        &|all| all.slots = vec![SlotTasks { first: FIRST, tasks: 1 }, SlotTasks { first: FIRST, tasks: 2 }],
    ];
    for (n, alter) in wrong.iter().enumerate() {
        assert!(matches!(with(alter), Some(PolicyConfigError::Slot(_))), "number {n}: {:?}", with(alter));
    }
}
