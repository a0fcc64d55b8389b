//! What is due on each core, and whether a call was.

use super::calls::Call;
use super::report::{Disagreement, What};
use super::EARLY;
use std::collections::BTreeMap;
use tactus_policy::{Decision, Running};
use tactus_record::EntryReason;
use tactus_time::{CoreId, Duration, Instant, TaskId};

/// Keeps book of what every core is to be called for.
pub struct Due<D> {
    cores: Vec<Core>,
    demand: D,
    tolerance: Duration,
    /// The last job of each task that had used its demand by its own account before the call that interrupted it. It has nothing more to
    /// do, though the policy may have charged it less: under MC², only up to where the slot of another job began.
    spent: BTreeMap<TaskId, u32>,
}

#[derive(Clone)]
struct Core {
    running: Option<Running>,
    timer: Instant,
    /// When the running job has used its demand, if that is known.
    used: Option<Instant>,
    /// The running job may be finished before: see [`Due::spent`].
    spent: bool,
    /// When the scheduler was left last.
    left: Instant,
    /// Events of other cores that may still arrive. Events that come close together may arrive as one or as
    /// several, which the records do not tell.
    sent: Vec<Sent>,
    calls: usize,
}

#[derive(Clone, Copy)]
struct Sent {
    at: Instant,
    /// Whether the core has been called since, for whatever reason: the policy then looked at all that the event
    /// stands for, so that nothing waits any more.
    seen: bool,
}

impl<D: FnMut(TaskId, u32) -> Option<Duration>> Due<D> {
    /// Nothing is due but the start of each core.
    pub fn new(cores: usize, demand: D, tolerance: Duration) -> Self {
        let core = Core {
            running: None,
            timer: Instant::NEVER,
            used: None,
            spent: false,
            left: Instant::ZERO,
            sent: Vec::new(),
            calls: 0,
        };
        Due { cores: vec![core; cores], demand, tolerance, spent: BTreeMap::new() }
    }

    /// Requires that the call was due, and that nothing else waited too long. Returns how late it came.
    pub fn enter(&mut self, call: &Call) -> Result<Duration, Disagreement> {
        let tolerance = self.tolerance;
        let core = &mut self.cores[call.core().index()];
        let now = call.enter.time;
        let wrong = |what| Err(Disagreement::in_call(call, what));
        let before = core.left;
        if call.reason == EntryReason::Start && core.calls == 0 {
            // What was sent to a core that had not begun waits for it from now on: the cores of an emulated machine begin in turn.
            core.left = now;
        }
        // Nothing is noticed late while the parent has the core.
        let absent = call.absent();
        if let Some((reason, since)) = core.overdue(absent.unwrap_or(now), tolerance) {
            return wrong(What::Late { reason, due: since, tolerance });
        }
        let running = core.running.map(|r| r.task);
        if call.enter.task != running {
            return wrong(What::Running { expected: running, found: call.enter.task });
        }
        let said = Instant::from_nanos(call.enter.arg);
        if call.reason == EntryReason::Timer && said.since(core.timer).max(core.timer.since(said)) > EARLY {
            return wrong(What::TimeOut { expected: core.timer, found: said });
        }
        if absent.is_some() {
            core.left = now;
            // The parent called it by giving it the core.
            if matches!(call.reason, EntryReason::Timer | EntryReason::Notify) {
                return Ok(Duration::ZERO);
            }
        }
        let early = |due: Instant| now.saturating_add(EARLY) < due;
        let due = match call.reason {
            EntryReason::Start => Instant::ZERO,
            EntryReason::Timer if early(core.timer) => return wrong(What::Early { due: core.timer }),
            EntryReason::Timer => core.timer,
            EntryReason::Complete
            | EntryReason::Fault
            | EntryReason::Unlock
            | EntryReason::Wait
            | EntryReason::Lock
            | EntryReason::Signal
            | EntryReason::Slot
                if core.running.is_none() =>
            {
                return wrong(What::NothingRuns)
            }
            EntryReason::Complete => match core.used {
                Some(used) if early(used) && !core.spent => return wrong(What::Early { due: used }),
                used => used.unwrap_or(now),
            },
            EntryReason::Fault
            | EntryReason::Unlock
            | EntryReason::Wait
            | EntryReason::Lock
            | EntryReason::Signal
            | EntryReason::Slot => now,
            EntryReason::Arrival => {
                let Some(due) = call.arrivals().min() else { return wrong(What::NotSent) };
                if early(due) {
                    return wrong(What::Early { due });
                }
                if now.since(due.max(core.left)) > tolerance {
                    return wrong(What::Late { reason: call.reason, due, tolerance });
                }
                due
            }
            EntryReason::Notify => {
                let come = || core.sent.iter().enumerate().filter(|(_, s)| !early(s.at));
                let waiting = come().filter(|(_, s)| !s.seen).map(|(_, s)| s.at).min();
                let Some(due) = waiting.or(come().map(|(_, s)| s.at).max()) else { return wrong(What::NotSent) };
                if now.since(due.max(core.left)) > tolerance {
                    return wrong(What::NotSent);
                }
                if let Some((oldest, _)) = come().min_by_key(|(_, s)| s.at) {
                    core.sent.swap_remove(oldest);
                }
                due
            }
        };
        if let Some(job) = core.running.filter(|_| core.used.is_some_and(|used| used <= now)) {
            self.spent.insert(job.task, job.job);
        }
        // What has been seen may still arrive, but not for ever.
        core.sent.retain(|s| now.since(s.at.max(core.left)) <= tolerance);
        core.sent.iter_mut().filter(|s| s.at <= now).for_each(|s| s.seen = true);
        Ok(absent.unwrap_or(now).since(due.max(before)))
    }

    /// Notes what the decision makes due.
    pub fn leave(&mut self, call: &Call, decision: &Decision, left: Instant) {
        let used = decision.run.and_then(|job| {
            let demand = (self.demand)(job.task, job.job)?;
            Some(call.enter.time.saturating_add(demand.saturating_sub(job.charged)))
        });
        let core = &mut self.cores[call.core().index()];
        core.running = decision.run;
        core.timer = decision.timer;
        core.used = used;
        core.spent = decision.run.is_some_and(|job| self.spent.get(&job.task) == Some(&job.job));
        core.left = left;
        core.calls += 1;
        for other in decision.notify.iter() {
            if let Some(core) = self.cores.get_mut(other.index()) {
                core.sent.push(Sent { at: left, seen: false });
            }
        }
    }

    /// Requires that nothing waited too long when the core's run ended.
    pub fn end(&self, core: CoreId, end: Instant) -> Result<(), Disagreement> {
        let book = &self.cores[core.index()];
        match book.overdue(end, self.tolerance) {
            Some((reason, due)) => {
                let what = What::Late { reason, due, tolerance: self.tolerance };
                Err(Disagreement::after(core, book.calls, end, what))
            }
            None => Ok(()),
        }
    }
}

impl Core {
    /// What has waited for longer than `tolerance` at `now`, if anything.
    fn overdue(&self, now: Instant, tolerance: Duration) -> Option<(EntryReason, Instant)> {
        let sent = self.sent.iter().filter(|s| !s.seen).map(|s| s.at).min();
        let waiting =
            [(EntryReason::Complete, self.used), (EntryReason::Timer, Some(self.timer)), (EntryReason::Notify, sent)];
        waiting
            .into_iter()
            .filter_map(|(reason, due)| Some((reason, due?)))
            .filter(|(_, due)| now.since(self.left.max(*due)) > tolerance)
            .min_by_key(|(_, due)| *due)
    }
}
