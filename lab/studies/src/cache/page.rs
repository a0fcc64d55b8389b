//! All experiments in a row, as tables beside the source's figures.

use super::sets::Scheduling;
use super::two_phase::{Scheme, SCHEMES};
use super::{cap, choice, events, partitions, two_phase, ALONE, BESIDE, COLOURS, SERVICE, WORK, WORKING_SETS};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Task sets of each kind; the source has 10.
    pub sets: u64,
    /// Runs of each set, with other offsets; the source has 50.
    pub runs: u64,
    /// Jobs of the longest period; the source has 200.
    pub jobs: u32,
    /// Cycles of a read that finds the line modified elsewhere.
    pub coherence: u32,
    /// Random systems for the choice of colours.
    pub systems: u64,
    /// Threads of the host.
    pub threads: usize,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Of the file, without ending.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// Names of the columns.
    pub head: Vec<&'static str>,
    /// Rows.
    pub rows: Vec<Vec<String>>,
}

/// What the study says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Tables.
    pub tables: Vec<Table>,
    /// Sentences that must be true; those that are not.
    pub failed: Vec<String>,
}

impl Findings {
    fn must(&mut self, holds: bool, what: &str) {
        if !holds {
            self.failed.push(what.to_string());
        }
    }
}

/// Works on all of `inputs`, on several threads; the results are in the order of the inputs.
fn each<I: Sync, O: Send>(threads: usize, inputs: &[I], work: impl Fn(&I) -> O + Sync) -> Vec<O> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, O)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, inputs.len().max(1)) {
            scope.spawn(|| loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(input) = inputs.get(at) else { return };
                let output = work(input);
                if let Ok(mut done) = done.lock() {
                    done.push((at, output));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, output)| output).collect()
}

fn kilobytes(bytes: u64) -> String {
    format!("{} KB", bytes >> 10)
}

/// What was chosen because the source does not tell, in a paragraph.
pub fn assumptions(scale: &Scale) -> String {
    format!(
        "Modelled i7-2600: {COLOURS} colours of {} KB, {WORK} cycles of work around an access, memory busy for {SERVICE} cycles with a line, \
         {} cycles where another core has modified it. A job is calibrated to take {:.0} % of its execution time alone (chapter 6) or {:.0} % while all processors are busy (chapters 7, 8). {} sets, {} runs, {} jobs \
         of the longest period (source: 10, 50, 200).",
        8192 / COLOURS,
        scale.coherence,
        ALONE * 100.0,
        BESIDE * 100.0,
        scale.sets,
        scale.runs,
        scale.jobs
    )
}

/// The source's shares of tasks that missed, in percent: working set, coloured (P, C, G), together (P, C, G).
const SHARES: [[&str; 6]; 4] = [
    ["0", "0", "0", "57.75", "80.56", "93"],
    ["0", "0", "0", "70.42", "83.33", "93.02"],
    ["0", "0", "18", "74.65", "88.89", "93.92"],
    ["54.93", "72.22", "92", "93.02", "91.67", "97.67"],
];

/// Chapter 6.
pub fn chapter_6(scale: &Scale, findings: &mut Findings) {
    let schedulings = [Scheduling::Partitioned, Scheduling::Clustered, Scheduling::Global];
    let inputs: Vec<_> = schedulings.iter().flat_map(|s| WORKING_SETS.map(|bytes| (*s, bytes))).collect();
    let cells =
        each(scale.threads, &inputs, |(s, bytes)| partitions::cell(*s, *bytes, scale.sets, scale.runs, scale.jobs));
    let mut rows = Vec::new();
    let share = |missing: usize, tasks: usize| missing as f64 / tasks.max(1) as f64 * 100.0;
    for (((scheduling, bytes), cell), at) in inputs.iter().zip(&cells).zip(0..) {
        let (which, set) = (at / WORKING_SETS.len(), at % WORKING_SETS.len());
        rows.push(vec![
            format!("{scheduling:?}, {}", kilobytes(*bytes)),
            cell.tasks.to_string(),
            format!("{:.1}", share(cell.missing_coloured, cell.tasks)),
            SHARES[set][which].to_string(),
            format!("{:.1}", share(cell.missing_together, cell.tasks)),
            SHARES[set][which + 3].to_string(),
            format!("{:.2}", cell.factor),
            format!("{:.1}", cell.largest),
            format!("{:.1}", cell.seconds_coloured),
            format!("{:.1}", cell.seconds_together),
        ]);
        if *bytes <= 64 << 10 || (*bytes == 128 << 10 && *scheduling != Scheduling::Global) {
            findings.must(
                cell.missing_coloured == 0,
                "no task with a colour of its own misses up to 128 KB (64 KB global)",
            );
        }
        if *bytes <= 128 << 10 {
            findings.must(cell.factor > 2.0, "tasks in one colour take more than twice as long up to 128 KB");
        }
    }
    findings.tables.push(Table {
        name: "chapter-6",
        title: "Chapter 6: a colour for each task (S1) and one for all (S3)",
        head: vec![
            "",
            "tasks",
            "miss in S1, %",
            "source",
            "miss in S3, %",
            "source",
            "S3 by S1, mean",
            "largest",
            "S1, s",
            "S3, s",
        ],
        rows,
    });
    let factors = each(scale.threads, &WORKING_SETS, |bytes| {
        (partitions::kernel_factor(*bytes, 64, 100_000), partitions::kernel_factor(*bytes, 256, 16_384))
    });
    let rows: Vec<Vec<String>> = WORKING_SETS
        .iter()
        .zip(&factors)
        .map(|(bytes, (tick, busy))| vec![kilobytes(*bytes), format!("{tick:.3}"), format!("{busy:.3}")])
        .collect();
    findings.must(
        factors.iter().all(|(tick, _)| *tick < 1.05),
        "a kernel that touches a page in a millisecond is not felt",
    );
    findings.tables.push(Table {
        name: "kernel",
        title: "Chapter 6: the kernel in the task's colour (S2 by S1; source: 1.0)",
        head: vec!["", "a page each ms", "16 KB every 16,384 accesses"],
        rows,
    });
}

