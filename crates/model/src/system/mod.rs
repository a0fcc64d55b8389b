//! A system, as one file describes it: what it consists of. Everything that reads, checks and derives knows these types; they know nothing
//! of it.

mod chain;
mod change;
mod linux;
mod partition;
mod processor;
mod resource;
mod scheduling;
mod service;
mod slot;
mod wait;

pub use chain::Chain;
pub use change::{Action, Change, Part, Values};
pub use linux::LinuxThread;
pub use partition::{Criticality, Health, HealthAction, Partition, Partitions};
pub use processor::Processor;
pub use resource::{Resource, Section};
pub use scheduling::{Migration, Schedulers, Scheduling, Server, TaskPlacement};
pub use service::{Service, ServiceClient};
pub(crate) use slot::own_pages;
pub use slot::{Load, LoadKind, Slot};
pub use wait::Wait;

use crate::channel::Channel;
use crate::disk::Disk;
use crate::mailbox::MailboxPort;
use crate::platform::{Platform, Rights};
use std::path::PathBuf;
use tactus_task::TaskOrder;
use tactus_time::{CoreId, Duration, Level};

/// A whole system, as one file describes it. Everything in it has been validated.
#[derive(Clone, Debug)]
pub struct System {
    /// Short name; names the output folder.
    pub name: String,
    /// The file it was read from.
    pub source: PathBuf,
    /// Number of cores, 1 to 8.
    pub cores: usize,
    /// Memory of the machine in bytes.
    pub memory: u64,
    /// How long the system runs.
    pub duration: Duration,
    /// Seed of everything that is drawn at random.
    pub seed: u64,
    /// The root policy.
    pub policy: Policy,
    /// The machine it runs on.
    pub machine: Machine,
    /// Tasks, in file order. A `TaskId` is an index into this.
    pub tasks: Vec<Task>,
    /// The user's own components, in file order.
    pub components: Vec<Component>,
    /// Order, queues and servers, as far as they are more than the policy tells.
    pub scheduling: Scheduling,
    /// Chains of tasks of which each releases the next.
    pub chains: Vec<Chain>,
    /// Channels between tasks, in file order.
    pub channels: Vec<Channel>,
    /// Its ends of mailboxes between sandboxes, in the order of the whole's file.
    pub mailboxes: Vec<MailboxPort>,
    /// Services that tasks give to others by messages, in file order.
    pub services: Vec<Service>,
    /// Places for programs that come while it runs, in file order.
    pub slots: Vec<Slot>,
    /// What comes and goes when, in the order of time.
    pub loads: Vec<Load>,
    /// Root scheduler, shared memory and devices.
    pub platform: Platform,
    /// Disks, in file order.
    pub disks: Vec<Disk>,
    /// Which threads tasks are on Linux, where the file says so.
    pub linux: Vec<LinuxThread>,
    /// The monitors, in file order. Each has been built once and found to fit.
    pub monitors: Vec<tactus_monitor::Monitor>,
    /// What a person should know about how the file was taken, one sentence each: what was ignored, what was assumed.
    pub notes: Vec<String>,
}

/// The root policy and its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// Rate-monotonic, every task bound to a core.
    PartitionedRm,
    /// Earliest deadline first, every task bound to a core.
    PartitionedEdf,
    /// Rate-monotonic over all cores.
    GlobalRm,
    /// Earliest deadline first over all cores.
    GlobalEdf,
    /// Any other order, and every order where there are servers, overrun rules or priorities: see
    /// [`System::scheduling`].
    Ordered {
        /// How cores share the root's queue.
        spread: Migration,
        /// How the root orders.
        order: TaskOrder,
    },
    /// Two levels of criticality on each core by itself: level A is HI, level B is LO.
    Mixed(Mixed),
    /// Partitions, each with its windows in a major frame: [`Scheduling::partitions`].
    Partitions,
    /// Mixed criticality on multicore.
    Mc2 {
        /// Hold tasks of levels A to C to their budgets (default true).
        enforce: bool,
        /// Let finished jobs go on as ghosts (default true).
        slack_shifting: bool,
    },
}

