//! The attitude by Madgwick's filter, from gyroscope, accelerometer and magnetometer. Only one task at a time is in here: the one that holds
//! the resource `estimator`.
#![no_std]
#![no_main]

use ahrs::{Ahrs, Madgwick};
use craft::{pack, unpack, SENSOR_PERIOD};
use nalgebra::{UnitQuaternion, Vector3};
use tactus_rt::{Caller, Single};

tactus_rt::component! { services: [], wide: [update, attitude] }

/// How strongly accelerometer and magnetometer correct the gyroscope.
const BETA: f32 = 0.05;

struct Estimate {
    filter: Madgwick<f32>,
    attitude: UnitQuaternion<f32>,
    turning: [f32; 3],
}

static ESTIMATE: Single<Estimate> = Single::new();

fn first() -> Estimate {
    Estimate { filter: Madgwick::new(SENSOR_PERIOD, BETA), attitude: UnitQuaternion::identity(), turning: [0.0; 3] }
}

/// `(angular velocity, specific force, magnetic field)`.
fn update(_: Caller, words: [u64; 10]) -> [u64; 10] {
    let [gx, gy, gz, ax, ay, az, mx, my, mz] = unpack(&words);
    let (turning, force, field) = (Vector3::new(gx, gy, gz), Vector3::new(ax, ay, az), Vector3::new(mx, my, mz));
    ESTIMATE.with_first(first, |it| {
        it.turning = [gx, gy, gz];
        // A reading without direction corrects nothing.
        if let Ok(attitude) = it.filter.update(&turning, &force, &field) {
            it.attitude = *attitude;
        }
    });
    [0; 10]
}

/// `() -> (roll, pitch, yaw, angular velocity)`.
fn attitude(_: Caller, _: [u64; 10]) -> [u64; 10] {
    ESTIMATE.with_first(first, |it| {
        let (roll, pitch, yaw) = it.attitude.euler_angles();
        let [x, y, z] = it.turning;
        pack(&[roll, pitch, yaw, x, y, z])
    })
}
