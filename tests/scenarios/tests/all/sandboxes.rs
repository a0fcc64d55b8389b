//! Several kernels on one machine, each in a sandbox: each keeps what it was promised, scheduling takes no exit, and a kernel that is
//! destroyed moves nothing beside it by more than the turns of the emulated machine.
//!
//! What a kernel sends to other cores is held back by an emulator of version 10, which is not everywhere: where it cannot be had, what needs it
//! is passed over, and the rest is shown with files that leave that open.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tactus_record::{EventKind, Record};
use tactus_scenarios::{command, file, root, tactus, Scratch};
use tactus_time::Duration;
use tactus_trace::Trace;

/// What a schedule consists of.
const DECISIONS: [EventKind; 5] =
    [EventKind::Release, EventKind::Dispatch, EventKind::Preempt, EventKind::Complete, EventKind::Idle];

const EXAMPLE: &str = "examples/sandboxes/sandboxes.toml";

/// A run with sandboxes.
pub struct Ran {
    pub status: Option<i32>,
    pub output: String,
    folder: PathBuf,
    pub all: serde_json::Value,
    _scratch: Scratch,
}

impl Ran {
    pub fn of(system: &Path, duration: &str, variables: &[(&str, OsString)]) -> Ran {
        let scratch = Scratch::new("sandboxes");
        let folder = scratch.path().join("out");
        let mut call = Command::new(command());
        call.arg("run").arg(system).args(["--duration", duration, "--out"]).arg(&folder).current_dir(root());
        let said = call.envs(variables.iter().map(|(name, value)| (name, value))).output().expect("the command starts");
        let output = [said.stdout, said.stderr].map(|words| String::from_utf8_lossy(&words).into_owned()).concat();
        let all = fs::read_to_string(folder.join("sandboxes.json")).unwrap_or_default();
        let all = serde_json::from_str(&all).unwrap_or_default();
        Ran { status: said.status.code(), output, folder, all, _scratch: scratch }
    }

    /// Whether the emulator cannot be had that it needs.
    pub fn lacks_emulator(&self) -> bool {
        self.status == Some(3) && self.output.contains("to hold back what a sandbox's kernel sends")
    }

    pub fn sandbox(&self, name: &str) -> &serde_json::Value {
        let all = self.all["sandboxes"].as_array().unwrap_or_else(|| panic!("no result: {}", self.output));
        all.iter().find(|it| it["name"] == name).expect("a sandbox of this name")
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.join(name).join("trace.bin")).expect("a run leaves it")
    }

    pub fn records(&self, name: &str) -> Vec<Record> {
        let trace = Trace::read(self.folder.join(name).join("trace.bin")).expect("a trace that can be read");
        trace.cores.into_iter().flatten().collect()
    }
}

/// The example, and the same with nothing that holds interrupts back.
fn example() -> (String, String) {
    let held = fs::read_to_string(file(EXAMPLE)).expect("the example");
    let open = held.replacen("[[sandbox]]", "[machine]\ninter-core = \"open\"\n\n[[sandbox]]", 1);
    (held, open)
}

#[test]
fn two_kernels_keep_what_each_was_promised_with_two_exits_each_and_again_byte_for_byte() {
    let scratch = Scratch::new("sandboxes");
    let open = scratch.write("open.toml", &example().1);
    let run = || Ran::of(&open, "60 ms", &[]);
    let (first, second) = (run(), run());
    assert_eq!((first.status, &first.all["held"]), (Some(0), &true.into()), "{}", first.output);
    assert!(first.output.contains("inter-core = \"open\""), "{}", first.output);
    let page = fs::read_to_string(first.folder.join("report.html")).expect("the whole has a page");
    assert!(page.contains("data-verdict=\"held\""), "{page}");
    for name in ["critical", "rich"] {
        assert!(page.contains(&format!("{name}/report.html")) && first.folder.join(name).join("report.html").exists());
        let told = first.sandbox(name);
        let exits = told["exits"].as_object().expect("exits by cause");
        assert_eq!((&exits["end_of_the_run"], &exits["modes_turned_on"]), (&1.into(), &1.into()), "{told:#}");
        assert_eq!(exits.values().filter_map(serde_json::Value::as_u64).sum::<u64>(), 2, "{told:#}");
        // Their traces have one time base.
        assert_eq!(told["began_ns"], 100_000_000, "{told:#}");
        assert!(first.bytes(name) == second.bytes(name), "{name}: another run");
        assert!(first.records(name).len() > 30);
    }
}

