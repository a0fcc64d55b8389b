//! Set-up: core 0 makes the policy from what the image holds, before the run begins; the others wait for it.

use crate::root::arrivals::line_tasks;
use crate::root::observe::Watched;
use crate::root::state::{is_ready, place, System};
use core::sync::atomic::AtomicBool;
use tactus_rt::scheduler::task_cards;
use tactus_rt::time::Instant;
use tactus_sched::recovery::Recovery;
use tactus_sched::runtime::make_policy;

/// Sets up (core 0) or waits for it (others).
#[cold]
pub fn start(core: u8) {
    if core != 0 {
        while !is_ready() {
            core::hint::spin_loop();
        }
        return;
    }
    let (setup, scheduler, policies) = make_policy::<crate::Decider>();
    let (end, recovery) = (Instant::from_nanos(tactus_rt::info().duration), Recovery::new());
    let given_up = setup.tasks.iter().map(|_| AtomicBool::new(false)).collect();
    let lines = line_tasks(task_cards());
    let watched = Watched::new(&setup);
    place(System { scheduler, setup, end, recovery, lines, given_up, watched }, policies);
}
