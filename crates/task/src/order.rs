//! How jobs and servers are ordered, and what happens when a job takes longer than it should.

/// How jobs, or servers, are ordered among each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskOrder {
    /// `fp`: the larger priority first.
    FixedPriority,
    /// `rm`: the shorter period first.
    RateMonotonic,
    /// `dm`: the shorter relative deadline first; of servers, the shorter period.
    DeadlineMonotonic,
    /// `edf`: the earlier deadline first.
    EarliestDeadline,
    /// `llf`: the least laxity first, looked at again as time passes, when something comes into the queue, and when
    /// something leaves it.
    LeastLaxity,
    /// `llf-at-release`: the least laxity at release first.
    LaxityAtRelease,
    /// `sjf`: the shortest job, as assumed, first; it displaces longer ones.
    ShortestJob,
    /// `fifo`: the earliest release first.
    FirstComeFirstServed,
    /// `rr`: each for a turn, in the order in which they were released or had their last turn.
    RoundRobin,
    /// `fp-rr`: the larger priority first, and equal ones each for a turn. Who loses the core to a larger priority goes on with
    /// what is left of its turn (`SCHED_RR` of POSIX).
    FixedPriorityRoundRobin,
}

impl TaskOrder {
    /// All of them.
    pub const ALL: [TaskOrder; 10] = [
        TaskOrder::FixedPriority,
        TaskOrder::RateMonotonic,
        TaskOrder::DeadlineMonotonic,
        TaskOrder::EarliestDeadline,
        TaskOrder::LeastLaxity,
        TaskOrder::LaxityAtRelease,
        TaskOrder::ShortestJob,
        TaskOrder::FirstComeFirstServed,
        TaskOrder::RoundRobin,
        TaskOrder::FixedPriorityRoundRobin,
    ];

    /// Whether time is cut into pieces, so that there is a quantum.
    pub const fn has_quantum(self) -> bool {
        matches!(self, TaskOrder::LeastLaxity) || self.takes_turns()
    }

    /// Whether jobs take turns, each a quantum long.
    pub const fn takes_turns(self) -> bool {
        matches!(self, TaskOrder::RoundRobin | TaskOrder::FixedPriorityRoundRobin)
    }

    /// Whether it looks at priorities.
    pub const fn has_priorities(self) -> bool {
        matches!(self, TaskOrder::FixedPriority | TaskOrder::FixedPriorityRoundRobin)
    }

    /// Whether servers can be ordered so: what the order needs of a job a server has as well.
    pub const fn orders_servers(self) -> bool {
        (self as u8) < TaskOrder::LeastLaxity as u8
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
