//! The features of a system: what its file says that a test of schedulability may or may not cover ([`Feature`]).
//!
//! Each part of a system is taken apart here by name, without a rest: whoever adds a key to the file has to say here what it makes of a
//! system, or that it makes nothing of it, before anything compiles.

use crate::{
    Body, Component, Machine, Mixed, Partition, Partitions, Platform, Policy, Rights, Schedulers, Scheduling, Server,
    ServerKind, System, Task, TaskPlacement,
};
use tactus_task::{EventRule, Feature, Features, JobAction, Release};
use tactus_time::TaskId;

/// The features of a system, by what has them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SystemFeatures {
    /// Those of its policy and its platform, and those of tasks that wait for each other.
    pub whole: Features,
    /// Those of each task by itself, by `TaskId`.
    pub tasks: Vec<Features>,
    /// Those of each server by itself.
    pub servers: Vec<Features>,
    /// Those of each component by itself, which concern whoever runs.
    pub components: Vec<Features>,
}

impl SystemFeatures {
    /// All that the system has.
    pub fn all(&self) -> Features {
        let parts = self.tasks.iter().chain(&self.servers).chain(&self.components);
        parts.fold(self.whole, |all, one| all.and(*one))
    }
}

impl System {
    /// What the file says that can make a theorem untrue.
    pub fn features(&self) -> SystemFeatures {
        let tasks: Vec<Features> = (0..self.tasks.len()).map(|n| of_task(self, n)).collect();
        let servers = self.scheduling.servers.iter().map(of_server).collect();
        let components = (0..self.components.len()).map(|n| of_component(self, n)).collect();
        // Whom a signal wakes may be anybody, and what that takes of a core is counted for nobody.
        let together = tasks.iter().fold(Features::NONE, |all, one| all.and(*one)).only(EVENTS);
        SystemFeatures { whole: of_whole(self).and(together), tasks, servers, components }
    }
}

/// Jobs that wait for each other.
const EVENTS: Features =
    Features::of(&[Feature::Condition, Feature::Semaphore, Feature::Barrier, Feature::Signal, Feature::AfterItself]);

/// The features for which the condition beside them holds.
fn where_so(all: &[(bool, Feature)]) -> Features {
    all.iter().filter(|(holds, _)| *holds).map(|(_, feature)| *feature).collect()
}

fn of_whole(system: &System) -> Features {
    let System {
        policy,
        machine,
        scheduling,
        platform,
        disks,
        monitors,
        // Each is a feature of its tasks, or of itself.
        tasks: _,
        channels: _,
        mailboxes: _,
        services: _,
        components: _,
        // Their servers count at full budget, as any other, whatever comes into them.
        slots: _,
        loads: _,
        // Counted by their shapes, and by what they take of a core: nothing.
        name: _,
        source: _,
        cores: _,
        memory: _,
        duration: _,
        seed: _,
        notes: _,
        // By which traces of another system are read.
        linux: _,
        // Tasks that release or tell each other.
        chains: _,
    } = system;
    let Machine { shift: _, processor: _, overheads: _, beside: _ } = machine;
    let Scheduling {
        changes,
        schedulers,
        partitions,
        // Features of tasks and servers.
        servers: _,
        places: _,
        resources: _,
        sections: _,
        waits: _,
        events: _,
        programs: _,
        // Parameters of what is a feature itself.
        quantum: _,
        clusters: _,
        misses: _,
        write_backs: _,
        hitm: _,
    } = scheduling;
    let Partitions { schedules, frame: _, list: _, switches: _ } = partitions;
    let Platform {
        colours,
        colour_assignment,
        caches,
        memory,
        // A component's.
        root: _,
        // Who sees and drives what, which takes no time but that of tasks.
        pool: _,
        buffers: _,
        devices: _,
        speculation: _,
    } = platform;
    let of_policy = match policy {
        Policy::PartitionedRm
        | Policy::PartitionedEdf
        | Policy::GlobalRm
        | Policy::GlobalEdf
        | Policy::Ordered { .. }
        | Policy::Partitions => Features::NONE,
        Policy::Mixed(Mixed::Amc) => Features::of(&[Feature::Amc]),
        Policy::Mixed(Mixed::EdfVd) => Features::of(&[Feature::EdfVd]),
        Policy::Mc2 { enforce, slack_shifting } => {
            where_so(&[(!enforce, Feature::Unenforced), (*slack_shifting, Feature::SlackShifting)])
        }
    };
    of_policy.and(where_so(&[
        (!changes.is_empty(), Feature::Reconfiguration),
        (*schedulers == Schedulers::PerServer, Feature::SchedulerPerServer),
        (schedules.len() > 1, Feature::Schedules),
        (*colours > 1 || colour_assignment.is_some(), Feature::Colours),
        (caches.is_some(), Feature::Caches),
        (memory.is_some_and(|it| it.cost.is_some()), Feature::MissCost),
        (!monitors.is_empty(), Feature::Monitor),
        (!disks.is_empty(), Feature::Disk),
    ]))
}

