//! A task of the interrupt study: takes packets of one stream and works on each. Its one job never ends.
#![no_std]
#![no_main]

mod common;
mod work;

use common::{bin, parameters};
use tactus_packets::{Counts, Series};
use tactus_rt::{calls, grant, Job};
use work::work;

tactus_rt::component! { job: serve, services: [] }

static COUNTS: Counts = Counts::new();

fn serve(_: &Job) {
    let Some(parameters) = parameters() else { calls::give_up() };
    let receive = grant("receive");
    while let Ok([stream, _]) = receive.call([0; 5]) {
        work(parameters.task_work);
        COUNTS.add(Series::Handled, stream as usize, bin(parameters.bin));
    }
    calls::give_up()
}
