//! The rule of services: who is served is whoever's turn it is.
//!
//! A server looks, takes a request, and signals when it is answered. What it saw is not recorded; so a client counts as passed over only
//! if its request was there before the server signalled its last answer, or began the job in which it answers now.

use super::{Rule, Violation};
use crate::services::{signalled, Signalled};
use crate::view::ServiceView;
use crate::{jobs, Job, Trace, View};
use tactus_record::{EventKind, RequestEvent, RequestOrder};
use tactus_time::Instant;

/// All services.
pub fn services(view: &View, trace: &Trace) -> Vec<Violation> {
    // A server that was restarted has forgotten whose turn it is.
    let anew = trace.cores.iter().flatten().any(|r| matches!(r.kind, EventKind::Fault | EventKind::Restarted));
    if view.services.is_empty() || anew {
        return Vec::new();
    }
    let (jobs, all) = (jobs(trace), signalled(trace));
    view.services.iter().flat_map(|service| of_service(service, &jobs, &all)).collect()
}

/// A client, as the rule goes along.
#[derive(Clone, Copy, Default)]
struct Client {
    /// Since when its request waits.
    since: Option<Instant>,
    /// By priority: from which of the server's jobs on it is surely served, and the one after it may be.
    from: u64,
    next: u64,
}

fn of_service(service: &ServiceView, jobs: &[Job], all: &[Signalled]) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut clients = vec![Client::default(); service.every.len()];
    let mut last: Option<(usize, Instant)> = None;
    let mut own: Vec<&Job> = jobs.iter().filter(|job| job.task == service.server && job.started.is_some()).collect();
    own.sort_by_key(|job| job.started);
    // The server's job that began last by then.
    let begun = |by: Instant| {
        own.get(own.partition_point(|job| job.started.is_some_and(|at| at <= by)).checked_sub(1)?).copied()
    };
    let (mut serving, mut served) = (None, 0);
    for it in all {
        let Some(n) = service.spoken(it.event, it.task) else { continue };
        match it.event {
            RequestEvent::Request(_) => {
                let job = begun(it.time).map_or(0, |job| u64::from(job.job) + 1);
                let client = &mut clients[n];
                client.since = Some(it.time);
                client.from = client.next.max(job);
                client.next = client.from.saturating_add(service.every[n]);
            }
            RequestEvent::Answer(_) => {
                let Some(job) = begun(it.time) else { continue };
                served = if serving == Some(job.job) { served + 1 } else { 1 };
                serving = Some(job.job);
                let since = job.started.unwrap_or(it.time).max(last.map_or(Instant::ZERO, |last| last.1));
                let passed = |m: usize| {
                    let client = &clients[m];
                    let waits = client.since.is_some_and(|at| at < since);
                    let after = last.map_or(0, |last| last.0 + 1);
                    let turn = |n: usize| (n + clients.len() - after % clients.len()) % clients.len();
                    waits
                        && match service.order {
                            RequestOrder::Turns => turn(m) < turn(n),
                            RequestOrder::Priority => m < n && client.from <= u64::from(job.job),
                            RequestOrder::Slots => false,
                        }
                };
                let count = clients.len() as u64;
                let slots =
                    (0..u64::from(service.requests)).map(|at| u64::from(job.job) * u64::from(service.requests) + at);
                let what = if let Some(m) = (0..clients.len()).find(|m| *m != n && passed(*m)) {
                    Some(format!(
                        "client {n} of service {} is answered before client {m}, whose turn it is",
                        service.name
                    ))
                } else if served > service.requests {
                    Some(format!(
                        "service {} answers {served} requests in a job, {} at most",
                        service.name, service.requests
                    ))
                } else if service.order == RequestOrder::Slots
                    && !slots.into_iter().any(|slot| slot % count == n as u64)
                {
                    Some(format!("client {n} of service {} is answered in another one's slot", service.name))
                } else {
                    None
                };
                clients[n].since = None;
                last = Some((n, it.time));
                found.extend(what.map(|text| Violation {
                    rule: Rule::Served,
                    time: it.time,
                    core: it.core,
                    task: Some(it.task),
                    job: Some(job.job),
                    text,
                }));
            }
        }
    }
    found
}
