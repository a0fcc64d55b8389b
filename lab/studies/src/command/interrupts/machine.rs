//! One run of the study: the system as text, its image, the machine, and the counts in its memory.

use super::generator;
use super::spec::{Point, Spec};
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration as Real;
use tactus_image::Request;
use tactus_machine::build::{build, Programs, Unit};
use tactus_machine::emulator::{Board, Boot, Execution, IMAGE};
use tactus_machine::failure::Failure;
use tactus_machine::place;
use tactus_machine::results::Results;
use tactus_machine::toolchain::Toolchain;
use tactus_machine::watch::{self, Watch};
use tactus_model::System;
use tactus_packets::counts::{add_from, Totals, ALL, BINS};
use tactus_packets::queue::MOST;
use tactus_packets::{Parameters, Setup};
use tactus_terminal::progress::Wait;

/// How long a run may take in real time: it shows no progress.
const PATIENCE: Real = Real::from_secs(120);
/// The end of a whole run.
const WHOLE_RUN: u32 = 0x10;
const PAGE: usize = 4096;
/// The socket between the card and whoever sends, in the folder of the results.
const WIRE: &str = "wire";
/// Where the event timer's registers are on a PC.
const TIMER: u64 = 0xfed0_0000;

/// Where packets come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// From a timer, by its counter.
    Timer,
    /// From the host through a network card: so many of each stream.
    Card(u64),
}

/// A component of the system: its name, its program, further lines of the system file.
struct Part {
    name: &'static str,
    program: &'static str,
    more: String,
}

/// The components of the system. The scheduler gives each but itself its first thread in this order. Packets come as soon as the
/// protocol is ready, and may keep all that come later from running for ever.
fn parts(setup: Setup, line: u64, source: Source) -> [Part; 7] {
    let queues = if setup.brand_for_each() { 2 } else { 1 };
    let part = |name, program, more: &str| Part { name, program, more: more.to_string() };
    let task = |name, stream| Part {
        name,
        program: "net-task",
        more: format!(
            "threads = 2\nuses = {{ receive = \"protocol.{stream}\", study = \"scheduler.study\", \
             create = \"scheduler.sched_create_thread\", exit = \"scheduler.sched_exit\" }}"
        ),
    };
    [
        part(
            "scheduler",
            "net-scheduler",
            "provides = [\"study\", \"sched_block\", \"sched_wakeup\", \"sched_create_thread\", \"sched_exit\", \
             \"sched_timeout_thd\", \"sched_timeout\"]",
        ),
        Part {
            name: "driver",
            program: match source {
                Source::Timer => "net-driver",
                Source::Card(_) => "net-card",
            },
            more: format!(
                "threads = 2\nbrands = {}\nlines = [{line}]\nprovides = [\"take\", \"attach\", \"start\"]\n\
                 uses = {{ study = \"scheduler.study\", exit = \"scheduler.sched_exit\" }}",
                queues + 1
            ),
        },
        part(
            "clock",
            "net-clock",
            "threads = 2\nuses = { study = \"scheduler.study\", create = \"scheduler.sched_create_thread\", \
             exit = \"scheduler.sched_exit\", block = \"scheduler.sched_block\", \
             timed = \"scheduler.sched_timeout_thd\", timeout = \"scheduler.sched_timeout\" }",
        ),
        task("task-1", "first"),
        task("task-2", "second"),
        Part {
            name: "protocol",
            program: "net-protocol",
            more: format!(
                "threads = {}\nprovides = [\"first\", \"second\"]\n\
                 uses = {{ take = \"driver.take\", wake = \"scheduler.sched_wakeup\", \
                 block = \"scheduler.sched_block\", attach = \"driver.attach\", start = \"driver.start\", \
                 study = \"scheduler.study\", exit = \"scheduler.sched_exit\" }}",
                queues + 1
            ),
        },
        part("background", "net-background", "uses = { study = \"scheduler.study\" }"),
    ]
}

/// The system file.
fn system_text(setup: Setup, parameters: &Parameters, source: Source) -> String {
    let mut text = format!(
        "[system]\nname = \"interrupts-{}\"\ncores = 1\nduration = \"{} ns\"\nmemory = \"64 MiB\"\n\
         root = \"scheduler\"\n[machine]\ninstruction = \"1 ns\"\noverheads = false\n\
         [policy]\nkind = \"partitioned-rm\"\n",
        setup.letter(),
        parameters.duration
    );
    for Part { name, more, .. } in parts(setup, parameters.line, source) {
        text += &format!("[[component]]\nname = \"{name}\"\ncrate = \"os/components/net\"\n{more}\n");
    }
    text +=
        "[[task]]\nname = \"background\"\ncomponent = \"background\"\ncore = 0\nperiod = \"10 ms\"\nexecution = \"1 ms\"\n";
    text += "[[device]]\nname = \"source\"\ncomponent = \"driver\"\n";
    text += &match source {
        Source::Timer => format!("kind = \"memory\"\naddress = {TIMER:#x}\nsize = \"4 KiB\"\n"),
        Source::Card(_) => "kind = \"virtio-net\"\ndma = \"256 KiB\"\n".to_string(),
    };
    text
}

