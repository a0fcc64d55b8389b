//! A task of the interrupt study: takes packets of one stream and works on each.
//!
//! The first thread makes another one that is as urgent as the task is to be, and leaves.
#![no_std]
#![no_main]

mod bins;
mod common;

use bins::bin;
use common::parameters;
use tactus_packets::service::priority;
use tactus_packets::{Counts, Series, STREAMS};
use tactus_rt::abi::shared::name_text;
use tactus_rt::spend::count_down;
use tactus_rt::{grant, info};

tactus_rt::component! { thread: begin, services: [] }

static COUNTS: Counts = Counts::new();

/// What the thread is told that does the work.
const WORKER: u64 = 1;

fn begin(words: [u64; 2]) {
    if words[0] == WORKER {
        serve();
        return;
    }
    // The component is called after its stream: task-1, task-2.
    let name = name_text(&info().name).as_bytes();
    let stream = name.last().map_or(0, |digit| usize::from(digit.wrapping_sub(b'1'))) % STREAMS;
    let own = u64::from(info().component);
    let made = grant("create").call([own, priority::TASK[stream].into(), WORKER, 0, 0]);
    if matches!(made, Ok([_, 0])) {
        let _ = grant("exit").call([0; 5]);
    }
}

/// Comes back only if something is missing; then the component gives up.
fn serve() {
    let Some(parameters) = parameters() else { return };
    let receive = grant("receive");
    while let Ok([stream, _]) = receive.call([0; 5]) {
        count_down(parameters.task_work);
        COUNTS.add(Series::Handled, stream as usize, bin(parameters.bin));
    }
}
