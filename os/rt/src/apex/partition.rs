//! The partition's mode, and its initialisation by the first job that comes.

use super::hypervisor::Apex;
use super::mode::{self, mode};
use super::{control, jobs, process, reports, thread};
use crate::{cards, Job};
use a653rs::bindings::{
    ApexPartitionP4, ApexPartitionStatus, ApexSystemTime, ErrorReturnCode, OperatingMode, StartCondition,
};
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Why.
static CONDITION: AtomicU32 = AtomicU32::new(StartCondition::NormalStart as u32);
/// The task whose job initialises the partition, plus one.
static INITIALISES: AtomicU32 = AtomicU32::new(0);
/// What runs the partition's start function.
static START: AtomicUsize = AtomicUsize::new(0);

/// Runs a component's jobs as those of a partition that starts by this function; see [`apex_partition!`](crate::apex_partition).
pub fn run(job: &Job, start: fn() -> !) -> ! {
    thread::begins_with(jobs::jobs);
    if START.swap(start as usize, Ordering::Relaxed) == 0 && job.number() > 0 {
        // Its memory is new, and it has had jobs: the root scheduler has restarted it.
        CONDITION.store(StartCondition::HmPartitionRestart as u32, Ordering::Relaxed);
        if cards::partition().is_some_and(|card| card.warm != 0) {
            mode::set(OperatingMode::WarmStart);
        }
    }
    jobs::begin_thread()
}

/// The task's thread leaves what it is in the middle of: if that is the initialisation, it begins again.
pub(super) fn leave(task: u32) {
    if !mode::is_normal() && INITIALISES.load(Ordering::Acquire) == task + 1 {
        CONDITION.store(StartCondition::HmPartitionRestart as u32, Ordering::Relaxed);
        INITIALISES.store(0, Ordering::Release);
    }
}

/// In a job while the partition does not run: one initialises it, all others end. Comes back when it may run.
pub(super) fn initialise() {
    let own = thread::current_job().task() + 1;
    while mode() != OperatingMode::Normal {
        let starts = mode() != OperatingMode::Idle
            && INITIALISES.compare_exchange(0, own, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if starts {
            mode::begin_anew();
            reports::forget_deadlines();
            thread::abandon(start);
        }
        reports::end_job();
    }
}

extern "C" fn start() -> ! {
    let start = START.load(Ordering::Relaxed);
    // SAFETY: only `run` writes there, before any job comes here, and it takes a function of this type.
    let start = unsafe { core::mem::transmute::<usize, fn() -> !>(start) };
    start()
}

impl ApexPartitionP4 for Apex {
    fn get_partition_status() -> ApexPartitionStatus {
        let card = cards::partition();
        ApexPartitionStatus {
            period: card.map_or(0, |card| card.period as ApexSystemTime),
            duration: card.map_or(0, |card| card.duration as ApexSystemTime),
            identifier: card.map_or(0, |card| i64::from(card.number)),
            lock_level: 0,
            operating_mode: mode(),
            start_condition: match CONDITION.load(Ordering::Relaxed) {
                1 => StartCondition::PartitionRestart,
                2 => StartCondition::HmModuleRestart,
                3 => StartCondition::HmPartitionRestart,
                _ => StartCondition::NormalStart,
            },
            num_assigned_cores: card.map_or(0, |card| card.cores),
        }
    }

    fn set_partition_mode(operating_mode: OperatingMode) -> Result<(), ErrorReturnCode> {
        match (operating_mode, mode()) {
            (OperatingMode::Normal, OperatingMode::Normal) => return Err(ErrorReturnCode::NoAction),
            (OperatingMode::WarmStart, OperatingMode::ColdStart) => return Err(ErrorReturnCode::InvalidMode),
            (OperatingMode::ColdStart | OperatingMode::WarmStart, _) => {
                CONDITION.store(StartCondition::PartitionRestart as u32, Ordering::Relaxed);
            }
            _ => {}
        }
        if let Some(place) = process::place() {
            process::at(place).works();
        }
        if operating_mode == OperatingMode::Normal {
            control::begin_all();
            mode::set(operating_mode);
        } else {
            mode::set(operating_mode);
            reports::forget_deadlines();
        }
        INITIALISES.store(0, Ordering::Release);
        // The caller, initialisation or process, is over; its job may go on as that of its process.
        thread::abandon(jobs::jobs)
    }
}
