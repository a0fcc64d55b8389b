//! `tactus study disk`: what some of the source's statements depend on.

use super::disk::wrong;
use super::kept::{csv, markdown, put};
use crate::disk::load::{run, Before, Class, Outcome};
use crate::disk::variants::{access_times, edf_waits, exact_rate, matrix_as_written, with_seeks};
use crate::disk::{measure, Bench};
use std::path::Path;
use tactus_disk::{Form, LatencyMap, Policy};
use tactus_machine::failure::Failure;
use tactus_time::Duration;

/// Seeds over which rates are averaged.
const SEEDS: u64 = 5;
/// Nanoseconds that a step of the exact search takes: none, its 107 instructions at three a nanosecond, and at one.
pub const STEPS: [u64; 3] = [0, 36, 107];

fn classes() -> [Class; 2] {
    [100, 200].map(|ms| Class { processes: 8, deadline: Duration::from_millis(ms) })
}

/// Writes a table into the folder and the page.
fn table(
    out: &Path,
    page: &mut String,
    name: &str,
    title: &str,
    head: &[&str],
    rows: &[Vec<String>],
) -> Result<(), Failure> {
    put(out, name, &csv(head, rows))?;
    *page += &format!("\n## {title}\n\n{}\n", markdown(head, rows));
    Ok(())
}

/// All of it.
pub fn variants(out: &Path, bench: &Bench, requests: u64, page: &mut String) -> Result<(), Failure> {
    lookahead(out, bench, requests, page)?;
    exact(out, bench, page)?;
    faster(out, bench, requests, page)?;
    noise(out, bench, page)
}

/// Rate over all seeds, late requests of all.
fn mean(outcomes: &[Outcome]) -> (f64, u64) {
    let rate = outcomes.iter().map(|out| out.rate).sum::<f64>() / outcomes.len() as f64;
    (rate, outcomes.iter().map(|out| out.missed).sum())
}

fn lookahead(out: &Path, bench: &Bench, requests: u64, page: &mut String) -> Result<(), Failure> {
    let crowded = Bench::crowded(bench.geometry.clone(), 150, 8, 59);
    let cases = [
        ("directed", bench, Form::Directed, false),
        ("symmetric", bench, Form::Symmetric, false),
        ("directed: sum without the head's step", bench, Form::Directed, true),
        ("symmetric: sum without the head's step", bench, Form::Symmetric, true),
        ("directed: 8 positions a granule", &crowded, Form::Directed, false),
        ("symmetric: 8 positions a granule", &crowded, Form::Symmetric, false),
    ];
    let mut rows = Vec::new();
    for (name, bench, form, as_written) in cases {
        let mut map = bench.full_map(form).map_err(wrong)?;
        let mut row = vec![name.to_string()];
        for k in 1..=6 {
            let mut of = |seed| one_lookahead(bench, &mut map, k, as_written, requests, seed);
            let (rate, late) = mean(&(0..SEEDS).map(|seed| of(13 + seed)).collect::<Vec<_>>());
            row.push(format!("{rate:.1} ({late})"));
        }
        rows.push(row);
    }
    let head = ["op/s (late) with k", "1", "2", "3", "4", "5", "6"];
    table(out, page, "lookahead.csv", "Look-ahead of G-MATRIX", &head, &rows)
}

fn one_lookahead(bench: &Bench, map: &mut LatencyMap, k: usize, as_written: bool, requests: u64, seed: u64) -> Outcome {
    if as_written {
        run(bench, Before::Rule(&mut matrix_as_written(map, k)), &classes(), requests, seed)
    } else {
        run(bench, Before::Scheduler(Policy::GMatrix(k), map, false), &classes(), requests, seed)
    }
}

