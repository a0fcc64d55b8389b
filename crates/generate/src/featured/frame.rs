//! What a system with given features stands on: its policy, its queues and servers, and tasks in each of them.

use crate::random::Random;
use crate::trees::timed;
use crate::{critical, plain, scaled, Draw};
use tactus_model::{
    Feature, Health, Migration, Mixed, Partition, Partitions, Policy, Schedulers, Scheduling, Server, ServerKind,
    System, Task, TaskOrder, TaskPlacement, Window,
};
use tactus_time::{CoreId, CoreSet, Duration, Level};

const CORES: usize = 2;

/// The kinds of policies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Queues,
    Servers,
    Partitions,
    Mixed(Mixed),
    Mc2,
}

/// What a feature asks of the kind: one of these, or any.
enum Needs {
    Any,
    Order,
    One(Kind),
}

fn needs(feature: Feature) -> Needs {
    match feature {
        Feature::FixedPriority
        | Feature::RateMonotonic
        | Feature::DeadlineMonotonic
        | Feature::EarliestDeadline
        | Feature::LeastLaxity
        | Feature::LaxityAtRelease
        | Feature::ShortestJob
        | Feature::SlackMonotonic
        | Feature::FirstComeFirstServed
        | Feature::RoundRobin
        | Feature::FixedPriorityRoundRobin
        | Feature::SharedQueue => Needs::Order,
        Feature::ServerPeriodic
        | Feature::ServerPolling
        | Feature::ServerSporadicPolling
        | Feature::ServerDeferrable
        | Feature::ServerSporadic
        | Feature::ServerSoftBandwidth
        | Feature::ServerHardBandwidth
        | Feature::ServerPriorityInheriting
        | Feature::ServerReclaiming
        | Feature::ServerMisses
        | Feature::ServerYieldingToChanged
        | Feature::ServerYieldingToMisses
        | Feature::NestedServer
        | Feature::SchedulerPerServer => Needs::One(Kind::Servers),
        Feature::ServerWindows | Feature::Schedules | Feature::StartFrame => Needs::One(Kind::Partitions),
        Feature::Amc => Needs::One(Kind::Mixed(Mixed::Amc)),
        Feature::EdfVd => Needs::One(Kind::Mixed(Mixed::EdfVd)),
        Feature::LevelA
        | Feature::LevelB
        | Feature::LevelC
        | Feature::LevelD
        | Feature::Unenforced
        | Feature::SlackShifting => Needs::One(Kind::Mc2),
        Feature::Offset
        | Feature::Sporadic
        | Feature::Burst
        | Feature::Jitter
        | Feature::After
        | Feature::AfterItself
        | Feature::Interrupt
        | Feature::Message
        | Feature::Raised
        | Feature::Handler
        | Feature::ConstrainedDeadline
        | Feature::ArbitraryDeadline
        | Feature::VirtualDeadline
        | Feature::SectionNonPreemptive
        | Feature::SectionCeiling
        | Feature::SectionInheritance
        | Feature::SectionMsrp
        | Feature::SectionFmlp
        | Feature::SectionAcrossCores
        | Feature::NestedSections
        | Feature::Withdrawn
        | Feature::PreemptionThreshold
        | Feature::Wait
        | Feature::Condition
        | Feature::Semaphore
        | Feature::Barrier
        | Feature::Signal
        | Feature::Skip
        | Feature::Stop
        | Feature::Kill
        | Feature::Component
        | Feature::Channel
        | Feature::Service
        | Feature::Background
        | Feature::Reconfiguration
        | Feature::ForeignRoot
        | Feature::Ticks
        | Feature::Lines
        | Feature::Monitor
        | Feature::Disk
        | Feature::Colours
        | Feature::Caches
        | Feature::MissCost => Needs::Any,
    }
}

