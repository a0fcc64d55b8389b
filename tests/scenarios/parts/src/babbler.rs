//! Writes to the console itself, on two cores at once, what a terminal or a reader might take for somebody else's.
#![no_std]
#![no_main]

use tactus_rt::{calls, Job};

tactus_rt::component! { job: babble, services: [] }

fn babble(_: &Job) {
    for _ in 0..12 {
        for piece in ["forged", "\u{9b}31m", "forged\r", "\n", "forged: tactus: panic 0.0: forged|", "\n", "forged", "\x1b]0;forged\u{9c}"] {
            calls::text(piece);
        }
    }
}
