//! Is granted the memory manager's service and shares no buffer: it is refused, and then looks all the same.
#![no_std]
#![no_main]

use tactus_rt::abi::layout::WINDOW;
use tactus_rt::{grant, Error, Job};

tactus_rt::component! { job: steal, services: [] }

fn steal(job: &Job) {
    for number in 0..2 {
        assert_eq!(grant("attach").call([number, 0, 0, 0, 0]), Ok([0, Error::NotAllowed as u64]));
    }
    assert_eq!(grant("attach").call([9, 0, 0, 0, 0]), Ok([0, Error::BadArgument as u64]));
    if job.number() == 3 {
        // SAFETY: none: this is the fault that the scenario is about.
        unsafe { (WINDOW as *const u64).read_volatile() };
    }
}
