//! The quadrotor's controller, version 1, which looks ahead between what it senses and what it tells the motors, and says after each job what
//! it took and gave: the job's number and how far it looked, then the bits of six numbers sensed, of three that the motors were told, and of
//! the height that it has seen ahead.
#![no_std]
#![no_main]

mod ahead;

use core::fmt::Write;
use tactus_rt::{Console, Job};
use update_craft::{control_by, sensed, Gains};

tactus_rt::component! { job: job, services: [] }

/// A line is made whole before it is written: each call of the console's is a place where a program cannot be saved.
struct Line {
    text: [u8; 128],
    length: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        let end = self.length + text.len();
        self.text.get_mut(self.length..end).ok_or(core::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

fn job(job: &Job) {
    let sensed = sensed();
    let steps = ahead::steps(job.number());
    let fallen = ahead::ahead(sensed[0], sensed[1], steps);
    let (number, told) = control_by(Gains { stiffness: 30.0, damping: 9.0 }, sensed);
    let mut line = Line { text: [0; 128], length: 0 };
    let _ = write!(line, "flies {number} {steps}");
    for number in sensed.iter().chain(&told).chain(&[fallen]) {
        let _ = write!(line, " {:x}", number.to_bits());
    }
    let _ = line.write_str("\n");
    let text = core::str::from_utf8(&line.text[..line.length]).unwrap_or_default();
    let _ = Console.write_str(text);
}
