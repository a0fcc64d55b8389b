//! Cores that give up a level of criticality and take it up again.

use super::{Rule, Violation};
use crate::{Trace, View};
use std::collections::HashMap;
use tactus_record::{EventKind, Record};
use tactus_time::{Instant, Level, TaskId};

/// While a core has given up a level ([`EventKind::Mode`]), no job of it begins or goes on there, and none that was there is left;
/// a core gives it up for a critical job that it runs, and takes it up again only when every critical job that was released
/// there before has ended.
pub fn modes(view: &View, trace: &Trace) -> Vec<Violation> {
    trace.cores.iter().flat_map(|records| one(view, records)).collect()
}

fn one(view: &View, records: &[Record]) -> Vec<Violation> {
    let level = |task: TaskId| view.tasks.get(task.index()).and_then(|task| task.level);
    let mut found = Vec::new();
    let mut serves = Level::D;
    let mut given_up: Option<Instant> = None;
    // Released and not ended, with the nominal release.
    let mut open: HashMap<(TaskId, u32), u64> = HashMap::new();
    for r in records {
        let mut wrong = |text: String| {
            let (rule, time, core) = (Rule::Mode, r.time, r.core);
            found.push(Violation { rule, time, core, task: r.task, job: Some(r.job), text });
        };
        let job = r.task.map(|task| (task, r.job));
        match (r.kind, job) {
            (EventKind::Mode, cause) => {
                let Some(to) = Level::from_index(r.level) else {
                    wrong("there is no such level".into());
                    continue;
                };
                match cause {
                    Some(job) if to >= serves || level(job.0).is_none_or(|level| level > to) => {
                        wrong("a level is given up for a job that is not more critical".into());
                    }
                    Some(_) => given_up = Some(r.time),
                    None if to <= serves => wrong("a level is taken up that was not given up".into()),
                    None => {
                        let before = open.iter().find(|(_, release)| **release < r.time.as_nanos());
                        if let Some(((task, number), _)) = before {
                            let text = format!("a level is taken up while job {number} of task {} is left", task.0);
                            wrong(text);
                        }
                    }
                }
                serves = to;
            }
            (EventKind::Release, Some(job)) => {
                open.insert(job, r.arg);
            }
            (EventKind::Complete | EventKind::Dropped, Some(job)) => {
                open.remove(&job);
            }
            (EventKind::Removed, Some((task, _))) => open.retain(|(other, _), _| *other != task),
            (EventKind::Dispatch, Some(job)) if level(job.0).is_some_and(|level| level > serves) => {
                wrong(format!("runs, although its core serves no level below {serves}"));
            }
            (EventKind::Leave, _) if given_up.take().is_some() => {
                let lost = open.keys().find(|(task, _)| level(*task).is_some_and(|level| level > serves));
                if let Some((task, number)) = lost {
                    wrong(format!("job {number} of task {} is left although its level was given up", task.0));
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TaskView;
    use tactus_time::{CoreId, Duration};

    fn view() -> View {
        let task = |level| TaskView {
            name: "t".into(),
            level: Some(level),
            core: Some(CoreId(0)),
            releases: tactus_task::Release::Periodic,
            waits: tactus_task::WaitLimit::default(),
            offset: Duration::ZERO,
            period: Duration::from_nanos(10),
            deadline: Duration::from_nanos(10),
            promise: None,
            assumed: [None; 4],
            budget: None,
            minimum: None,
        };
        let tasks = vec![task(Level::A), task(Level::B)];
        let duration = Duration::from_nanos(30);
        View {
            name: "v".into(),
            policy: "AMC".into(),
            cores: 1,
            duration,
            accepted: true,
            tasks,
            tree: None,
            chains: Vec::new(),
            services: Vec::new(),
            changes: None,
            slots: Vec::new(),
            disks: Vec::new(),
            partitions: Vec::new(),
            monitors: Vec::new(),
            servers: Vec::new(),
            heaps: Vec::new(),
            refuted: None,
            uncounted: false,
        }
    }

    fn at(time: u64, kind: EventKind, task: Option<u16>, job: u32, level: u8, arg: u64) -> Record {
        let task = task.map(TaskId);
        Record { time: Instant::from_nanos(time), arg, job, task, kind, level, core: CoreId(0), ticket: 0 }
    }

    /// A run in which everything is right; `spoil` may change it.
    fn run(spoil: impl FnOnce(&mut Vec<Record>)) -> usize {
        let mut records = vec![
            at(0, EventKind::Release, Some(0), 0, 0, 0),
            at(0, EventKind::Release, Some(1), 0, 1, 0),
            at(0, EventKind::Dispatch, Some(0), 0, 0, 0),
            at(2, EventKind::Mode, Some(0), 0, 0, 0),
            at(2, EventKind::Dropped, Some(1), 0, 1, 2),
            at(2, EventKind::Leave, Some(0), 0, 0, 0),
            at(5, EventKind::Complete, Some(0), 0, 0, 5),
            at(5, EventKind::Mode, None, 0, 1, 0),
            at(10, EventKind::Release, Some(1), 1, 1, 10),
            at(10, EventKind::Dispatch, Some(1), 1, 1, 0),
        ];
        spoil(&mut records);
        modes(&view(), &Trace { cores: vec![records], dropped: vec![0], disks: Vec::new(), observed: Vec::new() }).len()
    }

    #[test]
    fn a_run_is_right_as_long_as_nobody_runs_whose_level_was_given_up() {
        assert_eq!(run(|_| ()), 0);
        // The other job is not dropped; it is left when the core goes back as well.
        assert_eq!(run(|records| _ = records.remove(4)), 2);
        // It runs later, without the core having gone back.
        assert_eq!(run(|records| _ = records.remove(7)), 1);
        // The core goes back before the critical job has ended.
        assert_eq!(run(|records| records.swap(6, 7)), 1);
        // The cause is no critical job.
        assert_eq!(run(|records| records[3].task = Some(TaskId(1))), 1);
    }
}
