//! Rules of partitions, from the table of windows alone: nothing of a partition runs outside its windows, and no window
//! passes its partition by while that has work.

use super::{Rule, Violation};
use crate::schedule::{schedule_with, Boundary};
use crate::{run_end, PartitionView, SegmentKind, Trace, View};
use tactus_record::{EventKind, Record};
use tactus_task::ScheduleSwitch;
use tactus_time::{CoreId, Duration, Instant, TaskId};

/// Both rules. `tolerance`: how much later than at once a core may notice what it should, each time.
pub fn windows(view: &View, trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    let mut found = outside(view, trace, tolerance);
    for core in (0..trace.cores.len().min(view.cores)).map(|core| CoreId(core as u8)) {
        for partition in view.partitions.iter().filter(|it| it.windows.iter().any(|window| window.core == core)) {
            found.extend(passed_by(view, partition, core, trace, tolerance));
        }
    }
    found.sort_by_key(|v| v.time);
    found
}

/// The windows of a partition on a core as stretches of time that meet `[from, to)`, in their order. One that ends as the
/// next begins is one with it.
fn stretches(partition: &PartitionView, core: CoreId, from: Instant, to: Instant) -> Vec<(Instant, Instant)> {
    let frame = partition.frame.as_nanos().max(1);
    let mut own: Vec<_> = partition.windows.iter().filter(|window| window.core == core).collect();
    own.sort_by_key(|window| window.start);
    let mut all: Vec<(Instant, Instant)> = Vec::new();
    for n in from.as_nanos() / frame..=to.as_nanos() / frame {
        let begin = Instant::from_nanos(n.saturating_mul(frame));
        let schedule = ScheduleSwitch::schedule_in(&partition.switches, n);
        for window in own.iter().filter(|window| window.schedule == schedule) {
            let (start, end) = (begin.saturating_add(window.start), begin.saturating_add(window.end()));
            match all.last_mut() {
                Some((_, last)) if *last == start => *last = end,
                _ if end > from && start < to => all.push((start, end)),
                _ => {}
            }
        }
    }
    all
}

/// Nothing of a partition runs outside its windows, as time is charged: from decision to decision.
fn outside(view: &View, trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    let mut of_task: Vec<Option<&PartitionView>> = vec![None; view.tasks.len()];
    for partition in &view.partitions {
        for task in &partition.tasks {
            if let Some(of) = of_task.get_mut(task.index()) {
                *of = Some(partition);
            }
        }
    }
    let mut found = Vec::new();
    for run in schedule_with(trace, Boundary::Decision).into_iter().filter(|it| it.kind == SegmentKind::Run) {
        let Some((task, partition)) = run.task.and_then(|task| Some((task, (*of_task.get(task.index())?)?))) else {
            continue;
        };
        if partition.background {
            continue;
        }
        // What lies before, between and behind the windows.
        let mut at = run.start;
        let mut without = |from: Instant, to: Instant| {
            let ran = to.since(from);
            if ran > tolerance {
                found.push(Violation {
                    rule: Rule::Window,
                    time: from,
                    core: run.core,
                    task: Some(task),
                    job: Some(run.job),
                    text: format!("runs for {ran} outside the windows of partition {:?}", partition.name),
                });
            }
        };
        for (start, end) in stretches(partition, run.core, run.start, run.end) {
            without(at, start.min(run.end).max(at));
            at = at.max(end);
        }
        without(at, run.end.max(at));
    }
    found
}

/// What a partition has to do on a core.
struct Own<'v> {
    partition: &'v PartitionView,
    core: CoreId,
    view: &'v View,
    /// Jobs that are not finished, by task.
    pending: Vec<u32>,
    stopped: Vec<bool>,
    /// Whether the core runs one of its tasks.
    runs: bool,
}

impl Own<'_> {
    fn has(&self, task: TaskId) -> bool {
        let here = self.view.tasks.get(task.index()).is_some_and(|it| it.core == Some(self.core));
        here && self.partition.tasks.contains(&task)
    }

    fn step(&mut self, r: &Record) {
        if matches!(r.kind, EventKind::Idle) {
            self.runs = false;
        }
        let Some(task) = r.task else { return };
        let n = task.index();
        if r.kind == EventKind::Dispatch {
            self.runs = self.has(task);
        }
        if !self.has(task) {
            return;
        }
        match r.kind {
            EventKind::Release => self.pending[n] += 1,
            EventKind::Complete | EventKind::Dropped => self.pending[n] = self.pending[n].saturating_sub(1),
            EventKind::Removed => self.pending[n] = 0,
            EventKind::Exhausted => self.stopped[n] = true,
            EventKind::Replenish => self.stopped[n] = false,
            _ => {}
        }
    }

    /// A task that waits though the core could run it.
    fn waits(&self) -> Option<TaskId> {
        let ready = |task: &&TaskId| self.pending[task.index()] > 0 && !self.stopped[task.index()] && self.has(**task);
        self.partition.tasks.iter().filter(|task| task.index() < self.pending.len()).find(ready).copied()
    }
}

