//! Set-up: core 0 makes the policy from what the image holds, before the run begins; the others wait for it.

use crate::recovery::Recovery;
use crate::root::arrivals::line_tasks;
use crate::root::deadlines::Processes;
use crate::root::mailboxes::mailboxes;
use crate::root::misses::regulated;
use crate::root::observe::Watched;
use crate::root::ports::channels;
use crate::root::quota::has_right;
use crate::root::state::{is_ready, place, RootProgram, System};
use crate::runtime::make_policy;
use core::sync::atomic::AtomicBool;
use tactus_rt::scheduler::task_cards;
use tactus_rt::time::Instant;

/// Sets up (core 0) or waits for it (others).
#[cold]
pub fn start<R: RootProgram>(core: u8) {
    if core != 0 {
        while !is_ready() {
            core::hint::spin_loop();
        }
        return;
    }
    let (setup, policy, cores) = make_policy::<R::Policy>();
    let (end, recovery) = (Instant::from_nanos(tactus_rt::info().duration), Recovery::new());
    let some_given_up = AtomicBool::new(false);
    let given_up = setup.tasks.iter().map(|_| AtomicBool::new(false)).collect();
    let lines = line_tasks(task_cards());
    let (watched, processes, regulated) = (Watched::new(&setup), Processes::new(&setup), regulated(&setup));
    let channels = channels(|task, call| has_right(task_cards(), task, call));
    let mailboxes = mailboxes();
    let follows_decisions = watched.is_some() || !mailboxes.is_empty();
    let system = System {
        setup,
        end,
        recovery,
        lines,
        given_up,
        some_given_up,
        watched,
        processes,
        regulated,
        channels,
        mailboxes,
        follows_decisions,
    };
    place::<R>(system, policy, cores);
}
