//! What a trace of Linux tells, whatever its format.

use std::collections::{BTreeMap, BTreeSet, HashSet};
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
    /// The thread wrote that no more jobs of it come.
    End(Thread),
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
    /// The group (process) of each thread of which the trace tells it, by the number of the group's first thread.
    pub groups: BTreeMap<Thread, Thread>,
    /// Events of other kinds.
    pub passed_over: u64,
    /// Lines or records that are no events.
    pub unread: u64,
    /// What a person should know of the file, a sentence each.
    pub notes: Vec<String>,
    /// The newest name of each thread.
    pub(crate) newest_names: BTreeMap<Thread, String>,
    /// How many times a core went from one thread to another.
    pub(crate) switches: usize,
    /// How many wake-ups there are.
    pub(crate) wakeups: usize,
    pub(crate) cpus: BTreeSet<u16>,
    /// Which events are kept.
    pub(crate) keep: Keep,
}

/// Which events of a file are kept.
#[derive(Clone, Debug, Default)]
pub(crate) enum Keep {
    /// All.
    #[default]
    All,
    /// None: names and numbers alone.
    Nothing,
    /// Those of some threads, and who else has a core while one of them is awake.
    Some(Box<Kept>),
}

/// What is kept of a long file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    threads: HashSet<Thread>,
    awake: HashSet<Thread>,
    /// By core: who has it, and who the events that are kept say has it.
    on: BTreeMap<u16, (Thread, Thread)>,
}

impl Kept {
    pub(crate) fn of(threads: impl IntoIterator<Item = Thread>) -> Kept {
        Kept { threads: threads.into_iter().collect(), ..Kept::default() }
    }

    /// What is kept of an event, in its place.
    fn events(&mut self, event: Event, out: &mut Vec<Event>) {
        match event.kind {
            EventKind::Switch { from, state, to } => self.switch(event, (from, state, to), out),
            EventKind::Wakeup(thread) if self.threads.contains(&thread) => {
                if self.awake.insert(thread) {
                    self.show(event.time, out);
                }
                out.push(event);
            }
            EventKind::Begin(thread) | EventKind::End(thread) if !self.threads.contains(&thread) => {}
            EventKind::Wakeup(_) => {}
            EventKind::Begin(_) | EventKind::End(_) | EventKind::Lost => out.push(event),
        }
    }

    /// From here on it matters who has the cores.
    fn show(&mut self, time: Instant, out: &mut Vec<Event>) {
        for (cpu, (real, shown)) in &mut self.on {
            if real != shown {
                let kind = EventKind::Switch { from: *shown, state: PrevState::Runnable, to: *real };
                out.push(Event { time, cpu: *cpu, kind });
                *shown = *real;
            }
        }
    }

    fn switch(&mut self, event: Event, (from, state, to): (Thread, PrevState, Thread), out: &mut Vec<Event>) {
        let Event { time, cpu, .. } = event;
        let (real, shown) = self.on.get(&cpu).copied().unwrap_or((from, from));
        let own = [from, to].iter().any(|thread| self.threads.contains(thread));
        if own || !self.awake.is_empty() {
            // Where events are missing the reader of these must see it.
            let from = if real == from { shown } else { from };
            out.push(Event { kind: EventKind::Switch { from, state, to }, ..event });
            self.on.insert(cpu, (to, to));
        } else {
            if shown != Thread::IDLE {
                let kind = EventKind::Switch { from: shown, state: PrevState::Runnable, to: Thread::IDLE };
                out.push(Event { time, cpu, kind });
            }
            self.on.insert(cpu, (to, Thread::IDLE));
        }
        if state != PrevState::Runnable {
            self.awake.remove(&from);
        }
        if self.threads.contains(&to) && self.awake.insert(to) {
            self.show(time, out);
        }
    }
}

impl Recording {
    pub(crate) fn push(&mut self, time: Instant, cpu: u16, kind: EventKind) {
        match kind {
            EventKind::Switch { .. } => self.switches += 1,
            EventKind::Wakeup(_) => self.wakeups += 1,
            EventKind::Begin(_) | EventKind::End(_) | EventKind::Lost => {}
        }
        self.cpus.insert(cpu);
        let event = Event { time, cpu, kind };
        match &mut self.keep {
            Keep::All => self.events.push(event),
            Keep::Nothing => {}
            Keep::Some(kept) => kept.events(event, &mut self.events),
        }
    }

    pub(crate) fn name(&mut self, thread: Thread, name: &str) {
        if thread == Thread::IDLE {
            return;
        }
        let names = self.names.entry(thread).or_default();
        if !names.contains(name) {
            names.insert(name.to_owned());
            self.newest_names.insert(thread, name.to_owned());
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
    pub fn cpus(&self) -> &BTreeSet<u16> {
        &self.cpus
    }

    /// How many times a core went from one thread to another.
    pub fn switches(&self) -> usize {
        self.switches
    }

    /// Whether the trace tells when threads are woken.
    pub fn has_wakeups(&self) -> bool {
        self.wakeups > 0
    }

    /// How many events there are in the file, of which those that matter may not all be kept.
    pub fn count(&self) -> u64 {
        self.passed_over + (self.switches + self.wakeups) as u64
    }
}

/// What a text says that the thread wrote into the trace: rt-app's markers, of version 1.0 and of later ones, or the words `job begins` and
/// `jobs end` of a program of one's own.
pub(crate) fn marker(text: &str, thread: Thread) -> Option<EventKind> {
    let begins = text.contains("begins loop")
        || (text.contains("rtapp_loop:") && text.contains("event=start"))
        || text.contains("job begins");
    let ends = text.contains("] exiting")
        || (text.contains("rtapp_task:") && text.contains("event=end"))
        || text.contains("jobs end");
    match (begins, ends) {
        (true, _) => Some(EventKind::Begin(thread)),
        (false, true) => Some(EventKind::End(thread)),
        (false, false) => None,
    }
}
