//! Services: no answer comes later than its bound, whoever is served first; and the judge sees a server that serves the wrong one.

use tactus_generate::partitions;
use tactus_model::{RequestOrder, System};
use tactus_plan::{plan, RunPlan};
use tactus_record::RequestEvent;
use tactus_sim::{simulate_with_steps, Costs};
use tactus_time::{Duration, TaskId};
use tactus_trace::check::{self, Rule};
use tactus_trace::{judge, Trace, Verdict};

/// From this seed on systems have services.
const SERVING: u64 = 2_000_000;

/// About what the emulated machine takes.
fn costs() -> Costs {
    let us = Duration::from_micros;
    Costs { release: us(2), schedule: us(12), switch: us(1), inter_core: us(2), complete: us(2) }
}

fn run(system: &System) -> (RunPlan, Trace) {
    let check = tactus_analysis::check(system, &costs());
    let plan = plan(system, &check, &costs());
    let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
    let work = (demand, Vec::new());
    let trace = simulate_with_steps(&plan.setup, system.duration, work, system.job_steps(), &costs());
    (plan, trace.expect("the policy makes progress"))
}

/// What was found in all systems that were drawn.
#[derive(Default, Debug)]
struct Found {
    accepted: usize,
    answers: u64,
    /// By order.
    nearest: [f64; 3],
}

fn hold(seeds: std::ops::Range<u64>) -> Found {
    let mut found = Found::default();
    for seed in seeds {
        let system = partitions(seed);
        let (plan, trace) = run(&system);
        let wrong = check::services(&plan.view, &trace);
        assert!(wrong.is_empty(), "seed {seed}: {wrong:?}");
        let summary = judge(&plan.view, &trace);
        assert!(!matches!(summary.verdict, Verdict::Broken(_)), "seed {seed}: {:?}", summary.verdict);
        found.accepted += usize::from(plan.view.accepted);
        for (view, chain) in plan.view.chains.iter().zip(&summary.chains).filter(|_| plan.view.accepted) {
            let Some(client) = view.client else { continue };
            let of = |service: &&tactus_model::Service| service.first <= client;
            let service = system.services.iter().rev().find(of).expect("a service");
            let Some((worst, bound)) = chain.response.zip(chain.bound) else { continue };
            assert!(worst.max <= bound, "seed {seed}: {} {} over {bound}", chain.name, worst.max);
            found.answers += chain.completed;
            let nearest = &mut found.nearest[service.order as usize];
            *nearest = nearest.max(worst.max.as_nanos() as f64 / bound.as_nanos() as f64);
        }
    }
    println!("{found:.3?}");
    found
}

#[test]
fn no_answer_comes_later_than_its_bound() {
    let found = hold(SERVING..SERVING + 400);
    assert!(found.accepted > 30 && found.answers > 900, "{found:?}");
    assert!(found.nearest.iter().all(|nearest| *nearest > 0.5), "{found:?}");
    // A server that starts long after its client, which is the first by priority.
    hold(SERVING + 2_929..SERVING + 2_930);
}

#[test]
#[ignore = "takes minutes; run by name"]
fn no_answer_comes_later_than_its_bound_in_ten_thousand_systems() {
    let found = hold(SERVING..SERVING + 10_000);
    assert!(found.accepted > 800 && found.answers > 25_000, "{found:?}");
}

/// Where two answers of a trace are exchanged, or all are another client's, somebody is passed over in some system of each order.
#[test]
fn a_server_that_serves_the_wrong_client_is_found() {
    let mut found = [0; 3];
    for seed in SERVING..SERVING + 60 {
        let system = partitions(seed);
        let (plan, mut trace) = run(&system);
        for r in trace.cores.iter_mut().flatten() {
            let Some(RequestEvent::Answer(client)) = RequestEvent::of(r) else { continue };
            let of = |service: &&tactus_model::Service| service.first <= client;
            let service = system.services.iter().rev().find(of).expect("a service");
            let count = service.clients.len() as u16;
            let other = service.first + (client - service.first + 1) % count;
            r.arg = RequestEvent::Answer(other).event().into();
        }
        let wrong = check::services(&plan.view, &trace);
        assert!(wrong.iter().all(|it| it.rule == Rule::Served));
        for violation in &wrong {
            let service = system.services.iter().find(|it| Some(TaskId(it.server as u16)) == violation.task);
            found[service.map_or(0, |service| service.order as usize)] += 1;
        }
    }
    println!("{found:?}");
    let orders = [RequestOrder::Turns, RequestOrder::Priority, RequestOrder::Slots];
    assert!(orders.iter().all(|order| found[*order as usize] > 0), "{found:?}");
}
