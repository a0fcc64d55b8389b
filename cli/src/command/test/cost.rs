//! What the tests cost: processor time of a step, and which test programs took longest.

use std::fs;
use std::time::Duration;

/// Processor time of all children that have ended and were waited for, theirs included; zero if the system does not tell.
pub fn of_children() -> Duration {
    fs::read_to_string("/proc/self/stat").ok().and_then(|line| children(&line)).unwrap_or_default()
}

/// The 16th and 17th field of a `stat` file (proc(5)) together: hundredths of a second.
fn children(line: &str) -> Option<Duration> {
    // The second field is a name in brackets, which may hold anything.
    let mut fields = line[line.rfind(')')? + 1..].split_whitespace().skip(13);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (next()? + next()?)))
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
    fn the_time_of_children_is_behind_a_name_with_brackets() {
        let line = "7 (a) R b) S 1 7 7 0 -1 4194304 100 0 0 0 1 2 250 50 20 0 1";
        assert_eq!(children(line), Some(Duration::from_secs(3)));
        assert_eq!(children("7 (a) S 1"), None);
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
