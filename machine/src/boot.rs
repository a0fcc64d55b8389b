//! From a checked system to what a run of it left: compiles kernel and components, lays out the image, boots the machine.

use crate::arch;
use crate::build::{build_of, BuildFailure, Programs, Sources, Unit};
use crate::console::Console;
use crate::emulator::{Board, Boot, Emulator, Execution, IMAGE, LOG};
use crate::failure::Failure;
use crate::results::Results;
use crate::toolchain::{Network, Toolchain};
use crate::watch::{self, Ended, Watch};
use crate::{heaps, place, schedulers, sight};
use std::collections::btree_map::{BTreeMap, Entry};
use std::ffi::OsString;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration as Real;
use tactus_image::{ChildScheduler, Facts, Image, ImageError, Interleaved, Request, SlotSupply};
use tactus_model::{DeviceKind, Processor, System, TaskPlacement};
use tactus_package::admission::Order;
use tactus_plan::{RunPlan, SlotOffer};
use tactus_report::{ColourUse, Details};
use tactus_time::{Duration, TaskId};
use tactus_trace::{Bound, HeapUse, Trace};

/// How long virtual time may stand still, booting included, before the machine counts as hung.
const PATIENCE: Real = Real::from_secs(30);

/// What the scheduler ends the machine with after a whole run: its own verdict, which the judge's replaces here.
pub const WHOLE_RUN: [u32; 2] = [0x10, 0x11];

/// Who is told what a build does, in the words of the compiler.
pub type Tell<'t> = &'t (dyn Fn(&str) + Sync);

/// What a program in a slot is given.
fn supply(offer: &SlotOffer) -> SlotSupply {
    let SlotOffer { supply, order, cost_of_job } = *offer;
    SlotSupply {
        budget: supply.budget,
        period: supply.period,
        blackout: supply.blackout,
        earliest_deadline: order == Order::EarliestDeadline,
        cost_of_job,
    }
}

/// What is told of a run on the machine beside its trace.
pub fn details(system: &System, emulator: &Emulator, image: &Image, command: String) -> Details {
    let processor = system.machine.processor;
    let on = if processor == Processor::default() { String::new() } else { format!(" for {}", processor.name()) };
    Details {
        machine: format!("QEMU {}{on}, 1 instruction = {} ns", emulator.version, 1_u64 << system.machine.shift),
        seed: system.seed,
        command,
        components: image.facts.components.clone(),
        facts: vec![("image".to_string(), image.sections_report())],
        ..Details::default()
    }
}

/// What arrives from outside comes from nobody on this machine: a run would be one of another system.
fn has_its_arrivals(system: &System) -> Result<(), Failure> {
    let sporadic = |(n, place): (usize, &TaskPlacement)| {
        let raised = place.raised_by.is_some() || place.interrupt.is_some() || system.handles(TaskId(n as u16));
        (place.release.is_from_outside() && !raised).then_some(n)
    };
    match system.scheduling.places.iter().enumerate().find_map(sporadic) {
        None => Ok(()),
        Some(n) => Err(Failure::Input(format!(
            "{}:{}: task {:?} is sporadic, and nothing raises it on the machine: name a component with a line like \
             raised-by = \"driver\", its device by interrupt = 20, the [[monitor]] whose violations it handles by \
             on-violation = \"run …\", or use `tactus simulate`",
            system.source.display(),
            system.tasks[n].line,
            system.tasks[n].name,
        ))),
    }
}

/// Refuses what is not booted on the system's processor.
///
/// # Errors
/// If it is not, with the reason.
pub fn is_booted(system: &System) -> Result<(), Failure> {
    let processor = system.machine.processor;
    (arch::of(processor).refuses)(system).map_or(Ok(()), |why| {
        let (file, name) = (system.source.display(), processor.name());
        Err(Failure::Input(format!("{file}: on {name} it is not booted: {why}, or use `tactus simulate`")))
    })
}

