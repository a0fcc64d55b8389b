//! Control of the craft: the same flight for all versions, each with gains of its own. What a version has to hand on is where the flight is
//! and what its integral has learned of the weight; it leaves both with the keeper in each job.
#![no_std]

use tactus_rt::{grant, Single};

/// A control job's period (s).
const PERIOD: f32 = 0.02;
/// Gravity (m/s²).
pub const GRAVITY: f32 = 9.81;

/// What a version differs in: stiffness and damping of the tilts.
#[derive(Clone, Copy)]
pub struct Gains {
    /// Angular acceleration for each radian (1/s²).
    pub stiffness: f32,
    /// The same for each radian a second (1/s).
    pub damping: f32,
}

struct Flight {
    jobs: u64,
    integral: f32,
}

static FLIGHT: Single<Flight> = Single::new();

/// One job: where the flight is goes on from what the version before left. Gives the number of this flight's job.
pub fn control(gains: Gains) -> u64 {
    let [height, climb, roll, roll_rate, pitch, pitch_rate] = sensed();
    FLIGHT.with_first(taken_up, |flight| {
        let (target, speed) = mission(flight.jobs as f32 * PERIOD);
        flight.jobs += 1;
        let missing = target - height;
        flight.integral = (flight.integral + missing * PERIOD).clamp(-2.0, 2.0);
        let lift = GRAVITY + 6.0 * missing + 4.0 * (speed - climb) + flight.integral;
        let ended = target < 0.0 && height < 0.02;
        let thrust = if ended { 0.0 } else { lift.clamp(0.0, 20.0) };
        let tilt = |angle: f32, rate: f32| -gains.stiffness * angle - gains.damping * rate;
        let words = [thrust, tilt(roll, roll_rate), tilt(pitch, pitch_rate)].map(|it| u64::from(it.to_bits()));
        let _ = grant("drive").call([words[0], words[1], words[2], 0, 0]);
        let _ = grant("keep").call([1, flight.jobs, flight.integral.to_bits().into(), 0, 0]);
        flight.jobs
    })
}

/// What the version before left with the keeper; the beginning if there was none.
fn taken_up() -> Flight {
    let [jobs, integral] = grant("keep").call([0; 5]).unwrap_or([0; 2]);
    Flight { jobs, integral: f32::from_bits(integral as u32) }
}

fn sensed() -> [f32; 6] {
    let words = grant("sense").call_wide([0; 10]).unwrap_or([0; 10]);
    core::array::from_fn(|n| f32::from_bits(words[n] as u32))
}

/// Height (m) and speed (m/s) at this time of the flight: up to 2 m, a while there, and down.
fn mission(time: f32) -> (f32, f32) {
    if time < 1.0 {
        (2.0 * time, 2.0)
    } else if time < 2.0 {
        (2.0, 0.0)
    } else {
        (2.0 - (time - 2.0), -1.0)
    }
}
