//! An emulator plug-in: every access of every core, the kernel's included, goes through a modelled cache hierarchy.
//!
//! QEMU loads it with `-plugin libtactus_probe.so,out=FILE,machine=NAME,colours=N` (or `geometry=FILE`) and it leaves a table of counts
//! when the emulator ends. It changes nothing: guest time and traces are the same with and without. A processor of the guest has a core
//! of the modelled machine. An access has an owner: the kernel, or the component whose tables the core has loaded (see `owners.rs`).

mod counts;
mod delays;
mod interface;
mod owners;

use core::ffi::{c_char, c_int, c_uint, c_void, CStr};
use interface::{
    qemu_plugin_get_hwaddr, qemu_plugin_hwaddr_is_io, qemu_plugin_hwaddr_phys_addr, qemu_plugin_insn_haddr,
    qemu_plugin_insn_size, qemu_plugin_insn_vaddr, qemu_plugin_mem_is_store, qemu_plugin_mem_size_shift,
    qemu_plugin_outs, qemu_plugin_register_atexit_cb, qemu_plugin_register_vcpu_mem_cb,
    qemu_plugin_register_vcpu_tb_exec_cb, qemu_plugin_register_vcpu_tb_trans_cb, qemu_plugin_tb_get_insn,
    qemu_plugin_tb_n_insns, Info, TranslatedBlock,
};
use owners::{Owners, KERNELS, OWNERS};
use std::ffi::CString;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use tactus_abi::counters::event;
use tactus_cache::{Colours, Events, Geometry, Hierarchy, Kind, Owner, Served};

/// The version of the interface that QEMU looks for in a plug-in.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static qemu_plugin_version: c_int = interface::VERSION;

/// Addresses from here on are the kernel's.
const KERNEL: u64 = 1 << 63;

/// The most cores of a guest.
const MOST_CORES: usize = 256;

/// What one owner asked for.
#[derive(Clone, Default)]
struct Asked {
    instructions: u64,
    accesses: u64,
    /// Not answered by the core's own caches.
    beyond: u64,
    memory: u64,
    changed: u64,
    by_colour: Vec<u64>,
}

struct Probe {
    model: Hierarchy,
    colours: Colours,
    asked: Vec<Asked>,
    owners: Owners,
    instructions: [[u64; 2]; MOST_CORES],
    /// How many blocks of the kernel were executed.
    covered: usize,
    devices: u64,
    elsewhere: u64,
    /// Where the guest's memory lies in the emulator: start and length.
    memory: Option<(u64, u64)>,
    out: String,
}

static PROBE: Mutex<Option<Probe>> = Mutex::new(None);

fn probe() -> MutexGuard<'static, Option<Probe>> {
    PROBE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A block: its lines' physical addresses, its instructions, whether they are the kernel's.
struct Block {
    lines: Vec<u64>,
    instructions: u64,
    kernel: bool,
    executed: AtomicBool,
}

/// Where the file with the guest's memory is mapped into this process: the largest mapping of that file.
fn guest_memory() -> Option<(u64, u64)> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let range = |line: &str| -> Option<(u64, u64)> {
        let (start, end) = line.split(' ').next()?.split_once('-')?;
        let (start, end) = (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
        Some((start, end - start))
    };
    maps.lines().filter(|line| line.contains("guest-memory")).filter_map(range).max_by_key(|(_, length)| *length)
}

impl Probe {
    fn new(options: &[String]) -> Result<Probe, String> {
        let (mut machine, mut colours, mut out) = ("i7-2600", 64, String::from("probe.txt"));
        let mut file = None;
        for option in options {
            match option.split_once('=') {
                Some(("machine", name)) => machine = name,
                Some(("colours", count)) => {
                    colours = count.parse().map_err(|_| format!("colours={count}: give a number"))?;
                }
                Some(("out", path)) => out = path.to_string(),
                Some(("geometry", path)) => {
                    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
                    file = Some(Geometry::from_toml(&text).map_err(|error| format!("{path}: {error}"))?);
                }
                _ => {
                    return Err(format!(
                        "{option}: the options are out=FILE, machine=NAME, geometry=FILE and colours=N"
                    ))
                }
            }
        }
        let geometry = file.map_or_else(|| Geometry::of(machine).map_err(|error| error.to_string()), Ok)?;
        let colours = Colours::new(&geometry, colours).map_err(|error| error.to_string())?;
        Ok(Probe {
            model: Hierarchy::new(geometry).map_err(|error| error.to_string())?,
            asked: vec![Asked { by_colour: vec![0; usize::from(colours.count())], ..Asked::default() }; OWNERS],
            owners: Owners::default(),
            colours,
            instructions: [[0; 2]; MOST_CORES],
            covered: 0,
            devices: 0,
            elsewhere: 0,
            memory: None,
            out,
        })
    }

