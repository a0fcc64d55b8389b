//! What a trace of Linux tells, whatever its format.

use std::collections::{BTreeMap, BTreeSet};
use tactus_time::Instant;

/// A thread's number (Linux's `pid`); 0 is nobody: the idle loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Thread(pub u32);

impl Thread {
    /// The idle loop of each core.
    pub const IDLE: Thread = Thread(0);
}

/// The state in which a thread leaves its core (`prev_state`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrevState {
    /// It could go on: it was preempted.
    Runnable,
    /// It sleeps until it is woken (`S`, `I`, `T` …).
    Asleep,
    /// It waits for the kernel (`D`): for a device, or, in a real-time kernel, for a lock of the kernel's.
    Blocked,
    /// It ended.
    Dead,
}

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// `sched_switch`: the core goes from one thread to another.
    Switch {
        /// Who had it.
        from: Thread,
        /// The state in which it leaves.
        state: PrevState,
        /// Who has it now.
        to: Thread,
    },
    /// `sched_waking`, `sched_wakeup`, `sched_wakeup_new`: the thread can run again.
    Wakeup(Thread),
    /// The thread wrote that a job of it begins.
    Begin(Thread),
    /// Events of this core are missing here.
    Lost,
}

/// One event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// When, by the trace's clock.
    pub time: Instant,
    /// On which of Linux's processors.
    pub cpu: u16,
    /// What.
    pub kind: EventKind,
}

/// What a trace tells.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The events that matter here, by time.
    pub events: Vec<Event>,
    /// Every name that a thread had.
    pub names: BTreeMap<Thread, BTreeSet<String>>,
    /// Events of other kinds.
    pub passed_over: u64,
    /// Lines or records that are no events.
    pub unread: u64,
    /// What a person should know of the file, a sentence each.
    pub notes: Vec<String>,
}

impl Recording {
    pub(crate) fn push(&mut self, time: Instant, cpu: u16, kind: EventKind) {
        self.events.push(Event { time, cpu, kind });
    }

    pub(crate) fn name(&mut self, thread: Thread, name: &str) {
        if thread == Thread::IDLE {
            return;
        }
        let names = self.names.entry(thread).or_default();
        if !names.contains(name) {
            names.insert(name.to_owned());
        }
    }

    /// Puts the events in the order of time; those of one instant keep theirs.
    pub(crate) fn in_order(mut self) -> Recording {
        if !self.events.is_sorted_by_key(|event| event.time) {
            self.events.sort_by_key(|event| event.time);
        }
        self
    }

    /// The processors that the trace tells of.
    pub fn cpus(&self) -> BTreeSet<u16> {
        self.events.iter().map(|event| event.cpu).collect()
    }

    /// How many times a core went from one thread to another.
    pub fn switches(&self) -> usize {
        self.events.iter().filter(|event| matches!(event.kind, EventKind::Switch { .. })).count()
    }

    /// Whether the trace tells when threads are woken.
    pub fn has_wakeups(&self) -> bool {
        self.events.iter().any(|event| matches!(event.kind, EventKind::Wakeup(_)))
    }
}

/// Whether a text that a program wrote into the trace says that a job begins: rt-app's markers, of version 1.0 and of later ones, or the
/// words `job begins` of a program of one's own.
pub(crate) fn begins_job(text: &str) -> bool {
    text.contains("begins loop")
        || (text.contains("rtapp_loop:") && text.contains("event=start"))
        || text.contains("job begins")
}
