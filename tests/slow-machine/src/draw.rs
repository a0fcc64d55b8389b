//! Draws a run as text: one line per core and one per level of ghosts on it, one column per millisecond. A capital
//! tells that the job begins or goes on here, dots that it still runs.

use super::Entry;
use std::collections::BTreeMap;
use tactus_policy::{Event, PolicyConfig};
use tactus_record::EventKind;
use tactus_time::{Level, TaskId};

const MS: u64 = 1_000_000;

/// The drawing of the first `columns` milliseconds. `name` names tasks; names have two letters at most.
pub fn draw(setup: &PolicyConfig, entries: &[Entry], columns: u64, name: &dyn Fn(TaskId) -> String) -> String {
    let mut lines: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for core in 0..setup.cores {
        let mut spans: BTreeMap<usize, Vec<(u64, u64, TaskId)>> = BTreeMap::new();
        let mut open: BTreeMap<usize, (u64, TaskId)> = BTreeMap::new();
        spans.entry(0).or_default();
        for record in entries.iter().filter(|e| e.core == core).flat_map(|e| &e.records) {
            let Some(task) = record.task else { continue };
            let row = match record.kind {
                EventKind::GhostBegin | EventKind::GhostEnd => 1 + usize::from(record.level),
                _ => 0,
            };
            match record.kind {
                EventKind::Dispatch | EventKind::GhostBegin => {
                    open.insert(row, (record.time.as_nanos(), task));
                }
                // What is left out at its release was never there.
                EventKind::Dropped if record.arg == 0 || open.get(&row).is_none_or(|(_, runs)| *runs != task) => {}
                EventKind::Preempt
                | EventKind::Complete
                | EventKind::GhostEnd
                | EventKind::Removed
                | EventKind::Dropped => {
                    if let Some((from, task)) = open.remove(&row) {
                        spans.entry(row).or_default().push((from, record.time.as_nanos(), task));
                    }
                }
                _ => {}
            }
        }
        for (row, (from, task)) in open {
            spans.entry(row).or_default().push((from, columns * MS, task));
        }
        for (row, spans) in spans {
            let mut cells = vec![String::from("  "); columns as usize];
            for (from, to, task) in spans {
                assert!(from % MS == 0 && to % MS == 0, "golden schedules are in whole milliseconds");
                for column in from / MS..(to / MS).min(columns) {
                    let first = column == from / MS;
                    cells[column as usize] = if first { format!("{:2}", name(task)) } else { "··".into() };
                }
            }
            lines.insert((core, row), cells);
        }
    }
    let mut out = format!("{:9}", "ms");
    for column in 0..columns {
        out += &format!("|{:<2}", column % 100);
    }
    out += "|\n";
    for ((core, row), cells) in lines {
        let title = match row {
            0 => format!("core {core}"),
            row => format!("  ghost {}", Level::ALL[row - 1]),
        };
        out += &format!("{title:9}");
        for cell in cells {
            out += &format!("|{cell}");
        }
        out += "|\n";
    }
    out += &events(entries, columns, name);
    out
}

/// The same run as a list, for what a drawing cannot show.
fn events(entries: &[Entry], columns: u64, name: &dyn Fn(TaskId) -> String) -> String {
    let mut out = String::new();
    for entry in entries.iter().filter(|e| e.now.as_nanos() < columns * MS) {
        let mut words: Vec<String> = Vec::new();
        for record in &entry.records {
            let job = record.task.map(|task| format!("{}.{}", name(task), record.job)).unwrap_or_default();
            let in_ms = |ns: u64| ns as f64 / MS as f64;
            words.push(match record.kind {
                EventKind::Release => format!("release {job}"),
                EventKind::Dispatch => format!("run {job}"),
                EventKind::Preempt => format!("preempt {job}"),
                EventKind::Complete => format!("complete {job} ({})", in_ms(record.arg)),
                EventKind::Exhausted => format!("exhausted {job} until {}", in_ms(record.arg)),
                EventKind::Replenish => continue,
                EventKind::GhostBegin => format!("ghost {job} ({})", in_ms(record.arg)),
                EventKind::GhostEnd => format!("ghost ends {job} ({})", in_ms(record.arg)),
                EventKind::Idle => "idle".into(),
                EventKind::Dropped => {
                    let why = ["left out", "killed", "given up", "out of budget"][record.arg as usize];
                    format!("{why} {job}")
                }
                EventKind::Mode if record.task.is_some() => format!("{job} takes too long: level A only"),
                EventKind::Mode => "all levels again".into(),
                EventKind::ServerExhausted if record.arg == u64::MAX => format!("S{} exhausted", record.job),
                EventKind::ServerExhausted => format!("S{} exhausted until {}", record.job, in_ms(record.arg)),
                EventKind::ServerReplenish => format!("S{} gets {}", record.job, in_ms(record.arg)),
                EventKind::ChangeRequested => format!("change {} requested", record.job),
                EventKind::ChangeApplied => format!("change {} applied", record.job),
                EventKind::ChangeRefused => format!("change {} refused", record.job),
                EventKind::Notify => format!("notify core {}", record.arg),
                other => format!("{other:?} {job}"),
            });
        }
        if !words.is_empty() {
            let event = match entry.event {
                Event::Start => "start",
                Event::Timer => "timer",
                Event::Complete => "complete",
                Event::Notify => "notify",
                Event::Arrival => "arrival",
                Event::Unlock => "unlock",
                Event::Wait => "wait",
                Event::Lock => "lock",
                Event::Signal => "signal",
                Event::Remove => "remove",
                Event::Slot => "slot",
            };
            let at = entry.now.as_nanos() as f64 / MS as f64;
            out += &format!("{at:>5} core {} {event:8} {}\n", entry.core, words.join(", "));
        }
    }
    out
}
