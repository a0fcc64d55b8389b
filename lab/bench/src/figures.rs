//! From what was noted to figures.

use super::follow::{Counted, Path, Paths};
use serde::Serialize;
use std::collections::BTreeMap;
use tactus_bench_book::Series;
use tactus_record::{EntryReason, EventKind, Record};
use tactus_time::{Instant, TaskId};
use tactus_trace::Trace;

/// One measured operation.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Which; a stable name.
    pub name: String,
    /// How many samples.
    pub n: usize,
    /// Instructions.
    pub min: u64,
    /// Half of the samples are no longer.
    pub median: u64,
    /// 99 of 100 are no longer.
    pub p99: u64,
    /// The longest.
    pub max: u64,
    /// What an instruction count does not see, counted by following the path; nothing for what was not followed.
    #[serde(flatten)]
    pub path: Option<Counted>,
    /// Estimate from the median, see [`cycles`].
    pub modelled_cycles: Option<u64>,
}

/// Cycles of a Skylake, by the fit to seL4's published results: 1.2 an instruction, 304 a CR3 write, 505 an
/// interrupt, and 133. An estimate, not a law.
fn cycles(instructions: u64, path: &Counted) -> u64 {
    (instructions * 12).div_ceil(10) + 304 * path.cr3 + 505 * path.interrupts + 133
}

impl Figure {
    /// The figure of these samples, nothing if there are none.
    pub fn of(name: impl Into<String>, mut samples: Vec<u64>, path: Option<&Path>) -> Option<Figure> {
        samples.sort_unstable();
        let rank = |of_100: usize| samples[(samples.len() * of_100).div_ceil(100) - 1];
        let (min, max) = (*samples.first()?, *samples.last()?);
        let (median, p99) = (rank(50), rank(99));
        let path = path.map(|it| it.counted.clone());
        let modelled_cycles = path.as_ref().map(|path| cycles(median, path));
        Some(Figure { name: name.into(), n: samples.len(), min, median, p99, max, path, modelled_cycles })
    }
}

