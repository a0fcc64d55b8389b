//! Takes the newest reading, keeps a journal of it and sends a command. Without a reading it says so, and sends nothing.
#![no_std]
#![no_main]

use tactus_rt::channel::{Receiver, Sender};
use tactus_rt::{grant, Job, Signal};

tactus_rt::component! { job: control, services: [] }

static READINGS: Receiver = Receiver::new();
static COMMANDS: Sender = Sender::new();
const BLIND: Signal = Signal::new("blind");

fn control(job: &Job) {
    if job.number() == 0 {
        let opened = READINGS.open("readings").and_then(|()| COMMANDS.open("commands"));
        assert!(opened.is_ok(), "{opened:?}");
    }
    let mut newest = None;
    while let Ok(Some(reading)) = READINGS.receive() {
        newest = Some(reading);
    }
    match newest {
        Some([number, taken, ..]) => {
            let _ = grant("write").call([number, taken, 0, 0, 0]);
            let _ = COMMANDS.send(&[number, taken, 0, 0, 0, 0, 0, 0]);
        }
        None => {
            let _ = BLIND.raise();
        }
    }
}
