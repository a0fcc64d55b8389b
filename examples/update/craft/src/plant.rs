//! The world: a body that a thrust lifts and two torques tilt, and the ground. A gust turns it all the time.
#![no_std]
#![no_main]

use core::fmt::Write;
use core::sync::atomic::{AtomicU32, Ordering};
use tactus_rt::{Caller, Console, Job, Single};
use update_craft::GRAVITY;

tactus_rt::component! { job: step, services: [drive], wide: [sense] }

/// From job to job (s).
const TIME: f32 = 0.005;
/// What the gust turns it with (1/s²).
const GUST: f32 = 0.4;

struct Body {
    /// Height, roll, pitch; and how fast each changes.
    at: [f32; 3],
    speed: [f32; 3],
    highest: f32,
    landed: bool,
}

static BODY: Single<Body> = Single::new();
/// What the sensors show, and what the motors were told.
static SHOWN: [AtomicU32; 6] = [const { AtomicU32::new(0) }; 6];
static TOLD: [AtomicU32; 3] = [const { AtomicU32::new(0) }; 3];

fn step(_: &Job) {
    let first = || Body { at: [0.0, 0.1, -0.1], speed: [0.0; 3], highest: 0.0, landed: false };
    BODY.with_first(first, |body| {
        let [thrust, roll, pitch] = [0, 1, 2].map(|n| f32::from_bits(TOLD[n].load(Ordering::Relaxed)));
        // Of the thrust the part that lifts; cosines of small angles.
        let upright = (1.0 - body.at[1] * body.at[1] / 2.0) * (1.0 - body.at[2] * body.at[2] / 2.0);
        let pulls = [thrust * upright - GRAVITY, roll + GUST, pitch - GUST];
        for (n, pull) in pulls.into_iter().enumerate() {
            body.speed[n] += pull * TIME;
            body.at[n] += body.speed[n] * TIME;
        }
        body.highest = if body.at[0] > body.highest { body.at[0] } else { body.highest };
        if body.at[0] <= 0.0 {
            if body.highest > 1.0 && !body.landed {
                body.landed = true;
                let tilted = body.at[1..].iter().any(|angle| *angle > 0.3 || *angle < -0.3);
                let how = if tilted || body.speed[0] < -2.0 { "crashed" } else { "landed" };
                let _ = writeln!(Console, "{how} at {:.2} m/s from {:.2} m", -body.speed[0], body.highest);
            }
            (body.at[0], body.speed[0]) = (0.0, 0.0);
        }
        for n in 0..3 {
            SHOWN[2 * n].store(body.at[n].to_bits(), Ordering::Relaxed);
            SHOWN[2 * n + 1].store(body.speed[n].to_bits(), Ordering::Relaxed);
        }
    });
}

/// `() -> (height, climb, roll, its rate, pitch, its rate)`.
fn sense(_: Caller, _: [u64; 10]) -> [u64; 10] {
    core::array::from_fn(|n| SHOWN.get(n).map_or(0, |it| it.load(Ordering::Relaxed).into()))
}

/// `(thrust, torque of roll, torque of pitch)`.
fn drive(_: Caller, words: [u64; 5]) -> [u64; 2] {
    TOLD.iter().zip(words).for_each(|(place, word)| place.store(word as u32, Ordering::Relaxed));
    [0; 2]
}
