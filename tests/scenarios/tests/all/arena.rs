//! Random calls of every kind, valid and invalid, from a tree of schedulers, clients, a driver with brands, a memory manager
//! and victims, on four cores at once (`examples/hostile/arena.toml`): every call and every error is seen, the kernel stays
//! on its feet, and a witness beside them keeps its memory, its registers, its order and its time.
//!
//! The long runs, each seed told, and the same with a kernel that looks at all its objects on each way out:
//!
//! ```text
//! cargo test --release -p tactus-scenarios --test all arena:: -- --ignored --nocapture
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use tactus_scenarios::{command, file, root, stretches, Scratch};

/// Which kernel runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kernel {
    Usual,
    /// One that looks at its objects.
    Checked,
    /// One that looks at all of them seldom, and at what goes on always.
    Sampled,
    /// One that breaks a rule as well, if it is asked to.
    Planted,
}

impl Kernel {
    fn feature(self) -> Option<&'static str> {
        match self {
            Kernel::Usual => None,
            Kernel::Checked => Some("check"),
            Kernel::Sampled => Some("sample"),
            Kernel::Planted => Some("fault-injection"),
        }
    }
}

/// What a run told.
struct Told {
    /// How often each call (by its number; 16 for numbers that are no calls) ended with each error (0: success).
    ended: BTreeMap<(u64, u64), u64>,
    /// Names of the errors.
    names: BTreeMap<u64, String>,
    /// Components that were stopped.
    stopped: Vec<String>,
    /// Of each core: jobs of the witness, a digest of their order, ticks that it had, in how many turns.
    witness: Vec<(u64, String, u64, u64)>,
    calls: u64,
    log: String,
}

/// Calls by number, for people.
const CALLS: [&str; 17] = [
    "Null",
    "Invoke",
    "Return",
    "SwitchThread",
    "Notify",
    "Text",
    "Finish",
    "Panic",
    "SchedulerControl",
    "CreateThread",
    "BrandControl",
    "Trigger",
    "UpcallDone",
    "MemoryControl",
    "Restart",
    "TriggerRemote",
    "(none)",
];
/// Numbers of errors that are looked for in a table.
const MOST_ERRORS: u64 = 63;
/// All errors. `TooDeep` is met once in twenty million calls only: the image builder refuses systems in which plain calls could
/// go so deep.
const ERRORS: std::ops::RangeInclusive<u64> = 1..=34;
const TOO_DEEP: u64 = 10;

/// Lets the arena run with this seed (0: nobody makes calls), on so many cores, for so long.
fn arena(seed: u32, cores: u64, duration: &str, kernel: Kernel) -> Told {
    let (told, words) = run(&format!("arena-{seed}"), cores, duration, kernel);
    let log = &told.log;
    assert!(log.lines().any(|line| line.starts_with("calls: ")), "it did not come to its end:\n{words}\n{log}");
    println!("seed {seed}, {duration}: {} calls", told.calls);
    told
}

/// A run under this name, and what the command said.
fn run(name: &str, cores: u64, duration: &str, kernel: Kernel) -> (Told, String) {
    let scratch = Scratch::new("arena");
    let folder = file("examples/hostile/arena");
    let text = fs::read_to_string(file("examples/hostile/arena.toml")).expect("the system is there");
    let text = text.replace("\"arena-1\"", &format!("{name:?}"));
    let text = text.replace("crate = \"arena\"", &format!("crate = {:?}", folder.display().to_string()));
    let text = text.replace("cores = 4", &format!("cores = {cores}"));
    let system = scratch.write("arena.toml", &text);
    let out = scratch.path().join("out");
    let mut call = std::process::Command::new(command());
    call.arg("run").arg(&system).args(["--duration", duration, "--out"]).arg(&out).current_dir(root());
    if let Some(feature) = kernel.feature() {
        // In a folder of its own: other tests may build the usual kernel at the same time.
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
        call.env("CARGO_TARGET_DIR", target.join(feature));
        call.env("TACTUS_KERNEL_FEATURES", format!("tactus-kernel/{feature}"));
    }
    let said = call.output().expect("the command starts");
    if kernel == Kernel::Usual {
        stretches::note(&out);
    }
    let log = String::from_utf8_lossy(&fs::read(out.join("run.log")).unwrap_or_default()).into_owned();
    let told = Told::read(&log);
    let words = [said.stdout, said.stderr].map(|words| String::from_utf8_lossy(&words).into_owned()).concat();
    (told, words)
}