    fn access(&mut self, core: usize, address: u64, size: u64, kind: Kind, kernel: bool) {
        let processor = core * self.model.geometry().threads % self.model.geometry().processors();
        let owner = if kernel { KERNELS } else { self.owners.of(core) };
        let before = self.model.memory_writes();
        let served = self.model.access_span(processor, address, size, kind, Owner(owner));
        let asked = &mut self.asked[usize::from(owner)];
        asked.accesses += 1;
        asked.beyond += u64::from(served > Served::Second);
        asked.memory += u64::from(served == Served::Memory);
        asked.changed += u64::from(served == Served::RemoteModified);
        asked.by_colour[usize::from(self.colours.of(address).0)] += 1;
        if !kernel {
            let beyond = served > Served::Second;
            for (event, counts) in [
                (event::ACCESSES, true),
                (event::PRIVATE_MISSES, beyond),
                (event::SHARED_MISSES, served == Served::Memory),
                (event::CHANGED, served == Served::RemoteModified),
                (event::WRITES, kind == Kind::Write),
            ] {
                self.owners.count(core, event, u64::from(counts));
            }
            self.owners.count(core, event::WRITE_BACKS, self.model.memory_writes() - before);
        }
    }

    fn report(&self) -> String {
        let mut text = format!("machine {}\ncolours {}\n", self.model.geometry().name, self.colours.count());
        let cores: Vec<usize> = (0..MOST_CORES).filter(|core| self.instructions[*core] != [0, 0]).collect();
        for &core in &cores {
            let threads = self.model.geometry().threads;
            let Events {
                fetches,
                reads,
                writes,
                instruction_misses,
                data_misses,
                second_misses,
                shared_misses,
                hitm,
                hit_remote,
                snooped,
                invalidated,
                ..
            } = *self.model.events(core * threads % self.model.geometry().processors());
            let [kernel, user] = self.instructions[core];
            let _ = writeln!(
                text,
                "core {core} kernel-instructions {kernel} user-instructions {user} fetches {fetches} reads {reads} writes {writes} \
                 i1-misses {instruction_misses} d1-misses {data_misses} l2-misses {second_misses} l3-misses {shared_misses} hitm {hitm} \
                 hit-remote {hit_remote} snooped {snooped} invalidated {invalidated}"
            );
        }
        let seen = |owner: &usize| self.asked[*owner].accesses > 0;
        let owners: Vec<usize> = (0..OWNERS).filter(seen).collect();
        for &owner in &owners {
            let Asked { instructions, accesses, beyond, memory, changed, by_colour } = &self.asked[owner];
            let _ = writeln!(text, "part {owner} {instructions} {accesses} {beyond} {memory} {changed}");
            for (colour, count) in by_colour.iter().enumerate().filter(|(_, count)| **count > 0) {
                let _ = writeln!(text, "access {owner} {colour} {count}");
            }
        }
        for (by, of) in owners.iter().flat_map(|by| owners.iter().map(move |of| (*by, *of))) {
            let lines = self.model.evictions().get(Owner(by as u8), Owner(of as u8));
            if lines > 0 {
                let _ = writeln!(text, "evicted {by} {of} {lines}");
            }
        }
        let (covered, devices, elsewhere) = (self.covered, self.devices, self.elsewhere);
        let _ = writeln!(text, "kernel-blocks {covered}\ndevice-accesses {devices}\nfetches-elsewhere {elsewhere}");
        text
    }
}

extern "C" fn translated(_: u64, block: *mut TranslatedBlock) {
    let mut guard = probe();
    let Some(probe) = guard.as_mut() else { return };
    if probe.memory.is_none() {
        probe.memory = guest_memory();
    }
    let line = probe.model.geometry().line();
    let mut made = Block { lines: Vec::new(), instructions: 0, kernel: false, executed: AtomicBool::new(false) };
    // SAFETY: QEMU passes a block that is valid during this call, and asks for instructions below their number.
    unsafe {
        let many = qemu_plugin_tb_n_insns(block);
        made.instructions = many as u64;
        for at in 0..many {
            let instruction = qemu_plugin_tb_get_insn(block, at);
            let address = qemu_plugin_insn_vaddr(instruction);
            if at == 0 {
                made.kernel = address >= KERNEL;
            }
            let host = qemu_plugin_insn_haddr(instruction) as u64;
            let place = probe.memory.and_then(|(start, length)| host.checked_sub(start).filter(|at| *at < length));
            let Some(physical) = place else {
                probe.elsewhere += 1;
                continue;
            };
            // The next page of addresses may lie in any frame. What an instruction has there is fetched with what follows it.
            let last = (physical + qemu_plugin_insn_size(instruction) as u64 - 1).min(physical | (counts::PAGE - 1));
            for number in physical / line..=last / line {
                if made.lines.last() != Some(&(number * line)) {
                    made.lines.push(number * line);
                }
            }
        }
        let kernel = made.kernel as usize as *mut c_void;
        for at in 0..many {
            let instruction = qemu_plugin_tb_get_insn(block, at);
            qemu_plugin_register_vcpu_mem_cb(
                instruction,
                accessed,
                interface::NO_REGISTERS,
                interface::READS_AND_WRITES,
                kernel,
            );
        }
        // The block may be executed until the emulator ends, so it is never freed.
        let data = Box::into_raw(Box::new(made)).cast();
        qemu_plugin_register_vcpu_tb_exec_cb(block, executed, interface::NO_REGISTERS, data);
    }
}

