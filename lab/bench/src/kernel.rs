//! `tactus bench kernel`: runs the measured systems, shows the figures, holds them against their bars, and keeps them if asked to.

use super::books::{books, physical, spaces, symbol, translate};
use super::figures::{self, Figure};
use super::follow::{Counted, Paths};
use super::guest::{self, machine, Ran};
use super::history::{Entry, Sections};
use super::systems::{self, FEW_VICTIMS, POLICIES, VICTIMS};
use super::{bars, beside, history, page, paths};
use std::fs;
use std::mem::offset_of;
use tactus_abi::layout::{PAGE, REGIONS};
use tactus_abi::shared::Region;
use tactus_bench_book::Series;
use tactus_machine::build::Programs;
use tactus_machine::emulator::Emulator;
use tactus_machine::failure::{Failure, Outcome};
use tactus_terminal::lines;

/// How many tasks the real policies are measured with.
const TASKS: [usize; 2] = [FEWEST, 100];
const FEWEST: usize = 10;

/// Measures; with `keep` adds the figures to `docs/measured/`. The promise is that each path keeps to its bar.
pub fn kernel(keep: bool) -> Result<Outcome, Failure> {
    let bars = bars::read()?;
    let emulator = Emulator::find(Default::default()).map_err(machine)?;
    let programs = guest::programs()?;
    let kernel = fs::read(guest::program(&programs, "tactus-kernel")?).map_err(machine)?;
    let elf = object::File::parse(&*kernel).map_err(machine)?;
    let scheduler = fs::read(guest::program(&programs, "tactus-scheduler-partitioned-edf")?).map_err(machine)?;

    let longer = beside::slots(&programs)?;
    let followed = |cores| guest::follow(&programs, &systems::calls(cores, FEW_VICTIMS), Some("bench-scheduler"));
    let (paths, between) = (followed(1)?, followed(2)?);
    let calls = guest::run(&programs, &systems::calls(1, VICTIMS), Some("bench-scheduler"))?;
    let mut longest = longest_stretch(&calls, &elf);
    let mut all = figures::calls(&books(&calls.memory), begun(&calls, &elf), &paths);
    let two = guest::run(&programs, &systems::calls(2, VICTIMS), Some("bench-scheduler"))?;
    all.extend(figures::inter_core(&books(&two.memory), &between));
    let by_library = guest::follow(&programs, &systems::library(true), None)?;
    let library = guest::run(&programs, &systems::library(false), None)?;
    longest = longest.max(longest_stretch(&library, &elf));
    all.extend(figures::library(&books(&library.memory), &by_library));
    let mut scheduled = Paths::new();
    for policy in POLICIES {
        for tasks in TASKS {
            // Releases take the same path however many tasks there are, but for what is late.
            let paths = match tasks {
                FEWEST => guest::follow(&programs, &systems::periodic(policy, tasks, true), None)?,
                _ => Paths::new(),
            };
            let ran = guest::run(&programs, &systems::periodic(policy, tasks, false), None)?;
            longest = longest.max(longest_stretch(&ran, &elf));
            let label = format!("{policy}, {tasks} tasks");
            all.extend(figures::periodic(&label, &ran.trace, &books(&ran.memory), &paths));
            if policy == POLICIES[0] && tasks == FEWEST {
                scheduled = paths;
            }
        }
    }
    let mut released = Paths::new();
    for (server, label) in [(true, "each in a sporadic server"), (false, "partitioned-edf")] {
        released = guest::follow(&programs, &systems::released(server, true), None)?;
        let ran = guest::run(&programs, &systems::released(server, false), None)?;
        longest = longest.max(longest_stretch(&ran, &elf));
        all.extend(figures::released(label, &ran.trace, &books(&ran.memory), &released));
    }
    let windows = guest::follow(&programs, &systems::partitions(true), None)?;
    let ran = guest::run(&programs, &systems::partitions(false), None)?;
    longest = longest.max(longest_stretch(&ran, &elf));
    all.extend(figures::partitions(&books(&ran.memory), &windows));
    for (protocol, shown) in [("ceiling", Series::Section), ("inheritance", Series::HandOver)] {
        let mut paths = guest::follow(&programs, &systems::sections(protocol, true), None)?;
        let ran = guest::run(&programs, &systems::sections(protocol, false), None)?;
        longest = longest.max(longest_stretch(&ran, &elf));
        all.extend(figures::sections(protocol, &books(&ran.memory), &paths));
        released.extend(paths.remove_entry(&shown));
    }
    let floating = guest::run(&programs, &systems::floating(FEWEST, false), None)?;
    let paths_floating = guest::follow(&programs, &systems::floating(FEWEST, true), None)?;
    let label = format!("{}, {FEWEST} tasks, floating point", POLICIES[0]);
    all.extend(figures::periodic(&label, &floating.trace, &books(&floating.memory), &paths_floating));
    let smallest = smallest(&programs);
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    lines::put(&lines::table(
        &[
            "instructions",
            "n",
            "min",
            "median",
            "p99",
            "max",
            "CR3",
            "int",
            "APIC, MSR",
            "code bytes",
            "modelled cycles",
        ],
        &rows,
    ));
    let told = smallest.map_or_else(|| format!("more than {LARGEST} MiB"), |size| format!("{size} MiB"));
    lines::line("smallest", format!("{told} of memory for a system of two tasks on one core"));
    lines::line("longest", format!("{longest} instructions inside the kernel at once"));
    let scheduler = object::File::parse(&*scheduler).map_err(machine)?;
    let broken = [bars.broken(&all), longer].concat();
    let entry = Entry {
        date: history::now(),
        commit: history::commit(),
        machine: format!("QEMU {}, -icount shift=0", emulator.version),
        kernel_bytes: Sections::of(&elf),
        scheduler_bytes: Sections::of(&scheduler),
        longest_in_kernel: longest,
        smallest_memory: smallest.map(|size| size << 20),
        figures: all,
    };
    if keep {
        let folder = history::keep(&entry)?;
        page::write(&folder, &entry)?;
        paths::write(&folder, &entry, &[paths, between, scheduled, by_library, released], &programs)?;
        lines::line("kept", folder.display());
    }
    for path in &broken {
        lines::line("bar", path);
    }
    Ok(Outcome::held_if(broken.is_empty()))
}

