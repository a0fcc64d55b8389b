//! The rules for services.

use super::health::overrun_remedy;
use super::names::check_name;
use super::release::find;
use crate::draft::{Draft, DraftService, Given};
use crate::problem::{Collector, Complaint};
use crate::units::format_size;
use crate::{
    Body, Overrun, Policy, Release, Service, ServiceClient, System, MAX_CHANNELS, MAX_MESSAGE_SIZE, MAX_SERVICE_NAME,
};
use tactus_record::{RequestOrder, MAX_CLIENTS};

/// Checks the services.
pub(super) fn check(draft: &Draft, system: &System, out: &mut Collector) -> Vec<Service> {
    if let Some(first) = draft.services.first().filter(|_| system.policy != Policy::Partitions) {
        let why = "requests are promised an answer where the server has windows of its own";
        out.refuse(
            first.place,
            &first.subject,
            why,
            "write kind = \"partitions\" in [policy], or use a channel each way",
        );
        return Vec::new();
    }
    let mut made: Vec<Service> = Vec::new();
    for drafted in &draft.services {
        let first = made.iter().map(|service| service.clients.len()).sum::<usize>();
        let Some(service) = one(drafted, system, &made, first as u16, out) else { continue };
        if made.iter().any(|other| other.name == service.name) {
            out.refuse(drafted.place, &drafted.subject, "another service has the same name", "choose another one");
        }
        made.push(service);
    }
    let ends = 2 * made.iter().map(|service| service.clients.len()).sum::<usize>() + system.channels.len();
    if let Some(last) = draft.services.last().filter(|_| ends > MAX_CHANNELS) {
        let limit = format!("more than {MAX_CHANNELS}");
        let remedy = "leave some out, or let tasks of one component be one client: a list inside of clients";
        out.out_of_range(
            last.place,
            &last.subject,
            "the number of channels, two for each client,",
            ends,
            limit,
            remedy,
        );
    }
    made
}

fn one(
    drafted: &DraftService,
    system: &System,
    before: &[Service],
    first: u16,
    out: &mut Collector,
) -> Option<Service> {
    let subject = drafted.subject.as_str();
    let name = drafted.name.get()?;
    check_name(&name.value, name.place, subject, "name", out);
    if name.value.len() > MAX_SERVICE_NAME {
        let limit = format!("more than {MAX_SERVICE_NAME} bytes");
        out.out_of_range(name.place, subject, "the length of its name", name.value.len(), limit, "shorten it");
        return None;
    }
    let at = drafted.server.get()?;
    let server = find(&at.value, at.place, (&system.tasks, subject, "server"), out)?;
    plain(system, server, (at.place, subject), out)?;
    if before.iter().any(|other| other.server == server) {
        let why = format!("{:?} serves another service already", at.value);
        out.refuse(at.place, subject, why, "name another task: the requests of one service share the server's jobs");
        return None;
    }
    let order = order(drafted, out)?;
    let requests = drafted.requests.get().map_or(1, |at| at.value);
    if !(1..=Service::MOST_REQUESTS).contains(&requests) {
        let place = drafted.requests.get().map_or(drafted.place, |at| at.place);
        let limit = format!("not between 1 and {}", Service::MOST_REQUESTS);
        out.out_of_range(place, subject, "requests", requests, limit, "say how many a job of the server serves");
        return None;
    }
    let size = drafted.size.get()?;
    let most = MAX_MESSAGE_SIZE - Service::HEADER;
    if !(1..=u64::from(most)).contains(&size.value) {
        let limit = format!("not between 1 B and {}", format_size(most.into()));
        let remedy = "choose the length of the longest request or answer";
        out.out_of_range(size.place, subject, "size", format_size(size.value), limit, remedy);
        return None;
    }
    let clients = clients(drafted, system, server, out)?;
    let latency = drafted.latency.get()?;
    let service = Service {
        name: name.value.clone(),
        server,
        clients,
        order,
        requests: requests as u32,
        size: size.value as u32,
        latency: latency.value,
        shaped: drafted.shaped.value().unwrap_or(false),
        first,
        line: drafted.place.line,
    };
    let tasks = || service.clients.iter().flat_map(|client| &client.tasks);
    if latency.value.is_zero() || tasks().any(|task| service.jobs(*task, system) > Service::MOST_JOBS) {
        let limit = format!("not between 1 ns and {} periods of each client", Service::MOST_JOBS);
        let remedy = "say how long a client may go without its answer";
        out.out_of_range(latency.place, subject, "latency", latency.value, limit, remedy);
        return None;
    }
    Some(service)
}