/// Runs of two and of four sandboxes, as many as `TACTUS_REPEATS` says.
#[test]
#[ignore = "40 runs of the machine"]
fn two_and_four_sandboxes_leave_the_same_bytes_in_every_run() {
    let repeats = std::env::var("TACTUS_REPEATS").ok().and_then(|it| it.parse().ok()).unwrap_or(20);
    let scratch = Scratch::new("sandboxes");
    let (held, open) = example();
    let file = |name: &str, text: &str| scratch.write(name, text);
    for (system, names) in [
        (file("two.toml", &held), &["critical", "rich"][..]),
        (file("four.toml", &four(&held)), &["critical", "rich", "second", "third"]),
        (file("open.toml", &four(&open)), &["critical", "rich", "second", "third"]),
    ] {
        if Ran::of(&system, "30 ms", &[]).lacks_emulator() {
            println!("passed over: {}", system.display());
            continue;
        }
        let of = |_: usize| {
            let ran = Ran::of(&system, "100 ms", &[]);
            assert_eq!(ran.all["held"], true, "{}", ran.output);
            names.iter().map(|name| ran.bytes(name)).collect::<Vec<_>>()
        };
        let first = of(0);
        assert!((1..repeats).all(|n| of(n) == first), "{} sandboxes: another run", names.len());
        println!("{} sandboxes: {repeats} of {repeats} runs the same", names.len());
    }
}

/// The same with as many sandboxes again.
fn four(text: &str) -> String {
    let (head, boxes) = text.split_at(text.find("[[sandbox]]").expect("a sandbox"));
    format!("{head}{boxes}{}", boxes.replace("\"critical\"", "\"second\"").replace("\"rich\"", "\"third\""))
}

#[test]
fn check_and_simulation_take_each_sandbox_as_the_system_that_it_is() {
    let example = file(EXAMPLE);
    let example = example.to_str().expect("a name");
    for verb in ["check", "simulate"] {
        let scratch = Scratch::new("sandboxes");
        let out = scratch.path().join("out");
        let out: &[&str] = if verb == "simulate" { &["--out", out.to_str().expect("a name")] } else { &[] };
        let said = tactus([verb, example].iter().chain(out));
        assert_eq!(said.status, 0, "{}", said.errors);
        // Of the one whose kernel is started again, within which time its first job comes.
        let restart = said.output.lines().filter(|line| line.starts_with("restart ")).count();
        assert_eq!(restart, usize::from(verb == "check"), "{}", said.output);
        for words in ["critical · 1 core · 3 tasks", "rich · 1 core · 2 tasks", "all 2 hold"] {
            assert!(said.output.contains(words), "{verb}: {}", said.output);
        }
    }
    let said = tactus(["explain", example]);
    assert_ne!(said.status, 0, "{}", said.output);
}

/// One that is broken breaks the whole, and is named.
#[test]
fn the_whole_does_not_hold_if_one_sandbox_does_not() {
    let scratch = Scratch::new("sandboxes");
    let text = fs::read_to_string(file(EXAMPLE)).expect("the example");
    let system = scratch.write("overload.toml", &text.replace("execution = \"4 ms\"", "execution = \"9 ms\""));
    let said = tactus(["check", system.to_str().expect("a name")]);
    assert_eq!(said.status, 1, "{}", said.errors);
    assert!(said.output.contains("1 of 2 do not hold: rich"), "{}", said.output);
}

/// Ways in which a kernel destroys itself (`os/kernel/src/arch/x86_64/destruction.rs`).
const WAYS: u32 = 30;
/// Of these, those in which a monitor holds back what goes to other cores: without it they end the machine.
const NEED_HELD_BACK: [u32; 5] = [8, 19, 20, 21, 22];

