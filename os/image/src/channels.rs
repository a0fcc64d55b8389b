//! The memory of channels, and what components are told of their ports and of their partition.

use crate::layout::Layout;
use crate::parts::{Parts, SCHEDULER};
use crate::wire::{stored, Stored};
use tactus_abi::image::{MemoryKind, WRITABLE};
use tactus_abi::layout::{PAGE, PARTITION, PORT_CARDS};
use tactus_abi::port::{
    PartitionCard, PortCard, ProcessCard, ServicePort, ARRIVALS, DESTINATION, KEPT, OBSERVED, OBSERVED_SENDING,
    OBSERVED_TAKING, QUEUING, SAMPLING, SKIPPED, SOURCE,
};
use tactus_abi::shared::name;
use tactus_model::{Channel, ChannelKind, Overrun, Port, Release, Server, Service, System, TaskPlacement};
use tactus_time::TaskId;

/// How many cards each component has, by number.
pub(crate) struct Told {
    pub ports: Vec<u32>,
    pub processes: Vec<u32>,
}

/// Lays out all channels, and the cards of ports and partitions.
pub(crate) fn lay_out(layout: &mut Layout, parts: &Parts, system: &System) -> Told {
    let count = parts.components.len();
    let mut ports: Vec<Vec<PortCard>> = vec![Vec::new(); count];
    // A root scheduler of the user's own looks at nothing that is not its own.
    let observes = parts.components[SCHEDULER].user.is_none();
    let declared = system.channels.iter().map(|channel| (channel.clone(), 0, 0));
    for (number, (channel, service, latency)) in declared.chain(of_services(system)).enumerate() {
        let (kind, depth, refresh) = match channel.kind {
            ChannelKind::Sampling { refresh_period } => (SAMPLING, 0, refresh_period.as_nanos()),
            ChannelKind::Queuing { depth, .. } => (QUEUING, depth, latency),
        };
        let card = |port: &Port, direction| PortCard {
            name: name(&port.name),
            channel: number as u32,
            kind,
            direction,
            size: channel.size,
            depth,
            writer: 0,
            refresh,
            service,
        };
        let of = |port: &Port| component_of(parts, port.task);
        let written = card(&channel.source, SOURCE);
        let memory = layout.memory(MemoryKind::Copied, (written.words() as u64 * 8).next_multiple_of(PAGE), None);
        let source = of(&channel.source);
        layout.map(source as u32, memory, written.address(), WRITABLE);
        ports[source].push(written);
        for port in &channel.destinations {
            let destination = of(port);
            ports[destination].push(card(port, DESTINATION));
            layout.map(destination as u32, memory, written.address(), 0);
            if kind == QUEUING {
                let taken = layout.memory(MemoryKind::Copied, PAGE, None);
                layout.map(destination as u32, taken, written.taken_address(), WRITABLE);
                layout.map(source as u32, taken, written.taken_address(), 0);
                if observes {
                    layout.map(SCHEDULER as u32, taken, written.taken_address(), 0);
                }
            }
        }
        if observes {
            layout.map(SCHEDULER as u32, memory, written.address(), 0);
            ports[SCHEDULER].push(PortCard {
                name: name(&channel.name),
                direction: OBSERVED,
                writer: channel.source.task as u32,
                ..written
            });
        }
    }
    mailboxes(layout, parts, system, (&mut ports, observes));
    let mut told = Told { ports: Vec::new(), processes: vec![0; count] };
    for (number, cards) in ports.iter().enumerate() {
        told.ports.push(cards.len() as u32);
        if !cards.is_empty() {
            let memory = layout.in_place(&stored(cards));
            layout.map(number as u32, memory, PORT_CARDS, 0);
        }
    }
    for (number, part) in parts.components.iter().enumerate() {
        let first = part.tasks.first().filter(|_| part.user.is_some());
        let Some(partition) = first.and_then(|task| system.partition_of(task.index())) else { continue };
        let mut bytes = stored(&[partition_card(system, partition)]);
        let own = format!("{}.", system.scheduling.servers[partition].name);
        part.tasks.iter().for_each(|task| process(system, *task, &own).put(&mut bytes));
        told.processes[number] = part.tasks.len() as u32;
        let memory = layout.in_place(&bytes);
        layout.map(number as u32, memory, PARTITION, 0);
    }
    told
}

