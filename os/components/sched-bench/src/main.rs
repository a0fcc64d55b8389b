//! What the scheduler library costs: a root scheduler that measures itself, driven by the threads of
//! `examples/sched-bench/pair`. Readings of the time-stamp counter; on a machine of 1 ns for each instruction, instructions.
#![cfg_attr(target_os = "none", no_std)]
#![cfg_attr(target_os = "none", no_main)]

#[cfg(target_os = "none")]
mod component {
    use core::fmt::{self, Write};
    use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use tactus_fp_rr::FixedPriority;
    use tactus_rt::abi::call::SchedulerOperation;
    use tactus_rt::abi::layout::REGIONS;
    use tactus_rt::abi::shared::Region;
    use tactus_rt::clock::time_stamp;
    use tactus_rt::{calls, sequences, Caller};

    tactus_sched::scheduler! {
        policy: FixedPriority = FixedPriority::new(),
        quantum: 1_000_000_000,
        services: [lock, sleeper, waker, accounting, tell],
    }

    const ROUNDS: u64 = 2_000;
    /// When the thing measured began.
    static BEGAN: AtomicU64 = AtomicU64::new(0);

    /// The smallest and the largest of a series, less what reading the counter takes.
    struct Series {
        least: AtomicU64,
        most: AtomicU64,
    }

    impl Series {
        const fn new() -> Series {
            Series { least: AtomicU64::new(u64::MAX), most: AtomicU64::new(0) }
        }
        fn note(&self, length: u64) {
            self.least.fetch_min(length, Relaxed);
            self.most.fetch_max(length, Relaxed);
        }
        /// What it came to; begins anew.
        fn take(&self) -> [u64; 2] {
            [self.least.swap(u64::MAX, Relaxed), self.most.swap(0, Relaxed)]
        }
    }

    static WAKE: Series = Series::new();
    static BLOCK: Series = Series::new();

    struct Console;

    impl Write for Console {
        fn write_str(&mut self, words: &str) -> fmt::Result {
            calls::text(words);
            Ok(())
        }
    }

    fn empty() -> u64 {
        let began = time_stamp();
        time_stamp() - began
    }

    fn line(what: &str, [least, most]: [u64; 2], overhead: u64) {
        let _ = writeln!(Console, "{what:<48} {:>5} to {:>5}", least - overhead.min(least), most - overhead.min(most));
    }

    /// Takes and releases the scheduler lock.
    fn lock(caller: Caller, _: [u64; 5]) -> [u64; 2] {
        let region = REGIONS as *mut Region;
        // SAFETY: only its address is formed.
        let word = unsafe { &raw mut (*region).lock };
        let series = Series::new();
        for _ in 0..ROUNDS {
            let began = time_stamp();
            // SAFETY: the lock of this core, by the running thread, which does not have it.
            unsafe {
                sequences::take_lock(word, caller.thread().into());
                sequences::release_lock(word);
            }
            series.note(time_stamp() - began);
        }
        line("lock and release", series.take(), empty());
        [0; 2]
    }

    /// Sleeps again and again; woken by `waker`.
    fn sleeper(caller: Caller, _: [u64; 5]) -> [u64; 2] {
        loop {
            let _ = SCHEDULER.sched_block(caller);
            WAKE.note(time_stamp() - BEGAN.load(Relaxed));
            BEGAN.store(time_stamp(), Relaxed);
        }
    }

    /// Wakes the sleeper, which is more urgent, again and again: `(thread)`.
    fn waker(caller: Caller, [thread, name, ..]: [u64; 5]) -> [u64; 2] {
        for _ in 0..ROUNDS {
            BEGAN.store(time_stamp(), Relaxed);
            let _ = SCHEDULER.sched_wakeup(caller, thread);
            BLOCK.note(time_stamp() - BEGAN.load(Relaxed));
        }
        let with = if name == 0 { "with accounting" } else { "without accounting" };
        let _ = writeln!(Console, "inside the scheduler, {with}:");
        line("  block, until the next thread is back", BLOCK.take(), empty());
        line("  wake a more urgent thread, until it is back", WAKE.take(), empty());
        [0; 2]
    }

    /// Binds the thread to its event slot or unbinds it: `(thread, whether)`.
    fn accounting(_: Caller, [thread, on, ..]: [u64; 5]) -> [u64; 2] {
        let slot = if on == 0 { 0 } else { thread + 1 };
        let result = calls::scheduler_control(SchedulerOperation::Slot, thread, slot);
        [0, result.map_or_else(|error| error as u64, |()| 0)]
    }

    /// Prints what a client measured: `(which, least, most)`.
    fn tell(_: Caller, [which, least, most, ..]: [u64; 5]) -> [u64; 2] {
        let what = ["asked for by a user thread: block", "asked for by a user thread: wake"];
        line(what[which as usize % 2], [least, most], empty());
        [0; 2]
    }
}

/// On the host there is nothing to schedule: the component runs on the machine alone.
#[cfg(not(target_os = "none"))]
fn main() {}
