//! rt-app's JSON of a system, in the words of version 1.0.

use super::{thread_name, Class, Out, ThreadSetup};
use std::fmt::Write;
use tactus_model::{Demand, System};
use tactus_task::Release;
use tactus_time::{CoreSet, Duration};

/// The most phases that a thread gets, where its jobs take different times.
const MOST_PHASES: usize = 1000;

/// A process with these threads.
pub(super) fn write(system: &System, threads: &[ThreadSetup], own: &[usize], out: &mut Out) -> String {
    let mut text = String::from("{\n\t\"tasks\" : {");
    for (i, n) in own.iter().enumerate() {
        text.push_str(if i == 0 { "\n" } else { ",\n" });
        thread(&mut text, system, (*n, &threads[*n]), out);
    }
    let seconds = system.duration.as_nanos().div_ceil(1_000_000_000);
    if Duration::from_secs(seconds) != system.duration {
        out.note(format!("rt-app counts seconds: it runs for {seconds} s instead of {}", system.duration));
    }
    let inherit = !system.scheduling.resources.is_empty();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "\n\t}},\n\t\"global\" : {{\n\t\t\"duration\" : {seconds},\n\t\t\"calibration\" : \"CPU{}\",\n\t\t\"default_policy\" : \
         \"SCHED_OTHER\",\n\t\t\"pi_enabled\" : {inherit},\n\t\t\"lock_pages\" : true,\n\t\t\"logdir\" : \"./\",\n\t\t\"ftrace\" : true\n\t}}\n}}\n",
        own.first().and_then(|n| threads[*n].cores.iter().next()).map_or(0, |core| core.0),
    );
    text
}

fn thread(text: &mut String, system: &System, (n, thread): (usize, &ThreadSetup), out: &mut Out) {
    let task = &system.tasks[n];
    let _ = writeln!(text, "\t\t\"{}\" : {{\n\t\t\t\"loop\" : -1,", thread.name);
    match thread.class {
        Class::Fifo(priority) => {
            let _ = writeln!(text, "\t\t\t\"policy\" : \"SCHED_FIFO\", \"priority\" : {priority},");
        }
        Class::Deadline(one) => {
            let mut us = |what: &str, length| micros(&task.name, what, length, out);
            let (runtime, period, deadline) =
                (us("execution", one.runtime), us("period", one.period), us("deadline", one.deadline));
            let _ = writeln!(text, "\t\t\t\"policy\" : \"SCHED_DEADLINE\",");
            let _ = writeln!(
                text,
                "\t\t\t\"dl-runtime\" : {runtime}, \"dl-period\" : {period}, \"dl-deadline\" : {deadline},"
            );
        }
    }
    let _ = writeln!(text, "\t\t\t\"cpus\" : [{}],", list(thread.cores));
    if !task.offset.is_zero() {
        let _ = writeln!(text, "\t\t\t\"delay\" : {},", micros(&task.name, "offset", task.offset, out));
    }
    let lengths = lengths(system, n, out);
    match lengths.as_slice() {
        [length] => {
            let _ = write!(text, "\t\t\t{}\n\t\t}}", events(system, n, *length, out).join(",\n\t\t\t"));
        }
        lengths => {
            text.push_str("\t\t\t\"phases\" : {\n");
            for (i, length) in lengths.iter().enumerate() {
                let comma = if i + 1 < lengths.len() { "," } else { "" };
                let events = events(system, n, *length, out).join(", ");
                let _ = writeln!(text, "\t\t\t\t\"p{i}\" : {{ \"loop\" : 1, {events} }}{comma}");
            }
            text.push_str("\t\t\t}\n\t\t}");
        }
    }
}

