//! `[[task]]`: one task and what its jobs really take.

use super::keys::{shorten, Reader, Section, Value};
use crate::draft::{DraftDemand, DraftExecution, DraftTask, Given};
use crate::problem::{Complaint, Location};
use crate::text::read_text;
use crate::units::parse_duration;
use crate::{Demand, LONGEST, MAX_LIST, SHORTEST_JOB};
use std::path::Path;
use tactus_time::{Duration, Level};
use toml::de::DeValue;

const TASK: [&str; 33] = [
    "name",
    "level",
    "core",
    "offset",
    "period",
    "deadline",
    "execution",
    "actual",
    "minimum",
    "memory",
    "misses",
    "write-backs",
    "hitm",
    "component",
    "server",
    "partition",
    "cluster",
    "priority",
    "preemption-threshold",
    "overrun",
    "virtual-deadline",
    "release",
    "after",
    "early",
    "longest-distance",
    "jitter",
    "least-distance",
    "raised-by",
    "interrupt",
    "message",
    "sections",
    "waits",
    "colours",
];
const LEVELS: [&str; 4] = ["A", "B", "C", "D"];
const ACTUAL: [&str; 9] = ["level", "min", "max", "usual", "scale", "probability", "mean", "deviation", "file"];
const BETA: [&str; 5] = ["usual", "scale", "probability", "mean", "deviation"];

/// Reads one task as far as it can be read.
pub(super) fn read<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftTask> {
    let name = value.get_ref().as_table().and_then(|table| table.iter().find(|(key, _)| key.get_ref() == "name"));
    let subject = match name.and_then(|(_, name)| name.get_ref().as_str()) {
        Some(name) => format!("task {}", shorten(name)),
        None => format!("task number {}", index + 1),
    };
    let section = reader.open(value, subject, &TASK)?;
    section.require(reader, "name", "name = \"sensor-fusion\"");
    section.require(reader, "period", "period = \"100 ms\"");
    section.require(reader, "execution", "execution = \"2 ms\"");
    let execution = read_execution(&section, reader);
    Some(DraftTask {
        place: section.place,
        name: section.string(reader, "name", "a name in quotes"),
        level: section.level(reader, "level"),
        core: section.integer(reader, "core", "the number of a core, counted from 0"),
        offset: section.duration(reader, "offset"),
        period: section.duration(reader, "period"),
        deadline: section.duration(reader, "deadline"),
        execution,
        actual: read_actual(&section, reader),
        minimum: section.duration(reader, "minimum"),
        memory: section.size(reader, "memory"),
        misses: section.integer(reader, "misses", "a number of lines from memory"),
        write_backs: section.integer(reader, "write-backs", "a number of lines written back to memory"),
        hitm: section.integer(reader, "hitm", "a number of accesses to lines that another core changed"),
        component: section.string(reader, "component", "the name of a [[component]] in quotes"),
        colours: super::colours::own(&section, reader),
        placing: super::server::place(&section, reader),
        subject: section.subject,
    })
}

pub(super) fn read_execution(task: &Section<'_>, reader: &mut Reader<'_>) -> Given<DraftExecution> {
    let Some(value) = task.get("execution") else { return Given::Absent };
    if !value.get_ref().is_table() {
        return task.duration(reader, "execution").map(DraftExecution::Plain);
    }
    let Some(levels) = reader.open(value, format!("{}: execution", task.subject), &LEVELS) else {
        return Given::Broken;
    };
    let times = LEVELS.map(|level| match levels.get(level) {
        Some(value) => reader.duration_of(value, &task.subject, &format!("execution at level {level}")),
        None => Given::Absent,
    });
    Given::is(DraftExecution::Levels(times), levels.place)
}

fn read_actual(task: &Section<'_>, reader: &mut Reader<'_>) -> Given<DraftDemand> {
    let Some(value) = task.get("actual") else { return Given::Absent };
    if !matches!(value.get_ref(), DeValue::Table(_)) {
        return job_time(task.duration(reader, "actual"), &task.subject, "actual", reader)
            .map(|length| DraftDemand::Demand(Demand::Fixed(length)));
    }
    let Some(actual) = reader.open(value, format!("{}: actual", task.subject), &ACTUAL) else { return Given::Broken };
    let has = |key: &str| actual.get(key).is_some();
    let forms = [has("level"), has("min") || has("max"), BETA.iter().any(|key| has(key)), has("file")];
    let demand = match forms {
        [true, false, false, false] => read_level(&actual, reader),
        [false, true, false, false] => read_uniform(&actual, reader),
        [false, false, true, false] => read_beta(&actual, reader),
        [false, false, false, true] => read_list(&actual, reader),
        _ => {
            let expected = "a time, or a table with one of: level; min and max; usual, scale, probability, mean and \
                            deviation; file";
            let complaint = Complaint::Refused {
                why: if forms == [false; 4] { "it says nothing" } else { "it mixes several ways to say it" }.into(),
                remedy: format!("write {expected}"),
            };
            reader.out.add(actual.place, &actual.subject, complaint);
            None
        }
    };
    demand.map_or(Given::Broken, |demand| Given::is(demand, actual.place))
}

fn read_level(actual: &Section<'_>, reader: &mut Reader<'_>) -> Option<DraftDemand> {
    let level: Option<Level> = actual.level(reader, "level").value();
    level.map(DraftDemand::Level)
}

