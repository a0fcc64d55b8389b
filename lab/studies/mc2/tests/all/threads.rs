//! MC² with a lock for each container and core, and without any, on real threads: whatever their interleaving, no task is on two cores,
//! none is lost, and time is charged once.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tactus_mc2_variants::{Fine, Machinery, Messages};
use tactus_policy::{Decision, Event, Policy, PolicyConfig, PolicySpec};
use tactus_record::{EventKind, Record};
use tactus_slow_machine::{systems::any_policy, Kept};
use tactus_time::{Instant, Level};

const CALLS: u64 = 300;
const NOBODY: usize = usize::MAX;

/// What of the source's machinery is on: nothing, or the master with what these bits say.
fn machinery(switches: u8) -> Machinery {
    Machinery { interrupt_master: switches > 0, timer_merging: switches & 1 > 0, work_redistribution: switches & 2 > 0 }
}

/// What every thread sees of the machine.
struct World<'a, P> {
    setup: &'a PolicyConfig,
    policy: &'a P,
    clock: AtomicU64,
    /// On which core each task is.
    on: Vec<AtomicUsize>,
    /// Who has been sent an event.
    notified: Vec<AtomicUsize>,
}

impl<P: Policy> World<'_, P> {
    /// One call. A core that is in its scheduler runs no job.
    fn call(&self, core: &mut P::Core, number: usize, event: Event, last: &mut Decision, records: &mut Vec<Record>) {
        let now = Instant::from_nanos(self.clock.fetch_add(1_000, Ordering::Relaxed));
        if let Some(run) = last.run {
            assert_eq!(self.on[run.task.index()].swap(NOBODY, Ordering::SeqCst), number);
        }
        let mut kept = Kept::default();
        *last = self.policy.handle(core, now, event, &mut kept);
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

fn live<P: Policy + Sync>(setup: &PolicyConfig, (policy, mut states): (P, Vec<P::Core>))
where
    P::Core: Send,
{
    let world = World {
        setup,
        policy: &policy,
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
    let PolicySpec::Mc2(mc2) = &world.setup.kind else { panic!("{:?}", world.setup.kind) };
    for (n, pending) in pending.into_iter().enumerate() {
        assert!(pending >= 0, "task {n} completed more jobs than it had");
        // Levels C and D need no slot; and without enforcement no budget.
        if world.setup.tasks[n].level == Level::D || world.setup.tasks[n].level == Level::C && !mc2.enforce {
            assert_eq!(pending, 0, "a job of task {n} was lost: {:?}", world.setup);
        }
    }
}

#[test]
fn threads_never_share_a_task_and_lose_none_whatever_machinery_is_on() {
    let mut runner = TestRunner::deterministic();
    let mixed = any_policy(20_000, 5_000).prop_filter_map("MC² only", |setup| match setup.kind {
        PolicySpec::Mc2(_) if setup.cores > 1 => Some(setup),
        _ => None,
    });
    for round in 0..60 {
        let setup = mixed.new_tree(&mut runner).expect("systems can be made").current();
        match round % 6 {
            switches @ 0..4 => live(&setup, Fine::new(&setup, machinery(switches)).expect("the set-up is good")),
            _ => live(&setup, Messages::new(&setup).expect("the set-up is good")),
        }
    }
}
