//! Set-up: core 0 makes the policy from what the image holds, before the run begins; the others wait for it.

use crate::recovery;
use crate::state::{is_ready, place, System};
use core::sync::atomic::AtomicBool;
use tactus_policy::{PolicyConfig, Scheduler};
use tactus_rt::abi::layout::PLAN;
use tactus_rt::calls;
use tactus_rt::time::Instant;

/// The run ended because the scheduler could not be set up.
const END_BAD_PLAN: u8 = 0x74;

/// Sets up (core 0) or waits for it (others).
#[cold]
pub fn start(core: u8) {
    if core != 0 {
        while !is_ready() {
            core::hint::spin_loop();
        }
        return;
    }
    let info = tactus_rt::info();
    // SAFETY: the image builder maps the encoded set-up read-only, `plan_bytes` long.
    let plan = unsafe { core::slice::from_raw_parts(PLAN as *const u8, info.plan_bytes as usize) };
    let Ok(setup) = PolicyConfig::decode(plan) else {
        calls::text("tactus: the scheduler cannot read its plan\n");
        calls::finish(END_BAD_PLAN)
    };
    let Ok((scheduler, policies)) = Scheduler::new(&setup) else {
        calls::text("tactus: the scheduler refuses its plan\n");
        calls::finish(END_BAD_PLAN)
    };
    let (end, wards, foreign) = (Instant::from_nanos(info.duration), recovery::wards(), recovery::foreign());
    let given_up = setup.tasks.iter().map(|_| AtomicBool::new(false)).collect();
    place(System { scheduler, setup, end, wards, foreign, given_up }, policies);
}
