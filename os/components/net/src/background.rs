//! The background task of the interrupt study: a loop that takes what time is left.
#![no_std]
#![no_main]

mod bins;
mod common;
mod work;

use bins::bin;
use common::parameters;
use tactus_packets::counts::BACKGROUND_WORK;
use tactus_packets::{Counts, Series};

use work::work;

tactus_rt::component! { thread: idle_away, services: [] }

static COUNTS: Counts = Counts::new();

fn idle_away(_: [u64; 2]) {
    let Some(parameters) = parameters() else { return };
    loop {
        work(BACKGROUND_WORK);
        COUNTS.add(Series::Background, 0, bin(parameters.bin));
    }
}