/// The largest machine that is tried (MiB).
const LARGEST: u64 = 8;

/// The smallest machine (MiB) in which a small system runs to its end: one MiB less, and it is refused or fails.
fn smallest(programs: &Programs) -> Option<u64> {
    (1..=LARGEST).rev().take_while(|&size| guest::run(programs, &systems::small(size), None).is_ok()).last()
}

fn row(figure: &Figure) -> Vec<String> {
    let numbers = [figure.n as u64, figure.min, figure.median, figure.p99, figure.max].map(lines::grouped);
    let path =
        |number: fn(&Counted) -> u64| figure.path.as_ref().map_or(String::new(), |it| lines::grouped(number(it)));
    let counted = [path(|it| it.cr3), path(|it| it.interrupts), path(|it| it.apic + it.msr), path(|it| it.code_bytes)];
    let cycles = figure.modelled_cycles.map_or(String::new(), lines::grouped);
    [figure.name.clone()].into_iter().chain(numbers).chain(counted).chain([cycles]).collect()
}

/// The time stamp at the kernel's first instruction.
fn begun(ran: &Ran, elf: &object::File) -> Option<u64> {
    let at = physical(symbol(elf, "boot_stamp")?.0) as usize;
    ran.memory.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
}

/// The longest stretch inside the kernel on core 0, as the kernel noted it for the scheduler.
fn longest_stretch(ran: &Ran, elf: &object::File) -> u64 {
    let field = |core: u64| {
        // Component 0 is the scheduler.
        let top = *spaces(&ran.memory, elf)?.first()?;
        let at = translate(&ran.memory, top, REGIONS + core * PAGE)? as usize + offset_of!(Region, longest);
        ran.memory.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
    };
    field(0).unwrap_or(0)
}
