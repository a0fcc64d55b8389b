//! The longest stretch that each core spends in the kernel with interrupts off, in instructions of its own.
//!
//! Cores of the emulated machine take turns in one time, so that a time taken on one core has the others' turns in it. Here
//! the emulator's log of what it executes is read instead, which tells the core with every block of instructions.
//!
//! The log has the kernel's blocks only. A block is told when it is about to be executed; it may come to nothing, where the
//! core's turn is over, or to its first instructions only, where a device is meant. Which of them it was follows from where
//! the core goes on. Only if a block that branches to itself comes to nothing, that cannot be told from one round more: so a count
//! may be too large by a round of a loop, and is never too small.

use super::arch::instructions;
use super::symbols::{labels, plain, Labels};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::Command;
use tactus_abi::shared::cause::{Cause, INTERRUPT};

/// The file of results that the counts are written to.
pub const FILE: &str = "stretches.txt";

/// Whether stretches are to be counted: for tests, by the environment.
pub fn wanted() -> bool {
    std::env::var_os("TACTUS_FOLLOW_KERNEL").is_some()
}

/// Lets the emulator tell what it executes of the kernel, on its standard output.
pub fn ask(command: &mut Command) {
    command.args(["-d", "in_asm,exec,nochain", "-dfilter", instructions::KERNEL, "-D", "/dev/stdout"]);
}

/// A block of instructions.
#[derive(Clone, Debug, Default)]
struct Block {
    /// Where each instruction begins.
    at: Vec<u64>,
    /// Its last instruction, in the assembler's words.
    last: String,
}

impl Block {
    fn begin(&self) -> u64 {
        self.at.first().copied().unwrap_or(0)
    }

    fn name(&self) -> &str {
        self.last.split_whitespace().next().unwrap_or("")
    }

    /// Interrupts are on after it.
    fn ends(&self) -> bool {
        instructions::lets_interrupt(self.name())
    }

    /// Whether its last instruction may go there.
    fn leads_to(&self, place: u64) -> bool {
        if instructions::repeats(self.name()) {
            return self.at.last() == Some(&place);
        }
        let target = self.last.split_whitespace().nth(1).and_then(number);
        instructions::jumps(self.name()) && target == Some(place)
    }

    /// How many of its instructions were executed if the core goes on there.
    fn executed(&self, next: u64) -> u64 {
        match self.at.iter().position(|&at| at == next) {
            Some(place) if !self.leads_to(next) => place as u64,
            _ => self.at.len() as u64,
        }
    }
}

/// A stretch: how long, and where it went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// Instructions.
    pub instructions: u64,
    /// The first of them.
    entry: u64,
    /// How many after each place at which a block begins.
    places: BTreeMap<u64, u64>,
}

/// What one core is at.
#[derive(Default)]
struct Core {
    /// It is in the kernel.
    inside: bool,
    current: Stretch,
    /// The block that is about to be executed.
    block: Option<u64>,
    longest: Stretch,
    stretches: u64,
}

#[derive(Default)]
struct Reader {
    /// The first instructions of calls, interrupts and exceptions.
    entries: BTreeMap<u64, String>,
    /// Blocks by the emulator's name for them, which it gives anew if it forgets.
    known: HashMap<u64, Block>,
    /// What it has just made out.
    read: Block,
    cores: BTreeMap<u64, Core>,
    /// Blocks of which it did not tell what they are.
    unknown: u64,
}

/// The hexadecimal number at the start.
fn number(text: &str) -> Option<u64> {
    let text = text.strip_prefix("0x").unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
    u64::from_str_radix(&text[..end], 16).ok()
}

impl Reader {
    fn new(labels: &Labels) -> Reader {
        let trap = |name: &str| name.strip_prefix("trap_").is_some_and(|it| it.bytes().all(|b| b.is_ascii_digit()));
        let entry = |name: &String| name == "call_entry" || trap(name);
        let entries = labels.iter().filter(|(_, name)| entry(name)).map(|(at, name)| (*at, name.clone())).collect();
        Reader { entries, ..Reader::default() }
    }

    fn line(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix("Trace ") {
            self.told(rest);
        } else if line.starts_with("IN:") {
            self.read = Block::default();
        } else if line.starts_with("0x") {
            self.made_out(line);
        }
    }

    /// `0xADDRESS:  BYTES  WORDS`; further bytes of an instruction are on lines without words.
    fn made_out(&mut self, line: &str) -> Option<()> {
        let (at, rest) = line.split_once(':')?;
        let (_, words) = rest.trim_start().split_once("  ")?;
        if !words.trim().is_empty() {
            self.read.at.push(number(at)?);
            self.read.last = words.trim().to_string();
        }
        Some(())
    }

