//! Judgement of a run of cores that execute at the same time: only what does not depend on how long anything takes.

use std::collections::BTreeMap;
use tactus_machine::boot::{machine, Ran, WHOLE_RUN};
use tactus_machine::failure::Failure;
use tactus_machine::schedulers;
use tactus_model::System;
use tactus_plan::RunPlan;
use tactus_record::{EventKind, Record, RequestEvent};
use tactus_time::Duration;
use tactus_trace::check::{self, Rule};
use tactus_trace::{in_order, Trace};

/// Longer than any run: how late something may be noticed on a host that gives its cores to others.
const ANY_TIME: Duration = Duration::from_secs(3_600);

/// The rules of every schedule that hold however long anything takes. The others tell how soon a core acts upon what it should, or, as
/// that of servers does, whose request was there first, which cores that execute at the same time do not agree on.
const TIMELESS: [Rule; 7] =
    [Rule::Known, Rule::Whole, Rule::Monotone, Rule::OneCore, Rule::Sequence, Rule::Exclusion, Rule::NoEvents];

/// What the kernel says when it has found a rule broken or itself at fault.
const COMPLAINTS: [&str; 4] = ["tactus: broken rule", "kernel panic", "kernel fault", "the root scheduler"];

/// What is wrong with how the machine ended and with what it said.
pub fn of_console(code: u32, log: &str) -> Vec<String> {
    let mut found: Vec<String> =
        log.lines().filter(|line| COMPLAINTS.iter().any(|it| line.contains(it))).map(str::to_string).collect();
    if !WHOLE_RUN.contains(&code) {
        found.push(format!("the machine gave up with code {code:#x}"));
    } else if !log.lines().any(adds_up) {
        found.push("the kernel does not tell that used and idle time add up to what elapsed".to_string());
    }
    found
}

/// The kernel's last word: `tactus: checked 9 ways out; 5 used + 6 idle = 11 elapsed on 2 cores, core 0 ends`.
fn adds_up(line: &str) -> bool {
    let numbers = |(before, after): (&str, &str)| {
        let last = |text: &str| text.split_whitespace().rev().find_map(|word| word.parse::<u64>().ok());
        let first = |text: &str| text.split_whitespace().find_map(|word| word.parse::<u64>().ok());
        Some((last(before)?, first(after)?))
    };
    let sum = || {
        let (used, idle) = numbers(line.split_once(" used + ")?)?;
        let (_, elapsed) = numbers(line.split_once(" idle = ")?)?;
        Some(used + idle == elapsed)
    };
    sum() == Some(true)
}

/// What is wrong with the trace.
pub fn of_trace(system: &System, plan: &RunPlan, ran: &Ran) -> Result<Vec<String>, Failure> {
    let all = check::all(&plan.view, &ran.trace, ANY_TIME).into_iter();
    let mut found: Vec<String> = all
        .filter(|it| TIMELESS.contains(&it.rule))
        .map(|it| {
            format!("{}: core {}, {}, task {:?} job {:?}: {}", it.rule, it.core, it.time, it.task, it.job, it.text)
        })
        .collect();
    found
        .extend(ran.trace.dropped.iter().filter(|count| **count > 0).map(|count| format!("{count} records were lost")));
    for trace in &ran.schedulers {
        found.extend(tickets(trace));
    }
    found.extend(answers(&ran.trace));
    let monitors = tactus_trace::monitor(&plan.view, &ran.trace, &plan.view.monitors).map_err(machine)?;
    let disputed = monitors.into_iter().filter_map(|it| Some((it.monitor, it.disputed?)));
    found.extend(disputed.map(|(monitor, why)| format!("monitor {monitor}: {why}")));
    // A core that the host lets begin when the run is over has decided nothing.
    let begun = |records: &Vec<Record>| records.iter().any(|it| it.kind == EventKind::Enter);
    if ran.schedulers.iter().all(|trace| trace.cores.iter().all(begun)) {
        if let Err(wrong) = schedulers::replay(system, &plan.setup, &ran.schedulers, ANY_TIME)? {
            found.push(format!("a decision that is not the policy's: {wrong}"));
        }
    }
    Ok(found)
}

/// Decisions on what cores share have one order: no ticket is missing, and none was given twice.
fn tickets(trace: &Trace) -> Option<String> {
    let leaves = trace.cores.iter().flatten().filter(|it| it.kind == EventKind::Leave && it.ticket != 0);
    let mut all: Vec<u32> = leaves.map(|it| it.ticket).collect();
    all.sort_unstable();
    let wrong = all.iter().zip(1..).find(|(ticket, expected)| *ticket != expected);
    wrong.map(|(ticket, expected)| format!("a decision has ticket {ticket} where {expected} should come"))
}

/// No client of a service is answered more often than it has asked. It tells of a request when it has sent it, so that an answer from
/// another core may be told of before.
fn answers(trace: &Trace) -> Option<String> {
    let (mut outstanding, mut wrong) = (BTreeMap::<u16, i64>::new(), None);
    in_order(trace, |record| match RequestEvent::of(record) {
        Some(RequestEvent::Request(client)) => *outstanding.entry(client).or_default() += 1,
        Some(RequestEvent::Answer(client)) => {
            let left = outstanding.entry(client).or_default();
            *left -= 1;
            if *left < -1 && wrong.is_none() {
                wrong = Some(format!("client {client} is answered at {} and has not asked", record.time));
            }
        }
        None => {}
    });
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_whole_only_if_its_time_adds_up() {
        let line = |idle: u64| {
            format!("tactus: checked 9 ways out; 5 used + {idle} idle = 11 elapsed on 2 cores, core 0 ends\n")
        };
        assert_eq!(of_console(0x10, &line(6)), Vec::<String>::new());
        assert_eq!(of_console(0x10, &line(5)).len(), 1);
        assert_eq!(of_console(0x10, "").len(), 1);
        assert_eq!(of_console(0x75, &format!("tactus: broken rule: a slot has one holder (3)\n{}", line(6))).len(), 2);
    }
}
