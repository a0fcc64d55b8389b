//! Task sets as a table: a header, then a line for each task.
//!
//! | column | what |
//! |---|---|
//! | `period`, `execution` | must be there; times |
//! | `deadline`, `offset`, `jitter` | times; where empty the period, 0 and 0 |
//! | `name`, `core`, `priority`, `memory` | where empty a number, none, none, 0 bytes |
//! | `set` | which set the task belongs to; without the column all belong to one |
//!
//! A time's column may name its unit: `period_ns`, `_us`, `_ms`, `_s`; else numbers are in the unit that was asked for. A value
//! may bring its own: `2.5 ms`.

use crate::fault::Reason;
use crate::format::{Found, Options, Written};
use crate::number::Round;
use crate::set::{Task, TaskSet, Times};
use std::collections::HashMap;
use tactus_time::Duration;

const UNITS: [(&str, Duration); 4] = [
    ("ns", Duration::from_nanos(1)),
    ("us", Duration::from_micros(1)),
    ("ms", Duration::from_millis(1)),
    ("s", Duration::from_secs(1)),
];

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Column {
    Set,
    Name,
    Execution,
    Period,
    Deadline,
    Offset,
    Jitter,
    Core,
    Priority,
    Memory,
}

const COLUMNS: [(&str, Column); 11] = [
    ("set", Column::Set),
    ("name", Column::Name),
    ("execution", Column::Execution),
    ("wcet", Column::Execution),
    ("period", Column::Period),
    ("deadline", Column::Deadline),
    ("offset", Column::Offset),
    ("jitter", Column::Jitter),
    ("core", Column::Core),
    ("priority", Column::Priority),
    ("memory", Column::Memory),
];

const TIMES: [Column; 5] = [Column::Execution, Column::Period, Column::Deadline, Column::Offset, Column::Jitter];

/// Reads a table.
pub(crate) fn read(text: &str, name: &str, options: &Options) -> Found<Vec<TaskSet>> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| wrong(&error))?.clone();
    let columns = columns(&header, options)?;
    let mut sets: Vec<TaskSet> = Vec::new();
    let mut by_name: HashMap<String, usize> = HashMap::new();
    let mut times = Times::of(options.unit);
    for record in reader.records() {
        let record = record.map_err(|error| wrong(&error))?;
        let line = record.position().map_or(0, |place| place.line() as usize);
        let field = |column| {
            let (at, unit) = columns.get(&column)?;
            record.get(*at).filter(|text| !text.is_empty()).map(|text| (text, *unit))
        };
        let set = field(Column::Set).map_or(name, |(text, _)| text).to_string();
        let number = by_name.len();
        let number = *by_name.entry(set.clone()).or_insert(number);
        if number == sets.len() {
            sets.push(TaskSet { name: set, ..TaskSet::default() });
        }
        let task = task(field, sets[number].tasks.len(), line, &mut times)?;
        sets[number].tasks.push(task);
    }
    if sets.is_empty() {
        return Err((0, Reason::Missing { what: "line below the header".into(), of: "the table".into() }));
    }
    times.note(&mut sets[0].notes);
    sets.into_iter().map(|set| set.finish(0)).collect()
}

fn wrong(error: &csv::Error) -> (usize, Reason) {
    let line = error.position().map_or(0, |place| place.line() as usize);
    let reason = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("this line has {len} values, and the header has {expected_len} columns; give each column a value, if an empty one")
        }
        _ => error.to_string(),
    };
    (line, Reason::Syntax { reason })
}

/// Where each column is, and the unit of its plain numbers.
fn columns(header: &csv::StringRecord, options: &Options) -> Found<HashMap<Column, (usize, Duration)>> {
    let mut found = HashMap::new();
    for (at, heading) in header.iter().enumerate() {
        let lower = heading.to_lowercase();
        let whole = COLUMNS.iter().find(|(name, _)| *name == lower).map(|(_, column)| (*column, options.unit));
        let with_unit = || {
            let (name, unit) = lower.rsplit_once('_')?;
            let unit = UNITS.iter().find(|(name, _)| *name == unit)?.1;
            let column = COLUMNS.iter().find(|(known, _)| *known == name)?.1;
            TIMES.contains(&column).then_some((column, unit))
        };
        let Some((column, unit)) = whole.or_else(with_unit) else {
            let known: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
            let expected = format!("one of {} (times with _ns, _us, _ms or _s if you like)", known.join(", "));
            return Err((1, Reason::Value { what: "the heading of a column".into(), found: heading.into(), expected }));
        };
        if found.insert(column, (at, unit)).is_some() {
            let what = format!("two columns tell the {}", format!("{column:?}").to_lowercase());
            return Err((1, Reason::Refused { what, remedy: "keep one of them".into() }));
        }
    }
    for (name, column) in [("execution", Column::Execution), ("period", Column::Period)] {
        if !found.contains_key(&column) {
            return Err((1, Reason::Missing { what: format!("column {name}"), of: "the table".into() }));
        }
    }
    Ok(found)
}

