//! What the root scheduler records because a component asks it to: each task's jobs may cause so much and no more, so that one component
//! never fills the ring from which all are judged. A call beyond that, or for what is not the task's, is refused before anything is
//! recorded of it, and counted.

use alloc::vec::Vec;
use tactus_policy::{EventCall, EventRight, PolicyConfig};
use tactus_record::{CallRefusal, EventKind, Record, Sink};
use tactus_rt::abi::shared::quota::ARRIVALS_PER_PERIOD;
use tactus_rt::abi::shared::TaskCard;
use tactus_rt::clock;
use tactus_rt::scheduler::{event_rights, TraceRing};
use tactus_rt::time::{CoreId, Duration, Instant, TaskId};

/// What one task's jobs may cause on one core.
pub struct Quota {
    /// The component whose jobs raise the task's arrivals, if there is one.
    pub raiser: u32,
    /// How many arrivals are taken before the clock is looked at for more.
    arrivals: u32,
    /// How many were so far.
    granted: u64,
    /// How many may come beyond those of the periods.
    early: u64,
    period: Duration,
    /// How many calls are taken before it is looked whose they are.
    calls: u32,
    /// How many a job makes.
    most: u32,
    /// The job, plus one, that was given its calls last.
    filled: u64,
    /// How many calls were refused.
    refused: u64,
}

/// The quotas of all tasks, on one core.
pub struct Quotas(Vec<Quota>);

/// Nothing used yet.
pub fn quotas(setup: &PolicyConfig, cards: &[TaskCard]) -> Quotas {
    let one = |(task, card): (&tactus_policy::Task, &TaskCard)| Quota {
        raiser: u32::try_from(card.raiser).unwrap_or(u32::MAX),
        arrivals: 0,
        granted: 0,
        early: card.arrivals,
        period: task.period,
        calls: 0,
        most: u32::try_from(card.calls).unwrap_or(u32::MAX),
        filled: 0,
        refused: 0,
    };
    Quotas(setup.tasks.iter().zip(cards).map(one).collect())
}

impl Quota {
    /// Whether one more arrival is taken.
    #[inline(always)]
    pub fn takes_arrival(&mut self, now: impl FnOnce() -> Instant) -> bool {
        match self.arrivals.checked_sub(1) {
            Some(left) => {
                self.arrivals = left;
                true
            }
            None => self.refill_arrivals(now()),
        }
    }

    /// Takes those that time has brought since the last look; whether there were any.
    #[cold]
    #[inline(never)]
    fn refill_arrivals(&mut self, now: Instant) -> bool {
        let periods = now.as_nanos() / self.period.as_nanos().max(1);
        let may = periods.saturating_mul(ARRIVALS_PER_PERIOD).saturating_add(self.early);
        let more = may.saturating_sub(self.granted).min(u32::MAX.into());
        let Some(left) = more.checked_sub(1) else { return false };
        (self.granted, self.arrivals) = (self.granted + more, left as u32);
        true
    }

    /// Whether one more call of the job is taken.
    #[inline(always)]
    pub fn takes_call(&mut self, job: u32) -> bool {
        match self.calls.checked_sub(1) {
            Some(left) => {
                self.calls = left;
                true
            }
            None => self.refill_calls(job),
        }
    }

    /// Gives a job its calls, once; those that it does not make are for the next ones.
    #[cold]
    #[inline(never)]
    fn refill_calls(&mut self, job: u32) -> bool {
        let job = u64::from(job) + 1;
        let Some(left) = self.most.checked_sub(1).filter(|_| self.filled < job) else { return false };
        (self.filled, self.calls) = (job, left);
        true
    }
}

/// Whether the task's file lets its jobs do this to an event.
#[cold]
pub fn has_right(cards: &[TaskCard], task: TaskId, call: EventCall) -> bool {
    let rights = cards.get(task.index()).map_or(&[][..], event_rights);
    rights.iter().filter_map(|word| EventRight::of_word(*word)).any(|right| right.allows(call))
}

impl Quotas {
    /// The task's; nothing if there is no such task.
    #[inline(always)]
    pub fn of(&mut self, task: TaskId) -> Option<&mut Quota> {
        self.0.get_mut(task.index())
    }

    /// The n-th of the tasks whose arrivals the component raises.
    #[cold]
    pub fn nth_raised(&self, component: u32, n: u64) -> Option<TaskId> {
        let raised = self.0.iter().enumerate().filter(|(_, task)| task.raiser == component);
        raised.map(|(task, _)| TaskId(task as u16)).nth(usize::try_from(n).ok()?)
    }

    /// A call of the job is refused. The first of its task on this core is recorded, all are counted.
    #[cold]
    #[inline(never)]
    pub fn refuse(&mut self, (ring, core): (&mut TraceRing, u8), (task, job): (TaskId, u32), why: CallRefusal) {
        let Some(quota) = self.of(task) else { return };
        quota.refused = quota.refused.saturating_add(1);
        if quota.refused == 1 {
            put((ring, core), clock::now(), (task, job), (EventKind::CallRefused, why as u64));
        }
    }

    /// The run ends: tells how many calls were refused, task by task.
    #[cold]
    pub fn report(&self, (ring, core): (&mut TraceRing, u8), now: Instant) {
        for (task, quota) in self.0.iter().enumerate().filter(|(_, quota)| quota.refused > 0) {
            put((ring, core), now, (TaskId(task as u16), 0), (EventKind::Refused, quota.refused));
        }
    }
}

/// Records that the task has written so often to a sampling channel only.
pub fn put_unwritten((ring, core): (&mut TraceRing, u8), time: Instant, (task, written): (TaskId, u32), channel: u8) {
    let (kind, arg, core) = (EventKind::CallRefused, CallRefusal::NotWritten as u64, CoreId(core));
    ring.record(Record { time, arg, job: written, task: Some(task), kind, level: channel, core, ticket: 0 });
}

fn put((ring, core): (&mut TraceRing, u8), time: Instant, (task, job): (TaskId, u32), (kind, arg): (EventKind, u64)) {
    let core = CoreId(core);
    ring.record(Record { time, arg, job, task: Some(task), kind, level: 0, core, ticket: 0 });
}
