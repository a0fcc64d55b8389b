//! A suite of checks of APEX: each service, asked in each mode for each of its return codes. What the main process asks is asked in a cold
//! start and in a warm one, the rest by processes of the partition and by its error handler. At the end the console has how many checks
//! passed, the lines of these files at which one failed, and a table: which return codes each service gave in each mode.
#![no_std]
#![no_main]

#[macro_use]
mod told;
mod before;
mod beside;
mod during;
mod everywhere;

use a653rs::bindings::{ApexName, ApexProcessAttribute, Deadline, SystemAddress, INFINITE_TIME_VALUE};
use a653rs::prelude::{Partition, StartContext};
use core::sync::atomic::{AtomicU32, Ordering};
use tactus_rt::apex::Apex;

tactus_rt::apex_partition!(Suite);

/// The partition.
struct Suite;

/// How often the partition has begun: cold, then warm as its process asks for, then cold as its error handler does.
static BEGUN: AtomicU32 = AtomicU32::new(0);

/// Which beginning it is in.
fn life() -> u32 {
    BEGUN.load(Ordering::Relaxed)
}

impl Partition<Apex> for Suite {
    fn cold_start(&self, _: &mut StartContext<Apex>) {
        begin();
    }
    fn warm_start(&self, _: &mut StartContext<Apex>) {
        begin();
    }
}

fn begin() {
    BEGUN.fetch_add(1, Ordering::Relaxed);
    before::all();
    everywhere::all();
    if life() < 3 {
        before::start();
    } else {
        told::tell();
    }
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

/// A periodic process without deadlines, as the suite wants it.
fn periodic(process: &str, entry_point: SystemAddress) -> ApexProcessAttribute {
    ApexProcessAttribute {
        period: 10 * MS,
        time_capacity: INFINITE_TIME_VALUE,
        entry_point,
        stack_size: 8_192,
        base_priority: 20,
        deadline: Deadline::Hard,
        name: name(process),
    }
}

/// An aperiodic one.
fn aperiodic(process: &str, entry_point: SystemAddress) -> ApexProcessAttribute {
    ApexProcessAttribute {
        period: INFINITE_TIME_VALUE,
        base_priority: 1,
        deadline: Deadline::Soft,
        ..periodic(process, entry_point)
    }
}
