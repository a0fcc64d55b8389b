//! Holds the kernel against the checklist of its reference, statement by statement, on the machine itself.
//!
//! One program for all components. The root scheduler, `chief`, is the only one with a will: its driver thread goes
//! through the statements (`statements/`). Every other thread is a puppet: it asks the chief what to do, does it in its own
//! component, and tells what came of it. So each statement reads from top to bottom, whoever acts in it.
#![no_std]
#![no_main]

mod chief;
mod console;
mod puppet;
mod statements;

use tactus_rt::Caller;

tactus_rt::component! {
    job: puppet::job,
    upcall: upcall,
    thread: thread,
    brand: puppet::brand,
    services: [complete, next, words, suspend, wake, visit, leave],
}

fn is_chief() -> bool {
    puppet::own_name() == "chief"
}

fn upcall(core: u8) -> ! {
    if is_chief() {
        chief::upcall(core)
    } else {
        puppet::upcall()
    }
}

fn thread(words: [u64; 2]) {
    if is_chief() {
        chief::drive()
    } else {
        puppet::thread(words)
    }
}

/// A task's end of a job; none is ever ended here.
fn complete(_: Caller, _: [u64; 5]) -> [u64; 2] {
    [1, 0]
}

/// A puppet tells what came of the last order and waits for the next one: its kind and how many words belong to it.
fn next(caller: Caller, said: [u64; 5]) -> [u64; 2] {
    chief::next(caller, said)
}

/// Two words of the order.
fn words(caller: Caller, [place, ..]: [u64; 5]) -> [u64; 2] {
    chief::words(caller, place)
}

/// The root suspends the calling thread.
fn suspend(caller: Caller, _: [u64; 5]) -> [u64; 2] {
    chief::suspend(caller)
}

/// A thread becomes the root's choice, without being dispatched.
fn wake(_: Caller, [thread, ..]: [u64; 5]) -> [u64; 2] {
    chief::wake(thread)
}

/// The root dispatches: `(flags, whom)`, see [`chief::leave`].
fn leave(caller: Caller, [flags, whom, ..]: [u64; 5]) -> [u64; 2] {
    chief::leave(caller, flags, whom)
}

/// Nothing but an invocation that comes back.
fn visit(_: Caller, said: [u64; 5]) -> [u64; 2] {
    [said[0], said[1]]
}
