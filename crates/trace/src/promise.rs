//! The verdict: whether every promise held, and if not, which was broken first, or which jobs missed what they were no longer owed.

use crate::cause::explain;
use crate::chains;
use crate::changes::History;
use crate::check::{self, Rule, TreeView};
use crate::jobs::Job;
use crate::void::{Ended, Void};
use crate::{
    Bound, Broken, Cause, DiskBroken, DiskFate, DiskSummary, MonitorSummary, NotJudged, Overheads, Segment, Trace,
    Verdict, View, VoidBy, VoidTask, What,
};
use tactus_record::{EventKind, FaultKind, Untold};
use tactus_time::{Duration, Instant, TaskId};

/// Longest time for which a core may be said not to have noticed yet; a core that takes longer is at fault.
const PATIENCE: Duration = Duration::from_millis(1);

/// What the verdict is drawn from.
pub(crate) struct Case<'a> {
    pub(crate) view: &'a View,
    pub(crate) trace: &'a Trace,
    pub(crate) jobs: &'a [Job],
    pub(crate) segments: &'a [Segment],
    pub(crate) void: &'a [Void],
    pub(crate) overheads: &'a Overheads,
    /// The end of the run.
    pub(crate) end: Instant,
    pub(crate) history: &'a History<'a>,
}

/// What was found of the promises.
pub(crate) struct Found {
    /// The verdict; [`Verdict::Stopped`] is left to the caller.
    pub(crate) verdict: Verdict,
    /// Who voided promises that were then missed.
    pub(crate) voids: Vec<VoidBy>,
}

