//! A client of a service that will fail it. It gives up if anything else happens than what it was promised: three
//! answers, one error that says what happened, and then errors that say that the service is no more.
#![no_std]
#![no_main]

use tactus_rt::abi::shared::name_text;
use tactus_rt::time::Duration;
use tactus_rt::{grant, info, Error, Job};

tactus_rt::component! { job: call, services: [] }

fn call(job: &Job) {
    if name_text(&info().name) == "visitor" {
        visit(job);
        return;
    }
    let answer = grant("serve").call([0; 5]);
    let flags: u64;
    // SAFETY: reads the flags.
    unsafe { core::arch::asm!("pushfq", "pop {}", out(reg) flags) };
    assert_eq!(flags & 0x4_4500, 0, "the flags of the service came back");
    match job.number() {
        number @ 0..=2 => assert_eq!(answer, Ok([number, 1])),
        3 => assert_eq!(answer, Err(Error::Faulted)),
        _ => assert_eq!(answer, Err(Error::ComponentStopped)),
    }
    assert_eq!(grant("not-granted").call([0; 5]), Err(Error::NotGranted));
}

/// Is inside the service when somebody else's call makes it fail.
fn visit(job: &Job) {
    let answer = grant("linger").call([0; 5]);
    match job.number() {
        0..=2 => assert_eq!(answer, Ok([0, 0])),
        3 => {
            assert_eq!(answer, Err(Error::Faulted));
            assert!(job.charged() < Duration::from_millis(6), "it was left in the stopped service");
        }
        _ => assert_eq!(answer, Err(Error::ComponentStopped)),
    }
}
