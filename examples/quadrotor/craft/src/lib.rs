//! What the parts of the craft have in common: numbers as words of a call, and numbers that one part publishes and others read.
#![no_std]

use core::sync::atomic::{AtomicU32, Ordering};

/// Gravity (m/s²).
pub const GRAVITY: f32 = 9.81;
/// Mass of the craft (kg).
pub const MASS: f32 = 1.0;
/// From the centre to each motor (m).
pub const ARM: f32 = 0.2;
/// What a motor's drag turns the craft with, for each newton of its thrust (m).
pub const DRAG: f32 = 0.02;
/// The sensor's period (s).
pub const SENSOR_PERIOD: f32 = 0.001;
/// The section in which a task holds the estimator: the first, and only one, of each task's.
pub const ESTIMATOR: usize = 0;

/// Numbers as the words of a wide call, two in each.
pub fn pack(numbers: &[f32]) -> [u64; 10] {
    let mut words = [0; 10];
    for (word, pair) in words.iter_mut().zip(numbers.chunks(2)) {
        let high = pair.get(1).map_or(0, |it| it.to_bits());
        *word = u64::from(high) << 32 | u64::from(pair[0].to_bits());
    }
    words
}

/// The first numbers in such words.
pub fn unpack<const N: usize>(words: &[u64]) -> [f32; N] {
    core::array::from_fn(|number| {
        let word = words.get(number / 2).copied().unwrap_or(0);
        f32::from_bits((word >> (32 * (number % 2))) as u32)
    })
}

/// Numbers that belong together: written by one task, read by others of its core.
pub struct Published<const N: usize> {
    /// Odd while they are written.
    version: AtomicU32,
    numbers: [AtomicU32; N],
}

impl<const N: usize> Default for Published<N> {
    fn default() -> Self {
        Published::new()
    }
}

impl<const N: usize> Published<N> {
    /// Zeros.
    pub const fn new() -> Self {
        Published { version: AtomicU32::new(0), numbers: [const { AtomicU32::new(0) }; N] }
    }

    /// Writes all of them.
    pub fn set(&self, numbers: [f32; N]) {
        self.version.fetch_add(1, Ordering::AcqRel);
        for (place, number) in self.numbers.iter().zip(numbers) {
            place.store(number.to_bits(), Ordering::Relaxed);
        }
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    /// Reads all of them, once more if they were written meanwhile: the writer is more urgent than its readers, so that it is not found in the
    /// middle.
    pub fn get(&self) -> [f32; N] {
        loop {
            let version = self.version.load(Ordering::Acquire);
            let numbers = core::array::from_fn(|n| f32::from_bits(self.numbers[n].load(Ordering::Relaxed)));
            if version % 2 == 0 && self.version.load(Ordering::Acquire) == version {
                return numbers;
            }
        }
    }
}
