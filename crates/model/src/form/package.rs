//! What a package says of itself in TOML: under `[package.metadata.tactus]` of a `Cargo.toml`, or in a file of its own.

use super::each_of;
use super::keys::{shorten, Reader, Section, Value};
use super::platform::strings;
use super::slot::WITHOUT;
use crate::draft::{At, Given};
use crate::package::{DeclaredTask, PackageDeclaration};
use crate::problem::{Collector, Complaint, Location};
use crate::text::Lines;
use crate::units::format_size;
use tactus_package::admission::{LONGEST, MOST_TASKS};
use tactus_package::manifest::{is_name, Version, LONGEST_NAME, MOST_RIGHTS};
use tactus_time::Duration;
use toml::de::{DeTable, DeValue};

const KEYS: [&str; 6] = ["name", "version", "class", "heap", "uses", "task"];
const TASK: [&str; 5] = ["name", "execution", "period", "deadline", "priority"];
/// The largest priority, as in system files.
const LARGEST_PRIORITY: u64 = 1_000_000;
/// More heap than any slot has.
const MOST_HEAP: u64 = 1 << 30;

/// Name and version, where they are given.
#[derive(Clone, Default)]
pub(crate) struct Named {
    name: Option<At<String>>,
    version: Option<At<String>>,
}

/// What a `Cargo.toml` says.
pub(crate) struct Told {
    pub named: Named,
    pub declared: Option<PackageDeclaration>,
}

/// Reads a `Cargo.toml`; `whole`: and what it says of the package under `[package.metadata.tactus]`.
pub(crate) fn cargo(text: &str, whole: bool, out: &mut Collector) -> Option<Told> {
    let (root, lines) = parsed(text, out)?;
    let start = Location { line: 1, column: 1 };
    let Some(package) = inner(&root, "package") else {
        let remedy = "give the folder of a crate: one with [package] in its Cargo.toml";
        out.refuse(start, "", "it describes no package", remedy);
        return None;
    };
    let of = |key: &str| {
        let value = inner(package, key)?;
        Some(At { value: value.get_ref().as_str()?.to_string(), place: lines.place(value.span().start) })
    };
    let named = Named { name: of("name"), version: of("version") };
    if !whole {
        return Some(Told { named, declared: None });
    }
    let Some(own) = inner(package, "metadata").and_then(|it| inner(it, "tactus")) else {
        let why = "it does not say what tasks the package brings";
        let remedy = "add [package.metadata.tactus] with class = \"app\" and a [[package.metadata.tactus.task]], or give --manifest FILE";
        out.refuse(lines.place(package.span().start), "", why, remedy);
        return None;
    };
    let mut reader = Reader { lines, out };
    let declared = declaration(own, "package.metadata.tactus.task", &named, &mut reader);
    Some(Told { named, declared })
}

/// Reads a file of its own; what it does not name is called as its crate.
pub(crate) fn own(text: &str, crates: &Named, out: &mut Collector) -> Option<PackageDeclaration> {
    let (root, lines) = parsed(text, out)?;
    let mut reader = Reader { lines, out };
    // A place in another file is none here.
    let here = |at: &Option<At<String>>| {
        at.as_ref().map(|at| At { value: at.value.clone(), place: Location { line: 1, column: 1 } })
    };
    let named = Named { name: here(&crates.name), version: here(&crates.version) };
    declaration(&root, "task", &named, &mut reader)
}

fn parsed<'a>(text: &'a str, out: &mut Collector) -> Option<(Value<'a>, Lines<'a>)> {
    let lines = Lines::new(text);
    match DeTable::parse(text) {
        Ok(root) => {
            let span = root.span();
            Some((toml::Spanned::new(span, DeValue::Table(root.into_inner())), lines))
        }
        Err(error) => {
            let place = error.span().map(|span| lines.place(span.start));
            let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
            out.add(place, "", Complaint::Syntax { reason: format!("this is not TOML: {message}") });
            None
        }
    }
}

/// What the table has under this key.
fn inner<'v, 'a>(value: &'v Value<'a>, key: &str) -> Option<&'v Value<'a>> {
    value.get_ref().as_table()?.iter().find(|(own, _)| own.get_ref() == key).map(|(_, value)| value)
}