impl Told {
    fn read(log: &str) -> Told {
        let mut told = Told {
            ended: BTreeMap::new(),
            names: BTreeMap::new(),
            stopped: Vec::new(),
            witness: Vec::new(),
            calls: 0,
            log: log.to_string(),
        };
        for line in log.lines() {
            let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
            let number = |place: usize| words.get(place).and_then(|word| word.parse().ok()).unwrap_or(0);
            match words[..] {
                ["ended:", ..] => {
                    told.ended.insert((number(2), number(4)), number(6));
                    told.names.insert(number(4), words.last().unwrap_or(&"").to_string());
                }
                ["stopped:", name, ..] => told.stopped.push(name.to_string()),
                ["core", _, "witness:", ..] => {
                    told.witness.push((number(3), words[6].to_string(), number(8), number(11)));
                }
                ["calls:", ..] => told.calls = number(1),
                _ => {}
            }
        }
        told
    }

    /// How often the call succeeded.
    fn granted(&self, call: u64) -> u64 {
        self.ended.get(&(call, 0)).copied().unwrap_or(0)
    }

    /// How often the error was met.
    fn met(&self, error: u64) -> u64 {
        self.ended.iter().filter(|((_, it), _)| *it == error).map(|(_, count)| count).sum()
    }

    /// Calls that never succeeded, and errors that were never met.
    fn missing(&self) -> (Vec<&str>, Vec<u64>) {
        let calls = (0..16).filter(|&call| self.granted(call) == 0).map(|call| CALLS[call as usize]);
        (calls.collect(), ERRORS.filter(|&error| self.met(error) == 0).collect())
    }

    fn add(&mut self, other: &Told) {
        self.names.extend(other.names.clone());
        for (place, count) in &other.ended {
            *self.ended.entry(*place).or_default() += count;
        }
        self.calls += other.calls;
    }

    fn print(&self) {
        for (call, name) in CALLS.iter().enumerate() {
            let of = self.ended.iter().filter(|((it, error), _)| *it == call as u64 && *error != 0);
            let refused: Vec<String> = of.map(|((_, error), count)| format!("{error}: {count}")).collect();
            println!("{name:<16} {:>9} granted; refused with {}", self.granted(call as u64), refused.join(", "));
        }
        for error in (1..=MOST_ERRORS).filter(|&error| self.met(error) != 0) {
            let name = self.names.get(&error).map_or("?", String::as_str);
            println!("error {error:>2} {name:<20} {:>9} times", self.met(error));
        }
        println!("{} calls in all, {} granted", self.calls, (0..16).map(|call| self.granted(call)).sum::<u64>());
    }
}

/// The kernel stayed on its feet, and the witness kept its memory and its registers.
fn stood(told: &Told) {
    let log = &told.log;
    assert!(!log.contains("tactus: broken rule") && !log.contains("kernel panic"), "{log}");
    let whole = "broken: memory 0, read-only pages 0, registers 0, told 0";
    assert!(log.lines().any(|line| line == whole), "{log}");
}

