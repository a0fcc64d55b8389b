//! What a run is: its records, and what they are read against. Everything that judges, counts and exports knows these; they know nothing
//! of it.

mod ceiling;
mod chain;
mod change;
mod disk;
mod heap;
mod partition;
mod plain;
mod service;
mod slot;
mod tree;
pub mod written_promise;

pub use ceiling::{CeilingView, ResourceView};
pub use chain::ChainView;
pub use change::{Action, ChangeView, Changes, Now, Target};
pub use disk::{DiskClientView, DiskInput, DiskTrace, DiskView, Served, Tolerated};
pub use heap::HeapUse;
pub use partition::PartitionView;
pub use service::ServiceView;
pub use slot::{LoadView, SlotView};
pub(crate) use tree::new_deadline;
pub use tree::{InTree, Rank, ServerView, TreeChange, TreeView};

use tactus_record::Record;
use tactus_task::{Bound, Release, WaitLimit};
use tactus_time::{CoreId, Duration, Level, TaskId};

/// The records of one run.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Each core's records, in the order in which they happened there.
    pub cores: Vec<Vec<Record>>,
    /// Each core's count of records that did not fit.
    pub dropped: Vec<u64>,
    /// What each disk did. Not part of the trace file.
    pub disks: Vec<DiskTrace>,
    /// What the kernel recorded of monitors on each core, in its order; empty of a run that had none. In the trace file they stand
    /// behind the core's other records.
    pub observed: Vec<Vec<Record>>,
}

/// What a trace has to be read against: the system and the promises made for it.
#[derive(Clone, Debug)]
pub struct View {
    /// Name of the system.
    pub name: String,
    /// Name of the policy, for people: `MC²`, `partitioned EDF` …
    pub policy: String,
    /// Number of cores.
    pub cores: usize,
    /// Length of the run.
    pub duration: Duration,
    /// Whether analysis accepted the system; bounds are promises only if it did.
    pub accepted: bool,
    /// The tasks, by `TaskId`.
    pub tasks: Vec<TaskView>,
    /// Servers and queues, where the policy is such that their rules can be held against the trace; MC² has rules of its
    /// own.
    pub tree: Option<TreeView>,
    /// Chains of tasks of which each releases the next.
    pub chains: Vec<ChainView>,
    /// How the system changes while it runs, if it does.
    pub changes: Option<Changes>,
    /// The slots, and what is to come into them.
    pub slots: Vec<SlotView>,
    /// Disks and what was promised of them; empty where the run has none.
    pub disks: Vec<DiskView>,
    /// Services that tasks give to others by messages.
    pub services: Vec<ServiceView>,
    /// Partitions and their windows; empty where the system has none.
    pub partitions: Vec<PartitionView>,
    /// The monitors, in the order of the file.
    pub monitors: Vec<tactus_monitor::Monitor>,
    /// The names of the servers by the place that records name, the root's first; empty if there are none.
    pub servers: Vec<String>,
    /// What components said of their heaps when the run ended.
    pub heaps: Vec<HeapUse>,
    /// What the machine did that was not decided for it, where whoever ran it found such a thing: a decision that is not the
    /// policy's, a page of a foreign colour, a request that the disk's own rules give to another.
    pub refuted: Option<String>,
    /// The system's own work takes time in the run and the bounds leave it out: who is late then is owed nothing.
    pub uncounted: bool,
}

impl View {
    /// The slot that the task is one of, by its number.
    pub fn slot_of(&self, task: TaskId) -> Option<usize> {
        self.slots.iter().position(|slot| slot.tasks.contains(&task.index()))
    }

    /// To how many clients of disks and chains something is promised, which cannot be judged but from the trace.
    pub fn promised_by_host(&self) -> usize {
        let clients = self.disks.iter().flat_map(|disk| &disk.clients).filter(|client| client.bound.is_some());
        let chains = self.chains.iter().filter(|chain| chain.bound.is_some());
        if self.accepted {
            clients.count() + chains.count()
        } else {
            0
        }
    }
}

/// One task and the promise made for it.
#[derive(Clone, Debug)]
pub struct TaskView {
    /// Name.
    pub name: String,
    /// Criticality, if the policy knows levels.
    pub level: Option<Level>,
    /// Core it is bound to, if any.
    pub core: Option<CoreId>,
    /// What releases its jobs.
    pub releases: Release,
    /// How often and how long its jobs may wait.
    pub waits: WaitLimit,
    /// Release of the first job, of a periodic task.
    pub offset: Duration,
    /// Period.
    pub period: Duration,
    /// Relative deadline.
    pub deadline: Duration,
    /// What was promised.
    pub promise: Option<Bound>,
    /// The longest charge of a job that the analysis of each level, `[A, B, C, D]`, assumed, the system's work on
    /// the job's behalf included; all four the same where the policy knows no levels. A promise binds only while
    /// nobody that it depends on exceeds what was assumed of him. Where nothing is said, promises bind always.
    pub assumed: [Option<Duration>; 4],
    /// What the policy enforces as the longest charge per period, allowance included; nothing if it does not.
    pub budget: Option<Duration>,
    /// The least that a finished job of it can have been charged; a job that ends with less claims an end that it did not
    /// reach. Nothing if the file does not say.
    pub minimum: Option<Duration>,
}
