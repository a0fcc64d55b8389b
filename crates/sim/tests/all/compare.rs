//! Free runs beside each other.

use crate::common::oracle::parsed;
use crate::common::*;
use tactus_generate::{generate, POLICIES};
use tactus_policy::{
    Overrun, PolicyConfig, PolicySpec, Scheduler, Server, ServerKind, Supply, Task, TaskOrder, TaskPlacement, Tree,
};
use tactus_record::EventKind;
use tactus_sim::compare::{compare, explain, Cause};

use tactus_model::System;
use tactus_sim::{simulate, simulate_with_steps, Costs, Keep, Simulation};
use tactus_task::JobSteps;
use tactus_time::{CoreId, CoreSet, Duration, Instant, TaskId};

const TOLERANCE: Duration = Duration::from_micros(40);

#[test]
fn a_run_equals_itself() {
    let system = generate(3);
    let setup = setup_of(&system, Duration::ZERO);
    let mut demand = demands(&system);
    let trace = simulate(&setup, ms(500), demand, &small_costs()).unwrap();
    let same = compare(&setup, (|t, j| Some(demand(t, j)), &JobSteps::default()), &trace, &trace, Duration::ZERO);
    assert!(same.is_equal() && same.steps() > 20, "{same}");
    assert_eq!(same.largest_difference(), Duration::ZERO);
    assert!(same.cores.iter().all(|c| c.overhead > Duration::ZERO));
}

#[test]
fn small_costs_change_times_but_no_order_where_nothing_is_close() {
    let tasks = vec![task(Some(0), ms(10), us(3_300)), task(Some(0), ms(30), us(7_700)), task(Some(1), ms(20), ms(5))];
    let setup = partitioned_edf(2, tasks);
    let free = simulate(&setup, ms(600), budgets(&setup), &Costs::default()).unwrap();
    let costly = simulate(&setup, ms(600), budgets(&setup), &small_costs()).unwrap();
    let found =
        compare(&setup, (|t, _| Some(setup.tasks[t.index()].budget), &JobSteps::default()), &free, &costly, TOLERANCE);
    assert!(found.is_equal(), "{found}");
    let dispatches = free.cores.iter().flatten().filter(|r| r.kind == EventKind::Dispatch).count();
    assert_eq!(found.cores.iter().map(|c| c.dispatches).sum::<usize>(), dispatches);
    assert!((us(3)..us(100)).contains(&found.largest_difference()), "{found}");
    assert!(found.cores.iter().all(|c| c.overhead > us(500)), "{found:?}");
}

#[test]
fn generated_systems_part_only_in_races() {
    let (mut steps, mut equal) = (0, 0);
    for seed in 0..28 {
        let system = generate(seed);
        let setup = setup_of(&system, Duration::ZERO);
        let mut demand = demands(&system);
        let free = simulate(&setup, ms(500), demand, &Costs::default()).unwrap();
        let costly = simulate(&setup, ms(500), demand, &small_costs()).unwrap();
        let found = compare(&setup, (|t, j| Some(demand(t, j)), &JobSteps::default()), &free, &costly, TOLERANCE);
        assert!(found.agrees(), "seed {seed}: {found}");
        steps += found.steps();
        equal += usize::from(found.is_equal());
    }
    assert!(steps > 2_000 && equal > 3, "{steps} steps, {equal} equal");
}

/// Two tasks on each of two cores; the second of core 0 is released while the first is about to finish.
fn close(policy: PolicySpec, gap: Duration) -> (PolicyConfig, Duration) {
    let mut tasks = vec![
        task(Some(0), ms(50), ms(10)),
        task(Some(0), ms(20), ms(2)),
        task(Some(1), ms(50), ms(30)),
        task(Some(1), ms(60), ms(5)),
    ];
    tasks[1].offset = Duration::from_nanos(ms(10).as_nanos() - gap.as_nanos());
    (PolicyConfig { cores: 2, kind: policy, tasks }, ms(100))
}