fn of_server(server: &Server) -> Features {
    let Server {
        kind,
        parent,
        background,
        // How what is inside is ordered is a feature of those tasks.
        order: _,
        spread: _,
        clusters: _,
        quantum: _,
        name: _,
        cores: _,
        budget: _,
        period: _,
        write_backs: _,
        priority: _,
        line: _,
    } = server;
    let own = Features::of(&[(*kind).into()]);
    own.and(where_so(&[(parent.is_some(), Feature::NestedServer), (*background, Feature::Background)]))
}

fn of_component(system: &System, n: usize) -> Features {
    let Component { rights, name: _, path: _, slot: _, provides: _, uses: _, line: _ } = &system.components[n];
    let Rights {
        lines,
        ticks,
        // What it does beneath the built-in root is done by tasks, or after a fault.
        scheduler: _,
        threads: _,
        brands: _,
        restart: _,
        // What it may call takes the time of whoever calls.
        console: _,
        memory_manager: _,
        loader: _,
        floating_point: _,
        heap: _,
        heap_by_colour: _,
        counters: _,
    } = rights;
    where_so(&[
        (system.platform.root == Some(n), Feature::ForeignRoot),
        (ticks.is_some(), Feature::Ticks),
        (!lines.is_empty(), Feature::Lines),
    ])
}

fn of_task(system: &System, n: usize) -> Features {
    let Task {
        level,
        offset,
        period,
        deadline,
        body,
        core: _,
        name: _,
        execution: _,
        demand: _,
        minimum: _,
        memory: _,
        line: _,
    } = &system.tasks[n];
    let TaskPlacement {
        threshold,
        overrun,
        virtual_deadline,
        release,
        raised_by,
        interrupt,
        message,
        server,
        priority: _,
        longest_distance: _,
    } = system.scheduling.places.get(n).copied().unwrap_or_default();
    let by_message = message.is_some();
    let mut all = where_so(&[
        (!offset.is_zero(), Feature::Offset),
        (deadline < period, Feature::ConstrainedDeadline),
        (deadline > period, Feature::ArbitraryDeadline),
        (virtual_deadline.is_some(), Feature::VirtualDeadline),
        (threshold.is_some(), Feature::PreemptionThreshold),
        (interrupt.is_some(), Feature::Interrupt),
        (by_message, Feature::Message),
        (raised_by.is_some() && !by_message, Feature::Raised),
        (system.handles(TaskId(n as u16)), Feature::Handler),
        (matches!(body, Body::Component(_)), Feature::Component),
    ]);
    all = all.and(overrun.into()).and(match release {
        Release::Periodic => Features::NONE,
        Release::Sporadic(_) => Features::of(&[Feature::Sporadic]),
        Release::Jittered(_) => Features::of(&[Feature::Jitter]),
        Release::Bursts(..) => Features::of(&[Feature::Burst]),
        Release::After(before, _) if before.index() == n => Features::of(&[Feature::AfterItself]),
        Release::After(..) => Features::of(&[Feature::After]),
    });
    all = all.and(sections(system, n)).and(steps(system, n)).and(messages(system, n));
    all.extend(server.and_then(|server| start(system, server)));
    match (system.policy, level) {
        (Policy::Mc2 { .. }, Some(level)) => all.insert((*level).into()),
        (Policy::Mc2 { .. }, None) | (Policy::Mixed(_), _) => {}
        (
            Policy::PartitionedRm
            | Policy::PartitionedEdf
            | Policy::GlobalRm
            | Policy::GlobalEdf
            | Policy::Ordered { .. }
            | Policy::Partitions,
            _,
        ) => all.extend(system.order_of_queue(n).map(Feature::from)),
    }
    let shares = system.queue_of(n).iter().nth(1).is_some();
    all.and(where_so(&[(
        shares && !matches!(system.policy, Policy::Mc2 { .. } | Policy::Mixed(_)),
        Feature::SharedQueue,
    )]))
}

