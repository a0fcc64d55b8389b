//! A system as it was written, before it is known to make sense: every value with its place.

use crate::colour_assignment::Caches;
use crate::problem::Location;
use crate::{
    Criticality, Demand, EarlyArrival, EventRule, HealthAction, Migration, Overrun, Policy, Program, ResourceProtocol,
    SampledEvent, Schedulers, ServerKind, TaskOrder,
};
use std::path::PathBuf;
use std::sync::Arc;
use tactus_monitor::Specification;
use tactus_time::{Duration, Level};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    pub value: T,
    pub place: Location,
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
    pub fn is(value: T, place: Location) -> Self {
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
    pub place: Location,
    pub name: Given<String>,
    pub cores: Given<u64>,
    pub memory: Given<u64>,
    pub duration: Given<Duration>,
    pub seed: Given<u64>,
    pub policy: Given<Policy>,
    pub clusters: Given<Vec<At<Vec<At<u64>>>>>,
    pub quantum: Given<Duration>,
    pub schedulers: Given<Schedulers>,
    pub servers: Vec<DraftServer>,
    pub major_frame: Given<Duration>,
    pub schedules: Vec<At<String>>,
    pub switches: Vec<At<DraftSwitch>>,
    pub partitions: Vec<DraftPartition>,
    pub chains: Vec<DraftChain>,
    pub channels: Vec<DraftChannel>,
    pub services: Vec<DraftService>,
    pub resources: Vec<DraftResource>,
    pub events: Vec<EventRule>,
    pub changes: Vec<DraftChange>,
    pub slots: Vec<DraftSlot>,
    pub loads: Vec<DraftLoad>,
    pub monitors: Vec<DraftMonitor>,
    pub shift: Given<u8>,
    pub overheads: Given<bool>,
    pub processor: Given<crate::Processor>,
    pub tasks: Vec<DraftTask>,
    /// The file has no task at all, as opposed to none that could be read.
    pub no_tasks: bool,
    pub components: Vec<DraftComponent>,
    pub platform: DraftPlatform,
    pub disks: Vec<DraftDisk>,
    pub linux: Vec<DraftLinux>,
    pub sandboxes: Vec<DraftSandbox>,
    pub mailboxes: Vec<DraftMailbox>,
    /// A sandbox may interrupt the cores of others.
    pub open: Given<bool>,
    pub notes: Vec<String>,
}

/// A system of its own on some of the machine's cores.
#[derive(Default)]
pub(crate) struct DraftSandbox {
    pub place: Location,
    /// For messages: `sandbox rich`.
    pub subject: String,
    pub restarts: Given<u64>,
    /// What runs in it.
    pub content: Draft,
}

/// Which thread a task is on Linux.
pub(crate) struct DraftLinux {
    /// The task's name, which is the key.
    pub task: At<String>,
    pub name: Given<String>,
    pub group: Given<String>,
}

/// A mailbox between two sandboxes.
pub(crate) struct DraftMailbox {
    pub place: Location,
    /// For messages: `mailbox "targets"`.
    pub subject: String,
    pub name: Given<String>,
    pub source: Given<DraftMailboxEnd>,
    pub destination: Given<DraftMailboxEnd>,
    pub size: Given<u64>,
    pub depth: Given<u64>,
    pub messages: Given<u64>,
    pub latency: Given<Duration>,
    pub arrival: Given<String>,
}

/// An end of a mailbox: a task of a sandbox.
pub(crate) struct DraftMailboxEnd {
    pub sandbox: String,
    pub port: DraftPort,
}

#[derive(Default)]
pub(crate) struct DraftTask {
    pub place: Location,
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
    pub minimum: Given<Duration>,
    pub memory: Given<u64>,
    pub misses: Given<u64>,
    pub write_backs: Given<u64>,
    pub hitm: Given<u64>,
    pub component: Given<String>,
    pub colours: Vec<At<u64>>,
    pub placing: DraftPlace,
}

