//! What the scheduler library costs: a root scheduler that measures itself, driven by the threads of `pair.rs`. Readings of
//! the time-stamp counter; on a machine of 1 ns for each instruction, instructions. The run says what came out; every single
//! one is in the component's book, for `tactus bench kernel`.
#![cfg_attr(target_os = "none", no_std)]
#![cfg_attr(target_os = "none", no_main)]

#[cfg(target_os = "none")]
mod component {
    use core::fmt::Write;
    use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use tactus_bench_book::{Book, Series as Noted};
    use tactus_rt::abi::call::SchedulerOperation;
    use tactus_rt::abi::shared::event;
    use tactus_rt::clock::time_stamp;
    use tactus_rt::hostile::Field;
    use tactus_rt::scheduler::OwnRegion;
    use tactus_rt::{calls, info, region_field, Caller, Screen};
    use tactus_sched::thread_schedulers::FixedPriority;

    tactus_sched::scheduler! {
        policy: FixedPriority = FixedPriority::new(),
        quantum: 1_000_000_000,
        services: [lock, sleeper, waker, accounting, tell, sweep, contended],
    }

    static BOOK: Book = Book::new();
    /// A run that the system file makes shorter than this (ns) is followed instruction by instruction.
    const SHORT: u64 = 100_000_000;
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
    /// Whether the pair's time is counted in slots.
    static COUNTED: AtomicU64 = AtomicU64::new(1);

    /// How often each thing is done.
    fn rounds() -> u64 {
        if info().duration < SHORT {
            40
        } else {
            2_000
        }
    }

    /// Adds the time since what is measured began to the series of now, which is `plain` or `counted`.
    #[inline(always)]
    fn note(series: &Series, plain: Noted, counted: Noted) {
        write(time_stamp() - BEGAN.load(Relaxed), series, plain, counted);
    }

    /// Apart from what is measured, so that its registers are not this one's.
    #[inline(never)]
    fn write(length: u64, series: &Series, plain: Noted, counted: Noted) {
        series.note(length);
        BOOK.write(if COUNTED.load(Relaxed) == 0 { plain } else { counted }, length);
    }

    fn empty() -> u64 {
        let began = time_stamp();
        time_stamp() - began
    }

    fn line(what: &str, [least, most]: [u64; 2], overhead: u64) {
        let _ = writeln!(Screen, "{what:<48} {:>5} to {:>5}", least - overhead.min(least), most - overhead.min(most));
    }

    /// Takes and releases the scheduler lock. Gives how often each thing is done.
    fn lock(caller: Caller, _: [u64; 5]) -> [u64; 2] {
        let region = OwnRegion::of(0);
        let series = Series::new();
        for _ in 0..rounds() {
            BOOK.write(Noted::Empty, empty());
            let began = time_stamp();
            drop(region.lock(caller.thread().into()));
            series.note(time_stamp() - began);
        }
        line("lock and release", series.take(), empty());
        [rounds(), 0]
    }

    /// Sleeps again and again; woken by `waker`.
    fn sleeper(caller: Caller, _: [u64; 5]) -> [u64; 2] {
        loop {
            let _ = SCHEDULER.sched_block(caller);
            note(&WAKE, Noted::LibraryWake, Noted::LibraryWakeCounted);
            BEGAN.store(time_stamp(), Relaxed);
        }
    }

    /// Wakes the sleeper, which is more urgent, again and again: `(thread)`.
    fn waker(caller: Caller, [thread, ..]: [u64; 5]) -> [u64; 2] {
        for _ in 0..rounds() {
            BEGAN.store(time_stamp(), Relaxed);
            let _ = SCHEDULER.sched_wakeup(caller, thread);
            note(&BLOCK, Noted::LibraryBlock, Noted::LibraryBlockCounted);
        }
        let with = if COUNTED.load(Relaxed) == 0 { "without accounting" } else { "with accounting" };
        let _ = writeln!(Screen, "inside the scheduler, {with}:");
        line("  block, until the next thread is back", BLOCK.take(), empty());
        line("  wake a more urgent thread, until it is back", WAKE.take(), empty());
        [0; 2]
    }