/// What resources do to the task.
fn sections(system: &System, n: usize) -> Features {
    let (scheduling, own) = (&system.scheduling, system.scheduling.sections_of(n));
    let mut all = Features::NONE;
    for section in own {
        let Some(resource) = scheduling.resources.get(section.resource) else { continue };
        all.insert(match scheduling.spans_cores(section.resource, &system.tasks) {
            true => Feature::SectionAcrossCores,
            false => resource.protocol.into(),
        });
        let nested = own.iter().any(|inner| section.holds(inner));
        all = all.and(where_so(&[(nested, Feature::NestedSections), (resource.withdrawn, Feature::Withdrawn)]));
    }
    all
}

/// What its jobs do beside executing.
fn steps(system: &System, n: usize) -> Features {
    let scheduling = &system.scheduling;
    let mut all = where_so(&[(!scheduling.waits_of(n).is_empty(), Feature::Wait)]);
    let program = scheduling.programs.get(n);
    for step in program.iter().flat_map(|program| program.bodies.iter().flatten()) {
        all.insert(match step.action {
            JobAction::Sleep(_) => Feature::Wait,
            JobAction::Signal(_) | JobAction::Broadcast(_) => Feature::Signal,
            JobAction::Await { event, gives: _ } => match scheduling.events.get(usize::from(event)) {
                Some(EventRule::Semaphore(_)) => Feature::Semaphore,
                Some(EventRule::Barrier(_)) => Feature::Barrier,
                Some(EventRule::Condition) | None => Feature::Condition,
            },
        });
        if let JobAction::Await { gives: Some(_), .. } = step.action {
            all.insert(Feature::Signal);
        }
    }
    all
}

fn messages(system: &System, n: usize) -> Features {
    let channel = system.channels.iter().any(|it| it.source.task == n || it.destinations.iter().any(|to| to.task == n));
    // To its task a mailbox is a queue of messages as any: nobody waits, and no call enters the kernel.
    let channel = channel || system.mailboxes.iter().any(|it| it.task == n);
    let service = system.services.iter().any(|it| it.server == n || it.clients.iter().any(|to| to.tasks.contains(&n)));
    where_so(&[(channel, Feature::Channel), (service, Feature::Service)])
}

/// What the partition that a task is in makes of it.
fn start(system: &System, server: usize) -> Option<Feature> {
    let Partition {
        start_frame,
        late,
        // What is done about errors is an overrun rule, a monitor or a right to restart.
        health: _,
        criticality: _,
        windows: _,
        period: _,
        duration: _,
        components: _,
    } = system.scheduling.partitions.list.get(server)?;
    let windows = system.scheduling.servers[server].kind == ServerKind::Windows;
    (windows && (*start_frame > 0 || *late)).then_some(Feature::StartFrame)
}
