//! Threads that wake each other across cores, and one that moves to and fro.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering::SeqCst};
use tactus_rt::{calls, grant, info, Job};

tactus_rt::component! { job: drive, thread: help, services: [] }

const ROUNDS: u64 = 1_000;
/// How often the thread of the other core ran, and how often somebody was not where he should be.
static RAN: AtomicU64 = AtomicU64::new(0);
static ASTRAY: AtomicU64 = AtomicU64::new(0);

fn call(name: &str, word: u64) -> [u64; 2] {
    grant(name).call([word, 0, 0, 0, 0]).unwrap_or([u64::MAX; 2])
}

fn check(core: u64) {
    if call("core", 0)[0] != core {
        ASTRAY.fetch_add(1, SeqCst);
    }
}

/// The words of every thread but the first: what it does, and the thread that drives.
fn help([what, driver]: [u64; 2]) {
    match what {
        0 => {
            call("exit", 0);
        }
        1 => loop {
            call("block", 0);
            check(1);
            RAN.fetch_add(1, SeqCst);
            call("wakeup", driver);
        },
        _ => loop {
            call("block", 0);
            for core in [1, 0] {
                call("move", core);
                check(core);
            }
            RAN.fetch_add(1, SeqCst);
            call("wakeup", driver);
        },
    }
}

/// Makes a thread on a core.
fn make(what: u64, core: u64) -> u64 {
    // The task's own thread is the first after those of the cores.
    let driver = u64::from(info().cores);
    let parameters = (core + 1) << 24;
    grant("create").call([info().component.into(), parameters, what, driver, 0]).map_or(u64::MAX, |[thread, _]| thread)
}

/// Wakes the thread and waits until it has woken this one, again and again.
fn exchange(thread: u64) -> bool {
    RAN.store(0, SeqCst);
    for _ in 0..ROUNDS {
        call("wakeup", thread);
        call("block", 0);
    }
    RAN.load(SeqCst) == ROUNDS
}

fn drive(_: &Job) {
    let across = exchange(make(1, 1));
    let moved = exchange(make(2, 0));
    let good = across && moved && ASTRAY.load(SeqCst) == 0;
    calls::text(if good { "verdict: 1000 wake-ups and 2000 moves arrived\n" } else { "verdict: something got lost\n" });
    call("end", if good { 0x10 } else { 0x11 });
}
