//! `tactus run`: builds kernel, components and image, boots them on the emulated machine, and judges what happened.

use crate::arguments::Run;
use crate::promise::{can_run, promised, through_caches};
use crate::{subject, verdict};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration as Real;
use tactus_image::Image;
use tactus_machine::boot::{
    assemble, boot_with, compile_monitor, details, machine, start, Assembled, Emulation, Onlooker, Ran, WHOLE_RUN,
};
use tactus_machine::console;
use tactus_machine::disk;
use tactus_machine::emulator::{Emulator, LOG};
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::probe::{self, Probe};
use tactus_machine::results::Results;
use tactus_machine::toolchain::{Network, Toolchain};
use tactus_machine::{costs, measure, place, schedulers, stops};
use tactus_model::{System, SystemFile};
use tactus_plan::RunPlan;
use tactus_report::{ColourUse, Kept};
use tactus_terminal::lines::{self, brief};
use tactus_terminal::progress::{self, waiting};
use tactus_trace::{Trace, View};

/// How long a run may take in real time where nothing tells how far it has come.
const PATIENCE_WITHOUT_A_TRACE: Real = Real::from_secs(120);

/// The monitor below the kernel, for a system that can run in a sandbox.
fn monitor(system: &System, caches: bool, network: Network) -> Result<PathBuf, Failure> {
    let why = match () {
        () if system.cores > 1 => {
            "it has several cores, and a sandbox has one so far: run it without --in-sandbox, or on one core"
        }
        () if caches => {
            "a server counts misses, which a sandbox's processor does not show: run it without --in-sandbox"
        }
        () => return waiting("build", "the sandbox's monitor", |tell| compile_monitor(tell, network)),
    };
    Err(Failure::Input(format!("{}: {why}", system.source.display())))
}

/// Checks, builds, boots, judges and writes the results.
pub fn run(arguments: &Run) -> Result<Outcome, Failure> {
    if let Some(network) = super::network::read(&arguments.subject)? {
        return super::nodes::run(arguments, network);
    }
    let system = match subject::read_file(&arguments.subject)? {
        SystemFile::System(system) => *system,
        SystemFile::Sandboxes(whole) => return super::sandboxes::run(arguments, &whole),
    };
    for (asked, what) in [(arguments.caches, "no caches are modelled"), (arguments.in_sandbox, "there is no sandbox")] {
        if asked {
            subject::only_on_the_first_processor(&system, what)?;
        }
    }
    let costs = costs::read(&arguments.costs, &system)?;
    subject::announce(&system);
    let mut promised = promised(&system, &costs);
    if system.platform.root.is_none() && !can_run(&promised) {
        return Ok(Outcome::Broken);
    }

    let emulator = Emulator::find(system.machine.processor).map_err(machine)?;
    let network = arguments.building.network();
    let assembled = waiting("build", "kernel and components", |tell| assemble(&system, &promised, network, tell))?;
    let (kernel, image) = (&assembled.kernel, &assembled.image);
    if let Some(mut view) = arguments.caches.then(|| through_caches(&system, &costs)).flatten() {
        // Budgets are what the policy was set up with.
        for (task, held) in view.tasks.iter_mut().zip(&promised.view.tasks) {
            task.budget = held.budget;
        }
        promised.view = View { tree: promised.view.tree, ..view };
    }
    let kernel_bytes = built(kernel, image)?;

    let folder = arguments.out.clone().unwrap_or_else(|| place::results(&system.name));
    let results = Results::make(&folder)?;
    // Without modelled caches nobody would count what some server depends on.
    let caches = arguments.caches || regulates(&system);
    let monitor = match arguments.in_sandbox {
        true => Some(monitor(&system, caches, arguments.building.network())?),
        false => None,
    };
    if system.platform.root.is_some() {
        return run_with_own_root(&system, &assembled, &results, monitor);
    }
    let mut shown = Shown { bar: progress::Run::new("run", system.duration), console: !arguments.no_console };
    let emulation = match monitor {
        Some(monitor) => Emulation::InSandbox(monitor),
        None if caches => Emulation::PlugIn(modelled(&system, &results, arguments.building.network())?),
        None => Emulation::Plain,
    };
    let ran = boot_with(&system, (kernel, image), &results, Some(&mut shown), emulation);
    let ran = ran.map_err(|failure| failure.map_machine(|words| stops::explained(&words, &assembled)));
    shown.bar.end();
    let run = Booted {
        arguments,
        system: &system,
        built: &assembled,
        kernel_bytes,
        results: &results,
        emulator: &emulator,
        caches,
    };
    run.conclude(promised, ran?)
}

/// Whether a server counts misses.
fn regulates(system: &System) -> bool {
    system.scheduling.servers.iter().any(|server| server.kind.reads_counters())
}