/// Where a task is among servers.
#[derive(Default)]
pub(crate) struct DraftPlace {
    pub server: Given<String>,
    pub partition: Given<String>,
    pub cluster: Given<u64>,
    pub priority: Given<u64>,
    pub threshold: Given<u64>,
    pub overrun: Given<Overrun>,
    pub virtual_deadline: Given<Duration>,
    pub sporadic: Given<bool>,
    pub after: Given<String>,
    pub early: Given<EarlyArrival>,
    pub longest_distance: Given<Duration>,
    pub jitter: Given<Duration>,
    pub least_distance: Given<Duration>,
    pub raised_by: Given<String>,
    pub interrupt: Given<u64>,
    pub message: Given<String>,
    pub sections: Given<Vec<DraftSection>>,
    pub waits: Given<Vec<DraftWait>>,
    /// What its jobs do in the middle of their work, where they signal and await events, and whether the task releases itself.
    pub program: Option<(Program, bool)>,
}

/// What one job at a time may hold.
pub(crate) struct DraftResource {
    pub place: Location,
    pub subject: String,
    pub name: Given<String>,
    pub protocol: Given<ResourceProtocol>,
    pub withdrawn: Given<bool>,
}

/// When a job waits.
#[derive(Clone, Debug)]
pub(crate) struct DraftWait {
    pub subject: String,
    pub after: Given<Duration>,
    pub length: Given<Duration>,
    pub actual: Given<Duration>,
}

/// When a job holds a resource.
#[derive(Clone, Debug)]
pub(crate) struct DraftSection {
    pub place: Location,
    pub subject: String,
    pub resource: Given<String>,
    pub after: Given<Duration>,
    pub length: Given<Duration>,
    pub actual: Given<Duration>,
}

pub(crate) struct DraftChain {
    pub place: Location,
    pub subject: String,
    pub name: Given<String>,
    pub tasks: Given<Vec<String>>,
    pub deadline: Given<Duration>,
}

/// Messages from a task to others.
pub(crate) struct DraftChannel {
    pub place: Location,
    pub subject: String,
    pub name: Given<String>,
    pub kind: Given<String>,
    pub source: Given<DraftPort>,
    pub destinations: Given<Vec<At<DraftPort>>>,
    pub size: Given<u64>,
    pub refresh_period: Given<Duration>,
    pub depth: Given<u64>,
    pub messages: Given<u64>,
    pub latency: Given<Duration>,
}

/// A service.
#[derive(Default)]
pub(crate) struct DraftService {
    pub place: Location,
    pub subject: String,
    pub name: Given<String>,
    pub server: Given<String>,
    pub clients: Given<Vec<At<Vec<String>>>>,
    pub order: Given<String>,
    pub requests: Given<u64>,
    pub size: Given<u64>,
    pub latency: Given<Duration>,
    pub shaped: Given<bool>,
}

/// An end of a channel.
#[derive(Clone)]
pub(crate) struct DraftPort {
    pub task: String,
    /// The channel's, if there is none.
    pub name: Option<String>,
}

pub(crate) struct DraftServer {
    pub place: Location,
    pub subject: String,
    pub name: Given<String>,
    pub parent: Given<String>,
    pub cores: Given<Vec<At<u64>>>,
    pub kind: Given<ServerKind>,
    pub budget: Given<Duration>,
    pub period: Given<Duration>,
    pub alpha: Given<f64>,
    pub delta: Given<Duration>,
    pub share: Given<f64>,
    pub works_for: Given<String>,
    pub misses: Given<u64>,
    pub write_backs: Given<u64>,
    pub event: Given<SampledEvent>,
    pub threshold: Given<u64>,
    pub order: Given<(Migration, TaskOrder)>,
    pub clusters: Given<Vec<At<Vec<At<u64>>>>>,
    pub quantum: Given<Duration>,
    pub priority: Given<u64>,
    pub background: Given<bool>,
}

pub(crate) struct DraftPartition {
    pub place: Location,
    /// For messages: `partition "display"`.
    pub subject: String,
    pub name: Given<String>,
    pub criticality: Given<Criticality>,
    pub order: Given<(Migration, TaskOrder)>,
    pub quantum: Given<Duration>,
    pub windows: Given<Vec<At<DraftWindow>>>,
    pub period: Given<Duration>,
    pub duration: Given<Duration>,
    pub start_frame: Given<u64>,
    pub late: Given<bool>,
    pub components: Vec<At<String>>,
    pub background: Given<bool>,
    pub health: Option<DraftHealth>,
}

