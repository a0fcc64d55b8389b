//! One run of a measured system: built, booted, and its whole memory kept.

use super::follow::{self, Paths};
use std::fmt::Display;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration as Real, Instant};
use tactus_image::Facts;
use tactus_machine::boot::image;
use tactus_machine::build::{build, Programs, Unit};
use tactus_machine::emulator::{Board, Boot, Execution, IMAGE};
use tactus_machine::failure::Failure;
use tactus_machine::place;
use tactus_machine::results::Results;
use tactus_machine::schedulers;
use tactus_machine::symbols::labels;
use tactus_machine::toolchain::Toolchain;
use tactus_machine::watch::{self, Watch};
use tactus_model::{Costs, System};
use tactus_plan::plan;
use tactus_terminal::lines;
use tactus_terminal::progress::Wait;
use tactus_trace::Trace;

/// How long the machine may show no progress. The measuring scheduler shows none at all.
const PATIENCE: Real = Real::from_secs(60);

/// The ends of a run that measured what it should.
const WHOLE_RUN: [u32; 2] = [0x10, 0x11];

/// A run that came to its end.
pub struct Ran {
    /// The machine's memory.
    pub memory: Vec<u8>,
    /// The trace; empty if a measuring scheduler ran.
    pub trace: Trace,
    /// What lies where.
    pub facts: Facts,
    /// What the machine wrote to its serial port.
    pub said: String,
}

/// Kernel, components and measuring components, compiled.
pub fn programs() -> Result<Programs, Failure> {
    let wait = Wait::new("build", "kernel and measuring components");
    let names = [
        "tactus-kernel",
        schedulers::PACKAGE,
        "tactus-workload",
        "tactus-bench",
        "tactus-sched-bench",
        "tactus-services",
    ];
    // The loader has another heap than those have, and cargo builds a library once for all that it is asked for at a time.
    let calls: [&[&str]; 2] = [&names, &["tactus-loader"]];
    let toolchain = Toolchain::find().map_err(machine)?;
    let root = place::root()?;
    let one = |names: &&[&str]| {
        let unit = Unit::Ours(names.iter().map(ToString::to_string).collect());
        build(&toolchain, &root, &unit, &|text| wait.tell(text)).map_err(machine)
    };
    let built: Result<Vec<Programs>, Failure> = calls.iter().map(one).collect();
    wait.end();
    Ok(built?.into_iter().flatten().collect())
}

/// The program's file.
pub fn program(programs: &Programs, name: &str) -> Result<PathBuf, Failure> {
    programs.get(name).cloned().ok_or_else(|| Failure::Machine(format!("the build made no program {name}")))
}

/// A system's text, and the programs that its components run.
type Measured = (String, Vec<&'static str>);

/// A machine that is ready to be started.
struct Ready {
    boot: Boot,
    /// Where it leaves what it says; nobody else writes there.
    _results: Results,
    name: String,
    facts: Facts,
    /// Its root scheduler keeps a trace.
    traced: bool,
}

/// Makes the machine for the system. `stand_in` is a program that takes the root scheduler's place.
fn prepare(programs: &Programs, (text, components): &Measured, stand_in: Option<&str>) -> Result<Ready, Failure> {
    let root = place::root()?;
    let system = System::parse_toml(text, &root.join("bench.toml")).map_err(machine)?;
    let costs = Costs::default();
    let promised = plan(&system, &tactus_analysis::check(&system, &costs), &costs);
    let mut programs = programs.clone();
    if let Some(name) = stand_in {
        let scheduler = schedulers::program(&system, &promised.setup.kind);
        programs.insert(scheduler, program(&programs, name)?);
    }
    let mut users: Vec<PathBuf> = components.iter().map(|name| program(&programs, name)).collect::<Result<_, _>>()?;
    // A slot comes after all components, without a program.
    users.extend(system.slots.iter().map(|_| PathBuf::new()));
    let (kernel, image) = image(&system, &promised, &programs, &users)?;
    let results = Results::make(&place::results(&system.name))?;
    results.put(IMAGE, &image.bytes)?;
    let boot = Boot {
        processor: system.machine.processor,
        kernel,
        folder: results.folder().to_path_buf(),
        cores: system.cores,
        memory: system.memory.max(image.facts.memory_needed),
        execution: Execution::Counted { shift: system.machine.shift },
        board: Board::default(),
        monitor: None,
        emulator: None,
        held_back: false,
        plug_in: None,
        devices: Vec::new(),
    };
    let traced = stand_in.is_none() && system.platform.root.is_none();
    Ok(Ready { boot, _results: results, name: system.name.clone(), facts: image.facts, traced })
}

/// Follows the machine instruction by instruction. Parameters as for [`run`].
pub fn follow(programs: &Programs, measured: &Measured, stand_in: Option<&str>) -> Result<Paths, Failure> {
    let Ready { boot, name, _results, .. } = prepare(programs, measured, stand_in)?;
    let memory = boot.new_memory().map_err(machine)?;
    let (wait, began) = (Wait::new("follow", &name), Instant::now());
    let kernel = fs::read(program(programs, "tactus-kernel")?).map_err(machine)?;
    let labels = labels(&kernel).map_err(machine)?;
    let paths = follow::follow(boot.command(&memory).map_err(machine)?, labels);
    wait.end();
    lines::line("followed", format!("{name} · took {:.1} s", began.elapsed().as_secs_f64()));
    paths
}

/// Runs the system of this text, whose components run the programs named. `stand_in` is a program that takes the root
/// scheduler's place.
pub fn run(programs: &Programs, measured: &Measured, stand_in: Option<&str>) -> Result<Ran, Failure> {
    let Ready { boot, name, facts, traced, _results } = prepare(programs, measured, stand_in)?;
    let watch = Watch::over(&facts, PATIENCE);
    let wait = Wait::new("run", &name);
    let ended = watch::run(&boot, watch, &mut |_| {}).map_err(machine);
    wait.end();
    let ended = ended?;
    let memory = ended.rings.all().map_err(machine)?;
    let said = fs::read(boot.log()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).map_err(machine)?;
    if !WHOLE_RUN.contains(&ended.code) {
        let words = watch::tail(&said, 20);
        return Err(Failure::Machine(format!("{words}\nthe machine gave up with code {:#x}", ended.code)));
    }
    let trace = match traced {
        false => Trace::default(),
        true => Trace::from_memory(&ended.rings.memory().map_err(machine)?, boot.cores).map_err(machine)?,
    };
    lines::line("measured", format!("{name} · took {:.1} s", ended.took.as_secs_f64()));
    Ok(Ran { memory, trace, facts, said })
}

/// Something that the person cannot mend.
pub fn machine(error: impl Display) -> Failure {
    Failure::Machine(error.to_string())
}
