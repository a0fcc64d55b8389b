//! The world: a rigid body with four motors, its gyroscope, accelerometer and magnetometer, and the ground. It moves on by a millisecond in each
//! job, and shows the sensors where it is.
#![no_std]
#![no_main]

use core::fmt::Write;
use craft::{pack, unpack, Published, ARM, DRAG, GRAVITY, MASS, SENSOR_PERIOD};
use nalgebra::{UnitQuaternion, Vector3};
use tactus_rt::{Caller, Console, Job, Single};

tactus_rt::component! { job: step, services: [drive], wide: [sense, locate] }

/// Moments of inertia (kg m²).
const INERTIA: Vector3<f32> = Vector3::new(0.01, 0.01, 0.02);
/// How fast a motor follows what it is told (1/s), and what it can do (N).
const MOTOR: f32 = 50.0;
const STRONGEST: f32 = 6.0;
/// Drag of the air (N s/m).
const AIR: f32 = 0.25;
/// The magnetic field, in the world: north and down.
const FIELD: Vector3<f32> = Vector3::new(0.53, 0.0, -0.85);

/// What the sensors show: angular velocity, specific force, magnetic field; then place and velocity.
static INERTIAL: Published<9> = Published::new();
static PLACE: Published<6> = Published::new();
/// What the motors are told (N).
static MOTORS: Published<4> = Published::new();

struct Body {
    position: Vector3<f32>,
    velocity: Vector3<f32>,
    attitude: UnitQuaternion<f32>,
    turning: Vector3<f32>,
    thrust: [f32; 4],
    random: u32,
    highest: f32,
    landed: bool,
}

static BODY: Single<Body> = Single::new();

fn step(_: &Job) {
    BODY.with_first(Body::on_the_ground, |body| body.move_on(SENSOR_PERIOD));
}

impl Body {
    fn on_the_ground() -> Body {
        Body {
            position: Vector3::zeros(),
            velocity: Vector3::zeros(),
            attitude: UnitQuaternion::identity(),
            turning: Vector3::zeros(),
            thrust: [0.0; 4],
            random: 0x2545_f491,
            highest: 0.0,
            landed: false,
        }
    }

    fn move_on(&mut self, time: f32) {
        for (thrust, told) in self.thrust.iter_mut().zip(MOTORS.get()) {
            *thrust += (told.clamp(0.0, STRONGEST) - *thrust) * MOTOR * time;
        }
        let [front, left, back, right] = self.thrust;
        let up = self.attitude * Vector3::new(0.0, 0.0, front + left + back + right);
        let torque = Vector3::new(ARM * (left - right), ARM * (back - front), DRAG * (front - left + back - right));
        let mut force = up - self.velocity * AIR - Vector3::new(0.0, 0.0, MASS * GRAVITY);
        let on_ground = self.position.z <= 0.0 && force.z <= 0.0;
        if on_ground {
            self.touch_down();
            force = Vector3::zeros();
        } else {
            let spin = self.turning.cross(&INERTIA.component_mul(&self.turning));
            self.turning += (torque - spin).component_div(&INERTIA) * time;
        }
        let acceleration = force / MASS;
        self.velocity += acceleration * time;
        self.position += self.velocity * time;
        self.attitude *= UnitQuaternion::from_scaled_axis(self.turning * time);
        self.highest = self.highest.max(self.position.z);
        self.show(acceleration);
    }

    /// The ground holds the craft; the first time after a flight that is told.
    fn touch_down(&mut self) {
        if self.highest > 1.0 && !self.landed {
            self.landed = true;
            let (x, y) = (self.position.x, self.position.y);
            let _ =
                writeln!(Console, "landed at {x:.2} {y:.2}, {:.2} m/s, from {:.2} m", -self.velocity.z, self.highest);
        }
        self.position.z = 0.0;
        self.velocity = Vector3::zeros();
        self.turning = Vector3::zeros();
    }

    /// What the sensors show of it.
    fn show(&mut self, acceleration: Vector3<f32>) {
        let into = self.attitude.inverse();
        let turning = self.turning + self.noise(0.02);
        let force = into * (acceleration + Vector3::new(0.0, 0.0, GRAVITY)) + self.noise(0.2);
        let field = into * FIELD + self.noise(0.01);
        let (p, v) = (self.position, self.velocity);
        INERTIAL.set([turning.x, turning.y, turning.z, force.x, force.y, force.z, field.x, field.y, field.z]);
        PLACE.set([p.x, p.y, p.z, v.x, v.y, v.z]);
    }

    fn noise(&mut self, most: f32) -> Vector3<f32> {
        let mut next = || {
            self.random ^= self.random << 13;
            self.random ^= self.random >> 17;
            self.random ^= self.random << 5;
            (self.random as f32 / u32::MAX as f32 * 2.0 - 1.0) * most
        };
        Vector3::new(next(), next(), next())
    }
}

/// `() -> (angular velocity, specific force, magnetic field)`.
fn sense(_: Caller, _: [u64; 10]) -> [u64; 10] {
    pack(&INERTIAL.get())
}

/// `() -> (place, velocity)`.
fn locate(_: Caller, _: [u64; 10]) -> [u64; 10] {
    pack(&PLACE.get())
}

/// `(thrust of each motor)`.
fn drive(_: Caller, words: [u64; 5]) -> [u64; 2] {
    MOTORS.set(unpack(&words));
    [0; 2]
}
