//! Directories under loom: every interleaving and every value that the memory model lets a core read, at small sizes.
//! Locks are taken for granted here; they have a model of their own in `tactus-sync`.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p tactus-compared-structures --release --test loom -- --nocapture` also prints how many
//! executions each model had. Models that are cut off at a number of preemptions say so.
#![cfg(loom)]

mod processors;

use processors::Processors;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use tactus_compared_structures::directory::{
    judge, Cpudl, Cpupri, CpupriLinux, Delegation, Directory, FastHeap, FlatCombining, LockedHeap, LockedRow, Marks,
    Overload, Scan, SkipList, Tournament,
};
use tactus_compared_structures::{planted, Cores};
use tactus_sync::{Lock, Order, Rank};

/// Explores a model to its end and gives the number of executions. A failure ends the test, or the program if that is
/// what was wanted: loom cannot always unwind out of a model that failed.
fn explore(preemptions: Option<usize>, model: impl Fn() + Sync + Send + 'static) -> u64 {
    tactus_sync::abstraction::grant_locks();
    let executions = Arc::new(AtomicU64::new(0));
    let counted = executions.clone();
    if std::env::var_os(WANTED).is_some() {
        let executions = executions.clone();
        std::panic::set_hook(Box::new(move |why| {
            println!("execution {}: {}", executions.load(Ordering::Relaxed), why.to_string().replace('\n', " "));
            std::process::exit(FOUND);
        }));
    }
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.max_branches = 20_000;
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        model();
    });
    executions.load(Ordering::Relaxed)
}

/// In the environment: which model is to fail in this program.
const WANTED: &str = "TACTUS_PLANTED";
/// How such a program ends.
const FOUND: i32 = 77;

fn holds(name: &str, preemptions: Option<usize>, model: impl Fn() + Sync + Send + 'static) {
    if std::env::var_os(WANTED).is_some() {
        return;
    }
    let bound = preemptions.map_or("all".to_string(), |n| format!("up to {n} preemptions"));
    println!("model {name}: holds in {} executions, {bound}", explore(preemptions, model));
}

/// Runs the model in a program of its own, where it must fail.
fn fails(name: &str, model: impl Fn() + Sync + Send + 'static) {
    match std::env::var(WANTED) {
        Ok(wanted) if wanted == name => {
            println!("not found in {} executions", explore(None, model));
        }
        Ok(_) => {}
        Err(_) => {
            let test = std::thread::current().name().unwrap_or_default().to_string();
            let program = std::env::current_exe().unwrap();
            let output = std::process::Command::new(program)
                .args([&test, "--exact", "--nocapture"])
                .env(WANTED, name)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            let last = said.lines().rfind(|line| line.contains("execution")).unwrap_or_default();
            println!("model {name}: found in {last}");
            assert_eq!(output.status.code(), Some(FOUND), "{name}: the planted bug is not found: {said}");
        }
    }
}

/// Cores begin with these numbers; then each of the changes is made by a thread of its own, in parallel, one of them by
/// the model's first thread. When all is quiet the directory must be as it must be.
fn settles<D: Directory + 'static>(begin: &'static [u64], changes: &'static [(usize, u64)]) -> impl Fn() {
    move || {
        let directory = loom::sync::Arc::new(D::init(begin.len()));
        let mut order = Order::unlocked();
        for (core, value) in begin.iter().enumerate() {
            directory.preempt(core, &mut order, core, *value);
        }
        directory.serve(0, &mut order);
        let others: Vec<_> = changes[1..]
            .iter()
            .map(|(core, value)| {
                let directory = directory.clone();
                loom::thread::spawn(move || directory.preempt(*core, &mut Order::unlocked(), *core, *value))
            })
            .collect();
        let (core, value) = changes[0];
        directory.preempt(core, &mut order, core, value);
        others.into_iter().for_each(|other| other.join().unwrap());

        let mut actual = begin.to_vec();
        changes.iter().for_each(|(core, value)| actual[*core] = *value);
        directory.check(&mut order, &actual).unwrap();
        let found = directory.find(0, &mut order, 1, Cores::ALL);
        judge::<D>(&actual, 1, Cores::below(actual.len()), found).unwrap();
    }
}