/// Lays out the ends of mailboxes, behind all channels: to a component each is a queue whose other end is elsewhere.
fn mailboxes(layout: &mut Layout, parts: &Parts, system: &System, (ports, observes): (&mut [Vec<PortCard>], bool)) {
    let services: usize = system.services.iter().map(|service| 2 * service.clients.len()).sum();
    for (number, it) in system.mailboxes.iter().enumerate() {
        let card = PortCard {
            name: name(&it.name),
            channel: (system.channels.len() + services + number) as u32,
            kind: QUEUING,
            direction: if it.sends { SOURCE } else { DESTINATION },
            size: it.size,
            depth: it.depth,
            writer: 0,
            refresh: 0,
            service: 0,
        };
        let own = component_of(parts, it.task);
        let messages = layout.mailbox(it.first_page, it.pages());
        let taken = layout.mailbox(it.first_page + it.pages(), 1);
        let rights = |writes: bool| if writes { WRITABLE } else { 0 };
        layout.map(own as u32, messages, card.address(), rights(it.sends));
        layout.map(own as u32, taken, card.taken_address(), rights(!it.sends));
        ports[own].push(card);
        if observes {
            layout.map(SCHEDULER as u32, messages, card.address(), 0);
            layout.map(SCHEDULER as u32, taken, card.taken_address(), 0);
            let direction = if it.sends { OBSERVED_SENDING } else { OBSERVED_TAKING };
            ports[SCHEDULER].push(PortCard { direction, writer: it.task as u32, refresh: it.number as u64, ..card });
        }
    }
}

/// The channels of services, behind those of the file: for each client one of requests and one of answers, each with what it is of its
/// service and with its latency, of answers (ns). A client calls both by the service's name, its server by the client's place as well.
fn of_services(system: &System) -> Vec<(Channel, u64, u64)> {
    let mut all = Vec::new();
    for (number, service) in system.services.iter().enumerate() {
        for (place, client) in service.clients.iter().enumerate() {
            let Some(asks) = client.tasks.first() else { continue };
            let port = |task: usize, kind: char| Port {
                name: match task == service.server {
                    true => format!("{}{kind}{place}", service.name),
                    false => format!("{}{kind}", service.name),
                },
                task,
            };
            let channel = |from: usize, to: usize, kind: char| Channel {
                name: format!("{}{kind}{place}", service.name),
                kind: ChannelKind::Queuing { depth: 1, messages: 1 },
                size: service.size + Service::HEADER,
                source: port(from, kind),
                destinations: vec![port(to, kind)],
                latency: None,
                line: service.line,
            };
            let word = ServicePort {
                service: number as u8,
                client: (service.first as usize + place) as u8,
                place: place as u8,
                clients: service.clients.len() as u8,
                order: service.order as u8,
                requests: service.requests as u8,
                every: service.every(place, system) as u8,
                shaped: service.shaped,
            };
            all.push((channel(*asks, service.server, '?'), word.word(), 0));
            all.push((channel(service.server, *asks, '!'), word.word(), service.latency.as_nanos()));
        }
    }
    all
}

/// The component that runs the task's jobs.
fn component_of(parts: &Parts, task: usize) -> usize {
    let mut threads = parts.threads.iter();
    threads.find(|it| it.task() == Some(TaskId(task as u16))).map_or(0, |it| it.component as usize)
}

fn partition_card(system: &System, number: usize) -> PartitionCard {
    let (server, partition): (&Server, _) =
        (&system.scheduling.servers[number], &system.scheduling.partitions.list[number]);
    PartitionCard {
        name: name(&server.name),
        number: number as u32,
        cores: server.cores.iter().count() as u32,
        period: partition.period.as_nanos(),
        duration: partition.duration.as_nanos(),
        warm: partition.health.warm.into(),
    }
}

/// How the jobs of a task are released.
fn releases(place: &TaskPlacement) -> u32 {
    match (place.release, place.overrun) {
        (Release::Periodic, Overrun::Skip) => SKIPPED,
        (Release::Periodic, _) => KEPT,
        _ => ARRIVALS,
    }
}

/// The process that a task is. Names of processes are given once in each partition, those of tasks once in the file: so a task's
/// may begin with its partition's and a dot.
fn process(system: &System, id: TaskId, own: &str) -> ProcessCard {
    let (task, place) = (&system.tasks[id.index()], system.scheduling.places.get(id.index()));
    ProcessCard {
        name: name(task.name.strip_prefix(own).filter(|rest| !rest.is_empty()).unwrap_or(&task.name)),
        task: id.0.into(),
        core: task.core.map_or(0, |core| core.0.into()),
        priority: place.map_or(0, |place| place.priority),
        releases: place.map_or(KEPT, releases),
        period: task.period.as_nanos(),
        capacity: task.budget().as_nanos(),
        deadline: task.deadline.as_nanos(),
        offset: task.offset.as_nanos(),
    }
}