    /// `CORE: 0xNAME [CS/ADDRESS/FLAGS/FLAGS] LABEL`.
    fn told(&mut self, rest: &str) -> Option<()> {
        let (core, rest) = rest.split_once(": ")?;
        let name = number(rest)?;
        let at = number(rest.split_once('/')?.1)?;
        if self.read.begin() == at {
            self.known.insert(name, std::mem::take(&mut self.read));
        }
        if self.known.get(&name).is_none_or(|block| block.begin() != at) {
            self.unknown += 1;
            return None;
        }
        let core = self.cores.entry(core.trim().parse().ok()?).or_default();
        if let Some(before) = core.block.take().and_then(|before| self.known.get(&before)) {
            core.current.add(before, before.executed(at));
        }
        if self.entries.contains_key(&at) {
            core.current = Stretch { entry: at, ..Stretch::default() };
            core.inside = true;
        }
        if !core.inside {
            return None;
        }
        let block = &self.known[&name];
        if !block.ends() {
            core.block = Some(name);
            return None;
        }
        // Whatever comes of it, the rest of it comes next.
        core.current.add(block, block.at.len() as u64);
        core.inside = false;
        core.stretches += 1;
        if core.current.instructions > core.longest.instructions {
            std::mem::swap(&mut core.longest, &mut core.current);
        }
        Some(())
    }
}

impl Stretch {
    fn add(&mut self, block: &Block, instructions: u64) {
        self.instructions += instructions;
        *self.places.entry(block.begin()).or_default() += instructions;
    }
}

