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
    let lines = tactus_rt::info().touch_bytes / LINE;
    let mut line = 0;
    loop {
        let charged = job.charged();
        if charged >= demand {
            return;
        }
        // Look at the clock often near the end and seldom before, since reading it is dear under emulation.
        let steps = if demand - charged > Duration::from_micros(4) { 32 } else { 1 };
        for _ in 0..steps {
            if lines == 0 {
                core::hint::black_box(line);
                continue;
            }
            // SAFETY: the component's own memory, mapped writable, `lines` lines long.
            unsafe {
                let word = (HEAP + line * LINE) as *mut u64;
                word.write_volatile(word.read_volatile().wrapping_add(1));
            }
            line = if line + 1 == lines { 0 } else { line + 1 };
        }
        // On a machine whose cores take turns this ends the turn.
        core::hint::spin_loop();
    }
}
