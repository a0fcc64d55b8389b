//! A component that is stopped takes its own promises with it and no others, whatever released its jobs.

use crate::failing::{run, Failure, Stop};
use std::path::Path;
use tactus_generate::Random;
use tactus_model::{Costs, System};
use tactus_plan::plan;
use tactus_record::EventKind;
use tactus_sim::{Arrivals, JobSteps};
use tactus_time::{Duration, Instant, TaskId};
use tactus_trace::check::{self, Rule};
use tactus_trace::{judge, Verdict};

/// What releases the second task, the one that is stopped.
const RELEASES: [&str; 6] = [
    "",
    "after = 'first'",
    "release = 'sporadic'",
    "release = 'sporadic'\nearly = 'drop'",
    "release = 'sporadic'\nearly = 'fault'",
    "release = 'sporadic'\njitter = '15 ms'\nleast-distance = '1 ms'",
];

/// The policies that know those releases.
const POLICIES: [&str; 6] =
    ["partitioned-edf", "partitioned-rm", "partitioned-fifo", "global-edf", "global-dm", "clustered-rm"];

/// What becomes of its jobs that overrun; none does here, but what follows a removal is each rule's own.
const OVERRUNS: [&str; 3] = ["continue", "skip", "kill"];

fn text(policy: &str, release: &str, overrun: &str) -> String {
    let clusters = if policy.starts_with("clustered") { "clusters = [[0], [1]]\n" } else { "" };
    let bound = match policy {
        _ if policy.starts_with("global") => "",
        _ if policy.starts_with("clustered") => "cluster = 0\n",
        _ => "core = 0\n",
    };
    let task = |name: &str, release: &str| {
        format!("[[task]]\nname = '{name}'\n{bound}period = '10 ms'\nexecution = '1 ms'\n{release}\n")
    };
    let itself = format!("{release}\noverrun = '{overrun}'");
    // Completions of what comes in bursts come in bursts, which release nobody.
    let next = if release.contains("jitter") { "" } else { "after = 'stopped'" };
    format!(
        "[system]\ncores = 2\nduration = '200 ms'\n[machine]\noverheads = false\n[policy]\nkind = '{policy}'\n{clusters}{}{}{}",
        task("first", ""),
        task("stopped", &itself),
        task("next", next),
    )
}

#[test]
fn whatever_releases_a_task_its_component_may_be_stopped_and_no_rule_is_broken() {
    let mut count = 0;
    for policy in POLICIES {
        for (release, overrun) in RELEASES.iter().flat_map(|release| OVERRUNS.map(|overrun| (*release, overrun))) {
            if release.contains("jitter") && overrun == "skip" {
                continue;
            }
            let text = text(policy, release, overrun);
            let system =
                System::parse_toml(&text, Path::new("r.toml")).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let check = tactus_analysis::check(&system, &Costs::default());
            let promised = plan(&system, &check, &Costs::default());
            for stop in Stop::ALL {
                for job in [0, 7] {
                    let arrivals = release.contains("sporadic").then(|| {
                        let all = (0..20).map(|n| Instant::ZERO + Duration::from_millis(3 + 10 * n));
                        (TaskId(1), Box::new(all) as Box<dyn Iterator<Item = Instant>>)
                    });
                    let demand = |_, _| Duration::from_millis(1);
                    let steps = JobSteps::default();
                    let given = (demand, arrivals.into_iter().collect(), steps);
                    let failures = [Failure { task: TaskId(1), job, stop }];
                    let trace = run(&promised.setup, system.duration, given, &Costs::default(), &failures);
                    let said = format!("{policy} {release:?} {overrun} {stop:?} in job {job}");
                    let found = check::all(&promised.view, &trace, Duration::ZERO);
                    assert!(found.is_empty(), "{said}: {found:?}");
                    let summary = judge(&promised.view, &trace);
                    let verdict = &summary.verdict;
                    match (check.accepted, stop) {
                        (false, _) => assert_eq!(*verdict, Verdict::Refused, "{said}"),
                        (true, Stop::Restarted) if promised.view.promised() == 0 => {
                            assert_eq!(*verdict, Verdict::NothingPromised, "{said}");
                        }
                        (true, Stop::Restarted) => {
                            assert!(matches!(verdict, Verdict::Held | Verdict::Void), "{said}: {verdict:?}");
                        }
                        (true, _) => assert_eq!(*verdict, Verdict::Stopped, "{said}: {}", summary.headline()),
                    }
                    count += 1;
                }
            }
        }
    }
    // All pairs but jitter with "skip", which is refused.
    assert_eq!(count, POLICIES.len() * (RELEASES.len() * OVERRUNS.len() - 1) * Stop::ALL.len() * 2);
}

