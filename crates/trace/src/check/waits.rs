//! Waits of jobs, held against what their tasks declare.

use super::{Rule, Violation};
use crate::order::in_order;
use crate::{run_end, Trace, View};
use std::collections::HashMap;
use tactus_record::{EventKind, Record};
use tactus_time::{Duration, Instant, TaskId};

/// How long a core may take to notice that the time of a wait is over.
const PATIENCE: Duration = Duration::from_millis(1);

/// No job waits longer or more often than its task declares, and each goes on when its time is over. That it does not before is the
/// business of the order of records.
pub(super) fn of_view(view: &View, trace: &Trace) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut counts: HashMap<(TaskId, u32), u16> = HashMap::new();
    let mut open: HashMap<TaskId, Record> = HashMap::new();
    let wrong = |r: &Record, text: String| Violation {
        rule: Rule::Wait,
        time: r.time,
        core: r.core,
        task: r.task,
        job: r.task.map(|_| r.job),
        text,
    };
    in_order(trace, |r| {
        let Some((task, limit)) = r.task.and_then(|task| Some((task, view.tasks.get(task.index())?.waits))) else {
            return;
        };
        let until = Instant::from_nanos(r.arg);
        match r.kind {
            // For an event.
            EventKind::Wait | EventKind::Wake if r.arg == u64::MAX => {}
            EventKind::Wait => {
                let count = counts.entry((task, r.job)).or_default();
                *count += 1;
                let length = until.since(r.time);
                if *count > limit.most {
                    found.push(wrong(r, format!("waits for the {count}th time, and may {} times", limit.most)));
                } else if length > limit.longest {
                    found.push(wrong(r, format!("waits for {length}, and may for {}", limit.longest)));
                }
                open.insert(task, *r);
            }
            EventKind::Wake => {
                open.remove(&task);
                let late = r.time.since(until);
                if late > PATIENCE {
                    found.push(wrong(r, format!("goes on {late} after its time to wait was over")));
                }
            }
            EventKind::Dropped if open.get(&task).is_none_or(|wait| wait.job != r.job) => {}
            EventKind::Complete | EventKind::Dropped | EventKind::Removed => {
                open.remove(&task);
            }
            _ => {}
        }
    });
    let end = run_end(trace);
    let over = |wait: &&Record| end.since(Instant::from_nanos(wait.arg)) > PATIENCE;
    found.extend(open.values().filter(over).map(|wait| wrong(wait, "never goes on after its wait".to_string())));
    found
}