/// What is done about a partition's errors.
pub(crate) struct DraftHealth {
    pub place: Location,
    pub fault: Given<HealthAction>,
    pub deadline_missed: Given<HealthAction>,
    pub overrun: Given<HealthAction>,
    pub exhausted: Given<HealthAction>,
    pub warm: Given<bool>,
    pub limit: DraftLimit,
}

/// How often something is restarted.
#[derive(Clone, Debug, Default)]
pub(crate) struct DraftLimit {
    pub place: Option<Location>,
    pub most: Given<u64>,
    pub per: Given<Duration>,
}

#[derive(Clone, Debug)]
pub(crate) struct DraftWindow {
    pub core: Given<u64>,
    pub start: Given<Duration>,
    pub length: Given<Duration>,
    pub schedule: Given<String>,
}

/// From one schedule to another.
pub(crate) struct DraftSwitch {
    pub frame: Given<u64>,
    pub schedule: Given<String>,
}

pub(crate) struct DraftChange {
    pub place: Location,
    /// For messages: `change number 2`.
    pub subject: String,
    pub at: Given<Duration>,
    pub add: Given<String>,
    pub remove: Given<String>,
    pub task: Given<String>,
    pub server: Given<String>,
    pub execution: Given<DraftExecution>,
    pub budget: Given<Duration>,
    pub period: Given<Duration>,
    pub deadline: Given<Duration>,
    pub priority: Given<u64>,
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

pub(crate) struct DraftSlot {
    pub place: Location,
    /// For messages: `slot "guest"`.
    pub subject: String,
    pub name: Given<String>,
    pub server: Given<String>,
    pub memory: Given<u64>,
    pub heap: Given<u64>,
    pub tasks: Given<u64>,
    pub class: Given<String>,
    pub uses: Vec<At<DraftGrant>>,
    pub keys: Vec<At<[u8; 32]>>,
    pub older: Given<bool>,
}

/// What is to be done to a slot, and when.
pub(crate) struct DraftLoad {
    pub place: Location,
    /// For messages: `load number 2`.
    pub subject: String,
    pub at: Given<Duration>,
    pub slot: Given<String>,
    pub what: DraftLoadKind,
}

/// What is to be done.
pub(crate) enum DraftLoadKind {
    Load(Given<DraftPackage>),
    Unload,
    Save,
    /// By the name of the slot of which it was saved, if that is another one.
    Restore(Given<String>),
    Update(Given<DraftPackage>, DraftUpdate),
}

/// A pair of slots whose program is updated.
pub(crate) struct DraftUpdate {
    pub slots: Vec<At<String>>,
    pub state: Given<String>,
    pub trial: Given<u64>,
}

/// A package, as it is in its file.
pub(crate) struct DraftPackage {
    pub path: PathBuf,
    pub bytes: Arc<[u8]>,
}

pub(crate) struct DraftMonitor {
    pub place: Location,
    /// For messages: `monitor "order"`.
    pub subject: String,
    pub name: Given<String>,
    pub property: Given<String>,
    /// An automaton of another tool, in place of a property.
    pub model: Given<Specification>,
    /// Names, and what happens.
    pub events: Vec<(At<String>, At<String>)>,
    pub automata: Vec<DraftAutomaton>,
    pub encoding: Given<String>,
    pub minimise: Given<bool>,
    pub reset: Given<bool>,
    pub table_limit: Given<u64>,
    pub action: Given<String>,
}

pub(crate) struct DraftAutomaton {
    pub name: Given<String>,
    pub states: Vec<At<String>>,
    /// State, event, state.
    pub transitions: Vec<[String; 3]>,
}

pub(crate) struct DraftComponent {
    pub place: Location,
    pub subject: String,
    pub name: Given<String>,
    pub path: Given<PathBuf>,
    pub provides: Vec<At<String>>,
    pub uses: Vec<At<DraftGrant>>,
    pub colours: Vec<At<u64>>,
    pub rights: DraftRights,
    /// The slot whose programs it is, by its place.
    pub slot: Option<usize>,
}

/// What a component may do beside calls.
#[derive(Default)]
pub(crate) struct DraftRights {
    pub scheduler: Given<bool>,
    pub parent: Given<String>,
    pub threads: Given<u64>,
    pub brands: Given<u64>,
    pub lines: Vec<At<u64>>,
    pub ticks: Given<Duration>,
    pub console: Given<bool>,
    pub memory_manager: Given<bool>,
    pub loader: Given<bool>,
    pub floating_point: Given<bool>,
    pub heap: Given<u64>,
    pub heap_by_colour: Given<bool>,
    pub counters: Given<bool>,
    pub restarted_by: Given<String>,
    pub restarts: DraftLimit,
    /// Once it was restarted as often as it may be, it waits until it may again.
    pub restarts_wait: bool,
}

impl DraftRights {
    /// Whether threads may begin in it that are no task's.
    pub fn runs_by_itself(&self) -> bool {
        self.scheduler.value() == Some(true) || self.threads.value().is_some_and(|threads| threads > 0)
    }
}

/// How many colours memory has.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DraftColours {
    Count(u64),
    FromGeometry,
}

