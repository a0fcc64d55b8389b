//! A client that does not know where it is served: what it asks is doubled by its own function or by another component.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::request::ServiceStub;
use tactus_rt::Job;

tactus_rt::component! { job: call, services: [] }

static STORAGE: ServiceStub = ServiceStub::new("storage", double);
static ANSWERED: AtomicU64 = AtomicU64::new(0);

fn double(request: &[u8], answer: &mut [u8]) -> usize {
    let request = request.try_into().map_or(0, u64::from_le_bytes);
    answer[..8].copy_from_slice(&(2 * request).to_le_bytes());
    8
}

fn call(job: &Job) {
    let mut answer = [0; 8];
    let length = STORAGE.call(job, &job.number().to_le_bytes(), &mut answer).expect("the service is there");
    let answer = u64::from_le_bytes(answer);
    if length == Some(8) {
        ANSWERED.fetch_add(1, Ordering::Relaxed);
        // Its own function answers this request, another component one that was asked before.
        assert!(
            answer % 2 == 0 && if STORAGE.is_local() { answer == 2 * job.number() } else { answer < 2 * job.number() }
        );
    }
    let answered = ANSWERED.load(Ordering::Relaxed);
    assert!(if STORAGE.is_local() { answered == job.number() + 1 } else { job.number() < 10 || answered > 0 });
}
