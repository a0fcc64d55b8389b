//! Schedules as text: drawings and lists that a person can check by eye, and that golden files keep.

use crate::extend;
use crate::jobs::jobs;
use crate::schedule::{schedule_with, Boundary};
use crate::{run_end, Segment, SegmentKind, Trace, View};
use std::fmt::Write;
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

/// More than anybody reads; a drawing of a damaged trace stays small.
const MAX_COLUMNS: u64 = 10_000;

/// What a cell shows, least telling first: of two that fill it equally, the later is shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    Absent,
    Pending,
    Ghost,
    On(CoreId),
}

/// Draws the schedule between `from` and `to`, a column per `unit` that shows what filled most of it.
///
/// A core's row names the running task by its sign, `-` for idle. A task's row has the core's number where a job runs,
/// `g` where it is a ghost, `.` where it is released and waits, and nothing else where it has no job. Time in the
/// scheduler counts for what it decided. Empty if `unit` is zero or `to` is not after `from`; at most ten thousand
/// columns are drawn.
pub fn draw(view: &View, trace: &Trace, unit: Duration, from: Instant, to: Instant) -> String {
    if unit.is_zero() || to <= from {
        return String::new();
    }
    let to = to.min(from.saturating_add(unit.checked_mul(MAX_COLUMNS).unwrap_or(Duration::MAX)));
    let columns = to.since(from).div_ceil(unit) as usize;
    let segments: Vec<Segment> =
        schedule_with(trace, Boundary::Decision).into_iter().filter(|s| s.start < to && s.end > from).collect();
    // Calls `with` with each column that the stretch touches, and for how long.
    let spread = |start: Instant, end: Instant, with: &mut dyn FnMut(usize, Duration)| {
        let (start, end) = (start.max(from).min(to), end.min(to));
        let mut at = start;
        while at < end {
            let column = (at.since(from) / unit) as usize;
            let until = from.saturating_add(unit.checked_mul(column as u64 + 1).unwrap_or(Duration::MAX)).min(end);
            with(column, until.since(at));
            at = until;
        }
    };
    let names = view.tasks.iter().map(|t| t.name.chars().count()).chain([6]).max().unwrap_or(6);
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(out, "{:names$}     ", "");
    let mut ruler = String::new();
    while ruler.len() < columns {
        let mark = (from.since(Instant::ZERO) / unit + ruler.len() as u64).to_string();
        ruler.push_str(&format!("{mark:<10}"));
    }
    let _ = writeln!(out, "{}", ruler.trim_end());

    for core in 0..trace.cores.len() {
        let mut filled = vec![Vec::<(Option<TaskId>, Duration)>::new(); columns];
        for s in segments.iter().filter(|s| s.core.index() == core && s.kind != SegmentKind::Ghost) {
            spread(s.start, s.end, &mut |column, time| match filled[column].iter_mut().find(|f| f.0 == s.task) {
                Some(entry) => extend(&mut entry.1, time),
                None => filled[column].push((s.task, time)),
            });
        }
        let row = filled.iter().map(|cell| {
            let most = cell.iter().map(|(_, time)| *time).max();
            match cell.iter().find(|(_, time)| Some(*time) == most) {
                Some((Some(task), _)) => sign(*task),
                Some((None, _)) => '-',
                None => ' ',
            }
        });
        let row: String = row.collect();
        let _ = writeln!(out, "core {core:<width$}    {}", row.trim_end(), width = names - 4);
    }

    let jobs = jobs(trace);
    let end = run_end(trace);
    for (i, task) in view.tasks.iter().enumerate() {
        let id = TaskId(i as u16);
        let mut filled = vec![Vec::<(Cell, Duration)>::new(); columns];
        let mut add = |cell: Cell, start: Instant, end: Instant| {
            spread(start, end, &mut |column, time| match filled[column].iter_mut().find(|f| f.0 == cell) {
                Some(entry) => extend(&mut entry.1, time),
                None => filled[column].push((cell, time)),
            });
        };
        for s in segments.iter().filter(|s| s.task == Some(id)) {
            let cell = if s.kind == SegmentKind::Ghost { Cell::Ghost } else { Cell::On(s.core) };
            add(cell, s.start, s.end);
        }
        for job in jobs.iter().filter(|j| j.task == id) {
            add(Cell::Pending, job.release, job.ended().unwrap_or(end));
        }
        let row = filled.iter_mut().map(|cell| {
            // What ran was pending too, and did not wait while it ran.
            let ran = cell.iter().filter(|c| matches!(c.0, Cell::On(_))).map(|c| c.1).fold(Duration::ZERO, total);
            for entry in cell.iter_mut().filter(|c| c.0 == Cell::Pending) {
                entry.1 = entry.1.saturating_sub(ran);
            }
            let shown: Duration = cell.iter().map(|c| c.1).fold(Duration::ZERO, total);
            cell.push((Cell::Absent, unit.saturating_sub(shown)));
            match cell.iter().max_by_key(|c| (c.1, c.0)).map(|c| c.0) {
                Some(Cell::On(core)) => (b'0' + core.0) as char,
                Some(Cell::Ghost) => 'g',
                Some(Cell::Pending) => '.',
                _ => ' ',
            }
        });
        let row: String = row.collect();
        let level = task.level.map_or(' ', letter);
        let _ = writeln!(out, "{:names$} {level} {} {}", task.name, sign(id), row.trim_end());
    }
    out
}

