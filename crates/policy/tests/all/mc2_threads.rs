//! MC² with a lock for each container and core, and without any, on real threads: whatever their interleaving, no task is on two cores,
//! none is lost, and time is charged once.

use crate::common::{systems::any_policy, Kept};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tactus_policy::{CoreState, Decision, Event, FineMc2, Mc2, Policy, PolicyConfig, PolicySpec, Scheduler};
use tactus_record::{EventKind, Record};
use tactus_time::{Instant, Level};

const CALLS: u64 = 300;
const NOBODY: usize = usize::MAX;

/// With locks and these switches, or without locks.
fn machinery(setup: &PolicyConfig, mc2: &Mc2, switches: Option<u8>) -> PolicyConfig {
    let Some(switches) = switches else {
        return PolicyConfig { kind: PolicySpec::Mc2Messages(mc2.clone()), ..setup.clone() };
    };
    let [interrupt_master, timer_merging, work_redistribution] = [switches > 0, switches & 1 > 0, switches & 2 > 0];
    let kind = PolicySpec::FineMc2(FineMc2 { mc2: mc2.clone(), interrupt_master, timer_merging, work_redistribution });
    PolicyConfig { kind, ..setup.clone() }
}

/// What every thread sees of the machine.
struct World<'a> {
    setup: &'a PolicyConfig,
    scheduler: &'a Scheduler,
    clock: AtomicU64,
    /// On which core each task is.
    on: Vec<AtomicUsize>,
    /// Who has been sent an event.
    notified: Vec<AtomicUsize>,
}

impl World<'_> {
    /// One call. A core that is in its scheduler runs no job.
    fn call(&self, core: &mut CoreState, number: usize, event: Event, last: &mut Decision, records: &mut Vec<Record>) {
        let now = Instant::from_nanos(self.clock.fetch_add(1_000, Ordering::Relaxed));
        if let Some(run) = last.run {
            assert_eq!(self.on[run.task.index()].swap(NOBODY, Ordering::SeqCst), number);
        }
        let mut kept = Kept::default();
        *last = self.scheduler.handle(core, now, event, &mut kept);
        records.append(&mut kept.0);
        if let Some(run) = last.run {
            let before = self.on[run.task.index()].swap(number, Ordering::SeqCst);
            assert_eq!(before, NOBODY, "task {} is on two cores", run.task.0);
        }
        for other in last.notify.iter() {
            self.notified[other.index()].store(1, Ordering::SeqCst);
        }
    }
}

fn live(setup: &PolicyConfig) {
    let (scheduler, mut states) = Scheduler::new(setup).expect("the set-up is good");
    let world = World {
        setup,
        scheduler: &scheduler,
        clock: AtomicU64::new(0),
        on: setup.tasks.iter().map(|_| AtomicUsize::new(NOBODY)).collect(),
        notified: (0..setup.cores).map(|_| AtomicUsize::new(0)).collect(),
    };
    let mut lasts: Vec<Decision> = Vec::new();
    let mut all: Vec<Vec<Record>> = Vec::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = states
            .iter_mut()
            .enumerate()
            .map(|(n, core)| {
                let world = &world;
                scope.spawn(move || {
                    let mut last = Decision { run: None, timer: Instant::NEVER, notify: Default::default(), ticket: 0 };
                    let mut records = Vec::new();
                    world.call(core, n, Event::Start, &mut last, &mut records);
                    for call in 0..CALLS {
                        let notified = world.notified[n].swap(0, Ordering::SeqCst) == 1;
                        let event = match (call * 31 + n as u64 * 17) % 5 {
                            _ if notified => Event::Notify,
                            0 | 3 if last.run.is_some() => Event::Complete,
                            _ => Event::Timer,
                        };
                        world.call(core, n, event, &mut last, &mut records);
                    }
                    (last, records)
                })
            })
            .collect();
        for thread in threads {
            let (last, records) = thread.join().expect("no thread panics");
            lasts.push(last);
            all.push(records);
        }
    });
    // From here on one after the other: events are handled until nobody has any, and all that is pending ends.
    let mut pending = vec![0_i64; setup.tasks.len()];
    for quiet in 0..100_000 {
        let n = quiet % setup.cores;
        let notified = world.notified[n].swap(0, Ordering::SeqCst) == 1;
        let event = if !notified && lasts[n].run.is_some() { Event::Complete } else { Event::Notify };
        // Time goes on slowly, so that ghosts end and little is released.
        world.clock.fetch_sub(998, Ordering::Relaxed);
        world.call(&mut states[n], n, event, &mut lasts[n], &mut all[n]);
        let idle = lasts.iter().all(|last| last.run.is_none());
        let silent = world.notified.iter().all(|notified| notified.load(Ordering::SeqCst) == 0);
        // Timers that are not merged are handled one at a call.
        if idle && silent && quiet > 40 * setup.cores {
            break;
        }
    }
    for record in all.iter().flatten() {
        let Some(task) = record.task else { continue };
        match record.kind {
            EventKind::Release => pending[task.index()] += 1,
            EventKind::Complete => pending[task.index()] -= 1,
            _ => {}
        }
    }
    let enforced = match &world.setup.kind {
        PolicySpec::FineMc2(fine) => fine.mc2.enforce,
        PolicySpec::Mc2Messages(mc2) => mc2.enforce,
        _ => unreachable!(),
    };
    for (n, pending) in pending.into_iter().enumerate() {
        assert!(pending >= 0, "task {n} completed more jobs than it had");
        // Levels C and D need no slot; and without enforcement no budget.
        if world.setup.tasks[n].level == Level::D || world.setup.tasks[n].level == Level::C && !enforced {
            assert_eq!(pending, 0, "a job of task {n} was lost: {:?}", world.setup);
        }
    }
}

#[test]
fn threads_never_share_a_task_and_lose_none_whatever_machinery_is_on() {
    let mut runner = TestRunner::deterministic();
    let mixed = any_policy(20_000, 5_000).prop_filter_map("MC² only", |setup| match setup.kind.clone() {
        PolicySpec::Mc2(mc2) if setup.cores > 1 => Some((setup, mc2)),
        _ => None,
    });
    for round in 0..60 {
        let (setup, mc2) = mixed.new_tree(&mut runner).expect("systems can be made").current();
        live(&machinery(&setup, &mc2, (round % 6 < 4).then_some(round % 6)));
    }
}
