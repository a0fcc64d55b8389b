//! What all cores may want to know of one core: what is linked to it at each level, and what of C and D it has on its hands.
//! A fixed number of words; every step here takes a time that does not depend on the number of tasks (rule (a)).

use tactus_policy::parts::mc2::{Ghost, Job};
use tactus_policy::parts::mc2::{State, TaskState};
use tactus_policy::parts::Key;
use tactus_time::{Duration, Level};

/// A task as it stands for a core at one level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) key: Key,
    /// The job to run; of a ghost the next one.
    pub(super) job: Job,
    /// Whether it is a ghost: lower levels run.
    pub(super) ghost: bool,
    pub(super) enforce: bool,
    pub(super) left: Duration,
    pub(super) charged: Duration,
}

impl Link {
    pub(super) fn of(task: &TaskState, place: usize) -> Link {
        let key = if task.name.1 == Level::D { task.release_key(place) } else { task.deadline_key(place) };
        let ghost = task.state == State::Ghost;
        Link { key, job: Job::of(task, place), ghost, enforce: task.enforce, left: task.left, charged: task.charged }
    }
    pub(super) fn place(&self) -> usize {
        self.job.place()
    }
    pub(super) fn as_ghost(&self) -> Ghost {
        let Job { name, place, number } = self.job;
        Ghost { name, place, job: number.wrapping_sub(1), left: self.left }
    }
}

/// What a core had of C or D when it went on to something else.
#[derive(Clone, Copy, Debug)]
pub(super) struct Had {
    pub(super) place: u16,
    pub(super) ghost: Option<Ghost>,
    /// For how long, not charged yet. Nothing if it was only linked.
    pub(super) ran: Option<Duration>,
}

/// How a core stands to a level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Standing {
    /// It takes nothing.
    Closed,
    /// It takes what is more urgent than this, or anything.
    Open(Option<Key>),
}

/// One core.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cpu {
    /// By level.
    pub(super) linked: [Option<Link>; 4],
    /// At C and D: what the core has had since its last decision.
    pub(super) current: [Option<u16>; 2],
    /// What it has left to the master; C first.
    pub(super) parked: [[Option<Had>; 2]; 2],
}

impl Cpu {
    /// Whether something runs there at this level or above.
    fn runs(&self, level: usize) -> bool {
        self.linked[..=level].iter().flatten().any(|link| !link.ghost)
    }

    /// How it stands to C (0) or D (1). At D nobody is displaced by another task of D.
    pub(super) fn standing(&self, which: usize) -> Standing {
        let linked = self.linked[2 + which];
        if self.runs(1 + which) || which == 1 && linked.is_some() {
            return Standing::Closed;
        }
        Standing::Open(linked.map(|link| link.key))
    }

    /// What is first at A or B is now this. Nothing if that changes nothing on the core; else what of C and D has to go.
    pub(super) fn offer(&mut self, level: usize, first: Option<Link>) -> Option<[Option<u16>; 2]> {
        let what = |link: Link| (link.job, link.ghost);
        if level > 0 && self.runs(level - 1) || self.linked[level].map(what) == first.map(what) {
            return None;
        }
        self.linked[level] = first;
        Some(if first.is_some_and(|link| !link.ghost) { self.displace() } else { [None; 2] })
    }

    /// Takes away what is linked at C and D.
    pub(super) fn displace(&mut self) -> [Option<u16>; 2] {
        [2, 3].map(|level| self.linked[level].take().map(|link| link.place() as u16))
    }

    /// Takes the link of this task away, if it has it.
    pub(super) fn unlink(&mut self, which: usize, place: usize) -> bool {
        let here = self.linked[2 + which].is_some_and(|link| link.place() == place);
        if here {
            self.linked[2 + which] = None;
        }
        here
    }

    /// Whether the core has it on its hands, so that nobody else may run it yet.
    pub(super) fn holds(&self, which: usize, place: usize) -> bool {
        let parked =
            self.parked[which].iter().flatten().any(|had| usize::from(had.place) == place && had.ran.is_some());
        parked || self.current[which] == Some(place as u16)
    }

    /// Leaves something to the master. Not if there is no room.
    pub(super) fn park(&mut self, which: usize, had: Had) -> bool {
        let Some(free) = self.parked[which].iter_mut().find(|place| place.is_none()) else { return false };
        *free = Some(had);
        if self.current[which] == Some(had.place) {
            self.current[which] = None;
        }
        true
    }
}
