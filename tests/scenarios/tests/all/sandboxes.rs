//! Several kernels on one machine, each in a sandbox: each keeps what it was promised, scheduling takes no exit, and a kernel that is
//! destroyed moves nothing beside it by more than the turns of the emulated machine.

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
struct Ran {
    status: Option<i32>,
    output: String,
    folder: PathBuf,
    all: serde_json::Value,
    _scratch: Scratch,
}

impl Ran {
    fn of(system: &Path, duration: &str, variables: &[(&str, OsString)]) -> Ran {
        let scratch = Scratch::new("sandboxes");
        let folder = scratch.path().join("out");
        let mut call = Command::new(command());
        call.arg("run").arg(system).args(["--duration", duration, "--out"]).arg(&folder).current_dir(root());
        let said = call.envs(variables.iter().map(|(name, value)| (name, value))).output().expect("the command starts");
        let output = [said.stdout, said.stderr].map(|words| String::from_utf8_lossy(&words).into_owned()).concat();
        let all = fs::read_to_string(folder.join("sandboxes.json")).unwrap_or_else(|error| panic!("{error}: {output}"));
        let all = serde_json::from_str(&all).expect("it is JSON");
        Ran { status: said.status.code(), output, folder, all, _scratch: scratch }
    }

    fn sandbox(&self, name: &str) -> &serde_json::Value {
        let all = self.all["sandboxes"].as_array().expect("the sandboxes");
        all.iter().find(|it| it["name"] == name).expect("a sandbox of this name")
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.join(name).join("trace.bin")).expect("a run leaves it")
    }

    fn records(&self, name: &str) -> Vec<Record> {
        let trace = Trace::read(self.folder.join(name).join("trace.bin")).expect("a trace that can be read");
        trace.cores.into_iter().flatten().collect()
    }
}

#[test]
fn two_kernels_keep_what_each_was_promised_with_two_exits_each_and_again_byte_for_byte() {
    let run = || Ran::of(&file(EXAMPLE), "100 ms", &[]);
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
        assert!(first.records(name).len() > 50);
    }
}

