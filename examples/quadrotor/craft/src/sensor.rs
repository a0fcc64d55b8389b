//! Takes each reading of the sensor to the estimator.
#![no_std]
#![no_main]

use craft::ESTIMATOR;
use tactus_rt::{grant, Job};

tactus_rt::component! { job: read, services: [] }

fn read(job: &Job) {
    let Ok(reading) = grant("sense").call_wide([0; 10]) else { panic!("no sensor") };
    assert!(job.enter(ESTIMATOR), "the estimator is not declared");
    let updated = grant("update").call_wide(reading);
    job.leave();
    assert!(updated.is_ok(), "no estimator");
}
