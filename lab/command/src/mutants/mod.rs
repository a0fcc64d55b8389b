//! `tactus mutants`: whether the tests of statements notice when the mechanism is taken away.
//!
//! The sources are copied to `target/mutants`, where one mutant of `docs/sources/mutants.toml` after the other is put in, the test
//! programs that are to notice are built, and their tests are run. A mutant is killed if each of its tests fails, or does not end;
//! all other ones are told at the end. Without a mutant each of these tests has to pass, which comes first.

mod copy;

use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::place;
use tactus_machine::watch::tail;
use tactus_sources::mutant::{self, Mutant, Program};
use tactus_terminal::lines;

/// How long a test may take before it counts as one that does not end.
const PATIENCE: Duration = Duration::from_secs(240);

/// How much memory a test may have (KiB): a mutant may ask for all there is.
const MEMORY: u64 = 12 << 20;

/// How much is shown of a build that failed.
const TAIL_LINES: usize = 30;

/// What runs whole systems, and needs the command.
const SCENARIOS: &str = "tactus-scenarios";

/// What came of a test with a mutant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Passed,
    Failed,
    /// It was not among those that the program ran.
    NotRun,
}

/// Options of `mutants`.
#[derive(Debug, Args)]
pub struct Mutants {
    /// Statements or sources, as in 'disk 13' or epos; all if none is named
    #[arg(value_name = "STATEMENT")]
    statements: Vec<String>,
}

/// The copy of the sources and where it is built.
struct Workshop {
    tree: PathBuf,
    build: PathBuf,
    said: PathBuf,
}

/// Runs the mutants that are asked for.
pub fn mutants(arguments: &Mutants) -> Result<Outcome, Failure> {
    let root = place::root()?;
    let chosen = chosen(&root, &arguments.statements)?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let folder = target.join("mutants");
    let (tree, build, said) = (folder.join("tree"), folder.join("build"), folder.join("said"));
    copy::alike(&root, &tree).map_err(|error| Failure::Machine(format!("{}: {error}", tree.display())))?;
    let workshop = Workshop { tree, build, said };

    let mut tests: BTreeMap<Program, BTreeSet<&str>> = BTreeMap::new();
    for test in chosen.iter().flat_map(|mutant| &mutant.tests) {
        if let (Some(program), Some((_, name))) = (Program::of(test, &root), test.rsplit_once("::")) {
            tests.entry(program).or_default().insert(name);
        }
    }
    let begin = Instant::now();
    for (program, names) in &tests {
        let names: Vec<&str> = names.iter().copied().collect();
        let verdicts = workshop.run(program, &names)?;
        let bad = names.iter().zip(verdicts).find(|(_, verdict)| *verdict != Verdict::Passed);
        if let Some((name, verdict)) = bad {
            return Err(Failure::Machine(format!("without a mutant, {name} of {program:?}: {verdict:?}")));
        }
    }
    let count: usize = tests.values().map(BTreeSet::len).sum();
    lines::line("mutants", format!("{count} tests pass without one, {:.0} s", begin.elapsed().as_secs_f64()));

    let mut survivors = Vec::new();
    for mutant in &chosen {
        let begin = Instant::now();
        let result = workshop.judge(mutant, &root)?;
        let word = if result.is_none() { lines::good("killed") } else { lines::bad("not killed") };
        let seconds = begin.elapsed().as_secs_f64();
        lines::line(&mutant.statement, format!("{word}  {seconds:4.0} s  {}", mutant.change()));
        survivors.extend(result.map(|why| vec![mutant.statement.clone(), mutant.change(), why]));
    }
    if !survivors.is_empty() {
        lines::put(&lines::table(&["statement", "mutant", "why it is not killed"], &survivors));
    }
    lines::put(&format!("{} mutants, {} not killed\n", chosen.len(), survivors.len()));
    Ok(Outcome::held_if(survivors.is_empty()))
}

/// The mutants of these statements, or of sources; all where none is named. Those of a file come one after the other.
fn chosen(root: &Path, named: &[String]) -> Result<Vec<Mutant>, Failure> {
    let text = |name: &str| {
        let path = root.join("docs/sources").join(name);
        fs::read_to_string(&path).map_err(|error| Failure::Machine(format!("{}: {error}", path.display())))
    };
    let statements = tactus_sources::read(&text("statements.toml")?)
        .map_err(|all| Failure::Input(all.iter().map(|it| format!("{it}\n")).collect()))?;
    let mut all = mutant::read(&text("mutants.toml")?, &statements, root)
        .map_err(|faults| Failure::Input(format!("docs/sources/mutants.toml: {}", faults.join("\n"))))?;
    let of = |mutant: &Mutant, name: &String| {
        *name == mutant.statement || mutant.statement.rsplit_once(' ').is_some_and(|(source, _)| source == name)
    };
    if let Some(none) = named.iter().find(|name| !all.iter().any(|mutant| of(mutant, name))) {
        return Err(Failure::Input(format!("no mutant is of `{none}`; name a source or a statement, as in 'disk 13'")));
    }
    all.retain(|mutant| named.is_empty() || named.iter().any(|name| of(mutant, name)));
    all.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(all)
}