/// Of these, those in which it stands still.
const SILENT: [u32; 5] = [2, 3, 4, 5, 6];

/// A run whose rich kernel destroys itself in this way then.
fn destroyed(system: &Path, way: u32, at: u64, duration: &str) -> Ran {
    Ran::of(system, duration, &[("TACTUS_DESTROYED", format!("rich={way}@{at}").into())])
}

/// The records are the same ones, in their order on each core; by how much their times differ at most, and by how much of what is `allowed`
/// for one wait. What a core that was idle does comes one wait late at most; so does the end of each job that it executes one after the other,
/// since each is noticed after the others' turns.
pub fn largest_difference(one: &[Record], other: &[Record], allowed: Duration) -> (Duration, bool) {
    let what = |it: &Record| (it.kind, it.task, it.job);
    let jobs = |records: &[Record]| -> Vec<_> {
        let own = records.iter().filter(|it| DECISIONS.contains(&it.kind)).map(|it| (what(it), it.time));
        own.collect()
    };
    let (one, other) = (jobs(one), jobs(other));
    assert_eq!(one.len(), other.len());
    let (mut most, mut within, mut ended) = (0, true, 0);
    for ((a, at), (b, other)) in one.iter().zip(&other) {
        assert_eq!(a, b, "at {at}");
        let difference = at.as_nanos().abs_diff(other.as_nanos());
        if a.0 == EventKind::Complete {
            ended += 1;
        }
        within &= difference <= allowed.as_nanos() * ended.max(1);
        if a.0 == EventKind::Idle {
            ended = 0;
        }
        most = most.max(difference);
    }
    (Duration::from_nanos(most), within)
}

/// By how much one wait may move a neighbour's records: how late a core of this number may see its timer (`tactus_abi::turns::Turns::latest`), where
/// a turn is 2,500 instructions of 2 ns.
pub fn latest(cores: u64) -> Duration {
    const TURN: u64 = 5_000;
    Duration::from_nanos(TURN + 2 * TURN * (cores - 1) + (cores + 1) * TURN / 8)
}

/// The others keep every promise and their schedules; the rich one is started again, and runs to its end. By how much records moved.
fn moves_its_neighbours_little(system: &Path, way: u32, at: u64, duration: &str, alone: &Ran) -> Duration {
    let ran = destroyed(system, way, at, duration);
    let rich = ran.sandbox("rich");
    assert_eq!((ran.status, &rich["held"]), (Some(1), &false.into()), "{way} at {at}: {}", ran.output);
    assert!(rich["restarts"].as_u64() >= Some(1) && rich["dead"] == false, "{way} at {at}: {rich:#}");
    assert!(rich["code"].is_number(), "{way} at {at}: it did not end its run: {rich:#}");
    let time = |value: &serde_json::Value| value.as_u64().expect("a time");
    let (died, entered) = (time(&rich["death"]["at_ns"]), time(&rich["death"]["entered_ns"]));
    assert!(died >= 100_000_000 + at && entered > died && time(&rich["first_job_ns"]) > entered, "{way}: {rich:#}");
    assert_eq!(rich["restarted_in_time"], true, "{way} at {at}: {}", ran.output);
    let (took, bound) = (time(&rich["first_job_ns"]) - died, time(&rich["restart_bound_ns"]));
    assert!(took <= bound && bound < 3 * took, "{way} at {at}: a bound of {bound} for {took}");
    if SILENT.contains(&way) {
        // Noticed within the time that the check tells: ten of the shortest periods, and turns.
        assert!(died <= 100_000_000 + at + 100_200_000, "{way} at {at}: {rich:#}");
    }
    let (mut most, mut within) = (Duration::ZERO, true);
    let all = ran.all["sandboxes"].as_array().expect("the sandboxes");
    for name in all.iter().filter_map(|it| it["name"].as_str()).filter(|name| *name != "rich") {
        let it = ran.sandbox(name);
        assert_eq!((&it["held"], &it["restarts"]), (&true.into(), &0.into()), "{way} at {at}: {}", ran.output);
        let allowed = latest(all.len() as u64 + 1);
        let (difference, kept) = largest_difference(&alone.records(name), &ran.records(name), allowed);
        (most, within) = (most.max(difference), within && kept);
    }
    println!("way {way} at {at}: the neighbours' records differ by {most} at most; {}", rich["death"]["why"]);
    assert!(within, "{way} at {at}: {most}");
    most
}

