//! `tactus bench memory`: how much memory kernel and components take, and how much of the stacks is really used.

use super::books::{physical, spaces, symbol, translate, used};
use super::guest::{self, machine};
use super::history::Sections;
use super::systems;
use crate::failure::{Failure, Outcome};
use crate::lines;
use std::fs;

/// The kinds of user stack, as the table names them.
const KINDS: [&str; 3] = ["scheduler", "built-in workload", "user's component"];

/// Runs a system of 4 cores and 120 tasks and tells.
pub fn memory() -> Result<Outcome, Failure> {
    let programs = guest::programs()?;
    let kernel = fs::read(guest::program(&programs, "tactus-kernel")?).map_err(machine)?;
    let elf = object::File::parse(&*kernel).map_err(machine)?;
    let (text, components) = systems::large();
    let ran = guest::run(&programs, &(text, components.clone()), None)?;

    let kib = |bytes: u64| format!("{:.1}", bytes as f64 / 1024.0);
    let parts = Sections::of(&elf);
    let rows = [("text", parts.text), ("rodata", parts.rodata), ("data", parts.data), ("bss", parts.bss)]
        .map(|(name, bytes)| vec![name.to_string(), kib(bytes)]);
    lines::put(&lines::table(&["kernel", "KiB"], &rows));
    let mut tables = Vec::new();
    for name in ["THREADS", "COMPONENTS", "CORES", "KERNEL_STACKS", "FAULT_STACKS", "INTERRUPTS"] {
        if let Some((_, size)) = symbol(&elf, name) {
            tables.push(vec![name.to_lowercase().replace('_', " "), kib(size)]);
        }
    }
    lines::put(&lines::table(&["of it", "KiB"], &tables));
    for line in ran.said.lines().filter(|line| line.contains("KiB in use")) {
        lines::line("booted", line);
    }

    let lost = || Failure::Machine("the address spaces are not where the kernel should have put them".to_string());
    let tops = spaces(&ran.memory, &elf).filter(|tops| tops.len() == ran.facts.components.len()).ok_or_else(lost)?;
    let first_user = ran.facts.components.len() - components.len();
    let mut most = [(0, 0, String::new()), (0, 0, String::new()), (0, 0, String::new())];
    for stack in &ran.facts.stacks {
        let component = stack.component as usize;
        let kind = match component {
            0 => 0,
            c if c < first_user => 1,
            _ => 2,
        };
        let at = |address: u64| translate(&ran.memory, tops[component], address);
        at(stack.top - 8).ok_or_else(lost)?;
        let bytes = used(&ran.memory, at, stack.top, stack.bytes);
        if bytes > most[kind].0 {
            most[kind] =
                (bytes, stack.bytes, format!("thread {} in {}", stack.thread, ran.facts.components[component]));
        }
    }
    let mut rows = Vec::new();
    for (name, symbol_name) in [("kernel", "KERNEL_STACKS"), ("kernel, faults inside", "FAULT_STACKS")] {
        let Some((address, size)) = symbol(&elf, symbol_name) else { continue };
        let each = size / tactus_abi::layout::MAX_CORES as u64;
        let (bytes, core) = (0..tactus_abi::layout::MAX_CORES as u64)
            .map(|core| {
                let top = address + (core + 1) * each;
                (used(&ran.memory, |at| Some(physical(at)), top, each), core)
            })
            .max()
            .unwrap_or_default();
        rows.push(vec![name.to_string(), bytes.to_string(), each.to_string(), format!("core {core}")]);
    }
    for (name, (bytes, size, whose)) in KINDS.iter().zip(most) {
        rows.push(vec![name.to_string(), bytes.to_string(), size.to_string(), whose]);
    }
    lines::put(&lines::table(&["stack", "bytes used at most", "of", "by"], &rows));
    Ok(Outcome::Held)
}
