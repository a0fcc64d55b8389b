//! Which numbers a kept run can have: those that a system file leads to. What is read is judged for as many cores and periods as it
//! says, so that a file that somebody else made must not say more than there can be.

use serde_json::Value;
use tactus_time::MAX_CORES;

/// The longest run: a day.
const LONGEST_NS: u64 = 24 * 3_600 * 1_000_000_000;
/// A server is judged period by period, and has so many in a run at most.
const MOST_PERIODS_OF_SERVER: u64 = 1 << 24;
/// As many as a trace has room for releases.
const MOST_PERIODS: u64 = 1 << 27;

/// The most colours of memory.
const MOST_COLOURS: u64 = 64;

/// How much there is of what numbers count.
struct Extent {
    cores: u64,
    duration: u64,
}

/// Looks at all numbers of a run.
///
/// # Errors
/// With the first that is none.
pub(super) fn check(run: &Value) -> Result<(), String> {
    let number = |key: &str| run.get(key).and_then(Value::as_u64).unwrap_or(0);
    let extent = Extent { cores: number("cores"), duration: number("duration_ns") };
    if !(1..=MAX_CORES as u64).contains(&extent.cores) {
        return Err(format!("it has {} cores, not between 1 and {MAX_CORES}", extent.cores));
    }
    if extent.duration > LONGEST_NS {
        return Err(format!("it lasts {} ns, longer than a day", extent.duration));
    }
    let Value::Object(fields) = run else { return Ok(()) };
    fields.iter().filter(|(key, _)| *key != "cores").try_for_each(|(key, value)| look(value, key, "", &extent))
}

/// `within`: the key of what it is a field of.
fn look(value: &Value, key: &str, within: &str, extent: &Extent) -> Result<(), String> {
    match value {
        Value::Object(fields) => {
            let fields =
                fields.iter().filter(|(field, it)| *field != "period_ns" || it.as_u64() != Some(0) || !is_free(fields));
            fields.into_iter().try_for_each(|(field, it)| look(it, field, key, extent))
        }
        // Sets of cores are numbers; lists of them name each task's.
        Value::Array(list) if key == "cores" => list.iter().try_for_each(|it| look(it, "core", within, extent)),
        Value::Array(list) => list.iter().try_for_each(|it| look(it, key, within, extent)),
        Value::Number(number) => number.as_u64().map_or(Ok(()), |number| one(number, key, within, extent)),
        _ => Ok(()),
    }
}

/// Whether these are fields of a task that arrives when it likes and is promised nothing: a thread of Linux that is no task of the file.
/// Nothing is counted by its periods.
fn is_free(fields: &serde_json::Map<String, Value>) -> bool {
    let field = |table: &str, key: &str| fields.get(table).and_then(|it| it.get(key));
    let arrives = field("releases", "early").is_some() && field("releases", "after").is_none();
    arrives && field("promise", "kind").and_then(Value::as_str) == Some("none")
}

fn one(number: u64, key: &str, within: &str, extent: &Extent) -> Result<(), String> {
    let most = if within == "supply" { MOST_PERIODS_OF_SERVER } else { MOST_PERIODS };
    match key {
        "core" if number >= extent.cores => Err(format!("there is no core {number}")),
        "cores" | "queues" if number >> extent.cores != 0 => {
            Err(format!("a set of cores has one that is not there: {number:#b}"))
        }
        "period_ns" | "frame_ns" if number == 0 || extent.duration / number > most => {
            Err(format!("a period of {number} ns in a run of {} ns: no system file has one so short", extent.duration))
        }
        "start_ns" | "length_ns" if number > LONGEST_NS => Err(format!("a window of {number} ns, longer than a day")),
        "colours" if number > MOST_COLOURS => Err(format!("there are no {number} colours")),
        _ => Ok(()),
    }
}
