/// The height (m) to which a craft comes that falls from this one with this climb (m/s), in a number of steps of 1 ms.
pub fn ahead(mut height: f32, mut climb: f32, steps: u64) -> f32 {
    for _ in 0..steps {
        climb -= 9.81 * 0.001;
        height += climb * 0.001;
    }
    height
}

#[allow(dead_code)]
/// How far a job looks ahead: some take longer than others.
pub fn steps(job: u64) -> u64 {
    1_600 + 500 * (job % 8)
}