/// The source's least and greatest shares of deadlines missed without colours, in percent, at one write in three and in five.
const PLAIN: [[&str; 2]; 4] = [
    ["2.10 – 9.22", "1.09 – 3.16"],
    ["5.70 – 34.27", "4.53 – 29.42"],
    ["48.17 – 78.84", "43.39 – 72.60"],
    ["8.96 – 24.94", "5.19 – 24.73"],
];

/// Chapter 7.
pub fn chapter_7(scale: &Scale, findings: &mut Findings) {
    let inputs: Vec<_> = WORKING_SETS.iter().flat_map(|bytes| [(*bytes, 3), (*bytes, 5)]).collect();
    let work =
        |(bytes, writes): &(u64, u32)| cap::cell(*bytes, *writes, scale.sets, scale.runs, scale.jobs, scale.coherence);
    let cells = each(scale.threads, &inputs, work);
    let range = |shares: &[f64]| {
        let (least, most) = shares.iter().fold((f64::MAX, 0.0f64), |(least, most), s| (least.min(*s), most.max(*s)));
        format!("{least:.2} – {most:.2}")
    };
    let mut rows = Vec::new();
    for (at, ((bytes, writes), cell)) in inputs.iter().zip(&cells).enumerate() {
        rows.push(vec![
            format!("{}, 1 write in {writes}", kilobytes(*bytes)),
            cell.jobs.to_string(),
            range(&cell.cap),
            range(&cell.plain),
            PLAIN[at / 2][at % 2].to_string(),
            cell.plain.iter().filter(|share| **share > 0.0).count().to_string(),
            format!("{:.1}", cell.seconds.0),
            format!("{:.1}", cell.seconds.1),
        ]);
        findings.must(cell.cap.iter().all(|share| *share == 0.0), "CAP with worst fit misses no deadline");
    }
    let sum = |at: usize| cells[at].plain.iter().sum::<f64>();
    findings.must((4..6).all(|at| sum(at) > 0.0), "worst fit without colours misses deadlines at 128 KB");
    findings.must(sum(4) > sum(6), "worst fit misses fewer deadlines at 256 KB than at 128 KB");
    findings.tables.push(Table {
        name: "chapter-7",
        title: "Chapter 7: deadlines missed, CAP with worst fit and worst fit alone, least to greatest of the sets",
        head: vec!["", "jobs", "CAP-WFD, %", "WFD, %", "source", "sets that miss", "CAP-WFD, s", "WFD, s"],
        rows,
    });
}

