//! Processes: what a partition's component tells its scheduler of them (ARINC 653). A process is a task; its deadline need not be that of
//! the task's jobs, and it may find nothing to do in a job.

/// The name of the scheduler's service that is told, and of the grant of it.
pub const PROCESS: &str = "process";

/// No deadline, among instants in nanoseconds.
pub const NEVER: u64 = u64::MAX;

/// What is reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ProcessReportKind {
    /// The running job ends, and the deadline of its process is this. The call comes back when the next job is given a core.
    End = 0,
    /// The deadline of a process is this.
    Deadline = 1,
    /// The deadline of a process is this, and its thread restarts before it runs next.
    Restart = 2,
    /// No process of the component has a deadline.
    None = 3,
}

/// The deadline that is so much later than one; with a length of 0, none.
pub const fn following(deadline: u64, period: u64) -> u64 {
    if period == 0 {
        NEVER
    } else {
        deadline.saturating_add(period)
    }
}

/// The words of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProcessReport {
    /// What is reported.
    pub kind: ProcessReportKind,
    /// [`ProcessReportKind::End`]: the job had nothing to do.
    pub idle: bool,
    /// Its partition has an error handler, which is told of misses: the scheduler does nothing else about one.
    pub handled: bool,
    /// The number of the process's task; of a job that ends, it is known.
    pub task: u16,
    /// The deadline (ns), or [`NEVER`].
    pub deadline: u64,
    /// The deadline that counts when that one was missed (ns), or [`NEVER`]: that of the process's next release.
    pub next: u64,
    /// How much later each one after that is (ns).
    pub period: u64,
}

impl ProcessReport {
    /// Only that no process has a deadline.
    pub const NONE: ProcessReport = ProcessReport {
        kind: ProcessReportKind::None,
        idle: false,
        handled: false,
        task: 0,
        deadline: NEVER,
        next: NEVER,
        period: 0,
    };

    /// The first deadline that comes after this instant (ns), and the one after that.
    pub const fn after(&self, instant: u64) -> (u64, u64) {
        if self.deadline > instant {
            return (self.deadline, self.next);
        }
        let first = match instant.saturating_sub(self.next).checked_div(self.period) {
            _ if self.next > instant => self.next,
            Some(passed) => following(self.next.saturating_add(passed.saturating_mul(self.period)), self.period),
            None => NEVER,
        };
        (first, following(first, self.period))
    }

    /// As the call's words.
    pub const fn words(self) -> [u64; 5] {
        let flags = (self.idle as u64) << 8 | (self.handled as u64) << 9;
        [self.kind as u64 | flags | (self.task as u64) << 16, self.deadline, self.next, self.period, 0]
    }

    /// What the words say; nothing if they say nothing known.
    pub const fn of(words: [u64; 5]) -> Option<ProcessReport> {
        let [what, deadline, next, period, _] = words;
        let kind = match what as u8 {
            0 => ProcessReportKind::End,
            1 => ProcessReportKind::Deadline,
            2 => ProcessReportKind::Restart,
            3 => ProcessReportKind::None,
            _ => return None,
        };
        let (idle, handled) = (what & 1 << 8 != 0, what & 1 << 9 != 0);
        Some(ProcessReport { kind, idle, handled, task: (what >> 16) as u16, deadline, next, period })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_as_it_was_written() {
        for kind in
            [ProcessReportKind::End, ProcessReportKind::Deadline, ProcessReportKind::Restart, ProcessReportKind::None]
        {
            for (idle, handled) in [(false, false), (true, false), (false, true)] {
                let report = ProcessReport { kind, idle, handled, task: 513, deadline: 7, next: NEVER, period: 9 };
                assert_eq!(ProcessReport::of(report.words()), Some(report));
            }
        }
        assert_eq!(ProcessReport::of([4, 0, 0, 0, 0]), None);
    }

    #[test]
    fn deadlines_that_were_noticed_are_passed_over_at_once() {
        let report = |deadline, next, period| ProcessReport { deadline, next, period, ..ProcessReport::NONE };
        assert_eq!(report(5, 15, 10).after(4), (5, 15));
        assert_eq!(report(5, 15, 10).after(5), (15, 25));
        assert_eq!(report(5, 15, 10).after(15), (25, 35));
        assert_eq!(report(5, 15, 10).after(34), (35, 45));
        assert_eq!(report(5, NEVER, 0).after(5), (NEVER, NEVER));
        assert_eq!(report(0, 0, 0).after(7), (NEVER, NEVER));
        // Whatever a component says, in one step.
        assert_eq!(report(0, 0, 1).after(u64::MAX - 2), (u64::MAX - 1, NEVER));
    }
}