impl Case<'_> {
    /// Judges every job and every rule.
    pub(crate) fn found(&self) -> Found {
        let mut first: Option<(Broken, &Job)> = None;
        let mut voids = Vec::new();
        let mut ended = false;
        if self.view.accepted {
            for job in self.jobs {
                let Some(seen) = self.of_job(job) else { continue };
                ended = true;
                match seen {
                    Seen::Kept => {}
                    Seen::Void(by) => count(self.view, &mut voids, by, job.task),
                    Seen::Broken(broken) => {
                        if first.as_ref().is_none_or(|(known, _)| broken.time < known.time) {
                            first = Some((broken, job));
                        }
                    }
                }
            }
        }
        if self.view.accepted {
            for (broken, job) in self.chains(&mut voids) {
                if first.as_ref().is_none_or(|(known, _)| broken.time < known.time) {
                    first = Some((broken, job));
                }
            }
        }
        voids.sort_by_key(|it| (it.from, it.task_id));
        Found { verdict: self.verdict(first, !voids.is_empty(), ended), voids }
    }

    fn verdict(&self, first: Option<(Broken, &Job)>, void: bool, ended: bool) -> Verdict {
        let rest = if self.trace.dropped.iter().any(|d| *d > 0) { self.dropped() } else { self.rule() };
        match (first, rest) {
            (Some((mut broken, job)), rest) if rest.as_ref().is_none_or(|r| broken.time <= r.time) => {
                broken.cause = explain(self, job, &broken);
                Verdict::Broken(broken)
            }
            (_, Some(rest)) => Verdict::Broken(rest),
            (_, None) if !self.view.accepted => Verdict::Refused,
            (_, None) if self.untold().is_some() => {
                Verdict::NotJudged(NotJudged { why: self.untold().unwrap_or_default() })
            }
            (_, None) if self.stopped() => Verdict::Stopped,
            (_, None) if void => Verdict::Void,
            (_, None) if self.view.promised() == 0 => Verdict::NothingPromised,
            (_, None) if !ended => Verdict::NoJobEnded,
            (_, None) => Verdict::Held,
        }
    }

    /// The first promised job of which the trace does not tell when it ended, and how many more there are.
    fn untold(&self) -> Option<String> {
        let promised = |job: &&Job| self.view.tasks[job.task.index()].promise.is_some();
        let mut all = self.jobs.iter().filter(promised).filter_map(|job| Some((job, job.untold?.1)));
        let (job, why) = all.next()?;
        let why = match why {
            Some(Untold::NoSleep) => {
                "did not sleep before its next period began, so that nothing tells it from the next job: have the program write a \
                 marker where each begins"
            }
            Some(Untold::Lost) => "ran where events are missing: record with larger buffers",
            Some(Untold::NotWoken) => "was not woken in its period",
            Some(Untold::Shifted) => "is of a thread that began jobs elsewhere than with one period",
            Some(Untold::NotRecorded) => "may have run on a core of which the trace has no events: record all cores of the file",
            None => "ended at an untold time",
        };
        let more = match all.count() {
            0 => String::new(),
            n => format!(" (and {n} more jobs are not told of)"),
        };
        Some(format!("{}, job {}, {why}{more}", self.view.tasks[job.task.index()].name, job.job))
    }

    /// Whether a component was stopped and did not run again.
    fn stopped(&self) -> bool {
        let records = || self.trace.cores.iter().flatten();
        let fault = |r: &&tactus_record::Record| r.kind == EventKind::Fault && r.level != FaultKind::Gone as u8;
        let again = |fault: &tactus_record::Record| {
            records()
                .any(|r| r.kind == EventKind::Restarted && r.job == fault.job && r.level != 1 && r.time >= fault.time)
        };
        records().filter(fault).any(|fault| !again(fault))
    }

    /// How a job did of which something was or had been promised; nothing of one that was not to be done by the end.
    fn of_job(&self, job: &Job) -> Option<Seen<'_>> {
        let task = &self.view.tasks[job.task.index()];
        let until = job.seen_until(self.end);
        let response = until.since(job.release);
        let (deadline, promise) = self.history.owed(self.view, job.task, job.release, job.dropped.unwrap_or(until));
        let due = job.release.saturating_add(deadline);
        let late = response.saturating_sub(deadline);
        let missed = match promise {
            None => return None,
            Some(Bound::Response(bound)) if response > bound.min(deadline) => {
                let what = if deadline <= bound { What::Deadline } else { What::Response };
                let limit = bound.min(deadline);
                Some((what, limit, response, job.release.saturating_add(limit)))
            }
            Some(Bound::Tardiness(bound)) if late > bound => {
                Some((What::Tardiness, bound, late, due.saturating_add(bound)))
            }
            _ => None,
        };
        let void = &self.void[job.task.index()];
        let Some((what, limit, actual, time)) = missed else {
            // A job that did not do its work kept nothing, however soon it ended.
            let undone =
                job.aborted || (job.removed.is_some() && !job.unloaded) || job.ended_early(task.minimum).is_some();
            return match void.ended(job, due, until) {
                Some(by) if undone => Some(Seen::Void(by)),
                _ => job.completed.filter(|_| !job.idle).map(|_| Seen::Kept),
            };
        };
        if let Some(by) = void.ended(job, due, time).or_else(|| self.uncounted(job)) {
            return Some(Seen::Void(by));
        }
        Some(Seen::Broken(Broken {
            what,
            task_id: Some(job.task),
            task: Some(task.name.clone()),
            job: Some(job.job),
            time,
            limit: Some(limit),
            actual: Some(actual),
            cause: Cause::default(),
        }))
    }

    /// Why a job that is late was owed nothing, where the system's own work takes time and no bound counts it.
    fn uncounted(&self, job: &Job) -> Option<Ended<'_>> {
        let (culprit, from) = (job.task.index(), job.release);
        let why = "the system's own work delays it, and the file leaves that out (overheads = false)";
        self.view.uncounted.then_some(Ended { culprit, from, why })
    }

    /// The first passage of each chain that took longer than was promised; of those that were owed nothing any more, it is
    /// counted who is to blame.
    fn chains(&self, voids: &mut Vec<VoidBy>) -> Vec<(Broken, &Job)> {
        let mut broken = Vec::new();
        for chain in &self.view.chains {
            let Some(limit) = chain.bound.map(|bound| chain.deadline.map_or(bound, |most| bound.min(most))) else {
                continue;
            };
            let mut first = true;
            // Where the file asks for no time, nobody waits for a message that is not written.
            let mut unwritten = chain.deadline.and_then(|_| chains::unwritten(chain, self.jobs, self.trace));
            for passage in chains::passages(chain, &self.view.tasks, self.jobs, self.trace) {
                let response = passage.completed.unwrap_or(self.end).since(passage.release);
                let Some(last) = passage.jobs.last().copied().filter(|_| response > limit) else {
                    self.without_message(&passage, unwritten.as_mut(), voids);
                    continue;
                };
                let time = passage.release.saturating_add(limit);
                let void = |job: &&Job| self.void[job.task.index()].ended(job, time, time);
                if let Some(by) = passage.jobs.iter().find_map(void).or_else(|| self.uncounted(last)) {
                    count(self.view, voids, by, last.task);
                } else if std::mem::take(&mut first) {
                    let what = Broken {
                        what: What::Chain,
                        task_id: Some(last.task),
                        task: Some(self.view.tasks[last.task.index()].name.clone()),
                        job: Some(last.job),
                        time,
                        limit: Some(limit),
                        actual: Some(response),
                        cause: Cause::default(),
                    };
                    broken.push((what, last));
                }
            }
        }
        broken
    }

    /// A passage that was in time, of a chain of which a task wrote less often than its jobs ended: it is taken for one that brought something
    /// while there are any. Of the others it is counted who is to blame.
    fn without_message(
        &self,
        passage: &chains::Passage,
        unwritten: Option<&mut chains::Unwritten>,
        voids: &mut Vec<VoidBy>,
    ) {
        let (Some(unwritten), Some(_), Some(last)) = (unwritten, passage.completed, passage.jobs.last()) else {
            return;
        };
        let source = unwritten.source.index();
        if let Some(left) = unwritten.written.checked_sub(1) {
            unwritten.written = left;
        } else if let Some(by) = self.void[source].first(source) {
            count(self.view, voids, by, last.task);
        }
    }

    fn dropped(&self) -> Option<Broken> {
        let lost = self.trace.dropped.iter().enumerate().filter(|(_, d)| **d > 0);
        let last = |core: usize| self.trace.cores.get(core).and_then(|r| r.last()).map_or(Instant::ZERO, |r| r.time);
        let (time, core, dropped) = lost.map(|(core, d)| (last(core), core, *d)).min()?;
        let text = format!(
            "the ring of core {core} was full: {dropped} records after {time} are lost, and nothing can be said about \
             them; give the run larger rings or make it shorter"
        );
        Some(self.about_no_job(What::Dropped, time, text))
    }

    fn rule(&self) -> Option<Broken> {
        let max = |spread: Option<crate::Distribution>| spread.map_or(0, |s| s.max.as_nanos());
        let o = self.overheads;
        let noticed = [max(o.timer_lateness), max(o.schedule), max(o.schedule), max(o.inter_core)];
        let each = noticed.iter().fold(0, |sum: u64, n| sum.saturating_add(*n));
        let times = self.view.tree.as_ref().map_or(1, TreeView::schedulers);
        let tolerance = Duration::from_nanos(each.saturating_mul(times)).min(PATIENCE);
        let first = check::all(self.view, self.trace, tolerance).into_iter().next()?;
        let name =
            first.task.map(|t| self.view.tasks.get(t.index()).map_or(format!("task {}", t.0), |t| t.name.clone()));
        let whose = match (&name, first.job) {
            (Some(name), Some(job)) => format!("{name} job {job} "),
            (Some(name), None) => format!("{name}: "),
            _ => String::new(),
        };
        let text = format!("the rule that {} was broken on core {}: {whose}{}", first.rule, first.core, first.text);
        let mut broken = self.about_no_job(What::Rule, first.time, text);
        (broken.task_id, broken.task, broken.job) = (first.task, name, first.job);
        broken.cause.fault = matches!(first.rule, Rule::Known | Rule::Sequence) && self.any_fault(first.time);
        Some(broken)
    }

    fn any_fault(&self, until: Instant) -> bool {
        self.trace.cores.iter().flatten().any(|r| r.kind == EventKind::Fault && r.time <= until)
    }

    fn about_no_job(&self, what: What, time: Instant, text: String) -> Broken {
        let cause = Cause { text, from: time, to: time, ..Cause::default() };
        Broken { what, task_id: None, task: None, job: None, time, limit: None, actual: None, cause }
    }
}

