//! Reads the camera's frames; in its sixth job it writes into one, which it may not.
#![no_std]
#![no_main]

use tactus_rt::{channel, Job};

tactus_rt::component! { job: look, services: [] }

fn look(job: &Job) {
    let Ok((at, pages)) = channel::attach("frames") else { panic!("no buffer") };
    for word in 0..pages * 512 {
        // SAFETY: the memory manager has mapped so many pages there, to be read.
        let seen = unsafe { ((at + word * 8) as *const u64).read_volatile() };
        assert_eq!(seen, job.number() << 32 | word);
    }
    if job.number() == 5 {
        // SAFETY: none: this is the fault that the scenario is about.
        unsafe { (at as *mut u64).write_volatile(1) };
    }
}
