//! Whoever else had the cores: threads that are no task. Each of the longest gets a name in the results, so that a delay has a cause; all
//! others share one.

use crate::jobs::Entry;
use crate::recording::{EventKind, Recording, Thread};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tactus_record::{EventKind as RecordKind, InputKind};
use tactus_task::{EarlyArrival, Release, WaitLimit};
use tactus_time::{Duration, Instant, TaskId};
use tactus_trace::TaskView;

/// The most of them that are named.
const MOST_NAMED: usize = 8;

/// Threads that are no task.
pub(crate) struct Others {
    /// What the judge sees of them: tasks that are promised nothing and whose jobs are the times that they had a core.
    pub(crate) tasks: Vec<TaskView>,
    pub(crate) entries: Vec<Entry>,
}

/// A time that a thread had a core.
struct Stint {
    thread: Thread,
    from: (usize, Instant),
    to: Option<(usize, Instant)>,
    cpu: u16,
}

/// Those of a recording, on the first `cores` processors, numbered from `first` on.
pub(crate) fn of(
    recording: &Recording,
    (tasks, since): (&BTreeSet<Thread>, &dyn Fn(Instant) -> Instant),
    cores: usize,
    first: usize,
    length: Duration,
) -> Others {
    let mut stints: Vec<Stint> = Vec::new();
    let mut open: HashMap<u16, usize> = HashMap::new();
    for (order, event) in recording.events.iter().enumerate().filter(|(_, event)| usize::from(event.cpu) < cores) {
        let EventKind::Switch { to, .. } = event.kind else { continue };
        if let Some(stint) = open.remove(&event.cpu) {
            stints[stint].to = Some((order, since(event.time)));
        }
        if to != Thread::IDLE && !tasks.contains(&to) {
            open.insert(event.cpu, stints.len());
            stints.push(Stint { thread: to, from: (order, since(event.time)), to: None, cpu: event.cpu });
        }
    }
    let name =
        |thread: Thread| recording.newest_names.get(&thread).cloned().unwrap_or_else(|| format!("thread {}", thread.0));
    let mut time: BTreeMap<String, u64> = BTreeMap::new();
    for stint in &stints {
        let length = stint.to.map_or(0, |(_, to)| to.since(stint.from.1).as_nanos());
        *time.entry(name(stint.thread)).or_default() += length;
    }
    let mut longest: Vec<(u64, String)> = time.into_iter().map(|(name, time)| (time, name)).collect();
    longest.sort_by(|a, b| b.cmp(a));
    let more = longest.len() > MOST_NAMED;
    longest.truncate(MOST_NAMED);
    let mut names: Vec<String> = longest.into_iter().map(|(_, name)| name).collect();
    let index: HashMap<String, usize> = names.iter().cloned().enumerate().map(|(n, name)| (name, n)).collect();
    if more {
        names.push("other threads".into());
    }
    let mut counts = vec![0; names.len()];
    let mut entries = Vec::new();
    for Stint { thread, from, to, cpu } in stints {
        let number = index.get(&name(thread)).copied().unwrap_or(names.len() - 1);
        let (task, job) = (TaskId((first + number) as u16), counts[number]);
        counts[number] += 1;
        let mut write = |(order, time): (usize, Instant), kind, arg, begins| {
            entries.push(Entry { order, time, cpu, kind, task, job, arg, begins });
        };
        for kind in [RecordKind::Input, RecordKind::Release, RecordKind::Dispatch] {
            write(from, kind, from.1.as_nanos(), true);
        }
        if let Some(to) = to {
            write(to, RecordKind::Complete, to.1.since(from.1).as_nanos(), false);
        }
    }
    let tasks = names.into_iter().map(|name| view(name, length)).collect();
    Others { tasks, entries }
}

/// The level byte of an arrival's record.
pub(crate) const ARRIVAL: u8 = InputKind::Arrival as u8;

fn view(name: String, length: Duration) -> TaskView {
    TaskView {
        name: format!("({name})"),
        level: None,
        core: None,
        releases: Release::Sporadic(EarlyArrival::Delay),
        waits: WaitLimit::default(),
        offset: Duration::ZERO,
        period: Duration::ZERO,
        deadline: length,
        promise: None,
        assumed: [None; 4],
        budget: None,
        minimum: None,
    }
}