    /// Binds the thread to its event slot or unbinds it: `(thread, whether)`.
    fn accounting(_: Caller, [thread, on, ..]: [u64; 5]) -> [u64; 2] {
        COUNTED.store(on, Relaxed);
        let slot = if on == 0 { 0 } else { thread + 1 };
        let result = calls::scheduler_control(SchedulerOperation::Slot, thread, slot);
        [0, result.map_or_else(|error| error as u64, |()| 0)]
    }

    /// Events of a time-out that comes so many ticks from now, while `act` works on the word of events and the mark that one
    /// waits: what `act` gave, and what is left in both words afterwards.
    /// The kernel interrupts meanwhile, but enters nobody while the thread is in here: what it posts is what this looks for.
    fn with_time_out(caller: Caller, ticks: u64, act: impl FnOnce(Field<u64>, Field<u64>) -> u64) -> [u64; 3] {
        let me = u64::from(caller.thread());
        let (events, pending) = (region_field!(0, events), region_field!(0, event_pending));
        pending.write(0);
        events.write(0);
        OwnRegion::of(0).set_next_thread(me);
        let timeout = time_stamp() + ticks;
        let _ = calls::switch_thread(me, 0, timeout);
        let gave = act(events, pending);
        while time_stamp() < timeout + 2_000 {
            core::hint::spin_loop();
        }
        [gave, events.read(), pending.read()]
    }

    /// Lets a time-out come at every instruction of a sequence, one after another: how many events were lost, then how many
    /// where nothing protects the same instructions.
    fn sweep(caller: Caller, _: [u64; 5]) -> [u64; 2] {
        /// From before the first instruction to behind the last one: the way out of the kernel is in it.
        const LAST: u64 = 1_200;
        let lost = |[taken, left, _]: [u64; 3]| u64::from((taken | left) & event::TIMER == 0);
        let (mut words, mut exchanges, mut unprotected) = (0, 0, 0);
        let mut early = [0; 2];
        for ticks in 0..LAST {
            let took = with_time_out(caller, ticks, |events, _| events.take_word().into());
            words += lost(took);
            early[0] += u64::from(took[0] & event::TIMER != 0);
            // Zero is replaced unless the event came first; in both cases the mark is there in the end.
            let took = with_time_out(caller, ticks, |_, pending| pending.exchange(0, 7));
            exchanges += u64::from(took[2] != 1);
            early[1] += u64::from(took[0] == 0);
            unprotected += lost(with_time_out(caller, ticks, |events, _| events.take_word_unprotected().into()));
        }
        let inside = early.iter().all(|early| (1..LAST).contains(early));
        let _ = writeln!(
            Screen,
            "time-outs at {LAST} instructions in a row, each sequence among them: {}",
            if inside { "yes" } else { "NO" }
        );
        let _ =
            writeln!(Screen, "events lost: {words} taking words, {exchanges} exchanging, {unprotected} unprotected");
        let good = inside && words == 0 && exchanges == 0 && unprotected > 0;
        [u64::from(good), 0]
    }

    /// The caller is in the critical section when the core goes to the sleeper, as it does where a parent preempts and
    /// resumes. The sleeper was not woken, so it goes into the library's loop, and wants the critical section: the kernel
    /// gives the core back to who is in it, and that one's release gives it to the sleeper, which decides. `(thread)`: how
    /// often all of it came so, and how often the scheduler's upcall was entered for it.
    fn contended(caller: Caller, [thread, ..]: [u64; 5]) -> [u64; 2] {
        let me = u64::from(caller.thread());
        let series = Series::new();
        let mut came = 0;
        let (word, entries) = (region_field!(0, lock), region_field!(0, entries));
        let before = entries.read();
        for _ in 0..rounds() {
            word.lock(me);
            // What the kernel looks at is written as the library writes it.
            region_field!(0, event_pending).write(0);
            OwnRegion::of(0).set_next_thread(thread);
            let switched = calls::switch_thread(thread, 0, u64::MAX);
            // Back already: nobody else could have dispatched this thread.
            let helped = switched.is_ok() && word.read() == (thread + 1) << 32 | (me + 1);
            let began = time_stamp();
            word.unlock();
            series.note(time_stamp() - began);
            came += u64::from(helped && word.read() == 0);
        }
        let entered = entries.read() - before;
        line("contended: release, the other decides, until back", series.take(), empty());
        let _ = writeln!(Screen, "contended lock: {came} of {} helped, {entered} entries of the scheduler", rounds());
        [came, entered]
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
