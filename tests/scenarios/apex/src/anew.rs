//! A partition whose process faults once, in its third job, and which tells how it begins each time.
#![no_std]
#![no_main]

use a653rs::bindings::{
    ApexPartitionP4, ApexProcessAttribute, ApexProcessP4, ApexTimeP4, Deadline, OperatingMode, StartCondition,
};
use a653rs::prelude::{Partition, StartContext};
use core::fmt::Write;
use tactus_rt::apex::Apex;
use tactus_rt::Console;

tactus_rt::apex_partition!(Anew);

/// The partition.
struct Anew;

impl Partition<Apex> for Anew {
    fn cold_start(&self, _: &mut StartContext<Apex>) {
        begin("cold", worker);
    }
    fn warm_start(&self, _: &mut StartContext<Apex>) {
        begin("warm", steady);
    }
}

/// Creates and starts the process.
fn begin(how: &str, entry_point: extern "C" fn()) {
    let status = Apex::get_partition_status();
    let mode = match status.operating_mode {
        OperatingMode::ColdStart => "cold",
        OperatingMode::WarmStart => "warm",
        OperatingMode::Normal | OperatingMode::Idle => "other",
    };
    let why = match status.start_condition {
        StartCondition::NormalStart => "normal",
        StartCondition::HmPartitionRestart => "health",
        StartCondition::PartitionRestart | StartCondition::HmModuleRestart => "other",
    };
    let _ = writeln!(Console, "{how} start, mode {mode}, condition {why}");
    let mut name = [0; 32];
    name[..6].copy_from_slice(b"worker");
    let attributes = ApexProcessAttribute {
        period: 10_000_000,
        time_capacity: 10_000_000,
        entry_point,
        stack_size: 4_096,
        base_priority: 1,
        deadline: Deadline::Hard,
        name,
    };
    if let Ok(process) = Apex::create_process(&attributes) {
        // One that does not start does not tell so.
        let _ = Apex::start(process);
    }
}

extern "C" fn worker() {
    for round in 0.. {
        assert!(round < 2, "the third job faults");
        let _ = Apex::periodic_wait();
    }
}

extern "C" fn steady() {
    let _ = writeln!(Console, "steady");
    loop {
        let _ = Apex::periodic_wait();
    }
}