impl Kind {
    /// The kind for these features; nothing if they need two.
    pub fn of(wanted: &[Feature], random: &mut Random) -> Option<Kind> {
        let (mut kind, mut order) = (None, false);
        for feature in wanted {
            match needs(*feature) {
                Needs::Any => {}
                Needs::Order => order = true,
                Needs::One(other) if kind.is_some_and(|kind| kind != other) => return None,
                Needs::One(other) => kind = Some(other),
            }
        }
        if order && matches!(kind, Some(Kind::Mixed(_) | Kind::Mc2)) {
            return None;
        }
        let with_order = [Kind::Queues, Kind::Queues, Kind::Servers, Kind::Partitions];
        let all = [
            Kind::Queues,
            Kind::Queues,
            Kind::Servers,
            Kind::Partitions,
            Kind::Mixed(Mixed::Amc),
            Kind::Mixed(Mixed::EdfVd),
            Kind::Mc2,
        ];
        let drawn = if order { *random.of(&with_order) } else { *random.of(&all) };
        // A queue of several cores is the root's, or a server's; partitions have one for each core.
        let shared = wanted.contains(&Feature::SharedQueue);
        match kind {
            Some(Kind::Partitions) if shared => None,
            None if shared && drawn == Kind::Partitions => Some(Kind::Queues),
            // What goes on in the background is a server, or a partition.
            None if wanted.contains(&Feature::Background) => {
                Some(if shared || random.chance(0.7) { Kind::Servers } else { Kind::Partitions })
            }
            kind => Some(kind.unwrap_or(drawn)),
        }
    }
}

/// The orders and kinds of servers that are wished for.
pub(super) struct Frame<'r> {
    kind: Kind,
    wanted: &'r [Feature],
    orders: Vec<TaskOrder>,
    kinds: Vec<ServerKind>,
    random: &'r mut Random,
}