/// The figures of the run under the measuring scheduler on one core. `begun`: the time stamp at the kernel's first instruction.
pub fn calls(books: &BTreeMap<Series, Vec<u64>>, begun: Option<u64>, paths: &Paths) -> Vec<Figure> {
    let series = |series: Series| books.get(&series).cloned().unwrap_or_default();
    let less = |samples: Vec<u64>| less(samples, books);
    let between = |from: Series, to: Series| -> Vec<u64> {
        series(from).iter().zip(series(to)).map(|(from, to)| to.saturating_sub(*from)).collect()
    };
    let started =
        begun.into_iter().flat_map(|begun| series(Series::First).into_iter().map(move |at| at - begun)).collect();
    let path = |series| paths.get(&series);
    [
        Figure::of("empty pair of readings", series(Series::Empty), path(Series::Empty)),
        Figure::of("null call", less(series(Series::Null)), path(Series::Null)),
        Figure::of("unknown call", less(series(Series::Unknown)), path(Series::Unknown)),
        Figure::of("call and return", less(series(Series::Invoke)), path(Series::Invoke)),
        Figure::of("call and return, five words", less(series(Series::InvokeWords)), path(Series::InvokeWords)),
        Figure::of("call and return, ten words each way", less(series(Series::InvokeTen)), path(Series::InvokeTen)),
        Figure::of("lock and release", less(series(Series::Lock)), path(Series::Lock)),
        Figure::of("brand, not run", less(series(Series::NotRun)), path(Series::NotRun)),
        Figure::of("brand, pending", less(series(Series::Pending)), path(Series::Pending)),
        Figure::of("brand, trigger to upcall", less(series(Series::Wake)), path(Series::Wake)),
        Figure::of("brand, run and back", less(series(Series::RunAndBack)), path(Series::RunAndBack)),
        Figure::of(
            "brand, scheduler before and after",
            less(series(Series::WithScheduler)),
            path(Series::WithScheduler),
        ),
        Figure::of("tick to upcall in another domain", less(noticed(books)), path(Series::TickUpcall)),
        Figure::of("reset to first user instruction, firmware included", series(Series::First), None),
        Figure::of("kernel's first instruction to first user instruction", started, None),
        Figure::of("switch, same domain", less(series(Series::Switch)), path(Series::Switch)),
        Figure::of(
            "switch, other domain, timer set",
            less(between(Series::Dispatched, Series::Resumed)),
            path(Series::Resumed),
        ),
        Figure::of("timer expiry to scheduler", between(Series::Expiry, Series::Upcall), path(Series::Expiry)),
        Figure::of(
            "interrupted thread to scheduler (upcall entry)",
            less(between(Series::Interrupted, Series::Upcall)),
            path(Series::Upcall),
        ),
        Figure::of("fault to scheduler", less(series(Series::Fault)), path(Series::Fault)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Without what an empty pair of readings takes in the middle.
fn less(samples: Vec<u64>, books: &BTreeMap<Series, Vec<u64>>) -> Vec<u64> {
    let mut empty = books.get(&Series::Empty).cloned().unwrap_or_default();
    empty.sort_unstable();
    let pair = empty.get(empty.len() / 2).copied().unwrap_or(0);
    samples.into_iter().map(|sample| sample.saturating_sub(pair)).collect()
}

/// What each figure through the scheduler library is called, and its series.
pub const LIBRARY: [(&str, Series); 6] = [
    ("library: block to next thread", Series::LibraryBlock),
    ("library: block to next thread, with accounting", Series::LibraryBlockCounted),
    ("library: wake to more urgent thread", Series::LibraryWake),
    ("library: wake to more urgent thread, with accounting", Series::LibraryWakeCounted),
    ("library: block asked for by a user thread, to the next one in its own component", Series::UserBlock),
    ("library: wake asked for by a user thread, to the more urgent one in its own component", Series::UserWake),
];

/// The figures of the run in which the scheduler library measures itself.
pub fn library(books: &BTreeMap<Series, Vec<u64>>, paths: &Paths) -> Vec<Figure> {
    let samples = |series| books.get(&series).cloned().unwrap_or_default();
    let figure = |(name, series): (&str, Series)| Figure::of(name, less(samples(series), books), paths.get(&series));
    LIBRARY.into_iter().filter_map(figure).collect()
}

/// From the last reading before each tick to its upcall's first: of those readings that came right before it.
fn noticed(books: &BTreeMap<Series, Vec<u64>>) -> Vec<u64> {
    const FAR: u64 = 10_000;
    let (Some(before), Some(after)) = (books.get(&Series::TickInterrupted), books.get(&Series::TickUpcall)) else {
        return Vec::new();
    };
    let last = |upcall: &u64| before[..before.partition_point(|it| it < upcall)].last().copied();
    after.iter().filter_map(|upcall| Some(upcall - last(upcall)?)).filter(|length| *length < FAR).collect()
}

/// The figure of the run on two cores.
pub fn inter_core(books: &BTreeMap<Series, Vec<u64>>, paths: &Paths) -> Option<Figure> {
    let samples = books.get(&Series::InterCore).cloned().unwrap_or_default();
    Figure::of("inter-core event (two cores, serialised)", samples, paths.get(&Series::InterCore))
}

/// What the trace of one core tells about entries of the scheduler.
#[derive(Default)]
struct Entries {
    /// From a timer's expiry to the scheduler's look at the clock.
    noticed: Vec<u64>,
    /// Decisions on a timer that released one job.
    release: Vec<u64>,
    /// Decisions on a finished job.
    complete: Vec<u64>,
    /// All decisions.
    all: Vec<u64>,
    /// Jobs released and dispatched by a timer set for their release.
    woken: Vec<(TaskId, u32)>,
}

fn entries(records: &[Record]) -> Entries {
    let mut entries = Entries::default();
    let mut enter: Option<Record> = None;
    let mut released = Vec::new();
    for record in records {
        match record.kind {
            EventKind::Enter => {
                enter = Some(*record);
                released.clear();
            }
            EventKind::Release => released.extend(record.task.map(|task| (task, record.job, record.arg))),
            EventKind::Leave => {
                let Some(begun) = enter.take() else { continue };
                let length = record.time.since(begun.time).as_nanos();
                entries.all.push(length);
                match EntryReason::from_u8(begun.level) {
                    Some(EntryReason::Timer) => {
                        entries.noticed.push(begun.time.since(Instant::from_nanos(begun.arg)).as_nanos());
                        if let [(task, job, at)] = released[..] {
                            entries.release.push(length);
                            if at == begun.arg && record.task == Some(task) {
                                entries.woken.push((task, job));
                            }
                        }
                    }
                    Some(EntryReason::Complete) => entries.complete.push(length),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    entries
}

/// The figures of a run under the real root scheduler, on one core. `label` says policy and number of tasks.
pub fn periodic(label: &str, trace: &Trace, books: &BTreeMap<Series, Vec<u64>>, paths: &Paths) -> Vec<Figure> {
    let entries = trace.cores.first().map(|records| entries(records)).unwrap_or_default();
    let noted =
        |series: Series| books.get(&series).into_iter().flatten().map(|value| (value >> 32, value & 0xffff_ffff));
    // Only jobs whose own release was what the timer was set for: others waited for somebody. The woken task is the
    // first.
    let woken = noted(Series::Woken)
        .filter(|(job, _)| entries.woken.contains(&(TaskId(0), *job as u32)))
        .map(|(_, length)| length)
        .collect();
    // Under MC² the first job's ghost may come in between: then this is no path of the system.
    let next = if label.starts_with("mc2") { None } else { Some(noted(Series::NextJob)) };
    let next = next.into_iter().flatten().map(|(_, length)| length).collect();
    [
        Figure::of(format!("timer expiry to woken periodic thread, {label}"), woken, paths.get(&Series::Woken)),
        Figure::of(format!("end of job to next task's job, {label}"), next, paths.get(&Series::NextJob)),
        Figure::of(format!("timer expiry to root scheduler's clock, {label}"), entries.noticed, None),
        Figure::of(format!("release of one job, decision, {label}"), entries.release, None),
        Figure::of(format!("completion, decision, {label}"), entries.complete, None),
        Figure::of(format!("any decision, {label}"), entries.all, None),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Of a system in which interrupts and messages release jobs: those that began at once; and from a message until its job's release is
/// decided and recorded, with who runs then: until the scheduler looked at the clock, and its decision then.
pub fn released(label: &str, trace: &Trace, books: &BTreeMap<Series, Vec<u64>>, paths: &Paths) -> Vec<Figure> {
    /// The task that messages release, in the order of the system.
    const RECEIVES: TaskId = TaskId(1);
    /// Longer than any path, and shorter than another job.
    const LONGEST: u64 = 10_000;
    let figure = |what: &str, series| {
        let all = books.get(&series).map_or(&[][..], Vec::as_slice);
        let samples = all.iter().map(|value| value & 0xffff_ffff).filter(|it| *it < LONGEST).collect();
        Figure::of(format!("{what} to released task, {label}"), samples, paths.get(&series))
    };
    let decisions = trace.cores.first().map(|records| decisions(records)).unwrap_or_default();
    let accepted = books.get(&Series::Accepted).map_or(&[][..], Vec::as_slice);
    let decided = accepted.iter().filter_map(|value| {
        let (job, until_look) = ((value >> 32) as u32, value & 0xffff_ffff);
        decisions.get(&(RECEIVES, job)).map(|decision| until_look + decision)
    });
    let decided = decided.filter(|it| *it < LONGEST).collect();
    [
        figure("interrupt", Series::Released),
        figure("message", Series::Received),
        Figure::of(format!("message to its job's release, recorded, {label}"), decided, None),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// By job that something has released which arrived: how long the decision on that took.
fn decisions(records: &[Record]) -> BTreeMap<(TaskId, u32), u64> {
    let mut decisions = BTreeMap::new();
    let mut begun = None;
    let mut released = None;
    for record in records {
        match record.kind {
            EventKind::Enter => {
                begun = (EntryReason::from_u8(record.level) == Some(EntryReason::Arrival)).then_some(record.time);
                released = None;
            }
            EventKind::Release => released = record.task.map(|task| (task, record.job)),
            EventKind::Leave => {
                if let (Some(begun), Some(job)) = (begun.take(), released.take()) {
                    decisions.insert(job, record.time.since(begun).as_nanos());
                }
            }
            _ => {}
        }
    }
    decisions
}

/// Of partitions whose windows follow each other: from the last instruction in one to the first in the other.
pub fn partitions(books: &BTreeMap<Series, Vec<u64>>, paths: &Paths) -> Vec<Figure> {
    let noted = |series| books.get(&series).map_or(&[][..], Vec::as_slice);
    let mut left = noted(Series::WindowLeft).to_vec();
    left.sort_unstable();
    let before =
        |entered: u64| left.partition_point(|left| *left < entered).checked_sub(1).map(|at| entered - left[at]);
    let samples = noted(Series::WindowEntered).iter().filter_map(|entered| before(*entered)).collect();
    Figure::of("partition switch, task to task", samples, paths.get(&Series::WindowEntered)).into_iter().collect()
}

/// Of a system in which two tasks share a resource under this protocol.
pub fn sections(protocol: &str, books: &BTreeMap<Series, Vec<u64>>, paths: &Paths) -> Vec<Figure> {
    let samples = |series| less(books.get(&series).cloned().unwrap_or_default(), books);
    let path = |series| paths.get(&series);
    [
        Figure::of(
            format!("critical section, entered and left, {protocol}"),
            samples(Series::Section),
            path(Series::Section),
        ),
        Figure::of(
            format!("critical section, handed over, {protocol}"),
            samples(Series::HandOver),
            path(Series::HandOver),
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_of_the_nearest_sample() {
        let figure = Figure::of("f", (1..=100).rev().collect(), None).expect("there are samples");
        assert_eq!((figure.min, figure.median, figure.p99, figure.max), (1, 50, 99, 100));
        assert!(Figure::of("f", Vec::new(), None).is_none());
    }

    #[test]
    fn cycles_follow_the_published_fit() {
        assert_eq!(
            cycles(100, &Counted { cr3: 1, interrupts: 1, apic: 3, ..Counted::default() }),
            120 + 304 + 505 + 133
        );
    }
}
