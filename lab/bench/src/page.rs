//! The page of figures, `docs/measured/kernel.md`, made from one entry of the history.

use super::figures::Figure;
use super::guest::machine;
use super::history::{Entry, Sections};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use tactus_machine::failure::Failure;

/// An operation beside its peers: ours by the beginning of its name, what it is compared as, the peers' medians, the
/// bar that the project has set itself.
pub const PEERS: [(&str, &str, &str, &str); 25] = [
    ("null call", "null call", "seL4 89; Zephyr 141 to 203; Linux RT 337", "40"),
    (
        "call and return",
        "call and return between two protection domains, no payload",
        "seL4 395; seL4 MCS 489; Composite 510; Linux RT 8,264 to 12,745",
        "150",
    ),
    ("call and return, ten words each way", "the same with ten words of payload", "seL4 1,572; seL4 MCS 2,158", "220"),
    (
        "brand, trigger to upcall",
        "wake a more urgent thread in another domain, until it runs",
        "seL4 509; Composite 608; seL4 MCS 688; Linux RT 3,057",
        "300",
    ),
    (
        "tick to upcall in another domain",
        "interrupt until a user thread in another domain runs, the tick set anew",
        "seL4 393; seL4 MCS 725",
        "300",
    ),
    ("lock and release", "scheduler lock and release, uncontended", "Composite 23; Zephyr lean 68; Linux RT 129", "12"),
    (
        "kernel's first instruction to first user instruction",
        "reset to first user instruction, without firmware",
        "Zephyr 16 M with firmware; seL4 214 M",
        "5,000,000",
    ),
    (
        "switch, same domain",
        "the kernel's call that dispatches a given thread, nothing decided",
        "Composite 478",
        "90",
    ),
    (
        "library: block to next thread",
        "inside the scheduler: from its function that blocks a thread until the next one is back in that function",
        "–",
        "180",
    ),
    (
        "library: block to next thread, with accounting",
        "the same, and the time of both threads is counted in slots",
        "–",
        "220",
    ),
    (
        "library: block asked for by a user thread, to the next one in its own component",
        "yield: from a user thread's call until another thread in another domain is back from its own, decision and time \
         counted (the scheduler is a component)",
        "Zephyr user 184 to 305; seL4 270; seL4 MCS 464; Composite 1,346; Linux RT 1,785",
        "–",
    ),
    (
        "library: wake asked for by a user thread, to the more urgent one in its own component",
        "wake a more urgent thread by the scheduler: from a user thread's call until the woken one is back in its own domain, \
         decision and time counted",
        "Zephyr in kernel mode 194 to 386; Linux RT 3,057",
        "–",
    ),
    (
        "switch, other domain, timer set",
        "the kernel's call that dispatches a given thread in another domain, timer set anew, nothing decided",
        "–",
        "–",
    ),
    (
        "timer expiry to woken periodic thread, partitioned-edf, 10 tasks",
        "timer expiry until the woken periodic thread runs, decision included; jobs that are released alone on an idle core",
        "Zephyr (all in kernel mode) 370 to 590; Linux RT 3,584",
        "450",
    ),
    (
        "interrupted thread to scheduler (upcall entry)",
        "timer interrupt until the scheduler runs, nothing decided yet",
        "–",
        "300",
    ),
    (
        "inter-core event (two cores, serialised)",
        "inter-core event until the other core's scheduler runs, nothing decided yet, both cores' work",
        "–",
        "–",
    ),
    (
        "interrupt to released task, partitioned-edf",
        "device interrupt until the user task that it releases runs: decision, budget and record included",
        "seL4 MCS 725 without a decision",
        "550",
    ),
    (
        "interrupt to released task, each in a sporadic server",
        "the same, with the budget of a sporadic server",
        "–",
        "–",
    ),
    (
        "message to released task, partitioned-edf",
        "from the call that sends a message until the more urgent task that it releases runs in another domain",
        "–",
        "400",
    ),
    (
        "message to its job's release, recorded, partitioned-edf",
        "the same until its job is released: decided and recorded, with who runs then",
        "–",
        "400",
    ),
    (
        "critical section, entered and left, ceiling",
        "enter and leave a critical section under a ceiling that nobody else wants",
        "Composite 23; Zephyr mutex 68; Linux RT 129",
        "30",
    ),
    (
        "critical section, handed over, inheritance",
        "from the end of a section until the more urgent job that asked for its resource has it, by inheritance",
        "–",
        "600",
    ),
    ("fault to scheduler", "fault until its handler runs", "seL4 606; seL4 MCS 697", "350"),
    (
        "end of job to next task's job, partitioned-edf, 10 tasks",
        "end of a job until the next task's job runs, through the root scheduler with records",
        "–",
        "–",
    ),
    (
        "end of job to next task's job, partitioned-edf, 10 tasks, floating point",
        "the same until the next job has executed its first instruction of the floating-point unit, both with floating point",
        "–",
        "–",
    ),
];

/// Writes the page.
pub fn write(folder: &Path, entry: &Entry) -> Result<(), Failure> {
    fs::write(folder.join("kernel.md"), text(entry)).map_err(machine)
}

