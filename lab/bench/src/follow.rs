//! Follows the machine instruction by instruction: what a measured path executes, which nobody can read off a counter.
//!
//! The emulator tells each instruction that it executes, what it is, and each access to the local APIC. Measuring components
//! execute a marking instruction with each entry of their books ([`tactus_bench_book::MARK`]); a path reaches from one reading of
//! the counter in user mode to the next one, the last before the mark.

use super::guest::machine;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use tactus_bench_book::{Series, BEGINS, MARK, MARK_END};
use tactus_machine::failure::Failure;
use tactus_machine::symbols::Labels;

/// Addresses from here on are the kernel's.
const KERNEL: u64 = 1 << 47;
/// Instructions that are remembered: longer than every path.
const REMEMBERED: usize = 1 << 18;
/// What is told in the log: kernel and components, but not the firmware.
const RANGES: &str = "0xffffffff80100000..0xffffffff80ffffff,0x200000..0x7fffffff";

/// An instruction of the machine's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its address.
    pub at: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// It, in the assembler's words.
    pub text: String,
    /// The function or label of the kernel that it stands in; nothing for components.
    pub label: String,
    /// It is the first there.
    pub first: bool,
}

impl Instruction {
    fn is_kernel(&self) -> bool {
        self.at >= KERNEL
    }

    /// A reading of the time-stamp counter in user mode.
    fn is_reading(&self) -> bool {
        !self.is_kernel() && self.bytes == [0x0f, 0x31]
    }

    /// The number that it marks.
    fn mark(&self) -> Option<u16> {
        let [a, b, c, low, high, d, e] = self.bytes[..] else { return None };
        ([a, b, c] == MARK && [d, e] == MARK_END).then_some(u16::from_le_bytes([low, high]))
    }

    /// The first instruction of an interrupt or exception.
    fn enters(&self) -> bool {
        let number = self.label.strip_prefix("trap_");
        self.is_kernel() && self.first && number.is_some_and(|it| it.bytes().all(|b| b.is_ascii_digit()))
    }

    fn loads_address_space(&self) -> bool {
        // mov cr3, register.
        self.bytes.starts_with(&[0x0f, 0x22]) && self.bytes.get(2).is_some_and(|it| it >> 3 & 7 == 3)
    }

    fn is_register_access(&self) -> bool {
        // wrmsr, rdmsr.
        matches!(self.bytes[..], [0x0f, 0x30 | 0x32])
    }

    fn repeats(&self) -> bool {
        self.text.starts_with("rep")
    }
}

/// What one path is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Instructions, those of one reading of the counter included.
    pub followed: u64,
    /// Writes of CR3.
    pub cr3: u64,
    /// Interrupts and exceptions.
    pub interrupts: u64,
    /// Reads and writes of the local APIC.
    pub apic: u64,
    /// Reads and writes of model-specific registers.
    pub msr: u64,
    /// Distinct bytes of instructions.
    pub code_bytes: u64,
    /// Distinct lines of 64 bytes that hold them: what an empty cache has to fetch.
    pub code_lines: u64,
}

/// A path that was followed.
#[derive(Clone, Debug)]
pub struct Path {
    /// What it is made of.
    pub counted: Counted,
    /// Its instructions, in their order.
    pub steps: Vec<Instruction>,
    /// How often the machine took exactly this path, of how often in all.
    pub taken: (usize, usize),
}

/// The most frequent path of each series.
pub type Paths = BTreeMap<Series, Path>;

/// A step: the instruction's number, and accesses to the APIC that it made.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Step {
    code: u32,
    apic: u8,
}

#[derive(Default)]
struct Follower {
    labels: Labels,
    /// By the emulator's name for it, which it gives anew if it forgets.
    known: HashMap<u64, u32>,
    codes: Vec<Instruction>,
    /// What the emulator has just made out.
    read: Option<Instruction>,
    steps: Vec<Step>,
    /// Where readings in user mode, and interrupts, stand in `steps`.
    readings: Vec<usize>,
    interrupted: Option<usize>,
    /// Where the next reading begins a path of the series; after it, where that stands.
    begins: BTreeMap<u16, Option<usize>>,
    last: u64,
    found: BTreeMap<Series, HashMap<Vec<Step>, usize>>,
}