/// Runs of two and of four sandboxes, as many as `TACTUS_REPEATS` says.
#[test]
#[ignore = "40 runs of the machine"]
fn two_and_four_sandboxes_leave_the_same_bytes_in_every_run() {
    let repeats = std::env::var("TACTUS_REPEATS").ok().and_then(|it| it.parse().ok()).unwrap_or(20);
    let scratch = Scratch::new("sandboxes");
    let text = fs::read_to_string(file(EXAMPLE)).expect("the example");
    let (head, boxes) = text.split_at(text.find("[[sandbox]]").expect("a sandbox"));
    let again = boxes.replace("\"critical\"", "\"second\"").replace("\"rich\"", "\"third\"");
    let four = scratch.write("four.toml", &format!("{head}{boxes}{again}"));
    for (system, names) in
        [(file(EXAMPLE), &["critical", "rich"][..]), (four, &["critical", "rich", "second", "third"])]
    {
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

/// Ways in which a kernel destroys itself (`os/kernel/src/arch/destruction.rs`), and what the monitor says of it; nothing where it stands
/// still for ever.
const WAYS: [(u32, Option<&str>); 7] = [
    (1, Some("it failed while it handled a failure")),
    (2, None),
    (3, None),
    (4, Some("it gave up with code 0x71")),
    (5, Some("it gave up with code 0x71")),
    (6, Some("it failed while it handled a failure")),
    (7, Some("it failed while it handled a failure")),
];

/// A run of this length whose rich kernel destroys itself in this way then.
fn destroyed(way: u32, at: u64, duration: &str) -> Ran {
    // In a folder of its own: other tests may build the usual kernel at the same time.
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let variables = [
        ("CARGO_TARGET_DIR", target.join("destruction").into()),
        ("TACTUS_KERNEL_FEATURES", "tactus-kernel/destruction".into()),
        ("TACTUS_DESTROYED", format!("rich={way}@{at}").into()),
    ];
    Ran::of(&file(EXAMPLE), duration, &variables)
}

/// The records are the same ones, in their order on each core; by how much their times differ at most.
fn largest_difference(one: &[Record], other: &[Record]) -> Duration {
    let what = |it: &Record| (it.kind, it.task, it.job);
    let jobs = |records: &[Record]| -> Vec<_> {
        let own = records.iter().filter(|it| DECISIONS.contains(&it.kind)).map(|it| (what(it), it.time));
        own.collect()
    };
    let (one, other) = (jobs(one), jobs(other));
    assert_eq!(one.len(), other.len());
    let differences = one.iter().zip(&other).map(|((a, at), (b, other))| {
        assert_eq!(a, b, "at {at}");
        at.as_nanos().abs_diff(other.as_nanos())
    });
    Duration::from_nanos(differences.max().unwrap_or(0))
}

/// By how much a neighbour's records may move: a turn of each other core of three is 5 µs (2,500 instructions of 2 ns), and
/// `tactus_abi::turns::Turns::latest` has 27.5 µs for how late a core may see its timer then.
const LATEST: Duration = Duration::from_nanos(27_500);

/// The critical kernel keeps every promise and its schedule; the rich one is started again, if its monitor learns of its death.
fn moves_its_neighbour_little(way: u32, said: Option<&str>, at: u64, duration: &str, alone: &Ran) -> Duration {
    let ran = destroyed(way, at, duration);
    let (critical, rich) = (ran.sandbox("critical"), ran.sandbox("rich"));
    assert_eq!((&critical["held"], &rich["held"]), (&true.into(), &false.into()), "{way}: {}", ran.output);
    assert_eq!(ran.status, Some(1), "{}", ran.output);
    assert_eq!(rich["restarts"], u64::from(said.is_some()), "{way}: {rich:#}");
    match said {
        None => assert!(ran.output.contains("its kernel did not end its run in time"), "{way}: {}", ran.output),
        Some(words) => {
            let why = rich["death"]["why"].as_str().expect("it died");
            assert!(why.contains(words), "{way}: {why}");
            let time = |value: &serde_json::Value| value.as_u64().expect("a time");
            let (died, entered, first) =
                (time(&rich["death"]["at_ns"]), time(&rich["death"]["entered_ns"]), time(&rich["first_job_ns"]));
            assert!(died >= 100_000_000 + at && entered > died && first > entered, "{way}: {rich:#}");
            println!(
                "way {way}: entered again {} ns after its death, first job {} ns after it",
                entered - died,
                first - died
            );
            assert!(first - died < 40_000_000, "{way}: {rich:#}");
        }
    }
    let moved = largest_difference(&alone.records("critical"), &ran.records("critical"));
    println!("way {way} at {at}: the neighbour's records differ by {moved} at most");
    assert!(moved <= LATEST, "{way} at {at}: {moved}");
    moved
}

#[test]
fn a_kernel_that_is_destroyed_moves_its_neighbour_by_turns_at_most_and_comes_back() {
    let alone = destroyed(1, u64::MAX / 4, "60 ms");
    assert_eq!(alone.status, Some(0), "{}", alone.output);
    for (way, said) in [WAYS[0], WAYS[1], WAYS[3]] {
        moves_its_neighbour_little(way, said, 12_345_678, "60 ms", &alone);
    }
}

/// All ways at 20 instants each, or as many as `TACTUS_DESTRUCTIONS` says.
#[test]
#[ignore = "140 runs of the machine"]
fn a_kernel_that_is_destroyed_in_any_way_at_any_time_moves_its_neighbour_by_turns_at_most() {
    let instants = std::env::var("TACTUS_DESTRUCTIONS").ok().and_then(|it| it.parse().ok()).unwrap_or(20_u64);
    let alone = destroyed(1, u64::MAX / 4, "100 ms");
    let mut most = Duration::ZERO;
    for (way, said) in WAYS {
        for n in 0..instants {
            // Spread over the run, each at another place of the hyperperiod.
            let at = 1_000_000 + n * 58_000_000 / instants.max(1) + n * 7_919 + u64::from(way) * 104_729;
            most = most.max(moves_its_neighbour_little(way, said, at, "100 ms", &alone));
        }
    }
    println!("{} destructions: the neighbour's records differ by {most} at most", WAYS.len() as u64 * instants);
}
