//! Directories under shuttle: random schedules at sizes that loom cannot reach. Shuttle knows no weak memory, so missing
//! barriers are loom's to find.
//!
//! `RUSTFLAGS="--cfg shuttle" cargo test -p tactus-compared-structures --release --test shuttle -- --nocapture`
#![cfg(shuttle)]

mod processors;

use processors::Processors;
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, Runner};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use tactus_compared_structures::directory::{
    judge, Cpudl, Cpupri, CpupriLinux, Delegation, Directory, FastHeap, FlatCombining, LockedHeap, LockedRow, Marks,
    Scan, SkipList, Tournament, CLOSED,
};
use tactus_compared_structures::{planted, Cores};
use tactus_sync::{Lock, Order, Rank};

/// How many schedules an ordinary run tries of each kind.
const SCHEDULES: usize = 300;

/// `threads` threads with two cores each change their numbers and look, three times; then all must be as it must be.
fn settles<D: Directory + 'static>(threads: usize) -> impl Fn() + Send + Sync + Clone + 'static {
    move || {
        let cores = 2 * threads;
        let directory = Arc::new(D::init(cores));
        let value = |core: usize, round: usize| ((core * 7 + round * 13) * 31 % 97 + 1) as u64;
        let handles: Vec<_> = (0..threads)
            .map(|thread| {
                let directory = directory.clone();
                shuttle::thread::spawn(move || {
                    let mut order = Order::unlocked();
                    for round in 0..3 {
                        let core = 2 * thread + round % 2;
                        directory.preempt(thread, &mut order, core, value(core, round));
                        directory.serve(thread, &mut order);
                        let found = directory.find(thread, &mut order, 40, Cores::below(cores).without(core));
                        assert!(found.is_none_or(|found| found < cores && found != core));
                    }
                })
            })
            .collect();
        handles.into_iter().for_each(|handle| handle.join().unwrap());
        let mut actual = vec![CLOSED; cores];
        (0..threads).for_each(|thread| {
            actual[2 * thread] = value(2 * thread, 2);
            actual[2 * thread + 1] = value(2 * thread + 1, 1);
        });
        let mut order = Order::unlocked();
        directory.check(&mut order, &actual).unwrap();
        let found = directory.find(0, &mut order, 1, Cores::ALL);
        judge::<D>(&actual, 1, Cores::below(cores), found).unwrap();
    }
}

/// How many schedules pass before one fails; nothing if none does.
fn explore(pct: bool, schedules: usize, model: impl Fn() + Send + Sync + Clone + 'static) -> Option<u64> {
    let count = Arc::new(AtomicU64::new(0));
    let counted = count.clone();
    let model = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        model();
    };
    let mut config = Config::new();
    config.max_steps = shuttle::MaxSteps::FailAfter(200_000);
    config.failure_persistence = shuttle::FailurePersistence::None;
    let result = catch_unwind(AssertUnwindSafe(|| {
        if pct {
            Runner::new(PctScheduler::new_from_seed(7, 3, schedules), config).run(model);
        } else {
            Runner::new(RandomScheduler::new_from_seed(7, schedules), config).run(model);
        }
    }));
    result.err().map(|_| count.load(Ordering::Relaxed))
}

fn holds<D: Directory + 'static>() {
    for (threads, schedules) in [(3, SCHEDULES), (6, SCHEDULES / 3)] {
        let failed = explore(false, schedules, settles::<D>(threads));
        assert_eq!(failed, None, "{} fails with {threads} threads", D::NAME);
        println!("model {}: holds with {threads} threads in {schedules} random schedules", D::NAME);
    }
}

fn fails(name: &str, model: impl Fn() + Send + Sync + Clone + 'static) {
    let failed = explore(false, 20_000, model);
    println!("model {name}: found in schedule {failed:?}");
    assert!(failed.is_some(), "{name}: the planted bug is not found");
}

#[test]
fn every_directory_settles_in_random_schedules() {
    holds::<Scan>();
    holds::<Cpupri>();
    holds::<CpupriLinux>();
    holds::<LockedRow>();
    holds::<LockedHeap>();
    holds::<Cpudl>();
    holds::<FastHeap>();
    holds::<SkipList>();
    holds::<FlatCombining>();
    holds::<Delegation>();
    holds::<Tournament>();
    holds::<Marks>();
}

#[test]
fn every_structure_without_waiting_settles_under_priorities_that_change() {
    fn pct<D: Directory + 'static>() {
        assert_eq!(explore(true, SCHEDULES, settles::<D>(4)), None, "{}", D::NAME);
        println!("model {}: holds with 4 threads in {SCHEDULES} PCT schedules of depth 3", D::NAME);
    }
    pct::<Scan>();
    pct::<Cpupri>();
    pct::<CpupriLinux>();
    pct::<Tournament>();
}

