//! The controller: drives the cart to one metre and holds it there, with proportional and derivative action.
#![no_std]
#![no_main]

use tactus_rt::{grant, Job};

tactus_rt::component! { job: control, services: [] }

/// One metre, in micrometres.
const TARGET: i64 = 1_000_000;

fn control(_: &Job) {
    let Ok([position, velocity]) = grant("sense").call([0; 5]) else { return };
    let (position, velocity) = (position as i64, velocity as i64);
    let force = 60 * (TARGET - position) - 15 * velocity;
    let _ = grant("actuate").call([force as u64, 0, 0, 0, 0]);
}