fn total(mut a: Duration, b: Duration) -> Duration {
    extend(&mut a, b);
    a
}

fn letter(level: Level) -> char {
    ['A', 'B', 'C', 'D'][level.index()]
}

/// The sign of a task in a core's row: 1 to 9, then letters; `*` where these do not suffice.
fn sign(task: TaskId) -> char {
    let signs = b"123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    signs.get(task.index()).map_or('*', |b| *b as char)
}

/// Lists the schedule, a line per core: `[0,1) T1 | [1,3) T3 (T1) | …`, ghosts in brackets, the most critical first.
///
/// Times are in `unit`s, each rounded to the nearest; a stretch that begins and ends at the same rounded time is left
/// out, and what it parted is joined. Time in the scheduler counts for what it decided. Lines begin with
/// `core 0: ` where there are several cores. Empty if `unit` is zero.
pub fn list(view: &View, trace: &Trace, unit: Duration) -> String {
    if unit.is_zero() {
        return String::new();
    }
    let round = |t: Instant| {
        (t.as_nanos() / unit.as_nanos()) + u64::from(t.as_nanos() % unit.as_nanos() >= unit.as_nanos().div_ceil(2))
    };
    let name = |task: TaskId| view.tasks.get(task.index()).map_or("?", |t| t.name.as_str());
    let segments = schedule_with(trace, Boundary::Decision);
    let mut out = String::new();
    for core in 0..trace.cores.len() {
        let rounded: Vec<(u64, u64, &Segment)> = segments
            .iter()
            .filter(|s| s.core.index() == core)
            .map(|s| (round(s.start), round(s.end), s))
            .filter(|(start, end, _)| start < end)
            .collect();
        let mut cuts: Vec<u64> = rounded.iter().flat_map(|(start, end, _)| [*start, *end]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let mut line: Vec<(u64, u64, String)> = Vec::new();
        // Both lists ascend by start: those that began and have not ended are kept as the cuts go by.
        let mut begun = 0;
        let mut on: Vec<&(u64, u64, &Segment)> = Vec::new();
        for cut in cuts.windows(2) {
            while let Some(next) = rounded.get(begun).filter(|r| r.0 <= cut[0]) {
                on.push(next);
                begun += 1;
            }
            on.retain(|r| r.1 > cut[0]);
            let runs = on.iter().rev().find(|r| r.2.kind != SegmentKind::Ghost);
            let mut ghosts: Vec<&Segment> = on.iter().map(|r| r.2).filter(|s| s.kind == SegmentKind::Ghost).collect();
            let level = |s: &Segment| s.task.and_then(|t| view.tasks.get(t.index())).and_then(|t| t.level);
            ghosts.sort_by_key(|s| (level(s), s.start, s.task));
            let Some(runs) = runs else { continue };
            let mut label = runs.2.task.map_or("idle", name).to_owned();
            if !ghosts.is_empty() {
                let ghosts: Vec<&str> = ghosts.iter().filter_map(|s| s.task).map(name).collect();
                let _ = write!(label, " ({})", ghosts.join(","));
            }
            match line.last_mut() {
                Some(last) if last.2 == label && last.1 == cut[0] => last.1 = cut[1],
                _ => line.push((cut[0], cut[1], label)),
            }
        }
        if trace.cores.len() > 1 {
            let _ = write!(out, "core {core}: ");
        }
        let parts: Vec<String> = line.iter().map(|(start, end, label)| format!("[{start},{end}) {label}")).collect();
        let _ = writeln!(out, "{}", parts.join(" | "));
    }
    out
}