/// A core changes from one number to another, both greater than what is looked for meanwhile: it must be found.
fn is_found<D: Directory + 'static>(from: u64, to: u64) -> impl Fn() {
    move || {
        let directory = loom::sync::Arc::new(D::init(2));
        let mut order = Order::unlocked();
        directory.preempt(1, &mut order, 1, from);
        directory.serve(0, &mut order);
        let other = {
            let directory = directory.clone();
            loom::thread::spawn(move || directory.preempt(1, &mut Order::unlocked(), 1, to))
        };
        assert_eq!(directory.find(0, &mut order, 10, Cores::ALL), Some(1));
        other.join().unwrap();
        directory.check(&mut order, &[0, to]).unwrap();
    }
}

/// The core with the greatest number goes down while the next one goes down too, so that a third is left at the top;
/// or another goes up meanwhile.
const DOWN: (&[u64], &[(usize, u64)]) = (&[50, 40, 30], &[(0, 10), (1, 5)]);
const CROSS: (&[u64], &[(usize, u64)]) = (&[50, 5, 20], &[(0, 10), (1, 60)]);
const THREE: (&[u64], &[(usize, u64)]) = (&[50, 40, 30, 20], &[(0, 10), (1, 60), (2, 5)]);

/// The models with two threads.
fn two<D: Directory + 'static>(preemptions: Option<usize>) {
    holds(&format!("{}, two go down", D::NAME), preemptions, settles::<D>(DOWN.0, DOWN.1));
    holds(&format!("{}, one down, one up", D::NAME), preemptions, settles::<D>(CROSS.0, CROSS.1));
}

/// These, and the one with three threads, cut off where it would take too long.
fn all<D: Directory + 'static>(preemptions: Option<usize>) {
    two::<D>(None);
    holds(&format!("{}, three change", D::NAME), preemptions, settles::<D>(THREE.0, THREE.1));
}

#[test]
fn scan() {
    all::<Scan>(None);
    holds("scan, found while it changes", None, is_found::<Scan>(90, 70));
}

#[test]
fn cpupri() {
    all::<Cpupri>(None);
    holds("cpupri, found while it goes down", None, is_found::<Cpupri>(90, 70));
    all::<CpupriLinux>(None);
    holds("cpupri as in Linux, found while it goes down", None, is_found::<CpupriLinux>(90, 70));
    fails("cpupri as in Linux, out before in", is_found::<CpupriLinux<{ planted::OUT_BEFORE_IN }>>(90, 70));
    fails("cpupri without barriers", is_found::<Cpupri<{ planted::MISSING_BARRIER }>>(90, 70));
    fails("cpupri, out before in", is_found::<Cpupri<{ planted::OUT_BEFORE_IN }>>(90, 70));
}

#[test]
fn behind_a_lock() {
    two::<LockedRow>(None);
    two::<LockedHeap>(None);
}

#[test]
fn cpudl() {
    all::<Cpudl>(None);
    holds("cpudl, found while it changes", None, is_found::<Cpudl>(70, 90));
    fails("cpudl with a stale index", settles::<Cpudl<{ planted::STALE_INDEX }>>(DOWN.0, DOWN.1));
}

#[test]
fn fast_heap() {
    two::<FastHeap>(Some(3));
    holds("fast heap, three change", Some(2), settles::<FastHeap>(THREE.0, THREE.1));
    holds("fast heap, found while it changes", None, is_found::<FastHeap>(70, 90));
    fails("fast heap without barriers", settles::<FastHeap<{ planted::MISSING_BARRIER }>>(DOWN.0, DOWN.1));
    fails("fast heap with a stale index", settles::<FastHeap<{ planted::STALE_INDEX }>>(DOWN.0, DOWN.1));
}

#[test]
fn skip_list() {
    all::<SkipList>(None);
    fails("skip list, half unlinked", settles::<SkipList<{ planted::HALF_UNLINKED }>>(DOWN.0, DOWN.1));
}

#[test]
fn flat_combining() {
    // With three, two that wait can pass the turn to one another for ever; shuttle takes those.
    two::<FlatCombining>(None);
    fails("flat combining, lost wake-up", settles::<FlatCombining<{ planted::LOST_WAKE_UP }>>(DOWN.0, DOWN.1));
}

#[test]
fn delegation() {
    all::<Delegation>(Some(2));
    fails("delegation, told too early", settles::<Delegation<{ planted::TOLD_TOO_EARLY }>>(CROSS.0, CROSS.1));
}

