//! Whether each application came to where it belongs, in time, and nowhere else.
//!
//! What should be follows from the network alone: from where an application is known at the end it reaches every node in its scope to
//! which there is a way whose nodes tell of it, which are those in scope and those no more than its radius away from one. Nothing here
//! asks a node what it thinks.

use crate::field::{Field, Happened, Run};
use crate::frame::{Name, Package, Version};
use alloc::collections::BTreeMap;
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
        outcomes.push(Outcome { app, version, expected, installed, longest: last.map(|time| time.since(it.time)) });
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
    for n in (0..field.members.len()).filter(|&n| there(n)) {
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
