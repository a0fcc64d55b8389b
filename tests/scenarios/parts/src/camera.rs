//! Writes frames into the buffer that it shares with the filter.
#![no_std]
#![no_main]

use tactus_rt::{channel, Job};

tactus_rt::component! { job: record, services: [] }

fn record(job: &Job) {
    let Ok((at, pages)) = channel::attach("frames") else { panic!("no buffer") };
    assert_eq!(pages, 3);
    for word in 0..pages * 512 {
        // SAFETY: the memory manager has mapped so many pages there, writable.
        unsafe { ((at + word * 8) as *mut u64).write_volatile(job.number() << 32 | word) };
    }
}
