//! What is wrong with a set-up that no scheduler can be made from.

use crate::MAX_DEPTH;
use core::fmt;
use tactus_time::{CoreId, TaskId, MAX_CORES};

/// Why no scheduler can be made from a [`PolicyConfig`](crate::PolicyConfig).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PolicyConfigError {
    /// Another program decides by it.
    OtherProgram,
    /// The number of cores is zero or more than [`MAX_CORES`].
    CoreCount(usize),
    /// More tasks than a [`TaskId`] can number.
    TaskCount(usize),
    /// A period of zero.
    ZeroPeriod(TaskId),
    /// The policy binds this task to a core, but none is given.
    NoCore(TaskId),
    /// The task's core does not exist.
    CoreOutOfRange(TaskId, CoreId),
    /// MC² is to enforce budgets, but this task would never get any.
    ZeroBudget(TaskId),
    /// MC² needs one table per core; this many were given.
    TableCount(usize),
    /// A slot of this core's table, by its place, is empty or reversed, overlaps the one before, or leaves the cycle.
    SlotBounds(CoreId, usize),
    /// A slot of this core's table, by its place, names a task that does not exist, is not of level A, or is bound to
    /// another core.
    SlotTask(CoreId, usize),
    /// A level-A task that has no slot in its core's table, so that it could never run.
    NoSlot(TaskId),
    /// The clusters do not part the cores.
    Clusters,
    /// There must be one priority for each task; this many were given.
    PriorityCount(usize),
    /// Two levels of criticality need a time in the LO mode for each task; this many were given.
    DualCount(usize),
    /// The task's LO time is longer than its budget, or another one though it is not critical.
    LowBudget(TaskId),
    /// The tasks of this slot are not absent at the start, in one server of one core, released by time and free to overrun.
    Slot(usize),
    /// A tree needs a root, and has a bounded number of servers; this many were given.
    ServerCount(usize),
    /// A tree needs one place for each task; this many were given.
    PlaceCount(usize),
    /// The server does not come after its parent.
    ServerParent(u16),
    /// The server has no core, or one that its parent does not have; or the root does not have all cores.
    ServerCores(u16),
    /// The queues do not part the server's cores, or are shared where there are servers inside.
    ServerQueues(u16),
    /// This server, by its index, reclaims bandwidth on a core that shares a queue or a chain of releases with another core.
    SharedReclaiming(u16),
    /// The server, by its index, has a budget of misses, but is inside another one, has servers inside, or is in a tree that changes, or
    /// the time of a line is not given.
    Misses(u16),
    /// The server gives way to a counter and lies in another one, shares a queue among cores, has servers inside, goes on without
    /// budget, meets another such server on a core, or the policy has no sample.
    Yielding(u16),
    /// The server has no budget, one of no length, or one longer than its period; or the root has one.
    ServerSupply(u16),
    /// The server orders by something that only jobs have, and there are servers inside.
    ServerOrder(u16),
    /// The server's order needs a quantum.
    ServerQuantum(u16),
    /// The server lies too deep.
    ServerDepth(u16),
    /// A partition has no windows, or they overlap others, leave the frame, or are not on its cores; or a server is a
    /// partition where there are none.
    ServerWindows(u16),
    /// The task is released by completions of itself, or of a task that does not exist.
    Predecessor(TaskId),
    /// The task is to stop until its next period when it overruns, but it has no periods.
    StopWithoutPeriods(TaskId),
    /// The task is not released by time, and the policy knows nothing else.
    ArrivalsWithoutTree(TaskId),
    /// The task's release jitter is more than [`ReleaseInstants::MOST_PERIODS`](tactus_task::ReleaseInstants::MOST_PERIODS) of its periods.
    Jitter(TaskId),
    /// The task's jobs may wait, but its policy does not know that, or its overrun rule, its order or its threshold forbids it.
    Waits(TaskId),
    /// The task is in a server that does not exist.
    TaskServer(TaskId),
    /// Ceilings need one queue for each core, ordered by priority, period or deadline, and no servers.
    CeilingTree,
    /// There are too many resources; this many were given.
    ResourceCount(usize),
    /// A user of this resource, by its number, does not exist, is named twice, is of another core than the others, or has a job that
    /// stops or is killed.
    ResourceUser(usize),
    /// On the core of this resource, by its number, jobs hold ceilings, and the resource lets jobs that have begun wait.
    InheritanceBesideCeilings(usize),
    /// The task's preemption threshold is less than its priority, or its core does not order by priority.
    Threshold(TaskId),
    /// This change, by its number, comes before the one in front of it, or is of something that does not exist, or has a value
    /// that cannot be; the greatest number stands for what is absent at the start.
    ChangePart(u32),
    /// There must be an effect for each change; this many were given.
    ChangeEffects(usize),
    /// What comes of a change gives this task budgets that it cannot have, or it is on another core than what changes, or does not
    /// exist.
    ChangeEffect(TaskId),
    /// The task has no core where its server has several queues, or one that its server does not have.
    TaskQueue(TaskId),
}

