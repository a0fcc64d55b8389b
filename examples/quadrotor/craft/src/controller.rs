//! Holds the attitude that guidance asks for: from angle to angular velocity to torque to the thrust of each motor. What it did goes into a
//! queue, from which a task of little urgency takes it.
#![no_std]
#![no_main]

use core::fmt::Write;
use core::sync::atomic::{AtomicU32, Ordering};
use craft::{pack, unpack, Published, ARM, DRAG, ESTIMATOR};
use heapless::mpmc::MpMcQueue;
use pid::Pid;
use tactus_rt::{grant, Caller, Console, Job, Single};

tactus_rt::component! { job: job, services: [aim] }

/// Angular velocity asked for, for each radian that is missing (1/s).
const STIFFNESS: [f32; 3] = [7.0, 7.0, 2.0];
/// Each 10th of a second one of 100 passes goes into the log.
const LOGGED: u64 = 100;

/// Roll, pitch, yaw, and thrust in all: what guidance asks for.
static AIM: Published<4> = Published::new();
static LOG: MpMcQueue<[f32; 4], 16> = MpMcQueue::new();
static LOST: AtomicU32 = AtomicU32::new(0);

static RATES: Single<[Pid<f32>; 3]> = Single::new();

fn job(job: &Job) {
    // The task that controls is the one with a section.
    match job.sections() {
        0 => log(),
        _ => control(job),
    }
}

fn control(job: &Job) {
    assert!(job.enter(ESTIMATOR), "the estimator is not declared");
    let estimate = grant("attitude").call_wide([0; 10]);
    job.leave();
    let Ok(words) = estimate else { panic!("no estimator") };
    let [roll, pitch, yaw, x, y, z] = unpack(&words);
    let [to_roll, to_pitch, to_yaw, thrust] = AIM.get();
    let mut torque = [0.0; 3];
    let missing = [to_roll - roll, to_pitch - pitch, to_yaw - yaw];
    RATES.with_first(rates, |rates| {
        for (n, is) in [x, y, z].into_iter().enumerate() {
            rates[n].setpoint((STIFFNESS[n] * missing[n]).clamp(-3.0, 3.0));
            torque[n] = rates[n].next_control_output(is).output;
        }
        if thrust <= 0.0 {
            rates.iter_mut().for_each(Pid::reset_integral_term);
        }
    });
    let words = pack(&mix(thrust, torque));
    let _ = grant("drive").call([words[0], words[1], 0, 0, 0]);
    if job.number() % LOGGED == 0 && LOG.enqueue([roll, pitch, yaw, thrust]).is_err() {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

/// A controller for each axis: torque (N m) for what is missing of the angular velocity.
fn rates() -> [Pid<f32>; 3] {
    [0.22, 0.22, 0.10].map(|gain| {
        let mut it = Pid::new(0.0, 1.0);
        it.p(gain, 1.0).i(gain * 0.002, 0.1);
        it
    })
}

/// The thrust of the motors in front, left, behind and right for a thrust in all and a torque.
fn mix(thrust: f32, [x, y, z]: [f32; 3]) -> [f32; 4] {
    if thrust <= 0.0 {
        return [0.0; 4];
    }
    let (each, x, y, z) = (thrust / 4.0, x / (2.0 * ARM), y / (2.0 * ARM), z / (4.0 * DRAG));
    [each - y + z, each + x - z, each + y + z, each - x - z]
}

/// `(roll, pitch, yaw, thrust)`.
fn aim(_: Caller, words: [u64; 5]) -> [u64; 2] {
    AIM.set(unpack(&words));
    [0; 2]
}

/// The last of what is in the queue; and what was lost because it was full.
fn log() {
    let mut last = None;
    while let Some(it) = LOG.dequeue() {
        last = Some(it);
    }
    let lost = LOST.swap(0, Ordering::Relaxed);
    if let Some([roll, pitch, yaw, thrust]) = last {
        let _ = writeln!(Console, "roll {roll:.2} pitch {pitch:.2} yaw {yaw:.2} thrust {thrust:.1} N, {lost} lost");
    }
}
