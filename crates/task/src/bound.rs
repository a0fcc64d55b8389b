//! What a test of schedulability shows of a task's jobs: what analysis promises, the machine is told and a run is held against.

use core::fmt;
use tactus_time::Duration;

/// A bound on all jobs of a task. Where nothing is promised there is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// No job takes longer than this from its release to its completion.
    Response(Duration),
    /// No job ends later than this after its deadline.
    Tardiness(Duration),
}

impl Bound {
    /// Its word in summaries and tables.
    pub const fn kind(self) -> &'static str {
        match self {
            Bound::Response(_) => "response",
            Bound::Tardiness(_) => "tardiness",
        }
    }

    /// The longest response or tardiness.
    pub const fn length(self) -> Duration {
        match self {
            Bound::Response(length) | Bound::Tardiness(length) => length,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Response(r) => write!(f, "response ≤ {r}"),
            Bound::Tardiness(x) => write!(f, "tardiness ≤ {x}"),
        }
    }
}