impl fmt::Display for PolicyConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            PolicyConfigError::OtherProgram => write!(f, "another scheduler decides by this policy"),
            PolicyConfigError::CoreCount(n) => write!(f, "{n} cores: a system has 1 to {MAX_CORES}"),
            PolicyConfigError::TaskCount(n) => write!(f, "{n} tasks: a system has at most {}", MAX_TASKS),
            PolicyConfigError::ZeroPeriod(task) => {
                write!(f, "task {}: its period is zero; give a period greater than zero", task.0)
            }
            PolicyConfigError::NoCore(task) => write!(f, "task {}: the policy binds it to a core, but none is given", task.0),
            PolicyConfigError::CoreOutOfRange(task, core) => {
                write!(f, "task {}: it is bound to core {core}, which the system does not have", task.0)
            }
            PolicyConfigError::ZeroBudget(task) => {
                write!(f, "task {}: budgets are enforced and its budget is zero; give an execution time", task.0)
            }
            PolicyConfigError::TableCount(n) => write!(f, "{n} level-A tables: there must be one for each core"),
            PolicyConfigError::SlotBounds(core, slot) => write!(
                f,
                "level-A table of core {core}, slot {slot}: slots must be longer than zero, in ascending order, apart \
                 from each other and within the cycle"
            ),
            PolicyConfigError::SlotTask(core, slot) => {
                write!(f, "level-A table of core {core}, slot {slot}: its task is not a level-A task of this core")
            }
            PolicyConfigError::NoSlot(task) => {
                write!(f, "task {}: it is of level A, but the table of its core has no slot for it", task.0)
            }
            PolicyConfigError::PriorityCount(n) => write!(f, "{n} priorities: there must be one for each task"),
            PolicyConfigError::DualCount(n) => write!(f, "{n} times in the LO mode: there must be one for each task"),
            PolicyConfigError::LowBudget(task) => write!(
                f,
                "task {}: in the LO mode a critical task may take no longer than its budget, and any other just that",
                task.0
            ),
            PolicyConfigError::Clusters => {
                write!(f, "the clusters must part the cores: each core is in one of them, and none is empty")
            }
            PolicyConfigError::ServerCount(n) => write!(f, "{n} servers: a tree has a root and at most 4095 servers more"),
            PolicyConfigError::PlaceCount(n) => write!(f, "{n} places in the tree: there must be one for each task"),
            PolicyConfigError::ServerParent(n) => write!(f, "server {n}: its parent must come before it"),
            PolicyConfigError::ServerCores(n) => write!(
                f,
                "server {n}: it needs cores, and only some of those that its parent has (the root has all)"
            ),
            PolicyConfigError::SharedReclaiming(n) => write!(
                f,
                "server {n} reclaims bandwidth on a core that shares a queue or a chain of releases with another core: part them"
            ),
            PolicyConfigError::Yielding(n) => write!(
                f,
                "server {n} gives way to a counter: that takes a server in the root, the only such on its cores, with tasks inside"
            ),
            PolicyConfigError::Misses(n) => write!(
                f,
                "server {n} has a budget of misses: it belongs into the root of a tree that does not change, with tasks inside and a time for each line"
            ),
            PolicyConfigError::ServerQueues(n) => write!(
                f,
                "server {n}: its queues must part its cores, and be of one core each where there are servers inside"
            ),
            PolicyConfigError::ServerSupply(n) => {
                write!(f, "server {n}: it needs a budget longer than zero and no longer than its period (the root: none)")
            }
            PolicyConfigError::ServerOrder(n) => write!(
                f,
                "server {n}: servers inside it can only be ordered by priority, period or deadline; choose another order"
            ),
            PolicyConfigError::ServerQuantum(n) => write!(f, "server {n}: its order needs a quantum longer than zero"),
            PolicyConfigError::ServerDepth(n) => {
                write!(f, "server {n}: it lies more than {} servers deep", MAX_DEPTH)
            }
            PolicyConfigError::ServerWindows(n) => write!(
                f,
                "server {n}: each partition needs windows on its cores, within the frame and apart from all others; and only \
                 partitions have some"
            ),
            PolicyConfigError::Predecessor(task) => {
                write!(f, "task {}: what releases it must be another task, and one that exists", task.0)
            }
            PolicyConfigError::StopWithoutPeriods(task) => {
                write!(f, "task {}: without periods it would never go on after a stop; let it overrun otherwise", task.0)
            }
            PolicyConfigError::ArrivalsWithoutTree(task) => {
                write!(f, "task {}: this policy knows only jobs that time releases", task.0)
            }
            PolicyConfigError::Jitter(task) => {
                write!(f, "task {}: its jobs may be released too many periods late; lower its jitter", task.0)
            }
            PolicyConfigError::Waits(task) => write!(
                f,
                "task {}: its jobs may not wait where they are stopped at their budget, ordered by laxity or hold a preemption \
                 threshold, nor under this policy",
                task.0
            ),
            PolicyConfigError::CeilingTree => {
                write!(f, "ceilings need one queue for each core, ordered by priority, period or deadline, and no servers")
            }
            PolicyConfigError::ResourceCount(n) => {
                write!(f, "{n} resources, at most {}", tactus_task::Sections::MAX_RESOURCES)
            }
            PolicyConfigError::ResourceUser(n) => write!(
                f,
                "resource {n}: its users must be distinct tasks whose jobs neither stop nor are killed, all of one core unless \
                 its protocol spans cores"
            ),
            PolicyConfigError::InheritanceBesideCeilings(n) => {
                write!(f, "resource {n}: its users may wait for it in the middle, which no ceiling of the same core allows")
            }
            PolicyConfigError::Threshold(task) => {
                write!(f, "task {}: a preemption threshold is a priority, and not less than the task's own", task.0)
            }
            PolicyConfigError::TaskServer(task) => write!(f, "task {}: the server that it is in does not exist", task.0),
            PolicyConfigError::ChangePart(u32::MAX) => {
                write!(f, "what is absent at the start must be a task or a server of the tree")
            }
            PolicyConfigError::ChangePart(n) => write!(
                f,
                "change {n}: it must be of a task or a server of the tree, not come before the one in front of it, and give \
                 no budget longer than its period"
            ),
            PolicyConfigError::Slot(n) => write!(
                f,
                "slot {n}: its tasks must follow one another in one server of one core, be absent at the start, be released by \
                 time and go on when they overrun; no change may be about them"
            ),
            PolicyConfigError::ChangeEffects(n) => write!(f, "{n} effects of changes: there must be one for each change"),
            PolicyConfigError::ChangeEffect(task) => write!(
                f,
                "task {}: what a change gives it must be of its core, longer than zero and no longer in the LO mode",
                task.0
            ),
            PolicyConfigError::TaskQueue(task) => {
                write!(f, "task {}: it needs a core of its server, to tell in which queue it waits", task.0)
            }
        }
    }
}

impl core::error::Error for PolicyConfigError {}

/// One number is taken for "no task" in records.
pub(crate) const MAX_TASKS: usize = u16::MAX as usize;