impl Workshop {
    /// Puts a mutant in, runs its tests and takes it out again. None if it is killed, else why not.
    fn judge(&self, mutant: &Mutant, root: &Path) -> Result<Option<String>, Failure> {
        let path = self.tree.join(&mutant.file);
        let failure = |error| Failure::Machine(format!("{}: {error}", path.display()));
        let text = fs::read_to_string(&path).map_err(failure)?;
        fs::write(&path, text.replacen(&mutant.old, &mutant.new, 1)).map_err(failure)?;
        let mut why = None;
        for test in &mutant.tests {
            let (Some(program), Some((_, name))) = (Program::of(test, root), test.rsplit_once("::")) else { continue };
            match self.run(&program, &[name]) {
                Ok(verdicts) if verdicts == [Verdict::Failed] => {}
                Ok(_) => why = Some(format!("{name} passes")),
                Err(error) => why = Some(error.to_string()),
            }
        }
        fs::write(&path, text).map_err(failure)?;
        Ok(why)
    }

    /// Cargo, in a workspace of the copy.
    fn cargo(&self, workspace: &str, words: &[&str]) -> Command {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .args(words)
            .current_dir(self.tree.join(workspace))
            .env("CARGO_TARGET_DIR", &self.build)
            .stdin(Stdio::null());
        command
    }

    /// Builds a test program, and the command where it starts that; gives where the program lies.
    fn built(&self, program: &Program) -> Result<PathBuf, Failure> {
        let done = |mut command: Command| {
            let output = command.output().map_err(|error| Failure::Machine(format!("cargo: {error}")))?;
            if output.status.success() {
                return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
            }
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(Failure::Machine(format!("it does not compile:\n{}", tail(&words, TAIL_LINES))))
        };
        if program.package == SCENARIOS {
            done(self.cargo("", &["build", "--quiet", "-p", "tactus-cli"]))?;
        }
        let words = ["test", "--quiet", "--no-run", "--message-format=json", "-p", &program.package, &program.target];
        let said = done(self.cargo(&program.workspace, &words))?;
        let made = said.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let mut tests = made.filter(|it| it["profile"]["test"] == true);
        let path = tests.find_map(|it| it["executable"].as_str().map(PathBuf::from));
        path.ok_or_else(|| Failure::Machine(format!("cargo made no test program of {program:?}")))
    }

    /// Runs tests of a program, with a limit of time and memory.
    fn run(&self, program: &Program, names: &[&str]) -> Result<Vec<Verdict>, Failure> {
        let path = self.built(program)?;
        let failure = |error: std::io::Error| Failure::Machine(format!("{}: {error}", path.display()));
        let said = File::create(&self.said).map_err(failure)?;
        let mut child = Command::new("sh")
            .args(["-c", "ulimit -v $0; exec \"$@\""])
            .arg(MEMORY.to_string())
            .arg(&path)
            .args(names)
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", &self.build)
            .env("TACTUS_BIN", self.build.join("debug/tactus"))
            // What one mutant fails with is no case for the next one, and need not be made small.
            .env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1")
            .env("PROPTEST_MAX_SHRINK_ITERS", "0")
            .stdin(Stdio::null())
            .stdout(said)
            .stderr(Stdio::null())
            .spawn()
            .map_err(failure)?;
        let begin = Instant::now();
        while child.try_wait().map_err(failure)?.is_none() {
            if begin.elapsed() > PATIENCE {
                child.kill().map_err(failure)?;
            }
            sleep(Duration::from_millis(20));
        }
        let ended = fs::read(&self.said).map_err(failure)?;
        let ended = String::from_utf8_lossy(&ended);
        Ok(names.iter().map(|name| verdict(&ended, name)).collect())
    }
}

/// What a program's words say of a test: one that began and of which no end is told has failed.
fn verdict(said: &str, name: &str) -> Verdict {
    let ours = |line: &str| line.split_whitespace().next().is_some_and(|path| path.rsplit("::").next() == Some(name));
    let mut results = said.lines().filter_map(|line| line.strip_prefix("test ")).filter(|line| ours(line));
    let begun = said.lines().any(|line| line.starts_with("running ") && !line.starts_with("running 0 "));
    match results.next() {
        Some(line) if line.ends_with(" ok") => Verdict::Passed,
        Some(line) if line.ends_with("ignored") || line.contains(" ignored,") => Verdict::NotRun,
        Some(_) => Verdict::Failed,
        None if begun && !said.contains("test result:") => Verdict::Failed,
        None => Verdict::NotRun,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_killed_by_a_failure_or_by_an_end_that_does_not_come_and_not_by_being_left_out() {
        let said =
            "running 2 tests\ntest a::good ... ok\ntest a::bad ... FAILED\ntest a::long ... ignored, takes long\n\
            test result: FAILED. 1 passed";
        assert_eq!(verdict(said, "good"), Verdict::Passed);
        assert_eq!(verdict(said, "bad"), Verdict::Failed);
        assert_eq!(verdict(said, "long"), Verdict::NotRun);
        assert_eq!(verdict(said, "none"), Verdict::NotRun);
        assert_eq!(verdict("running 1 test\n", "endless"), Verdict::Failed);
        assert_eq!(verdict("running 0 tests\n", "endless"), Verdict::NotRun);
    }
}
