//! What is known of processes (ARINC 653): their deadlines, and when each is to be noticed. That is at its instant, or, outside of the
//! windows of its partition, when the next one begins: so nobody else's time is taken.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use tactus_policy::{Overrun, PolicyConfig, PolicySpec, ScheduleSwitch, TaskPlacement, Window};
use tactus_rt::abi::process::{ProcessReport, NEVER};
use tactus_rt::scheduler::task_cards;
use tactus_rt::time::{CoreId, Duration, Instant};

/// The processes of a system of partitions.
pub struct Processes {
    pub tasks: Vec<Process>,
    frame: Duration,
    switches: Vec<ScheduleSwitch>,
}

/// What is known of one.
pub struct Process {
    pub core: CoreId,
    windows: Vec<Window>,
    /// Whether it restarts when it misses a deadline.
    pub restarts: bool,
    /// Its deadline, the one after that, and how much later each further one is (ns).
    pub deadline: AtomicU64,
    pub next: AtomicU64,
    pub period: AtomicU64,
    /// When the deadline is to be noticed (ns).
    pub notice: AtomicU64,
    /// The last one that was noticed (ns), and before when there is to be no other.
    pub noticed: AtomicU64,
    pub quiet: AtomicU64,
    pub handled: AtomicBool,
}

impl Processes {
    /// Those of the system, without deadlines; nothing where there are no partitions.
    pub fn new(setup: &PolicyConfig) -> Option<Processes> {
        let PolicySpec::Partitions(all) = &setup.kind else { return None };
        let process = |(task, place): (&tactus_policy::Task, &TaskPlacement)| {
            let core = task.core.unwrap_or(CoreId(0));
            let own = all.windows.get(usize::from(place.server)).map_or(&[][..], Vec::as_slice);
            Process {
                core,
                windows: own.iter().filter(|window| window.core == core).copied().collect(),
                restarts: place.overrun == Overrun::Kill,
                deadline: AtomicU64::new(NEVER),
                next: AtomicU64::new(NEVER),
                period: AtomicU64::new(0),
                notice: AtomicU64::new(NEVER),
                noticed: AtomicU64::new(0),
                quiet: AtomicU64::new(0),
                handled: AtomicBool::new(false),
            }
        };
        let tasks = setup.tasks.iter().zip(&all.tree.places).map(process).collect();
        Some(Processes { tasks, frame: all.frame, switches: all.switches.clone() })
    }

    /// The process has this deadline from now on, and these after it.
    pub fn set(&self, process: &Process, report: &ProcessReport) {
        // The same one is missed once.
        let (deadline, next) = report.after(process.noticed.load(Relaxed));
        process.next.store(next, Relaxed);
        process.period.store(report.period, Relaxed);
        process.handled.store(report.handled, Relaxed);
        if process.deadline.swap(deadline, Relaxed) != deadline {
            self.await_next(process);
        }
    }

    /// Finds out when the deadline of the process is to be noticed.
    pub fn await_next(&self, process: &Process) {
        let at = process.deadline.load(Relaxed);
        let notice = match at {
            NEVER => None,
            _ => {
                let from = Instant::from_nanos(at.max(process.quiet.load(Relaxed)));
                Window::first_instant(&process.windows, process.core, (self.frame, &self.switches), from)
            }
        };
        process.notice.store(notice.map_or(NEVER, Instant::as_nanos), Relaxed);
    }

    /// The next instant at which a deadline is to be noticed on the core.
    pub fn first_on(&self, core: u8) -> Instant {
        let own = self.tasks.iter().filter(|it| it.core.0 == core);
        Instant::from_nanos(own.map(|it| it.notice.load(Relaxed)).min().unwrap_or(NEVER))
    }

    /// No process of the component has a deadline any more.
    pub fn forget(&self, component: u64) {
        for (process, card) in self.tasks.iter().zip(task_cards()) {
            if card.home == component {
                self.set(process, &ProcessReport::NONE);
                process.noticed.store(0, Relaxed);
            }
        }
    }
}