fn task<'r>(
    field: impl Fn(Column) -> Option<(&'r str, Duration)>,
    number: usize,
    line: usize,
    times: &mut Times,
) -> Found<Task> {
    let name = field(Column::Name).map_or_else(|| format!("t{}", number + 1), |(text, _)| text.to_string());
    let mut time = |column: Column, key: &str, round| -> Found<Option<Duration>> {
        let Some((text, unit)) = field(column) else { return Ok(None) };
        let what = format!("task {name:?}: {key}");
        // A value's own unit goes before the column's.
        let own = UNITS.iter().find_map(|(name, unit)| {
            let number = text.strip_suffix(name)?.trim_end();
            number.ends_with(|c: char| c.is_ascii_digit() || c == '.').then_some((number, *unit))
        });
        let (text, unit) = own.unwrap_or((text, unit));
        times.read(text, unit, round, (line, &what)).map(Some)
    };
    let missing = |key: &str| (line, Reason::Missing { what: key.into(), of: format!("task {name:?}") });
    let execution = time(Column::Execution, "execution", Round::Up)?.ok_or_else(|| missing("execution"))?;
    let period = time(Column::Period, "period", Round::Down)?.ok_or_else(|| missing("period"))?;
    let deadline = time(Column::Deadline, "deadline", Round::Down)?.unwrap_or(period);
    let offset = time(Column::Offset, "offset", Round::Down)?.unwrap_or_default();
    let jitter = time(Column::Jitter, "jitter", Round::Up)?.unwrap_or_default();
    let whole = |column, key: &str, most: u64| -> Found<Option<u64>> {
        let Some((text, _)) = field(column) else { return Ok(None) };
        text.parse().ok().filter(|n| *n <= most).map(Some).ok_or_else(|| {
            let (what, expected) = (format!("task {name:?}: {key}"), format!("a whole number from 0 to {most}"));
            (line, Reason::Value { what, found: text.chars().take(40).collect(), expected })
        })
    };
    let core = whole(Column::Core, "core", 4_096)?.map(|core| core as usize);
    let priority = whole(Column::Priority, "priority", tactus_model::MAX_PRIORITY.into())?.map(|n| n as u32);
    let memory = whole(Column::Memory, "memory", 1 << 42)?.unwrap_or(0);
    let task = Task { name, execution, period, deadline, offset, jitter, core, priority, memory };
    task.sound(line)?;
    Ok(task)
}

/// Writes a table, times in nanoseconds; columns that nothing is in are left out.
pub(crate) fn write(sets: &[TaskSet]) -> Written {
    let all = || sets.iter().flat_map(|set| &set.tasks);
    let several = sets.len() != 1;
    let (offset, jitter) = (all().any(|t| !t.offset.is_zero()), all().any(|t| !t.jitter.is_zero()));
    let core = all().any(|t| t.core.is_some());
    let priority = all().any(|t| t.priority.is_some());
    let memory = all().any(|t| t.memory > 0);
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut line = |values: [(bool, String); 10]| {
        // Writing to memory cannot fail, and every line has as many values as the header.
        let _ = writer.write_record(values.iter().filter(|(there, _)| *there).map(|(_, value)| value));
    };
    let text = |value: &str| value.to_string();
    line([
        (several, text("set")),
        (true, text("name")),
        (true, text("execution_ns")),
        (true, text("period_ns")),
        (true, text("deadline_ns")),
        (offset, text("offset_ns")),
        (jitter, text("jitter_ns")),
        (core, text("core")),
        (priority, text("priority")),
        (memory, text("memory")),
    ]);
    for set in sets {
        for task in &set.tasks {
            let ns = |length: Duration| length.as_nanos().to_string();
            line([
                (several, set.name.clone()),
                (true, task.name.clone()),
                (true, ns(task.execution)),
                (true, ns(task.period)),
                (true, ns(task.deadline)),
                (offset, ns(task.offset)),
                (jitter, ns(task.jitter)),
                (core, task.core.map(|n| n.to_string()).unwrap_or_default()),
                (priority, task.priority.map(|n| n.to_string()).unwrap_or_default()),
                (memory, task.memory.to_string()),
            ]);
        }
    }
    let mut lost = Vec::new();
    if sets.iter().any(|set| set.policy.is_some() || set.cores.is_some() || set.duration.is_some()) {
        lost.push("policy, number of cores and duration: csv has tasks only".into());
    }
    let bytes = writer.into_inner().unwrap_or_default();
    Written { text: String::from_utf8_lossy(&bytes).into_owned(), lost }
}
