//! Monitors over a trace: the records become events, the same stepper judges them that a running system has.
//!
//! Records are taken in the order that causes respect. A record whose time is earlier than that of one before it, on another core,
//! counts as happening at the later of the two. A deadline miss has no record: it happens at the deadline of a job that is
//! neither finished nor given up by then, after all that is recorded for that instant.

use crate::{in_order, run_end, Trace, View};
use std::collections::{BTreeSet, VecDeque};
use tactus_monitor::{BuildError, Monitor, Occurrence, OccurrenceKind, Step, Verdict};
use tactus_record::{EventKind, Record};
use tactus_time::{Duration, Instant};

/// How many events before a verdict are told.
pub const PATH: usize = 8;

/// An event of a monitor, as it happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observed {
    /// When.
    pub at: Instant,
    /// The name that the property gives it.
    pub event: String,
    /// The monitor's state after it.
    pub state: u32,
}

/// A verdict that a monitor came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conclusion {
    /// When.
    pub at: Instant,
    /// What.
    pub verdict: Verdict,
    /// The event that brought it; nothing if an awaited event did not come in time.
    pub event: Option<String>,
    /// The events that led there, the last one last; [`PATH`] at most.
    pub path: Vec<Observed>,
}

/// What a monitor says of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Its name.
    pub monitor: String,
    /// Its verdicts, in order: one at most unless it starts anew after each.
    pub conclusions: Vec<Conclusion>,
    /// How many events it saw.
    pub events: usize,
}

impl Finding {
    /// Whether the property was violated.
    pub fn is_broken(&self) -> bool {
        self.conclusions.iter().any(|conclusion| conclusion.verdict == Verdict::False)
    }
}

/// Lets monitors judge a run. `servers` are the names of the servers by the place that records name; the root's place is 0.
///
/// # Errors
/// The table of a monitor cannot be built; those of a system that was read can.
pub fn monitor(
    view: &View,
    trace: &Trace,
    servers: &[&str],
    monitors: &[Monitor],
) -> Result<Vec<Finding>, Box<BuildError>> {
    let occurrences = occurrences(view, trace, servers);
    let end = run_end(trace);
    monitors
        .iter()
        .map(|monitor| {
            let built = monitor.build().map_err(Box::new)?;
            let mut watcher = built.watcher(monitor.reset).map_err(|error| Box::new(BuildError::Table(error)))?;
            let mut finding = Finding { monitor: monitor.name.clone(), conclusions: vec![], events: 0 };
            let mut path: VecDeque<Observed> = VecDeque::new();
            for (at, occurrence) in &occurrences {
                if let Some(expiry) = watcher.expiry().filter(|expiry| expiry < at) {
                    late(&mut watcher, expiry, &mut path, &mut finding);
                }
                let named = monitor.events.iter().enumerate().filter(|(_, (_, what))| what == occurrence);
                for (column, (name, _)) in named {
                    finding.events += 1;
                    let step = watcher.step(column as u32, *at);
                    if step == Step::Stopped {
                        continue;
                    }
                    path.push_back(Observed { at: *at, event: name.clone(), state: watcher.state() });
                    if path.len() > PATH {
                        path.pop_front();
                    }
                    if let Step::Concluded(verdict) = step {
                        let path = path.drain(..).collect();
                        finding.conclusions.push(Conclusion { at: *at, verdict, event: Some(name.clone()), path });
                    }
                }
            }
            if let Some(expiry) = watcher.expiry().filter(|&expiry| expiry < end) {
                late(&mut watcher, expiry, &mut path, &mut finding);
            }
            Ok(finding)
        })
        .collect()
}

/// The awaited event did not come until `expiry`.
fn late(
    watcher: &mut tactus_monitor::Watcher<'_>,
    expiry: Instant,
    path: &mut VecDeque<Observed>,
    finding: &mut Finding,
) {
    let at = expiry.saturating_add(Duration::from_nanos(1));
    if let Step::Concluded(verdict) = watcher.expire(at) {
        finding.conclusions.push(Conclusion { at: expiry, verdict, event: None, path: path.drain(..).collect() });
    }
}