fn declaration<'v>(
    value: &'v Value<'v>,
    heading: &str,
    crates: &Named,
    reader: &mut Reader<'_>,
) -> Option<PackageDeclaration> {
    let section = reader.open_without(value, String::new(), &KEYS, &WITHOUT)?;
    section.require(reader, "class", "class = \"app\", the kind of slot that it is made for");
    section.require(reader, "task", &format!("[[{heading}]] with name, period and execution"));
    let own = |given: Given<String>, other: &Option<At<String>>| match given {
        Given::Absent => other.clone(),
        Given::Broken => None,
        Given::Is(at) => Some(at),
    };
    let name = own(section.string(reader, "name", "a name in quotes"), &crates.name);
    let version = own(section.string(reader, "version", "a version like \"1.2.3\""), &crates.version);
    for (key, missing, example) in
        [("name", name.is_none(), "name = \"blink\""), ("version", version.is_none(), "version = \"1.0.0\"")]
    {
        // What is broken has been told of.
        if missing && section.get(key).is_none() {
            section.require(reader, key, example);
        }
    }
    let name = name.and_then(|at| good_name(at, "", "name", reader));
    let version = version.and_then(|at| read_version(&at, reader));
    let class = section.string(reader, "class", "a name in quotes").get().cloned();
    let class = class.and_then(|at| good_name(at, "", "class", reader));
    let heap = section.size(reader, "heap");
    if let Some(at) = heap.get().filter(|at| at.value > MOST_HEAP) {
        let limit = format!("more than {}", format_size(MOST_HEAP));
        reader.out.out_of_range(at.place, "", "heap", format_size(at.value), limit, "lower it");
    }
    let mut uses: Vec<String> = Vec::new();
    for at in strings(&section, reader, "uses", "a list of names like [\"console\"], as the slot has them") {
        let place = at.place;
        match good_name(at, "", "uses", reader) {
            Some(name) if uses.contains(&name) => {
                let why = format!("uses names {} twice", shorten(&name));
                reader.out.refuse(place, "", why, "leave one");
            }
            Some(_) if uses.len() == MOST_RIGHTS => {
                let remedy = "a program calls no more services";
                reader.out.refuse(place, "", format!("uses names more than {MOST_RIGHTS} services"), remedy);
                break;
            }
            name => uses.extend(name),
        }
    }
    let tasks = tasks(&section, heading, reader);
    Some(PackageDeclaration {
        name: name?,
        version: version?,
        class: class?,
        heap: heap.value().unwrap_or(0),
        tasks: tasks?,
        uses,
    })
}

fn good_name(at: At<String>, subject: &str, what: &str, reader: &mut Reader<'_>) -> Option<String> {
    if is_name(&at.value) {
        return Some(at.value);
    }
    let why = format!("{what} {} is no name", shorten(&at.value));
    let remedy = format!("take 1 to {LONGEST_NAME} letters, digits, -, _, . or /");
    reader.out.refuse(at.place, subject, why, remedy);
    None
}

/// A version of three numbers, of which a sequence number can be made.
fn read_version(at: &At<String>, reader: &mut Reader<'_>) -> Option<Version> {
    let mut parts = at.value.split('.').map(|part| {
        let plain = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u64>().ok().filter(|_| plain)
    });
    let found = match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(Some(major)), Some(Some(minor)), Some(Some(patch)), None) => {
            let short = |part: u64| u16::try_from(part).unwrap_or(u16::MAX);
            Version { major, minor: short(minor), patch: short(patch) }
        }
        _ => {
            let why = format!("version {} is not three numbers", shorten(&at.value));
            reader.out.refuse(at.place, "", why, "write one like \"1.2.3\": packages are known and ordered by it");
            return None;
        }
    };
    if found.number().is_none() {
        let limit = format!("with a number above {}, or a later one above 999", Version::GREATEST_MAJOR);
        reader.out.out_of_range(at.place, "", "version", shorten(&at.value), limit, "choose smaller numbers");
        return None;
    }
    Some(found)
}