/// Every kind of random system that there is, for a while.
fn random_system(seed: u64) -> Option<System> {
    let kind = seed / 12;
    let mut system = match seed % 12 {
        0 => tactus_generate::generate(kind),
        1 => tactus_generate::tree(kind),
        2 => tactus_generate::released(kind)?,
        3 => tactus_generate::raised(kind)?,
        4 => tactus_generate::waiting(kind),
        5 => tactus_generate::sharing(kind),
        6 => tactus_generate::combined(kind),
        7 => tactus_generate::partitions(kind),
        8 => tactus_generate::soft(kind),
        9 => tactus_generate::changing(kind)?,
        10 => tactus_generate::changing_levels(kind),
        _ => tactus_generate::generate(kind * 9 + 4),
    };
    tactus_generate::lasting(&mut system, Duration::from_millis(300));
    Some(system)
}

/// Lets jobs of some tasks fail at random, and holds the run against all rules. How many components were stopped, or what was wrong.
fn stopped_at_random(seed: u64) -> Result<usize, String> {
    let Some(system) = random_system(seed) else { return Ok(0) };
    let mut random = Random::new(seed ^ 0x7374_6f70);
    let check = tactus_analysis::check(&system, &Costs::default());
    let promised = plan(&system, &check, &Costs::default());
    let count = system.tasks.len() as u64;
    let one = |random: &mut Random| Failure {
        task: TaskId(random.below(count) as u16),
        job: random.below(6) as u32,
        stop: *random.of(&Stop::ALL),
    };
    let mut failures: Vec<Failure> = (0..random.between(1, 3)).map(|_| one(&mut random)).collect();
    failures.sort_by_key(|it| it.task);
    failures.dedup_by_key(|it| it.task);
    let raised =
        (0..system.tasks.len()).filter(|n| system.scheduling.places.get(*n).is_some_and(|it| it.raised_by.is_some()));
    let arrivals = |n: usize| -> Arrivals {
        let (first, period) = (Duration::from_micros(700 * n as u64), system.tasks[n].period);
        (TaskId(n as u16), Box::new((0..40).map(move |k| Instant::ZERO + first + period * k * 3 / 4)))
    };
    let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
    let given = (demand, raised.map(arrivals).collect(), system.job_steps());
    let trace = run(&promised.setup, system.duration, given, &Costs::default(), &failures);
    let found = check::all(&promised.view, &trace, Duration::ZERO);
    // What arrives too early is the fault of who sends it.
    let found: Vec<_> = found.iter().filter(|it| it.rule != Rule::Early).collect();
    match found.is_empty() {
        true => Ok(trace.cores.iter().flatten().filter(|r| r.kind == EventKind::Fault).count()),
        false => Err(format!("seed {seed}: {failures:?}: {:?}", &found[..found.len().min(3)])),
    }
}

/// How many components were stopped in a number of systems.
fn stopped_in(systems: u64) -> usize {
    let (stopped, wrong): (Vec<_>, Vec<_>) = (0..systems).map(stopped_at_random).partition(Result::is_ok);
    let wrong: Vec<String> = wrong.into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{} of {systems}:\n{}", wrong.len(), wrong.join("\n"));
    stopped.into_iter().flatten().sum()
}

#[test]
fn components_that_are_stopped_at_random_break_no_rule() {
    let count = stopped_in(120);
    assert!(count > 100, "{count}");
}

#[test]
#[ignore = "evidence, not a daily test"]
fn components_that_are_stopped_in_twenty_thousand_systems_break_no_rule() {
    println!("{} stopped", stopped_in(20_000));
}