#[test]
fn a_release_just_before_a_completion_is_a_race() {
    let (setup, length) = close(PolicySpec::PartitionedEdf, Duration::from_nanos(500));
    let free = simulate(&setup, length, budgets(&setup), &Costs::default()).unwrap();
    let costly = simulate(&setup, length, budgets(&setup), &small_costs()).unwrap();
    let found =
        compare(&setup, (|t, _| Some(setup.tasks[t.index()].budget), &JobSteps::default()), &free, &costly, TOLERANCE);
    assert!(found.agrees() && !found.is_equal(), "{found}");
    let (core, divergence) = found.divergences().next().unwrap();
    assert_eq!(core, CoreId(0));
    let Cause::Race { first, second } = divergence.cause else { panic!("{found}") };
    assert_eq!(second - first, Duration::from_nanos(500));
}

#[test]
fn another_order_without_close_events_is_a_disagreement() {
    let (setup, length) = close(PolicySpec::PartitionedEdf, ms(3));
    let free = simulate(&setup, length, budgets(&setup), &Costs::default()).unwrap();
    let mut wrong = free.clone();
    let at = wrong.cores[0].iter().position(|r| r.kind == EventKind::Dispatch && r.task == Some(TaskId(1))).unwrap();
    wrong.cores[0][at].task = Some(TaskId(0));
    let found =
        compare(&setup, (|t, _| Some(setup.tasks[t.index()].budget), &JobSteps::default()), &free, &wrong, TOLERANCE);
    assert!(!found.agrees(), "{found}");
    assert!(found.to_string().contains("expected  task 1 job 0"), "{found}");
}

#[test]
fn a_run_that_stops_early_is_a_disagreement() {
    let (setup, length) = close(PolicySpec::PartitionedEdf, ms(3));
    let free = simulate(&setup, length, budgets(&setup), &Costs::default()).unwrap();
    let mut short = free.clone();
    let end = short.cores[1].pop();
    short.cores[1].truncate(4);
    short.cores[1].extend(end);
    let found =
        compare(&setup, (|t, _| Some(setup.tasks[t.index()].budget), &JobSteps::default()), &free, &short, TOLERANCE);
    assert!(!found.agrees(), "{found}");
}

#[test]
fn what_follows_on_other_cores_of_a_global_policy_is_a_consequence() {
    let mut seen = 0;
    for seed in (2..160).step_by(POLICIES.len()) {
        let system = generate(seed);
        assert_eq!(system.policy, tactus_model::Policy::GlobalRm);
        let setup = setup_of(&system, Duration::ZERO);
        let demand = demands(&system);
        let free = simulate(&setup, ms(500), demand, &Costs::default()).unwrap();
        let costly = simulate(&setup, ms(500), demand, &small_costs()).unwrap();
        let mut demand = demand;
        let found = compare(&setup, (|t, j| Some(demand(t, j)), &JobSteps::default()), &free, &costly, TOLERANCE);
        let races = found.divergences().filter(|(_, d)| !matches!(d.cause, Cause::Consequence { .. })).count();
        let all = found.divergences().count();
        assert!(races <= 1, "{found}");
        seen += all - races;
    }
    assert!(seen > 0);
}

