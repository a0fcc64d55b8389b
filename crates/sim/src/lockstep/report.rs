//! What a replay found, for people.

use super::calls::Call;
use std::fmt;
use tactus_policy::Decision;
use tactus_record::{EntryReason, EventKind, Record};
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

/// Everything that was compared; all of it was equal.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Agreement {
    /// Number of cores.
    pub cores: usize,
    /// Calls of the policy, each with its decision.
    pub calls: u64,
    /// Records that the policy wrote in them.
    pub records: u64,
    /// Jobs that finished.
    pub jobs: u64,
    /// Calls at the end that could not be replayed because a core's records stop inside a call.
    pub cut: usize,
    /// How late calls came, by reason (index: [`EntryReason`]). For `Start`, the time since the start of the run.
    pub lateness: [Lateness; REASONS],
    /// How long the scheduler's turns took, from its look at the clock to the end of its decision.
    pub turns: Lateness,
}

/// One more than the largest number of a reason of entry; some numbers mean nothing.
const REASONS: usize = EntryReason::NUMBERS;

/// A distribution of times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lateness {
    /// How many.
    pub count: u64,
    /// Half are no longer than this.
    pub p50: Duration,
    /// 99 of 100 are no longer than this.
    pub p99: Duration,
    /// None is longer than this.
    pub max: Duration,
}

impl Agreement {
    /// The largest lateness of a time-out, a completion or an event.
    pub fn largest_lateness(&self) -> Duration {
        self.lateness[1..4].iter().map(|l| l.max).max().unwrap_or(Duration::ZERO)
    }
}

impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Lateness { count, p50, p99, max } = self;
        write!(f, "{count:>8} times · half within {p50} · 99 % within {p99} · all within {max}")
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Agreement { cores, calls, records, jobs, cut, .. } = self;
        write!(
            f,
            "{calls} decisions and {records} records on {cores} cores are the policy's own · {jobs} jobs finished"
        )?;
        if *cut > 0 {
            write!(f, " · {cut} calls at the end not replayed")?;
        }
        let names = [
            "start",
            "time-out",
            "completion",
            "event",
            "fault",
            "arrival",
            "–",
            "–",
            "unlock",
            "wait",
            "lock",
            "signal",
        ];
        let all = names.iter().zip(&self.lateness).chain([(&"turn", &self.turns)]);
        for (name, lateness) in all.filter(|(_, l)| l.count > 0) {
            write!(f, "\n  {name:<11} {lateness}")?;
        }
        Ok(())
    }
}

/// Collects the times of a replay.
#[derive(Default)]
pub struct Latenesses {
    reasons: [Vec<Duration>; REASONS],
    /// Of each turn of the scheduler.
    pub turns: Vec<Duration>,
}

impl Latenesses {
    /// Those of one reason.
    pub fn of_reason(&mut self, reason: EntryReason) -> &mut Vec<Duration> {
        &mut self.reasons[reason as usize]
    }

    /// Sums up.
    pub fn into_agreement(mut self, agreement: &mut Agreement) {
        for (all, sum) in self.reasons.iter_mut().zip(&mut agreement.lateness) {
            *sum = sum_up(all);
        }
        agreement.turns = sum_up(&mut self.turns);
    }
}

/// The distribution of `all`, which is sorted on the way.
pub(crate) fn sum_up(all: &mut [Duration]) -> Lateness {
    all.sort_unstable();
    // The least value that at least `percent` of a hundred do not exceed.
    let at =
        |percent: usize| all.get((all.len() * percent).div_ceil(100).saturating_sub(1)).copied().unwrap_or_default();
    Lateness { count: all.len() as u64, p50: at(50), p99: at(99), max: at(100) }
}

/// The first place where a trace is not what the policy and a right machine would have written.
#[derive(Clone, PartialEq, Debug)]
pub struct Disagreement {
    /// Where, if on one core.
    pub core: Option<CoreId>,
    /// When.
    pub time: Instant,
    /// The call's place on its core, counted from 0.
    pub call: usize,
    /// Why the policy was called.
    pub reason: Option<EntryReason>,
    /// What is wrong.
    pub what: What,
}

