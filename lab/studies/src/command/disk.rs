//! `tactus study disk`: what a learned latency map is worth to a disk's scheduler, beside the source's figures.

use super::disk_variants::variants;
use super::kept::{csv, markdown, plot, put, Line};
use crate::disk::load::{run, run_on, Before, Class};
use crate::disk::{measure, Bench};
use clap::Args;
use std::path::PathBuf;
use tactus_disk::parameters::Model;
use tactus_disk::{CacheSettings, Drive, Form, Geometry, LatencyMap, Policy};
use tactus_machine::failure::{Failure, Outcome};
use tactus_terminal::lines;
use tactus_time::Duration;

/// Options of `study disk`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Which modelled drive: the one that stands for the source's, or one by its published figures
    #[arg(long, value_name = "DRIVE", default_value = "source-10k", value_parser = ["source-10k", "atlas-10k", "cheetah-15k7"])]
    drive: String,
    /// How many positions are asked for; the source had 10,000, a map of 1,000 is full sooner
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(64..=10_000))]
    positions: u64,
    /// Requests of each run
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(200..=10_000_000))]
    requests: u64,
    /// Where the results go
    #[arg(long, value_name = "FOLDER", default_value = "out/study/disk")]
    out: PathBuf,
}

const QUEUES: [usize; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// Name, rule, whether the directed map.
const RULES: [(&str, Policy, bool); 11] = [
    ("NOOP", Policy::Noop, false),
    ("CFQ", Policy::Cfq, false),
    ("DEADLINE", Policy::Deadline(Duration::from_millis(500)), false),
    ("SATF-LBN", Policy::SatfBlock, false),
    ("FSATF-LBN", Policy::FsatfBlock, false),
    ("SATF-MAP", Policy::SatfMap, false),
    ("FSATF-MAP", Policy::FsatfMap, false),
    ("greedy by map", Policy::GreedyMap, false),
    ("SATF-MAP directed", Policy::SatfMap, true),
    ("FSATF-MAP directed", Policy::FsatfMap, true),
    ("greedy by directed map", Policy::GreedyMap, true),
];

/// What the source's Table II has: name, ms of both classes, operations a second.
const SOURCE: [(&str, &str); 4] = [
    ("EDF", "99 / 198 / 130"),
    ("G-MATRIX", "86 / 192 / 172"),
    ("TCQ4", "407 / 419 / 169"),
    ("TCQ64", "955 / 1272 / 236"),
];

/// What is told of a map that cannot be.
pub fn wrong(error: tactus_disk::MapError) -> Failure {
    Failure::Input(error.to_string())
}

fn geometry(name: &str) -> Result<Geometry, Failure> {
    let drive = Model::ALL.into_iter().find(|drive| drive.name() == name).unwrap_or(Model::Source10k);
    drive.geometry().map_err(|error| Failure::Input(error.to_string()))
}

/// Runs all experiments on one drive.
pub fn study(arguments: &Arguments) -> Result<Outcome, Failure> {
    let bench = Bench::new(geometry(&arguments.drive)?, arguments.positions as usize, 7);
    let full = |form| bench.full_map(form).map_err(wrong);
    let (mut symmetric, mut directed) = (full(Form::Symmetric)?, full(Form::Directed)?);
    lines::line(
        "study",
        format!("{}, {} positions, a code is {}", arguments.drive, bench.positions.len(), bench.quantum()),
    );

    let mut page = format!("# Disk study: {}\n\n", arguments.drive);
    let curves = throughput(arguments, &bench, &mut symmetric, &mut directed, &mut page)?;
    let promised = deadlines(arguments, &bench, &mut symmetric, &mut directed, &mut page)?;
    learning(arguments, &bench, &mut page)?;
    predictions(&bench, &directed, &mut page);
    easy(arguments, &bench, &mut page)?;
    flash(arguments, &mut page)?;
    variants(&arguments.out, &bench, arguments.requests, &mut page)?;
    put(&arguments.out, "disk.md", &page)?;
    lines::put(&page);
    Ok(Outcome::held_if(curves && promised))
}

fn throughput(
    arguments: &Arguments,
    bench: &Bench,
    symmetric: &mut LatencyMap,
    directed: &mut LatencyMap,
    page: &mut String,
) -> Result<bool, Failure> {
    let class = |processes| [Class { processes, deadline: Duration::from_secs(1_000) }];
    let mut rates: Vec<(String, Vec<f64>)> = Vec::new();
    for (name, policy, of_directed) in RULES {
        let map = if of_directed { &mut *directed } else { &mut *symmetric };
        let rate =
            |&n: &usize| run(bench, Before::Scheduler(policy, map, false), &class(n), arguments.requests, 11).rate;
        rates.push((name.to_string(), QUEUES.iter().map(rate).collect()));
    }
    let rate = |&n: &usize| run(bench, Before::Model, &class(n), arguments.requests, 11).rate;
    rates.push(("greedy by tracked model".to_string(), QUEUES.iter().map(rate).collect()));
    for depth in [4, 64] {
        let rate = |&n: &usize| run(bench, Before::OwnQueue(depth), &class(n), arguments.requests, 11).rate;
        rates.push((format!("TCQ{depth}"), QUEUES.iter().map(rate).collect()));
    }
    let head: Vec<String> = std::iter::once("op/s at queue".into()).chain(QUEUES.map(|n| n.to_string())).collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let rows: Vec<Vec<String>> = rates
        .iter()
        .map(|(name, rates)| std::iter::once(name.clone()).chain(rates.iter().map(|r| format!("{r:.1}"))).collect())
        .collect();
    put(&arguments.out, "throughput.csv", &csv(&head, &rows))?;
    let curves = rates
        .iter()
        .enumerate()
        .map(|(n, (name, y))| Line { name: name.clone(), y: y.clone(), colour: n, dash: n / 8 })
        .collect();
    let x: Vec<f64> = QUEUES.iter().map(|&n| (n as f64).log2()).collect();
    put(&arguments.out, "throughput.svg", &plot("Throughput", "log2 of the queue", "op/s", &x, curves))?;
    *page += &format!("## Throughput (source, Fig. 5)\n\n{}\n", markdown(&head, &rows));
    let of = |name: &str| rates.iter().find(|r| r.0 == name).map(|r| r.1.clone()).unwrap_or_default();
    let gain =
        |a: &str, b: &str| of(a).iter().zip(of(b)).skip(1).map(|(a, b)| (a / b - 1.0) * 100.0).fold(f64::MIN, f64::max);
    let rows = [
        ("DEADLINE over NOOP", gain("DEADLINE", "NOOP"), "50"),
        ("SATF-MAP over SATF-LBN", gain("SATF-MAP", "SATF-LBN"), "28"),
        ("greedy by map over SATF-LBN", gain("greedy by map", "SATF-LBN"), "28"),
        ("FSATF-MAP over FSATF-LBN", gain("FSATF-MAP", "FSATF-LBN"), "17"),
        ("SATF-MAP directed over SATF-LBN", gain("SATF-MAP directed", "SATF-LBN"), "-"),
        ("greedy by directed map over SATF-LBN", gain("greedy by directed map", "SATF-LBN"), "-"),
    ];
    let rows: Vec<Vec<String>> =
        rows.iter().map(|(name, gain, source)| vec![(*name).into(), format!("{gain:.1}"), (*source).into()]).collect();
    *page += &format!("{}\n", markdown(&["largest gain, %", "here", "source"], &rows));
    let noop = of("NOOP");
    let cfq = noop.iter().zip(of("CFQ")).map(|(noop, cfq)| (cfq / noop - 1.0).abs() * 100.0).fold(0.0, f64::max);
    *page += &format!("CFQ differs from NOOP by {cfq:.1} % at most.\n\n");
    let flat = noop.iter().all(|rate| (rate / noop[0] - 1.0).abs() < 0.03);
    Ok(flat && gain("SATF-MAP directed", "NOOP") > 0.0)
}

fn deadlines(
    arguments: &Arguments,
    bench: &Bench,
    symmetric: &mut LatencyMap,
    directed: &mut LatencyMap,
    page: &mut String,
) -> Result<bool, Failure> {
    let classes = [100, 200].map(|ms| Class { processes: 8, deadline: Duration::from_millis(ms) });
    let mut rows = Vec::new();
    let mut of = |name: String, before: Before<'_>| {
        let out = run(bench, before, &classes, arguments.requests, 13);
        let source = SOURCE.iter().find(|s| s.0 == name || name == format!("{} 4 symmetric", s.0)).map_or("-", |s| s.1);
        rows.push(vec![
            name,
            format!("{:.0}", out.longest[0].as_millis_f64()),
            format!("{:.0}", out.longest[1].as_millis_f64()),
            format!("{:.1}", out.rate),
            out.missed.to_string(),
            source.to_string(),
        ]);
        out
    };
    let edf = of("EDF".into(), Before::Scheduler(Policy::Edf, symmetric, false));
    for k in [2, 3, 4, 5, 6] {
        of(format!("G-MATRIX {k} symmetric"), Before::Scheduler(Policy::GMatrix(k), symmetric, false));
    }
    let mut best = None;
    for k in [2, 3, 4, 5, 6] {
        let out = of(format!("G-MATRIX {k} directed"), Before::Scheduler(Policy::GMatrix(k), directed, false));
        if k == 4 {
            best = Some(out);
        }
    }
    let tcq4 = of("TCQ4".into(), Before::OwnQueue(4));
    let tcq64 = of("TCQ64".into(), Before::OwnQueue(64));
    let head = ["8 + 8 processes", "longest, 100 ms", "longest, 200 ms", "op/s", "late", "source (ms / ms / op/s)"];
    put(&arguments.out, "deadlines.csv", &csv(&head, &rows))?;
    *page += &format!("## Deadlines (source, Table II)\n\n{}\n", markdown(&head, &rows));
    let best = best.unwrap_or_default();
    *page += &format!("G-MATRIX 4 directed: {:.2} times EDF's rate.\n\n", best.rate / edf.rate);
    Ok(best.missed == 0 && best.rate >= 1.3 * edf.rate && tcq4.missed > 0 && tcq64.missed > 0)
}

