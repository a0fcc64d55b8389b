//! A system as it was written, before it is known to make sense: every value with its place.

use crate::problem::Place;
use crate::{Demand, Policy};
use std::path::PathBuf;
use tactus_time::{Duration, Level};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    pub value: T,
    pub place: Place,
}

/// What a file says about one key.
#[derive(Clone, Debug, Default)]
pub(crate) enum Given<T> {
    /// Nothing.
    #[default]
    Absent,
    /// Something that cannot be read, which has been reported.
    Broken,
    /// This.
    Is(At<T>),
}

impl<T> Given<T> {
    pub fn is(value: T, place: Place) -> Self {
        Given::Is(At { value, place })
    }
    pub fn get(&self) -> Option<&At<T>> {
        match self {
            Given::Is(at) => Some(at),
            _ => None,
        }
    }
    pub fn is_absent(&self) -> bool {
        matches!(self, Given::Absent)
    }
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Given<U> {
        match self {
            Given::Absent => Given::Absent,
            Given::Broken => Given::Broken,
            Given::Is(at) => Given::is(f(at.value), at.place),
        }
    }
}

impl<T: Copy> Given<T> {
    pub fn value(&self) -> Option<T> {
        self.get().map(|at| at.value)
    }
}

/// A whole file. What is absent has been reported where it must not be.
#[derive(Default)]
pub(crate) struct Draft {
    /// Where a complaint about the system as a whole points.
    pub place: Place,
    pub name: Given<String>,
    pub cores: Given<u64>,
    pub memory: Given<u64>,
    pub duration: Given<Duration>,
    pub seed: Given<u64>,
    pub policy: Given<Policy>,
    pub shift: Given<u8>,
    pub overheads: Given<bool>,
    pub tasks: Vec<DraftTask>,
    /// The file has no task at all, as opposed to none that could be read.
    pub no_tasks: bool,
    pub components: Vec<DraftComponent>,
    pub notes: Vec<String>,
}

#[derive(Default)]
pub(crate) struct DraftTask {
    pub place: Place,
    /// For messages: `task "nav"`.
    pub subject: String,
    pub name: Given<String>,
    pub level: Given<Level>,
    pub core: Given<u64>,
    pub offset: Given<Duration>,
    pub period: Given<Duration>,
    pub deadline: Given<Duration>,
    pub execution: Given<DraftExecution>,
    pub actual: Given<DraftDemand>,
    pub memory: Given<u64>,
    pub component: Given<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum DraftExecution {
    /// The same at every level.
    Plain(Duration),
    /// Level by level.
    Levels([Given<Duration>; 4]),
}

#[derive(Clone, Debug)]
pub(crate) enum DraftDemand {
    /// As it stands.
    Demand(Demand),
    /// The execution time at this level.
    Level(Level),
}

pub(crate) struct DraftComponent {
    pub place: Place,
    pub subject: String,
    pub name: Given<String>,
    pub path: Given<PathBuf>,
    pub provides: Vec<At<String>>,
    pub uses: Vec<At<DraftGrant>>,
}

/// `name = "component.service"`.
pub(crate) struct DraftGrant {
    pub name: String,
    pub provider: String,
    pub service: String,
}
