//! Tasks on several cores that map a buffer each and give it back, again and again: what one has written there no other one changes.
#![no_std]
#![no_main]

use tactus_rt::channel::attach;
use tactus_rt::time::Duration;
use tactus_rt::{cards, grant, Job};

tactus_rt::component! { job: work, services: [] }

fn work(job: &Job) {
    let name = ["first", "second", "third"][job.task() as usize % 3];
    let Some(card) = cards::buffer(name) else { panic!("no buffer {name}") };
    while job.charged() < Duration::from_micros(500) {
        // Another task may be at the memory manager, or a frame not yet forgotten by all cores.
        let Ok((at, _)) = attach(name) else { continue };
        for word in 0..512 {
            // SAFETY: the memory manager has mapped a page there, writable, which this task alone gives back.
            unsafe { ((at + word * 8) as *mut u64).write_volatile(u64::from(job.task()) << 32 | word) };
        }
        for word in 0..512 {
            // SAFETY: as above.
            let seen = unsafe { ((at + word * 8) as *const u64).read_volatile() };
            assert_eq!(seen, u64::from(job.task()) << 32 | word, "another one's page");
        }
        let _ = grant("detach").call([card.number.into(), 0, 0, 0, 0]);
    }
}