fn read_uniform(actual: &Section<'_>, reader: &mut Reader<'_>) -> Option<DraftDemand> {
    actual.require(reader, "min", "min = \"1 ms\"");
    actual.require(reader, "max", "max = \"2 ms\"");
    let min = job_time(actual.duration(reader, "min"), &actual.subject, "min", reader);
    let max = job_time(actual.duration(reader, "max"), &actual.subject, "max", reader);
    let (Given::Is(min), Given::Is(max)) = (min, max) else { return None };
    if min.value > max.value {
        let limit = format!("more than max, {}", max.value);
        reader.out.out_of_range(min.place, &actual.subject, "min", min.value, limit, "exchange the two");
        return None;
    }
    Some(DraftDemand::Demand(Demand::Uniform { min: min.value, max: max.value }))
}

fn read_beta(actual: &Section<'_>, reader: &mut Reader<'_>) -> Option<DraftDemand> {
    actual.require(reader, "scale", "scale = \"5 ms\"");
    actual.require(reader, "mean", "mean = 0.3");
    actual.require(reader, "deviation", "deviation = 0.1");
    let probability = actual.float(reader, "probability", "a number from 0 to 1");
    let scale = job_time(actual.duration(reader, "scale"), &actual.subject, "scale", reader).value();
    let usual = job_time(actual.duration(reader, "usual"), &actual.subject, "usual", reader);
    let mean = actual.float(reader, "mean", "a number between 0 and 1");
    let deviation = actual.float(reader, "deviation", "a number between 0 and 0.5");
    if let Some(p) = probability.get().filter(|p| !(0.0..=1.0).contains(&p.value)) {
        let limit = "outside 0 to 1";
        reader.out.out_of_range(p.place, &actual.subject, "probability", p.value, limit, "choose a number from 0 to 1");
        return None;
    }
    // With a probability of 1, the default, no job is an ordinary one.
    let ordinary = probability.value().is_some_and(|p| p < 1.0);
    if ordinary {
        actual.require(reader, "usual", "usual = \"1 ms\"");
    } else if let (Given::Is(usual), false) = (&usual, matches!(probability, Given::Broken)) {
        let why = "\"usual\" has no meaning where every job is drawn from the beta distribution";
        reader.out.refuse(usual.place, &actual.subject, why, "remove it, or give a probability below 1");
        return None;
    }
    let (Some(scale), Given::Is(mean), Given::Is(deviation)) = (scale, mean, deviation) else { return None };
    if !(mean.value > 0.0 && mean.value < 1.0) {
        let remedy = "choose a number between the two; scale turns it into a time";
        reader.out.out_of_range(mean.place, &actual.subject, "mean", mean.value, "not between 0 and 1", remedy);
        return None;
    }
    if crate::demand::shape(mean.value, deviation.value).is_none() {
        let most = (mean.value * (1.0 - mean.value)).sqrt();
        let limit = format!("outside what a beta distribution with mean {} can have", mean.value);
        let remedy = format!("choose a number above 0.001 and well below {most:.3}");
        reader.out.out_of_range(deviation.place, &actual.subject, "deviation", deviation.value, limit, remedy);
        return None;
    }
    if matches!(probability, Given::Broken) || (ordinary && usual.get().is_none()) {
        return None;
    }
    Some(DraftDemand::Demand(Demand::Beta {
        usual: usual.value().unwrap_or(scale),
        scale,
        probability: probability.value().unwrap_or(1.0),
        mean: mean.value,
        deviation: deviation.value,
    }))
}

/// Reads job times from a file beside the system file: one on each line, `#` begins a comment.
fn read_list(actual: &Section<'_>, reader: &mut Reader<'_>) -> Option<DraftDemand> {
    let Given::Is(name) = actual.string(reader, "file", "the name of a file in quotes") else { return None };
    let path = reader.out.file().parent().unwrap_or(Path::new("")).join(&name.value);
    let text = match read_text(&path) {
        Ok(text) => text,
        Err((None, Complaint::Unreadable { reason })) => {
            let why = format!("file {} cannot be read: {reason}", shorten(&name.value));
            let remedy = "name a text file beside the system file, one time on each line";
            reader.out.refuse(name.place, &actual.subject, why, remedy);
            return None;
        }
        Err((place, complaint)) => {
            reader.out.add_elsewhere(&path, place, &actual.subject, complaint);
            return None;
        }
    };
    let mut times = Vec::new();
    let mut faults = 0;
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        match parse_duration(line) {
            Ok(length) if (SHORTEST_JOB..=LONGEST).contains(&length) => times.push(length),
            _ => {
                faults += 1;
                // A file of another kind altogether would be quoted line by line.
                if faults <= 10 {
                    let complaint = Complaint::Malformed {
                        what: "job time".into(),
                        found: shorten(line),
                        expected: format!("a time from {SHORTEST_JOB} to {LONGEST} like \"1.5 ms\""),
                    };
                    let place = Location { line: i + 1, column: 1 };
                    reader.out.add_elsewhere(&path, Some(place), &actual.subject, complaint);
                }
            }
        }
    }
    if faults > 0 {
        return None;
    }
    if times.is_empty() || times.len() > MAX_LIST {
        let limit = if times.is_empty() { "none" } else { "more than 100000" };
        let what = format!("the number of times in {}", shorten(&name.value));
        reader.out.out_of_range(name.place, &actual.subject, what, times.len(), limit, "put 1 to 100000 times in it");
        return None;
    }
    Some(DraftDemand::Demand(Demand::List(times)))
}

/// A time that a job can take.
fn job_time(time: Given<Duration>, subject: &str, what: &str, reader: &mut Reader<'_>) -> Given<Duration> {
    match time {
        Given::Is(at) if at.value < SHORTEST_JOB => {
            let limit = format!("less than the {SHORTEST_JOB} that every job takes");
            reader.out.out_of_range(at.place, subject, what, at.value, limit, "raise it");
            Given::Broken
        }
        other => other,
    }
}