/// Nobody but victims was stopped, and the witness has all that it has where nobody makes calls.
fn harmed_nobody(told: &Told, quiet: &Told) {
    stood(told);
    let log = &told.log;
    let known = |name: &String| name.starts_with("victim");
    assert!(told.stopped.iter().all(known), "{:?} were stopped:\n{log}", told.stopped);
    assert_eq!(told.witness.len(), 4);
    for (here, there) in told.witness.iter().zip(&quiet.witness) {
        assert_eq!(here.1, there.1, "the witness's jobs came in another order:\n{log}");
        // A turn of 400,000 ticks in each period. Where cores take turns, the others' end on top.
        let share = here.2 as f64 / (here.3 * 400_000) as f64;
        assert!((0.95..1.1).contains(&share), "the witness had {share} of its time:\n{log}");
        // What it did in a turn.
        let (one, other) = (here.0 as f64 / here.3 as f64, there.0 as f64 / there.3 as f64);
        assert!((one / other - 1.0).abs() < 0.2, "{one} jobs in a turn, {other} where nobody makes calls:\n{log}");
    }
}

/// How many runs the host makes at once.
fn parallel() -> usize {
    std::thread::available_parallelism().map_or(1, |it| it.get())
}

/// What comes of all these, in their order, as many at once as the host has cores.
fn at_once<T: Sync, R: Send>(all: &[T], run: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let some = |some: &[T]| -> Vec<R> {
        std::thread::scope(|scope| {
            let runs: Vec<_> = some.iter().map(|it| scope.spawn(|| run(it))).collect();
            runs.into_iter().map(|run| run.join().expect("the run came to its end")).collect()
        })
    };
    all.chunks(parallel()).flat_map(some).collect()
}

/// So many calls at least, seed after seed, as many at once as the host has cores. Runs are short: a machine that shows no trace
/// may take two minutes of real time, which a busy host can make of a run of some seconds.
fn many(calls: u64, seeds: std::ops::Range<u32>, duration: &str, kernel: Kernel) -> Told {
    let quiet = arena(0, 4, "200 ms", Kernel::Usual);
    let mut all = Told::read("");
    let seeds: Vec<u32> = seeds.collect();
    for some in seeds.chunks(parallel()) {
        for told in at_once(some, |&seed| arena(seed, 4, duration, kernel)) {
            // Its looks take the witness's time.
            match kernel {
                Kernel::Usual => harmed_nobody(&told, &quiet),
                _ => stood(&told),
            }
            all.add(&told);
        }
        if all.calls >= calls {
            break;
        }
        println!("{} calls so far", all.calls);
    }
    all.print();
    assert!(all.calls >= calls, "{} calls are too few", all.calls);
    all
}

#[test]
fn three_hundred_thousand_calls_of_all_kinds_harm_nobody() {
    let told = many(300_000, 2..3, "320 ms", Kernel::Usual);
    assert_eq!(told.missing().0, ["Finish"], "Finish ended the run");
    assert!(told.missing().1.len() <= 3, "errors never met: {:?}", told.missing().1);
}

#[test]
#[ignore = "takes a quarter of an hour, more on a busy host; run by name"]
fn a_hundred_million_calls_of_all_kinds_harm_nobody() {
    let told = many(100_000_000, 1..1_000, "1 s", Kernel::Usual);
    let (calls, errors) = told.missing();
    assert_eq!(calls, ["Finish"], "Finish ended the run");
    assert!(errors.iter().all(|&error| error == TOO_DEEP), "errors never met: {errors:?}");
}

#[test]
#[ignore = "takes a quarter of an hour; run by name"]
fn a_million_calls_break_no_rule_of_the_kernels_objects() {
    let told = many(1_200_000, 1..1_000, "400 ms", Kernel::Checked);
    let (calls, _) = told.missing();
    assert_eq!(calls, ["Finish"], "Finish ended the run");
}

#[test]
#[ignore = "takes most of an hour; run by name"]
fn a_hundred_million_calls_break_no_rule_that_is_looked_at_now_and_then() {
    let told = many(100_000_000, 1..1_000, "1 s", Kernel::Sampled);
    let (calls, errors) = told.missing();
    assert_eq!(calls, ["Finish"], "Finish ended the run");
    assert!(errors.iter().all(|&error| error == TOO_DEEP), "errors never met: {errors:?}");
}