impl<'r> Frame<'r> {
    pub fn new(kind: Kind, wanted: &'r [Feature], random: &'r mut Random) -> Frame<'r> {
        let orders = TaskOrder::ALL.into_iter().filter(|order| wanted.contains(&Feature::from(*order))).collect();
        let kinds = ServerKind::ALL.into_iter().filter(|kind| wanted.contains(&Feature::from(*kind))).collect();
        Frame { kind, wanted, orders, kinds, random }
    }

    fn has(&self, feature: Feature) -> bool {
        self.wanted.contains(&feature)
    }

    /// The next order that is wished for, or any.
    fn order(&mut self, of_servers: bool) -> TaskOrder {
        let wished = self.orders.iter().position(|order| !of_servers || order.orders_servers());
        match wished {
            Some(place) => self.orders.remove(place),
            None if of_servers => TaskOrder::ALL[self.random.below(4) as usize],
            None => *self.random.of(&TaskOrder::ALL),
        }
    }

    /// The system, with tasks in each queue that ask for this share of what it has.
    pub fn system(mut self, load: f64, seed: u64) -> System {
        let policy = match self.kind {
            Kind::Queues => self.queues(),
            Kind::Servers => {
                let order = self.order(true);
                Policy::Ordered { spread: Migration::Partitioned, order }
            }
            Kind::Partitions => Policy::Partitions,
            Kind::Mixed(scheme) => Policy::Mixed(scheme),
            Kind::Mc2 => Policy::Mc2 {
                enforce: !self.has(Feature::Unenforced),
                slack_shifting: self.has(Feature::SlackShifting),
            },
        };
        let duration = Duration::from_millis(400);
        let mut system = Draw { seed, policy, cores: CORES, tasks: 6, utilisation: load, duration }.system();
        system.name = format!("featured-{seed}");
        system.machine.overheads = self.random.chance(0.3);
        match self.kind {
            Kind::Queues => {
                if let Policy::Ordered { order, .. } = policy {
                    system.scheduling.quantum = quantum(order);
                }
            }
            Kind::Servers => self.servers(&mut system, load),
            Kind::Partitions => self.partitions(&mut system, load),
            Kind::Mixed(_) => {}
            Kind::Mc2 => self.levels(&mut system, load),
        }
        let tasks = system.tasks.len();
        system.scheduling.places.resize(tasks, TaskPlacement::default());
        for (n, place) in system.scheduling.places.iter_mut().enumerate() {
            place.priority = 1_000 - (system.tasks[n].period.as_nanos() / 1_000_000) as u32;
        }
        for task in &mut system.tasks {
            task.offset = Duration::ZERO;
            // What the least critical level assumes: nobody is owed anything less then.
            task.demand =
                tactus_model::Demand::Fixed(task.execution.iter().flatten().copied().min().unwrap_or_default());
            if !matches!(policy, Policy::Mc2 { .. }) {
                task.deadline = task.period;
            }
        }
        system
    }

    fn queues(&mut self) -> Policy {
        let order = self.order(false);
        let spread = match self.has(Feature::SharedQueue) {
            true => Migration::Global,
            false => Migration::Partitioned,
        };
        Policy::Ordered { spread, order }
    }

    /// A task for each core beside servers, and on each core some servers with a task or two inside.
    fn servers(&mut self, system: &mut System, load: f64) {
        system.tasks.clear();
        system.scheduling = Scheduling::default();
        if self.has(Feature::SchedulerPerServer) {
            system.scheduling.schedulers = Schedulers::PerServer;
        }
        let mut left = [0.8; CORES];
        // Beside a server that reclaims are none but servers.
        let reclaims = self.has(Feature::ServerReclaiming);
        for (core, left) in left.iter_mut().enumerate().filter(|_| !reclaims) {
            self.task(system, None, Some(core), *left * load * 0.3);
            *left -= 0.1;
        }
        let mut kinds = std::mem::take(&mut self.kinds);
        kinds.retain(|kind| *kind != ServerKind::Windows);
        let least = kinds.len().max(self.orders.len()).max(1 + usize::from(self.has(Feature::NestedServer)));
        let count = least + self.random.below(2) as usize;
        for n in 0..count {
            let kind = kinds.get(n).copied().unwrap_or_else(|| match reclaims {
                true => ServerKind::HardBandwidth,
                false => *self.random.of(&timed().collect::<Vec<_>>()),
            });
            let shared = n == 0 && self.has(Feature::SharedQueue);
            let parent = (n > 0 && self.has(Feature::NestedServer)).then(|| n - 1);
            let (cores, spread) = match (shared, parent) {
                (true, _) => (CoreSet::first(CORES), Migration::Global),
                (_, Some(outer)) => (system.scheduling.servers[outer].cores, Migration::Partitioned),
                // Two of them beside each other.
                _ => (CoreSet::from_bits(1 << (n / 2 % CORES)), Migration::Partitioned),
            };
            // What has a server inside orders it.
            let around = self.has(Feature::NestedServer) && n + 1 < count;
            // What is wished for may lie in a later one.
            let later = n + self.orders.len() < count && self.random.chance(0.5);
            let order = if later && !around { *self.random.of(&TaskOrder::ALL) } else { self.order(around) };
            let share = match parent {
                Some(outer) => {
                    let it = &system.scheduling.servers[outer];
                    0.6 * it.budget.as_nanos() as f64 / it.period.as_nanos() as f64
                }
                None => cores.iter().map(|core| left[core.index()]).fold(1.0, f64::min) * 0.5,
            };
            if parent.is_none() {
                cores.iter().for_each(|core| left[core.index()] -= share);
            }
            let period = Duration::from_millis(self.random.between(8, 30));
            let place = system.scheduling.servers.len();
            let name = format!("s{place}");
            let background = n == 0 && self.has(Feature::Background);
            let budget = scaled(period, share);
            let migration = if around { Migration::Partitioned } else { spread };
            system.scheduling.servers.push(Server {
                parent,
                cores,
                kind,
                budget,
                period,
                order,
                spread: migration,
                quantum: quantum(order),
                background,
                ..server(name)
            });
            let core = match migration {
                Migration::Partitioned => cores.iter().next().map(CoreId::index),
                Migration::Clustered | Migration::Global => None,
            };
            for _ in 0..self.random.between(1, 2) {
                self.task(system, Some(place), core, share * load * 0.3);
            }
        }
    }

    /// Two partitions with windows on both cores; a third schedule in which they change places.
    fn partitions(&mut self, system: &mut System, load: f64) {
        system.tasks.clear();
        let frame = Duration::from_millis(20);
        let half = frame / 2;
        let schedules: u8 = if self.has(Feature::Schedules) { 2 } else { 1 };
        let mut partitions = Partitions { frame, ..Partitions::default() };
        if schedules > 1 {
            partitions.schedules = vec!["day".into(), "night".into()];
        }
        system.scheduling = Scheduling::default();
        for n in 0..2_u64 {
            let window = |core: u8, schedule: u8| {
                let start = if (n + u64::from(core) + u64::from(schedule)) % 2 == 0 { Duration::ZERO } else { half };
                Window { core: CoreId(core), start, length: half, schedule }
            };
            let windows = (0..schedules).flat_map(|schedule| (0..CORES as u8).map(move |core| (core, schedule)));
            let windows = windows.map(|(core, schedule)| window(core, schedule)).collect();
            let order = self.order(false);
            let start_frame = u64::from(n == 1 && self.has(Feature::StartFrame));
            partitions.list.push(Partition {
                criticality: None,
                start_frame,
                late: false,
                windows,
                period: frame,
                duration: half,
                components: Vec::new(),
                health: Health::default(),
            });
            system.scheduling.servers.push(Server {
                cores: CoreSet::first(CORES),
                kind: ServerKind::Windows,
                budget: half,
                period: frame,
                order,
                quantum: quantum(order),
                background: n == 0 && self.has(Feature::Background),
                ..server(format!("p{n}"))
            });
            for core in 0..CORES {
                for _ in 0..2 {
                    self.task(system, Some(n as usize), Some(core), 0.5 * load * 0.4);
                }
            }
        }
        system.scheduling.partitions = partitions;
    }

    /// Two tasks of each level that is wished for, and one of each other.
    fn levels(&mut self, system: &mut System, load: f64) {
        system.tasks.clear();
        for core in 0..CORES {
            for (level, share) in [(Level::A, 0.3), (Level::B, 0.2)] {
                system.tasks.push(critical(self.random, level, CoreId(core as u8), share * load));
            }
        }
        for level in [Level::C, Level::C, Level::D] {
            let mut task = plain(self.random, 0.3 * load);
            task.level = Some(level);
            (task.execution[0], task.execution[1]) = (None, None);
            if level == Level::D {
                task.execution[2] = None;
            }
            task.deadline = task.period;
            system.tasks.push(task);
        }
        for (n, task) in system.tasks.iter_mut().enumerate() {
            task.name = format!("t{n}");
        }
    }

    fn task(&mut self, system: &mut System, server: Option<usize>, core: Option<usize>, share: f64) {
        let task = plain(self.random, share);
        let (name, core) = (format!("t{}", system.tasks.len()), core.map(|core| CoreId(core as u8)));
        system.tasks.push(Task { name, core, ..task });
        system.scheduling.places.push(TaskPlacement { server, ..TaskPlacement::default() });
    }
}

fn quantum(order: TaskOrder) -> Duration {
    match order.has_quantum() {
        true => Duration::from_millis(2),
        false => Duration::ZERO,
    }
}

fn server(name: String) -> Server {
    Server {
        name,
        parent: None,
        cores: CoreSet::first(1),
        kind: ServerKind::Deferrable,
        budget: Duration::ZERO,
        period: Duration::ZERO,
        write_backs: None,
        order: TaskOrder::FixedPriority,
        spread: Migration::Partitioned,
        clusters: Vec::new(),
        quantum: Duration::ZERO,
        priority: 500,
        background: false,
        line: 0,
    }
}
