//! Tells the ground where the craft is, when nobody else has anything to do.
#![no_std]
#![no_main]

use core::fmt::Write;
use craft::{unpack, ESTIMATOR};
use tactus_rt::{grant, Console, Job};

tactus_rt::component! { job: tell, services: [] }

/// How often the estimate is read in each job: their mean is told.
const READINGS: u32 = 32;

fn tell(job: &Job) {
    assert!(job.enter(ESTIMATOR), "the estimator is not declared");
    let (mut roll, mut pitch) = (0.0, 0.0);
    for _ in 0..READINGS {
        let Ok(words) = grant("attitude").call_wide([0; 10]) else { panic!("no estimator") };
        let [r, p, ..] = unpack::<6>(&words);
        (roll, pitch) = (roll + r / READINGS as f32, pitch + p / READINGS as f32);
    }
    job.leave();
    let Ok(words) = grant("locate").call_wide([0; 10]) else { panic!("no place") };
    let [x, y, z, ..] = unpack::<6>(&words);
    if job.number() % 5 == 0 {
        let _ = writeln!(Console, "at {x:.2} {y:.2} {z:.2}, roll {roll:.2} pitch {pitch:.2}");
    }
}
