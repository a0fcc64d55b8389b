//! A suite of checks of APEX: each service, asked in the ways that ARINC 653 has a return code for. What can be asked before a partition
//! runs is asked in its cold start, the rest by its process `worker`, with `helper` and `error-handler` beside it. At the end the console
//! has how many checks passed, and the lines of this file at which one failed.
#![no_std]
#![no_main]

mod before;
mod beside;
mod during;

use a653rs::bindings::{ApexName, ApexProcessAttribute, Deadline, ErrorReturnCode, SystemAddress, INFINITE_TIME_VALUE};
use a653rs::prelude::{Partition, StartContext};
use core::fmt::Write;
use core::sync::atomic::{AtomicU32, Ordering};
use tactus_rt::apex::Apex;
use tactus_rt::Console;

tactus_rt::apex_partition!(Suite);

/// The partition.
struct Suite;

impl Partition<Apex> for Suite {
    fn cold_start(&self, _: &mut StartContext<Apex>) {
        before::all();
    }
    fn warm_start(&self, _: &mut StartContext<Apex>) {
        during::warm();
    }
}

static PASSED: AtomicU32 = AtomicU32::new(0);
static FAILED: AtomicU32 = AtomicU32::new(0);

/// A check, and where it stands.
#[track_caller]
fn check(holds: bool) {
    if holds {
        PASSED.fetch_add(1, Ordering::Relaxed);
        return;
    }
    FAILED.fetch_add(1, Ordering::Relaxed);
    let place = core::panic::Location::caller();
    let _ = writeln!(Console, "failed: {}:{}", place.file(), place.line());
}

/// The service answers with this code.
#[track_caller]
fn refused<T>(result: Result<T, ErrorReturnCode>, code: ErrorReturnCode) {
    check(result.err() == Some(code));
}

/// The service does what was asked; what it gives, or the default.
#[track_caller]
fn done<T: Default>(result: Result<T, ErrorReturnCode>) -> T {
    check(result.is_ok());
    result.unwrap_or_default()
}

/// What the console is told at the end.
fn tell() {
    let (passed, failed) = (PASSED.load(Ordering::Relaxed), FAILED.load(Ordering::Relaxed));
    let _ = writeln!(Console, "{passed} checks passed, {failed} failed");
}

/// A name of the standard's.
const fn name(text: &str) -> ApexName {
    let mut name = [0; 32];
    let mut at = 0;
    while at < text.len() {
        name[at] = text.as_bytes()[at];
        at += 1;
    }
    name
}

/// A millisecond (ns).
const MS: i64 = 1_000_000;

/// A periodic process as the suite wants it.
fn periodic(process: &str, entry_point: SystemAddress) -> ApexProcessAttribute {
    ApexProcessAttribute {
        period: 10 * MS,
        time_capacity: 10 * MS,
        entry_point,
        stack_size: 8_192,
        base_priority: 20,
        deadline: Deadline::Hard,
        name: name(process),
    }
}

/// The same without a period.
fn aperiodic(process: &str, entry_point: SystemAddress) -> ApexProcessAttribute {
    ApexProcessAttribute {
        period: INFINITE_TIME_VALUE,
        time_capacity: INFINITE_TIME_VALUE,
        deadline: Deadline::Soft,
        ..periodic(process, entry_point)
    }
}