extern "C" fn executed(core: c_uint, data: *mut c_void) {
    // SAFETY: `translated` registered a block that is never freed and never changed.
    let block = unsafe { &*data.cast::<Block>() };
    let mut guard = probe();
    let Some(probe) = guard.as_mut() else { return };
    let core = core as usize % MOST_CORES;
    probe.instructions[core][usize::from(!block.kernel)] += block.instructions;
    if block.kernel {
        probe.covered += usize::from(!block.executed.swap(true, Ordering::Relaxed));
    } else if let Some(memory) = probe.memory {
        probe.owners.look(core, memory);
    }
    let owner = if block.kernel { KERNELS } else { probe.owners.of(core) };
    probe.asked[usize::from(owner)].instructions += block.instructions;
    if !block.kernel {
        probe.owners.count(core, event::INSTRUCTIONS, block.instructions);
    }
    for line in &block.lines {
        probe.access(core, *line, 1, Kind::Fetch, block.kernel);
    }
}

extern "C" fn accessed(core: c_uint, kind: u32, address: u64, data: *mut c_void) {
    let mut guard = probe();
    let Some(probe) = guard.as_mut() else { return };
    // SAFETY: called by QEMU after an access, with the kind and address of that access.
    let (physical, write, size) = unsafe {
        let place = qemu_plugin_get_hwaddr(kind, address);
        if place.is_null() || qemu_plugin_hwaddr_is_io(place) {
            probe.devices += 1;
            return;
        }
        (qemu_plugin_hwaddr_phys_addr(place), qemu_plugin_mem_is_store(kind), 1u64 << qemu_plugin_mem_size_shift(kind))
    };
    // What lies in the next page is in a frame that the emulator does not tell.
    let size = size.min(counts::PAGE - physical % counts::PAGE);
    let kind = if write { Kind::Write } else { Kind::Read };
    // What an interrupt writes before the kernel's first instruction is told with the last one of the component.
    let kernel = !data.is_null() || address >= KERNEL;
    probe.access(core as usize % MOST_CORES, physical, size, kind, kernel);
}

extern "C" fn ended(_: u64, _: *mut c_void) {
    let guard = probe();
    let Some(probe) = guard.as_ref() else { return };
    if let Err(error) = std::fs::write(&probe.out, probe.report()) {
        say(&format!("tactus-probe: {}: {error}\n", probe.out));
    }
}

fn say(text: &str) {
    if let Ok(text) = CString::new(text) {
        // SAFETY: a text that ends with a zero.
        unsafe { qemu_plugin_outs(text.as_ptr()) };
    }
}

/// QEMU calls this when it has loaded the plug-in.
///
/// # Safety
/// `options` are `many` texts that end with a zero, as QEMU passes them.
// SAFETY: nothing else in the plug-in has this name, which the emulator looks for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(id: u64, _: *const Info, many: c_int, options: *mut *mut c_char) -> c_int {
    let options: Vec<String> = (0..many.max(0) as usize)
        // SAFETY: `at` is below `many`, and the texts end with a zero.
        .map(|at| unsafe { CStr::from_ptr(*options.add(at)) }.to_string_lossy().into_owned())
        .collect();
    type Begin = fn(u64, &[String]) -> Result<(), String>;
    let begins: [(&str, Begin); 2] = [("counts=", counts::begin), ("delays=", delays::begin)];
    if let Some((_, begin)) = begins.iter().find(|(key, _)| options.iter().any(|option| option.starts_with(key))) {
        return match begin(id, &options) {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("tactus-probe: {error}");
                -1
            }
        };
    }
    match Probe::new(&options) {
        Ok(made) => {
            *probe() = Some(made);
            // SAFETY: the call-backs have the interface's signatures and live as long as the plug-in.
            unsafe {
                qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
                qemu_plugin_register_atexit_cb(id, ended, core::ptr::null_mut());
            }
            0
        }
        Err(error) => {
            eprintln!("tactus-probe: {error}");
            -1
        }
    }
}
