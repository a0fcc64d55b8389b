//! `tactus test`: everything that must hold before a change is good, and nothing else.
//!
//! Each step is one line with its time and the processor time that it took; a step that fails shows the end of what it said. The
//! ten test programs that took longest are named. The last line, alone, is `N passed, N failed, N skipped`: every test of cargo
//! counts one, and so does every other step. Skipped are steps that this computer cannot do, and tests that are ignored
//! because they take long.

mod cost;
mod python;
mod tools;

use crate::arguments::{Test, TestKind};
use std::env;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;
use tactus_machine::emulator::Emulator;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::place;
use tactus_machine::toolchain::Toolchain;
use tactus_machine::watch::tail;
use tactus_model::Processor;
use tactus_terminal::lines;
use tactus_terminal::progress::Wait;
use tools::Tools;

/// How many test programs are named with their time.
const SLOWEST: usize = 10;

/// How much of a failing step is shown.
const TAIL_LINES: usize = 60;

/// A step that cargo does: its kind and name, the workspace's folder, cargo's words, and variables of the environment.
type Step<'a> = (TestKind, &'static str, &'static str, &'static [&'static str], &'a [(&'static str, &'a str)]);

/// The target of the bare machine.
const BARE: &str = "x86_64-unknown-none";

/// What tests whole systems, and is built with them.
const SCENARIO_LINTS: [&str; 4] = ["clippy", "--all-targets", "-p", "tactus-scenarios"];

/// What runs on the bare machine.
const BARE_LINTS: [&str; 26] = [
    "clippy",
    "--quiet",
    "--release",
    "--target",
    BARE,
    "-p",
    "tactus-kernel",
    "-p",
    "tactus-sandbox",
    "-p",
    "tactus-rt",
    "-p",
    "tactus-scheduler",
    "-p",
    "tactus-per-server",
    "-p",
    "tactus-workload",
    "-p",
    "tactus-net",
    "--features",
    "tactus-rt/apex-c",
    "--",
    "-D",
    "warnings",
    "-D",
    "clippy::undocumented_unsafe_blocks",
];

/// What has another heap than schedulers have.
const HEAP_LINTS: [&str; 12] = [
    "clippy",
    "--quiet",
    "--release",
    "--target",
    BARE,
    "-p",
    "tactus-block",
    "--",
    "-D",
    "warnings",
    "-D",
    "clippy::undocumented_unsafe_blocks",
];

/// Whole systems, as many at a time as this computer has processors: an emulated machine takes one. The command is named, of which no
/// test is meant, so that libraries have the features with which the front door has built them, and are not built again.
const SCENARIOS: [&str; 10] =
    ["test", "--release", "--no-fail-fast", "-p", "tactus-scenarios", "-p", "tactus-cli", "--lib", "--test", "*"];

/// Those of the laboratory.
const LAB_SCENARIOS: [&str; 5] = ["test", "--release", "--no-fail-fast", "-p", "tactus-lab-scenarios"];

/// Under a model checker: locks.
const LOOM: [&str; 6] = ["test", "--release", "--no-fail-fast", "-p", "tactus-sync", "--test=loom"];

/// Under model checkers: the structures that cores share, and policies made of them.
const LAB_LOOM: [&str; 8] = [
    "test",
    "--release",
    "--no-fail-fast",
    "-p",
    "tactus-compared-structures",
    "-p",
    "tactus-mc2-variants",
    "--test=loom",
];
const LAB_SHUTTLE: [&str; 6] =
    ["test", "--release", "--no-fail-fast", "-p", "tactus-compared-structures", "--test=shuttle"];

/// Models are compiled by all cores, and nobody debugs them.
const UNITS: (&str, &str) = ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
const DEBUG: (&str, &str) = ("CARGO_PROFILE_RELEASE_DEBUG", "0");
/// Random orders take less time than a compiler that takes care; the models of all orders take more.
const CARELESS: (&str, &str) = ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0");

/// How many tests went which way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Count {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Count {
    fn of(good: bool) -> Count {
        Count { passed: u64::from(good), failed: u64::from(!good), skipped: 0 }
    }
    fn add(&mut self, other: Count) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// What all steps have in common.
struct Round {
    root: PathBuf,
    /// The folder of builds.
    target: String,
    own: Tools,
    linting: Tools,
}

/// What came of steps.
#[derive(Default)]
struct Results {
    count: Count,
    /// Test programs with how long each took, s.
    slow: Vec<(f64, String)>,
}