fn text(entry: &Entry) -> String {
    let mut text = format!(
        "# What the kernel's paths cost\n\n\
         Made by `./tactus bench kernel --keep` on {}, commit {}, {}. All runs so far: `history.jsonl`.\n\n\
         The unit is one guest instruction on one core: with `-icount shift=0` the time-stamp counter counts them. An \
         instruction count does not see what address-space changes, interrupts and device accesses cost on a real \
         processor, so these stand beside each figure: **CR3** writes, **int**errupts or exceptions, accesses to the local \
         **APIC** and to model-specific registers (**MSR**), distinct **bytes** of code on the path, and the **lines** of 64 \
         bytes that hold them, which is what an empty cache has to fetch before anything else. They are counted, not read off \
         the sources: the same programs run once more with every instruction told by the emulator (`-d in_asm,exec`), and \
         the path is what is executed between the two readings. *Followed* is the length of the most frequent such path, to be \
         compared with the median. *Cycles* are modelled by the fit to seL4's published results: \
         1.2 × instructions + 304 × CR3 + 505 × interrupts + 133. An estimate, not a law. What each path is made of: \
         [kernel-paths.md](kernel-paths.md).\n\n\
         Where two readings of the counter enclose a path, the cost of an empty pair is subtracted. Measured are whole \
         paths as a component sees them, stubs of `tactus-rt` included, with rights checked, registers cleaned and time \
         charged.\n\n## Beside peers\n\nPeers' medians, in the same emulator and counting.\n\n\
         A dash: no peer was measured from the same \
         begin to the same end. Peers' figures are of paths that decide who runs next wherever ours does.\n\n\
         | operation | peers | our bar | ours, median | ours, worst | CR3 | int | APIC, MSR | cycles |\n\
         |---|---|--:|--:|--:|--:|--:|--:|--:|\n",
        entry.date, entry.commit, entry.machine
    );
    for (name, operation, peers, bar) in PEERS {
        let Some(figure) = entry.figures.iter().find(|figure| figure.name == name) else { continue };
        let _ =
            writeln!(text, "| {operation} | {peers} | {bar} | **{}** | {} {}", figure.median, figure.max, dear(figure));
    }
    if let Some(bytes) = entry.smallest_memory {
        let _ = writeln!(
            text,
            "| smallest memory that works, one core, two tasks | Zephyr 2 MB; seL4 16 MB | 4 MB | **{} MiB** | | | | | |",
            bytes >> 20
        );
    }
    let (policies, calls): (Vec<&Figure>, Vec<&Figure>) =
        entry.figures.iter().partition(|figure| figure.name.ends_with(" tasks"));
    let (library, calls): (Vec<&Figure>, Vec<&Figure>) =
        calls.into_iter().partition(|figure| figure.name.starts_with("library: "));
    text.push_str("\n## Calls, switches, interrupts, faults\n\n");
    table(&mut text, &calls);
    text.push_str(
        "\nThe inter-core event is the sum of what both cores did, since emulated cores take turns: its median is \
         usable, its least and greatest are not.\n\n## Through the scheduler library\n\nThe root scheduler is the \
         library of `os/sched` with fixed priorities, two threads. From before the first thread's call of the library's \
         function, inside the scheduler, until the second one's has come back there; for those that a user's thread asks \
         for, from before its invocation until the other one has returned to its component. What the kernel counts of a \
         thread's time in its slot, and the library then takes from there, is *accounting*; without it the kernel still \
         charges the thread itself.\n\n",
    );
    table(&mut text, &library);
    text.push_str(
        "\n## Through the root scheduler\n\nOne core, the real policy, 30 % of \
         it busy. A decision reaches from the scheduler's look at the clock before it to the one after it, records \
         included.\n\n",
    );
    table(&mut text, &policies);
    let _ = writeln!(
        text,
        "\nLongest stretch inside the kernel over all these runs: {} instructions.\n\n## Bytes\n\n\
         | program | text | rodata | data | bss |\n|---|--:|--:|--:|--:|\n{}\n{}",
        entry.longest_in_kernel,
        bytes("kernel", entry.kernel_bytes),
        bytes("root scheduler", entry.scheduler_bytes)
    );
    text
}

fn bytes(name: &str, of: Sections) -> String {
    format!("| {name} | {} | {} | {} | {} |", of.text, of.rodata, of.data, of.bss)
}

fn table(text: &mut String, figures: &[&Figure]) {
    text.push_str(
        "| operation | n | min | median | p99 | max | followed | bytes | lines | CR3 | int | APIC, MSR | cycles |\n",
    );
    text.push_str("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for f in figures {
        let _ = write!(text, "| {} | {} | {} | {} | {} | {} ", f.name, f.n, f.min, f.median, f.p99, f.max);
        let _ = match &f.path {
            Some(path) => write!(text, "| {} | {} | {} ", path.followed, path.code_bytes, path.code_lines),
            None => write!(text, "| – | – | – "),
        };
        let _ = writeln!(text, "{}", dear(f));
    }
}

/// The cells of what an instruction count does not see, and of modelled cycles.
fn dear(figure: &Figure) -> String {
    match (&figure.path, figure.modelled_cycles) {
        (Some(path), Some(cycles)) => {
            format!("| {} | {} | {} | {cycles} |", path.cr3, path.interrupts, path.apic + path.msr)
        }
        _ => "| – | – | – | – |".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of Linux come from a script that anyone can run, `lab/studies/peers/linux-rt/pairs.sh`.
    #[test]
    fn figures_of_linux_are_those_of_the_script_that_measures_them() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/measured/linux-pairs.md");
        let page = fs::read_to_string(page).expect("the script's page");
        let mut count = 0;
        for (ours, _, peers, _) in PEERS {
            let Some((_, linux)) = peers.split_once("Linux RT ") else { continue };
            let linux = linux.split([';', '(']).next().unwrap_or_default().trim().replace(',', "");
            for figure in linux.split(" to ") {
                assert!(page.contains(&format!("| **{figure}** |")), "{ours}: {figure} is no median of linux-pairs.md");
                count += 1;
            }
        }
        assert!(count >= 7, "{count}");
    }
}