/// The verdict on tasks and disks together: what is worse of the two.
pub(crate) fn with_disks(tasks: Verdict, disks: &[DiskSummary]) -> Verdict {
    let mut broken: Vec<(&DiskSummary, &DiskBroken)> =
        disks.iter().filter_map(|disk| Some((disk, disk.broken.as_ref()?))).collect();
    broken.sort_by_key(|(_, it)| it.time);
    let first = broken.first().filter(|(_, it)| !matches!(&tasks, Verdict::Broken(known) if known.time <= it.time));
    if let Some((disk, it)) = first {
        let text = format!("disk {}: {}", disk.name, disk.headline());
        let (what, text) = match it.within {
            None => (What::Request, text + "; the drive had kept to its map until then"),
            Some(_) => (What::Rule, text),
        };
        return Verdict::Broken(Broken {
            what,
            task_id: None,
            task: None,
            job: None,
            time: it.time,
            limit: Some(it.limit),
            actual: Some(it.actual),
            cause: Cause { text, from: it.time, to: it.time, ..Cause::default() },
        });
    }
    let any = |fate| disks.iter().any(|disk| disk.fate == fate);
    match tasks {
        Verdict::Held | Verdict::NothingPromised | Verdict::NoJobEnded if any(DiskFate::Void) => Verdict::Void,
        Verdict::NothingPromised if any(DiskFate::Held) => Verdict::Held,
        other => other,
    }
}

