//! Faults in its fifth job, and in the fifth of each further life: its count begins anew with its memory.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::Job;

tactus_rt::component! { job: work, services: [] }

/// Jobs begun in this life; stands in initialised memory.
static LIFE: AtomicU64 = AtomicU64::new(7);
/// Stands in memory that begins with zeros.
static MARKS: [AtomicU64; 1024] = [const { AtomicU64::new(0) }; 1024];

fn work(_: &Job) {
    let begun = LIFE.fetch_add(1, Ordering::Relaxed) - 7;
    // A job of an earlier life has left no mark.
    let marks = MARKS.iter().filter(|mark| mark.load(Ordering::Relaxed) != 0).count() as u64;
    assert_eq!(marks, begun);
    MARKS[(begun * 100) as usize % 1024].store(1, Ordering::Relaxed);
    if begun == 4 {
        // SAFETY: none: this is the fault that the scenario is about.
        unsafe { (0x10 as *mut u64).write_volatile(1) };
    }
}
