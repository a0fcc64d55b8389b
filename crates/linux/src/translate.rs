//! From a recording to a trace of ours, with the view that it is to be read against.

use crate::jobs::{self, Entry, Step, StepKind};
use crate::matching::{self, Named};
use crate::others::{self, ARRIVAL};
use crate::phase::{self, Grid};
use crate::recording::{EventKind, PrevState, Recording, Thread};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use tactus_record::{EventKind as RecordKind, Record, Untold};
use tactus_task::Release;
use tactus_time::{CoreId, Duration, Instant, TaskId};
use tactus_trace::{Trace, View};

/// The most jobs that a task may have in a trace: more than fit into a day of periods of 10 ms.
const MOST_JOBS: u64 = 10_000_000;

/// The run begins so long before its first event, which a timer may have been late with.
const BEFORE: Duration = Duration::from_millis(1);

/// A recording as the judge wants it.
#[derive(Clone, Debug)]
pub struct Translated {
    /// The records.
    pub trace: Trace,
    /// What they are to be read against: phases and length are those of the recording, and threads that are no task are there as tasks
    /// that are promised nothing, after those of the system.
    pub view: View,
    /// What a person should know of it, a sentence each.
    pub notes: Vec<String>,
}

/// Why a recording cannot be judged by a system's promises.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TranslateError {
    /// The system has something that Linux has not, or that its events do not tell.
    NotOfLinux(String),
    /// No thread is called like the task, or several are.
    Thread(String),
    /// The events of a thread make no sense for its task.
    Events(String),
}

impl fmt::Display for TranslateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TranslateError::NotOfLinux(text) | TranslateError::Thread(text) | TranslateError::Events(text) => {
                f.write_str(text)
            }
        }
    }
}

impl std::error::Error for TranslateError {}

