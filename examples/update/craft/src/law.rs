//! The law by which the craft is controlled: numbers alone, so that a host computes the same.

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

/// What goes on from job to job: where the flight is, and what its integral has learned of the weight.
pub struct Flight {
    /// Jobs so far.
    pub jobs: u64,
    /// Height that was missing (m s).
    pub integral: f32,
}

impl Flight {
    /// One job, from height, climb, roll, its rate, pitch and its rate: the thrust (m/s²) and what turns roll and pitch (1/s²).
    pub fn step(&mut self, gains: Gains, [height, climb, roll, roll_rate, pitch, pitch_rate]: [f32; 6]) -> [f32; 3] {
        let (target, speed) = mission(self.jobs as f32 * PERIOD);
        self.jobs += 1;
        let missing = target - height;
        self.integral = (self.integral + missing * PERIOD).clamp(-2.0, 2.0);
        let lift = GRAVITY + 6.0 * missing + 4.0 * (speed - climb) + self.integral;
        let ended = target < 0.0 && height < 0.02;
        let thrust = if ended { 0.0 } else { lift.clamp(0.0, 20.0) };
        let tilt = |angle: f32, rate: f32| -gains.stiffness * angle - gains.damping * rate;
        [thrust, tilt(roll, roll_rate), tilt(pitch, pitch_rate)]
    }
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
