//! Sets the budgets of the tree, lets it run, and looks at who had how much.
#![no_std]
#![no_main]

use core::fmt::{self, Write};
use tactus_rt::calls::text;
use tactus_rt::{grant, Job};

tactus_rt::component! { job: boot, services: [] }

const MILLISECOND: u64 = 1_000_000;
/// Between the two looks.
const LENGTH: u64 = 200 * MILLISECOND;
/// How the machine says that all is well, or not.
const HELD: u64 = 0x10;
const BROKEN: u64 = 0x11;

struct Console;

impl Write for Console {
    fn write_str(&mut self, words: &str) -> fmt::Result {
        text(words);
        Ok(())
    }
}

/// Waits so long.
fn wait(nanos: u64) {
    let _ = grant("timeout").call([nanos, 0, 0, 0, 0]);
    let _ = grant("block").call([0; 5]);
}

/// Names of the workers, and what each of them should have of a core, in thousandths.
const WORKERS: [(&str, u64); 4] = [("left_one", 250), ("left_two", 250), ("inner_one", 100), ("inner_two", 100)];

fn looked() -> [u64; 4] {
    WORKERS.map(|(name, _)| grant(name).call([0; 5]).map_or(0, |[worked, _]| worked))
}

fn boot(_: &Job) {
    // Half of the core to the left child, a fifth to the right one.
    for (server, budget) in [(1, 5), (2, 2)] {
        let _ = grant("server").call([server, budget * MILLISECOND, 10 * MILLISECOND, 0, 0]);
    }
    let _ = grant("timed").call([0; 5]);
    wait(40 * MILLISECOND);
    let before = looked();
    wait(LENGTH);
    let after = looked();
    let mut held = true;
    for (((name, share), before), after) in WORKERS.iter().zip(before).zip(after) {
        let had = (after - before) * 1000 / LENGTH;
        let good = had.abs_diff(*share) <= 15;
        held &= good;
        let _ = writeln!(Console, "{name:<10} {had:>4} of 1000, expected {share:>4}  {}", if good { "" } else { "WRONG" });
    }
    let _ = writeln!(Console, "verdict: {}", if held { "every budget was kept" } else { "a budget was broken" });
    let _ = grant("end").call([if held { HELD } else { BROKEN }, 0, 0, 0, 0]);
}