#[test]
fn a_tie_of_deadlines_that_a_late_start_breaks_is_a_drift() {
    let one = CoreSet::first(1);
    let server = |supply: Option<(u64, u64)>| Server {
        parent: 0,
        cores: one,
        order: TaskOrder::EarliestDeadline,
        queues: vec![one],
        quantum: Duration::ZERO,
        supply: supply.map(|(budget, period)| Supply {
            kind: ServerKind::Sporadic,
            budget: ms(budget),
            period: ms(period),
            write_backs: None,
        }),
        priority: 0,
        background: false,
    };
    // From 0 and from 1 ms on, both deadlines are at 35 ms.
    let servers = vec![server(None), server(Some((7, 35))), server(Some((2, 34)))];
    let place = |server| TaskPlacement { server, priority: 0, overrun: Overrun::Continue };
    let tasks = vec![task(Some(0), ms(90), ms(4)), Task { offset: ms(1), ..task(Some(0), ms(90), ms(1)) }];
    let setup = PolicyConfig {
        cores: 1,
        kind: PolicySpec::Servers(Tree {
            servers,
            places: vec![place(1), place(2)],
            releases: Vec::new(),
            waits: Vec::new(),
            line: Duration::ZERO,
            seed: 0,
        }),
        tasks,
    };
    let end = ms(80);
    let free = simulate(&setup, end, budgets(&setup), &Costs::default()).unwrap();
    let (scheduler, cores) = Scheduler::new(&setup).unwrap();
    let mut late = Simulation::new(&scheduler, cores, 2, budgets(&setup), &Costs::default());
    late.start_at(&[Instant::ZERO + us(30)]);
    let mut keep = Keep::new(1);
    late.run_until(Instant::ZERO + end, &mut keep).unwrap();
    late.end(Instant::ZERO + end, &mut keep);
    let found = keep.into_trace();
    assert_eq!(found.cores[0][0].time, Instant::ZERO + us(30));
    let mut beside = compare(&setup, (|t, j| Some(budgets(&setup)(t, j)), &JobSteps::default()), &free, &found, us(1));
    assert!(!beside.agrees(), "{beside}");
    explain(&mut beside, &setup, end, (budgets(&setup), &JobSteps::default()), &found, &small_costs()).unwrap();
    assert!(beside.divergences().all(|(_, d)| matches!(d.cause, Cause::Drift { .. })), "{beside}");
}

#[test]
fn a_turn_that_ends_as_something_more_urgent_comes_is_a_race_that_shows_later() {
    let one = CoreSet::first(1);
    let server = |order, quantum, supply| Server {
        parent: 0,
        cores: one,
        order,
        queues: vec![one],
        quantum,
        supply,
        priority: 0,
        background: false,
    };
    let supply = Supply { kind: ServerKind::Deferrable, budget: ms(40), period: ms(50), write_backs: None };
    let place = |server| TaskPlacement { server, priority: 0, overrun: Overrun::Continue };
    // Turns of the first end at 4 and at 7 ms, where the third comes.
    let with = |offset, quantum| {
        let servers = vec![
            server(TaskOrder::DeadlineMonotonic, Duration::ZERO, None),
            server(TaskOrder::RoundRobin, quantum, Some(supply)),
        ];
        let begins = |offset, budget| Task { offset, ..task(Some(0), ms(50), budget) };
        let urgent = Task { deadline: ms(7), ..begins(offset, us(730)) };
        let tasks = vec![begins(ms(1), ms(20)), begins(ms(5), ms(1)), urgent];
        let places = vec![place(1), place(1), place(0)];
        PolicyConfig {
            cores: 1,
            kind: PolicySpec::Servers(Tree {
                servers,
                places,
                releases: Vec::new(),
                waits: Vec::new(),
                line: Duration::ZERO,
                seed: 0,
            }),
            tasks,
        }
    };
    let setup = with(ms(7), ms(3));
    let free = simulate(&setup, ms(40), budgets(&setup), &Costs::default()).unwrap();
    let costly = simulate(&setup, ms(40), budgets(&setup), &small_costs()).unwrap();
    let beside = compare(&setup, (|t, j| Some(budgets(&setup)(t, j)), &JobSteps::default()), &free, &costly, us(1));
    let causes: Vec<Cause> = beside.divergences().map(|(_, d)| d.cause).collect();
    assert_eq!(causes, [Cause::Race { first: at(7_000_000), second: at(7_000_000) }], "{beside}");
    assert_eq!(beside.cores[0].divergence.map(|d| d.expected.map(|step| step.task)), Some(Some(TaskId(1))));
    // Away from the end of a turn, who goes on is no matter of chance.
    let [short, long] = [ms(3), us(5_500)].map(|quantum| with(us(6_500), quantum));
    let free = simulate(&short, ms(40), budgets(&short), &Costs::default()).unwrap();
    let found = simulate(&long, ms(40), budgets(&long), &Costs::default()).unwrap();
    let beside = compare(&short, (|t, j| Some(budgets(&short)(t, j)), &JobSteps::default()), &free, &found, us(1));
    assert!(!beside.agrees(), "{beside}");
}

