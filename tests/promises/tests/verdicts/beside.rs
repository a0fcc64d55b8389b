//! What the verdict tells beside the promises: jobs that nothing was promised of, and arrivals that have no job.

use crate::{planned, run};
use tactus_model::Costs;
use tactus_sim::{simulate_with_steps, Arrivals, JobSteps};
use tactus_time::{Duration, Instant, TaskId};
use tactus_trace::{judge, Verdict};

/// Jobs in the soft server take four times what is assumed, and nothing is promised on its core.
const SOFT: &str = "
    [system]
    cores = 2
    duration = '300 ms'
    [policy]
    kind = 'partitioned-rm'
    [machine]
    overheads = false
    [[server]]
    name = 's'
    kind = 'cbs-soft'
    budget = '2 ms'
    period = '10 ms'
    policy = 'partitioned-fifo'
    cores = [0]
    [[task]]
    name = 'y'
    server = 's'
    core = 0
    period = '40 ms'
    execution = '7 ms'
    actual = '30 ms'
    [[task]]
    name = 'x'
    period = '20 ms'
    execution = '8 ms'
    core = 0
    [[task]]
    name = 'p'
    period = '20 ms'
    execution = '8 ms'
    core = 1";

#[test]
fn misses_of_tasks_that_were_promised_nothing_are_in_the_headline() {
    let (system, promised) = planned(SOFT);
    let summary = judge(&promised.view, &run(&system, &promised));
    assert_eq!(summary.verdict, Verdict::Held);
    let (headline, missed) = (summary.headline(), summary.total.missed);
    let wanted = format!("; {missed} jobs of tasks that were promised nothing missed their deadlines (x 14)");
    assert!(headline.ends_with(&wanted), "{headline}");
}

#[test]
fn arrivals_that_find_the_queue_full_are_counted_and_told() {
    for (early, lost, dropped) in [("delay", 33, 0), ("drop", 0, 49)] {
        let text = format!(
            "[system]\ncores = 1\nduration = '1 s'\n[policy]\nkind = 'partitioned-edf'\n[machine]\noverheads = false\n\
             [[task]]\nname = 'p'\nperiod = '20 ms'\nexecution = '2 ms'\n\
             [[task]]\nname = 'bursty'\nperiod = '10 ms'\nexecution = '1 ms'\nrelease = 'sporadic'\nearly = '{early}'"
        );
        let (system, promised) = planned(&text);
        let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
        let all = (0..50).map(|n| Instant::ZERO + Duration::from_micros(n));
        let arrivals: Vec<Arrivals> = vec![(TaskId(1), Box::new(all))];
        let given = (demand, arrivals);
        let trace =
            simulate_with_steps(&promised.setup, system.duration, given, JobSteps::default(), &Costs::default());
        let summary = judge(&promised.view, &trace.expect("it runs"));
        let task = &summary.tasks[1];
        assert_eq!((task.arrivals_lost, task.arrivals_dropped), (lost, dropped), "{early}");
        assert_eq!(task.jobs.released + lost + dropped, 50, "{early}");
        assert_eq!(summary.verdict, Verdict::Held, "{early}");
        let told = summary.headline().ends_with("; 33 arrivals of bursty were lost");
        assert_eq!(told, lost > 0, "{early}: {}", summary.headline());
    }
}
