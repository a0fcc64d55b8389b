//! Control of the craft: the same flight for all versions, each with gains of its own. What a version has to hand on is where the flight is
//! and what its integral has learned of the weight; it leaves both with the keeper in each job.
#![no_std]

mod law;

pub use law::{Flight, Gains, GRAVITY};
use tactus_rt::{grant, Single};

static FLIGHT: Single<Flight> = Single::new();

/// One job: gives the number of this flight's job.
pub fn control(gains: Gains) -> u64 {
    control_by(gains, sensed()).0
}

/// Controls by these numbers: where the flight is goes on from what the version before left. Gives the number of this flight's job, and what the
/// motors were told.
pub fn control_by(gains: Gains, sensed: [f32; 6]) -> (u64, [f32; 3]) {
    FLIGHT.with_first(taken_up, |flight| {
        let told = flight.step(gains, sensed);
        let words = told.map(|it| u64::from(it.to_bits()));
        let _ = grant("drive").call([words[0], words[1], words[2], 0, 0]);
        let _ = grant("keep").call([1, flight.jobs, flight.integral.to_bits().into(), 0, 0]);
        (flight.jobs, told)
    })
}

/// What the version before left with the keeper; the beginning if there was none.
fn taken_up() -> Flight {
    let [jobs, integral] = grant("keep").call([0; 5]).unwrap_or([0; 2]);
    Flight { jobs, integral: f32::from_bits(integral as u32) }
}

/// Height, climb, roll, its rate, pitch and its rate, as the sensors show them.
pub fn sensed() -> [f32; 6] {
    let words = grant("sense").call_wide([0; 10]).unwrap_or([0; 10]);
    core::array::from_fn(|n| f32::from_bits(words[n] as u32))
}
