//! Flies to the place that the pilot's last message names: from place to velocity to acceleration, which is a tilt and a thrust.
#![no_std]
#![no_main]

use craft::{pack, unpack, GRAVITY, MASS};
use pid::Pid;
use tactus_rt::channel::Receiver;
use tactus_rt::{grant, Job, Single};

tactus_rt::component! { job: guide, services: [] }

static COMMANDS: Receiver = Receiver::new();
/// The fastest that it moves sideways, up and down (m/s).
const FASTEST: [f32; 3] = [1.5, 1.0, 0.5];
/// Below this height (m) a craft that is to land switches its motors off.
const DOWN: f32 = 0.03;

struct Guide {
    target: [f32; 3],
    flies: bool,
    lands: bool,
    velocities: [Pid<f32>; 3],
}

static GUIDE: Single<Guide> = Single::new();

fn guide(_: &Job) {
    GUIDE.with_first(first, step);
}

fn first() -> Guide {
    COMMANDS.open("commands").expect("a channel from the pilot");
    let velocities = [(2.0, 0.0), (2.0, 0.0), (4.0, 0.05)].map(|(p, i)| {
        let mut it = Pid::new(0.0, 4.0);
        it.p(p, 4.0).i(i, 1.0);
        it
    });
    Guide { target: [0.0; 3], flies: false, lands: false, velocities }
}

fn step(it: &mut Guide) {
    while let Ok(Some([kind, first, second, ..])) = COMMANDS.receive() {
        let [x, y, z, _] = unpack(&[first, second]);
        (it.target, it.flies, it.lands) = ([x, y, z], true, kind == 1);
    }
    let Ok(words) = grant("locate").call_wide([0; 10]) else { panic!("no place") };
    let [x, y, z, vx, vy, vz] = unpack(&words);
    if it.lands && z < DOWN {
        it.flies = false;
    }
    if !it.flies {
        let _ = grant("aim").call([0; 5]);
        return;
    }
    let mut wanted = [0.0; 3];
    for (n, (place, velocity)) in [(x, vx), (y, vy), (z, vz)].into_iter().enumerate() {
        let missing = it.target[n] - place;
        let limit = if n == 2 && missing < 0.0 { FASTEST[2] } else { FASTEST[n.min(1)] };
        it.velocities[n].setpoint(missing.clamp(-limit, limit));
        wanted[n] = it.velocities[n].next_control_output(velocity).output;
    }
    let [forward, left, up] = wanted;
    let words = pack(&[-left / GRAVITY, forward / GRAVITY, 0.0, MASS * (GRAVITY + up)]);
    let _ = grant("aim").call([words[0], words[1], 0, 0, 0]);
}
