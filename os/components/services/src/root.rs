//! A root scheduler with fixed priorities and round robin, for systems of components: what the scheduler library offers,
//! and what listeners to channels need beside it.
//!
//! | service | words | gives |
//! |---|---|---|
//! | `add_upcall` | brand, priority | the upcall thread |
//! | `thread` | | the caller's thread |
//! | `finish` | code | never: the run ends |
#![no_std]
#![no_main]

use tactus_rt::{calls, Caller};
use tactus_sched::thread_schedulers::FixedPriority;
use tactus_sched::{services, Parameters};

tactus_sched::scheduler! {
    policy: FixedPriority = FixedPriority::new(),
    quantum: 1_000_000,
    services: [add_upcall, thread, finish],
}

/// Gives the brand an upcall thread of this priority, on the caller's core.
fn add_upcall(caller: Caller, words: [u64; 5]) -> [u64; 2] {
    let priority = u16::try_from(words[1]).unwrap_or(u16::MAX);
    services::words(SCHEDULER.add_upcall(caller, words[0], Parameters::priority_of(priority)))
}

/// Which thread calls.
fn thread(caller: Caller, _: [u64; 5]) -> [u64; 2] {
    [caller.thread().into(), 0]
}

/// Ends the run. To be granted with care.
fn finish(_: Caller, words: [u64; 5]) -> [u64; 2] {
    calls::finish(words[0] as u8)
}