/// Reads the log to its end. What is written to the file of results, a line for each core.
pub fn read(log: impl Read, kernel: &Path) -> io::Result<String> {
    let labels = labels(&fs::read(kernel)?).map_err(io::Error::other)?;
    let mut reader = Reader::new(&labels);
    let mut log = BufReader::with_capacity(1 << 20, log);
    let mut line = Vec::new();
    while log.read_until(b'\n', &mut line)? != 0 {
        reader.line(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
    let mut text = String::new();
    for (number, core) in &reader.cores {
        let (longest, stretches) = (&core.longest, core.stretches);
        let entry = reader.entries.get(&longest.entry).map_or("", String::as_str);
        let mut parts: BTreeMap<String, u64> = BTreeMap::new();
        for (at, count) in &longest.places {
            let label = labels.range(..=at).next_back().map_or("", |it| it.1);
            *parts.entry(plain(label)).or_default() += count;
        }
        let mut parts: Vec<_> = parts.into_iter().collect();
        parts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let parts: Vec<_> = parts.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let why = why(entry, longest, &labels, kernel);
        let instructions = longest.instructions;
        let _ = writeln!(
            text,
            "core {number} longest in the kernel: {instructions} instructions, {why}; of {stretches} stretches; {}",
            parts.join(", ")
        );
    }
    let _ = writeln!(text, "blocks that were not made out: {}", reader.unknown);
    Ok(text)
}

/// What the kernel was entered for, in words.
fn why(entry: &str, stretch: &Stretch, labels: &Labels, kernel: &Path) -> String {
    if let Some(number) = entry.strip_prefix("trap_").and_then(|it| it.parse::<u64>().ok()) {
        return Cause(INTERRUPT + number).to_string();
    }
    let through: Vec<&str> =
        stretch.places.keys().filter_map(|at| labels.range(..=at).next_back()).map(|it| it.1.as_str()).collect();
    let named = |name: &str| through.contains(&name);
    let call = match () {
        () if named("kernel_switch") || named("switch") => "SwitchThread",
        () if named("kernel_trigger") => "Trigger",
        () if named("kernel_upcall_done") => "UpcallDone",
        () if named("kernel_call") => return inside_call(stretch, labels, kernel),
        () if named("invoke") || named("invoke_wide") => "Invoke",
        () if named("give_back") || named("give_back_wide") => "Return",
        () => "Null",
    };
    format!("call {call}")
}

/// Calls by the functions that `kernel_call` makes them of.
const CALLS: [(&str, &str); 12] = [
    ("call::refused_invocation", "Invoke"),
    ("call::give_back", "Return"),
    ("call::notify", "Notify"),
    ("call::text", "Text"),
    ("call::finish", "Finish"),
    ("eviction::stop", "Panic"),
    ("tree::control", "SchedulerControl"),
    ("call::create", "CreateThread"),
    ("call::control_brand", "BrandControl"),
    ("memory::control", "MemoryControl"),
    ("call::restart", "Restart"),
    ("delivery::trigger_remote", "TriggerRemote"),
];

/// Which call it was that `kernel_call` made: its functions are one with it, so that only what is written for debuggers tells them
/// apart. `addr2line` of the compiler's tools reads that.
fn inside_call(stretch: &Stretch, labels: &Labels, kernel: &Path) -> String {
    let within = |at: &&u64| labels.range(..=*at).next_back().is_some_and(|it| it.1 == "kernel_call");
    let places = stretch.places.iter().filter(|(at, _)| within(at));
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    for (at, count) in places {
        let said = Command::new("addr2line").args(["-e"]).arg(kernel).args(["-i", "-f", &format!("{at:#x}")]).output();
        let said = said.map(|it| String::from_utf8_lossy(&it.stdout).into_owned()).unwrap_or_default();
        // The innermost first, each with the line of its place.
        let functions: Vec<String> = said.lines().step_by(2).map(plain).collect();
        let call = functions.iter().rev().find_map(|name| CALLS.iter().find(|(it, _)| name.contains(it)));
        if let Some((_, call)) = call {
            *found.entry(call).or_default() += count;
        }
    }
    let most = found.into_iter().max_by_key(|(_, count)| *count);
    most.map_or("a call".to_string(), |(call, _)| format!("call {call}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const K: u64 = 0xffff_ffff_8010_0000;

    /// What a log of these blocks comes to, for core 0: each block by its name, address and assembly.
    fn longest(log: &[(&str, u64, &[&str], u64)]) -> u64 {
        let labels = Labels::from([(K, "call_entry".to_string()), (K + 0x100, "trap_64".to_string())]);
        let mut reader = Reader::new(&labels);
        for (core, name, words, at) in log {
            reader.line("----------------");
            reader.line("IN: somewhere");
            for (place, word) in words.iter().enumerate() {
                reader.line(&format!("{:#x}:  90 90 90 90              {word}", at + 4 * place as u64));
            }
            reader.line("");
            reader.line(&format!("Trace {core}: {name:#x} [0000000000000000/{at:016x}/00c0b0/ff0202] somewhere"));
        }
        assert_eq!(reader.unknown, 0);
        reader.cores[&0].longest.instructions
    }

    #[test]
    fn a_stretch_has_the_cores_own_instructions_only() {
        let own = longest(&[
            ("0", 1, &["swapgs ", "jne      0xffffffff80100200"], K),
            ("1", 2, &["nop", "nop", "nop", "nop", "sysretq "], K + 0x300),
            ("0", 3, &["nop", "sysretq "], K + 0x200),
        ]);
        assert_eq!(own, 4);
    }

    #[test]
    fn what_came_to_nothing_is_not_counted() {
        let all = ["nop", "nop", "nop", "jne      0xffffffff80100400"];
        let own = longest(&[
            ("0", 1, &["swapgs ", "jne      0xffffffff80100200"], K),
            // The turn was over; then two are executed, then the rest.
            ("0", 2, &all, K + 0x200),
            ("0", 3, &all[..2], K + 0x200),
            ("0", 4, &all[2..], K + 0x208),
            ("0", 7, &["jmp      0xffffffff80100200"], K + 0x210),
            // A device is meant by the second.
            ("0", 2, &all, K + 0x200),
            ("0", 5, &all[1..2], K + 0x204),
            ("0", 4, &all[2..], K + 0x208),
            ("0", 6, &["iretq "], K + 0x400),
        ]);
        assert_eq!(own, 2 + 4 + 1 + 4 + 1);
    }

    #[test]
    fn loops_are_counted_as_often_as_they_go_round() {
        let looped = ["nop", "jne      0xffffffff80100200"];
        let own = longest(&[
            ("0", 1, &["swapgs ", "rep stosq %rax, %es:(%rdi)"], K),
            ("0", 2, &["rep stosq %rax, %es:(%rdi)"], K + 4),
            ("0", 2, &["rep stosq %rax, %es:(%rdi)"], K + 4),
            ("0", 3, &looped, K + 0x200),
            ("0", 3, &looped, K + 0x200),
            ("0", 3, &looped, K + 0x200),
            ("0", 4, &["sti "], K + 0x300),
        ]);
        assert_eq!(own, 2 + 2 + 6 + 1);
    }
}
