//! Does what the newest command says.
#![no_std]
#![no_main]

use tactus_rt::channel::Receiver;
use tactus_rt::Job;

tactus_rt::component! { job: act, services: [] }

static COMMANDS: Receiver = Receiver::new();

fn act(job: &Job) {
    if job.number() == 0 {
        let opened = COMMANDS.open("commands");
        assert!(opened.is_ok(), "{opened:?}");
    }
    while let Ok(Some(_command)) = COMMANDS.receive() {}
}