/// Runs the tests: two rows of steps side by side, since each row alone leaves processors idle where a test program has one thread, and
/// where a compiler waits for one crate.
pub fn test(arguments: &Test) -> Result<Outcome, Failure> {
    let root = place::root()?;
    let own = Tools::own();
    let linting = arguments.lints_by.as_deref().map_or_else(|| Ok(own.clone()), Tools::of)?;
    let target = env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| root.join("target").display().to_string());

    // A build of its own for each checker, beside the ordinary one.
    let [loom, shuttle] = ["loom", "shuttle"].map(|name| format!("{target}/{name}"));
    // What the documentation needs of libraries is what the lints before have checked, if it is asked of the same compiler.
    let driver = own.linting_compiler();
    let mut documenting = vec![("RUSTDOCFLAGS", "-D warnings")];
    if let Some(driver) = &driver {
        documenting.extend([("RUSTC_WORKSPACE_WRAPPER", driver.as_str()), ("CLIPPY_ARGS", "")]);
    }
    let of_loom = [("RUSTFLAGS", "--cfg loom"), ("CARGO_TARGET_DIR", &*loom), UNITS, DEBUG];
    let of_shuttle = [("RUSTFLAGS", "--cfg shuttle"), ("CARGO_TARGET_DIR", &*shuttle), UNITS, DEBUG, CARELESS];
    let (main, lab) = (".", "lab");
    let of_the_system: [Step; 8] = [
        (TestKind::Format, "format", main, &["fmt", "--all", "--check"], &[]),
        (TestKind::Lints, "lints", main, &["clippy", "--all-targets"], &[]),
        (TestKind::Lints, "lints, scenarios", main, &SCENARIO_LINTS, &[]),
        (TestKind::Lints, "lints, bare machine", main, &BARE_LINTS, &[]),
        (TestKind::Lints, "lints, with a heap", main, &HEAP_LINTS, &[]),
        (TestKind::Unit, "unit", main, &["test", "--no-fail-fast"], &[]),
        (TestKind::Docs, "docs", main, &["doc", "--quiet", "--no-deps"], &documenting),
        // Optimised, so that what the front door has built is not built again.
        (TestKind::Scenarios, "scenarios", main, &SCENARIOS, &[]),
    ];
    // What is optimised comes first, since the other row begins with what is not: two builds in one folder wait for each other.
    let beside: [Step; 9] = [
        (TestKind::Lab, "lab, format", lab, &["fmt", "--check"], &[]),
        // Optimised, as command and scenarios are: most of its libraries are compiled once for all three.
        (TestKind::Lab, "lab, unit", lab, &["test", "--release", "--no-fail-fast"], &[]),
        (TestKind::Lab, "lab, command", lab, &["build", "--release", "-p", "tactus-lab"], &[]),
        (TestKind::Lab, "lab, scenarios", lab, &LAB_SCENARIOS, &[]),
        (TestKind::Models, "models, loom", main, &LOOM, &of_loom),
        (TestKind::Lab, "lab, models, loom", lab, &LAB_LOOM, &of_loom),
        (TestKind::Lab, "lab, models, shuttle", lab, &LAB_SHUTTLE, &of_shuttle),
        (TestKind::Lab, "lab, lints", lab, &["clippy", "--workspace", "--all-targets"], &[]),
        (TestKind::Lab, "lab, docs", lab, &["doc", "--quiet", "--no-deps"], &documenting),
    ];
    let wanted = |kind| arguments.only.is_none_or(|only| only == kind) && !arguments.without.contains(&kind);
    let round = Round { root, target, own, linting };
    let row = |steps: &[Step]| {
        let mut results = Results::default();
        for step in steps.iter().filter(|step| wanted(step.0)) {
            round.step_of_cargo(step, &mut results)?;
        }
        Ok::<Results, Failure>(results)
    };
    let (one, other) = thread::scope(|scope| {
        let beside = scope.spawn(|| {
            let mut results = row(&beside)?;
            if wanted(TestKind::Python) {
                round.step_of_python(&mut results)?;
            }
            Ok(results)
        });
        (row(&of_the_system), beside.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    let (Results { mut count, mut slow }, other) = (one?, other?);
    count.add(other.count);
    slow.extend(other.slow);
    slow.sort_by(|a: &(f64, String), b| b.0.total_cmp(&a.0));
    for (n, (seconds, program)) in slow.iter().take(SLOWEST).enumerate() {
        lines::line(if n == 0 { "slowest" } else { "" }, format!("{seconds:6.1} s   {program}"));
    }
    lines::put(&format!("{} passed, {} failed, {} skipped\n", count.passed, count.failed, count.skipped));
    Ok(Outcome::held_if(count.failed == 0))
}

impl Round {
    fn step_of_cargo(
        &self,
        &(kind, name, workspace, words, variables): &Step,
        results: &mut Results,
    ) -> Result<(), Failure> {
        // fmt and clippy are parts that a toolchain may come without; the others are not.
        let parts = matches!(words[0], "fmt" | "clippy");
        let tools = if parts { &self.linting } else { &self.own };
        if parts && !tools.has_part(words[0]) {
            let none = format!("this toolchain has no cargo {}; --lints-by names another one's folder", words[0]);
            results.count.skipped += left_out(name, &none);
            return Ok(());
        }
        if words.contains(&BARE) && !tools.has_compiled_core() {
            results.count.skipped += left_out(name, "this toolchain has no compiled `core` for the bare machine");
            return Ok(());
        }
        let mut command = tools.cargo();
        command.args(words).current_dir(self.root.join(workspace)).envs(variables.iter().copied());
        if workspace != "." && !variables.iter().any(|(name, _)| *name == "CARGO_TARGET_DIR") {
            command.env("CARGO_TARGET_DIR", &self.target);
        }
        if let (TestKind::Scenarios, Some(why)) = (kind, lacks(Processor::Arm)) {
            command.args(["--", "--skip", Processor::Arm.name()]);
            results.count.skipped += left_out(&format!("{name}, {}", Processor::Arm.name()), &why);
        }
        if matches!(kind, TestKind::Scenarios | TestKind::Lab) {
            command.env("TACTUS_BIN", env::current_exe().map_err(|error| Failure::Machine(error.to_string()))?);
        }
        step(name, command, words[0] == "test", results)
    }
    fn step_of_python(&self, results: &mut Results) -> Result<(), Failure> {
        match python::prepare(&Path::new(&self.target).join("python-tools")) {
            Err(missing) => results.count.skipped += left_out("python", &format!("{missing}; see docs/python.md")),
            Ok(python) => {
                let mut command = Command::new(python.program);
                command.arg(self.root.join("python/check.py")).arg(format!("{}/python", self.target));
                command.current_dir(&self.root).env("PATH", python.path);
                step("python", command, false, results)?;
            }
        }
        Ok(())
    }
}

/// What this computer lacks to boot systems on the processor.
fn lacks(processor: Processor) -> Option<String> {
    let emulator = Emulator::find(processor).map_err(|missing| missing.to_string());
    let toolchain = Toolchain::find().and_then(|it| it.building_for(processor)).map_err(|missing| missing.to_string());
    emulator.map(drop).and(toolchain.map(drop)).err()
}

/// Tells that a step is left out, and why; counts as one.
fn left_out(name: &str, why: &str) -> u64 {
    lines::line("test", format!("{name:<24} left out: {why}"));
    1
}

/// Does one step and tells how it went. With `counts`, the tests that it ran are read from what it said.
fn step(name: &str, mut command: Command, counts: bool, results: &mut Results) -> Result<(), Failure> {
    let begin = Instant::now();
    let progress = Wait::new(name, "");
    let ran = cost::run(command.stdin(Stdio::null())).map_err(|error| {
        Failure::Machine(format!("{} does not start: {error}", Path::new(command.get_program()).display()))
    });
    progress.end();
    let (output, processor) = ran?;
    let said = String::from_utf8_lossy(&output.stdout);
    let good = output.status.success() && warnings(&String::from_utf8_lossy(&output.stderr)) == 0;
    if counts {
        results.slow.extend(cost::programs(&said, &String::from_utf8_lossy(&output.stderr)));
    }
    let mut count = if counts { count_tests(&said) } else { Count::default() };
    // A step that does not count by itself, or that failed outside of a test (it did not compile), is one.
    if count.passed + count.failed == 0 || (!good && count.failed == 0) {
        count.add(Count::of(good));
    }
    let seconds = begin.elapsed().as_secs_f64();
    let processor = processor.as_secs_f64();
    let result = match (good, counts) {
        (true, true) => lines::good(format!("{} passed", lines::grouped(count.passed))),
        (true, false) => lines::good("passed"),
        (false, true) => lines::bad(format!("{} passed, {} failed", count.passed, count.failed)),
        (false, false) => lines::bad("failed"),
    };
    let mut text =
        lines::keyed("test", format!("{name:<24} {seconds:6.1} s   {processor:6.1} s of processor   {result}"));
    if !good {
        let words = String::from_utf8_lossy(&output.stderr);
        let (words, shown) =
            if counts { (complaints(&words), failures(&said)) } else { (words.into_owned(), tail(&said, TAIL_LINES)) };
        text.push_str(&format!("{}\n{shown}\n", tail(&words, TAIL_LINES)));
    }
    // At once: another row of steps speaks too.
    lines::put(&text);
    results.count.add(count);
    Ok(())
}

/// How many of the things that cargo compiled have warnings: `warning: `tactus-sim` (lib) generated 2 warnings`. Told to be quiet, it does not
/// say so.
fn warnings(words: &str) -> usize {
    words.lines().filter(|line| line.starts_with("warning: `") && line.contains(" generated ")).count()
}

/// Adds up cargo's lines `test result: ok. 12 passed; 0 failed; …`.
fn count_tests(said: &str) -> Count {
    let mut count = Count::default();
    for line in said.lines().filter(|line| line.starts_with("test result:")) {
        let number_before = |word: &str| -> u64 {
            let mut words = line.split_whitespace().rev().skip_while(|w| w.trim_end_matches(';') != word);
            words.nth(1).and_then(|n| n.parse().ok()).unwrap_or(0)
        };
        count.add(Count {
            passed: number_before("passed"),
            failed: number_before("failed"),
            skipped: number_before("ignored"),
        });
    }
    count
}

/// What was said of each test that failed, its beginning and its end; of those that did not fail, nothing.
fn failures(said: &str) -> String {
    let (mut shown, mut block) = (Vec::new(), Vec::new());
    let mut failing = false;
    for line in said.lines() {
        let ends = line == "failures:" || line.starts_with("test result:");
        if ends || (failing && line.starts_with("---- ")) {
            shown.append(&mut shortened(&block));
            block.clear();
        }
        failing = line == "failures:" || (failing && !ends);
        if failing && line != "failures:" {
            block.push(line);
        }
    }
    shown.join("\n")
}

/// The first and the last lines of what a test said.
fn shortened<'a>(block: &[&'a str]) -> Vec<&'a str> {
    match block {
        [first @ .., _] if first.len() >= TAIL_LINES => {
            let half = TAIL_LINES / 2;
            [&block[..half], &["..."], &block[block.len() - half..]].concat()
        }
        _ => block.to_vec(),
    }
}

