//! Whether each application came to where it belongs, in time, and nowhere else.
//!
//! What should be follows from the network alone: from where an application is known at the end it reaches every node in its scope to
//! which there is a way whose nodes tell of it, which are those in scope and those no more than its radius away from one. There it is
//! hosted, or refused for a reason that holds, which its owner's node knows. Nothing here asks a node what it thinks.

pub mod data;

use crate::field::{Field, Happened, Run};
use crate::frame::{Name, Package, Version};
use crate::refusals::{Refusal, MOST_REFUSALS};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use tactus_time::{Duration, Instant};

/// What was found wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// A node hosts it that is not in its scope.
    OutOfScope,
    /// A node in scope, which it could reach, does not host the newest version.
    NotInstalled,
    /// A node hosts an older version than the newest that it could know, or one that was removed.
    Older(Version),
    /// A node installed the same version twice in one life.
    Twice,
    /// What a node hosts is not what was delivered.
    Bytes,
    /// It was installed after this time.
    Late(Duration),
    /// A node hosts it, none of whose slots admits it, or hosts more than it has slots.
    NotAdmitted,
    /// A node refused it for a reason that does not hold there.
    Refused(Refusal),
    /// A node refused it, and its owner's node does not know.
    Unreported,
}

/// Something wrong, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The application.
    pub app: Name,
    /// The node.
    pub node: usize,
    /// When; the end of the run for what is missing.
    pub time: Instant,
    /// What.
    pub wrong: Wrong,
}

/// What became of one version of an application.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The application.
    pub app: Name,
    /// The version.
    pub version: Version,
    /// Nodes in its scope that it could reach, if it is the newest; 0 for others.
    pub expected: usize,
    /// Nodes that installed it.
    pub installed: usize,
    /// Nodes that refused it.
    pub refused: usize,
    /// From the first delivery to the last installation.
    pub longest: Option<Duration>,
}

/// What became of all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// In the order of their first deliveries.
    pub outcomes: Vec<Outcome>,
    /// What was wrong, the first first.
    pub wrong: Vec<Finding>,
}

/// Judges a run. Each application may have a time within which it is to be installed everywhere, if all nodes are there all the time.
pub fn judge(field: &Field, run: &Run, within: &BTreeMap<Name, Duration>) -> Verdict {
    let end = Instant::ZERO.saturating_add(field.duration);
    let mut wrong = Vec::new();
    let mut newest: BTreeMap<Name, usize> = BTreeMap::new();
    for (k, it) in field.deliveries.iter().enumerate() {
        let refused = |(time, node, what): &(Instant, usize, Happened)| {
            let of = matches!(what, Happened::Refused(app, version, _) if (*app, *version) == (it.package.app, it.package.version));
            of && (*time, *node) == (it.time, it.node)
        };
        let there = field.members[it.node].comes <= it.time && it.time < field.members[it.node].goes;
        if it.time >= end || !there || run.events.iter().any(refused) {
            continue;
        }
        let known = newest.entry(it.package.app).or_insert(k);
        if field.deliveries[*known].package.version < it.package.version {
            *known = k;
        }
    }
    installations(field, run, within, &mut wrong);
    admitted(field, run, &mut wrong);
    let mut expected = BTreeMap::new();
    for (app, k) in &newest {
        let package = &field.deliveries[*k].package;
        expected.insert((*app, package.version), at_the_end(field, run, (*app, *k), package, &mut wrong));
    }
    wrong.sort_by_key(|it| (it.time, it.node));
    let mut outcomes: Vec<Outcome> = Vec::new();
    for it in &field.deliveries {
        let Package { app, version, .. } = it.package;
        // Delivered at a second node, it is the same.
        if outcomes.iter().any(|known| (known.app, known.version) == (app, version)) {
            continue;
        }
        let installed = run.events.iter().filter(|(.., what)| *what == Happened::Installed(app, version));
        let (installed, last) = installed.fold((0, None), |(many, _), (time, ..)| (many + 1, Some(*time)));
        let expected = expected.get(&(app, version)).copied().unwrap_or(0);
        let of = |what: &Happened| matches!(what, Happened::NotAdmitted(a, v, _) if (*a, *v) == (app, version));
        let refused = run.events.iter().filter(|(.., what)| of(what)).count();
        outcomes.push(Outcome {
            app,
            version,
            expected,
            installed,
            refused,
            longest: last.map(|time| time.since(it.time)),
        });
    }
    Verdict { outcomes, wrong }
}

/// Each installation by itself: in scope, once in a life, in time.
fn installations(field: &Field, run: &Run, within: &BTreeMap<Name, Duration>, wrong: &mut Vec<Finding>) {
    let mut seen = Vec::new();
    for (time, node, what) in &run.events {
        let Happened::Installed(app, version) = *what else { continue };
        let mut find = |what| wrong.push(Finding { app, node: *node, time: *time, wrong: what });
        let delivered = field.deliveries.iter().filter(|it| (it.package.app, it.package.version) == (app, version));
        let first = delivered.clone().filter(|it| it.time <= *time).min_by_key(|it| it.time);
        match first {
            Some(it) if it.package.scope.covers(&field.members[*node].description) && !it.package.removed => {
                let limit = within.get(&app).filter(|limit| time.since(it.time) > **limit);
                let there = field.members.iter().all(|it| it.comes == Instant::ZERO && it.goes == Instant::NEVER);
                if let Some(limit) = limit.filter(|_| there) {
                    find(Wrong::Late(*limit));
                }
            }
            _ => find(Wrong::OutOfScope),
        }
        if seen.contains(&(node, app, version)) {
            find(Wrong::Twice);
        }
        seen.push((node, app, version));
    }
}