/// A system that has been compiled and laid out.
#[derive(Debug)]
pub struct Assembled {
    /// The kernel's file.
    pub kernel: PathBuf,
    /// The image.
    pub image: Image,
    /// By component, the file of its program; nothing of those that nobody looks into: built-in workloads, and what comes while the system runs.
    pub programs: Vec<Option<PathBuf>>,
}

impl Assembled {
    /// The file of a component's program.
    pub fn program(&self, component: u32) -> Option<&Path> {
        self.programs.get(component as usize)?.as_deref()
    }
}

/// Compiles all programs and lays out the image.
pub fn assemble(system: &System, promised: &RunPlan, network: Network, tell: Tell) -> Result<Assembled, Failure> {
    let (ours, users) = compile_system(&Sources::of(&place::root()?)?, system, promised, (network, tell))?;
    let (kernel, image) = image(system, promised, &ours, &users)?;
    let scheduler = ours.get(&schedulers::program(system, &promised.setup.kind));
    let of = |(number, name): (usize, &String)| {
        let own = system.components.iter().position(|component| component.name == *name);
        match own.and_then(|place| users.get(place)) {
            Some(path) => Some(path.clone()).filter(|path| !path.as_os_str().is_empty()),
            None if number == 0 => scheduler.cloned(),
            None => None,
        }
    };
    let programs = image.facts.components.iter().enumerate().map(of).collect();
    Ok(Assembled { kernel, image, programs })
}

/// Compiles our programs that the system runs, and the program of each of its components.
pub fn compile_system(
    sources: &Sources,
    system: &System,
    promised: &RunPlan,
    (network, tell): (Network, Tell),
) -> Result<(Programs, Vec<PathBuf>), Failure> {
    is_booted(system)?;
    has_its_arrivals(system)?;
    fits(system, promised)?;
    let ours = compile_for(sources, system, promised, tell, network)?;
    let users = compile_users(sources, system, tell, network)?;
    Ok((ours, users))
}

/// What an image is made from beside its programs.
struct Told {
    promises: Vec<Option<Bound>>,
    promised_by_host: u32,
    plan: Vec<u8>,
    children: Vec<ChildScheduler>,
    /// By component: what it is told of the disk that it serves, or beside all else.
    own: Vec<(usize, Vec<u8>)>,
    /// What programs in slots are given.
    slots: Vec<SlotSupply>,
    /// How long the trials of updates are, in jobs of the loader.
    trials: Vec<u64>,
}

impl Told {
    fn of(system: &System, promised: &RunPlan) -> Result<Told, Failure> {
        // Bounds of a system that the check refused are no promises.
        let promise = |n| if promised.view.accepted { promised.view.weakest_promise(n) } else { None };
        let setups = schedulers::of(system, &promised.setup)?;
        let served = promised.disk_setups.iter();
        let served = served.filter_map(|it| Some((system.disks[it.number as usize].component?, it.encode())));
        Ok(Told {
            promises: (0..system.tasks.len()).map(promise).collect(),
            promised_by_host: promised.view.promised_by_host() as u32,
            plan: setups[0].encode(),
            children: schedulers::children(system, &setups),
            own: served.chain(promised.told.iter().cloned()).collect(),
            slots: promised.slots.iter().map(supply).collect(),
            trials: promised.trials(),
        })
    }

    fn request<'a>(
        &'a self,
        system: &'a System,
        (scheduler, workload): (&'a [u8], &'a [u8]),
        components: &'a [Vec<u8>],
    ) -> Request<'a> {
        Request {
            system,
            plan: &self.plan,
            promises: &self.promises,
            promised_by_host: self.promised_by_host,
            scheduler,
            children: &self.children,
            workload,
            components,
            told: &self.own,
            slots: &self.slots,
            trials: &self.trials,
        }
    }
}