/// Runs the machine, and follows it to its end.
pub fn follow(mut command: Command, labels: Labels) -> Result<Paths, Failure> {
    command.args(["-singlestep", "-d", "in_asm,exec,nochain,trace:apic_mem_readl,trace:apic_mem_writel"]);
    command.args(["-dfilter", RANGES, "-D", "/dev/stdout"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(machine)?;
    let mut follower = Follower { labels, ..Follower::default() };
    if let Some(words) = child.stdout.take() {
        let mut words = BufReader::with_capacity(1 << 20, words);
        let mut line = String::new();
        while words.read_line(&mut line).map_err(machine)? != 0 {
            follower.line(line.trim_end());
            line.clear();
        }
    }
    child.wait().map_err(machine)?;
    Ok(follower.paths())
}

/// The hexadecimal number at the start.
fn number(text: &str) -> Option<u64> {
    let text = text.trim_start_matches("0x");
    let end = text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
    u64::from_str_radix(&text[..end], 16).ok()
}

impl Follower {
    fn line(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix("Trace ") {
            self.executed(rest);
        } else if line.starts_with("apic_mem_") {
            if let Some(step) = self.steps.last_mut() {
                step.apic = step.apic.saturating_add(1);
            }
        } else if line.starts_with("0x") {
            self.disassembled(line);
        }
    }

    /// `0xADDRESS:  BYTES  WORDS`, on several lines if there are many bytes.
    fn disassembled(&mut self, line: &str) -> Option<()> {
        let (at, rest) = line.split_once(':')?;
        let at = number(at)?;
        let rest = rest.trim_start();
        // Bytes are pairs of digits with one space between them; then two spaces or more.
        let (bytes, text) = rest.split_once("  ").unwrap_or((rest, ""));
        let bytes: Vec<u8> = bytes.split(' ').map_while(|it| u8::from_str_radix(it, 16).ok()).collect();
        match &mut self.read {
            Some(read) if read.at + read.bytes.len() as u64 == at && text.trim().is_empty() => read.bytes.extend(bytes),
            read => {
                *read =
                    Some(Instruction { at, bytes, text: text.trim().to_string(), label: String::new(), first: false })
            }
        }
        Some(())
    }

    /// `0: 0xNAME [CS/ADDRESS/FLAGS/FLAGS]`, and what else the emulator knows.
    fn executed(&mut self, rest: &str) -> Option<()> {
        let name = number(rest.split_once(": ")?.1)?;
        if let Some(mut read) = self.read.take() {
            if read.is_kernel() {
                let label = self.labels.range(..=read.at).next_back();
                read.label = label.map(|it| it.1.clone()).unwrap_or_default();
                read.first = label.is_some_and(|it| *it.0 == read.at);
            }
            self.known.insert(name, self.codes.len() as u32);
            self.codes.push(read);
        }
        let code = *self.known.get(&name)?;
        let it = &self.codes[code as usize];
        // Told twice: the emulator had come to the end of what it may execute at once, or found out that a device is meant, and
        // tried again.
        if it.at == self.last && !it.repeats() {
            return None;
        }
        self.last = it.at;
        let place = self.steps.len();
        if it.is_reading() {
            self.readings.push(place);
            self.begins.values_mut().filter(|begin| begin.is_none()).for_each(|begin| *begin = Some(place));
        } else if it.enters() {
            self.interrupted = Some(place);
        } else if let Some(mark) = it.mark() {
            self.marked(mark);
        }
        self.steps.push(Step { code, apic: 0 });
        if self.steps.len() > 2 * REMEMBERED {
            self.forget();
        }
        Some(())
    }

    /// An entry of a book, or the announcement of one.
    fn marked(&mut self, mark: u16) -> Option<()> {
        if mark >= BEGINS {
            self.begins.insert(mark - BEGINS, None);
            return None;
        }
        let series = Series::from_u64(mark.into())?;
        let end = *self.readings.last()?;
        let begin = match self.begins.remove(&mark).flatten() {
            Some(begin) => begin + 1,
            None if series.begins_with_interrupt() => self.interrupted?,
            None => self.readings.iter().rev().nth(1)? + 1,
        };
        let path = self.steps.get(begin..=end)?.to_vec();
        *self.found.entry(series).or_default().entry(path).or_default() += 1;
        Some(())
    }

    /// Old steps.
    fn forget(&mut self) {
        let old = self.steps.len() - REMEMBERED;
        self.steps.drain(..old);
        self.readings.retain(|it| *it >= old);
        self.readings.iter_mut().for_each(|it| *it -= old);
        self.interrupted = self.interrupted.and_then(|it| it.checked_sub(old));
        self.begins.values_mut().for_each(|begin| *begin = begin.and_then(|it| it.checked_sub(old)));
    }

    fn paths(self) -> Paths {
        let Follower { found, codes, .. } = self;
        let most = |ways: HashMap<Vec<Step>, usize>| {
            let all = ways.values().sum();
            // Of several that are as frequent, the shortest.
            let (steps, times) = ways.into_iter().max_by_key(|(steps, times)| (*times, usize::MAX - steps.len()))?;
            let counted = count(&steps, &codes);
            let steps = steps.iter().map(|step| codes[step.code as usize].clone()).collect();
            Some(Path { counted, steps, taken: (times, all) })
        };
        found.into_iter().filter_map(|(series, ways)| Some((series, most(ways)?))).collect()
    }
}

fn count(steps: &[Step], codes: &[Instruction]) -> Counted {
    let mut counted = Counted { followed: steps.len() as u64, ..Counted::default() };
    let (mut bytes, mut lines) = (BTreeSet::new(), BTreeSet::new());
    // Components have the same addresses: a path that changes the address space twice is back in the first.
    let mut space = 0;
    for step in steps {
        let it = &codes[step.code as usize];
        counted.apic += u64::from(step.apic);
        counted.interrupts += u64::from(it.enters());
        counted.msr += u64::from(it.is_register_access());
        if it.loads_address_space() {
            counted.cr3 += 1;
            space ^= 1;
        }
        let space = if it.is_kernel() { 2 } else { space };
        let last = it.at + it.bytes.len() as u64 - 1;
        bytes.extend((it.at..=last).map(|at| (space, at)));
        lines.extend((it.at / 64..=last / 64).map(|line| (space, line)));
    }
    (counted.code_bytes, counted.code_lines) = (bytes.len() as u64, lines.len() as u64);
    counted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The log of instructions at rising addresses, each named by its address.
    fn log(instructions: &[(u64, &str, &str, &str)]) -> Paths {
        let labels = instructions.iter().map(|(at, .., label)| (*at, label.to_string())).collect();
        let mut follower = Follower { labels, ..Follower::default() };
        for (at, bytes, text, _) in instructions {
            follower.line("----------------");
            follower.line("IN: ");
            follower.line(&format!("0x{at:08x}:  {bytes:<24} {text}"));
            follower.line("");
            follower.line(&format!("Trace 0: 0x{at:x} [0000000000000000/{at:016x}/00c0b0/ff0202]"));
            if text.contains("APIC") {
                follower.line("apic_mem_writel 0xb0 = 0x00000000");
            }
        }
        follower.paths()
    }

    #[test]
    fn a_path_reaches_from_one_reading_to_the_last_before_its_mark() {
        const K: u64 = 0xffff_ffff_8010_0000;
        let paths = log(&[
            (0x20_0000, "0f 31", "rdtsc", ""),
            (0x20_0002, "0f 05", "syscall", ""),
            (K, "0f 22 d9", "movq %rcx, %cr3", "call_entry"),
            (K + 3, "0f 31", "rdtsc", "call_entry"),
            (K + 0x100, "6a 00", "pushq $0", "trap_64"),
            (K + 0x102, "c7 01 00 00 00 00", "movl $0, (%rcx) APIC", "trap_common"),
            (0x20_0040, "0f 31", "rdtsc", ""),
            (0x20_0042, "0f 1f 80 02 00 c7 7a", "nopl 0x7ac70002(%rax)", ""),
        ]);
        let path = &paths[&Series::Null];
        assert_eq!(path.taken, (1, 1));
        let counted = Counted {
            followed: 6,
            cr3: 1,
            interrupts: 1,
            apic: 1,
            msr: 0,
            code_bytes: 2 + 3 + 2 + 2 + 6 + 2,
            code_lines: 4,
        };
        assert_eq!(path.counted, counted);
    }

    #[test]
    fn an_announced_reading_begins_a_path_whatever_is_read_in_between() {
        let announced = format!("0f 1f 80 {:02x} 00 c7 7a", Series::Null as u16 + BEGINS);
        let paths = log(&[
            (0x20_0000, announced.as_str(), "nopl", ""),
            (0x20_0010, "0f 31", "rdtsc", ""),
            (0x20_0012, "0f 31", "rdtsc", ""),
            (0x20_0014, "0f 31", "rdtsc", ""),
            (0x20_0016, "0f 1f 80 02 00 c7 7a", "nopl", ""),
        ]);
        assert_eq!(paths[&Series::Null].counted.followed, 2);
    }
}
