//! Servers on a machine of the test's own: who gets how much, and when.

#[allow(dead_code)]
mod fake;

use fake::{Fake, Me, CLIENT};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::OnceLock;
use tactus_sched::thread_schedulers::Deferrable;
use tactus_sched::{Parameters, Scheduler};

type System = Scheduler<Deferrable, Fake>;
type Body = Box<dyn FnOnce(&Me, &'static System) + Send>;

/// Runs a system whose servers have 2 in 10 unless they are set.
fn run(bodies: Vec<Body>) -> Vec<String> {
    let place: &'static OnceLock<&'static System> = Box::leak(Box::new(OnceLock::new()));
    let bodies = bodies.into_iter().map(|body| -> Box<dyn FnOnce(&Me) + Send> {
        Box::new(move |me: &Me| body(me, place.get().expect("set before anything runs")))
    });
    let policies = std::array::from_fn(|_| Deferrable::new(2, 10));
    Fake::new(1, bodies.collect()).run(1_000_000, policies, |system| {
        let _ = place.set(system);
    })
}

fn make(me: &Me, system: &'static System, body: u64, parameters: Parameters) {
    me.call(|caller| system.sched_create_thread(caller, CLIENT.into(), parameters.0, [body, 0])).expect("a thread");
}

#[test]
fn a_server_that_always_has_work_gets_its_budget_in_each_period_and_no_more() {
    static GOT: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
    let works: fn(usize) -> Body = |which| {
        Box::new(move |me, _| loop {
            // Counted before, since a budget ends inside.
            GOT[which].fetch_add(1, SeqCst);
            me.work(1);
        })
    };
    let log = run(vec![
        Box::new(|me, system| {
            assert!(me.call(|caller| system.with_policy(caller, |policy| policy.set_server(2, 5, 20))));
            make(me, system, 1, Parameters::priority_of(3).in_server(1));
            make(me, system, 2, Parameters::priority_of(4).in_server(2));
            // What is left: this thread is in no server and less urgent.
            me.work(109);
            me.log(&format!("{} and {}", GOT[0].load(SeqCst), GOT[1].load(SeqCst)));
            me.end()
        }),
        works(0),
        works(1),
    ]);
    // Of 200: a fifth, a quarter; the rest was the first thread's.
    assert_eq!(log, ["199 40 and 50"]);
}

#[test]
fn a_budget_is_kept_while_there_is_no_work_so_that_two_may_follow_each_other() {
    let log = run(vec![
        Box::new(|me, system| {
            make(me, system, 1, Parameters::priority_of(3).in_server(1));
            me.work(40);
            me.end()
        }),
        Box::new(|me, system| {
            me.call(|caller| system.sched_timeout_thd(caller)).expect("its own");
            me.call(|caller| system.sched_timeout(caller, 8)).expect("its own");
            me.call(|caller| system.sched_block(caller)).expect("its own");
            for _ in 0..6 {
                me.log("begins one");
                me.work(1);
            }
            me.end()
        }),
    ]);
    // The budget of the first period from 8 on, then at once that of the second; the third comes at 20.
    let expected = ["8 begins one", "9 begins one", "10 begins one", "11 begins one", "20 begins one", "21 begins one"];
    assert_eq!(log, expected);
}