/// Reads a recording as a run of the system. `named` says which thread a task is where that is not called like it; of two for
/// one task the first counts.
///
/// # Errors
/// The system has what Linux cannot have, a task has no thread, or a thread keeps to no period.
pub fn translate(recording: &Recording, view: &View, named: &[Named]) -> Result<Translated, TranslateError> {
    supported(view)?;
    let threads = matching::threads(recording, view, named)?;
    let first = recording.events.first().map_or(Instant::ZERO, |event| event.time);
    let zero = Instant::from_nanos(first.as_nanos().saturating_sub(BEFORE.as_nanos()));
    let last = recording.events.last().map_or(Instant::ZERO, |event| event.time);
    let since = |time: Instant| Instant::ZERO.saturating_add(time.since(zero));
    let end = since(last);

    let task_of: HashMap<Thread, usize> = threads.iter().enumerate().map(|(n, thread)| (*thread, n)).collect();
    let mut steps: Vec<Vec<Step>> = vec![Vec::new(); view.tasks.len()];
    let mut lost: BTreeMap<u16, u64> = BTreeMap::new();
    let mut on: HashMap<u16, Thread> = HashMap::new();
    for (order, event) in recording.events.iter().enumerate() {
        let time = since(event.time);
        // Who wakes a thread may be on a core that the file does not have.
        let own = matches!(event.kind, EventKind::Switch { .. } | EventKind::Begin(_) | EventKind::End(_));
        let cpu = if own || usize::from(event.cpu) < view.cores { event.cpu } else { 0 };
        let mut put = |thread: Thread, kind| {
            if let Some(task) = task_of.get(&thread) {
                steps[*task].push(Step { order, time, cpu, kind });
            }
        };
        match event.kind {
            EventKind::Switch { from, state, to } => {
                // It lost the core without a word.
                if let Some(other) = on.insert(cpu, to).filter(|other| *other != from) {
                    put(other, StepKind::Lost);
                    *lost.entry(cpu).or_default() += 1;
                }
                put(from, StepKind::Off(state));
                put(to, StepKind::On);
            }
            EventKind::Wakeup(thread) => put(thread, StepKind::Woken),
            EventKind::Begin(thread) => put(thread, StepKind::Begin),
            EventKind::End(thread) => put(thread, StepKind::End),
            EventKind::Lost => {
                *lost.entry(cpu).or_default() += 1;
                on.remove(&event.cpu);
                threads.iter().for_each(|thread| put(*thread, StepKind::Lost));
            }
        }
    }

    let mut view = View { tree: None, changes: None, duration: end.since(Instant::ZERO), ..view.clone() };
    let mut notes = vec![format!("time 0 is {} ns by the trace's clock", zero.as_nanos())];
    let unrecorded: Vec<u16> = (0..view.cores as u16).filter(|cpu| !recording.cpus().contains(cpu)).collect();
    if !unrecorded.is_empty() {
        let cores: Vec<String> = unrecorded.iter().map(u16::to_string).collect();
        notes.push(format!(
            "core {} has no event in the trace: what may have run there is not judged, nor is it known how much of the cores others took",
            cores.join(", ")
        ));
    }
    let mut entries = Vec::new();
    for (n, (task, steps)) in view.tasks.iter_mut().zip(&steps).enumerate() {
        let thread = threads[n];
        let grid = Grid { phase: phase(steps, task.period, &task.name)?, period: task.period };
        if grid.index(end).unwrap_or(0) > MOST_JOBS {
            let text = format!("task {} would have more than {MOST_JOBS} jobs in {end}; cut the trace", task.name);
            return Err(TranslateError::Events(text));
        }
        let mut life = jobs::of(TaskId(n as u16), grid, steps, end);
        if task.core.map_or(!unrecorded.is_empty(), |core| unrecorded.contains(&(core.0.into()))) {
            jobs::leave_releases(&mut life, Untold::NotRecorded);
        }
        let Some(first) = life.first else {
            let text = format!("thread {} never begins a period of task {} in the trace", thread.0, task.name);
            return Err(TranslateError::Events(text));
        };
        // Where it was before its first job is nobody's promise: many a program binds its threads only after it has made them.
        let core = task.core.map(|core| core.index());
        let elsewhere =
            |it: &&Entry| usize::from(it.cpu) >= view.cores || core.is_some_and(|core| core != usize::from(it.cpu));
        let mut dispatched = life.entries.iter().filter(|it| it.kind == RecordKind::Dispatch);
        if let Some(it) = dispatched.find(elsewhere) {
            let may = core.map_or(format!("the file has {} cores", view.cores), |core| {
                format!("the file binds it to core {core}")
            });
            let text = format!("task {} ran on core {} at {}, and {may}", task.name, it.cpu, it.time);
            if usize::from(it.cpu) >= view.cores {
                return Err(TranslateError::Events(text));
            }
            view.refuted.get_or_insert(text);
        }
        task.offset = first.since(Instant::ZERO);
        // Nobody enforces it there.
        task.budget = None;
        notes.push(format!("{} is thread {}, with periods from {} on", task.name, thread.0, task.offset));
        if let (times @ 1.., long) = life.waits {
            notes.push(format!("{} waited {times} times within jobs, {long} in all", task.name));
        }
        if life.ended {
            notes.push(format!("{} ended in the trace; the job in which it did is left out", task.name));
        }
        entries.extend(life.entries);
    }
    for (cpu, times) in lost {
        notes.push(format!("events of core {cpu} are missing in {times} places"));
    }
    let own: BTreeSet<Thread> = threads.into_iter().collect();
    let others = others::of(recording, (&own, &since), view.cores, view.tasks.len(), view.duration);
    view.tasks.extend(others.tasks);
    entries.extend(others.entries);
    let trace = assemble(entries, view.cores, end);
    Ok(Translated { trace, view, notes })
}

