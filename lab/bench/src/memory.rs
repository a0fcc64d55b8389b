//! `tactus bench memory`: how much memory kernel and components take, and how much of the stacks is really used.

use super::books::{physical, spaces, symbol, translate, used};
use super::guest::{self, machine};
use super::history::{self, Sections};
use super::systems;
use std::fs;
use tactus_machine::failure::{Failure, Outcome};
use tactus_terminal::lines;

/// The kinds of user stack, as the table names them.
const KINDS: [&str; 3] = ["scheduler", "built-in workload", "user's component"];

/// What the page begins with.
const HEAD: &str =
    "# How much memory kernel and components take\n\nMade by `./tactus bench memory --keep`: 4 cores, 120 \
    tasks of all levels under MC². Stacks are full of zeros at first; a stack counts as used down to its deepest word \
    that is not zero.\n";

/// Tables for a person, and for the page.
#[derive(Default)]
struct Tables {
    page: String,
}

impl Tables {
    fn add(&mut self, head: &[&str], rows: &[Vec<String>]) {
        lines::put(&lines::table(head, rows));
        let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        self.page.push('\n');
        self.page.push_str(&line(head.to_vec()));
        self.page.push_str(&line(head.iter().map(|_| "---").collect()));
        for row in rows {
            self.page.push_str(&line(row.iter().map(String::as_str).collect()));
        }
    }
}

/// Where the kernel's symbol lies, and how long it is.
///
/// # Errors
/// If there is no such symbol: a row of the page would be lost.
fn placed(elf: &object::File<'_>, name: &str) -> Result<(u64, u64), Failure> {
    symbol(elf, name)
        .ok_or_else(|| Failure::Machine(format!("the kernel has no symbol {name}, which the page tells of")))
}

/// Parts of the kernel: the symbol, and what the page calls it.
const PARTS: [(&str, &str); 6] = [
    ("THREADS", "threads"),
    ("COMPONENTS", "components"),
    ("CORES", "cores"),
    ("KERNEL_STACKS", "stacks, guards included"),
    ("FAULT_STACK_OF", "stacks for faults inside, guards included"),
    ("INTERRUPTS", "interrupts"),
];

/// The page below each stack of the kernel, which is never mapped.
const GUARD: u64 = 4096;
/// Stacks of each core for interrupts and faults that have one of their own.
const FAULT_STACKS: u64 = 3;

/// Runs a system of 4 cores and 120 tasks and tells; with `keep` writes `docs/measured/memory.md`.
pub fn memory(keep: bool) -> Result<Outcome, Failure> {
    let mut tables = Tables::default();
    let programs = guest::programs()?;
    let kernel = fs::read(guest::program(&programs, "tactus-kernel")?).map_err(machine)?;
    let elf = object::File::parse(&*kernel).map_err(machine)?;
    let (text, components) = systems::large();
    let ran = guest::run(&programs, &(text, components.clone()), None)?;

    let kib = |bytes: u64| format!("{:.1}", bytes as f64 / 1024.0);
    let sections = Sections::of(&elf);
    let rows = [("text", sections.text), ("rodata", sections.rodata), ("data", sections.data), ("bss", sections.bss)]
        .map(|(name, bytes)| vec![name.to_string(), kib(bytes)]);
    tables.add(&["kernel", "KiB"], &rows);
    let mut parts = Vec::new();
    for (symbol_name, name) in PARTS {
        let (_, size) = placed(&elf, symbol_name)?;
        parts.push(vec![name.to_string(), kib(size)]);
    }
    tables.add(&["of it", "KiB"], &parts);
    let booted = ran.said.lines().find(|line| line.contains("KiB in use")).unwrap_or_default();
    lines::line("booted", booted);

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
    let cores = tactus_abi::layout::MAX_CORES as u64;
    for (name, symbol_name, of_core) in
        [("kernel", "KERNEL_STACKS", 1), ("kernel, faults inside", "FAULT_STACK_OF", FAULT_STACKS)]
    {
        let (address, size) = placed(&elf, symbol_name)?;
        let stride = size / (cores * of_core);
        let most = (0..cores * of_core).map(|number| {
            let (top, bytes) = (address + (number + 1) * stride, stride - GUARD);
            (used(&ran.memory, |at| Some(physical(at)), top, bytes), number / of_core)
        });
        let (bytes, core) = most.max().unwrap_or_default();
        rows.push(vec![name.to_string(), bytes.to_string(), (stride - GUARD).to_string(), format!("core {core}")]);
    }
    for (name, (bytes, size, whose)) in KINDS.iter().zip(most) {
        rows.push(vec![name.to_string(), bytes.to_string(), size.to_string(), whose]);
    }
    tables.add(&["stack", "bytes used at most", "of", "by"], &rows);
    if keep {
        let folder = history::folder()?;
        let text = format!("{HEAD}\nAfter start-up: `{booted}`\n{}", tables.page);
        fs::write(folder.join("memory.md"), text).map_err(machine)?;
        lines::line("kept", folder.display());
    }
    Ok(Outcome::Held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_page_has_every_row() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/measured/memory.md");
        let page = fs::read_to_string(page).expect("the page is kept");
        let rows = ["text", "rodata", "data", "bss", "kernel", "kernel, faults inside"];
        for row in rows.into_iter().chain(PARTS.map(|(_, name)| name)).chain(KINDS) {
            let mut lines = page.lines().filter(|line| line.starts_with(&format!("| {row} |")));
            let figure = lines.find_map(|line| line.split('|').nth(2)?.trim().parse::<f64>().ok());
            assert!(figure.is_some(), "no figure of {row} is kept");
        }
    }
}