fn tasks(section: &Section<'_>, heading: &str, reader: &mut Reader<'_>) -> Option<Vec<DeclaredTask>> {
    let values = each_of(section, reader, "task", heading);
    if let Some(value) = values.get(MOST_TASKS) {
        let place = reader.place(value);
        let limit = format!("more than {MOST_TASKS}");
        reader.out.out_of_range(place, "", "the number of tasks", values.len(), limit, "leave some out");
        return None;
    }
    let read: Vec<_> = values.iter().enumerate().map(|(n, value)| task(value, n, reader)).collect();
    if section.get("task").is_some_and(|value| value.get_ref().as_array().is_some()) && values.is_empty() {
        reader.out.refuse(
            section.place,
            "",
            "it brings no task, so nothing of it would run",
            format!("add a [[{heading}]]"),
        );
        return None;
    }
    for (n, (_, at)) in read.iter().enumerate() {
        let first = read[..n].iter().find(|(_, other)| {
            other.is_some() && other.as_ref().map(|it| &it.value) == at.as_ref().map(|it| &it.value)
        });
        if let (Some((_, Some(first))), Some(at)) = (first, at) {
            let complaint = Complaint::Duplicate { what: "task", name: at.value.clone(), first: first.place.line };
            reader.out.add(at.place, "", complaint);
        }
    }
    let given = read.iter().filter(|(task, _)| task.as_ref().is_some_and(|task| task.1.is_some())).count();
    if given > 0 && given < read.len() {
        let why = "some tasks have a priority and some have none";
        reader.out.refuse(section.place, "", why, "give each one, or none: then the shorter deadline goes first");
        return None;
    }
    let mut tasks: Vec<(DeclaredTask, Option<u32>)> = read.into_iter().map(|(task, _)| task).collect::<Option<_>>()?;
    // Deadline-monotonic; of equal deadlines the first in the file.
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by_key(|&n| tasks[n].0.deadline);
    for (rank, n) in order.into_iter().enumerate() {
        let (task, given) = &mut tasks[n];
        task.priority = given.unwrap_or((MOST_TASKS - rank) as u32);
    }
    Some(tasks.into_iter().map(|(task, _)| task).collect())
}

/// One task with its priority if one is given, and its name where that stands.
type ReadTask = (Option<(DeclaredTask, Option<u32>)>, Option<At<String>>);

fn task(value: &Value<'_>, n: usize, reader: &mut Reader<'_>) -> ReadTask {
    let subject = match inner(value, "name").and_then(|name| name.get_ref().as_str()) {
        Some(name) => format!("task {}", shorten(name)),
        None => format!("task number {}", n + 1),
    };
    let Some(section) = reader.open(value, subject, &TASK) else { return (None, None) };
    let subject = section.subject.as_str();
    section.require(reader, "name", "name = \"flash\"");
    section.require(reader, "period", "period = \"10 ms\"");
    section.require(reader, "execution", "execution = \"300 us\", the longest of a job");
    let named = section.string(reader, "name", "a name in quotes").get().cloned();
    let name = named.clone().and_then(|at| good_name(at, subject, "name", reader));
    let [execution, period, given] = ["execution", "period", "deadline"].map(|key| section.duration(reader, key));
    let deadline = if given.is_absent() { &period } else { &given };
    let mut refuse = |at: &At<Duration>, key: &str, limit: String, remedy: &str| {
        reader.out.out_of_range(at.place, subject, key, at.value, limit, remedy);
    };
    for (key, at) in [("execution", &execution), ("period", &period)] {
        if let Some(at) = at.get().filter(|at| at.value.is_zero()) {
            refuse(at, key, "no time at all".into(), "lengthen it");
        }
    }
    if let Some(at) = period.get().filter(|at| at.value > LONGEST) {
        refuse(at, "period", format!("more than {LONGEST}"), "shorten it");
    }
    if let (Some(at), Some(period)) = (given.get(), period.value()) {
        if at.value > period {
            refuse(at, "deadline", format!("more than its period of {period}"), "shorten it");
        }
    }
    if let (Some(at), Some(deadline)) = (execution.get(), deadline.value()) {
        if at.value > deadline {
            refuse(at, "execution", format!("more than its deadline of {deadline}"), "shorten it, or allow more time");
        }
    }
    let priority = section.integer(reader, "priority", "a whole number, the larger goes first");
    if let Some(at) = priority.get().filter(|at| at.value > LARGEST_PRIORITY) {
        let limit = format!("more than {LARGEST_PRIORITY}");
        reader.out.out_of_range(at.place, subject, "priority", at.value, limit, "lower it");
    }
    let priority = priority.value().map(|it| it.min(LARGEST_PRIORITY) as u32);
    let whole = || {
        let (execution, period, deadline) = (execution.value()?, period.value()?, deadline.value()?);
        Some((DeclaredTask { name: name?, execution, period, deadline, priority: 0 }, priority))
    };
    (whole(), named)
}