/// Each node with slots by itself: it hosts what its slots admit, no more than it has slots, and refuses for a reason that holds.
fn admitted(field: &Field, run: &Run, wrong: &mut Vec<Finding>) {
    let mut hosted: BTreeMap<usize, BTreeSet<Name>> = BTreeMap::new();
    for (at, (time, node, what)) in run.events.iter().enumerate() {
        let Some(slots) = field.members[*node].slots.as_ref() else { continue };
        let here = hosted.entry(*node).or_default();
        let found = match *what {
            Happened::Installed(app, version) => {
                here.insert(app);
                let admitted = slots.admitting(app, version).next().is_some() && here.len() <= slots.names.len();
                (!admitted).then_some((app, Wrong::NotAdmitted))
            }
            Happened::Removed(app, version) => {
                // A newer version has come, or none.
                let stays = run.events.get(at + 1).is_some_and(|(then, there, next)| {
                    let newer = matches!(next, Happened::Installed(name, v) if *name == app && *v > version);
                    (then, there) == (time, node) && newer
                });
                if !stays {
                    here.remove(&app);
                }
                None
            }
            Happened::NotAdmitted(app, version, refusal) => {
                // Its slots may be taken by what is loaded now.
                let later = run.events[at..].iter().filter(|(_, n, _)| n == node).filter_map(|(.., what)| match what {
                    Happened::Installed(other, _) => Some(*other),
                    _ => None,
                });
                let taken: BTreeSet<Name> = here.iter().copied().chain(later.filter(|it| *it != app)).collect();
                let refused = slots.refusals(app, version).any(|it| it.1 == refusal);
                let holds = match refusal.reason == slots.full {
                    true => taken.len() >= slots.names.len(),
                    false => refused && taken.len() >= slots.admitting(app, version).count(),
                };
                (!holds).then_some((app, Wrong::Refused(refusal)))
            }
            _ => None,
        };
        wrong.extend(found.map(|(app, what)| Finding { app, node: *node, time: *time, wrong: what }));
    }
}

/// Who should host the newest version at the end, and who does; gives how many should.
fn at_the_end(field: &Field, run: &Run, (app, k): (Name, usize), package: &Package, wrong: &mut Vec<Finding>) -> usize {
    let end = Instant::ZERO.saturating_add(field.duration);
    let there = |n: usize| field.members[n].comes < end && end <= field.members[n].goes;
    let hosted = |n: usize| run.hosted.iter().find(|(node, name, ..)| (*node, *name) == (n, app));
    let covers = |n: usize| package.scope.covers(&field.members[n].description);
    // From where it was delivered, and from where it is.
    let origin = field.deliveries[k].node;
    let from = (0..field.members.len()).filter(|&n| {
        there(n) && (n == origin || hosted(n).is_some_and(|(.., version, _)| *version == package.version))
    });
    let reached = reach(field, from.collect(), package, there);
    let mut find = |node, what| wrong.push(Finding { app, node, time: end, wrong: what });
    let mut expected = 0;
    let refusal = |(_, node, what): &(Instant, usize, Happened)| match *what {
        Happened::NotAdmitted(name, version, why) if (name, version) == (app, package.version) => Some((*node, why)),
        _ => None,
    };
    let refusals: BTreeMap<usize, Refusal> = run.events.iter().filter_map(refusal).collect();
    for n in (0..field.members.len()).filter(|&n| there(n)) {
        if let Some(why) = refusals.get(&n).filter(|_| reached[n]) {
            let reported = (end, origin, Happened::Reported(app, package.version, n, *why));
            let known = run.events.iter().any(|it| (it.1, it.2) == (reported.1, reported.2));
            // Of many, those of the first nodes are told.
            if !known
                && refusals.len() <= MOST_REFUSALS
                && there(origin)
                && reach(field, alloc::vec![n], package, there)[origin]
            {
                find(n, Wrong::Unreported);
            }
            continue;
        }
        let should = covers(n) && reached[n] && !package.removed;
        expected += usize::from(should);
        match hosted(n) {
            None if should => find(n, Wrong::NotInstalled),
            Some((.., version, _)) if *version != package.version && reached[n] => find(n, Wrong::Older(*version)),
            Some((.., version, bytes)) if *version == package.version && *bytes != field.deliveries[k].bytes => {
                find(n, Wrong::Bytes);
            }
            _ => {}
        }
    }
    expected
}

/// To which nodes a version comes from these, over nodes that are there.
fn reach(field: &Field, from: Vec<usize>, package: &Package, there: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut outside: Vec<Option<u8>> = alloc::vec![None; field.members.len()];
    let mut todo: Vec<(usize, u8)> = from.into_iter().map(|n| (n, 0)).collect();
    while let Some((n, hops)) = todo.pop() {
        if outside[n].is_some_and(|known| known <= hops) {
            continue;
        }
        outside[n] = Some(hops);
        for to in field.members[n].links.iter().map(|link| link.to).filter(|&to| there(to)) {
            let covers = package.scope.covers(&field.members[to].description);
            let hops = if covers { 0 } else { hops.saturating_add(1) };
            if hops <= package.radius {
                todo.push((to, hops));
            }
        }
    }
    outside.into_iter().map(|it| it.is_some()).collect()
}