fn order(drafted: &DraftService, out: &mut Collector) -> Option<RequestOrder> {
    let at = drafted.order.get()?;
    Some(match at.value.as_str() {
        "turns" => RequestOrder::Turns,
        "priority" => RequestOrder::Priority,
        "slots" => RequestOrder::Slots,
        other => {
            let complaint = Complaint::Malformed {
                what: "order".into(),
                found: format!("{:?}", other.chars().take(40).collect::<String>()),
                expected: "\"turns\", \"priority\" or \"slots\"".into(),
            };
            out.add(at.place, &drafted.subject, complaint);
            return None;
        }
    })
}

/// Whose memory a task's jobs see.
fn component(system: &System, task: usize) -> Result<usize, usize> {
    match system.tasks[task].body {
        Body::Component(place) => Ok(place),
        Body::Workload => Err(task),
    }
}

fn clients(drafted: &DraftService, system: &System, server: usize, out: &mut Collector) -> Option<Vec<ServiceClient>> {
    let subject = drafted.subject.as_str();
    let Given::Is(list) = &drafted.clients else { return None };
    let mut made: Vec<ServiceClient> = Vec::new();
    for at in &list.value {
        let mut tasks = Vec::new();
        for name in &at.value {
            let task = find(name, at.place, (&system.tasks, subject, "client"), out)?;
            plain(system, task, (at.place, subject), out)?;
            tasks.push(task);
        }
        let same = |task: &usize, other: &usize| component(system, *task) == component(system, *other);
        if tasks.iter().any(|task| !same(task, &tasks[0])) {
            let why = "tasks that have one request outstanding together are of several components";
            out.refuse(at.place, subject, why, "name them as clients of their own: they share no memory to agree in");
            return None;
        }
        let before = made.iter().flat_map(|client| &client.tasks);
        if let Some(task) = tasks.iter().find(|task| before.clone().any(|other| same(task, other))) {
            let why = format!("{:?} and another client are of one component", system.tasks[*task].name);
            out.refuse(at.place, subject, why, "put them into one list: they have one request outstanding together");
            return None;
        }
        if tasks.iter().any(|task| same(task, &server)) {
            let why = "its server and a client are of one component, which shares its memory";
            out.refuse(at.place, subject, why, "call a function of it");
            return None;
        }
        made.push(ServiceClient { tasks });
    }
    if made.iter().any(|client| client.tasks.is_empty()) || !(1..=MAX_CLIENTS).contains(&made.len()) {
        let limit = format!("not between 1 and {MAX_CLIENTS}, each of one task at least");
        out.out_of_range(list.place, subject, "the number of its clients", made.len(), limit, "name its clients");
        return None;
    }
    Some(made)
}

/// Whether all jobs of the task come by time and are done.
fn plain(system: &System, task: usize, (place, subject): (crate::Location, &str), out: &mut Collector) -> Option<()> {
    let of = system.scheduling.places.get(task).copied().unwrap_or_default();
    let name = &system.tasks[task].name;
    if of.release != Release::Periodic {
        out.refuse(place, subject, format!("time does not release {name:?}"), "name a periodic task");
        return None;
    }
    if of.overrun != Overrun::Continue {
        let why = format!("{name:?} may have jobs that never end, and so neither ask nor serve");
        out.refuse(place, subject, why, overrun_remedy(&system.scheduling, task));
        return None;
    }
    Some(())
}