/// In a window of the partition the core does not idle, nor run what is not the partition's, while one of its jobs waits.
fn passed_by(
    view: &View,
    partition: &PartitionView,
    core: CoreId,
    trace: &Trace,
    tolerance: Duration,
) -> Vec<Violation> {
    let records: Vec<&Record> = trace.cores[core.index()].iter().filter(|r| r.kind.is_policy()).collect();
    let Some(first) = trace.cores[core.index()].first() else { return Vec::new() };
    let tasks = view.tasks.len();
    let mut own = Own { partition, core, view, pending: vec![0; tasks], stopped: vec![false; tasks], runs: false };
    let windows = stretches(partition, core, first.time, run_end(trace));
    // Stretches of waiting inside windows; one that goes on where another ends is one with it.
    let mut waited: Vec<(Instant, Instant, TaskId)> = Vec::new();
    for (n, r) in records.iter().enumerate() {
        own.step(r);
        let until = records.get(n + 1).map_or_else(|| run_end(trace), |next| next.time);
        let Some(task) = own.waits().filter(|_| !own.runs && until > r.time) else { continue };
        let first = windows.partition_point(|(_, end)| *end <= r.time);
        for (start, end) in windows[first..].iter().take_while(|(start, _)| *start < until) {
            let (from, to) = (r.time.max(*start), until.min(*end));
            match waited.last_mut() {
                Some((_, last, _)) if *last == from => *last = to,
                _ => waited.push((from, to, task)),
            }
        }
    }
    let too_long = waited.into_iter().filter(|(from, to, _)| to.since(*from) > tolerance);
    let text = || format!("waits in a window of its partition {:?}, which does not run", partition.name);
    let one = |(time, _, task)| Violation { rule: Rule::Window, time, core, task: Some(task), job: None, text: text() };
    too_long.map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tactus_task::{Release, Window};

    fn at(n: u64) -> Instant {
        Instant::ZERO + length(n)
    }

    fn length(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    /// Two partitions of one task each, with [0, 4) and [4, 10) of ten.
    fn view() -> View {
        let window =
            |start, end| Window { core: CoreId(0), start: length(start), length: length(end - start), schedule: 0 };
        let partition = |n: u16, window| PartitionView {
            name: format!("p{n}"),
            criticality: String::new(),
            frame: length(10),
            windows: vec![window],
            switches: Vec::new(),
            background: false,
            tasks: vec![TaskId(n)],
        };
        let task = |n: u16| crate::TaskView {
            name: format!("t{n}"),
            level: None,
            core: Some(CoreId(0)),
            releases: Release::Periodic,
            waits: tactus_task::WaitLimit::default(),
            offset: Duration::ZERO,
            period: length(20),
            deadline: length(20),
            promise: None,
            assumed: [None; 4],
            budget: None,
            minimum: None,
        };
        View {
            name: "two".into(),
            policy: "partitions".into(),
            cores: 1,
            duration: length(20),
            accepted: true,
            tasks: vec![task(0), task(1)],
            tree: None,
            chains: Vec::new(),
            services: Vec::new(),
            changes: None,
            slots: Vec::new(),
            disks: Vec::new(),
            partitions: vec![partition(0, window(0, 4)), partition(1, window(4, 10))],
            monitors: Vec::new(),
            servers: Vec::new(),
            heaps: Vec::new(),
            refuted: None,
            uncounted: false,
        }
    }

    /// A trace of policy records.
    fn trace(rows: &[(u64, EventKind, u16)]) -> Trace {
        let mut records = Vec::new();
        let record =
            |time, kind, task| Record { time, arg: 0, job: 0, task, kind, level: 0, core: CoreId(0), ticket: 0 };
        for (time, kind, task) in rows {
            records.push(record(at(*time), *kind, Some(TaskId(*task)).filter(|_| *kind != EventKind::Idle)));
        }
        records.push(record(at(20), EventKind::End, None));
        Trace { cores: vec![records], dropped: vec![0], disks: Vec::new(), observed: Vec::new() }
    }

    use EventKind::{Complete, Dispatch, Idle, Preempt, Release as Released};

    #[test]
    fn a_run_by_the_table_breaks_no_rule() {
        let rows = [(0, Released, 0), (0, Released, 1), (0, Dispatch, 0), (4, Preempt, 0), (4, Dispatch, 1)];
        let rest = [(9, Complete, 1), (9, Idle, 0), (10, Dispatch, 0), (12, Complete, 0), (12, Idle, 0)];
        let found = windows(&view(), &trace(&[&rows[..], &rest].concat()), Duration::ZERO);
        assert_eq!(found, []);
    }

    #[test]
    fn what_runs_outside_its_windows_is_found() {
        let rows = [(0, Released, 0), (0, Dispatch, 0), (6, Complete, 0), (6, Idle, 0)];
        let found = windows(&view(), &trace(&rows), length(1));
        assert_eq!(found.iter().map(|v| (v.time, v.task)).collect::<Vec<_>>(), [(at(4), Some(TaskId(0)))]);
        assert_eq!(windows(&view(), &trace(&rows), length(2)), [], "a late notice is allowed for");
    }

    #[test]
    fn a_window_that_passes_by_waiting_work_is_found() {
        let rows = [(0, Released, 0), (0, Idle, 0), (3, Dispatch, 0), (4, Preempt, 0), (4, Idle, 0)];
        let found = windows(&view(), &trace(&rows), length(1));
        assert_eq!(found.iter().map(|v| v.time).collect::<Vec<_>>(), [at(0), at(10)]);
    }

    #[test]
    fn in_the_background_a_partition_may_run_where_nobody_waits() {
        let mut view = view();
        view.partitions[0].background = true;
        let rows = [(0, Released, 0), (0, Dispatch, 0), (5, Released, 1), (5, Dispatch, 1), (8, Complete, 1)];
        let rest = [(8, Dispatch, 0), (9, Complete, 0), (9, Idle, 0)];
        assert_eq!(windows(&view, &trace(&[&rows[..], &rest].concat()), Duration::ZERO), []);
        let rows = [(0, Released, 0), (0, Released, 1), (0, Dispatch, 0), (9, Complete, 0), (9, Dispatch, 1)];
        let rest = [(10, Complete, 1), (10, Idle, 0)];
        assert_eq!(
            windows(&view, &trace(&[&rows[..], &rest].concat()), Duration::ZERO).len(),
            1,
            "the other one waits in its window"
        );
    }
}
