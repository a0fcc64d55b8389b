//! What core 0, which owns levels C and D, and another core tell each other.
//!
//! - A **grant** says what the core is to have. Only the newest counts.
//! - A **report** says what the core had, and for how long. There are at most two on their way: a core has to be granted
//!   something before it can give it back.
//! - The **standing** of a core is one word: whether it is open, how often it has given up all that it had (its **epoch**), and
//!   the last grant that it took up. A grant of an earlier epoch is void.
//!
//! A core reports first and changes its standing then; the owner looks at the standing first. So whatever the owner knows
//! to be over has been reported to it.

use tactus_policy::parts::mc2::{Ghost, Job, State, TaskState};
use tactus_policy::Event;
use tactus_sync::facade::{AtomicU64, Ordering};
use tactus_sync::{MessageRing, TripleBuffer};
use tactus_time::{Duration, Level, TaskId};

/// Epochs are counted to this and then anew.
pub(super) const EPOCHS: u32 = 0x7fff_ffff;

const GRANT_WORDS: usize = 10;
const REPORT_WORDS: usize = 7;

/// A task at C or D as a core has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The job; of a ghost the next one.
    pub(super) job: Job,
    pub(super) ghost: bool,
    pub(super) enforce: bool,
    pub(super) left: Duration,
    pub(super) charged: Duration,
}

impl Part {
    pub(super) fn of(task: &TaskState, place: usize) -> Part {
        let ghost = task.state == State::Ghost;
        Part { job: Job::of(task, place), ghost, enforce: task.enforce, left: task.left, charged: task.charged }
    }

    pub(super) fn as_ghost(&self) -> Ghost {
        let Job { name, place, number } = self.job;
        Ghost { name, place, job: number.wrapping_sub(1), left: self.left }
    }

    /// The core has had it for so long.
    pub(super) fn pass(&mut self, elapsed: Duration) {
        self.left = self.left.saturating_sub(elapsed);
        if !self.ghost {
            self.charged = self.charged.checked_add(elapsed).unwrap_or(Duration::MAX);
        }
    }

    fn words(part: Option<Part>) -> [u64; 4] {
        let Some(it) = part else { return [u64::MAX; 4] };
        let Job { name: (task, level), place, number } = it.job;
        let flags = u64::from(level as u8) | u64::from(it.ghost) << 8 | u64::from(it.enforce) << 9;
        let what = u64::from(task.0) | u64::from(place) << 16 | flags << 32;
        [what, number.into(), it.left.as_nanos(), it.charged.as_nanos()]
    }

    fn read(words: [u64; 4]) -> Option<Part> {
        let [what, number, left, charged] = words;
        if what == u64::MAX {
            return None;
        }
        let level = Level::from_index((what >> 32) as u8)?;
        Some(Part {
            job: Job { name: (TaskId(what as u16), level), place: (what >> 16) as u16, number: number as u32 },
            ghost: what >> 40 & 1 == 1,
            enforce: what >> 41 & 1 == 1,
            left: Duration::from_nanos(left),
            charged: Duration::from_nanos(charged),
        })
    }
}

/// What a core is to have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Grant {
    pub(super) number: u32,
    pub(super) epoch: u32,
    /// At C, and at D.
    pub(super) parts: [Option<Part>; 2],
}

/// A job or ghost that a core had, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) job: Job,
    pub(super) ghost: bool,
    pub(super) had: Duration,
}

impl Held {
    pub(super) fn as_ghost(&self) -> Ghost {
        let Job { name, place, number } = self.job;
        Ghost { name, place, job: number.wrapping_sub(1), left: Duration::ZERO }
    }
}

/// What a core had.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    /// The job or ghost at C and the job at D, and for how long it had them.
    pub(super) parts: [Option<Held>; 2],
    /// What became of the job that ran.
    pub(super) event: Event,
}

/// How a core stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Standing {
    pub(super) open: bool,
    pub(super) epoch: u32,
    /// The last grant that was taken up.
    pub(super) taken: u32,
}

/// The post between the owner and one core.
pub(super) struct Mail {
    grant: TripleBuffer<GRANT_WORDS>,
    reports: MessageRing<REPORT_WORDS, 4>,
    standing: AtomicU64,
}

impl Mail {
    pub(super) fn new() -> Mail {
        Mail { grant: TripleBuffer::new(), reports: MessageRing::new(), standing: AtomicU64::new(0) }
    }

    pub(super) fn grant(&self, grant: &Grant) {
        let [c, d] = grant.parts.map(Part::words);
        let mut words = [0; GRANT_WORDS];
        words[0] = grant.number.into();
        words[1] = grant.epoch.into();
        words[2..6].copy_from_slice(&c);
        words[6..].copy_from_slice(&d);
        self.grant.write(&words);
    }

    pub(super) fn granted(&self) -> Option<Grant> {
        let words = self.grant.read()?;
        let part = |at: usize| Part::read([0, 1, 2, 3].map(|n| words[at + n]));
        Some(Grant { number: words[0] as u32, epoch: words[1] as u32, parts: [part(2), part(6)] })
    }

    /// Whether there was room, as there is if each report answers a grant.
    pub(super) fn report(&self, report: &Report) -> bool {
        let part = |held: &Option<Held>| match held {
            None => [u64::MAX, 0, 0],
            Some(Held { job, ghost, had }) => {
                let what = u64::from(job.name.0 .0) | u64::from(job.place) << 16 | u64::from(*ghost) << 32;
                [what, job.number.into(), had.as_nanos()]
            }
        };
        let event = match report.event {
            Event::Complete => 1,
            Event::Remove => 2,
            Event::Start
            | Event::Timer
            | Event::Notify
            | Event::Arrival
            | Event::Unlock
            | Event::Wait
            | Event::Lock
            | Event::Signal
            | Event::Slot => 0,
        };
        let [[a, b, c], [d, e, f]] = [part(&report.parts[0]), part(&report.parts[1])];
        self.reports.send(&[a, b, c, d, e, f, event])
    }

    pub(super) fn reported(&self) -> Option<Report> {
        let [a, b, c, d, e, f, event] = self.reports.receive()?;
        let part = |[what, number, had]: [u64; 3], level| {
            let job = Job { name: (TaskId(what as u16), level), place: (what >> 16) as u16, number: number as u32 };
            (what != u64::MAX).then(|| Held { job, ghost: what >> 32 & 1 == 1, had: Duration::from_nanos(had) })
        };
        let event = match event {
            1 => Event::Complete,
            2 => Event::Remove,
            _ => Event::Timer,
        };
        Some(Report { parts: [part([a, b, c], Level::C), part([d, e, f], Level::D)], event })
    }

    pub(super) fn stand(&self, standing: Standing) {
        let word = u64::from(standing.open) | u64::from(standing.epoch & EPOCHS) << 1 | u64::from(standing.taken) << 32;
        self.standing.store(word, Ordering::Release);
    }

    pub(super) fn standing(&self) -> Standing {
        let word = self.standing.load(Ordering::Acquire);
        Standing { open: word & 1 == 1, epoch: word as u32 >> 1, taken: (word >> 32) as u32 }
    }
}
