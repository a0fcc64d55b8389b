//! What the tests cost: processor time of a step, and which test programs took longest.

use rustix::io::Errno;
use rustix::process::{waitid, Pid, WaitId, WaitIdOptions};
use std::io::{self, Read};
use std::panic::resume_unwind;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use std::{fs, thread};

/// Runs the command to its end: what it said, and the processor time that it and all its children took; zero if the system does not tell.
pub fn run(command: &mut Command) -> io::Result<(Output, Duration)> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let id = child.id();
    let (said, complained) = (child.stdout.take(), child.stderr.take());
    let (stdout, stderr) = thread::scope(|scope| {
        let complained = scope.spawn(|| all_of(complained));
        (all_of(said), complained.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    // Its account is open until it is waited for.
    let process = WaitId::Pid(Pid::from_child(&child));
    while let Err(Errno::INTR) = waitid(process.clone(), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {}
    let account = fs::read_to_string(format!("/proc/{id}/stat"));
    let used = account.ok().and_then(|line| used(&line)).unwrap_or_default();
    Ok((Output { status: child.wait()?, stdout: stdout?, stderr: stderr? }, used))
}

fn all_of(stream: Option<impl Read>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        stream.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The 14th to the 17th field of a `stat` file (proc(5)) together, hundredths of a second: of the process, and of its children that have
/// ended and were waited for, theirs included.
fn used(line: &str) -> Option<Duration> {
    // The second field is a name in brackets, which may hold anything.
    let fields = line[line.rfind(')')? + 1..].split_whitespace().skip(11).take(4);
    let hundredths: Vec<u64> = fields.map(str::parse).collect::<Result<_, _>>().ok()?;
    (hundredths.len() == 4).then(|| Duration::from_millis(10 * hundredths.iter().sum::<u64>()))
}

/// The test programs of cargo's words with how long each took (s). Cargo names each program before it starts it, on one stream; the
/// program says how long it took, on the other: both in the same order. None if they do not match, as where one was aborted.
pub fn programs(said: &str, words: &str) -> Vec<(f64, String)> {
    let named = words.lines().filter_map(|line| {
        let line = line.trim_start();
        let program = line.strip_prefix("Running ").map(|it| it.strip_prefix("unittests ").unwrap_or(it));
        let binary = |it: &str| it.rsplit('/').next().unwrap_or(it).trim_end_matches(')').to_string();
        let name = |it: &str| {
            let (file, program) = it.split_once(" (").unwrap_or((it, it));
            let program = binary(program);
            format!("{} ({file})", program.rsplit_once('-').map_or(program.as_str(), |(name, _)| name))
        };
        program.map(name).or_else(|| line.strip_prefix("Doc-tests ").map(|it| format!("{it} (documentation)")))
    });
    let named: Vec<String> = named.collect();
    let took = |line: &str| line.rsplit_once("finished in ")?.1.trim_end_matches('s').parse::<f64>().ok();
    let took: Vec<f64> = said.lines().filter(|line| line.starts_with("test result:")).filter_map(took).collect();
    if named.len() == took.len() {
        took.into_iter().zip(named).collect()
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_process_and_its_children_is_behind_a_name_with_brackets() {
        let line = "7 (a) R b) S 1 7 7 0 -1 4194304 100 0 0 0 1 2 250 47 20 0 1";
        assert_eq!(used(line), Some(Duration::from_secs(3)));
        assert_eq!(used("7 (a) S 1"), None);
    }

    #[test]
    fn of_two_programs_at_a_time_each_has_its_own_words_and_its_own_time() {
        let busy = |rounds: u32, word: &str| {
            let loop_ =
                format!("i=0; while [ $i -lt {rounds} ]; do i=$((i+1)); done; echo {word}; echo no >&2; exit 3");
            run(Command::new("sh").args(["-c", &format!("sh -c '{loop_}'; exit $?")])).expect("a shell")
        };
        let ((long, much), (short, little)) = thread::scope(|scope| {
            let long = scope.spawn(|| busy(1_000_000, "long"));
            let short = busy(1, "short");
            (long.join().expect("no panic"), short)
        });
        assert_eq!((&*long.stdout, &*short.stdout), (&b"long\n"[..], &b"short\n"[..]));
        assert_eq!((&*long.stderr, long.status.code()), (&b"no\n"[..], Some(3)));
        assert!(much > 3 * little, "{much:?} and {little:?}");
    }

    #[test]
    fn each_program_has_the_time_that_it_said() {
        let words =
            "   Compiling a v0.1.0\n     Running unittests src/lib.rs (target/debug/deps/tactus_model-0f)\n     \
            Running tests/broken.rs (target/debug/deps/broken-0f)\n   Doc-tests tactus_model\n";
        let said = "test result: ok. 1 passed; 0 failed; finished in 0.25s\n\
            test result: ok. 1 passed; 0 failed; finished in 12.00s\ntest result: ok. 0 passed; finished in 0.00s\n";
        let named = |time, name: &str| (time, name.to_string());
        let all = [
            named(0.25, "tactus_model (src/lib.rs)"),
            named(12.0, "broken (tests/broken.rs)"),
            named(0.0, "tactus_model (documentation)"),
        ];
        assert_eq!(programs(said, words), all);
        assert_eq!(programs("", words), []);
    }
}
