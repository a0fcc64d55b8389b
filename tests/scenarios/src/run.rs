//! Calling the command.

use crate::files::Scratch;
use crate::system::{Kernel, Summary};
use crate::{root, stretches};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tactus_trace::Trace;

/// The command, wherever it was built.
pub fn command() -> PathBuf {
    if let Some(named) = std::env::var_os("TACTUS_BIN") {
        return named.into();
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let path = target.join("release/tactus");
    assert!(path.exists(), "{} is not there: run `cargo build --release -p tactus-cli` or ./tactus", path.display());
    path
}

/// What a command said and how it ended.
#[derive(Clone, Debug)]
pub struct Said {
    /// Exit status.
    pub status: i32,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub errors: String,
}

/// Calls the command in the root of the workspace.
pub fn tactus<S: AsRef<OsStr>>(words: impl IntoIterator<Item = S>) -> Said {
    call(&command(), words)
}

/// Calls this program there.
pub fn call<S: AsRef<OsStr>>(program: &Path, words: impl IntoIterator<Item = S>) -> Said {
    call_with(program, words, &[])
}

fn call_with<S: AsRef<OsStr>>(
    program: &Path,
    words: impl IntoIterator<Item = S>,
    variables: &[(&str, OsString)],
) -> Said {
    let mut call = Command::new(program);
    call.args(words).envs(variables.iter().cloned()).current_dir(root()).stdin(Stdio::null());
    let output = call.output().expect("the command starts");
    let words: Vec<_> = call.get_args().collect();
    if let Some(at) = words.iter().position(|word| *word == "--out") {
        words.get(at + 1).into_iter().for_each(|folder| stretches::note(Path::new(folder)));
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said {
        status: output.status.code().expect("no signal ended it"),
        output: text(&output.stdout),
        errors: text(&output.stderr),
    }
}

/// A run that came to its end, whatever its verdict, and all that it left.
#[derive(Debug)]
pub struct Finished {
    /// What the command said.
    pub said: Said,
    /// `summary.json`.
    pub summary: Summary,
    /// `run.log`.
    pub log: String,
    folder: PathBuf,
    _scratch: Scratch,
}

impl Finished {
    /// `tactus run FILE` with more words, into a folder of its own. Panics if the run did not come to its end.
    pub fn run(file: &Path, more: &[&str]) -> Finished {
        Finished::of("run", file, more, &[])
    }

    /// The same with a kernel that looks at its own objects on its ways out (`os/kernel/src/check.rs`), which takes so long that nothing is
    /// said of promises.
    pub fn run_checked(file: &Path, more: &[&str]) -> Finished {
        // In a folder of its own: other tests may build the usual kernel at the same time.
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
        let features = OsString::from("tactus-kernel/check");
        let variables = [("CARGO_TARGET_DIR", target.join("check").into()), ("TACTUS_KERNEL_FEATURES", features)];
        Finished::of("run", file, more, &variables)
    }

    /// `tactus simulate FILE` with more words, into a folder of its own. There is no `log`.
    pub fn simulate(file: &Path, more: &[&str]) -> Finished {
        Finished::of("simulate", file, more, &[])
    }

    fn of(verb: &str, file: &Path, more: &[&str], variables: &[(&str, OsString)]) -> Finished {
        let scratch = Scratch::new(verb);
        let folder = scratch.path().join("out");
        let mut words = vec![OsStr::new(verb), file.as_os_str(), OsStr::new("--out"), folder.as_os_str()];
        words.extend(more.iter().map(OsStr::new));
        let said = call_with(&command(), words, variables);
        assert!(said.status < 2, "{} ended with {}:\n{}\n{}", file.display(), said.status, said.output, said.errors);
        let summary = fs::read_to_string(folder.join("summary.json")).expect("a run leaves a summary");
        let log = fs::read(folder.join("run.log")).unwrap_or_default();
        let finished = Finished {
            said,
            summary: Summary::read(&summary),
            log: String::from_utf8_lossy(&log).into_owned(),
            folder,
            _scratch: scratch,
        };
        if variables.is_empty() {
            finished.one_verdict();
        }
        finished
    }

    /// Where it left its results.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Summary, exit status, terminal, page and console tell the same verdict, in every scenario.
    fn one_verdict(&self) {
        let outcome = self.summary.outcome();
        let held = matches!(outcome, "held" | "nothing_promised");
        assert_eq!(self.said.status, i32::from(!held), "{outcome}:\n{}", self.said.output);
        let page = self.text("report.html");
        assert!(page.contains(&format!("data-verdict=\"{outcome}\"")), "the page does not say {outcome}");
        let sentence = |words: &str| self.said.output.contains(words);
        let said = match outcome {
            "held" => sentence("every promise held"),
            "nothing_promised" | "refused" => sentence("nothing was promised"),
            "no_job_ended" | "not_judged" => sentence("nothing can be said"),
            "void" => sentence("void by"),
            "stopped" => sentence(" was stopped") || sentence(" were stopped"),
            _ => sentence("broken: "),
        };
        assert!(said, "{outcome}:\n{}", self.said.output);
        let console = self.log.lines().rev().find_map(|line| line.strip_prefix("verdict: "));
        // A simulated run has no console.
        let Some(console) = console else { return };
        let expected: &[&str] = match outcome {
            "held" => &["every promise held"],
            "nothing_promised" => &["nothing was promised"],
            "refused" => &["nothing was promised", "nothing was promised, and a component was stopped"],
            // What the trace has no room for the console knows.
            "not_judged" => &["every promise held", "nothing was promised"],
            "no_job_ended" => &["no job of a promised task came to its end or to its bound"],
            "stopped" => &[
                "a component was stopped",
                "nothing was promised, and a component was stopped",
                "not every promise held",
            ],
            // The console knows jobs, not the rules of a schedule: those are judged from the trace.
            _ if sentence("broken: a rule of every schedule was broken") => {
                &["not every promise held", "nothing was promised", "every promise held", "a component was stopped"]
            }
            _ => &["not every promise held"],
        };
        // It says so where it judges none of the promises, or not all of them.
        let in_part = console == "every promise that is judged here held, the others are judged from the trace";
        let from_trace = console == "the promises are judged from the trace"
            || in_part && matches!(outcome, "held" | "not_judged" | "void" | "broken");
        assert!(
            from_trace || expected.contains(&console),
            "{outcome}, but the console says: {console}\n{}",
            self.said.output
        );
    }

    /// A file that the run left.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The text of a file that the run left.
    pub fn text(&self, name: &str) -> String {
        let path = self.file(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The trace.
    pub fn trace(&self) -> Trace {
        Trace::read(self.file("trace.bin")).expect("a run leaves a trace that can be read")
    }

    /// Names of the components, by their numbers.
    pub fn components(&self) -> Vec<String> {
        let kept: serde_json::Value = serde_json::from_str(&self.text("run.json")).expect("run.json is JSON");
        let names = kept["components"].as_array().expect("the components' names");
        names.iter().map(|name| name.as_str().expect("a name").to_string()).collect()
    }

    /// What the kernel counted on each core, as the console tells it.
    pub fn kernel(&self) -> Vec<Kernel> {
        Kernel::read(&self.log)
    }
}
