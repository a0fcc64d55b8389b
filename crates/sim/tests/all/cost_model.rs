//! One cost model a run: what bounds count, budgets hold, the simulator takes and the judge assumes is one value. So no accepted system
//! is broken, whether the file leaves the system's own work out or not, and a job that takes a little more than it says is to blame for
//! what it delays.

use crate::common::small_costs;
use tactus_generate::{generate, lasting, mc2, sharing, tree, Random, POLICIES};
use tactus_model::{Costs, Demand, System};
use tactus_plan::costs::CostModel;
use tactus_plan::plan;
use tactus_sim::simulate_with_steps;
use tactus_time::{Duration, TaskId};
use tactus_trace::{judge, Verdict};

const LENGTH: Duration = Duration::from_millis(400);

/// What came of some systems, each with each cost model.
#[derive(Debug, Default)]
struct Seen {
    accepted: u32,
    held: u32,
    void: u32,
}

/// Some tasks take a little longer than they say: by at most a hundredth, mostly by microseconds.
fn overrun(random: &mut Random, system: &mut System) {
    for n in 0..system.tasks.len() {
        if random.chance(0.3) {
            let own = system.tasks[n].budget();
            let more = Duration::from_nanos(random.log_uniform(100.0, own.as_nanos() as f64 / 50.0 + 200.0) as u64);
            let most = own + more;
            system.tasks[n].demand = match random.chance(0.5) {
                true => Demand::Fixed(most),
                false => Demand::Uniform { min: own / 2, max: most },
            };
        } else {
            // Otherwise all that they say.
            let own = system.tasks[n].budget();
            system.tasks[n].demand = Demand::Fixed(own);
        }
    }
    for section in system.scheduling.sections.iter_mut().flatten() {
        let more = Duration::from_nanos(random.log_uniform(100.0, 30_000.0) as u64);
        section.actual = random.chance(0.3).then(|| section.length + more);
    }
}

fn verdict(system: &System, costs: CostModel) -> Option<Verdict> {
    let check = tactus_analysis::check(system, &costs.counted);
    if !check.accepted {
        return None;
    }
    let plan = plan(system, &check, costs);
    let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
    let steps = system.job_steps();
    let trace = simulate_with_steps(&plan.setup, system.duration, (demand, Vec::new()), steps, &costs.taken);
    let trace = trace.unwrap_or_else(|error| panic!("{}: {error}", system.name));
    Some(judge(&plan.view, &trace).verdict)
}

fn all(seeds: std::ops::Range<u64>) -> Seen {
    let (free, small) = (Costs::default(), small_costs());
    let models = [(free, free), (small, free), (small, small)];
    let mut seen = Seen::default();
    for seed in seeds {
        let mut random = Random::new(seed ^ 0x0063_6f73);
        let mut system = match seed % 4 {
            0 => tree(seed / 4),
            1 => mc2(seed / 4),
            2 => generate(seed / 4 * POLICIES.len() as u64 + 4 + seed / 4 % 5),
            _ => sharing(seed / 4),
        };
        lasting(&mut system, LENGTH);
        if seed % 3 > 0 {
            overrun(&mut random, &mut system);
        }
        for overheads in [true, false] {
            system.machine.overheads = overheads;
            for (counted, taken) in models {
                let Some(verdict) = verdict(&system, CostModel { counted, taken }) else { continue };
                seen.accepted += 1;
                match verdict {
                    Verdict::Held => seen.held += 1,
                    Verdict::Void => seen.void += 1,
                    Verdict::NothingPromised | Verdict::NoJobEnded => {}
                    verdict => panic!(
                        "seed {seed}, overheads {overheads}, {}, {}: {verdict:?}\n{}",
                        if counted == free { "none counted" } else { "counted" },
                        if taken == free { "none taken" } else { "taken" },
                        tactus_analysis::check(&system, &counted)
                    ),
                }
            }
        }
    }
    seen
}

#[test]
fn no_accepted_system_is_broken_whatever_its_costs_and_small_overruns_are_void() {
    let seen = all(0..60);
    println!("{seen:?}");
    assert!(seen.accepted > 100 && seen.held > 60 && seen.void > 30, "{seen:?}");
}

/// The verdict on a system whose file leaves the system's own work out, in a simulation that takes none or some.
fn without_own_work(policy: &str, tasks: &str, taken: Costs) -> Verdict {
    let text = format!(
        "[system]\ncores = 1\nduration = '100 ms'\n[policy]\nkind = '{policy}'\n[machine]\noverheads = false\n{tasks}"
    );
    let system = System::parse_toml(&text, std::path::Path::new("s.toml")).expect("a good file");
    verdict(&system, CostModel { counted: small_costs(), taken }).expect("accepted")
}

#[test]
fn a_job_that_takes_microseconds_more_than_it_says_is_to_blame_where_no_costs_count() {
    let task = "[[task]]\nname = 'a'\nperiod = '10 ms'\nexecution = '1 ms'\nactual = '1.005 ms'\npriority = 1\n";
    assert_eq!(without_own_work("partitioned-fp", task, Costs::default()), Verdict::Void);
}

#[test]
fn bounds_count_what_budgets_hold_and_whoever_waits_for_the_systems_own_work_is_owed_nothing_where_it_is_left_out() {
    let task =
        |name| format!("[[task]]\nname = '{name}'\nlevel = 'B'\ncore = 0\nperiod = '7 ms'\nexecution = '3 ms'\n");
    let tasks = format!("{}{}", task("x"), task("y"));
    assert_eq!(without_own_work("mc2", &tasks, Costs::default()), Verdict::Held);
    assert_eq!(without_own_work("mc2", &tasks, small_costs()), Verdict::Held, "the budgets have room for it");
    let tasks = "[[task]]\nname = 'a'\nperiod = '10 ms'\nexecution = '1 ms'\npriority = 1\n";
    assert_eq!(without_own_work("partitioned-fp", tasks, small_costs()), Verdict::Void);
}

/// As many as `TACTUS_SYSTEMS` says, from seed `TACTUS_FIRST` on.
#[test]
#[ignore = "takes minutes; run by name"]
fn the_same_for_as_many_as_are_asked_for() {
    let number = |name: &str, otherwise| std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(otherwise);
    let first = number("TACTUS_FIRST", 60);
    println!("{:?}", all(first..first + number("TACTUS_SYSTEMS", 20_000)));
}