/// Kernel and components, compiled.
pub struct Guest {
    programs: Programs,
    root: PathBuf,
}

impl Guest {
    /// Compiles them.
    pub fn build() -> Result<Guest, Failure> {
        let wait = Wait::new("build", "kernel and the study's components");
        let names = ["tactus-kernel", "tactus-scheduler", "tactus-workload", "tactus-net"].map(str::to_string);
        let toolchain = Toolchain::find().map_err(machine)?;
        let root = place::root()?;
        let built = build(&toolchain, &root, &Unit::Ours(names.into()), &|text| wait.tell(text)).map_err(machine);
        wait.end();
        Ok(Guest { programs: built?, root })
    }

    fn program(&self, name: &str) -> Result<PathBuf, Failure> {
        self.programs.get(name).cloned().ok_or_else(|| Failure::Machine(format!("the build made no program {name}")))
    }

    /// Runs one point. Files of the run lie in `folder`, and go away again but for what the machine said.
    pub fn run(&self, spec: &Spec, point: &Point, source: Source, folder: &Path) -> Result<Totals, Failure> {
        let mut parameters = spec.parameters(point);
        if source != Source::Timer {
            // The host sends as fast as it can; no packet is to be lost.
            parameters.ring = MOST as u64;
            // The host's time decides when they come.
            parameters.duration *= 2;
        }
        let text = system_text(point.setup, &parameters, source);
        let system = System::parse_toml(&text, &self.root.join("interrupts.toml")).map_err(machine)?;
        let read = |name: &str| {
            let path = self.program(name)?;
            fs::read(&path).map_err(|error| Failure::Machine(format!("{}: {error}", path.display())))
        };
        let programs: Vec<_> =
            parts(point.setup, parameters.line, source).iter().map(|it| read(it.program)).collect::<Result<_, _>>()?;
        let plan: Vec<u8> = parameters.words().iter().flat_map(|word| word.to_le_bytes()).collect();
        let image = tactus_image::build(&Request {
            system: &system,
            plan: &plan,
            promises: &vec![None; system.tasks.len()],
            promised_by_host: 0,
            scheduler: &read("tactus-scheduler-servers")?,
            children: &[],
            workload: &read("tactus-workload")?,
            components: &programs,
            told: &[],
            slots: &[],
            trials: &[],
        })
        .map_err(machine)?;

        let results = Results::make(folder)?;
        results.put(IMAGE, &image.bytes)?;
        let boot = Boot {
            processor: Default::default(),
            kernel: self.program("tactus-kernel")?,
            folder: folder.to_path_buf(),
            cores: 1,
            memory: system.memory.max(image.facts.memory_needed),
            execution: Execution::Counted { shift: 0 },
            board: Board::Q35,
            monitor: None,
            emulator: None,
            held_back: false,
            plug_in: None,
            devices: match source {
                Source::Timer => Vec::new(),
                Source::Card(_) => generator::card(Path::new(WIRE)),
            },
        };
        let watch = Watch::over(&image.facts, PATIENCE);
        let sender = match source {
            Source::Timer => None,
            Source::Card(packets) => Some(generator::Generator::start(results.file(WIRE), packets).map_err(machine)?),
        };
        let ended = watch::run(&boot, watch, &mut |_| {}).map_err(machine);
        drop(sender);
        let ended = ended?;
        let memory = ended.rings.all().map_err(machine)?;
        if ended.code != WHOLE_RUN {
            let said = fs::read(boot.log()).unwrap_or_default();
            let words = watch::tail(&String::from_utf8_lossy(&said), 20);
            return Err(Failure::Machine(format!("{words}\nthe machine gave up with code {:#x}", ended.code)));
        }
        let mut totals = [[0; BINS]; ALL];
        let found = (0..memory.len()).step_by(PAGE).filter(|&page| add_from(&memory[page..], &mut totals)).count();
        if found == 0 {
            return Err(Failure::Machine("the machine's memory holds no counts".into()));
        }
        Ok(totals)
    }
}

/// Something that the person cannot mend.
fn machine(error: impl Display) -> Failure {
    Failure::Machine(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn the_systems_of_all_set_ups_are_what_a_system_file_may_hold() {
        for setup in Setup::ALL {
            let words = std::array::from_fn(|place| [setup as u64, 1, 1, 2][place.min(3)]);
            let mut parameters = Parameters::from_words(words).expect("the set-up exists");
            (parameters.duration, parameters.line) = (1_000_000_000, 20);
            let text = system_text(setup, &parameters, Source::Card(1));
            let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../interrupts.toml");
            let system = System::parse_toml(&text, &root).unwrap_or_else(|problems| panic!("{problems}"));
            assert_eq!(system.components.len(), 7);
        }
    }
}