/// Finds out, before anything is compiled, what keeps the system from fitting into its machine whatever its programs are. Returns the memory
/// that the kernel fills at its start (bytes), programs left out.
pub fn fits(system: &System, promised: &RunPlan) -> Result<u64, Failure> {
    let told = Told::of(system, promised)?;
    tactus_image::fits(&told.request(system, (&[], &[]), &[])).map_err(|error| unfit(system, &error))
}

fn unfit(system: &System, error: &ImageError) -> Failure {
    Failure::Input(format!("{}: {error}", system.source.display()))
}

/// Lays out the image of programs that have been compiled. Gives the kernel's file and the image.
pub fn image(
    system: &System,
    promised: &RunPlan,
    ours: &Programs,
    users: &[PathBuf],
) -> Result<(PathBuf, Image), Failure> {
    let read = |path: &Path| fs::read(path).map_err(|error| Failure::Machine(format!("{}: {error}", path.display())));
    let program = |name: &str| {
        let path = ours.get(name).ok_or_else(|| Failure::Machine(format!("the build made no program {name}")))?;
        Ok::<_, Failure>(path.clone())
    };
    let program_of = |path: &PathBuf| if path.as_os_str().is_empty() { Ok(Vec::new()) } else { read(path) };
    let components = users.iter().map(program_of).collect::<Result<Vec<_>, _>>()?;
    let scheduler = read(&program(&schedulers::program(system, &promised.setup.kind))?)?;
    let workload = read(&program("tactus-workload")?)?;
    let told = Told::of(system, promised)?;
    let image = tactus_image::build(&told.request(system, (&scheduler, &workload), &components));
    Ok((program(&kernel())?, image.map_err(|error| unfit(system, &error))?))
}

/// Our programs that the system runs: of the schedulers, its own alone.
fn compile_for(
    sources: &Sources,
    system: &System,
    promised: &RunPlan,
    tell: Tell,
    network: Network,
) -> Result<Programs, Failure> {
    let scheduler = schedulers::program(system, &promised.setup.kind);
    let package = if scheduler == schedulers::PROGRAM { schedulers::PROGRAM } else { schedulers::PACKAGE };
    let kernel = &*kernel();
    let packages = [kernel, package, "tactus-workload"].map(str::to_string);
    let names = [kernel, &scheduler, "tactus-workload"].map(str::to_string);
    let toolchain = toolchain_for(system, network)?;
    let unit = Unit::Programs { packages: packages.into(), names: names.into() };
    build_of(&toolchain, sources, &unit, tell).map_err(machine)
}

/// All our programs by name, the schedulers of all policies among them.
pub fn compile_ours(tell: Tell, network: Network) -> Result<Programs, Failure> {
    compile_ours_for(Processor::default(), tell, network)
}

/// The same for this processor.
pub fn compile_ours_for(processor: Processor, tell: Tell, network: Network) -> Result<Programs, Failure> {
    let names = ["tactus-kernel", schedulers::PACKAGE, schedulers::PROGRAM, "tactus-workload"].map(str::to_string);
    let toolchain = Toolchain::find().and_then(|it| it.building_for(processor));
    let toolchain = toolchain.and_then(|it| it.reaching(network)).map_err(machine)?;
    build_of(&toolchain, &Sources::of(&place::root()?)?, &Unit::Ours(names.into()), tell).map_err(machine)
}

/// The programs of these packages of the workspace in this folder, which is ours; with one feature.
pub fn compile(
    tell: Tell,
    network: Network,
    workspace: &Path,
    packages: &[&str],
    feature: Option<&str>,
) -> Result<Programs, Failure> {
    let toolchain = Toolchain::find().and_then(|it| it.reaching(network)).map_err(machine)?;
    let sources = Sources { feature: feature.map(str::to_string), ..Sources::of(workspace)? };
    let unit = Unit::Ours(packages.iter().map(ToString::to_string).collect());
    build_of(&toolchain, &sources, &unit, tell).map_err(machine)
}

