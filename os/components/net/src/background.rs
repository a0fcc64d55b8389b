//! The background task of the interrupt study: a loop that takes what time is left. Its one job never ends.
#![no_std]
#![no_main]

mod bins;
mod common;

use bins::bin;
use common::parameters;
use tactus_packets::counts::BACKGROUND_WORK;
use tactus_packets::{Counts, Series};

use tactus_rt::spend::count_down;
use tactus_rt::{calls, Job};

tactus_rt::component! { job: idle_away, services: [] }

static COUNTS: Counts = Counts::new();

fn idle_away(_: &Job) {
    let Some(parameters) = parameters() else { calls::give_up() };
    loop {
        count_down(BACKGROUND_WORK);
        COUNTS.add(Series::Background, 0, bin(parameters.bin));
    }
}