/// What the jobs take, in turn.
fn lengths(system: &System, n: usize, out: &mut Out) -> Vec<Duration> {
    let task = &system.tasks[n];
    let plain = system.scheduling.sections_of(n).is_empty() && system.scheduling.waits_of(n).is_empty();
    match &task.demand {
        Demand::Fixed(length) => vec![*length],
        Demand::List(all) if plain && all.len() <= MOST_PHASES => all.clone(),
        Demand::List(all) => {
            let longest = all.iter().copied().max().unwrap_or(task.budget());
            out.note(format!("each job of {} takes the longest of its times, {longest}", task.name));
            vec![longest]
        }
        Demand::Uniform { max, .. } => {
            out.note(format!(
                "rt-app draws nothing at random: each job of {} takes its longest time, {max}",
                task.name
            ));
            vec![*max]
        }
        Demand::Beta { scale, .. } => {
            let longest = (*scale).min(task.budget());
            out.note(format!("rt-app draws nothing at random: each job of {} takes {longest}", task.name));
            vec![longest]
        }
    }
}

/// What a job does at an instant of its work; of one instant in this order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// The later it was locked, the earlier.
    Unlock(std::cmp::Reverse<(Duration, usize)>),
    Sleep(Duration),
    Lock(usize),
}

/// The events of a job.
fn events(system: &System, n: usize, length: Duration, out: &mut Out) -> Vec<String> {
    let task = &system.tasks[n];
    let scheduling = &system.scheduling;
    let mut steps: Vec<(Duration, Step)> = Vec::new();
    for section in scheduling.sections_of(n) {
        let (from, to) = (section.after.min(length), section.actual_end().min(length));
        steps.push((from, Step::Lock(section.resource)));
        steps.push((to, Step::Unlock(std::cmp::Reverse((from, section.resource)))));
    }
    for wait in scheduling.waits_of(n) {
        steps.push((wait.after.min(length), Step::Sleep(wait.actual.unwrap_or(wait.length))));
    }
    steps.sort();
    let mut all = Vec::new();
    let place = scheduling.places.get(n).copied().unwrap_or_default();
    if let Release::After(..) = place.release {
        all.push(format!("\"suspend\" : \"{}\"", thread_name(system, &task.name)));
    }
    let (mut done, mut number) = (Duration::ZERO, 0);
    // Keys of one object must differ; rt-app looks at their beginnings.
    let mut put = |all: &mut Vec<String>, key: &str, value: String| {
        let tail = if number == 0 && key == "run" { String::new() } else { number.to_string() };
        number += 1;
        all.push(format!("\"{key}{tail}\" : {value}"));
    };
    for (at, step) in steps {
        if at > done {
            put(&mut all, "run", micros(&task.name, "execution", at.saturating_sub(done), out).to_string());
            done = at;
        }
        let resource = |n: usize| format!("\"{}\"", scheduling.resources[n].name);
        match step {
            Step::Lock(n) => put(&mut all, "lock", resource(n)),
            Step::Unlock(std::cmp::Reverse((_, n))) => put(&mut all, "unlock", resource(n)),
            Step::Sleep(length) => {
                put(&mut all, "sleep", micros(&task.name, "wait", length, out).to_string());
            }
        }
    }
    if length > done {
        put(&mut all, "run", micros(&task.name, "execution", length.saturating_sub(done), out).to_string());
    }
    for (other, placement) in scheduling.places.iter().enumerate() {
        if matches!(placement.release, Release::After(before, _) if before.index() == n) {
            all.push(format!("\"resume{other}\" : \"{}\"", thread_name(system, &system.tasks[other].name)));
        }
    }
    if !matches!(place.release, Release::After(..)) {
        let period = micros(&task.name, "period", task.period, out);
        all.push(format!("\"timer\" : {{ \"ref\" : \"unique\", \"period\" : {period}, \"mode\" : \"absolute\" }}"));
    }
    all
}

/// Whole microseconds.
fn micros(task: &str, what: &str, length: Duration, out: &mut Out) -> u64 {
    let nanos = length.as_nanos();
    if nanos % 1_000 != 0 {
        let what = format!("task {task}: its {what} of {nanos} ns; rt-app and its timers count whole microseconds");
        if out.refusals.iter().all(|it| it.what != what) {
            out.refuse(what, "round it");
        }
    }
    nanos / 1_000
}

fn list(cores: CoreSet) -> String {
    let cores: Vec<String> = cores.iter().map(|core| core.0.to_string()).collect();
    cores.join(", ")
}