/// What cargo said besides which program it compiles and runs.
fn complaints(words: &str) -> String {
    let chat = ["Checking", "Compiling", "Running", "Finished", "Doc-tests", "Blocking", "Downloading", "Downloaded"];
    let told = |line: &&str| !line.starts_with(' ') || !chat.iter().any(|it| line.trim_start().starts_with(it));
    words.lines().filter(told).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_all_test_programs_are_added_up() {
        let said = "running 2 tests\ntest a ... ok\n\
            test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
            test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        assert_eq!(count_tests(said), Count { passed: 15, failed: 2, skipped: 1 });
    }

    #[test]
    fn what_is_shown_is_what_each_failing_test_said() {
        let said = "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\nwhy\n\n\nfailures:\n    b\n\n\
            test result: FAILED. 1 passed; 1 failed\nrunning 1 test\ntest c ... ok\ntest result: ok. 1 passed; 0 failed";
        let shown: Vec<String> = failures(said).lines().filter(|line| !line.is_empty()).map(str::to_string).collect();
        assert_eq!(shown, ["---- b stdout ----", "why", "    b"]);
    }

    #[test]
    fn a_long_failure_is_shown_with_its_beginning_and_its_end() {
        let long: String = (0..200).map(|n| format!("line {n}\n")).collect();
        let shown = failures(&format!("failures:\n---- b stdout ----\n{long}test result: FAILED. 0 passed; 1 failed"));
        assert!(shown.starts_with("---- b stdout ----\nline 0\n") && shown.ends_with("\nline 199"), "{shown}");
        assert_eq!(shown.lines().count(), TAIL_LINES + 1);
    }

    #[test]
    fn a_warning_of_the_compiler_is_no_success() {
        let words = "warning: unused variable\n  --> src/a.rs\nwarning: `tactus-sim` (lib test) generated 1 warning\n     Running b";
        assert_eq!(warnings(words), 1);
        assert_eq!(warnings("   Compiling a v0.1.0\n     Running `b` generated"), 0);
    }

    #[test]
    fn of_cargos_words_errors_are_shown() {
        assert_eq!(
            complaints("   Compiling a v0.1.0\nerror: no\n  --> src/a.rs\n     Running b"),
            "error: no\n  --> src/a.rs"
        );
    }
}