/// Tells what was built: the kernel's length in memory.
pub(super) fn built(kernel: &Path, image: &Image) -> Result<u64, Failure> {
    let size = fs::metadata(kernel).map_err(|error| Failure::Machine(format!("{}: {error}", kernel.display())))?;
    let bytes = loaded_bytes(kernel).unwrap_or(size.len());
    lines::line("build", format!("kernel {} KiB · {}", bytes.div_ceil(1024), image.sections_report()));
    Ok(bytes)
}

/// A run on the machine.
pub(super) struct Booted<'a> {
    pub arguments: &'a Run,
    pub system: &'a System,
    pub built: &'a Assembled,
    /// The kernel's length in memory.
    pub kernel_bytes: u64,
    pub results: &'a Results,
    pub emulator: &'a Emulator,
    /// Whether caches were modelled.
    pub caches: bool,
}

impl Booted<'_> {
    /// Holds what the run left against what was promised, writes the results and tells them.
    pub fn conclude(&self, mut promised: RunPlan, ran: Ran) -> Result<Outcome, Failure> {
        let Booted { arguments, system, built, kernel_bytes, results, emulator, caches } = *self;
        let image = &built.image;
        let Ran { mut trace, schedulers, mut colours, heaps, took } = ran;
        if let Some(colours) = colours.as_mut().filter(|_| caches) {
            let counted = probe::caches(results.folder(), colours.parts.len(), colours.colours as usize);
            colours.caches = Some(counted.map_err(machine)?);
        }
        let compared = disks(system, &mut promised, &mut trace, results, &image.facts.components)?;
        promised.view.heaps = heaps;

        let allowed = schedulers::allowed(system, &trace);
        // One scheduler for all is replayed by `agree`, and here where something comes from outside, programs among it, or misses are counted.
        let outside =
            system.scheduling.places.iter().any(|place| place.interrupt.is_some() || place.raised_by.is_some());
        // An interrupt may preempt the last stretch of a built-in workload, which looks at no clock, more than once.
        let allowed = if outside { allowed * 4 } else { allowed };
        let replayed = match &schedulers[..] {
            [_] if !outside && !regulates(system) && system.slots.is_empty() => None,
            several => Some(schedulers::replay(system, &promised.setup, several, allowed)?),
        };

        let foreign = colours.as_ref().filter(|it| it.foreign() > 0).map(ColourUse::headline);
        let refuted = replayed.as_ref().and_then(|it| it.as_ref().err().cloned());
        promised.view.refuted = refuted.or_else(|| compared.as_ref().err().cloned()).or(foreign);

        let mut more = Vec::new();
        if arguments.costs != "measured" {
            more.push(format!("--costs {}", lines::quoted(&arguments.costs)));
        }
        let command = subject::command("run", &arguments.subject, &more);
        let mut details = details(system, emulator, image, command);
        let log = fs::read(results.file(LOG)).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        details.findings = promised.findings.clone();
        details.panics = console::panics(&log);
        details.stops = stops::of_run(built, &trace, &details.panics);
        details.console = console::kept(&log, &details.components);
        let told = colours.as_ref().filter(|it| it.apart || it.caches.is_some()).map(colours_told);
        details.facts.extend(told.clone().map(|told| ("colours".to_string(), told)));
        details.colours = colours;
        details.facts.insert(0, ("kernel".to_string(), format!("{} KiB", kernel_bytes.div_ceil(1024))));
        let machine = details.machine.clone();
        let summary = results.write(&Kept { view: promised.view, details }, &trace)?;
        let measured = measure::costs(system, &trace, &summary);
        results.put("costs.toml", measure::file(&measured, &machine, &system.name).as_bytes())?;
        let length = lines::seconds(system.duration);
        let jobs = lines::grouped(summary.total.released);
        let took = took.as_secs_f64();
        lines::line("run", format!("{} {length} · {jobs} jobs · took {took:.1} s", progress::bar(1.0)));
        match &replayed {
            Some(Ok(all)) => {
                let calls = lines::grouped(all.calls);
                let whose = match schedulers.len() {
                    1 => String::new(),
                    several => format!(" of {several} schedulers"),
                };
                let late = format!("{} late at most, {} allowed", brief(all.largest_lateness()), brief(allowed));
                lines::line("replay", format!("each of {calls} decisions{whose} is the policy's own, {late}"));
            }
            Some(Err(wrong)) => lines::line("replay", wrong),
            None => {}
        }
        match &compared {
            Ok(text) if text.is_empty() => {}
            Ok(text) => lines::line("disk", text),
            Err(wrong) => lines::line("disk", lines::bad(wrong)),
        }
        if let Some(told) = told {
            lines::line("colours", told);
        }
        lines::line("verdict", verdict::text(&summary));
        for heap in &summary.heaps {
            lines::line("heap", format!("{}: {heap}", heap.component));
        }
        lines::line("report", results.file("report.html").display());
        Ok(Outcome::held_if(summary.verdict.held()))
    }
}

/// What is told of colours and caches in one line.
fn colours_told(colours: &ColourUse) -> String {
    match &colours.caches {
        None => colours.headline(),
        Some(_) => {
            format!("{} · {} lines driven out by others", colours.headline(), lines::grouped(colours.driven_out()))
        }
    }
}