/// The verdict with what monitors found: a violated property is a broken promise.
pub(crate) fn with_monitors(
    verdict: Verdict,
    monitors: &[MonitorSummary],
    disputed: Option<String>,
    end: Instant,
) -> Verdict {
    if let Some(text) = disputed {
        return about(What::Rule, end, text);
    }
    let told = |it: &MonitorSummary| Some((it.at?, format!("{}; {}", it.violation()?, it.property)));
    let violated = monitors.iter().filter_map(told);
    match (violated.min_by_key(|(at, _)| *at), verdict) {
        (Some((at, _)), Verdict::Broken(known)) if known.time <= at => Verdict::Broken(known),
        (Some((at, text)), _) => about(What::Property, at, text),
        (None, verdict @ (Verdict::Held | Verdict::NothingPromised | Verdict::NoJobEnded)) => {
            let first = monitors.iter().find_map(MonitorSummary::not_judged);
            first.map_or(verdict, |why| Verdict::NotJudged(NotJudged { why }))
        }
        (None, verdict) => verdict,
    }
}

/// The verdict where the machine did what nobody decided: nothing that was promised can be said to hold then.
pub(crate) fn with_machine(verdict: Verdict, refuted: Option<&str>, end: Instant) -> Verdict {
    match (refuted, verdict) {
        (None, verdict) | (Some(_), verdict @ Verdict::Broken(_)) => verdict,
        (Some(text), _) => about(What::Machine, end, text.to_owned()),
    }
}

/// A broken promise of no job.
fn about(what: What, time: Instant, text: String) -> Verdict {
    let cause = Cause { text, from: time, to: time, ..Cause::default() };
    let (limit, actual) = (None, None);
    Verdict::Broken(Broken { what, task_id: None, task: None, job: None, time, limit, actual, cause })
}

/// How a job with a promise did.
enum Seen<'a> {
    /// As promised, or better.
    Kept,
    /// Worse, when it was owed nothing any more.
    Void(Ended<'a>),
    /// Worse.
    Broken(Broken),
}

/// One more job that missed what it was no longer owed.
fn count(view: &View, voids: &mut Vec<VoidBy>, by: Ended<'_>, hurt: TaskId) {
    let name = |task: usize| view.tasks[task].name.clone();
    let culprit = TaskId(by.culprit as u16);
    let index = voids.iter().position(|it| it.task_id == culprit).unwrap_or_else(|| {
        let (from, why) = (by.from, by.why.to_owned());
        voids.push(VoidBy { task_id: culprit, task: name(by.culprit), why, from, missed: 0, tasks: Vec::new() });
        voids.len() - 1
    });
    let it = &mut voids[index];
    it.missed += 1;
    if by.from < it.from {
        (it.from, it.why) = (by.from, by.why.to_owned());
    }
    match it.tasks.iter_mut().find(|task| task.task_id == hurt) {
        Some(task) => task.missed += 1,
        None => it.tasks.push(VoidTask { task_id: hurt, task: name(hurt.index()), missed: 1 }),
    }
}
