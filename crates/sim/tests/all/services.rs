//! Services: no answer comes later than its bound, whoever is served first; and the judge sees a server that serves the wrong one.

use tactus_generate::partitions;
use tactus_model::{RequestOrder, System};
use tactus_plan::{plan, RunPlan};
use tactus_record::{EventKind, InputKind, Record, RequestEvent};
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

/// Whether the task may tell of this.
fn may_tell(system: &System, task: TaskId, event: RequestEvent) -> bool {
    let call = tactus_model::EventCall::Signal(event.event());
    system.event_rights(task.index()).iter().any(|right| right.allows(call))
}

/// Requests and answers that anybody but the client and the server signals change nothing of what the judge says.
#[test]
fn what_others_signal_is_nobodys_word() {
    let (mut forged, mut random) = (0, 1_u64);
    let mut draw = |most: usize| {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (random >> 33) as usize % most.max(1)
    };
    for seed in SERVING..SERVING + 16 {
        let system = partitions(seed);
        let (plan, mut trace) = run(&system);
        let before = judge(&plan.view, &trace);
        let clients: usize = system.services.iter().map(|service| service.clients.len()).sum();
        for records in &mut trace.cores {
            for _ in 0..40 {
                let at = draw(records.len());
                let client = draw(clients) as u16;
                let event = [RequestEvent::Request(client), RequestEvent::Answer(client)][draw(2)];
                let task = TaskId(draw(system.tasks.len()) as u16);
                let Some(place) = records.get(at).copied().filter(|_| !may_tell(&system, task, event)) else {
                    continue;
                };
                let level = InputKind::Signal as u8;
                let (kind, arg) = (EventKind::Input, event.event().into());
                records.insert(at, Record { task: Some(task), kind, level, arg, job: 0, ticket: 0, ..place });
                forged += 1;
            }
        }
        let after = judge(&plan.view, &trace);
        assert_eq!(before.verdict, after.verdict, "seed {seed}");
        assert_eq!(
            (before.chains, before.tasks, before.voids),
            (after.chains, after.tasks, after.voids),
            "seed {seed}"
        );
        assert!(check::services(&plan.view, &trace).is_empty(), "seed {seed}");
    }
    println!("{forged} forged signals");
    assert!(forged > 1_000, "{forged}");
}
