//! Tells on which core its caller runs.
#![no_std]
#![no_main]

use tactus_rt::Caller;

tactus_rt::component! { services: [core] }

fn core(caller: Caller, _: [u64; 5]) -> [u64; 2] {
    [caller.core().into(), 0]
}
