//! A client whose two tasks share one outstanding request, and which gets twice what it asked.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::request::ServiceClient;
use tactus_rt::Job;

tactus_rt::component! { job: ask, services: [] }

static STORAGE: ServiceClient = ServiceClient::new("storage");
/// What was asked last.
static ASKED: AtomicU64 = AtomicU64::new(0);

fn ask(job: &Job) {
    let mut answer = [0; 8];
    if STORAGE.answer(job, &mut answer) == Ok(Some(8)) {
        assert_eq!(u64::from_le_bytes(answer), 2 * ASKED.load(Ordering::Relaxed));
    }
    if STORAGE.ask(job, &job.number().to_le_bytes()).is_ok() {
        ASKED.store(job.number(), Ordering::Relaxed);
    }
}
