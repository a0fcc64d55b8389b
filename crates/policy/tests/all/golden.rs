//! Golden schedules: one worked example for each policy, drawn in `golden/*.txt` for a person to check by eye.
//!
//! After a change that is meant, write them anew with `GOLDEN=write cargo test -p tactus-policy`, and
//! look at every difference.

use crate::common::{core, draw, invariants, ms, run};
use tactus_policy::{Clusters, Dual, Mc2, Mixed, MixedOrder, PolicyConfig, PolicySpec, Priorities, Slot, Table, Task};
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

/// Runs the system and compares the drawing with the file.
fn golden(file: &str, setup: &PolicyConfig, columns: u64, first_name: char, demand: &dyn Fn(TaskId, u32) -> Duration) {
    let entries = run(setup, demand, Instant::ZERO + ms(columns));
    invariants::check(setup, &entries);
    let name = |task: TaskId| format!("{first_name}{}", task.0 + 1);
    let drawn = draw::draw(setup, &entries, columns, &name);
    crate::kept::compare(file, &drawn);
}

/// A task without levels: core, offset, period, deadline, all in ms.
fn task(on: u8, offset: u64, period: u64, deadline: u64) -> Task {
    Task {
        level: Level::A,
        core: core(on),
        offset: ms(offset),
        period: ms(period),
        deadline: ms(deadline),
        budget: Duration::ZERO,
    }
}

fn plain(kind: PolicySpec, cores: usize, tasks: Vec<Task>) -> PolicyConfig {
    PolicyConfig { cores, kind, tasks }
}

#[test]
fn partitioned_rm_lets_the_short_period_win_and_misses_where_edf_would_not() {
    let setup = plain(PolicySpec::PartitionedRm, 2, vec![task(0, 0, 5, 5), task(0, 0, 7, 7), task(1, 1, 4, 4)]);
    let demand = [2, 4, 3];
    golden("partitioned_rm.txt", &setup, 20, 'T', &|task, _| ms(demand[task.index()]));
}

#[test]
fn partitioned_edf_meets_every_deadline_of_the_same_tasks() {
    let setup = plain(PolicySpec::PartitionedEdf, 2, vec![task(0, 0, 5, 5), task(0, 0, 7, 7), task(1, 1, 4, 4)]);
    let demand = [2, 4, 3];
    golden("partitioned_edf.txt", &setup, 20, 'T', &|task, _| ms(demand[task.index()]));
}

#[test]
fn global_edf_moves_a_displaced_job_to_the_other_core() {
    let setup = plain(
        PolicySpec::GlobalEdf,
        2,
        vec![task(0, 0, 12, 12), task(0, 0, 10, 6), task(0, 1, 10, 3), task(0, 3, 10, 5)],
    );
    let demand = [6, 2, 2, 2];
    golden("global_edf.txt", &setup, 20, 'T', &|task, _| ms(demand[task.index()]));
}

/// The three tasks that global EDF moves about on two cores, here on cores 0 and 2; T5 and T6 have core 1 to themselves.
#[test]
fn clustered_edf_moves_jobs_within_a_cluster_and_never_out_of_it() {
    let tasks = [task(0, 0, 12, 12), task(2, 0, 10, 6), task(0, 1, 10, 3), task(2, 3, 10, 5)];
    let tasks = [&tasks[..], &[task(1, 0, 5, 5), task(1, 0, 7, 7)]].concat();
    let sets = vec![CoreSet::from_bits(0b101), CoreSet::from_bits(0b010)];
    let setup = plain(PolicySpec::ClusteredEdf(Clusters { sets, priorities: Priorities(Vec::new()) }), 3, tasks);
    let demand = [6, 2, 2, 2, 2, 4];
    golden("clustered_edf.txt", &setup, 20, 'T', &|task, _| ms(demand[task.index()]));
}

#[test]
fn global_rm_shows_dhalls_effect() {
    let setup = plain(PolicySpec::GlobalRm, 2, vec![task(0, 0, 10, 10), task(0, 0, 10, 10), task(0, 0, 11, 11)]);
    let demand = [2, 2, 10];
    golden("global_rm.txt", &setup, 20, 'T', &|task, _| ms(demand[task.index()]));
}

/// Level, core, period and budgets in the LO mode and at the task's own level, priority, virtual deadline.
type Row = (Level, u64, [u64; 2], u32, u64);

fn mixed(order: MixedOrder, rows: &[Row]) -> PolicyConfig {
    let tasks = rows.iter().map(|(level, period, budget, ..)| Task {
        level: *level,
        budget: ms(budget[1]),
        ..task(0, 0, *period, *period)
    });
    let dual = |row: &Row| Dual { low: ms(row.2[0]), priority: row.3, virtual_deadline: ms(row.4) };
    let kind = PolicySpec::Mixed(Mixed { order, tasks: rows.iter().map(dual).collect() });
    PolicyConfig { cores: 1, kind, tasks: tasks.collect() }
}

/// Trap of the source: jobs of the lower level that come while it is given up are not kept for later either.
#[test]
fn amc_gives_up_the_lower_level_for_a_critical_job_that_takes_too_long_and_takes_it_up_when_all_is_done() {
    let rows = [(Level::B, 5, [2, 2], 3, 0), (Level::A, 10, [2, 5], 2, 0), (Level::B, 10, [2, 2], 1, 0)];
    let demand = |task: TaskId, job| ms(if (task.0, job) == (1, 0) { 5 } else { 2 });
    golden("amc.txt", &mixed(MixedOrder::FixedPriority, &rows), 20, 'T', &demand);
}

