//! Each feature by itself and with each other one. Where a test covers both, a task that meets both has a bound, which is attacked; but for
//! the cells named below. Where none does, nothing is promised.

use crate::common::attack::{beaten, demands, try_longest};
use crate::common::Dice;
use std::collections::{BTreeMap, BTreeSet};
use tactus_analysis::check::{features_of, tests};
use tactus_analysis::{check, TaskVerdict};
use tactus_generate::featured;
use tactus_model::{Costs, Feature, Features};

/// Systems that are drawn for a cell that some test covers, until one has a bound; and for one that none covers.
const DRAWN: u64 = 160;
const UNTESTED: u64 = 4;

/// Cells that a test covers, of systems that the policy refuses, with what it says.
const REFUSED: [(&[Feature], &[Feature], &str); 7] = [
    (
        &[
            Feature::SectionNonPreemptive,
            Feature::SectionCeiling,
            Feature::SectionInheritance,
            Feature::SectionMsrp,
            Feature::SectionFmlp,
            Feature::SectionAcrossCores,
            Feature::NestedSections,
            Feature::Withdrawn,
            Feature::PreemptionThreshold,
        ],
        &[Feature::ShortestJob, Feature::SlackMonotonic],
        "ceilings need one queue for each core, ordered by priority, period or deadline",
    ),
    (
        &[Feature::PreemptionThreshold],
        &[Feature::RateMonotonic, Feature::DeadlineMonotonic],
        "a preemption threshold is a priority",
    ),
    (&[Feature::Burst, Feature::Jitter], &[Feature::Reconfiguration], "this policy knows only jobs that time releases"),
    (&[Feature::Wait], &[Feature::Reconfiguration], "its jobs may not wait"),
    (
        &[Feature::ServerMisses],
        &[Feature::NestedServer, Feature::Background, Feature::Reconfiguration],
        "it belongs into the root of a tree that does not change",
    ),
    (
        &[Feature::ServerYieldingToChanged, Feature::ServerYieldingToMisses],
        &[Feature::Background, Feature::Reconfiguration],
        "that takes a server in the root, the only such on its cores",
    ),
    (
        &[Feature::ServerYieldingToChanged],
        &[Feature::ServerYieldingToMisses],
        "that takes a server in the root, the only such on its cores",
    ),
];

/// Cells that a test covers, whose tasks have no bound in any system drawn here, with what the check says of one of them.
const WITHOUT_BOUND: [(&[Feature], &[Feature], &str); 6] = [
    (&[Feature::FixedPriority], &[Feature::ServerReclaiming], "where it never waits and its budget bounds nothing"),
    (&[Feature::EarliestDeadline], &[Feature::ServerMisses], "has a budget of misses, which bounds no time"),
    (
        &[Feature::ServerYieldingToChanged, Feature::ServerYieldingToMisses],
        &[Feature::SharedQueue, Feature::NestedServer],
        "gives way to all others, and to a counter",
    ),
    (
        &[Feature::SharedQueue],
        &[Feature::ServerSoftBandwidth, Feature::ServerReclaiming],
        "no test of servers covers a queue of several cores",
    ),
    (
        &[Feature::ShortestJob, Feature::SlackMonotonic, Feature::LeastLaxity, Feature::LaxityAtRelease],
        &[Feature::MissCost],
        "which goes by the execution times of the file",
    ),
    (
        &[Feature::ServerSoftBandwidth, Feature::ServerReclaiming],
        &[Feature::NestedServer],
        "around it is in no test of tasks in",
    ),
];

/// What a list says of a cell.
fn named<'l>(list: &'l [(&[Feature], &[Feature], &str)], (one, other): (Feature, Feature)) -> Option<&'l str> {
    let has = |(these, those, _): &&(&[Feature], &[Feature], &str)| {
        these.contains(&one) && those.contains(&other) || these.contains(&other) && those.contains(&one)
    };
    list.iter().find(has).map(|(_, _, why)| *why)
}

/// What is found of a cell; what says more comes later.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Cell {
    /// No task meets both.
    Never,
    /// No test covers both, and nothing is promised where a task meets both.
    Untested,
    /// A test covers both, and no task that meets both has a bound; what is said of them.
    WithoutBound(String),
    /// A test covers both and bounds a task that meets both; the policy refuses the system, with these words.
    Refused(String),
    /// A test covers both, and a bound of a task that meets both is attacked.
    Attacked,
}

fn cell(one: Feature, other: Feature) -> Cell {
    let both = Features::of(&[one, other]);
    let covered = tests().iter().any(|test| test.covers.cover(both));
    let (mut cell, mut said) = (Cell::Never, BTreeSet::new());
    for seed in 0..if covered { DRAWN } else { UNTESTED } {
        let load = 0.06 + 0.03 * (seed % 6) as f64;
        let Some(system) = featured(&[one, other], seed, load) else { continue };
        let costs = Costs::default();
        let found = check(&system, &costs);
        let all = 0..system.tasks.len();
        let meeting: Vec<usize> = all.filter(|n| features_of(&system, *n).cover(both)).collect();
        let bounded = |n: &&usize| matches!(found.tasks[**n].verdict, TaskVerdict::Bounded { .. });
        let Some(n) = meeting.iter().find(bounded) else {
            if !meeting.is_empty() {
                said.extend(meeting.iter().map(|n| found.tasks[*n].explanation().to_string()));
                cell = cell.max(if covered { Cell::WithoutBound(String::new()) } else { Cell::Untested });
            }
            continue;
        };
        let name = &system.tasks[*n].name;
        assert!(covered, "{one:?} and {other:?}, seed {seed}: `{name}` is promised something\n{found}");
        match try_longest(&system, &found, &costs, demands(&system, &mut Dice::new(seed))) {
            Ok(worst) => {
                let beaten = beaten(&system, &found, &worst);
                assert!(beaten.is_none(), "{one:?} and {other:?}, seed {seed}: {beaten:?}\n{found}");
                return Cell::Attacked;
            }
            Err(error) => cell = Cell::Refused(error.to_string()),
        }
    }
    match cell {
        Cell::WithoutBound(_) => Cell::WithoutBound(said.into_iter().collect::<Vec<_>>().join("; ")),
        Cell::Never | Cell::Untested | Cell::Refused(_) | Cell::Attacked => cell,
    }
}

#[test]
fn each_pair_of_features_is_attacked_or_refused_or_promised_nothing() {
    let (mut wrong, mut counts) = (Vec::new(), BTreeMap::new());
    for (i, one) in Feature::ALL.iter().enumerate() {
        for other in &Feature::ALL[i..] {
            let cell = cell(*one, *other);
            let (refused, without) = (named(&REFUSED, (*one, *other)), named(&WITHOUT_BOUND, (*one, *other)));
            let right = match &cell {
                Cell::Never | Cell::Untested | Cell::Attacked => refused.is_none() && without.is_none(),
                Cell::Refused(why) => refused.is_some_and(|told| why.contains(told)),
                Cell::WithoutBound(why) => without.is_some_and(|told| why.contains(told)),
            };
            if !right {
                wrong.push(format!("{one:?} and {other:?}: {cell:?}"));
            }
            let kind = match cell {
                Cell::Never => "never",
                Cell::Untested => "untested",
                Cell::WithoutBound(_) => "without bound",
                Cell::Refused(_) => "refused",
                Cell::Attacked => "attacked",
            };
            *counts.entry(kind).or_insert(0) += 1;
        }
    }
    println!("{counts:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(counts["attacked"] > 1_560, "{counts:?}");
}
