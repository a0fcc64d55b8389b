//! Random systems of partitions: windows drawn over a major frame on each core, tasks in every order inside them.

use crate::random::Random;
use crate::{plain, scaled};
use std::path::PathBuf;
use tactus_model::{
    Channel, ChannelKind, Criticality, Demand, EarlyArrival, Health, Machine, Migration, Overrun, Partition,
    Partitions, Policy, Port, Release, RequestOrder, ScheduleSwitch, Scheduling, Server, ServerKind, Service,
    ServiceClient, System, Task, TaskOrder, TaskPlacement, Window, LONGEST, MAX_MESSAGES,
};
use tactus_time::{CoreId, CoreSet, Duration, TaskId};

/// The most tasks of one system.
const MOST_TASKS: usize = 60;

/// From this seed on, loads are low, tasks have messages for each other wherever two are released by time, and half of all systems have
/// further schedules.
const CALM: u64 = 1_000_000;
/// From this seed on they also serve each other.
const SERVING: u64 = 2_000_000;

/// The system of this seed: 1 to 8 cores, up to 12 partitions on one core or several, frames of 5 to 100 ms, orders in
/// turn, and loads from a twelfth of what windows give to a little more than that; from a million on less, more messages, and switches
/// between schedules, and from two million on services.
pub fn partitions(seed: u64) -> System {
    let mut random = Random::new(seed ^ 0x7061_7274);
    let cores = random.log_uniform(1.0, 8.0).round() as usize;
    let frame = Duration::from_millis(random.between(5, 100));
    let duration = Duration::from_secs(1);
    let count = random.between(2, (3 * cores as u64 + 1).min(12)) as usize;
    let mut windows: Vec<Vec<Window>> = vec![Vec::new(); count];
    for core in (0..cores).map(|core| CoreId(core as u8)) {
        divide(&mut random, core, frame, &mut windows);
    }
    if windows.iter().all(Vec::is_empty) {
        windows[0].push(Window { core: CoreId(0), start: Duration::ZERO, length: frame, schedule: 0 });
    }
    windows.retain(|windows| !windows.is_empty());
    let (mut servers, mut list) = (Vec::new(), Vec::new());
    let (mut tasks, mut places) = (Vec::new(), Vec::new());
    let load = if random.chance(0.6) { 0.08 + 0.25 * random.unit() } else { 0.3 + 0.8 * random.unit() };
    let load = if seed >= CALM { load.min(0.05 + 0.15 * random.unit()) } else { load };
    for (n, windows) in windows.into_iter().enumerate() {
        let order = TaskOrder::ALL[(seed as usize + n) % 9];
        let (server, partition) = one(&mut random, n, order, frame, windows);
        for core in server.cores.iter() {
            let share = partition.time_on(core, 0).as_nanos() as f64 / frame.as_nanos() as f64;
            fill(&mut random, (n, &server, &partition), core, share * load, (&mut tasks, &mut places));
        }
        servers.push(server);
        list.push(partition);
    }
    // Beside services no test covers jobs that are left out or ended: most systems with services have none.
    if seed >= SERVING && seed % 4 != 0 {
        places.iter_mut().for_each(|place: &mut TaskPlacement| place.overrun = Overrun::Continue);
    }
    let name = format!("partitions-{seed}");
    let mut partitions = Partitions { frame, list, ..Partitions::default() };
    if seed >= CALM {
        schedules(seed, &mut partitions);
    }
    let channels = channels(seed, &tasks, &places);
    let services = if seed >= SERVING { services(seed, &tasks, &places) } else { Vec::new() };
    System {
        source: PathBuf::from(format!("{name}.toml")),
        name,
        cores,
        memory: 256 << 20,
        duration,
        seed,
        policy: Policy::Partitions,
        chains: Vec::new(),
        channels,
        mailboxes: Vec::new(),
        services,
        slots: Vec::new(),
        loads: Vec::new(),
        machine: Machine { shift: 3, processor: Default::default(), overheads: true, beside: 0 },
        tasks,
        components: Vec::new(),
        scheduling: Scheduling { servers, places, partitions, ..Scheduling::default() },
        platform: tactus_model::Platform::default(),
        disks: Vec::new(),
        monitors: Vec::new(),
        linux: Vec::new(),
        notes: Vec::new(),
    }
}

