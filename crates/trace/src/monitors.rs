//! Monitors over a trace: the records become events, the same stepper judges them that a running system has.
//!
//! Of a run on the machine the kernel has recorded each event that monitors took, in the order of their group; that order counts, and
//! what comes of it must be what the kernel found. Of a simulated run, and for monitors that did not run, the scheduler's records tell.
//!
//! Where events found no room in the trace, the monitors that watch them stepped them all the same while the system ran, and what those
//! found to be violated is. Else nothing can be said but what the events before the first that is missing tell.
//!
//! Records are taken in the order that causes respect. A record whose time is earlier than that of one before it, on another core,
//! counts as happening at the later of the two. A deadline miss has no record: it happens at the deadline of a job that is
//! neither finished nor given up by then, after all that is recorded for that instant.

use crate::{in_order, run_end, Trace, View};
use std::collections::{BTreeSet, VecDeque};
use tactus_monitor::{alphabet, BuildError, Monitor, Occurrence, OccurrenceKind, Step, Verdict};
use tactus_record::{EventKind, FaultKind, Record};
use tactus_time::Instant;

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
    /// Whether the kernel recorded its events in the one order in which it stepped them; else the trace tells of them.
    pub by_kernel: bool,
    /// Where the kernel's own verdicts are others than those of its recorded events: which.
    pub disputed: Option<String>,
    /// How many events of it found no room in the trace.
    pub lost: u64,
}

impl Finding {
    /// Whether the property was violated.
    pub fn is_broken(&self) -> bool {
        self.conclusions.iter().any(|conclusion| conclusion.verdict == Verdict::False)
    }
}

/// Lets monitors judge a run: those that ran with it, or others over the same events.
///
/// # Errors
/// The table of a monitor cannot be built; those of a system that was read can.
pub fn monitor(view: &View, trace: &Trace, monitors: &[Monitor]) -> Result<Vec<Finding>, Box<BuildError>> {
    let recorded = Recorded::of(view, trace);
    let derived = if monitors.iter().all(|it| recorded.has_all(it)) { Vec::new() } else { occurrences(view, trace) };
    let end = first_end(trace).min(Instant::ZERO.saturating_add(view.duration));
    monitors
        .iter()
        .map(|monitor| {
            let by_kernel = recorded.has_all(monitor);
            let mut events = if by_kernel { recorded.events(monitor) } else { recorded.merged(&derived) };
            let (lost, first) = recorded.lost_of(monitor);
            events.retain(|(at, _)| first.is_none_or(|first| *at < first));
            let mut finding = judged(monitor, &events, first.map_or(end, |first| first.min(end)))?;
            (finding.by_kernel, finding.lost) = (by_kernel, lost);
            if by_kernel {
                recorded.compare(monitor, end, &mut finding);
            }
            Ok(finding)
        })
        .collect()
}

/// When the first core ended its run.
fn first_end(trace: &Trace) -> Instant {
    let ends = trace.cores.iter().filter_map(|records| records.iter().rfind(|it| it.kind == EventKind::End));
    ends.map(|it| it.time).min().unwrap_or_else(|| run_end(trace))
}

/// What happened, and when.
type Happened<'a> = (Instant, &'a Occurrence);

