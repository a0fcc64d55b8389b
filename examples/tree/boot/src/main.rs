//! Lets a tree run, and looks at who had how much. What to expect stands in the names of its grants: `share_250_left` expects of that
//! worker 250 thousandths of a core.
#![no_std]
#![no_main]

use core::fmt::Write;
use tactus_rt::abi::layout::MAX_GRANTS;
use tactus_rt::abi::shared::name_text;
use tactus_rt::{grant, info, now, Job, Screen};

tactus_rt::component! { job: boot, services: [] }

const MILLISECOND: u64 = 1_000_000;
/// Between the two looks.
const LENGTH: u64 = 200 * MILLISECOND;
/// How the machine says that all is well, or not.
const HELD: u64 = 0x10;
const BROKEN: u64 = 0x11;

/// Waits so long.
fn wait(nanos: u64) {
    let _ = grant("timeout").call([nanos, 0, 0, 0, 0]);
    let _ = grant("block").call([0; 5]);
}

/// The numbers in the names of all grants that begin so, and the names.
fn named(prefix: &'static str) -> impl Iterator<Item = (u64, &'static str)> {
    let names = info().grants[..info().grant_count as usize].iter().map(name_text);
    names.filter_map(move |name| {
        let (number, _) = name.strip_prefix(prefix)?.split_once('_')?;
        Some((number.parse().ok()?, name))
    })
}

/// What each worker has had so far (ns).
fn looked() -> [u64; MAX_GRANTS] {
    let mut had = [0; MAX_GRANTS];
    for (had, (_, name)) in had.iter_mut().zip(named("share_")) {
        *had = grant(name).call([0; 5]).map_or(0, |[worked, _]| worked);
    }
    had
}

fn boot(_: &Job) {
    let _ = grant("timed").call([0; 5]);
    wait(40 * MILLISECOND);
    let (begun, before) = (now().as_nanos(), looked());
    wait(LENGTH);
    let (length, after) = (now().as_nanos() - begun, looked());
    let mut held = true;
    for (((share, name), before), after) in named("share_").zip(before).zip(after) {
        let had = (after - before) * 1000 / length;
        let good = had.abs_diff(share) <= 15;
        held &= good;
        let _ = writeln!(Screen, "{name:<20} {had:>4} of 1000{}", if good { "" } else { "  WRONG" });
    }
    let _ = writeln!(Screen, "verdict: {}", if held { "every share was kept" } else { "a share was broken" });
    let _ = grant("end").call([if held { HELD } else { BROKEN }, 0, 0, 0, 0]);
}
