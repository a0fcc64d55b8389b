//! Carries commands out: each message releases a job.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::channel::Receiver;
use tactus_rt::Job;

tactus_rt::component! { job: actuate, services: [] }

static COMMANDS: Receiver = Receiver::new();
static POSITION: AtomicU64 = AtomicU64::new(0);

fn actuate(job: &Job) {
    if job.number() == 0 && COMMANDS.open("commands").is_err() {
        panic!("there is no channel");
    }
    let Ok(Some([number, command, ..])) = COMMANDS.receive() else { panic!("no command came") };
    assert!(number == job.number(), "a command was lost");
    POSITION.store(command, Ordering::Relaxed);
}
