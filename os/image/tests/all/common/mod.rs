//! Small programs and systems to build images from.

pub mod draft;
pub mod elf;

use elf::{Elf, Segment, EXECUTE, READ, WRITE};
use std::path::PathBuf;
use tactus_image::{build, fits, ChildScheduler, Image, ImageError, Request, SlotSupply};
use tactus_model::{Body, Component, Demand, Grant, Machine, Platform, Policy, Rights, System, Task};
use tactus_task::Bound;
use tactus_time::{CoreId, Duration};

/// Where the small programs lie.
pub const BASE: u64 = 0x40_0000;

/// A program with code at 0x401000, constants at 0x400000 that name these services, and two pages of data at
/// 0x403000, of which the first begins with `mark`.
pub fn program(services: &[&str], mark: u8) -> Vec<u8> {
    let mut constants = Vec::new();
    let names = 0x40_0000 + 24 * services.len() as u64;
    let mut at = names;
    for (place, service) in services.iter().enumerate() {
        for word in [at, service.len() as u64, 0x40_1010 + 16 * place as u64] {
            constants.extend_from_slice(&u64::to_le_bytes(word));
        }
        at += service.len() as u64;
    }
    constants.extend(services.iter().flat_map(|service| service.bytes()));
    constants.push(mark);
    let table = ("TACTUS_SERVICES".to_string(), 0x40_0000, 24 * services.len() as u64);
    Elf {
        segments: vec![
            Segment::new(0x40_0000, READ, constants),
            Segment::new(0x40_1000, READ | EXECUTE, vec![mark; 0x1234]),
            Segment { bytes: 0x2000, ..Segment::new(0x40_3000, READ | WRITE, vec![mark; 16]) },
        ],
        entry: 0x40_1000,
        symbols: if services.is_empty() { Vec::new() } else { vec![table] },
        ..Elf::default()
    }
    .write()
}

/// A task of the built-in workload: 1 ms every 10 ms.
pub fn task(name: &str, core: Option<u8>) -> Task {
    Task {
        name: name.to_string(),
        level: None,
        core: core.map(CoreId),
        offset: Duration::ZERO,
        period: Duration::from_millis(10),
        deadline: Duration::from_millis(10),
        execution: [Some(Duration::from_millis(1)); 4],
        demand: Demand::Fixed(Duration::from_millis(1)),
        minimum: None,
        memory: 0,
        body: Body::Workload,
        line: 10,
    }
}

/// A component that provides and uses these services; a use is `(own name, provider, service)`.
pub fn component(name: &str, provides: &[&str], uses: &[(&str, usize, &str)]) -> Component {
    let grant = |(name, provider, service): &(&str, usize, &str)| Grant {
        name: name.to_string(),
        provider: *provider,
        service: service.to_string(),
    };
    Component {
        name: name.to_string(),
        path: PathBuf::from("/crates").join(name),
        slot: None,
        provides: provides.iter().map(ToString::to_string).collect(),
        uses: uses.iter().map(grant).collect(),
        rights: Rights::default(),
        line: 30,
    }
}

/// A system of partitioned tasks for one second.
pub fn system(cores: usize, tasks: Vec<Task>, components: Vec<Component>) -> System {
    System {
        name: "bench".to_string(),
        source: PathBuf::from("bench.toml"),
        cores,
        memory: 128 << 20,
        duration: Duration::from_secs(1),
        seed: 7,
        policy: Policy::PartitionedEdf,
        chains: Vec::new(),
        channels: Vec::new(),
        mailboxes: Vec::new(),
        services: Vec::new(),
        slots: Vec::new(),
        loads: Vec::new(),
        machine: Machine { shift: 3, processor: Default::default(), overheads: true, beside: 0 },
        tasks,
        components,
        scheduling: tactus_model::Scheduling::default(),
        platform: Platform::default(),
        disks: Vec::new(),
        monitors: Vec::new(),
        linux: Vec::new(),
        notes: Vec::new(),
    }
}

/// Two cores; two workload tasks, one with drawn demands and memory; a controller with two tasks that calls a filter,
/// which calls a log.
pub fn example() -> System {
    let mut drawn = task("drawn", Some(1));
    drawn.demand = Demand::Uniform { min: Duration::from_micros(500), max: Duration::from_millis(1) };
    drawn.memory = 10_000;
    let mut fast = task("fast", Some(0));
    fast.body = Body::Component(0);
    let mut slow = task("slow", Some(1));
    slow.body = Body::Component(0);
    let controller = component("controller", &[], &[("smooth", 1, "filter")]);
    let filter = component("filter", &["filter", "reset"], &[("write", 2, "log")]);
    system(
        2,
        vec![task("plain", Some(0)), drawn, fast, slow],
        vec![controller, filter, component("log", &["log"], &[])],
    )
}

/// A program for each component of the system, with the services that it says it provides.
pub fn programs(system: &System) -> Vec<Vec<u8>> {
    let services = system.components.iter().map(|it| it.provides.iter().map(String::as_str).collect::<Vec<_>>());
    services.enumerate().map(|(place, services)| program(&services, 0x40 + place as u8)).collect()
}

/// Builds the image of a system with these programs.
pub fn image_with(
    system: &System,
    scheduler: &[u8],
    workload: &[u8],
    components: &[Vec<u8>],
) -> Result<Image, ImageError> {
    let promises = vec![Some(Bound::Response(Duration::from_millis(9))); system.tasks.len()];
    build(&request(system, &promises, (scheduler, workload), components))
}

/// Why the system fits into its machine with no programs.
pub fn unfit(system: &System) -> Option<ImageError> {
    let promises = vec![None; system.tasks.len()];
    fits(&request(system, &promises, (&[], &[]), &[])).err()
}

/// What programs in slots are given.
const SUPPLIES: [SlotSupply; 2] = [SlotSupply {
    budget: Duration::from_millis(2),
    period: Duration::from_millis(10),
    blackout: Duration::from_millis(16),
    earliest_deadline: true,
    cost_of_job: Duration::from_micros(20),
}; 2];

fn request<'a>(
    system: &'a System,
    promises: &'a [Option<Bound>],
    (scheduler, workload): (&'a [u8], &'a [u8]),
    components: &'a [Vec<u8>],
) -> Request<'a> {
    Request {
        system,
        plan: b"a plan",
        promises,
        promised_by_host: 0,
        scheduler,
        children: &[],
        workload,
        components,
        told: &[],
        slots: &SUPPLIES[..system.slots.len()],
        trials: &[],
    }
}

/// Builds the image of a system with small programs and these schedulers below the root's.
pub fn image_per_server(system: &System, children: &[ChildScheduler]) -> Result<Image, ImageError> {
    let promises = vec![None; system.tasks.len()];
    let (scheduler, workload, components) = (program(&["complete"], 1), program(&[], 2), programs(system));
    build(&Request { children, ..request(system, &promises, (&scheduler, &workload), &components) })
}

/// Builds the image of a system with small programs.
pub fn image(system: &System) -> Result<Image, ImageError> {
    image_with(system, &program(&["complete"], 1), &program(&[], 2), &programs(system))
}
