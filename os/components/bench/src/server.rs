//! A service that does nothing, and one that looks at every word.
#![no_std]
#![no_main]

use tactus_rt::Caller;

tactus_rt::component! { services: [nothing, sum] }

fn nothing(_: Caller, _: [u64; 5]) -> [u64; 2] {
    [0; 2]
}

fn sum(_: Caller, words: [u64; 5]) -> [u64; 2] {
    [words.iter().sum(), words.len() as u64]
}