/// A monitor's verdicts on these events.
fn judged(monitor: &Monitor, events: &[Happened<'_>], end: Instant) -> Result<Finding, Box<BuildError>> {
    let built = monitor.build().map_err(Box::new)?;
    let mut watcher = built.watcher(monitor.reset).map_err(|error| Box::new(BuildError::Table(error)))?;
    let name = monitor.name.clone();
    let mut finding =
        Finding { monitor: name, conclusions: vec![], events: 0, by_kernel: false, disputed: None, lost: 0 };
    let mut path: VecDeque<Observed> = VecDeque::new();
    for (at, occurrence) in events {
        late(&mut watcher, *at, &mut path, &mut finding);
        let named = monitor.events.iter().enumerate().filter(|(_, (_, what))| what == *occurrence);
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
    late(&mut watcher, end, &mut path, &mut finding);
    Ok(finding)
}

/// What was awaited until before `now` did not come.
fn late(watcher: &mut tactus_monitor::Watcher<'_>, now: Instant, path: &mut VecDeque<Observed>, finding: &mut Finding) {
    if let Some((at, verdict)) = watcher.expire(now) {
        finding.conclusions.push(Conclusion { at, verdict, event: None, path: path.drain(..).collect() });
    }
}

/// What the kernel recorded of monitors.
struct Recorded<'a> {
    /// The monitors of the run.
    monitors: &'a [Monitor],
    /// Group, place in its order, when, what.
    events: Vec<(u8, u32, Instant, &'a Occurrence)>,
    /// Monitor, place, when, what, and whether the event of that place brought it.
    conclusions: Vec<(u32, u32, Instant, Verdict, bool)>,
    /// The events of which records are missing, none in place of any; how many, and since when.
    lost: Vec<(Option<&'a Occurrence>, u64, Instant)>,
    /// The monitors of which verdicts are missing.
    unheard: Vec<u32>,
}

impl<'a> Recorded<'a> {
    fn of(view: &'a View, trace: &Trace) -> Recorded<'a> {
        let alphabet = alphabet(&view.monitors);
        let mut it = Recorded {
            monitors: &view.monitors,
            events: Vec::new(),
            conclusions: Vec::new(),
            lost: Vec::new(),
            unheard: Vec::new(),
        };
        for record in trace.observed.iter().flatten() {
            match (record.kind, alphabet.get(record.job as usize)) {
                (EventKind::Observed, Some(what)) => {
                    it.events.push((record.level, record.ticket, record.time, *what));
                }
                // The kernel names the event of which it could record no more.
                (EventKind::Observed, None) => {
                    let names = record.job == u32::MAX;
                    let what = alphabet.get(record.ticket as usize).filter(|_| names).copied();
                    it.lost.push((what, record.arg.max(1), record.time));
                }
                _ if record.level > 1 => it.unheard.push(record.job),
                _ => {
                    let verdict = if record.level == 1 { Verdict::True } else { Verdict::False };
                    it.conclusions.push((record.job, record.ticket, record.time, verdict, record.arg == 1));
                }
            }
        }
        it.events.sort_by_key(|(group, place, ..)| (*group, *place));
        it.conclusions.sort_by_key(|(monitor, place, _, _, by_event)| (*monitor, *place, *by_event));
        it
    }

    /// Whether the kernel saw all that happened of what this monitor watches, in one order.
    fn has_all(&self, monitor: &Monitor) -> bool {
        let watches = |it: &Monitor, what: &Occurrence| it.events.iter().any(|(_, known)| known == what);
        let ran = self.monitors.iter().any(|it| monitor.events.iter().all(|(_, what)| watches(it, what)));
        ran && !(self.events.is_empty() && self.lost.is_empty())
    }

    /// How many events are missing of those that the monitor watches, and since when.
    fn lost_of(&self, monitor: &Monitor) -> (u64, Option<Instant>) {
        let watches = |what: &Occurrence| monitor.events.iter().any(|(_, own)| own == what);
        let lost = self.lost.iter().filter(|(what, ..)| what.is_none_or(watches));
        let count = lost.clone().fold(0_u64, |sum, (_, count, _)| sum.saturating_add(*count));
        (count, lost.map(|(_, _, since)| *since).min())
    }

    /// The events of a monitor in the order in which the kernel stepped them.
    fn events(&self, monitor: &Monitor) -> Vec<Happened<'a>> {
        let its = self.events.iter().filter(|(.., what)| monitor.events.iter().any(|(_, it)| it == *what));
        its.map(|(_, _, at, what)| (*at, *what)).collect()
    }

    /// What the trace tells of, with what components did, by time.
    fn merged<'b>(&'b self, derived: &'b [(Instant, Occurrence)]) -> Vec<Happened<'b>> {
        let of_components = self.events.iter().filter(|(.., what)| what.kind.is_of_components());
        let mut all: Vec<Happened<'b>> = derived.iter().map(|(at, what)| (*at, what)).collect();
        all.extend(of_components.map(|(_, _, at, what)| (*at, *what)));
        all.sort_by_key(|(at, _)| *at);
        all
    }

    /// Holds a finding against what the kernel found while the system ran. Where records are missing, the kernel's word alone counts.
    fn compare(&self, monitor: &Monitor, end: Instant, finding: &mut Finding) {
        let Some(number) = self.monitors.iter().position(|it| it == monitor) else { return };
        let own: Vec<_> = self.conclusions.iter().filter(|(it, ..)| *it as usize == number).collect();
        let conclusion = |(_, _, at, verdict, _): &&(u32, u32, Instant, Verdict, bool)| Conclusion {
            at: *at,
            verdict: *verdict,
            event: None,
            path: Vec::new(),
        };
        if finding.lost > 0 {
            finding.conclusions = own.iter().map(conclusion).collect();
            return;
        }
        if self.unheard.contains(&(number as u32)) {
            return;
        }
        let replayed = finding.conclusions.len();
        let same = own.iter().zip(&finding.conclusions).all(|((_, _, at, verdict, by_event), it)| {
            (*at, *verdict, *by_event) == (it.at, it.verdict, it.event.is_some())
        });
        // A core that ended later than the first may have found what is late since.
        let further = own.iter().skip(replayed).all(|(_, _, at, _, by_event)| !by_event && *at >= end);
        if same && own.len() >= replayed && further {
            finding.conclusions.extend(own[replayed..].iter().map(conclusion));
        } else {
            let told = |(_, _, at, verdict, _): &&(u32, u32, Instant, Verdict, bool)| format!("{verdict} at {at}");
            let list = |all: Vec<String>| if all.is_empty() { "nothing".to_owned() } else { all.join(", ") };
            let kernel = list(own.iter().map(told).collect());
            let again = list(finding.conclusions.iter().map(|it| format!("{} at {}", it.verdict, it.at)).collect());
            let name = &finding.monitor;
            finding.disputed =
                Some(format!("monitor {name}: the kernel found {kernel}, and its recorded events give {again}"));
        }
    }
}

/// All that happened, in order, with times that never go back.
fn occurrences(view: &View, trace: &Trace) -> Vec<(Instant, Occurrence)> {
    let mut history = History {
        view,
        servers: &view.servers,
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
    servers: &'a [String],
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

    /// A process missed its deadline. Where an error handler is told, nobody else is; where a job was due then too, that is one miss.
    fn late_process(&mut self, record: &Record, task: Option<usize>) {
        let Some(task) = task.filter(|_| record.level != 1) else { return };
        let deadline = Instant::from_nanos(record.arg);
        self.due.retain(|&(due, other, _)| (due, other) != (deadline, task));
        let miss = Occurrence { kind: OccurrenceKind::Miss, of: Some(self.view.tasks[task].name.clone()) };
        let since = self.out.iter().rev().take_while(|(at, _)| *at >= deadline);
        if !since.into_iter().any(|(at, what)| *at == deadline && *what == miss) {
            self.out.push((self.now, miss));
        }
    }

    fn take(&mut self, record: &Record) {
        self.misses_before(record.time);
        self.now = self.now.max(record.time);
        let task = record.task.map(|task| task.index()).filter(|&task| task < self.view.tasks.len());
        let server = || self.servers.get(record.job as usize).cloned();
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
            EventKind::DeadlineMissed => return self.late_process(record, task),
            EventKind::Mode => return self.put(OccurrenceKind::Mode, None),
            EventKind::ChangeApplied => return self.put(OccurrenceKind::Reconfigure, None),
            // Whoever is gone was stopped before.
            EventKind::Fault if record.level == FaultKind::Gone as u8 => return,
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
