//! The mission, as messages: up to two metres, over there, down.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicBool, Ordering};
use craft::pack;
use tactus_rt::channel::Sender;
use tactus_rt::Job;

tactus_rt::component! { job: fly, services: [] }

static COMMANDS: Sender = Sender::new();
static OPEN: AtomicBool = AtomicBool::new(false);
/// When (100 ms), whether to land, and where.
const MISSION: [(u64, u64, [f32; 3]); 3] =
    [(5, 0, [0.0, 0.0, 2.0]), (30, 0, [1.5, -1.0, 2.0]), (70, 1, [1.5, -1.0, -0.5])];

fn fly(job: &Job) {
    if !OPEN.swap(true, Ordering::Relaxed) {
        COMMANDS.open("commands").expect("a channel to guidance");
    }
    for (_, lands, place) in MISSION.iter().filter(|(when, ..)| *when == job.number()) {
        let [first, second, ..] = pack(place);
        COMMANDS.send(&[*lands, first, second, 0, 0, 0, 0, 0]).expect("room for a message");
    }
}
