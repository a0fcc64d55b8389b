//! Set-up: core 0 makes the policy from what the image holds, before the run begins; the others wait for it.

use crate::ring::Ring;
use crate::state::{is_ready, place, CoreState, System};
use crate::verdict::Counts;
use alloc::vec;
use tactus_policy::{Decision, Scheduler, Setup};
use tactus_rt::abi::layout::PLAN;
use tactus_rt::calls;
use tactus_rt::time::{CoreSet, Instant};

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
    let Ok(setup) = Setup::decode(plan) else {
        calls::text("tactus: the scheduler cannot read its plan\n");
        calls::finish(END_BAD_PLAN)
    };
    let Ok((scheduler, policy_cores)) = Scheduler::new(&setup) else {
        calls::text("tactus: the scheduler refuses its plan\n");
        calls::finish(END_BAD_PLAN)
    };
    let tasks = setup.tasks.len();
    let cores = policy_cores
        .into_iter()
        .enumerate()
        .map(|(number, policy)| CoreState {
            core: number as u8,
            policy,
            ring: Ring::new(number as u8),
            started: false,
            ended: false,
            decision: Decision { run: None, timer: Instant::NEVER, notify: CoreSet::EMPTY, ticket: 0 },
            counts: vec![Counts::default(); tasks],
            told: false,
        })
        .collect();
    place(System { scheduler, setup, end: Instant::from_nanos(info.duration) }, cores);
}