fn learning(arguments: &Arguments, bench: &Bench, page: &mut String) -> Result<(), Failure> {
    let small = Bench::new(bench.geometry.clone(), 150, 17);
    let mut map = small.empty_map(Form::Directed).map_err(wrong)?;
    let class = [Class { processes: 32, deadline: Duration::from_secs(1_000) }];
    let out = run(&small, Before::Scheduler(Policy::GreedyMap, &mut map, true), &class, 60_000, 19);
    let (known, cells) = map.known();
    let x: Vec<f64> = (1..=out.parts.len()).map(|n| n as f64).collect();
    let rows: Vec<Vec<String>> =
        out.parts.iter().enumerate().map(|(n, r)| vec![(n + 1).to_string(), format!("{r:.1}")]).collect();
    put(&arguments.out, "learning.csv", &csv(&["part", "op/s"], &rows))?;
    let line = Line { name: "directed map".into(), y: out.parts.clone(), colour: 0, dash: 0 };
    put(&arguments.out, "learning.svg", &plot("Learning", "3,000 requests each", "op/s", &x, vec![line]))?;
    let parts: Vec<String> = out.parts.iter().map(|rate| format!("{rate:.0}")).collect();
    *page += &format!(
        "## Learning (source, Fig. 6)\n\nop/s for each 3,000 requests: {}. {known} of {cells} cells known at the end.\n\n",
        parts.join(", ")
    );
    Ok(())
}

