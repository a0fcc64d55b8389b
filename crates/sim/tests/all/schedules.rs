//! Schedules of the real policies, drawn so that a person can check them by eye.

use crate::common::*;
use tactus_policy::{PolicyConfig, PolicySpec};
use tactus_record::EventKind;
use tactus_sim::{simulate, Costs};
use tactus_time::{CoreId, Duration, Level};
use tactus_trace::Trace;

/// One character for each unit of time and core: the task that runs, or a dot.
fn draw(trace: &Trace, unit: Duration, length: usize) -> Vec<String> {
    let draw = |records: &Vec<tactus_record::Record>| {
        let mut line = vec!['.'; length];
        for record in records {
            let from = (record.time.as_nanos() / unit.as_nanos()) as usize;
            let mark = match (record.kind, record.task) {
                (EventKind::Dispatch, Some(task)) => char::from(b'a' + task.0 as u8),
                (EventKind::Preempt | EventKind::Complete | EventKind::Exhausted | EventKind::Idle, _) => '.',
                _ => continue,
            };
            line[from.min(length)..].fill(mark);
        }
        line.into_iter().collect()
    };
    trace.cores.iter().map(draw).collect()
}

fn drawn(kind: PolicySpec, cores: usize, tasks: Vec<tactus_policy::Task>, length: u64) -> Vec<String> {
    let setup = PolicyConfig { cores, kind, tasks };
    let trace = simulate(&setup, ms(length), budgets(&setup), &Costs::default()).unwrap();
    draw(&trace, ms(1), length as usize)
}

#[test]
fn rate_monotonic_runs_the_shorter_period_first() {
    // (period, execution) = a (4, 1), b (5, 2), c (20, 7)
    let tasks = vec![task(Some(0), ms(4), ms(1)), task(Some(0), ms(5), ms(2)), task(Some(0), ms(20), ms(7))];
    assert_eq!(drawn(PolicySpec::PartitionedRm, 1, tasks, 20), ["abbcabbcacbbaccbabcc"]);
}

#[test]
fn earliest_deadline_first_meets_what_rate_monotonic_misses() {
    // (period, execution) = a (5, 2), b (7, 4): utilisation 0.97, beyond the bound of rate-monotonic.
    let tasks = || vec![task(Some(0), ms(5), ms(2)), task(Some(0), ms(7), ms(4))];
    assert_eq!(drawn(PolicySpec::PartitionedEdf, 1, tasks(), 35), ["aabbbbaabbbbaabaabbbaabbbbaabbaabb."]);
}

#[test]
fn global_edf_uses_every_core() {
    let tasks = vec![task(None, ms(4), ms(2)), task(None, ms(5), ms(3)), task(None, ms(6), ms(4))];
    assert_eq!(drawn(PolicySpec::GlobalEdf, 2, tasks, 12), ["aaccccbbbcc.", "bbb.aaccaabb"]);
}

#[test]
fn a_late_job_delays_the_next_of_its_task_and_none_is_lost() {
    let setup = partitioned_edf(1, vec![task(Some(0), ms(4), ms(1))]);
    let mut long_first = |_, job| if job == 0 { ms(9) } else { ms(1) };
    let trace = simulate(&setup, ms(14), &mut long_first, &Costs::default()).unwrap();
    assert_eq!(draw(&trace, ms(1), 14), ["aaaaaaaaaaa.a."]);
    let done: Vec<u64> = of_kind(&trace.cores[0], EventKind::Complete).iter().map(|(t, ..)| t / 1_000_000).collect();
    assert_eq!(done, [9, 10, 11, 13]);
}

/// The worked example of MC², one unit being 10 ms. Tasks T1 to T7 are drawn as a to g.
fn mc2_example(level: Level) -> String {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mc2-example.toml");
    let mut system = tactus_model::System::read(&file).unwrap_or_else(|problems| panic!("{problems}"));
    system.at_level(level);
    let setup = setup_of(&system, Duration::ZERO);
    let trace = simulate(&setup, ms(200), demands(&system), &Costs::default()).unwrap();
    draw(&trace, ms(10), 20).concat()
}

#[test]
fn the_worked_example_of_mc2_is_scheduled_as_listed() {
    //                                          0         10
    assert_eq!(mc2_example(Level::C), "accbbadeefaccbbaeefg");
    assert_eq!(mc2_example(Level::B), "aacbbaacddaacbbaacee");
    // Level A fills its table.
    assert_eq!(mc2_example(Level::A), "aaabbaaabbaaabbaaabb");
}

#[test]
fn a_set_up_holds_what_the_system_file_says() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mc2-example.toml");
    let system = tactus_model::System::read(&file).unwrap_or_else(|problems| panic!("{problems}"));
    let setup = setup_of(&system, us(7));
    let PolicySpec::Mc2(mc2) = &setup.kind else { panic!("{:?}", setup.kind) };
    assert_eq!((mc2.enforce, mc2.slack_shifting, mc2.allowance), (true, true, Duration::ZERO));
    assert_eq!(mc2.tables[0].cycle, ms(100));
    let levels: String = setup.tasks.iter().map(|t| t.level.to_string()).collect();
    assert_eq!(levels, "AABBCCD");
    // Each at its own level and with its own allowance; nothing holds level D.
    let budgets: Vec<Duration> = setup.tasks.iter().map(|t| t.budget).collect();
    assert_eq!(
        budgets,
        [30, 40, 20, 20, 20, 20].map(|n| ms(n) + us(7)).into_iter().chain([Duration::ZERO]).collect::<Vec<_>>()
    );
    // Where budgets are not enforced there is nothing to enlarge.
    let mut free = system.clone();
    free.policy = tactus_model::Policy::Mc2 { enforce: false, slack_shifting: true };
    assert_eq!(setup_of(&free, us(7)).tasks[0].budget, ms(30));
    assert_eq!(setup.tasks[1].core, Some(CoreId(0)));
    assert_eq!((setup.tasks[3].period, setup.tasks[3].deadline), (ms(200), ms(200)));
}