/// All that happened, in order, with times that never go back.
fn occurrences(view: &View, trace: &Trace, servers: &[&str]) -> Vec<(Instant, Occurrence)> {
    let mut history = History {
        view,
        servers,
        now: Instant::ZERO,
        due: BTreeSet::new(),
        started: BTreeSet::new(),
        aborted: BTreeSet::new(),
        out: vec![],
    };
    in_order(trace, |record| history.take(record));
    history.misses_before(run_end(trace));
    history.out
}

struct History<'a> {
    view: &'a View,
    servers: &'a [&'a str],
    now: Instant,
    /// Deadline, task and job of each job that is not done.
    due: BTreeSet<(Instant, usize, u32)>,
    started: BTreeSet<(usize, u32)>,
    /// Jobs that ended with their component; a record of completion follows, which is not meant so.
    aborted: BTreeSet<(usize, u32)>,
    out: Vec<(Instant, Occurrence)>,
}

impl History<'_> {
    /// What was due before `now` has been missed.
    fn misses_before(&mut self, now: Instant) {
        while let Some(&(deadline, task, job)) = self.due.first().filter(|(deadline, ..)| *deadline < now) {
            self.due.remove(&(deadline, task, job));
            self.now = self.now.max(deadline);
            self.put(OccurrenceKind::Miss, Some(self.view.tasks[task].name.clone()));
        }
    }
    fn put(&mut self, kind: OccurrenceKind, of: Option<String>) {
        self.out.push((self.now, Occurrence { kind, of }));
    }
    fn done(&mut self, task: usize, job: Option<u32>) {
        self.due.retain(|&(_, other, number)| other != task || job.is_some_and(|job| job != number));
    }

    fn take(&mut self, record: &Record) {
        self.misses_before(record.time);
        self.now = self.now.max(record.time);
        let task = record.task.map(|task| task.index()).filter(|&task| task < self.view.tasks.len());
        let server = || self.servers.get(record.job as usize).map(|&name| name.to_owned());
        let name = |history: &Self| task.map(|task| history.view.tasks[task].name.clone());
        let (kind, of) = match record.kind {
            EventKind::Release => {
                let Some(task) = task else { return };
                let deadline = Instant::from_nanos(record.arg).saturating_add(self.view.tasks[task].deadline);
                self.due.insert((deadline, task, record.job));
                (OccurrenceKind::Release, name(self))
            }
            EventKind::Dispatch => {
                if task.is_some_and(|task| self.started.insert((task, record.job))) {
                    self.put(OccurrenceKind::Start, name(self));
                }
                (OccurrenceKind::Dispatch, name(self))
            }
            EventKind::Preempt => (OccurrenceKind::Preempt, name(self)),
            EventKind::Complete if task.is_some_and(|task| self.aborted.remove(&(task, record.job))) => return,
            EventKind::Aborted => {
                self.aborted.extend(task.map(|task| (task, record.job)));
                (OccurrenceKind::Drop, name(self))
            }
            EventKind::Complete => (OccurrenceKind::Complete, name(self)),
            EventKind::Dropped => (OccurrenceKind::Drop, name(self)),
            EventKind::Exhausted => (OccurrenceKind::Exhaust, name(self)),
            EventKind::Replenish => (OccurrenceKind::Replenish, name(self)),
            EventKind::ServerExhausted => (OccurrenceKind::Exhaust, server()),
            EventKind::ServerReplenish => (OccurrenceKind::Replenish, server()),
            EventKind::Mode => return self.put(OccurrenceKind::Mode, None),
            EventKind::ChangeApplied => return self.put(OccurrenceKind::Reconfigure, None),
            EventKind::Fault => (OccurrenceKind::Fault, name(self)),
            // A component that stays stopped does not run again.
            EventKind::Restarted if record.level == 0 => return self.put(OccurrenceKind::Restart, None),
            EventKind::Removed => {
                // Its jobs cease to exist with it.
                task.iter().for_each(|&task| self.done(task, None));
                return;
            }
            _ => return,
        };
        if let (EventKind::Complete | EventKind::Dropped | EventKind::Aborted, Some(task)) = (record.kind, task) {
            self.done(task, Some(record.job));
        }
        if of.is_some() {
            self.put(kind, of);
        }
    }
}