/// Root scheduler, shared memory and devices.
#[derive(Default)]
pub(crate) struct DraftPlatform {
    pub root: Given<String>,
    pub colours: Given<DraftColours>,
    pub geometry: Given<Caches>,
    pub line: Given<Duration>,
    pub miss_cost: Given<Duration>,
    pub write_back_cost: Given<Duration>,
    pub kernel: Vec<At<u64>>,
    pub pool: Given<u64>,
    pub buffers: Vec<DraftBuffer>,
    pub devices: Vec<DraftDevice>,
    pub accepts_meltdown: Given<bool>,
    pub branch_barriers: Given<bool>,
}

pub(crate) struct DraftBuffer {
    pub place: Location,
    pub subject: String,
    pub name: Given<String>,
    pub size: Given<u64>,
    pub between: Vec<At<String>>,
    pub read_only: Given<String>,
    pub colours: Vec<At<u64>>,
}

pub(crate) struct DraftDevice {
    pub place: Location,
    pub subject: String,
    pub name: Given<String>,
    pub component: Given<String>,
    pub kind: Given<String>,
    pub address: Given<u64>,
    pub id: Given<String>,
    pub bar: Given<u64>,
    pub size: Given<u64>,
    pub dma: Given<u64>,
}

/// `name = "component.service"`.
#[derive(Clone)]
pub(crate) struct DraftGrant {
    pub name: String,
    pub provider: String,
    pub service: String,
}

pub(crate) struct DraftDisk {
    pub place: Location,
    pub subject: String,
    pub name: Given<String>,
    pub drive: Given<String>,
    pub actual: Given<String>,
    pub queue: Given<String>,
    pub look_ahead: Given<u64>,
    pub map: Given<String>,
    pub component: Given<String>,
    pub write_cache: Given<u64>,
    pub faults: DraftFaults,
    pub clients: Vec<DraftClient>,
}

/// What a drive does wrong, and how much of it the check counts on.
#[derive(Default)]
pub(crate) struct DraftFaults {
    pub tolerated: Given<u64>,
    pub failed: Given<u64>,
    pub short: Given<u64>,
    pub silent: Given<u64>,
    pub unasked: Given<u64>,
    pub power_cuts: Given<Duration>,
}

pub(crate) struct DraftClient {
    pub place: Location,
    pub subject: String,
    pub name: Given<String>,
    pub start: Given<u64>,
    pub extent: Given<u64>,
    pub places: Given<u64>,
    pub size: Given<u64>,
    pub write: Given<bool>,
    pub offset: Given<Duration>,
    pub period: Given<Duration>,
    pub deadline: Given<Duration>,
    pub best_effort: Given<u64>,
    pub budget: Given<Duration>,
    pub per: Given<Duration>,
    pub buffer: Given<String>,
}