/// A double fault, and silence.
#[test]
fn a_kernel_that_is_destroyed_moves_its_neighbour_by_turns_at_most_and_comes_back() {
    let scratch = Scratch::new("sandboxes");
    let (held, open) = (file(EXAMPLE), scratch.write("open.toml", &example().1));
    let alone = destroyed(&held, 1, u64::MAX / 4, "30 ms");
    let lacks = alone.lacks_emulator();
    let (system, alone) =
        if lacks { (open.clone(), destroyed(&open, 1, u64::MAX / 4, "30 ms")) } else { (held, alone) };
    assert_eq!(alone.status, Some(0), "{}", alone.output);
    moves_its_neighbours_little(&system, 2, 12_345_678, "30 ms", &alone);
    // Version 7.2 too.
    let alone = if lacks { alone } else { destroyed(&open, 1, u64::MAX / 4, "30 ms") };
    moves_its_neighbours_little(&open, 1, 12_345_678, "30 ms", &alone);
}

/// Two components whose heaps are most of its sandbox's memory: the kernel that starts again fills all of it.
#[test]
fn a_kernel_with_much_memory_comes_back_within_its_bound() {
    let component = |name: &str| {
        format!(
            "\n[[sandbox.component]]\nname = '{name}'\ncrate = '{}'\nheap = '32 MiB'\nuses = {{ console = 'console.write' }}\n\
             [[sandbox.task]]\nname = '{name}-job'\ncomponent = '{name}'\nperiod = '50 ms'\nexecution = '100 us'\n",
            file("examples/heap/allocator").display()
        )
    };
    let console = format!(
        "\n[[sandbox.component]]\nname = 'console'\ncrate = '{}'\nconsole = true\nprovides = ['write']\n",
        file("os/components/services").display()
    );
    let text = example().1.replace("memory = \"64 MiB\"\nrestarts", "memory = \"96 MiB\"\nrestarts");
    let scratch = Scratch::new("sandboxes-memory");
    let system = scratch.write("memory.toml", &(text + &console + &component("one") + &component("other")));
    let ran = destroyed(&system, 1, 12_345_678, "120 ms");
    let rich = ran.sandbox("rich");
    let time = |value: &serde_json::Value| value.as_u64().expect("a time");
    let (took, bound) = (time(&rich["first_job_ns"]) - time(&rich["death"]["at_ns"]), time(&rich["restart_bound_ns"]));
    assert_eq!(rich["restarted_in_time"], true, "{}", ran.output);
    assert!(40_000_000 < took && took <= bound && bound < 2 * took, "a bound of {bound} for {took}");
}

/// What the monitor counts of interrupts that a kernel sends: to itself they arrive, to others they are lost; and its memory has none.
#[test]
fn interrupts_to_other_cores_are_lost_and_counted_and_memory_has_none() {
    let count = |ran: &Ran, cause: &str| ran.sandbox("rich")["exits"][cause].as_u64().expect("a cause");
    let ran = destroyed(&file(EXAMPLE), 19, 12_345_678, "30 ms");
    if ran.lacks_emulator() {
        return println!("passed over: {}", ran.output);
    }
    let [own, others, unmasked] =
        ["interrupts_to_itself", "interrupts_to_others", "interrupts"].map(|cause| count(&ran, cause));
    // 8,192 commands; of those to itself it takes what nothing masks.
    assert_eq!(own + others, 8_192, "{}", ran.output);
    assert!(own > 200 && unmasked > 100 && unmasked < own, "{own} {unmasked}");
    assert_eq!((&ran.all["inter_core"], &ran.sandbox("critical")["held"]), (&"held".into(), &true.into()));
    assert!(ran.output.contains("none of their kernels can interrupt or stop another's core"), "{}", ran.output);
    let ran = destroyed(&file(EXAMPLE), 20, 12_345_678, "30 ms");
    let why = ran.sandbox("rich")["death"]["why"].as_str().expect("it died");
    assert!(why.contains("it touched 0xfee00310"), "{why}");
    assert_eq!(ran.sandbox("critical")["held"], true, "{}", ran.output);
}