/// Chapter 8 without its counters.
pub fn chapter_8(scale: &Scale, findings: &mut Findings) {
    let ratios = WORKING_SETS.iter().flat_map(|bytes| [(*bytes, 3), (*bytes, 5)]);
    let inputs: Vec<_> = ratios.flat_map(|(bytes, writes)| SCHEMES.map(|scheme| (bytes, writes, scheme))).collect();
    let cells = each(scale.threads, &inputs, |(bytes, writes, scheme)| {
        two_phase::cell(*scheme, *bytes, *writes, scale.sets, scale.runs, scale.jobs, scale.coherence)
    });
    // One missed deadline of millions must not look like none.
    let share = |share: f64| if share > 0.0 && share < 0.005 { format!("{share:.5}") } else { format!("{share:.2}") };
    let mut rows = Vec::new();
    for ((bytes, writes, scheme), cell) in inputs.iter().zip(&cells) {
        rows.push(vec![
            format!("{}, 1 write in {writes}, {scheme:?}", kilobytes(*bytes)),
            share(cell.hard),
            share(cell.soft),
            format!("{:.0}", cell.tardiness),
            format!("{:.1}", cell.seconds),
            format!("{:.1}", cell.longest),
            format!("{:.0}", cell.yields),
            format!("{:.0}", cell.best_effort),
        ]);
        findings.must(*scheme == Scheme::BestFit || cell.hard == 0.0, "no hard task misses under CAP-GS");
        findings.must(*scheme != Scheme::Dynamic || cell.soft == 0.0, "no soft task misses under dynamic CAP-GS");
        findings.must(*scheme != Scheme::Dynamic || cell.tardiness < 0.0, "tardiness is negative under dynamic CAP-GS");
        findings.must(
            (*scheme == Scheme::Dynamic) == (cell.yields > 0.0),
            "best-effort tasks yield under dynamic CAP-GS alone",
        );
    }
    findings.tables.push(Table {
        name: "chapter-8",
        title:
            "Chapter 8: deadlines missed by hard and soft tasks, tardiness summed over a set, time until all is done",
        head: vec!["", "hard, %", "soft, %", "tardiness, ms", "s", "longest", "yields", "best-effort accesses, M"],
        rows,
    });
}

/// The counters of chapter 8 and the reload times of chapter 5.
pub fn counters(findings: &mut Findings) {
    let mut rows = Vec::new();
    for bytes in [128 << 10, 512 << 10] {
        for sharing in [false, true] {
            let rates = events::rates(bytes, sharing, 400_000);
            let name = format!("{}, {}", kilobytes(bytes), if sharing { "one array" } else { "an array each" });
            let all = [
                rates.hitm,
                rates.hit_remote,
                rates.remote_miss,
                rates.lines_in_invalid,
                rates.lines_in_shared,
                rates.snooped,
                rates.idle as f64,
            ];
            rows.push(std::iter::once(name).chain(all.iter().map(|rate| format!("{rate:.0}"))).collect());
            findings.must(sharing == (rates.hitm > 1_000.0) && rates.idle == 0, "HITM tells sharing from not sharing");
        }
    }
    findings.tables.push(Table {
        name: "events",
        title: "Chapter 8: events in a second of one of two programs (source: HITM 0 to 99 without sharing, far more with it)",
        head: vec!["", "HITM", "HIT remote", "local HIT, remote MISS", "lines in I", "lines in S", "snooped", "idle processor"],
        rows,
    });
    let mut rows = Vec::new();
    for bytes in [4 << 10, 32 << 10, 128 << 10, 1 << 20, 8 << 20, 10 << 20] {
        let ((plain, bound), (prefetched, _)) = (events::reload(bytes, false), events::reload(bytes, true));
        rows.push(vec![kilobytes(bytes), format!("{bound:.1}"), format!("{plain:.1}"), format!("{prefetched:.1}")]);
        findings.must(plain <= bound + 1e-6 && prefetched <= plain, "reloading takes no longer than its bound");
    }
    findings.tables.push(Table {
        name: "reload",
        title: "Section 6.6: reloading a working set, µs (source: bound 120.5 at 128 KB, 9,640 at 10 MB, measured below it)",
        head: vec!["", "bound", "worst, no prefetcher", "worst, next line prefetched"],
        rows,
    });
}

/// Colours chosen for the least sum of utilisations.
pub fn choices(scale: &Scale, findings: &mut Findings) {
    let counts = choice::compare(scale.systems);
    let more = (counts.chosen as f64 / counts.even.max(1) as f64 - 1.0) * 100.0;
    let figures = [counts.systems, counts.even, counts.chosen, counts.only_even];
    let row = figures.iter().map(u64::to_string).chain([
        format!("{more:.0}"),
        counts.run.to_string(),
        counts.slower.to_string(),
    ]);
    findings.must(more >= 15.0, "chosen colours place at least 15 % more systems than an even split");
    findings.must(counts.slower == 0, "no task of a system placed with chosen colours is slower than counted");
    findings.tables.push(Table {
        name: "choice",
        title: "Random systems placed on four cores with 32 colours",
        head: vec!["systems", "even split", "chosen", "only even", "more, %", "run together", "slower than counted"],
        rows: vec![row.collect()],
    });
}

/// The page: assumptions, tables, and what did not hold.
pub fn markdown(scale: &Scale, findings: &Findings) -> String {
    let mut page = format!("# Cache study\n\n{}\n", assumptions(scale));
    for table in &findings.tables {
        let _ = write!(
            page,
            "\n## {}\n\n| {} |\n|---|{}\n",
            table.title,
            table.head.join(" | "),
            "--:|".repeat(table.head.len() - 1)
        );
        for row in &table.rows {
            let _ = writeln!(page, "| {} |", row.join(" | "));
        }
    }
    for failed in &findings.failed {
        let _ = write!(page, "\nDoes not hold: {failed}.\n");
    }
    page
}