/// What is wrong.
#[derive(Clone, PartialEq, Debug)]
pub enum What {
    /// The trace is of another number of cores.
    Cores {
        /// By the set-up.
        expected: usize,
        /// In the trace.
        found: usize,
    },
    /// Records were dropped, so that there is nothing to replay.
    Dropped(u64),
    /// The records do not form calls.
    Shape(&'static str),
    /// No call has the ticket that comes next.
    Ticket {
        /// That ticket.
        missing: u32,
    },
    /// The policy writes another record.
    Record {
        /// Its place within the call, counted from 0.
        position: usize,
        /// What the policy writes; nothing if it has finished.
        expected: Option<Record>,
        /// What the trace holds; nothing if the call ends there.
        found: Option<Record>,
    },
    /// The policy decides otherwise.
    Decision {
        /// What the policy decides.
        expected: Decision,
        /// What the trace holds.
        found: Record,
    },
    /// Another task was running when the scheduler was entered than the last decision said.
    Running {
        /// By the last decision.
        expected: Option<TaskId>,
        /// In the trace.
        found: Option<TaskId>,
    },
    /// The time-out that expired is not the one that the last decision wanted.
    TimeOut {
        /// By the last decision.
        expected: Instant,
        /// In the trace.
        found: Instant,
    },
    /// The call came before its cause.
    Early {
        /// When it was due.
        due: Instant,
    },
    /// Something was due and not served in time.
    Late {
        /// What.
        reason: EntryReason,
        /// Since when.
        due: Instant,
        /// How long it might have waited.
        tolerance: Duration,
    },
    /// A job finished or faulted where none was running.
    NothingRuns,
    /// An event of another core arrived which no decision had sent in time.
    NotSent,
}

impl Disagreement {
    pub(super) fn whole(what: What) -> Self {
        Disagreement { core: None, time: Instant::ZERO, call: 0, reason: None, what }
    }
    pub(super) fn at_start(core: CoreId, what: What) -> Self {
        Disagreement { core: Some(core), time: Instant::ZERO, call: 0, reason: None, what }
    }
    pub(super) fn at_record(core: CoreId, record: &Record, what: What) -> Self {
        Disagreement { core: Some(core), time: record.time, call: 0, reason: None, what }
    }
    pub(super) fn in_call(call: &Call, what: What) -> Self {
        let (core, time) = (Some(call.core()), call.enter.time);
        Disagreement { core, time, call: call.number, reason: Some(call.reason), what }
    }
    pub(super) fn after(core: CoreId, call: usize, time: Instant, what: What) -> Self {
        Disagreement { core: Some(core), time, call, reason: None, what }
    }
}

impl std::error::Error for Disagreement {}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(core) = self.core {
            write!(f, "core {core}, {} ns", self.time.as_nanos())?;
            match self.reason {
                Some(reason) => write!(f, ", call {} ({reason:?}): ", self.call)?,
                None => f.write_str(": ")?,
            }
        }
        self.what.fmt(f)
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Cores { expected, found } => write!(f, "the system has {expected} cores, the trace {found}"),
            What::Dropped(n) => write!(f, "{n} records did not fit into the ring; give the run a larger one"),
            What::Shape(what) => f.write_str(what),
            What::Ticket { missing } => write!(f, "decision {missing} on shared state is missing or comes twice"),
            What::Record { position, expected, found } => {
                write!(f, "record {position} of the call\n  expected  {}", Line(expected.as_ref()))?;
                write!(f, "\n  found     {}", Line(found.as_ref()))
            }
            What::Decision { expected: d, found: r } => {
                let expected = Decided { run: d.run.map(|r| (r.task, r.job)), timer: d.timer, ticket: d.ticket };
                let run = r.task.map(|t| (t, r.job));
                let found = Decided { run, timer: Instant::from_nanos(r.arg), ticket: r.ticket };
                write!(f, "the decision\n  expected  {expected}\n  found     {found}")
            }
            What::Running { expected, found } => {
                let name = |task: &Option<TaskId>| task.map_or("nothing".to_owned(), |t| format!("task {}", t.0));
                write!(f, "the running task\n  expected  {}\n  found     {}", name(expected), name(found))
            }
            What::TimeOut { expected, found } => {
                write!(f, "the time-out\n  expected  {} ns\n  found     {} ns", expected.as_nanos(), found.as_nanos())
            }
            What::Early { due } => write!(f, "came too early; it was due at {} ns", due.as_nanos()),
            What::Late { reason, due, tolerance } => {
                write!(f, "{reason:?} was due at {} ns and not served within {tolerance}", due.as_nanos())
            }
            What::NothingRuns => f.write_str("no job was running that could finish or fault"),
            What::NotSent => f.write_str("no decision had sent this core an event, or too long ago"),
        }
    }
}

/// One record on one line.
struct Line<'r>(Option<&'r Record>);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(r) = self.0 else { return f.write_str("nothing") };
        write!(f, "{:?} at {} ns on core {}", r.kind, r.time.as_nanos(), r.core)?;
        if let Some(task) = r.task {
            write!(f, ", task {} job {}", task.0, r.job)?;
        }
        match Level::from_index(r.level) {
            Some(level) if r.kind.is_policy() && r.kind != EventKind::Notify && r.task.is_some() => {
                write!(f, ", level {level}")?
            }
            _ => {}
        }
        write!(f, ", arg {}", r.arg)
    }
}

struct Decided {
    run: Option<(TaskId, u32)>,
    timer: Instant,
    ticket: u32,
}

impl fmt::Display for Decided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.run {
            Some((task, job)) => write!(f, "run task {} job {job}", task.0)?,
            None => f.write_str("run nothing")?,
        }
        match self.timer {
            Instant::NEVER => f.write_str(", no time-out")?,
            at => write!(f, ", time-out at {} ns", at.as_nanos())?,
        }
        write!(f, ", ticket {}", self.ticket)
    }
}
