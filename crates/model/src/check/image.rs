//! What an image holds beside components and threads: its kernel has tables of a fixed length. A system with more of those than an image
//! holds is simulated all the same; laying out its image names them.

use crate::problem::{Collector, Location};
use crate::{
    Body, Component, Schedulers, System, MAX_BRANDS, MAX_CALL_DEPTH, MAX_GRANTS, MAX_GRANT_NAME, SYSTEM_GRANTS,
};
use std::collections::HashSet;

/// Finds what does not fit.
pub(super) fn check(system: &System, out: &mut Collector) {
    let line = system.components.first().map(|it| it.line).or(system.tasks.first().map(|it| it.line)).unwrap_or(1);
    let place = Location { line, column: 1 };
    let rights = || system.components.iter().map(|it| &it.rights);
    let brands: usize = rights().map(|it| it.brands).sum();
    if brands > MAX_BRANDS {
        let why = format!("its components may make {brands} brands together; an image holds {MAX_BRANDS}");
        out.refuse(place, "", why, "lower brands of some");
    }
    for (number, component) in system.components.iter().enumerate() {
        grants(system, number, component, out);
    }
    calls(system, out);
}

/// What the component may call: what its file grants it, and what its jobs need of their schedulers.
fn grants(system: &System, number: usize, component: &Component, out: &mut Collector) {
    let place = Location { line: component.line, column: 1 };
    let subject = format!("component {:?}", component.name);
    for grant in &component.uses {
        if SYSTEM_GRANTS.contains(&&*grant.name) {
            let why = format!("it uses a service under the name {:?}, which is the system's own", grant.name);
            out.refuse(place, &subject, why, "choose another name");
        } else if grant.name.len() > MAX_GRANT_NAME {
            let why = format!("its name {:?} for a service has more than {MAX_GRANT_NAME} letters", grant.name);
            out.refuse(place, &subject, why, "choose a shorter one");
        }
    }
    if system.platform.root == Some(number) {
        return;
    }
    let scheduling = &system.scheduling;
    let tasks = || (0..system.tasks.len()).filter(|n| system.tasks[*n].body == Body::Component(number));
    let ends = match scheduling.schedulers {
        Schedulers::PerServer => {
            let servers: HashSet<_> = tasks().map(|n| scheduling.places.get(n).and_then(|it| it.server)).collect();
            servers.len().max(1)
        }
        Schedulers::Single => 1,
    };
    let signals = |n: usize| {
        let program = scheduling.programs.get(n);
        program.is_some_and(|program| !program.order.is_empty()) || system.request_calls(n) > 0
    };
    let needed = [
        scheduling.places.iter().any(|task| task.raised_by == Some(number)),
        tasks().any(|n| !scheduling.sections_of(n).is_empty()),
        tasks().any(|n| scheduling.wait_limit(n).most > 0),
        tasks().any(signals),
    ];
    let own = ends + needed.iter().filter(|needed| **needed).count();
    if component.uses.len() + own > MAX_GRANTS {
        let why = format!(
            "it uses {} services, and {own} of the schedulers; {MAX_GRANTS} can be granted to a component",
            component.uses.len()
        );
        out.refuse(place, &subject, why, "join some into one service");
    }
}

/// A thread that migrates along calls keeps where it came from, and at the end of a job it calls the scheduler.
fn calls(system: &System, out: &mut Collector) {
    let components = &system.components;
    // How many components a call goes through that begins in each, the scheduler included; there is no circle.
    let mut deep: Vec<usize> =
        (0..components.len()).map(|n| if system.platform.root == Some(n) { 1 } else { 2 }).collect();
    for _ in 0..components.len().min(MAX_CALL_DEPTH) {
        for n in 0..components.len() {
            deep[n] = components[n].uses.iter().map(|grant| 1 + deep[grant.provider]).fold(deep[n], usize::max);
        }
    }
    if let Some(n) = (0..components.len()).find(|n| deep[*n] > MAX_CALL_DEPTH) {
        let mut at = n;
        let mut names = vec![components[n].name.as_str()];
        while let Some(next) = components[at].uses.iter().map(|it| it.provider).max_by_key(|next| deep[*next]) {
            at = next;
            names.push(&components[at].name);
        }
        let why = format!(
            "calls from it go through {} components ({}), and then to the scheduler; {MAX_CALL_DEPTH} are possible in all",
            names.len(),
            names.join(" → ")
        );
        let place = Location { line: components[n].line, column: 1 };
        out.refuse(place, &format!("component {:?}", components[n].name), why, "shorten the chain");
    }
}