/// The kernel's program, and its package. For tests: another one, which the environment names.
fn kernel() -> String {
    std::env::var("TACTUS_KERNEL").unwrap_or_else(|_| "tactus-kernel".to_string())
}

/// The toolchain, which builds for the system's processor and reaches only this.
fn toolchain_for(system: &System, network: Network) -> Result<Toolchain, Failure> {
    let toolchain = Toolchain::find().and_then(|it| it.building_for(system.machine.processor));
    toolchain.and_then(|it| it.reaching(network)).map_err(machine)
}

/// The program of each of the user's components.
fn compile_users(sources: &Sources, system: &System, tell: Tell, network: Network) -> Result<Vec<PathBuf>, Failure> {
    let toolchain = &toolchain_for(system, network)?;
    let (mut users, mut crates) = (Vec::new(), BTreeMap::new());
    for component in &system.components {
        if component.slot.is_some() {
            // Its program comes while the system runs.
            users.push(PathBuf::new());
            continue;
        }
        let programs = match crates.entry((&component.path, component.rights.floating_point)) {
            Entry::Occupied(built) => built.into_mut(),
            Entry::Vacant(missing) => {
                let (folder, floating_point) = missing.key();
                let unit = Unit::Crate { folder: folder.to_path_buf(), floating_point: *floating_point };
                // What a user's crate lacks is for the user to mend; that cargo does not start is not.
                let built = build_of(toolchain, sources, &unit, tell).map_err(|failure| match failure {
                    BuildFailure::Cargo(_) => machine(failure),
                    _ => Failure::Input(format!("{}:{}: {failure}", system.source.display(), component.line)),
                })?;
                missing.insert(built)
            }
        };
        // A crate with several programs means the one that is called like the component.
        let chosen = programs.get(&component.name).or_else(|| programs.values().next());
        users.extend(chosen.cloned());
    }
    Ok(users)
}

/// What a run left.
pub struct Ran {
    /// The trace of the whole system.
    pub trace: Trace,
    /// That of each scheduler, the root's first.
    pub schedulers: Vec<Trace>,
    /// Who saw which frames at its end; nothing where memory has one colour and nobody asked.
    pub colours: Option<ColourUse>,
    /// What components told of their heaps.
    pub heaps: Vec<HeapUse>,
    /// How long it took the host.
    pub took: Real,
}

/// Who looks on while a machine runs.
pub trait Onlooker {
    /// Whether he wants the lines that components print.
    fn listens(&self) -> bool;
    /// A component printed this line.
    fn printed(&mut self, line: &str);
    /// The run has come to this time.
    fn reached(&mut self, now: Duration);
    /// Whether the machine is to stand still for now.
    fn holds(&mut self) -> bool {
        false
    }
}

/// Boots the machine, waits for its end and collects the trace.
pub fn boot(system: &System, kernel: &Path, image: &Image, results: &Results) -> Result<Ran, Failure> {
    boot_with(system, (kernel, image), results, None, Emulation::Plain)
}

/// How the emulator executes a system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Emulation {
    /// With counted instructions, as the system file says.
    Plain,
    /// The same with a plug-in and its options.
    PlugIn(OsString),
    /// Its cores at the same time, see [`Execution::Concurrent`]; with a plug-in and its options, if any.
    Concurrent(Option<OsString>),
    /// With counted instructions, the kernel in guest mode below this monitor: [`compile_monitor`].
    InSandbox(PathBuf),
    /// As the system file says, with further devices: words of the emulator's command line. While the onlooker wants it, it stands still.
    Joined(Vec<String>),
}

/// Compiles the monitor that runs a kernel in guest mode.
pub fn compile_monitor(tell: Tell, network: Network) -> Result<PathBuf, Failure> {
    let programs = compile(tell, network, &place::root()?, &[MONITOR], None)?;
    programs.get(MONITOR).cloned().ok_or_else(|| Failure::Machine(format!("{MONITOR} made no program")))
}

