//! The rules for the user's own components: names, services, and who may call whom.

use super::names::{names, runs_component};
use crate::draft::{Draft, DraftComponent, Given};
use crate::problem::{nearest, Collector, Complaint, Location};
use crate::{Component, Grant};
use std::collections::HashSet;

/// Checks the components and makes them, each in its place even where something is wrong with it.
pub(super) fn check(draft: &Draft, notes: &mut Vec<String>, out: &mut Collector) -> Vec<Component> {
    let Draft { components: drafts, tasks, platform, .. } = draft;
    for draft in drafts {
        check_services(draft, out);
    }
    let components: Vec<Component> = drafts
        .iter()
        .enumerate()
        .map(|(i, draft)| Component {
            name: draft.name.get().map(|at| at.value.clone()).unwrap_or_default(),
            path: draft.path.get().map(|at| at.value.clone()).unwrap_or_default(),
            provides: draft.provides.iter().map(|at| at.value.clone()).collect(),
            uses: draft.uses.iter().filter_map(|grant| check_grant(draft, grant, i, drafts, out)).collect(),
            slot: draft.slot,
            rights: crate::Rights::default(),
            line: draft.place.line,
        })
        .collect();
    check_cycles(drafts, &components, out);
    for (i, component) in components.iter().enumerate() {
        let called = components.iter().flat_map(|c| &c.uses).any(|grant| grant.provider == i);
        let root = matches!(&platform.root, Given::Is(at) if at.value == component.name);
        let runs = root || drafts[i].rights.runs_by_itself();
        if !called && !runs && !tasks.iter().any(|task| runs_component(task, &component.name)) {
            notes.push(format!("component {:?} runs no task and serves nobody", component.name));
        }
    }
    components
}

/// Services and the names for them are functions of a program.
fn check_services(draft: &DraftComponent, out: &mut Collector) {
    let mut seen = HashSet::new();
    let names = draft.provides.iter().map(|at| (&at.value, at.place, "service"));
    for (name, place, what) in names.chain(draft.uses.iter().map(|at| (&at.value.name, at.place, "name"))) {
        let starts_well = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
        let goes_on = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !starts_well || !goes_on || name.len() > crate::MAX_NAME {
            let found = format!("{:?}", name.chars().take(40).collect::<String>());
            let expected = format!(
                "the name of a function: small letters, digits and \"_\", no digit first, {} in all at most",
                crate::MAX_NAME
            );
            out.add(place, &draft.subject, Complaint::Malformed { what: what.into(), found, expected });
        }
        if what == "service" && !seen.insert(name) {
            out.refuse(place, &draft.subject, format!("service {name:?} is provided twice"), "remove one");
        }
    }
}

fn check_grant(
    draft: &DraftComponent,
    grant: &crate::draft::At<crate::draft::DraftGrant>,
    holder: usize,
    drafts: &[DraftComponent],
    out: &mut Collector,
) -> Option<Grant> {
    let wanted = &grant.value;
    let Some(provider) = drafts.iter().position(|d| matches!(&d.name, Given::Is(at) if at.value == wanted.provider))
    else {
        let complaint = Complaint::UnknownName {
            what: "component",
            name: wanted.provider.chars().take(40).collect(),
            nearest: nearest(&wanted.provider, names(drafts)),
            remedy: "describe it in a [[component]]".into(),
        };
        out.add(grant.place, &draft.subject, complaint);
        return None;
    };
    if provider == holder {
        let why = format!("it is granted {:?} of its own", wanted.service);
        out.refuse(grant.place, &draft.subject, why, "call the function directly and remove the grant");
        return None;
    }
    let services = &drafts[provider].provides;
    if !services.iter().any(|service| service.value == wanted.service) {
        let complaint = Complaint::UnknownName {
            what: "service",
            name: format!("{}.{}", wanted.provider, wanted.service).chars().take(80).collect(),
            nearest: nearest(&wanted.service, services.iter().map(|s| s.value.as_str()))
                .map(|service| format!("{}.{service}", wanted.provider)),
            remedy: format!("add it to what component {:?} provides", wanted.provider),
        };
        out.add(grant.place, &draft.subject, complaint);
        return None;
    }
    Some(Grant { name: wanted.name.clone(), provider, service: wanted.service.clone() })
}

/// A thread migrates along the calls: around a circle it would come back into a component that it has not left.
fn check_cycles(drafts: &[DraftComponent], components: &[Component], out: &mut Collector) {
    // Take away components that call nobody who is left, until none can be taken away: what stays is on or before a
    // circle.
    let mut left: Vec<bool> = vec![true; components.len()];
    loop {
        let free = (0..components.len()).find(|i| left[*i] && components[*i].uses.iter().all(|g| !left[g.provider]));
        match free {
            Some(i) => left[i] = false,
            None => break,
        }
    }
    let Some(mut at) = left.iter().position(|left| *left) else { return };
    // From anywhere in the rest, following calls within the rest leads into a circle.
    let next = |i: usize| components[i].uses.iter().map(|g| g.provider).find(|p| left[*p]);
    let mut path = Vec::new();
    while !path.contains(&at) {
        path.push(at);
        match next(at) {
            Some(provider) => at = provider,
            None => return,
        }
    }
    let start = path.iter().position(|i| *i == at).unwrap_or(0);
    let circle: Vec<&str> = path[start..].iter().chain([&at]).map(|i| components[*i].name.as_str()).collect();
    let place = drafts[at].uses.first().map_or(Location::default(), |grant| grant.place);
    let why = format!("the components call each other in a circle: {}", circle.join(" → "));
    out.refuse(place, &drafts[at].subject, why, "take one of these grants away");
}
