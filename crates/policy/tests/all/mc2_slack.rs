//! A statement of MC² (Herman et al.) that no comparison of schedules shows: what slack shifting leaves alone.

use crate::common::levels::{systems, END};
use crate::common::{run, Entry};
use std::cell::Cell;
use std::collections::BTreeMap;
use tactus_policy::{PolicyConfig, PolicySpec, Table, Task};
use tactus_record::EventKind;
use tactus_time::{Duration, Instant, Level, TaskId};

/// When each job of a level began to run. A job that another core takes off its core in the very instant in which it was put there
/// did not run; nor did one that begins as the run ends, of which only some cores may have noticed that it can.
fn begins(setup: &PolicyConfig, entries: &[Entry], level: Level) -> BTreeMap<(TaskId, u32), Instant> {
    let mut had = BTreeMap::new();
    for record in entries.iter().flat_map(|entry| &entry.records) {
        let change = match record.kind {
            EventKind::Dispatch => 1,
            EventKind::Preempt => -1,
            _ => continue,
        };
        let Some(task) = record.task.filter(|task| setup.tasks[task.index()].level == level) else { continue };
        *had.entry((task, record.job, record.time)).or_insert(0) += change;
    }
    let mut begins = BTreeMap::new();
    let ran = |((_, _, time), times): &((TaskId, u32, Instant), i32)| *times > 0 && time.as_nanos() < END;
    for ((task, job, time), _) in had.into_iter().filter(ran) {
        begins.entry((task, job)).or_insert(time);
    }
    begins
}

/// Whether each job of the level ended before the next one of its task came.
fn in_time(setup: &PolicyConfig, entries: &[Entry], level: Level) -> bool {
    let records = || entries.iter().flat_map(|entry| &entry.records);
    let ended = |task: &Task, n: usize, job: u32| {
        let next = Instant::ZERO + task.offset + task.period * u64::from(job + 1);
        let is_it = |it: &&tactus_record::Record| it.kind == EventKind::Complete && it.task == Some(TaskId(n as u16));
        next.as_nanos() >= END || records().filter(is_it).any(|it| it.job == job && it.time <= next)
    };
    let tasks = || setup.tasks.iter().enumerate().filter(|(_, task)| task.level == level);
    let jobs = |task: &Task| (END.saturating_sub(task.offset.as_nanos()) / task.period.as_nanos()) as u32;
    tasks().all(|(n, task)| (0..jobs(task)).all(|job| ended(task, n, job)))
}

#[test]
fn slack_shifting_leaves_the_schedule_of_its_own_level_as_if_all_jobs_took_their_budgets() {
    use proptest::test_runner::{Config, TestRunner};
    let (own, moved) = (Cell::new(0), Cell::new(0));
    let config = Config { cases: 2_000, failure_persistence: None, ..Config::default() };
    let look = |((mut setup, most), level): ((PolicyConfig, Vec<u64>), u8)| {
        let level = [Level::B, Level::C][usize::from(level)];
        // Levels above have nothing: what they leave early would let this one run early.
        setup.tasks.retain(|task| task.level >= level);
        let PolicySpec::Mc2(mc2) = &mut setup.kind else { panic!("{:?}", setup.kind) };
        (mc2.enforce, mc2.slack_shifting, mc2.allowance) = (true, true, Duration::ZERO);
        mc2.tables.iter_mut().for_each(|table| *table = Table { cycle: Duration::ZERO, slots: Vec::new() });
        let full = |setup: &PolicyConfig, task: TaskId| setup.tasks[task.index()].budget.as_nanos();
        let early = |setup: &PolicyConfig, task: TaskId, job: u32| {
            let most = most.get(task.index()).copied().unwrap_or(1) + u64::from(job);
            Duration::from_nanos(1 + most % full(setup, task).max(1))
        };
        let end = Instant::from_nanos(END);
        let level_d = |setup: &PolicyConfig, task: TaskId| setup.tasks[task.index()].level == Level::D;
        let whole = run(
            &setup,
            &|task, job| {
                if level_d(&setup, task) {
                    early(&setup, task, job)
                } else {
                    Duration::from_nanos(full(&setup, task).max(1))
                }
            },
            end,
        );
        let short = run(&setup, &|task, job| early(&setup, task, job), end);
        if !in_time(&setup, &whole, level) {
            // A ghost ends with the next release of its task at the latest; a job that is late does not.
            return Ok(());
        }
        let (whole, short_ones) = (begins(&setup, &whole, level), begins(&setup, &short, level));
        let differs = whole
            .iter()
            .find(|(job, begin)| short_ones.get(job) != Some(begin))
            .or_else(|| short_ones.iter().find(|(job, _)| !whole.contains_key(job)));
        if let Some((job, _)) = differs {
            let (whole, short) = (whole.get(job), short_ones.get(job));
            panic!("level {level:?}: {job:?} begins at {whole:?}, with ghosts at {short:?}; {setup:?}");
        }
        own.set(own.get() + whole.len());
        // Without slack shifting the jobs of the level come forward where others end early.
        let PolicySpec::Mc2(mc2) = &mut setup.kind else { panic!("{:?}", setup.kind) };
        mc2.slack_shifting = false;
        let without = begins(&setup, &run(&setup, &|task, job| early(&setup, task, job), end), level);
        moved.set(moved.get() + usize::from(without != short_ones));
        Ok(())
    };
    TestRunner::new(config).run(&(systems(), 0u8..2), look).expect("the level's schedule stays");
    println!("{} jobs; {} systems differ without slack shifting", own.get(), moved.get());
    assert!(own.get() > 5_000 && moved.get() > 100, "{} jobs, {} systems", own.get(), moved.get());
}
