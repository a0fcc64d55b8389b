//! How jobs and servers are ordered, and what happens when a job takes longer than it should.

/// What an order goes by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OrderBasis {
    /// A number that a task keeps from job to job.
    Kept(KeptNumber),
    /// Absolute deadlines.
    Deadline,
    /// Laxities, looked at again and again.
    Laxity,
    /// Laxities at release.
    LaxityAtRelease,
    /// Releases.
    Release,
    /// Turns.
    Turns,
    /// Priorities, and turns among equal ones.
    PrioritiesWithTurns,
}

/// A number of a task by which jobs are ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeptNumber {
    /// Its priority; the larger goes first.
    Priority,
    /// Its period; the shorter goes first, as with all that follow.
    Period,
    /// Its relative deadline.
    Deadline,
    /// Its execution time, as assumed.
    Execution,
    /// Its relative deadline less its execution time, as assumed.
    Slack,
}

/// Makes the enum and its tables from one row each: the name in a system file behind a spread, what people call it there, what people
/// call it alone, and what it goes by.
macro_rules! orders {
    ($($(#[$doc:meta])* $name:ident: $key:literal, $short:literal, $label:literal, $basis:expr;)*) => {
        /// How jobs, or servers, are ordered among each other.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum TaskOrder {
            $($(#[$doc])* $name,)*
        }

        impl TaskOrder {
            /// All of them.
            pub const ALL: [TaskOrder; [$($key),*].len()] = [$(TaskOrder::$name,)*];

            /// Its name in a system file, behind the spread: `edf` of `partitioned-edf`.
            pub const fn key(self) -> &'static str {
                match self { $(TaskOrder::$name => $key,)* }
            }

            /// The names in a system file of the policies that order so: partitioned, clustered, global.
            pub const fn policy_keys(self) -> [&'static str; 3] {
                match self {
                    $(TaskOrder::$name => [
                        concat!("partitioned-", $key), concat!("clustered-", $key), concat!("global-", $key),
                    ],)*
                }
            }

            /// What people call these policies.
            pub const fn policy_labels(self) -> [&'static str; 3] {
                match self {
                    $(TaskOrder::$name => [
                        concat!("partitioned ", $short), concat!("clustered ", $short), concat!("global ", $short),
                    ],)*
                }
            }

            /// What people call it.
            pub const fn label(self) -> &'static str {
                match self { $(TaskOrder::$name => $label,)* }
            }

            /// What it goes by.
            pub const fn basis(self) -> OrderBasis {
                match self { $(TaskOrder::$name => $basis,)* }
            }
        }
    };
}

orders! {
    /// The larger priority first.
    FixedPriority: "fp", "FP", "fixed priorities", OrderBasis::Kept(KeptNumber::Priority);
    /// The shorter period first.
    RateMonotonic: "rm", "RM", "RM", OrderBasis::Kept(KeptNumber::Period);
    /// The shorter relative deadline first; of servers, the shorter period.
    DeadlineMonotonic: "dm", "DM", "DM", OrderBasis::Kept(KeptNumber::Deadline);
    /// The earlier deadline first.
    EarliestDeadline: "edf", "EDF", "EDF", OrderBasis::Deadline;
    /// The least laxity first, looked at again as time passes, when something comes into the queue, and when something leaves it.
    LeastLaxity: "llf", "LLF", "least laxity", OrderBasis::Laxity;
    /// The least laxity at release first.
    LaxityAtRelease: "llf-at-release", "LLF at release", "laxity at release", OrderBasis::LaxityAtRelease;
    /// The shortest job, as assumed, first; it displaces longer ones.
    ShortestJob: "sjf", "SJF", "shortest job first", OrderBasis::Kept(KeptNumber::Execution);
    /// The earliest release first.
    FirstComeFirstServed: "fifo", "FIFO", "first come first served", OrderBasis::Release;
    /// Each for a turn, in the order in which they were released or had their last turn.
    RoundRobin: "rr", "RR", "turns", OrderBasis::Turns;
    /// The larger priority first, and equal ones each for a turn. Who loses the core to a larger priority goes on with
    /// what is left of its turn (`SCHED_RR` of POSIX).
    FixedPriorityRoundRobin: "fp-rr", "FP with RR", "fixed priorities, turns among equals", OrderBasis::PrioritiesWithTurns;
    /// The least deadline less execution time first (slack-monotonic where deadlines are periods: Andersson 2008; D−C monotonic:
    /// Davis and Burns 2011).
    SlackMonotonic: "sm", "SM", "SM", OrderBasis::Kept(KeptNumber::Slack);
}

impl TaskOrder {
    /// Whether time is cut into pieces, so that there is a quantum.
    pub const fn has_quantum(self) -> bool {
        matches!(self.basis(), OrderBasis::Laxity) || self.takes_turns()
    }

    /// Whether jobs take turns, each a quantum long.
    pub const fn takes_turns(self) -> bool {
        matches!(self.basis(), OrderBasis::Turns | OrderBasis::PrioritiesWithTurns)
    }

    /// Whether it looks at execution times, as assumed.
    pub const fn goes_by_execution(self) -> bool {
        matches!(
            self.basis(),
            OrderBasis::Kept(KeptNumber::Execution | KeptNumber::Slack)
                | OrderBasis::Laxity
                | OrderBasis::LaxityAtRelease
        )
    }

    /// Whether it looks at priorities.
    pub const fn has_priorities(self) -> bool {
        matches!(self.basis(), OrderBasis::Kept(KeptNumber::Priority) | OrderBasis::PrioritiesWithTurns)
    }

    /// Whether servers can be ordered so: what the order needs of a job a server has as well.
    pub const fn orders_servers(self) -> bool {
        use KeptNumber::{Deadline, Period, Priority};
        matches!(self.basis(), OrderBasis::Kept(Priority | Period | Deadline) | OrderBasis::Deadline)
    }
}

/// What happens when a job takes longer than it should.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Overrun {
    /// `continue`: it goes on, and the next ones wait behind it.
    #[default]
    Continue,
    /// `skip`: it goes on, and a release that comes meanwhile is left out.
    Skip,
    /// `stop`: it stops when it has used the task's execution time in this period, and goes on in the next one.
    Stop,
    /// `kill`: it ends at its deadline.
    Kill,
}

impl Overrun {
    /// All of them.
    pub const ALL: [Overrun; 4] = [Overrun::Continue, Overrun::Skip, Overrun::Stop, Overrun::Kill];
}
