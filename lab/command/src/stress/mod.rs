//! `tactus stress`: systems of several cores that execute at the same time, on a kernel that looks at its own objects.
//!
//! Everywhere else the emulator's cores take turns, so that runs repeat. Here each is a thread of the host, so that two are in the middle
//! of a change at once wherever the host likes, and in every other run also where they are delayed at random. Times mean nothing then; what is judged holds however long anything takes ([`judge`]).

mod judge;
mod races;
mod sources;
mod systems;

use clap::Args;
use races::{Race, RACES};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration as Real, Instant};
use systems::{Subject, SUBJECTS};
use tactus_image::Image;
use tactus_machine::boot::{collect, compile_system, image, machine, start, Emulation, WHOLE_RUN};
use tactus_machine::build::{Programs, Sources};
use tactus_machine::emulator::LOG;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::place;
use tactus_machine::probe::Probe;
use tactus_machine::results::Results;
use tactus_machine::toolchain::{Network, Toolchain};
use tactus_model::{Costs, System};
use tactus_plan::{plan, RunPlan};
use tactus_terminal::lines;
use tactus_terminal::progress::waiting;

/// How long a machine may show no progress.
const PATIENCE: Real = Real::from_secs(20);

/// In every other run a core stands still after one access to memory of this number, in the mean.
const DELAYED: u32 = 1_000;

/// How many of the planted races are to be found.
const ENOUGH: usize = 8;

/// Options of `stress`.
#[derive(Debug, Args)]
pub struct Stress {
    /// How often each system is run
    #[arg(long, default_value_t = 3)]
    pub runs: u32,
    /// The one system that is run, or with --planted the one race
    #[arg(long, value_name = "NAME")]
    pub only: Option<String>,
    /// Plant races in a copy of the sources, one after the other, and see whether they are found within the runs
    #[arg(long)]
    pub planted: bool,
}

/// Runs the systems and tells what was found.
///
/// # Errors
/// If there is no such system, or the machine lacks something.
pub fn stress(wanted: &Stress) -> Result<Outcome, Failure> {
    if wanted.planted {
        return planted(wanted);
    }
    let sources = sources::own()?;
    let mut broken = false;
    for subject in chosen(&SUBJECTS, |it| it.name, wanted)? {
        let (began, built) = (Instant::now(), Built::of(&sources, subject)?);
        let mut found = Vec::new();
        for run in 0..wanted.runs {
            let wrong = built.run(run, subject.name)?;
            if let Some(what) = wrong.into_iter().next() {
                lines::line("", format!("{}, run {run}: {what}", subject.name));
                found.push(run);
            }
        }
        let took = began.elapsed().as_secs_f64();
        let told = match found.len() {
            0 => lines::good("nothing found"),
            some => lines::bad(format!("{some} of them broken")),
        };
        lines::line(subject.name, format!("{} · {told} · took {took:.1} s", lines::count(wanted.runs as usize, "run")));
        broken |= !found.is_empty();
    }
    Ok(Outcome::held_if(!broken))
}

/// Plants one race after the other, each in sources without the others, and runs its system until it is found.
fn planted(wanted: &Stress) -> Result<Outcome, Failure> {
    let races = chosen(&RACES, |it| it.name, wanted)?;
    let mut found = 0;
    for race in &races {
        let what = look_for(race, wanted.runs)?;
        let told = match &what {
            Some((run, what)) => format!("found in run {run} of {}: {what}", race.subject),
            None => {
                lines::bad(format!("not found in {} of {}", lines::count(wanted.runs as usize, "run"), race.subject))
            }
        };
        lines::line(race.name, told);
        found += usize::from(what.is_some());
    }
    lines::line("planted", format!("{found} of {} found", lines::count(races.len(), "race")));
    // Some of them last for so short that runs may miss them.
    Ok(Outcome::held_if(found >= races.len().min(ENOUGH)))
}

