//! Random systems of servers that reclaim bandwidth, with the system's own work: what the check accepts keeps its bounds.

use std::fmt::Write;
use std::path::Path;
use tactus_generate::Random;
use tactus_model::System;
use tactus_plan::plan;
use tactus_sim::{simulate, Costs};
use tactus_time::TaskId;
use tactus_trace::{judge, Verdict};

/// One core, one to four servers of which one at least reclaims, one or two tasks in each; a quarter of the jobs are shorter.
fn system(seed: u64) -> System {
    let mut random = Random::new(seed);
    let mut text = String::from(
        "[system]\nname = \"reclaiming\"\ncores = 1\nduration = \"1 s\"\n[policy]\nkind = \"partitioned-edf\"\n",
    );
    let mut left: u64 = 1_000;
    for server in 0..random.between(1, 4) {
        let kind =
            if server == 0 { "grub" } else { ["grub", "grub", "cbs-soft", "cbs-hard"][random.between(0, 3) as usize] };
        let (period, share) = (random.between(8, 60), (random.between(1, 10) * left / 12).max(13));
        if left < share {
            break;
        }
        left -= share;
        let budget = period * share;
        let order = ["partitioned-edf", "partitioned-fifo", "partitioned-rm"][random.between(0, 2) as usize];
        let _ = writeln!(
            text,
            "[[server]]\nname = \"s{server}\"\nkind = \"{kind}\"\nbudget = \"{budget} us\"\nperiod = \"{period} ms\"\n\
             policy = \"{order}\""
        );
        let tasks = random.between(1, 2);
        for task in 0..tasks {
            let distance = random.between(10, 120);
            let time = (distance * share * random.between(2, 10) / 10 / tasks).max(20);
            let _ = writeln!(
                text,
                "[[task]]\nname = \"t{server}{task}\"\nserver = \"s{server}\"\ncore = 0\nperiod = \"{distance} ms\"\n\
                 execution = \"{time} us\"\noffset = \"{} us\"",
                random.between(0, 9_000)
            );
        }
    }
    System::parse_toml(&text, Path::new("reclaiming.toml")).unwrap_or_else(|problem| panic!("{problem}\n{text}"))
}

/// How many systems were accepted.
fn accepted(seeds: std::ops::Range<u64>) -> usize {
    let mut accepted = 0;
    for seed in seeds {
        let system = system(seed);
        let costs = Costs::default();
        let check = tactus_analysis::check(&system, &costs);
        let plan = plan(&system, &check, &costs);
        let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
        let trace = simulate(&plan.setup, system.duration, demand, &costs).expect("the policy makes progress");
        let verdict = judge(&plan.view, &trace).verdict;
        let fine = matches!(verdict, Verdict::Held | Verdict::Refused | Verdict::NothingPromised | Verdict::Void);
        assert!(fine, "seed {seed}: {verdict:?}");
        accepted += usize::from(check.accepted);
    }
    accepted
}

#[test]
fn bounds_of_reclaiming_servers_are_not_beaten() {
    let accepted = accepted(0..250);
    println!("{accepted} of 250 accepted");
    assert!(accepted > 24, "{accepted} of 250");
}

#[test]
#[ignore = "takes minutes; run by name"]
fn bounds_of_thirty_thousand_systems_of_reclaiming_servers_are_not_beaten() {
    println!("{} of 30,000 accepted", accepted(1_000..31_000));
}