/// Runs in which the map of 200 positions is learned before it is used.
const LESSONS: usize = 10;

/// Large and adjacent requests, where order matters little (source, "Sequential loads").
fn easy(arguments: &Arguments, bench: &Bench, page: &mut String) -> Result<(), Failure> {
    let class = [Class { processes: 32, deadline: Duration::from_secs(1_000) }];
    let ahead = CacheSettings { segments: 8, ahead: 1_024, writes: 0 };
    let few = Bench::new(bench.geometry.clone(), 200, 41);
    let loads = [
        ("4 KiB at random", few.clone(), CacheSettings::default()),
        ("400 KiB at random", few.with_blocks(800), CacheSettings::default()),
        ("4 KiB, adjacent, drive reads ahead", Bench::adjacent(bench.geometry.clone(), 20), ahead),
    ];
    let mut rows = Vec::new();
    for (name, load, cache) in loads {
        // Learned on the drive as it is, with what it reads ahead.
        let mut map = load.empty_map(Form::Directed).map_err(wrong)?;
        let mut rate = |policy| {
            let drive = Drive::new(load.geometry.clone(), cache);
            run_on(&load, drive, Before::Scheduler(policy, &mut map, true), &class, arguments.requests, 43).rate
        };
        for _ in 0..LESSONS {
            rate(Policy::SatfMap);
        }
        let rates = [Policy::Noop, Policy::SatfBlock, Policy::SatfMap, Policy::GreedyMap].map(&mut rate);
        rows.push(std::iter::once(name.to_string()).chain(rates.map(|rate| format!("{rate:.1}"))).collect());
    }
    let head = ["op/s, 32 processes", "NOOP", "SATF-LBN", "SATF-MAP directed", "greedy by directed map"];
    put(&arguments.out, "easy.csv", &csv(&head, &rows))?;
    *page += &format!("\n## Large and adjacent requests\n\n{}\n", markdown(&head, &rows));
    Ok(())
}

fn flash(arguments: &Arguments, page: &mut String) -> Result<(), Failure> {
    let it = measure::flash(64, arguments.requests.max(20_000), 47).map_err(wrong)?;
    *page += &format!(
        "\n## Flash\n\nHalf writes: NOOP {:.0} op/s, nearest by the learned map {:.0}. Mean {:.2} ms, longest {:.1} ms; {:.1} % of requests had a cell of 4 ms or more.\n",
        it.noop, it.map, it.mean, it.longest, it.largest * 100.0
    );
    Ok(())
}

fn predictions(bench: &Bench, directed: &LatencyMap, page: &mut String) {
    let errors = measure::map_errors(bench, directed, 100_000, 23);
    let at = |errors: &[i64], share: f64| errors[((errors.len() - 1) as f64 * share) as usize];
    let noisy = bench.drive().jitter(Duration::from_micros(20), 29);
    let said = measure::predict(bench, noisy, 100_000, 31);
    *page += &format!(
        "## Prediction\n\nLinearity of block distance: {:.2} (source 0.57, 0.42). Repeated order, 20 us of noise: within {:.2} %.\n\
         Map above what happened, us: least {}, median {}, 99 % {}.\nTracked model, 20 us of noise: {:.2} % within 1 % of a turn, \
         {:.2} % within 5 % of the time.\n",
        measure::linearity(bench, 100_000, 37),
        measure::repeatability(bench, Duration::from_micros(20), 200, 200) * 100.0,
        errors[0],
        at(&errors, 0.5),
        at(&errors, 0.99),
        said.within * 100.0,
        said.within_five * 100.0,
    );
}