/// Refuses what Linux has not.
fn supported(view: &View) -> Result<(), TranslateError> {
    let refuse = |what: String| Err(TranslateError::NotOfLinux(what));
    if let Some(task) = view.tasks.iter().find(|task| task.level.is_some()) {
        return refuse(format!(
            "{} has a level of criticality, and Linux schedules by none: {}",
            task.name, view.policy
        ));
    }
    if let Some(task) = view.tasks.iter().find(|task| task.releases != Release::Periodic) {
        return refuse(format!(
            "{} is not released by time, and what releases a thread is not among Linux's events; leave it out of the file that judges",
            task.name
        ));
    }
    let parts = [
        (!view.partitions.is_empty(), "partitions"),
        (!view.disks.is_empty(), "disks"),
        (!view.services.is_empty(), "services"),
        (!view.chains.is_empty(), "chains"),
        (!view.monitors.is_empty(), "monitors"),
        (view.changes.is_some(), "changes of the running system"),
        (!view.servers.is_empty(), "servers"),
    ];
    match parts.iter().find(|(has, _)| *has) {
        Some((_, what)) => refuse(format!(
            "the file has {what}, of which Linux's events do not tell; leave them out of the file that judges"
        )),
        None => Ok(()),
    }
}

/// When the periods of a thread begin.
fn phase(steps: &[Step], period: Duration, task: &str) -> Result<Instant, TranslateError> {
    // Nothing is known before its first step.
    let (mut asleep, mut last) = (None, None);
    let marked = steps.iter().any(|step| step.kind == StepKind::Begin);
    let mut wakeups = Vec::new();
    for step in steps {
        let woken = match step.kind {
            StepKind::Woken => asleep != Some(false),
            StepKind::On => asleep == Some(true),
            _ => false,
        };
        if woken {
            last = Some(step.time);
        }
        // Who says where jobs begin says which wake-ups begin one.
        let counts = if marked { step.kind == StepKind::Begin } else { woken };
        wakeups.extend(last.filter(|_| counts));
        if matches!(step.kind, StepKind::Off(_)) && !matches!(step.kind, StepKind::Off(PrevState::Runnable)) || counts {
            last = None;
        }
        asleep = match step.kind {
            StepKind::Off(state) => Some(matches!(state, PrevState::Asleep | PrevState::Blocked)),
            StepKind::Woken | StepKind::On | StepKind::Begin | StepKind::End => Some(false),
            StepKind::Lost => None,
        };
    }
    if period.is_zero() {
        return Err(TranslateError::Events(format!("task {task} has no period")));
    }
    phase::of(&wakeups, period).ok_or_else(|| {
        TranslateError::Events(format!("the thread of task {task} never sleeps and is woken in the trace"))
    })
}

/// The records in the order of the events, on their cores. What happens on two cores at one instant, by a clock that is not fine enough,
/// happens a nanosecond apart, in that order.
fn assemble(mut entries: Vec<Entry>, cores: usize, end: Instant) -> Trace {
    let mut trace = Trace { cores: vec![Vec::new(); cores], dropped: vec![0; cores], ..Trace::default() };
    entries.sort_by_key(|entry| (entry.order, entry.begins));
    let (mut now, mut before) = (Instant::ZERO, None);
    for Entry { time, cpu, kind, task, job, arg, .. } in entries {
        let Some(records) = trace.cores.get_mut(usize::from(cpu)) else { continue };
        let apart = before.is_some_and(|before| before != cpu);
        now = time.max(now.saturating_add(Duration::from_nanos(u64::from(apart && time <= now))));
        before = Some(cpu);
        let level = if kind == RecordKind::Input { ARRIVAL } else { 0 };
        let (task, core) = (Some(task), CoreId(cpu as u8));
        records.push(Record { time: now, arg, job, task, kind, level, core, ticket: 0 });
    }
    let end = now.max(end);
    for (core, records) in trace.cores.iter_mut().enumerate() {
        let core = CoreId(core as u8);
        records.push(Record {
            time: end,
            arg: 0,
            job: 0,
            task: None,
            kind: RecordKind::End,
            level: 0,
            core,
            ticket: 0,
        });
    }
    trace
}