/// Cuts the frame of a core into up to eight windows, some of them nobody's.
fn divide(random: &mut Random, core: CoreId, frame: Duration, windows: &mut [Vec<Window>]) {
    let unit = Duration::from_micros(100);
    let length = frame / unit;
    let mut cuts: Vec<u64> = (0..random.between(0, 7)).map(|_| random.between(5, length - 1)).collect();
    cuts.extend([0, length]);
    cuts.sort_unstable();
    cuts.dedup();
    for pair in cuts.windows(2).filter(|pair| pair[1] - pair[0] >= 5) {
        if random.chance(0.8) {
            let whose = random.between(0, windows.len() as u64 - 1) as usize;
            windows[whose].push(Window {
                core,
                start: unit * pair[0],
                length: unit * (pair[1] - pair[0]),
                schedule: 0,
            });
        }
    }
}

/// Often one or two further schedules, in which windows come in the other order and some partition may have none, and switches between
/// them.
fn schedules(seed: u64, partitions: &mut Partitions) {
    let mut random = Random::new(seed ^ 0x6d6f_6465);
    let count = random.between(0, 3).saturating_sub(1) as u8;
    let Partitions { frame, list, schedules, switches } = partitions;
    for schedule in 1..=count {
        // Somebody has windows in each.
        let (some, excludes) = (random.between(0, list.len() as u64 - 1) as usize, random.chance(0.3));
        for (n, partition) in list.iter_mut().enumerate() {
            if excludes && n != some && random.chance(0.3) {
                continue;
            }
            let first = partition.windows.iter().filter(|window| window.schedule == 0);
            let mut other: Vec<Window> =
                first.map(|window| Window { start: *frame - window.end(), schedule, ..*window }).collect();
            other.sort_by_key(|window| (window.core, window.start));
            partition.windows.extend(other);
        }
    }
    if count == 0 {
        return;
    }
    *schedules = (0..=count).map(|n| format!("s{n}")).collect();
    let (mut at, mut holds) = (0, 0);
    for _ in 0..10 {
        at += random.between(1, 4);
        holds = (holds + random.between(1, count.into()) as u8) % (count + 1);
        switches.push(ScheduleSwitch { frame: at, schedule: holds });
    }
}

/// Up to eight channels between tasks that time releases, of which a few queue; roomy enough that they are never the reason to refuse.
/// Drawn apart from all else.
fn channels(seed: u64, tasks: &[Task], places: &[TaskPlacement]) -> Vec<Channel> {
    let mut random = Random::new(seed ^ 0x6368_616e);
    let timed: Vec<usize> = (0..tasks.len()).filter(|n| places[*n].release == Release::Periodic).collect();
    let mut made: Vec<Channel> = Vec::new();
    if timed.len() < 2 {
        return made;
    }
    let least = if seed >= CALM { 4 } else { 0 };
    for number in 0..random.between(least, 8) {
        let mut pick = || timed[random.between(0, timed.len() as u64 - 1) as usize];
        let (source, first, second) = (pick(), pick(), pick());
        if [first, second].contains(&source)
            || [source, first, second].iter().any(|n| places[*n].overrun != Overrun::Continue)
        {
            continue;
        }
        let name = format!("c{number}");
        let port = |task: usize| Port { name: name.clone(), task };
        let queues = random.chance(0.3);
        let kind = match queues {
            true => ChannelKind::Queuing { depth: MAX_MESSAGES, messages: 1 },
            false => ChannelKind::Sampling { refresh_period: LONGEST },
        };
        let destinations = if queues || first == second { vec![port(first)] } else { vec![port(first), port(second)] };
        let size = random.between(1, 64) as u32;
        made.push(Channel {
            kind,
            size,
            source: port(source),
            destinations,
            latency: None,
            line: 0,
            name: name.clone(),
        });
    }
    made
}