/// Compiles the kernel with these features, where nobody compiles another one.
pub fn compile_kernel(features: &[&str], tell: Tell, network: Network) -> Result<PathBuf, Failure> {
    const KERNEL: &str = "tactus-kernel";
    let toolchain = Toolchain::find().and_then(|it| it.reaching(network)).map_err(machine)?;
    let mut sources = Sources::of(&place::root()?)?;
    sources.target.push("kernels");
    sources.target.push(features.join("-"));
    sources.feature = Some(features.iter().map(|it| format!("{KERNEL}/{it}")).collect::<Vec<_>>().join(","));
    let programs = build_of(&toolchain, &sources, &Unit::Ours(vec![KERNEL.into()]), tell).map_err(machine)?;
    programs.get(KERNEL).cloned().ok_or_else(|| Failure::Machine(format!("{KERNEL} made no program")))
}

/// The program of the monitor, and its package.
pub const MONITOR: &str = "tactus-sandbox";

/// The same with somebody who looks on, executed so.
pub fn boot_with(
    system: &System,
    (kernel, image): (&Path, &Image),
    results: &Results,
    onlooker: Option<&mut dyn Onlooker>,
    emulation: Emulation,
) -> Result<Ran, Failure> {
    let models = matches!(emulation, Emulation::PlugIn(_));
    let ended = start(system, (kernel, image), results, onlooker, PATIENCE, emulation)?;
    if !WHOLE_RUN.contains(&ended.code) {
        let words = fs::read(results.file(LOG)).unwrap_or_default();
        let words = watch::tail(&String::from_utf8_lossy(&words), 20);
        return Err(Failure::Machine(format!("{words}\nthe machine gave up with code {:#x}", ended.code)));
    }
    collect(system, image, ended, models)
}

/// Collects the trace of a whole run. `models`: a plug-in counted what caches did.
pub fn collect(system: &System, image: &Image, ended: Ended, models: bool) -> Result<Ran, Failure> {
    let read = |part: usize, pages: Interleaved| -> Result<Trace, Failure> {
        let memory = ended.rings.part(part, pages).map_err(machine)?;
        Trace::from_memory(&memory, system.cores).map_err(machine)
    };
    // How many there are does not depend on what is promised.
    let count = schedulers::of(system, &tactus_plan::setup(system, Vec::new(), &[]))?.len();
    let schedulers = (0..count).map(|part| read(part, image.facts.trace_pages)).collect::<Result<Vec<_>, _>>()?;
    let mut trace = schedulers::whole(system, &schedulers);
    if image.facts.watched {
        let Facts { kernel_colours: bits, colours, .. } = image.facts;
        let kernel = read(count, Interleaved { bits, colours })?;
        trace.observed = kernel.cores;
    }
    let wanted = system.platform.colours > 1 || models;
    let colours = wanted.then(|| sight::look(image, &ended.rings)).transpose().map_err(machine)?;
    let heaps = heaps::read(&image.facts, &ended.rings).map_err(machine)?;
    Ok(Ran { trace, schedulers, colours, heaps, took: ended.took })
}

