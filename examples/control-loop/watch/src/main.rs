//! The watch: from one second on the cart must be within a centimetre of where it should be. If it is not, the watch
//! gives up, and the run's report says so.
#![no_std]
#![no_main]

use tactus_rt::{grant, Job};

tactus_rt::component! { job: look, services: [] }

fn look(job: &Job) {
    let Ok([position, _]) = grant("position").call([0; 5]) else { panic!("the plant does not answer") };
    if job.release().as_nanos() > 1_000_000_000 {
        assert!((990_000..=1_010_000).contains(&(position as i64)), "the cart is not where it should be");
    }
}