/// By plain deadlines T1 would go first, T2 would be found out at 6, and end at 12, too late.
#[test]
fn edf_vd_leaves_a_critical_job_enough_time_for_its_longest_execution() {
    let rows = [(Level::B, 10, [4, 4], 0, 10), (Level::A, 10, [2, 8], 0, 4)];
    let demand = |task: TaskId, job| ms([4, if job == 0 { 8 } else { 2 }][task.index()]);
    golden("edf_vd.txt", &mixed(MixedOrder::VirtualDeadline, &rows), 20, 'T', &demand);
}

/// The worked example of Herman et al., Table 1: execution times at levels A to D.
const EXAMPLE: [(Level, u64, [u64; 4]); 7] = [
    (Level::A, 5, [3, 2, 1, 1]),
    (Level::A, 10, [4, 2, 2, 2]),
    (Level::B, 10, [0, 2, 2, 1]),
    (Level::B, 20, [0, 2, 1, 1]),
    (Level::C, 10, [0, 0, 2, 2]),
    (Level::C, 20, [0, 0, 2, 2]),
    (Level::D, 5, [0, 0, 0, 2]),
];

fn example(slack_shifting: bool) -> PolicyConfig {
    let slot = |task, start, end| Slot { task: TaskId(task), start: ms(start), end: ms(end) };
    let slots = vec![slot(0, 0, 3), slot(1, 3, 5), slot(0, 5, 8), slot(1, 8, 10)];
    let tasks = EXAMPLE.iter().map(|(level, period, execution)| Task {
        level: *level,
        core: (*level <= Level::B).then_some(CoreId(0)),
        offset: Duration::ZERO,
        period: ms(*period),
        deadline: ms(*period),
        budget: if *level == Level::D { Duration::ZERO } else { ms(execution[level.index()]) },
    });
    let tables = vec![Table { cycle: ms(10), slots }];
    let mc2 = Mc2 { enforce: true, slack_shifting, allowance: Duration::ZERO, tables };
    PolicyConfig { cores: 1, kind: PolicySpec::Mc2(mc2), tasks: tasks.collect() }
}

/// What a job takes at a level; a task that has no time at a level takes that of its own.
fn at_level(level: Level) -> impl Fn(TaskId, u32) -> Duration {
    move |task, _| {
        let (own, _, execution) = EXAMPLE[task.index()];
        ms(execution[level.max(own).index()])
    }
}

#[test]
fn the_mc2_example_at_level_c_times_runs_lower_levels_early_through_nested_ghosts() {
    golden("mc2_level_c_times.txt", &example(true), 20, 'T', &at_level(Level::C));
}

#[test]
fn the_mc2_example_at_level_b_times_keeps_a_and_b_on_time() {
    golden("mc2_level_b_times.txt", &example(true), 20, 'T', &at_level(Level::B));
}

#[test]
fn the_mc2_example_at_level_a_times_runs_level_a_only() {
    golden("mc2_level_a_times.txt", &example(true), 20, 'T', &at_level(Level::A));
}

#[test]
fn without_slack_shifting_the_same_jobs_leave_no_ghosts() {
    golden("mc2_without_ghosts.txt", &example(false), 20, 'T', &at_level(Level::C));
}

#[test]
fn an_overrunning_job_consumes_several_budgets_and_shifts_its_successors() {
    // One task per level on one core; the first job of B takes three budgets' time, that of C two.
    let tasks = [(Level::A, 4, 1), (Level::B, 6, 2), (Level::C, 8, 2), (Level::D, 10, 0)];
    let tasks: Vec<Task> = tasks
        .map(|(level, period, budget)| Task {
            level,
            core: (level <= Level::B).then_some(CoreId(0)),
            offset: Duration::ZERO,
            period: ms(period),
            deadline: ms(period),
            budget: ms(budget),
        })
        .into();
    let slots = vec![Slot { task: TaskId(0), start: ms(1), end: ms(2) }];
    let tables = vec![Table { cycle: ms(4), slots }];
    let mc2 = Mc2 { enforce: true, slack_shifting: true, allowance: Duration::ZERO, tables };
    let setup = PolicyConfig { cores: 1, kind: PolicySpec::Mc2(mc2), tasks };
    golden("mc2_overrun.txt", &setup, 32, 'T', &|task, job| {
        ms(match (task.0, job) {
            (1, 0) => 5,
            (2, 0) => 3,
            (3, _) => 4,
            _ => 1,
        })
    });
}

#[test]
fn level_c_moves_off_a_core_that_level_b_takes() {
    // Core 1 runs B from time to time; C moves to core 0 then, and D to what is left.
    let tasks = vec![
        Task { level: Level::B, core: core(1), offset: ms(2), period: ms(8), deadline: ms(8), budget: ms(3) },
        Task { level: Level::C, core: None, offset: ms(0), period: ms(12), deadline: ms(12), budget: ms(6) },
        Task { level: Level::C, core: None, offset: ms(1), period: ms(9), deadline: ms(9), budget: ms(4) },
        Task { level: Level::D, core: None, offset: ms(0), period: ms(12), deadline: ms(12), budget: ms(0) },
    ];
    let mc2 = Mc2 { enforce: true, slack_shifting: true, allowance: Duration::ZERO, tables: vec![Table::default(); 2] };
    let setup = PolicyConfig { cores: 2, kind: PolicySpec::Mc2(mc2), tasks };
    let demand = [2, 6, 3, 5];
    golden("mc2_two_cores.txt", &setup, 24, 'T', &|task, _| ms(demand[task.index()]));
}