/// Up to two services among tasks that time releases, whose latencies are mostly so long that they are no reason to refuse. Drawn apart from all
/// else.
fn services(seed: u64, tasks: &[Task], places: &[TaskPlacement]) -> Vec<Service> {
    let mut random = Random::new(seed ^ 0x7365_7276);
    let plain = |n: &usize| places[*n].release == Release::Periodic && places[*n].overrun == Overrun::Continue;
    let timed: Vec<usize> = (0..tasks.len()).filter(plain).collect();
    let mut made: Vec<Service> = Vec::new();
    if timed.len() < 2 {
        return made;
    }
    for number in 0..random.between(1, 2) {
        let mut pick = || timed[random.between(0, timed.len() as u64 - 1) as usize];
        let server = pick();
        let mut clients: Vec<usize> = (0..6).map(|_| pick()).filter(|n| *n != server).collect();
        let mut seen = std::collections::BTreeSet::new();
        clients.retain(|n| seen.insert(*n));
        if clients.is_empty() || made.iter().any(|other| other.server == server) {
            continue;
        }
        let order = [RequestOrder::Turns, RequestOrder::Priority, RequestOrder::Slots][random.between(0, 2) as usize];
        let period = |n: &usize| tasks[*n].period;
        let shortest = clients.iter().map(period).min().unwrap_or_default();
        let longest = clients.iter().map(period).max().unwrap_or_default();
        let shaped = random.chance(0.2);
        let latency = match shaped {
            true => (longest + period(&server) * clients.len() as u64).min(shortest * Service::MOST_JOBS),
            false => shortest * Service::MOST_JOBS,
        };
        made.push(Service {
            name: format!("s{number}"),
            server,
            first: made.iter().map(|service| service.clients.len() as u16).sum(),
            clients: clients.into_iter().map(|task| ServiceClient { tasks: vec![task] }).collect(),
            order,
            requests: random.between(1, 3) as u32,
            size: random.between(8, 64) as u32,
            latency,
            shaped,
            line: 0,
        });
    }
    made
}

/// One partition without its tasks.
fn one(
    random: &mut Random,
    n: usize,
    order: TaskOrder,
    frame: Duration,
    mut windows: Vec<Window>,
) -> (Server, Partition) {
    windows.sort_by_key(|window| (window.core, window.start));
    let mut cores = CoreSet::EMPTY;
    windows.iter().for_each(|window| cores.insert(window.core));
    let criticality = random.chance(0.5).then(|| Criticality::ALL[random.between(0, 4) as usize]);
    // A more critical one starts no later than others.
    let start_frame = criticality.map_or(0, |level| level as u64 / 2);
    let mut partition = Partition {
        criticality,
        start_frame,
        late: false,
        windows,
        period: frame,
        duration: frame,
        components: Vec::new(),
        health: Health::default(),
    };
    partition.duration = cores.iter().map(|core| partition.time_on(core, 0)).min().unwrap_or_default();
    let quantum = if order.has_quantum() { Duration::from_millis(random.between(1, 4)) } else { Duration::ZERO };
    let server = Server {
        name: format!("p{n}"),
        parent: None,
        cores,
        kind: ServerKind::Windows,
        budget: cores.iter().map(|core| partition.time_on(core, 0)).max().unwrap_or_default(),
        period: frame,
        write_backs: None,
        order,
        spread: Migration::Partitioned,
        clusters: Vec::new(),
        quantum,
        priority: criticality.map_or(0, |level| 5 - level as u32),
        background: random.chance(0.15),
        line: 0,
    };
    (server, partition)
}

/// Tasks of a partition on one core.
fn fill(
    random: &mut Random,
    (n, server, partition): (usize, &Server, &Partition),
    core: CoreId,
    load: f64,
    (tasks, places): (&mut Vec<Task>, &mut Vec<TaskPlacement>),
) {
    let frame = server.period;
    let start = partition.start(frame);
    let first = tasks.len();
    let count = random.between(1, 4).min((MOST_TASKS - first.min(MOST_TASKS)) as u64);
    for share in random.utilisations(count as usize, load) {
        let mut task = plain(random, share);
        task.name = format!("t{}", tasks.len());
        task.core = Some(core);
        if random.chance(0.5) {
            // In step with the windows.
            let time = task.execution[0].unwrap_or_default();
            let period = frame * random.between(1, 4);
            let time = scaled(time, period.as_nanos() as f64 / task.period.as_nanos() as f64).min(period);
            (task.period, task.deadline, task.execution) = (period, period, [Some(time); 4]);
            task.demand = Demand::Fixed(time);
            task.offset = if random.chance(0.5) { Duration::ZERO } else { partition.windows[0].start };
        }
        task.offset += start;
        let overrun = if random.chance(0.7) { Overrun::Continue } else { Overrun::ALL[random.between(1, 3) as usize] };
        let priority = if server.order == TaskOrder::FixedPriority { random.between(0, 9) as u32 } else { 0 };
        let mut place = TaskPlacement { server: Some(n), priority, overrun, ..TaskPlacement::default() };
        let before = (first..tasks.len()).find(|other| tasks[*other].period >= task.period);
        if let Some(before) = before.filter(|_| overrun != Overrun::Stop && random.chance(0.2)) {
            let early = if random.chance(0.3) { EarlyArrival::Drop } else { EarlyArrival::Delay };
            place.release = Release::After(TaskId(before as u16), early);
            task.offset = Duration::ZERO;
        }
        tasks.push(task);
        places.push(place);
    }
}