/// The first run in which the race is found, from 1, and what was wrong in it.
fn look_for(race: &Race, runs: u32) -> Result<Option<(u32, String)>, Failure> {
    let Some(subject) = SUBJECTS.iter().find(|it| it.name == race.subject) else { return Ok(None) };
    let sources = sources::with(race)?;
    let built = Built::of(&sources, subject)?;
    for run in 0..runs {
        if let Some(what) = built.run(run, race.name)?.into_iter().next() {
            return Ok(Some((run + 1, what)));
        }
    }
    Ok(None)
}

/// All of them, or the one that is wanted.
fn chosen<'a, T>(all: &'a [T], name: fn(&T) -> &'static str, wanted: &Stress) -> Result<Vec<&'a T>, Failure> {
    let chosen: Vec<&T> = all.iter().filter(|it| wanted.only.as_ref().is_none_or(|only| only == name(it))).collect();
    match chosen.is_empty() {
        false => Ok(chosen),
        true => {
            Err(Failure::Input(format!("--only: there is {}", all.iter().map(name).collect::<Vec<_>>().join(", "))))
        }
    }
}

/// A system whose programs are compiled.
struct Built<'a> {
    sources: &'a Sources,
    subject: &'a Subject,
    /// Delays cores.
    probe: Probe,
    ours: Programs,
    users: Vec<PathBuf>,
}

impl<'a> Built<'a> {
    fn of(sources: &'a Sources, subject: &'a Subject) -> Result<Built<'a>, Failure> {
        let (system, plan) = read(sources, subject, 0)?;
        let (ours, users) = waiting("build", "kernel and components", |tell| {
            compile_system(sources, &system, &plan, (Network::default(), tell))
        })?;
        let probe = Probe::build(&Toolchain::find().map_err(machine)?, &place::root()?).map_err(machine)?;
        Ok(Built { sources, subject, probe, ours, users })
    }

    /// Runs it once, into a folder of this name. What was wrong.
    fn run(&self, run: u32, name: &str) -> Result<Vec<String>, Failure> {
        let (system, plan) = read(self.sources, self.subject, run)?;
        let (kernel, image) = image(&system, &plan, &self.ours, &self.users)?;
        let results = Results::make(&place::results(&format!("stress/{name}")))?;
        let delays = || self.probe.delaying(DELAYED, run, results.folder()).map_err(machine);
        let plug_in = (run % 2 == 0).then(delays).transpose()?;
        let found = execute(&system, &plan, (&kernel, &image), &results, plug_in)?;
        let log = fs::read(results.file(LOG)).unwrap_or_default();
        Ok(found.into_iter().chain((self.subject.says)(&String::from_utf8_lossy(&log))).collect())
    }
}

/// The system as it is in this run, and what is planned for it.
fn read(sources: &Sources, subject: &Subject, run: u32) -> Result<(System, RunPlan), Failure> {
    let path = sources.root.join(subject.file);
    let text = fs::read_to_string(&path).map_err(|error| machine(format!("{}: {error}", path.display())))?;
    let system = System::parse_toml(&(subject.text)(run, &text), &path).map_err(machine)?;
    let costs = Costs::default();
    let plan = plan(&system, &tactus_analysis::check(&system, &costs), &costs);
    Ok((system, plan))
}

/// Boots it with cores at the same time, and judges its records.
fn execute(
    system: &System,
    plan: &RunPlan,
    (kernel, image): (&Path, &Image),
    results: &Results,
    plug_in: Option<OsString>,
) -> Result<Vec<String>, Failure> {
    let ended = match start(system, (kernel, image), results, None, PATIENCE, Emulation::Concurrent(plug_in)) {
        Ok(ended) => ended,
        Err(failure) => return Ok(vec![failure.to_string()]),
    };
    let log = fs::read(results.file(LOG)).unwrap_or_default();
    let mut found = judge::of_console(ended.code, &String::from_utf8_lossy(&log));
    if system.platform.root.is_none() && WHOLE_RUN.contains(&ended.code) {
        let ran = collect(system, image, ended, false)?;
        ran.trace.write(results.file("trace.bin")).map_err(machine)?;
        found.extend(judge::of_trace(system, plan, &ran)?);
    }
    Ok(found)
}
