//! Shared resources, waits, and tasks that others and events release, all at once, under adversarial arrivals and section lengths: every
//! rule is kept, and no bound is beaten.

use tactus_generate::{combined, lasting, Random};
use tactus_model::System;
use tactus_plan::plan;
use tactus_record::EventKind;
use tactus_sim::{simulate_with_steps, Arrivals, Costs};
use tactus_time::{Duration, Instant, TaskId};
use tactus_trace::{check, judge, Verdict};

const LENGTH: Duration = Duration::from_millis(400);

/// What came of some systems.
#[derive(Debug, Default)]
struct Seen {
    accepted: usize,
    promises: usize,
    jobs: usize,
    /// Systems in which something arrived earlier than it may, and in which a section was longer than declared.
    early: usize,
    long: usize,
}

/// Sections last as long as declared, or shorter; in every fourth system some last up to half as long again: they may reach into
/// what is to come next, which is refused then.
fn stretch(random: &mut Random, system: &mut System) -> bool {
    let longer = random.chance(0.25);
    let mut some = false;
    for section in system.scheduling.sections.iter_mut().flatten() {
        let scale = match longer && random.chance(0.3) {
            true => 1.0 + 0.5 * random.unit(),
            false if random.chance(0.5) => 1.0,
            false => 0.1 + 0.9 * random.unit(),
        };
        some |= scale > 1.0;
        section.actual = Some(Duration::from_nanos((section.length.as_nanos() as f64 * scale) as u64));
    }
    some
}

/// When something arrives for a task: as often and as early as it may from the start on; twice as often; or at random.
fn arrivals(random: &mut Random, system: &System, n: usize) -> Vec<Instant> {
    let (task, release) = (&system.tasks[n], system.scheduling.places[n].release);
    let burst = release.burst();
    let kind = random.between(0, 2);
    let mut all = Vec::new();
    let mut at = Duration::ZERO;
    for k in 0.. {
        if at >= LENGTH {
            break;
        }
        all.push(Instant::ZERO + at);
        at = match (kind, burst) {
            // The k-th no earlier than k periods less the jitter, and the least distance after the one before.
            (0, Some(burst)) => (at + burst.distance).max((task.period * (k + 1)).saturating_sub(burst.jitter)),
            (0, None) => at + task.period,
            (1, _) => at + task.period / 2,
            _ => at + Duration::from_nanos(random.between(1, 2 * task.period.as_nanos())),
        };
    }
    all
}

fn compare(seeds: std::ops::Range<u64>) -> Seen {
    let mut seen = Seen::default();
    for seed in seeds {
        let mut random = Random::new(seed ^ 0x6164_7665);
        let mut system = combined(seed);
        lasting(&mut system, LENGTH);
        let check = tactus_analysis::check(&system, &Costs::default());
        let plan = plan(&system, &check, &Costs::default());
        let long = stretch(&mut random, &mut system);
        let raised = (0..system.tasks.len()).filter(|n| system.scheduling.places[*n].raised_by.is_some());
        let all: Vec<(usize, Vec<Instant>)> = raised.map(|n| (n, arrivals(&mut random, &system, n))).collect();
        let boxed = |(n, all): (usize, Vec<Instant>)| -> Arrivals { (TaskId(n as u16), Box::new(all.into_iter())) };
        let all = all.into_iter().map(boxed).collect();
        let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
        let steps = system.job_steps();
        let trace = simulate_with_steps(&plan.setup, LENGTH, (demand, all), steps, &Costs::default());
        let trace = trace.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let wrong = check::all(&plan.view, &trace, Duration::ZERO);
        assert!(wrong.is_empty(), "seed {seed}: {:?}", wrong[0]);
        let records = || trace.cores.iter().flatten();
        let early = records().any(|r| matches!(r.kind, EventKind::ArrivalEarly | EventKind::ArrivalLost));
        let exceeded = records().any(|r| r.kind == EventKind::SectionExceeded);
        assert!(long || !exceeded, "seed {seed}: a section is said to be too long");
        let summary = judge(&plan.view, &trace);
        let fine = match &summary.verdict {
            Verdict::Held | Verdict::NothingPromised | Verdict::Refused | Verdict::NoJobEnded => true,
            Verdict::Void => exceeded,
            _ => false,
        };
        assert!(fine, "seed {seed}: {:?}", summary.verdict);
        seen.accepted += usize::from(check.accepted);
        seen.promises += summary.tasks.iter().filter(|task| task.worst_over_bound.is_some()).count();
        seen.jobs += records().filter(|r| r.kind == EventKind::Complete).count();
        seen.early += usize::from(early);
        seen.long += usize::from(exceeded);
    }
    seen
}

#[test]
fn resources_waits_and_arrivals_together_keep_every_rule_and_bound() {
    let seen = compare(0..75);
    println!("{seen:?}");
    assert!(seen.accepted > 4 && seen.promises > 110 && seen.early > 2 && seen.long > 0, "{seen:?}");
    // A section that reaches into the job's next one on the same resource.
    compare(78_476..78_477);
    compare(153_788..153_789);
}

/// As many as `TACTUS_SYSTEMS` says, from seed `TACTUS_FIRST` on.
#[test]
#[ignore = "takes minutes; run by name"]
fn the_same_for_as_many_as_are_asked_for() {
    let number = |name: &str, otherwise| std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(otherwise);
    let first = number("TACTUS_FIRST", 300);
    println!("{:?}", compare(first..first + number("TACTUS_SYSTEMS", 100_000)));
}