#[test]
fn tournament() {
    two::<Tournament>(Some(3));
    holds("tournament, three change", Some(2), settles::<Tournament>(THREE.0, THREE.1));
    fails("tournament, one refresh", settles::<Tournament<{ planted::ONE_REFRESH }>>(CROSS.0, CROSS.1));
}

#[test]
fn marks() {
    fn looked_at<D: Directory + 'static>() -> impl Fn() {
        move || {
            let directory = loom::sync::Arc::new(D::init(2));
            let mut order = Order::unlocked();
            let other = {
                let directory = directory.clone();
                loom::thread::spawn(move || {
                    let mut order = Order::unlocked();
                    directory.preempt(1, &mut order, 1, 70);
                    directory.preempt(1, &mut order, 1, 40);
                })
            };
            let found = directory.find(0, &mut order, 10, Cores::ALL);
            assert!(found.is_none_or(|core| core == 1));
            other.join().unwrap();
            directory.check(&mut order, &[0, 40]).unwrap();
            assert_eq!(directory.find(0, &mut order, 10, Cores::ALL), Some(1));
        }
    }
    all::<Marks>(None);
    holds("marks, looked at meanwhile", None, looked_at::<Marks>());
    fails("marks, told too early", looked_at::<Marks<{ planted::TOLD_TOO_EARLY }>>());
}

#[test]
fn overload() {
    holds("overload, two cores", None, || {
        let overload = loom::sync::Arc::new(Overload::default());
        let other = {
            let overload = overload.clone();
            loom::thread::spawn(move || overload.set(1, true))
        };
        overload.set(0, true);
        overload.set(0, false);
        other.join().unwrap();
        overload.check(Cores::only(1)).unwrap();
        assert_eq!(overload.cores(), Cores::only(1));
    });
}

/// Two processors, one with a task that runs and one that waits: the other one's task ends and it pulls, while this one gets a
/// third task and pushes.
fn push_and_pull<D: Directory + 'static, const AGAINST: bool>() -> impl Fn() {
    move || {
        let all = loom::sync::Arc::new(Processors::<D, AGAINST>::idle(2));
        let mut order = Order::unlocked();
        all.arrive(0, &mut order, 30);
        all.arrive(1, &mut order, 40);
        all.arrive(0, &mut order, 50);
        let other = {
            let all = all.clone();
            loom::thread::spawn(move || all.block(1, &mut Order::unlocked()))
        };
        all.arrive(0, &mut order, 20);
        let mut ready = vec![20, 30, 40, 50];
        let ended = other.join().unwrap();
        ready.retain(|task| Some(*task) != ended);
        all.check(ready);
    }
}

#[test]
fn two_processors_push_and_pull() {
    holds("push and pull, scan", Some(2), push_and_pull::<Scan, false>());
    holds("push and pull, row behind a lock", Some(2), push_and_pull::<LockedRow, false>());
    holds("push and pull, cpudl", Some(2), push_and_pull::<Cpudl, false>());
    fails("push and pull, wrong lock order", push_and_pull::<Scan, true>());
}

#[test]
#[ignore = "takes minutes to hours"]
fn fast_heap_to_the_end() {
    two::<FastHeap>(None);
}

#[test]
#[ignore = "takes minutes to hours"]
fn tournament_to_the_end() {
    two::<Tournament>(None);
}

#[test]
#[ignore = "takes minutes"]
fn delegation_to_the_end() {
    all::<Delegation>(None);
}

#[test]
#[ignore = "takes minutes to hours"]
fn push_and_pull_to_the_end() {
    holds("push and pull, row behind a lock", None, push_and_pull::<LockedRow, false>());
    holds("push and pull, scan", None, push_and_pull::<Scan, false>());
}

/// The tokens are made twice for one core here, which is what it takes to get round the types.
#[test]
fn a_wrong_lock_order_is_a_deadlock() {
    struct One;
    impl Rank for One {
        const NUMBER: u32 = 1;
    }
    fails("wrong lock order", || {
        let row = loom::sync::Arc::new([Lock::<u32, One>::new(0), Lock::<u32, One>::new(0)]);
        let other = {
            let row = row.clone();
            loom::thread::spawn(move || {
                let (mut a, mut b) = (Order::unlocked(), Order::unlocked());
                let second = row[1].lock(&mut a);
                let first = row[0].lock(&mut b);
                drop((second, first));
            })
        };
        let mut order = Order::unlocked();
        drop(tactus_sync::lock_two(&row[..], 0, 1, &mut order));
        other.join().unwrap();
    });
}