/// What the kernel can be asked to break, and the rule that finds it (`os/kernel/src/check/fault_injection.rs`); the first breaks nothing.
const PLANTED: [Option<&str>; 19] = [
    None,
    Some("a core has the thread that it runs"),
    Some("a core has the thread that it runs, and its root upcall, and no other"),
    Some("who runs is active"),
    Some("nobody runs in a component that this core was told to leave"),
    Some("the root schedules every thread"),
    Some("a thread's schedulers are one path"),
    Some("a thread's schedulers are one path"),
    Some("a tree: one root, and every parent one step closer to it"),
    Some("a tree: one root, and every parent one step closer to it"),
    Some("a tree: one root, and every parent one step closer to it"),
    Some("a component's promotions are counted upwards"),
    Some("a scheduler's upcalls are its parent's to dispatch"),
    Some("a slot has one holder"),
    Some("used and idle time add up to what elapsed"),
    Some("a component sees what the image gave it"),
    Some("windows show frames that were given out, as often as is noted, and the others are free"),
    Some("windows show frames that were given out, as often as is noted, and the others are free"),
    Some("windows show frames that were given out, as often as is noted, and the others are free"),
];

#[test]
fn each_rule_that_is_broken_on_purpose_is_found_broken() {
    let ways: Vec<usize> = (0..PLANTED.len()).collect();
    let plant = |&way: &usize| run(&format!("plant-{way}-arena-1"), 4, "110 ms", Kernel::Planted);
    for (way, (told, words)) in ways.iter().zip(at_once(&ways, plant)) {
        // Another core may have been in the middle of a line.
        let found = told.log.lines().find_map(|line| line.split_once("tactus: broken rule: ")).map(|(_, it)| it);
        let found = found.and_then(|it| it.rsplit_once(" (")).map(|(it, _)| it);
        println!("planted {way}: {}", found.unwrap_or("nothing, and nothing was found"));
        assert_eq!(found, PLANTED[*way], "{words}\n{}", told.log);
        // Only the first comes to its end.
        assert_eq!(told.witness.len(), if found.is_none() { 4 } else { 0 }, "{words}\n{}", told.log);
    }
}

/// The kernel's own mistakes, as it is asked to make them after those above, and what the processor says to each.
const MISTAKES: [&str; 3] =
    ["kernel fault 8 (error 0x0)", "kernel fault 14 (error 0x3)", "kernel fault 14 (error 0x3)"];

#[test]
fn the_kernel_can_neither_outgrow_its_stack_nor_write_its_own_text() {
    let ways: Vec<usize> = (PLANTED.len()..PLANTED.len() + MISTAKES.len()).collect();
    let plant = |&way: &usize| run(&format!("plant-{way}-arena-1"), 1, "110 ms", Kernel::Planted);
    for ((way, (told, words)), wanted) in ways.iter().zip(at_once(&ways, plant)).zip(MISTAKES) {
        let said = told
            .log
            .lines()
            .find_map(|line| line.split_once("tactus: ")?.1.starts_with("kernel fault").then_some(line));
        println!("planted {way}: {}", said.unwrap_or("nothing"));
        assert!(said.is_some_and(|line| line.contains(wanted)), "{words}\n{}", told.log);
        let outgrown = said.is_some_and(|line| line.ends_with("the kernel's stack is too small"));
        assert_eq!(outgrown, *way == PLANTED.len(), "{}", told.log);
    }
}

#[test]
#[ignore = "takes half a minute; run by name"]
fn on_one_core_no_stretch_in_the_kernel_is_longer_than_1500_instructions() {
    let told = arena(1, 1, "1 s", Kernel::Usual);
    let line = told.log.lines().find(|line| line.starts_with("core 0 longest in the kernel: ")).expect("it tells");
    println!("{line}");
    let longest = line.split(' ').find_map(|word| word.parse::<u64>().ok().filter(|&it| it > 0)).expect("a count");
    assert!(longest <= 1_500, "{line}");
}
