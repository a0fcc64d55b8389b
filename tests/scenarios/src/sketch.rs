//! System files of servers and tasks, in a few words each.
//!
//! Everything happens on whole milliseconds, but that jobs take a little less than that: so that the system's own work,
//! microseconds, moves no event over another one.

use crate::Scratch;
use std::path::PathBuf;
use tactus_time::Duration;

/// How long the system runs.
pub const RUN: Duration = Duration::from_millis(500);

/// What jobs take less than told (µs).
pub const LESS: u64 = 60;

/// Writes the file: a head, and `rest` inside `[policy]` and behind it. Gives its path.
pub fn file(scratch: &Scratch, name: &str, cores: usize, policy: &str, rest: &str) -> PathBuf {
    let text = format!(
        "[system]\nname = \"{name}\"\ncores = {cores}\nduration = \"{RUN}\"\n[machine]\ninstruction = \"1 ns\"\n\
         [policy]\nkind = \"{policy}\"\n{rest}"
    );
    scratch.write(&format!("{name}.toml"), &text)
}

/// A server: budget and period in milliseconds, and more lines of it.
pub fn server(name: &str, more: &str, budget: u64, period: u64) -> String {
    format!("[[server]]\nname = \"{name}\"\nbudget = \"{budget} ms\"\nperiod = \"{period} ms\"\n{more}\n")
}

/// A task on a core: more lines of it; offset, period and execution in milliseconds.
pub fn task(name: &str, core: usize, more: &str, [offset, period, execution]: [u64; 3]) -> String {
    let actual = execution * 1_000 - LESS;
    format!(
        "[[task]]\nname = \"{name}\"\ncore = {core}\noffset = \"{offset} ms\"\nperiod = \"{period} ms\"\n\
         execution = \"{execution} ms\"\nactual = \"{actual} us\"\n{more}\n"
    )
}
