//! Fixed priorities with and without preemption against pyCPA, on a frozen sample (`oracle/pycpa_sample.py`).
//!
//! Two conventions differ. pyCPA counts a response from the release, ours from the arrival, so they are equal for tasks
//! without jitter of their own and at most the jitter apart for others. pyCPA's time is continuous, so that a less urgent
//! job blocks for C, ours discrete, so that it blocks for C − 1: the sample's blocking tasks get one unit more here.

#![allow(mixed_script_confusables)]

use tactus_analysis::effort::Effort;
use tactus_analysis::task::{Dedicated, Sporadic};
use tactus_analysis::uniprocessor::{fixed_priority, nonpreemptive_fp};
use tactus_time::Duration;

fn tasks(text: &str) -> Vec<Sporadic> {
    let ns = |n: &str| Duration::from_nanos(n.parse().unwrap());
    let one = |task: &str| {
        let [c, t, j] = task.split(',').map(ns).collect::<Vec<_>>()[..] else { panic!("{task}") };
        Sporadic { jitter: j, ..Sporadic::implicit(c, t) }
    };
    text.split(' ').map(one).collect()
}

#[test]
fn responses_equal_those_of_pycpa_where_conventions_agree() {
    let (mut equal, mut apart) = ([0, 0], 0);
    for line in include_str!("data/pycpa.csv").lines() {
        let [scheduler, set, theirs] = line.split(';').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let set = tasks(set);
        let preemptive = scheduler == "SPP";
        for (i, theirs) in theirs.split(' ').enumerate() {
            let effort = &mut Effort::default();
            let ours = if preemptive {
                fixed_priority::response(&set[i], &set[..i], Duration::ZERO, &Dedicated, effort)
            } else {
                let longer = |τ: &Sporadic| Sporadic { execution: τ.execution + Duration::from_nanos(1), ..*τ };
                let lower: Vec<Sporadic> = set[i + 1..].iter().map(longer).collect();
                nonpreemptive_fp::response(&set[i], &set[..i], &lower, effort)
            };
            let ours = ours.expect("no set of the sample is overloaded").as_nanos();
            let theirs: u64 = theirs.parse().expect("pyCPA found a response");
            if set[i].jitter.is_zero() {
                assert_eq!(ours, theirs, "task {i} of {line}");
                equal[usize::from(preemptive)] += 1;
            } else {
                assert!((theirs..=theirs + set[i].jitter.as_nanos()).contains(&ours), "task {i} of {line}: {ours}");
                apart += 1;
            }
        }
    }
    assert!(equal[0] > 300 && equal[1] > 300 && apart > 100, "{equal:?} {apart}");
}