/// How a core orders jobs of two levels of criticality, and which of them it gives up when a critical one takes longer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mixed {
    /// `amc`: fixed priorities (adaptive mixed criticality: Baruah, Burns and Davis, RTSS 2011).
    Amc,
    /// `edf-vd`: earliest deadline, with earlier virtual deadlines for critical tasks until one of them takes longer
    /// (Baruah et al., ECRTS 2012); which: [`System::virtual_deadlines`].
    EdfVd,
}

impl Policy {
    /// Whether tasks have levels of criticality.
    pub const fn has_levels(&self) -> bool {
        matches!(self, Policy::Mc2 { .. } | Policy::Mixed(_))
    }
}

/// The emulated machine's parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Machine {
    /// One guest instruction takes 2^shift ns of virtual time (0 to 6; default 1).
    pub shift: u8,
    /// Its processor.
    pub processor: Processor,
    /// Whether bounds count what the system's own work costs (default true). Budgets that are enforced hold it in any case.
    pub overheads: bool,
    /// Cores of the machine beside the system's: those of other sandboxes. Where cores take turns they take time of these.
    pub beside: usize,
}

/// A sporadic or periodic task.
#[derive(Clone, Debug)]
pub struct Task {
    /// Name, unique.
    pub name: String,
    /// Criticality level; present if and only if the policy has levels ([`Policy::has_levels`]). With two levels, A is HI
    /// and B is LO.
    pub level: Option<Level>,
    /// The core it is bound to; present where the policy binds tasks (partitioned; MC² levels A and B).
    pub core: Option<CoreId>,
    /// Release of the first job.
    pub offset: Duration,
    /// Time between releases.
    pub period: Duration,
    /// Relative deadline (default: the period).
    pub deadline: Duration,
    /// Execution time as assumed at each level, `[A, B, C, D]`. Without levels all four are the same.
    /// Under MC², levels above the task's own may be absent; with two levels, C and D always are.
    pub execution: [Option<Duration>; 4],
    /// What jobs really take.
    pub demand: Demand,
    /// The least that any job takes; a job that ends with less did not do its work. Nothing if the file does not say.
    pub minimum: Option<Duration>,
    /// Bytes of private memory that each job touches (default 0).
    pub memory: u64,
    /// What the jobs run.
    pub body: Body,
    /// Line of the system file at which the task begins, for messages.
    pub line: usize,
}

/// What jobs really take.
#[derive(Clone, PartialEq, Debug)]
pub enum Demand {
    /// Every job the same.
    Fixed(Duration),
    /// Uniform between the two, both included.
    Uniform {
        /// Least.
        min: Duration,
        /// Most.
        max: Duration,
    },
    /// With probability `1 - probability` the time `usual`; else a beta sample in (0,1) with `mean` and `deviation`,
    /// times `scale` (the MC² robustness model; probability 1 gives a plain beta distribution).
    Beta {
        /// Time of an ordinary job.
        usual: Duration,
        /// Longest time.
        scale: Duration,
        /// Probability of a beta-distributed job.
        probability: f64,
        /// Mean of the beta sample.
        mean: f64,
        /// Standard deviation of the beta sample.
        deviation: f64,
    },
    /// Read from a file, repeated when it is used up. Never empty.
    List(Vec<Duration>),
}

/// What a task's jobs run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// The built-in workload: burns its demand, touching its memory.
    Workload,
    /// One of the user's components, by its place in [`System::components`].
    Component(usize),
}

/// A component of the user's own: a crate anywhere on disk.
#[derive(Clone, Debug)]
pub struct Component {
    /// Name, unique.
    pub name: String,
    /// Folder of the crate, absolute; empty for the component of a slot.
    pub path: PathBuf,
    /// The slot whose programs it is, by its place in [`System::slots`]; nothing for one of the user's own.
    pub slot: Option<usize>,
    /// Services that others may be granted, each an exported function.
    pub provides: Vec<String>,
    /// What it may call: its own name for the service, and whose it is.
    pub uses: Vec<Grant>,
    /// What it may do beside that.
    pub rights: Rights,
    /// Line of the system file at which the component begins.
    pub line: usize,
}

/// The right to call one service of another component.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grant {
    /// The name by which the holder calls it.
    pub name: String,
    /// Place of the provider in [`System::components`].
    pub provider: usize,
    /// Name of the service there.
    pub service: String,
}