/// `low` leaves its section after 16 ms; `high` comes at `offset` and asks for the resource 5 ms later.
fn inherits(offset: &str, length: &str) -> System {
    parsed(&format!(
        "[system]\ncores = 1\nduration = '130 ms'\n[policy]\nkind = 'partitioned-fp'\n\
         [[resource]]\nname = 'bus'\nprotocol = 'inheritance'\n\
         [[task]]\nname = 'high'\noffset = '{offset}'\nperiod = '100 ms'\nexecution = '9 ms'\npriority = 2\n\
         sections = [{{ resource = 'bus', after = '5 ms', length = '1 ms' }}]\n\
         [[task]]\nname = 'first'\nperiod = '100 ms'\nexecution = '1 ms'\npriority = 3\n\
         [[task]]\nname = 'low'\nperiod = '100 ms'\nexecution = '30 ms'\npriority = 1\n\
         sections = [{{ resource = 'bus', after = '5 ms', length = '{length}' }}]\n"
    ))
}

#[test]
fn a_section_that_ends_as_its_job_loses_the_core_is_a_race_that_shows_when_the_resource_is_asked_for() {
    let beside = |expected: &System, found: &System| {
        let setup = setup_of(expected, Duration::ZERO);
        let run = |system: &System, costs: &Costs| {
            simulate_with_steps(&setup, ms(100), (budgets(&setup), Vec::new()), system.job_steps(), costs).unwrap()
        };
        // After another job, `low` begins that much later.
        let late = Costs { complete: us(10), ..Costs::default() };
        let (free, costly) = (run(expected, &Costs::default()), run(found, &late));
        let known = |task, job| Some(budgets(&setup)(task, job));
        compare(&setup, (known, &expected.job_steps()), &free, &costly, us(1))
    };
    let close = inherits("16002 us", "10 ms");
    let found = beside(&close, &close);
    let causes: Vec<Cause> = found.divergences().map(|(_, d)| d.cause).collect();
    let [Cause::Race { first, second }] = causes[..] else { panic!("{found}") };
    assert_eq!((first, second), (at(16_002_000), at(16_004_000)), "{found}");
    // `high` asks at 21 ms, long after either.
    assert!(found.to_string().contains("at 21"), "{found}");
    // Where nothing is close, nothing else excuses it.
    let far = inherits("18 ms", "10 ms");
    assert!(beside(&far, &far).is_equal());
    let longer = beside(&far, &inherits("18 ms", "14 ms"));
    assert!(!longer.agrees(), "{longer}");
}

#[test]
fn jobs_of_nearly_the_same_laxity_are_a_race() {
    // The laxities of the two are 15 ms, and that much more or less.
    let beside = |apart: u64| {
        let with = |deadline: u64| {
            setup_of(
                &parsed(&format!(
                    "[system]\ncores = 1\nduration = '100 ms'\n[policy]\nkind = 'partitioned-llf'\n\
                     [[task]]\nname = 'one'\nperiod = '50 ms'\nexecution = '5 ms'\ndeadline = '20 ms'\n\
                     [[task]]\nname = 'two'\nperiod = '50 ms'\nexecution = '5 ms'\ndeadline = '{deadline} ns'\n"
                )),
                Duration::ZERO,
            )
        };
        let (setup, other) = (with(20_000_000 + apart), with(20_000_000 - apart));
        let free = simulate(&setup, ms(100), budgets(&setup), &Costs::default()).unwrap();
        let found = simulate(&other, ms(100), budgets(&other), &Costs::default()).unwrap();
        compare(&setup, (|t, j| Some(budgets(&setup)(t, j)), &JobSteps::default()), &free, &found, us(1))
    };
    let close = beside(700);
    let causes: Vec<Cause> = close.divergences().map(|(_, d)| d.cause).collect();
    assert_eq!(causes, [Cause::Race { first: at(15_000_000), second: at(15_000_700) }], "{close}");
    let wide = beside(300_000);
    assert!(!wide.agrees(), "{wide}");
}