/// The plug-in with the modelled caches: words for the emulator.
fn modelled(system: &System, results: &Results, network: Network) -> Result<OsString, Failure> {
    let toolchain = Toolchain::find().and_then(|it| it.reaching(network)).map_err(machine)?;
    let wait = progress::Wait::new("build", "the plug-in of the emulator");
    let probe = place::root().and_then(|root| Probe::build(&toolchain, &root).map_err(machine));
    wait.end();
    let caches = system.platform.caches.as_ref().map(|caches| caches.text.as_str());
    probe?.modelling(caches, system.platform.colours, results.folder()).map_err(machine)
}

/// Takes what components told of the disks into the trace, and holds it against the simulation. Of a disk that nothing was told
/// of, nothing is judged.
fn disks(
    system: &System,
    promised: &mut RunPlan,
    trace: &mut Trace,
    results: &Results,
    components: &[String],
) -> Result<Result<String, String>, Failure> {
    if system.disks.is_empty() {
        return Ok(Ok(String::new()));
    }
    let words = fs::read(results.file(LOG)).unwrap_or_default();
    let served = system.disks.iter().map(|disk| disk.component.map(|place| &system.components[place].name));
    let speakers: Vec<_> = served.map(|name| components.iter().position(|it| Some(it) == name)).collect();
    let told = disk::told(&String::from_utf8_lossy(&words), &speakers);
    let Some(mut told) = told.map_err(|why| Failure::Machine(format!("{}: {why}", results.file(LOG).display())))?
    else {
        promised.view.disks.clear();
        return Ok(Ok("no component has told of a disk, so that nothing is judged; `simulate` has them".to_string()));
    };
    // Requests of components come when these like.
    for (view, disk) in promised.view.disks.iter_mut().zip(&system.disks) {
        for (client, it) in view.clients.iter_mut().zip(&disk.clients) {
            client.sporadic = it.buffer.is_some();
        }
    }
    let compared = disk::compare(&promised.disk_setups, &mut told, system.duration).map(crate::disks::compared);
    trace.disks = disk::whole(told, tactus_time::Instant::ZERO + system.duration);
    Ok(compared)
}

/// What is shown of a machine while it runs: how far it has come, and the lines that components print.
pub(super) struct Shown {
    pub bar: progress::Run,
    pub console: bool,
}

impl Onlooker for Shown {
    fn listens(&self) -> bool {
        self.console
    }
    fn printed(&mut self, text: &str) {
        self.bar.aside(|| lines::line("console", text));
    }
    fn reached(&mut self, now: tactus_time::Duration) {
        self.bar.tell(now);
    }
}

/// Runs a system whose root scheduler is the user's own: it keeps no trace, so that there is nothing to judge. Shows what
/// the machine said, and takes its word for how it went: it ends with 0x10 if all is well.
fn run_with_own_root(
    system: &System,
    built: &Assembled,
    results: &Results,
    monitor: Option<PathBuf>,
) -> Result<Outcome, Failure> {
    let emulation = monitor.map_or(Emulation::Plain, Emulation::InSandbox);
    let Assembled { kernel, image, .. } = built;
    let ended = start(system, (kernel, image), results, None, PATIENCE_WITHOUT_A_TRACE, emulation)?;
    let log = results.file(LOG);
    let words = fs::read(&log).unwrap_or_default();
    lines::put(&format!("{}\n", stops::explained(&String::from_utf8_lossy(&words), built)));
    lines::line("run", format!("ended with code {:#x} · took {:.1} s", ended.code, ended.took.as_secs_f64()));
    lines::line("console", log.display());
    if !WHOLE_RUN.contains(&ended.code) {
        return Err(Failure::Machine(format!("the machine gave up with code {:#x}", ended.code)));
    }
    let held = ended.code == WHOLE_RUN[0];
    let verdict = match held {
        true => "nothing was promised: the root scheduler is the system's own, and says that all went well".to_string(),
        false => lines::bad(
            "nothing was promised: the root scheduler is the system's own, and says that something went wrong",
        ),
    };
    lines::line("verdict", verdict);
    Ok(Outcome::held_if(held))
}

/// The bytes of an ELF file that are loaded, as opposed to what it holds for debuggers.
fn loaded_bytes(path: &Path) -> Option<u64> {
    let bytes = fs::read(path).ok()?;
    let number = |at: usize, length: usize| -> Option<u64> {
        Some(bytes.get(at..at + length)?.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte)))
    };
    // ELF64: the program headers' place, the length of one, and how many there are.
    let (place, length, count) = (number(32, 8)? as usize, number(54, 2)? as usize, number(56, 2)? as usize);
    (0..count).try_fold(0, |sum, i| {
        let loaded = number(place + i * length, 4)? == 1;
        Some(sum + if loaded { number(place + i * length + 32, 8)? } else { 0 })
    })
}