fn exact(out: &Path, bench: &Bench, page: &mut String) -> Result<(), Failure> {
    let mut map = bench.full_map(Form::Symmetric).map_err(wrong)?;
    let mut rows = Vec::new();
    for many in 1..=10 {
        let steps: u64 = (1..=many as u64).map(|depth| (many as u64 - depth + 1..=many as u64).product::<u64>()).sum();
        let rounds = (2_000_000 / steps).clamp(10, 400);
        let rate = |step| exact_rate(bench, &map, many, Duration::from_nanos(step), rounds);
        let rates = STEPS.map(|step| format!("{:.1}", rate(step)));
        let class = [Class { processes: many, deadline: Duration::from_secs(1_000) }];
        let path = run(bench, Before::Scheduler(Policy::FsatfMap, &mut map, false), &class, 5_000, 11).rate;
        let row = [many.to_string(), steps.to_string()].into_iter().chain(rates).chain([format!("{path:.1}")]);
        rows.push(row.collect());
    }
    let head = ["queue", "steps", "op/s: no time", "36 ns a step", "107 ns a step", "nearest insertion"];
    table(out, page, "exact.csv", "The exact shortest path, with the time that it takes", &head, &rows)
}

fn faster(out: &Path, bench: &Bench, requests: u64, page: &mut String) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for share in [1_000, 900, 800, 700, 650, 600, 500, 400, 300] {
        let bench = Bench::new(with_seeks(&bench.geometry, share), 300, 7);
        let mut row = vec![format!("{:.2}", share as f64 / 1000.0)];
        let mut edf = 0.0;
        for (policy, form) in [
            (Policy::Edf, Form::Symmetric),
            (Policy::GMatrix(4), Form::Symmetric),
            (Policy::GMatrix(4), Form::Directed),
        ] {
            let mut map = bench.full_map(form).map_err(wrong)?;
            let it = run(&bench, Before::Scheduler(policy, &mut map, false), &classes(), requests, 13);
            edf = if policy == Policy::Edf { it.rate } else { edf };
            let longest = it.longest.iter().map(|longest| format!("{:.0}", longest.as_millis_f64()));
            row.push(longest.collect::<Vec<_>>().join(" / "));
            row.push(format!("{:.1}", it.rate));
            row.push(it.missed.to_string());
            row.push(format!("{:.2}", it.rate / edf));
        }
        rows.push(row);
    }
    let each = |name: &str| ["ms", "op/s", "late", "times EDF"].map(|what| format!("{name}: {what}"));
    let head: Vec<String> = std::iter::once("seeks times".to_string())
        .chain(["EDF", "symmetric", "directed"].into_iter().flat_map(each))
        .collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    table(out, page, "faster.csv", "Deadlines on a faster drive", &head, &rows)?;
    let (access, wait) = (access_times(bench, 100_000, 61), edf_waits(bench, &classes(), requests, 13));
    *page += &format!(
        "Access times: mean {:.2} ms, standard deviation {:.2} ms. EDF lets requests with 100 ms wait {:.1} ms, standard deviation {:.1} ms, longest {:.1} ms.\n",
        access.mean, access.deviation, wait.mean, wait.deviation, wait.longest
    );
    Ok(())
}

fn noise(out: &Path, bench: &Bench, page: &mut String) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for micros in [0, 2, 5, 10, 12, 15, 20, 40] {
        let most = Duration::from_micros(micros);
        let drive = if micros == 0 { bench.drive() } else { bench.drive().jitter(most, 29) };
        let said = measure::predict(bench, drive, 100_000, 31);
        let repeated = if micros == 0 { 0.0 } else { measure::repeatability(bench, most, 200, 200) };
        let cells = [said.within_five * 100.0, said.within * 100.0, repeated * 100.0];
        rows.push(std::iter::once(micros.to_string()).chain(cells.map(|cell| format!("{cell:.2}"))).collect());
    }
    let head = ["disturbed by up to (us)", "% within 5 %", "% within 1 % of a turn", "repeated order within %"];
    table(out, page, "noise.csv", "The model instead of the matrix", &head, &rows)
}
