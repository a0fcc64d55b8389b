//! Services: how long a client's request waits for its answer.
//!
//! A server polls: a job that begins when a request waits serves up to `requests` of them, and is done within the server's bound. What is ahead of
//! a request is counted in requests, by the bounds of [`crate::requests`] for a server of which each takes one unit of time. So the answer
//! comes with the last of as many jobs as these fill, the first of which is released within the server's period. By priority a request
//! may find its client's share of the server's jobs used up by the one before, which came late; then it is served as if it had come so
//! late itself. If the server starts more than its period after the client, that may be later than the bound: there is none then.
//! All that counts from the release of the job that asks.

use super::chains::{response, ChainVerdict};
use super::report::{Check, Finding};
use crate::requests::{by_priority, in_order, in_slots, Client};
use tactus_model::{RequestOrder, Service, System};
use tactus_task::Bound;
use tactus_time::Duration;

/// Judges every client of every service.
pub(super) fn check(system: &System, check: &mut Check) {
    for service in &system.services {
        for client in 0..service.clients.len() {
            one(system, service, client, check);
        }
    }
}

/// In how many jobs of the server, one after another, a request of the client is answered at the latest.
fn jobs(system: &System, service: &Service, client: usize) -> Option<u64> {
    let (unit, each) = (Duration::from_nanos(1), u64::from(service.requests));
    let gap = |n: usize| Duration::from_nanos(service.every(n, system).saturating_mul(each));
    let all: Vec<Client> = (0..service.clients.len())
        .map(|n| Client { service: unit, continuation: Duration::ZERO, gap: gap(n) })
        .collect();
    let requests = match service.order {
        RequestOrder::Turns => in_order(&all, client, all.len())?,
        RequestOrder::Priority => by_priority(&all, client)?,
        // Slots begin with jobs, so that none has just begun.
        RequestOrder::Slots => in_slots(&all, client)?.saturating_sub(unit),
    };
    Some(requests.as_nanos().div_ceil(each))
}

fn one(system: &System, service: &Service, client: usize, check: &mut Check) {
    let server = service.server;
    let jobs = jobs(system, service, client);
    let period = system.tasks[server].period;
    let tasks = service.clients[client].tasks.as_slice();
    let starts = tasks.iter().map(|task| system.tasks[*task].offset).min().unwrap_or(Duration::ZERO);
    let late = service.order == RequestOrder::Priority && system.tasks[server].offset.saturating_sub(starts) > period;
    let jobs = jobs.filter(|_| !late);
    // From the request to the answer.
    let waits = |bound: Option<Bound>| response(system, server, bound)?.checked_add(period.checked_mul(jobs?)?);
    let asks = |bound: &dyn Fn(usize) -> Option<Bound>| -> Option<Duration> {
        tasks
            .iter()
            .map(|task| response(system, *task, bound(*task)))
            .try_fold(Duration::ZERO, |most, it| Some(most.max(it?)))
    };
    let total = |bound: &dyn Fn(usize) -> Option<Bound>| asks(bound)?.checked_add(waits(bound(server))?);
    let bound = |n: usize| check.tasks[n].bound();
    let names: Vec<&str> = tasks.iter().map(|task| system.tasks[*task].name.as_str()).collect();
    let verdict = ChainVerdict {
        name: format!("{} for {}", service.name, names.join(", ")),
        tasks: tasks.iter().copied().chain([server]).collect(),
        told: vec![true; tasks.len()],
        client: Some(service.first + client as u16),
        channel: None,
        deadline: Some(service.latency),
        bound: total(&bound),
        promise: total(&|n| check.tasks[n].promise()),
        parts: vec![(names.join(", "), asks(&bound)), (system.tasks[server].name.clone(), waits(bound(server)))],
    };
    let found = match verdict.bound {
        Some(bound) if bound > service.latency => Some((
            format!("may take {bound} from a job of {} to its answer, over its latency of {}", names.join(", "), service.latency),
            "let the server's jobs come more often or serve more requests each, share a client among tasks, or allow more",
        )),
        None if late => Some((
            format!("has no bound for {}: its server starts more than a period later, so that the first answer comes late and delays the next one", names.join(", ")),
            "let the server start earlier, or serve in \"turns\"",
        )),
        None if jobs.is_none() => Some((
            format!("has no bound for {}: clients before it may keep the server busy for ever", names.join(", ")),
            "let the server's jobs serve more requests each, or serve in \"turns\"",
        )),
        None => Some((format!("has no bound for {}", names.join(", ")), "see what is said of its tasks")),
        Some(_) => None,
    };
    if let Some((what, remedy)) = found {
        let what = format!("service `{}` {what}", service.name);
        check.findings.push(Finding { task: None, core: None, line: service.line, what, remedy: remedy.into() });
    }
    check.chains.push(verdict);
}
