//! `tactus study interrupts`: packets arrive faster than they can be handled, under four ways to schedule interrupts.

mod figures;
mod generator;
mod machine;
mod plot;
mod spec;

use super::runs::at_once;
use clap::Args;
use figures::{judge, Figures};
use machine::{Guest, Source};
use spec::{Point, Spec};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::place;
use tactus_machine::stretches;
use tactus_packets::{Series, Setup, STREAMS};
use tactus_terminal::lines;

/// Options of `study interrupts`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The study file (TOML) [default: lab/studies/interrupts.toml of the clone]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Only the sweep with this name
    #[arg(long, value_name = "NAME")]
    sweep: Option<String>,
    /// Machines at once [default: one for each core of this computer]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    machines: Option<u16>,
    /// Send so many real packets of each stream through an emulated network card instead, and tell what became of them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    card: Option<u64>,
    /// Where the results go
    #[arg(long, value_name = "FOLDER", default_value = "out/study/interrupts")]
    out: PathBuf,
}

/// Runs all points and writes table, figures and plots.
pub fn study(arguments: &Arguments) -> Result<Outcome, Failure> {
    let file = match &arguments.file {
        Some(file) => file.clone(),
        None => place::root()?.join("lab/studies/interrupts.toml"),
    };
    let spec = Spec::read(&file)?;
    let wanted = |point: &Point| arguments.sweep.as_ref().is_none_or(|name| spec.sweeps[point.sweep].name == *name);
    let points: Vec<Point> = spec.points().into_iter().filter(wanted).collect();
    if points.is_empty() {
        let names: Vec<_> = spec.sweeps.iter().map(|sweep| sweep.name.as_str()).collect();
        return Err(Failure::Input(format!("no such sweep; the file has {}", names.join(", "))));
    }
    if let Some(packets) = arguments.card {
        return through_card(&spec, packets, &arguments.out);
    }
    lines::line("study", format!("{}\n{} runs", spec.title, points.len()));
    let guest = Guest::build()?;
    let folder = &arguments.out;
    fs::create_dir_all(folder).map_err(|error| Failure::Machine(format!("{}: {error}", folder.display())))?;
    let machines =
        arguments.machines.map_or_else(|| thread::available_parallelism().map_or(1, |n| n.get()), usize::from);
    let mut all = run(&guest, &spec, &points, machines, folder)?;
    judge(&mut all);

    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| Failure::Machine(format!("{}: {error}", path.display())))
    };
    for sweep in &spec.sweeps {
        let figures: Vec<Figures> = all.iter().filter(|it| it.sweep == sweep.name).cloned().collect();
        if figures.is_empty() {
            continue;
        }
        lines::put(&format!("\n{}\n{}", lines::bold(&sweep.title), table(&figures)));
        put(&format!("{}.svg", sweep.name), &plot::svg(sweep, &figures))?;
    }
    let json = serde_json::to_string_pretty(&all).map_err(|error| Failure::Machine(error.to_string()))?;
    put("figures.json", &json)?;
    lines::put("\n");
    lines::line("results", folder.display());
    Ok(Outcome::Held)
}

/// Sends real packets, in the set-up with a server for each stream, and counts them at every station.
fn through_card(spec: &Spec, packets: u64, folder: &Path) -> Result<Outcome, Failure> {
    let guest = Guest::build()?;
    let point = Point { sweep: 0, setup: Setup::Servers, rates: [1_000; STREAMS] };
    let totals = guest.run(spec, &point, Source::Card(packets), &folder.join("card"))?;
    let _ = fs::remove_dir_all(folder.join("card"));
    let count = |series: Series, stream: usize| -> u64 { totals[series as usize + stream].iter().sum() };
    let rows: Vec<Vec<String>> = (0..STREAMS)
        .map(|stream| {
            let stations = [Series::Arrived, Series::Upcalls, Series::Handled].map(|series| count(series, stream));
            let numbers = [packets].into_iter().chain(stations).map(lines::grouped);
            [(stream + 1).to_string()].into_iter().chain(numbers).collect()
        })
        .collect();
    lines::put(&lines::table(&["stream", "sent", "arrived", "upcalls", "handled"], &rows));
    lines::line("card", format!("{} interrupts", lines::grouped(count(Series::Interrupts, 0))));
    let whole = (0..STREAMS).all(|stream| count(Series::Handled, stream) == packets);
    Ok(Outcome::held_if(whole))
}

/// Keeps what the machine said, and what was counted of it.
fn keep_logs(machine: &Path, logs: &Path, point: &Point) -> Result<(), Failure> {
    let [first, second] = point.rates;
    let name = format!("{}-{first}-{second}", point.setup.letter());
    let keep = |file: &str, to: &Path| {
        if machine.join(file).exists() {
            fs::copy(machine.join(file), to.join(file))?;
        }
        Ok(())
    };
    let to = logs.join(name);
    fs::create_dir_all(&to)
        .and_then(|()| keep("run.log", &to))
        .and_then(|()| keep(stretches::FILE, &to))
        .and_then(|()| fs::write(to.join("machine.txt"), "1 instruction = 1 ns\n"))
        .map_err(|error| Failure::Machine(format!("{}: {error}", to.display())))
}

/// Runs the points on several machines at once; the figures come back in the order of the points.
fn run(guest: &Guest, spec: &Spec, points: &[Point], machines: usize, folder: &Path) -> Result<Vec<Figures>, Failure> {
    let mut figures: Vec<Option<Figures>> = vec![None; points.len()];
    let (logs, own) = (folder.join("logs"), |machine| folder.join(format!("machine-{machine}")));
    let work = |machine, point: &Point| {
        let totals = guest.run(spec, point, Source::Timer, &own(machine))?;
        keep_logs(&own(machine), &logs, point)?;
        Ok(Figures::new(spec, point, &totals))
    };
    let result = at_once(machines, points, work, |number, ran| figures[number] = Some(ran));
    for machine in 0..machines {
        let _ = fs::remove_dir_all(own(machine));
    }
    result.map(|()| figures.into_iter().flatten().collect())
}

fn table(figures: &[Figures]) -> String {
    let head = ["set-up", "stream 1", "stream 2", "upcalls 1", "upcalls 2", "task 1", "task 2", "both", "1 : 2", ""];
    let whole = |value: f64| lines::grouped(value.round() as u64);
    let rows: Vec<Vec<String>> = figures
        .iter()
        .map(|it| {
            vec![
                it.setup.to_string(),
                lines::grouped(it.rates[0]),
                lines::grouped(it.rates[1]),
                whole(it.upcalls[0]),
                whole(it.upcalls[1]),
                whole(it.handled[0]),
                whole(it.handled[1]),
                whole(it.total()),
                it.ratio().map_or("-".into(), |ratio| format!("{ratio:.2}")),
                if it.livelock { "livelock".into() } else { String::new() },
            ]
        })
        .collect();
    lines::table(&head, &rows)
}