/// Where the emulator cannot be had, it is said why, and what to do.
#[test]
fn without_a_later_emulator_a_file_that_needs_it_is_refused_with_the_remedy() {
    let ran = Ran::of(&file(EXAMPLE), "30 ms", &[("TACTUS_ONLY_PATH", "1".into())]);
    // Where the one in `PATH` is late enough there is nothing to refuse.
    if ran.status != Some(0) {
        assert!(ran.lacks_emulator(), "{}", ran.output);
        assert!(ran.output.contains("inter-core = \"open\" under [machine]") && ran.output.contains("backports"));
    }
}

/// All ways at five instants each, or as many as `TACTUS_DESTRUCTIONS` says, beside three others.
#[test]
#[ignore = "150 runs of the machine"]
fn a_kernel_that_is_destroyed_in_any_way_at_any_time_moves_its_neighbours_by_turns_at_most() {
    let instants = std::env::var("TACTUS_DESTRUCTIONS").ok().and_then(|it| it.parse().ok()).unwrap_or(5_u64);
    let scratch = Scratch::new("sandboxes");
    let (held, open) = example();
    let (held, open) = (scratch.write("four.toml", &four(&held)), scratch.write("open.toml", &four(&open)));
    let lacks = Ran::of(&held, "30 ms", &[]).lacks_emulator();
    let system = if lacks { &open } else { &held };
    let alone = destroyed(system, 1, u64::MAX / 4, "60 ms");
    assert_eq!(alone.status, Some(0), "{}", alone.output);
    let (mut most, mut count) = (Duration::ZERO, 0);
    for way in (1..=WAYS).filter(|way| !lacks || !NEED_HELD_BACK.contains(way)) {
        for n in 0..instants {
            // Spread over the run, each at another place of the hyperperiod.
            let at = 1_000_000 + n * 48_000_000 / instants.max(1) + n * 7_919 + u64::from(way) * 104_729;
            most = most.max(moves_its_neighbours_little(system, way, at, "60 ms", &alone));
            count += 1;
        }
    }
    println!("{count} destructions in four sandboxes: the others' records differ by {most} at most");
}

/// A kernel is killed at random instants, as many as `TACTUS_KILLS` says: its first job comes within the bound, beside one sandbox and three.
#[test]
#[ignore = "100 runs of the machine"]
fn a_kernel_that_is_killed_at_random_instants_comes_back_within_its_bound() {
    let kills = std::env::var("TACTUS_KILLS").ok().and_then(|it| it.parse().ok()).unwrap_or(100_u64);
    let scratch = Scratch::new("sandboxes");
    let (held, open) = example();
    let (two, four) = (scratch.write("two.toml", &open), scratch.write("four.toml", &four(&held)));
    let four = if Ran::of(&four, "30 ms", &[]).lacks_emulator() { &two } else { &four };
    let mut drawn = 0x9e37_79b9_7f4a_7c15_u64;
    for system in [&two, four] {
        let (mut worst, mut least, mut bound) = (0, u64::MAX, 0);
        for _ in 0..kills / 2 {
            // Xorshift.
            drawn ^= drawn << 13;
            drawn ^= drawn >> 7;
            drawn ^= drawn << 17;
            let at = drawn % 60_000_000;
            let ran = destroyed(system, 1, at, "61 ms");
            let rich = ran.sandbox("rich");
            assert_eq!(
                (&rich["restarts"], &rich["restarted_in_time"]),
                (&1.into(), &true.into()),
                "{at}: {}",
                ran.output
            );
            let time = |value: &serde_json::Value| value.as_u64().expect("a time");
            let took = time(&rich["first_job_ns"]) - time(&rich["death"]["at_ns"]);
            (worst, least, bound) = (worst.max(took), least.min(took), time(&rich["restart_bound_ns"]));
        }
        println!("{} kills: {least} to {worst} ns, at most {bound}", kills / 2);
    }
}
