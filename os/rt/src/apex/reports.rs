//! What processes report to the scheduler: their deadlines, and the ends of their tasks' jobs.

use super::process::{self, Own, NEVER};
use super::{handler, thread};
use crate::{calls, clock, grant, Job};
use a653rs::bindings::INFINITE_TIME_VALUE;
use core::sync::atomic::{AtomicU64, Ordering};
use tactus_abi::port::SKIPPED;
use tactus_abi::process::{ProcessReport, ProcessReportKind, PROCESS};

/// Deadlines: that of an aperiodic process counts from its start, that of a periodic one from each release.
impl Own {
    /// The release of the first job of its task that is not over, and is released no earlier than this.
    fn first_release(self, from: u64) -> u64 {
        let (offset, period) = (self.card().offset, self.card().period.max(1));
        let wanted = from.saturating_sub(offset).div_ceil(period);
        let number = wanted.max(self.over.load(Ordering::Relaxed));
        offset.saturating_add(number.saturating_mul(period))
    }

    /// The process is started, from this instant on: its first deadline.
    pub fn starts(self, from: u64) {
        let first = if self.is_periodic() { self.first_release(from) } else { from };
        self.since.store(clock::now().as_nanos(), Ordering::Relaxed);
        self.begins_with(first);
    }

    /// It may begin with this release, which has its deadline.
    fn begins_with(self, release: u64) {
        self.from.store(release, Ordering::Relaxed);
        self.release.store(release, Ordering::Relaxed);
        self.deadline.store(self.due(release), Ordering::Relaxed);
    }

    /// The process restarts, in this job of its task or a later one: the first whose deadline is still to come.
    pub fn restarts(self) {
        let now = clock::now().as_nanos();
        if !self.is_periodic() {
            return self.starts(now);
        }
        let mut first = self.first_release(0);
        while self.due(first) <= now {
            first = first.saturating_add(self.card().period.max(1));
        }
        self.begins_with(first);
    }

    /// A periodic process waits for its next release, which is that of the next job of its task.
    pub fn awaits_release(self, job: &Job) {
        let period = self.card().period.max(1);
        let mut next = job.release().as_nanos().saturating_add(period);
        if self.card().releases == SKIPPED {
            let late = clock::now().as_nanos().saturating_sub(next);
            next = next.saturating_add(late.div_ceil(period).saturating_mul(period));
        }
        self.released(next);
    }

    /// A periodic process has this release.
    pub fn released(self, release: u64) {
        if self.release.swap(release, Ordering::Relaxed) != release {
            self.deadline.store(self.due(release), Ordering::Relaxed);
        }
    }

    /// Its deadline is this one; the next release has its own.
    pub fn set_deadline(self, at: u64) {
        self.deadline.store(at, Ordering::Relaxed);
    }

    /// Whether its deadlines never come.
    pub fn is_unlimited(self) -> bool {
        self.capacity.load(Ordering::Relaxed) == INFINITE_TIME_VALUE
    }

    /// What there is to say of its deadline.
    fn report(self, kind: ProcessReportKind, idle: bool) -> ProcessReport {
        let handled = handler::place().is_some();
        let (task, deadline) = (self.card().task as u16, self.deadline.load(Ordering::Relaxed));
        let (mut next, mut period) = (NEVER, 0);
        if self.is_periodic() && !self.is_unlimited() && deadline != NEVER {
            period = self.card().period.max(1);
            let mut release = self.release.load(Ordering::Relaxed);
            while next == NEVER || next <= deadline {
                release = release.saturating_add(period);
                next = self.due(release);
            }
        }
        self.reported.store(deadline, Ordering::Relaxed);
        ProcessReport { kind, idle, handled, task, deadline, next, period }
    }

    /// Tells the scheduler of the deadline, if that is another one.
    pub fn report_deadline(self) {
        if self.reported.load(Ordering::Relaxed) != self.deadline.load(Ordering::Relaxed) {
            send(self.report(ProcessReportKind::Deadline, false));
        }
    }

    /// It was stopped: its thread leaves what it is in the middle of before it runs next.
    pub fn leaves(self) {
        self.deadline.store(NEVER, Ordering::Relaxed);
        send(self.report(ProcessReportKind::Restart, false));
    }
}

/// No process has a deadline any more: the partition does not run.
pub(super) fn forget_deadlines() {
    process::forget_deadlines();
    send(ProcessReport::NONE);
}

/// Whether the scheduler took it.
fn send(report: ProcessReport) -> bool {
    /// One more than the number of the grant, once it was looked for.
    static GRANT: AtomicU64 = AtomicU64::new(0);
    let mut number = GRANT.load(Ordering::Relaxed);
    if number == 0 {
        number = grant(PROCESS).number().wrapping_add(1);
        GRANT.store(number, Ordering::Relaxed);
    }
    calls::invoke(number.wrapping_sub(1), report.words()).is_ok()
}

/// Jobs of the task of the thread that runs.
impl Own {
    /// Ends the job, and comes back with the next one.
    pub fn end_job(self) {
        let job = thread::current_job();
        self.over.store(job.number() + 1, Ordering::Relaxed);
        self.job.store(0, Ordering::Relaxed);
        let idle = !self.worked.swap(false, Ordering::Relaxed);
        if !send(self.report(ProcessReportKind::End, idle)) {
            job.end();
        }
        self.has_job();
    }

    /// Its thread has a job, whose number it may not have seen yet. Whether it has.
    pub fn has_job(self) -> bool {
        let next = thread::current_job().number() + 1;
        let same = self.job.swap(next, Ordering::Relaxed) == next;
        if !same {
            // All jobs before it are over, whoever has ended them.
            self.over.store(next - 1, Ordering::Relaxed);
        }
        same
    }
}

/// Ends the running job, and comes back with the next one.
pub(super) fn end_job() {
    match process::place() {
        Some(place) => process::at(place).end_job(),
        None => thread::current_job().end(),
    }
}
