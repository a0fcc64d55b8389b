//! The built-in workload: each job uses its demand, no more and no less, touching its memory as it goes.
//!
//! Demand is time charged, not instructions: on an emulated machine cores take turns, and a count of instructions says
//! nothing about time.
#![no_std]
#![no_main]

use tactus_rt::abi::layout::{DEMANDS, HEAP};
use tactus_rt::time::Duration;
use tactus_rt::Job;

tactus_rt::component! { job: burn, services: [] }

/// Memory is touched line by line.
const LINE: u64 = 64;

/// How long (ns) a job goes on between looks at the clock, about.
const LOOK: u64 = 500;
/// Closer to its end than this it looks after every step.
const NEAR: Duration = Duration::from_nanos(1_500);
/// Instructions of a step, about. One long run of them is what an emulator executes fastest.
const STEP_INSTRUCTIONS: u64 = 68;

/// What the job with this number takes.
fn demand(number: u64) -> Duration {
    // SAFETY: the image builder maps the table read-only: its length, which is at least one, then its entries.
    unsafe {
        let table = DEMANDS as *const u64;
        let count = table.read();
        Duration::from_nanos(table.add(1 + (number % count) as usize).read())
    }
}

fn burn(job: &Job) {
    let demand = demand(job.number());
    let info = tactus_rt::info();
    let lines = info.touch_bytes / LINE;
    let steps = (LOOK / (STEP_INSTRUCTIONS * info.instruction_nanos.max(1))).max(1);
    let mut line = 0;
    loop {
        let charged = job.charged();
        if charged >= demand {
            return;
        }
        // Look at the clock about every microsecond, and often near the end: reading it is dear under emulation.
        let steps = if demand - charged > NEAR { steps } else { 1 };
        for _ in 0..steps {
            // SAFETY: does nothing, slowly.
            unsafe { core::arch::asm!(".rept 64", "nop", ".endr", options(nomem, nostack, preserves_flags)) };
            if line < lines {
                // SAFETY: the component's own memory, mapped writable, `lines` lines long.
                unsafe {
                    let word = (HEAP + line * LINE) as *mut u64;
                    word.write_volatile(word.read_volatile().wrapping_add(1));
                }
                line = if line + 1 == lines { 0 } else { line + 1 };
            }
        }
        // On a machine whose cores take turns this ends the turn.
        core::hint::spin_loop();
    }
}
