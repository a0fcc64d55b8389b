//! What threads see of a scheduler: who runs when, on a machine of the test's own (`fake`).

#![cfg(not(loom))]

mod fake;

use fake::{Fake, Me, CLIENT};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::OnceLock;
use tactus_sched::rt::calls::Error;
use tactus_sched::thread_schedulers::FixedPriority;
use tactus_sched::{Parameters, Scheduler};

type System = Scheduler<FixedPriority, Fake>;
type Body = Box<dyn FnOnce(&Me, &'static System) + Send>;

/// Runs a system; the first body is the first thread (priority 16).
fn run(cores: usize, quantum: u64, bodies: Vec<Body>) -> Vec<String> {
    let place: &'static OnceLock<&'static System> = Box::leak(Box::new(OnceLock::new()));
    let bodies = bodies.into_iter().map(|body| -> Box<dyn FnOnce(&Me) + Send> {
        Box::new(move |me: &Me| body(me, place.get().expect("set before anything runs")))
    });
    let policies = std::array::from_fn(|_| FixedPriority::new());
    Fake::new(cores, bodies.collect()).run(quantum, policies, |system| {
        let _ = place.set(system);
    })
}

/// Makes the thread of a body.
fn make(me: &Me, system: &'static System, body: u64, parameters: Parameters) -> u64 {
    me.call(|caller| system.sched_create_thread(caller, CLIENT.into(), parameters.0, [body, 0])).expect("a thread")
}

fn priority(priority: u16) -> Parameters {
    Parameters::priority_of(priority)
}

/// A thread of which nothing is left to do.
fn exit(me: &Me, system: &'static System) -> ! {
    let _ = me.call(|caller| system.sched_exit(caller));
    unreachable!("a thread that has ended is never dispatched")
}

#[test]
fn a_woken_thread_that_is_more_urgent_runs_at_once_and_one_that_is_less_urgent_waits() {
    let log = run(
        1,
        1_000,
        vec![
            Box::new(|me, system| {
                let urgent = make(me, system, 1, priority(3));
                let lazy = make(me, system, 2, priority(30));
                me.log("first goes on");
                for thread in [lazy, urgent] {
                    me.call(|caller| system.sched_wakeup(caller, thread)).expect("it is there");
                    me.log("woke one");
                }
                me.call(|caller| system.sched_block(caller)).expect("its own");
                me.end()
            }),
            Box::new(|me, system| {
                me.log("urgent begins");
                me.call(|caller| system.sched_block(caller)).expect("its own");
                me.log("urgent woken");
                exit(me, system)
            }),
            Box::new(|me, system| {
                me.log("lazy begins");
                // It was woken before it ever blocked.
                me.call(|caller| system.sched_block(caller)).expect("its own");
                me.log("lazy goes on");
                me.call(|caller| system.sched_wakeup(caller, 1)).expect("the first thread");
                exit(me, system)
            }),
        ],
    );
    let expected = [
        "0 urgent begins",
        "0 first goes on",
        "0 woke one",
        "0 urgent woken",
        "0 woke one",
        "0 lazy begins",
        "0 lazy goes on",
    ];
    assert_eq!(log, expected);
}

#[test]
fn equals_take_turns_by_quanta() {
    let worker: fn(&'static str) -> Body = |name| {
        Box::new(move |me, system| {
            for _ in 0..3 {
                me.log(name);
                me.work(10);
            }
            exit(me, system)
        })
    };
    let log = run(
        1,
        10,
        vec![
            Box::new(|me, system| {
                make(me, system, 1, priority(20));
                make(me, system, 2, priority(20));
                me.call(|caller| system.sched_block(caller)).expect("its own");
                me.end()
            }),
            worker("one"),
            worker("two"),
        ],
    );
    assert_eq!(log, ["0 one", "10 two", "20 one", "30 two", "40 one", "50 two"]);
}

#[test]
fn who_holds_up_an_urgent_thread_goes_before_those_in_between() {
    let log = run(
        1,
        1_000_000,
        vec![
            Box::new(|me, system| {
                make(me, system, 1, priority(40));
                me.call(|caller| system.sched_timeout_thd(caller)).expect("its own");
                me.call(|caller| system.sched_timeout(caller, 5)).expect("its own");
                me.call(|caller| system.sched_block(caller)).expect("its own");
                // The lazy one is inside the section now. One in between, then the urgent one.
                make(me, system, 2, priority(30));
                make(me, system, 3, priority(3));
                me.call(|caller| system.sched_block(caller)).expect("its own");
                me.end()
            }),
            Box::new(|me, system| {
                me.call(|caller| system.sched_component_take(caller)).expect("its own");
                me.log("lazy is inside");
                me.work(20);
                me.log("lazy leaves");
                me.call(|caller| system.sched_component_release(caller)).expect("it is inside");
                me.log("lazy goes on");
                me.call(|caller| system.sched_wakeup(caller, 1)).expect("the first thread");
                exit(me, system)
            }),
            Box::new(|me, system| {
                me.log("middle begins");
                me.work(100);
                me.log("middle ends");
                exit(me, system)
            }),
            Box::new(|me, system| {
                me.log("urgent wants in");
                me.call(|caller| system.sched_component_take(caller)).expect("its own");
                me.log("urgent is inside");
                me.call(|caller| system.sched_component_release(caller)).expect("it is inside");
                exit(me, system)
            }),
        ],
    );
    let expected = [
        "0 lazy is inside",
        "5 urgent wants in",
        "20 lazy leaves",
        "20 urgent is inside",
        "20 middle begins",
        "120 middle ends",
        "120 lazy goes on",
    ];
    assert_eq!(log, expected);
}

#[test]
fn dependants_of_a_blocked_thread_wait_with_it_and_lend_it_their_urgency_when_it_wakes() {
    let log = run(
        1,
        1_000_000,
        vec![
            Box::new(|me, system| {
                let holder = make(me, system, 1, priority(40));
                make(me, system, 2, priority(3));
                // Nothing but a time-out can go on now: the urgent thread depends on one that sleeps.
                me.log("first goes on");
                assert_eq!(holder, 2);
                me.call(|caller| system.sched_block(caller)).expect("its own");
                me.end()
            }),
            Box::new(|me, system| {
                me.call(|caller| system.sched_timeout_thd(caller)).expect("its own");
                me.call(|caller| system.sched_timeout(caller, 7)).expect("its own");
                me.call(|caller| system.sched_block(caller)).expect("its own");
                me.log("holder wakes");
                me.work(3);
                me.call(|caller| system.sched_wakeup(caller, 3)).expect("the urgent thread");
                me.log("holder goes on");
                me.call(|caller| system.sched_wakeup(caller, 1)).expect("the first thread");
                exit(me, system)
            }),
            Box::new(|me, system| {
                me.log("urgent depends");
                me.call(|caller| system.sched_block_dep(caller, 2)).expect("its own");
                me.log("urgent goes on");
                exit(me, system)
            }),
        ],
    );
    // The holder has not run when the urgent thread comes to depend on it: it runs at once, by that urgency.
    let expected = ["0 urgent depends", "0 first goes on", "7 holder wakes", "10 urgent goes on", "10 holder goes on"];
    assert_eq!(log, expected);
}

/// The first thread leaves the core, and its choice is a lazy thread; before the dispatch is looked at, an urgent one becomes
/// active. The lazy one wakes the first.
fn overtaken(leave: impl FnOnce(&Me, &'static System) + Send + 'static) -> Vec<String> {
    run(
        1,
        1_000,
        vec![
            Box::new(|me, system| {
                make(me, system, 1, priority(3));
                make(me, system, 2, priority(20));
                me.overtake_with(2);
                leave(me, system);
                me.end()
            }),
            Box::new(|me, system| {
                me.call(|caller| system.sched_block(caller)).expect("its own");
                me.log("urgent");
                exit(me, system)
            }),
            Box::new(|me, system| {
                me.log("lazy");
                me.call(|caller| system.sched_wakeup(caller, 1)).expect("the first thread");
                exit(me, system)
            }),
        ],
    )
}

#[test]
fn what_comes_between_decision_and_dispatch_is_decided_anew() {
    let log = overtaken(|me, system| {
        me.call(|caller| system.sched_block(caller)).expect("its own");
    });
    assert_eq!(log, ["0 urgent", "0 lazy"]);
}

#[test]
fn who_leaves_the_core_by_a_service_goes_on_at_its_caller_and_who_keeps_it_comes_back_inside() {
    let log = run(
        1,
        1_000,
        vec![
            Box::new(|me, system| {
                let urgent = make(me, system, 1, priority(3));
                me.log("first goes on");
                let asked = me.ask(|caller| {
                    let answer = system.sched_wakeup_and_return(caller, urgent);
                    me.log("first is inside");
                    answer
                });
                assert_eq!(asked, Ok(0));
                me.log("first is back");
                // Nobody to wake: the answer is its own.
                let asked = me.ask(|caller| system.sched_wakeup_and_return(caller, 77));
                assert_eq!(asked, Err(Error::BadThread));
                me.end()
            }),
            Box::new(|me, system| {
                let block = || {
                    me.ask(|caller| {
                        let answer = system.sched_block_and_return(caller);
                        me.log("urgent is inside");
                        answer
                    })
                };
                assert_eq!(block(), Ok(0));
                me.log("urgent is back");
                // Woken before it blocks: there is nothing to wait for.
                let itself = me.thread;
                me.call(|caller| system.sched_wakeup(caller, itself)).expect("its own");
                assert_eq!(block(), Ok(0));
                exit(me, system)
            }),
        ],
    );
    assert_eq!(log, ["0 first goes on", "0 urgent is back", "0 urgent is inside", "0 first is back"]);
}

#[test]
fn a_dispatch_that_ends_a_call_and_comes_too_late_is_decided_anew_and_still_ends_the_call() {
    let log = overtaken(|me, system| {
        let asked = me.ask(|caller| {
            let answer = system.sched_block_and_return(caller);
            me.log("first is inside");
            answer
        });
        assert_eq!(asked, Ok(0));
        me.log("first is back");
    });
    assert_eq!(log, ["0 urgent", "0 lazy", "0 first is back"]);
}

#[test]
fn a_thread_wakes_another_cores_thread_again_and_again() {
    static ROUNDS: AtomicU64 = AtomicU64::new(0);
    let log = run(
        2,
        1_000_000_000,
        vec![
            Box::new(|me, system| {
                let other = make(me, system, 1, priority(5).on_core(1));
                for round in 1..=2_000 {
                    me.call(|caller| system.sched_wakeup(caller, other)).expect("it is there");
                    me.call(|caller| system.sched_block(caller)).expect("its own");
                    assert_eq!(ROUNDS.load(SeqCst), round);
                }
                me.log("all came back");
                me.end()
            }),
            Box::new(|me, system| loop {
                me.call(|caller| system.sched_block(caller)).expect("its own");
                assert_eq!(me.core(), 1);
                ROUNDS.fetch_add(1, SeqCst);
                me.call(|caller| system.sched_wakeup(caller, 2)).expect("the first thread");
            }),
        ],
    );
    assert_eq!(log.len(), 1);
    assert!(log[0].ends_with("all came back"), "{log:?}");
}

#[test]
fn a_thread_that_moves_runs_on_the_other_core_and_is_woken_there() {
    let log = run(
        2,
        1_000_000_000,
        vec![
            Box::new(|me, system| {
                let other = make(me, system, 1, priority(20));
                for _ in 0..500 {
                    me.call(|caller| system.sched_wakeup(caller, other)).expect("it is there");
                    me.call(|caller| system.sched_block(caller)).expect("its own");
                }
                me.log("all came back");
                me.end()
            }),
            Box::new(|me, system| loop {
                me.call(|caller| system.sched_block(caller)).expect("its own");
                let to = 1 - me.core();
                me.call(|caller| system.sched_move(caller, to as u64)).expect("there are two");
                assert_eq!(me.core(), to);
                me.call(|caller| system.sched_wakeup(caller, 2)).expect("the first thread");
            }),
        ],
    );
    assert_eq!(log.len(), 1);
    assert!(log[0].ends_with("all came back"), "{log:?}");
}

#[test]
fn nobody_may_do_what_is_not_his() {
    let log = run(
        1,
        1_000,
        vec![Box::new(|me, system| {
            assert_eq!(me.call(|caller| system.sched_wakeup(caller, 77)), Err(Error::BadThread));
            assert_eq!(me.call(|caller| system.sched_wakeup(caller, u64::MAX)), Err(Error::BadThread));
            assert_eq!(me.call(|caller| system.sched_block_dep(caller, 1)), Err(Error::BadThread), "on itself");
            assert_eq!(me.call(|caller| system.sched_timeout(caller, 5)), Err(Error::NoRight), "not declared");
            assert_eq!(me.call(|caller| system.sched_component_release(caller)), Err(Error::NotHeld));
            assert_eq!(me.call(|caller| system.sched_move(caller, 1)), Err(Error::BadCore));
            assert_eq!(me.call(|caller| system.sched_child_wakeup(caller)), Err(Error::NotChild));
            let dispatches = me.dispatches();
            me.call(|caller| system.sched_component_take(caller)).expect("its own");
            me.call(|caller| system.sched_component_release(caller)).expect("it is inside");
            assert_eq!(me.dispatches(), dispatches, "a section that nobody wants takes no dispatch");
            me.log("all refused");
            me.end()
        })],
    );
    assert_eq!(log, ["0 all refused"]);
}