/// Boots the machine and waits for its end.
pub fn start(
    system: &System,
    (kernel, image): (&Path, &Image),
    results: &Results,
    mut onlooker: Option<&mut dyn Onlooker>,
    patience: Real,
    emulation: Emulation,
) -> Result<Ended, Failure> {
    let needed = image.facts.memory_needed;
    let memory = system.memory.max(needed);
    let most = arch::of(system.machine.processor).most_memory;
    if memory > most {
        let (most, name) = (most >> 20, &system.name);
        return Err(Failure::Input(format!("{name}: it needs {} MiB of memory, the machine has {most}", memory >> 20)));
    }
    results.put(IMAGE, &image.bytes)?;
    let counted = Execution::Counted { shift: system.machine.shift };
    let mut devices = emulated_disk(system, results)?;
    let joined = matches!(emulation, Emulation::Joined(_));
    let (execution, plug_in, monitor) = match emulation {
        Emulation::Plain => (counted, None, None),
        Emulation::PlugIn(plug_in) => (counted, Some(plug_in), None),
        Emulation::Concurrent(plug_in) => (Execution::Concurrent, plug_in, None),
        Emulation::InSandbox(monitor) => (counted, None, Some(monitor)),
        Emulation::Joined(words) => {
            devices.extend(words);
            (counted, None, None)
        }
    };
    let boot = Boot {
        processor: system.machine.processor,
        kernel: kernel.to_path_buf(),
        folder: results.folder().to_path_buf(),
        cores: system.cores,
        memory,
        execution,
        board: Board::default(),
        devices,
        monitor,
        emulator: None,
        held_back: false,
        plug_in,
    };
    let watch = Watch::over(&image.facts, patience);
    let listens = onlooker.as_ref().is_some_and(|it| it.listens());
    let mut console = listens.then(|| Console::new(boot.log(), &image.facts.components));
    let mut look = |seen: crate::rings::Progress| {
        if let Some(onlooker) = &mut onlooker {
            for line in console.as_mut().map(Console::look).unwrap_or_default() {
                onlooker.printed(&line);
            }
            onlooker.reached(seen.now.since(tactus_time::Instant::ZERO));
        }
        onlooker.as_mut().is_some_and(|it| it.holds())
    };
    let ended = match joined {
        true => watch::run_often(&boot, watch, &mut look),
        false => watch::run(&boot, watch, &mut |seen| _ = look(seen)),
    };
    ended.map_err(machine)
}

/// The name of the emulated disk's file in the folder of results.
const EMULATED_DISK: &str = "disk.img";
/// Its length: more than the drives that are modelled have for their clients. The file takes what is written only.
const EMULATED_BYTES: u64 = 10 << 30;

/// An empty disk, where a component drives one: words of the emulator's command line. It takes a request when it is told of it, not
/// when the host next looks, so that a reset waits for it.
fn emulated_disk(system: &System, results: &Results) -> Result<Vec<String>, Failure> {
    let lent = system.platform.devices.iter().find(|device| device.kind == DeviceKind::IVSHMEM);
    if !system.platform.devices.iter().any(|device| device.kind == DeviceKind::VIRTIO_BLK) {
        return Ok(lent.map(|device| lent_memory(device.bytes)).unwrap_or_default());
    }
    results.put(EMULATED_DISK, &[])?;
    let path = results.file(EMULATED_DISK);
    let file = fs::File::options().write(true).open(&path).and_then(|file| file.set_len(EMULATED_BYTES));
    file.map_err(|error| Failure::Machine(format!("{}: {error}", path.display())))?;
    let drive = format!("if=none,id=disk,format=raw,cache=unsafe,file={EMULATED_DISK}");
    let words =
        ["-drive", &drive, "-device", "virtio-blk-pci,drive=disk,addr=5,disable-legacy=on,ioeventfd=off,romfile="];
    Ok(words
        .map(str::to_string)
        .into_iter()
        .chain(lent.map(|device| lent_memory(device.bytes)).unwrap_or_default())
        .collect())
}

/// Memory that the host lends: a device that answers at once, so that runs repeat on any number of cores.
fn lent_memory(bytes: u64) -> Vec<String> {
    let memory = format!("memory-backend-file,id=lent,share=on,mem-path={LENT_MEMORY},size={bytes}");
    ["-object", &memory, "-device", "ivshmem-plain,memdev=lent,addr=6"].map(str::to_string).into()
}

/// The name of the file behind memory that the host lends, in the folder of results.
const LENT_MEMORY: &str = "lent.img";

/// The failure of the machine with this cause.
pub fn machine(error: impl Display) -> Failure {
    Failure::Machine(error.to_string())
}