/// Processors that push and pull: each gets two tasks, ends one, and gets another.
fn push_and_pull<D: Directory + 'static, const AGAINST: bool>(
    processors: usize,
) -> impl Fn() + Send + Sync + Clone + 'static {
    move || {
        let all = Arc::new(Processors::<D, AGAINST>::idle(processors));
        let handles: Vec<_> = (0..processors as u64)
            .map(|me| {
                let all = all.clone();
                shuttle::thread::spawn(move || {
                    let (core, mut order) = (me as usize, Order::unlocked());
                    let [first, second, third] = [3 + me, 40 - 5 * me, 60 + 7 * me];
                    all.arrive(core, &mut order, second);
                    all.arrive(core, &mut order, third);
                    let ended = all.block(core, &mut order);
                    all.arrive(core, &mut order, first);
                    (vec![first, second, third], ended)
                })
            })
            .collect();
        let (mut ready, mut ended) = (Vec::new(), Vec::new());
        for handle in handles {
            let (came, went) = handle.join().unwrap();
            ready.extend(came);
            ended.extend(went);
        }
        ready.retain(|task| !ended.contains(task));
        assert_eq!(ready.len() + ended.len(), 3 * processors, "nothing ends twice");
        all.check(ready);
    }
}

#[test]
fn processors_that_push_and_pull_lose_no_task_and_do_not_wait_for_ever() {
    fn moves<D: Directory + 'static>() {
        for (processors, schedules) in [(2, SCHEDULES), (4, SCHEDULES / 3)] {
            let failed = explore(false, schedules, push_and_pull::<D, false>(processors));
            assert_eq!(failed, None, "{} fails with {processors} processors", D::NAME);
            println!("model {}: {processors} processors push and pull in {schedules} random schedules", D::NAME);
        }
    }
    moves::<Scan>();
    moves::<LockedRow>();
    moves::<LockedHeap>();
    moves::<Cpupri>();
    moves::<CpupriLinux>();
    moves::<Cpudl>();
    moves::<FastHeap>();
    moves::<SkipList>();
    moves::<FlatCombining>();
    moves::<Delegation>();
    moves::<Tournament>();
    moves::<Marks>();
}

#[test]
fn planted_bugs_are_found_in_random_schedules() {
    std::panic::set_hook(Box::new(|_| {}));
    fails("cpudl with a stale index", settles::<Cpudl<{ planted::STALE_INDEX }>>(3));
    fails("fast heap with a stale index", settles::<FastHeap<{ planted::STALE_INDEX }>>(3));
    fails("skip list, half unlinked", settles::<SkipList<{ planted::HALF_UNLINKED }>>(3));
    fails("flat combining, lost wake-up", settles::<FlatCombining<{ planted::LOST_WAKE_UP }>>(3));
    fails("delegation, told too early", settles::<Delegation<{ planted::TOLD_TOO_EARLY }>>(3));
    fails("marks, told too early", settles::<Marks<{ planted::TOLD_TOO_EARLY }>>(3));
    fails("tournament, one refresh", settles::<Tournament<{ planted::ONE_REFRESH }>>(3));
    fails("cpupri, out before in, found while it goes down", || {
        let directory = Arc::new(Cpupri::<{ planted::OUT_BEFORE_IN }>::init(2));
        let mut order = Order::unlocked();
        directory.preempt(1, &mut order, 1, 100);
        let other = directory.clone();
        let other = shuttle::thread::spawn(move || other.preempt(1, &mut Order::unlocked(), 1, 99));
        assert_eq!(directory.find(0, &mut order, 10, Cores::ALL), Some(1));
        other.join().unwrap();
    });
    fails("wrong lock order of two ready queues", push_and_pull::<Scan, true>(2));
    struct One;
    impl Rank for One {
        const NUMBER: u32 = 1;
    }
    fails("wrong lock order", || {
        let row = Arc::new([Lock::<u32, One>::new(0), Lock::<u32, One>::new(0)]);
        let other = row.clone();
        let other = shuttle::thread::spawn(move || {
            let (mut a, mut b) = (Order::unlocked(), Order::unlocked());
            let second = other[1].lock(&mut a);
            let first = other[0].lock(&mut b);
            drop((second, first));
        });
        let mut order = Order::unlocked();
        drop(tactus_sync::lock_two(&row[..], 0, 1, &mut order));
        other.join().unwrap();
    });
    let _ = std::panic::take_hook();
}

#[test]
#[ignore = "takes minutes"]
fn a_hundred_times_as_many_schedules() {
    fn many<D: Directory + 'static>() {
        assert_eq!(explore(false, 100 * SCHEDULES, settles::<D>(4)), None, "{}", D::NAME);
        println!("model {}: holds with 4 threads in {} random schedules", D::NAME, 100 * SCHEDULES);
    }
    many::<FastHeap>();
    many::<Tournament>();
    many::<FlatCombining>();
    many::<SkipList>();
}
