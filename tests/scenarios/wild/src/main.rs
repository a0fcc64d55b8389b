//! Behaves for three jobs and then goes wild, in the way that the number in its name says: `wild-7`.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::abi::layout::{HEAP, INFO, PROGRAM};
use tactus_rt::abi::shared::name_text;
use tactus_rt::port::{QueuingSource, SamplingSource};
use tactus_rt::{calls, grant, info, Job};

tactus_rt::component! { job: work, services: [] }

/// A number that looks drawn.
fn drawn() -> u64 {
    static STATE: AtomicU64 = AtomicU64::new(1);
    let next =
        STATE.load(Ordering::Relaxed).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    STATE.store(next, Ordering::Relaxed);
    next >> 16
}

fn write(address: u64) {
    // SAFETY: none: this is a fault that the scenario is about.
    unsafe { (address as *mut u64).write_volatile(1) };
}

fn execute(address: u64) {
    // SAFETY: as above.
    unsafe { core::mem::transmute::<u64, extern "C" fn()>(address)() };
}

#[allow(unconditional_recursion)]
fn deeper(depth: u64) -> u64 {
    let row = [depth; 64];
    core::hint::black_box(&row)[(depth % 64) as usize] + deeper(depth + 1)
}

fn work(job: &Job) {
    // Without a number it behaves.
    let kind = name_text(&info().name).rsplit('-').next().and_then(|number| number.parse::<u32>().ok());
    let Some(kind) = kind.filter(|_| job.number() >= 3) else { return };
    match kind {
        0 => write(0),
        1 => write(PROGRAM),
        2 => write(INFO),
        3 => write(0xffff_8000_0000_0000),
        4 => write(0x7fff_ffff_f000),
        5 => execute(8),
        6 => execute(HEAP),
        // SAFETY: as above.
        7 => unsafe { core::arch::asm!("cli") },
        // SAFETY: as above.
        8 => unsafe { core::arch::asm!("ud2") },
        // SAFETY: as above.
        9 => unsafe {
            core::arch::asm!("div {zero}", zero = in(reg) 0_u64, inout("rax") 1_u64 => _, inout("rdx") 0_u64 => _)
        },
        10 => {
            deeper(0);
        }
        11 => panic!("as it was told"),
        12 => loop {
            // SAFETY: does nothing, slowly.
            unsafe { core::arch::asm!(".rept 64", "nop", ".endr", options(nomem, nostack, preserves_flags)) };
        },
        // Every call there is and some that there are not, but those that end the component by its own wish.
        13 => loop {
            let number = drawn() % 24;
            if number != 7 {
                calls::raw(number, [drawn() % 300, drawn(), drawn() % 9, drawn(), drawn(), drawn()]);
            }
        },
        14 => loop {
            let _ = calls::invoke(drawn() % 70, [drawn(); 5]);
        },
        15 => loop {
            let _ = grant("complete").call([drawn() % 20; 5]);
        },
        16 => loop {
            if let Ok(port) = SamplingSource::open("noise") {
                let _ = port.write(&drawn().to_le_bytes());
            }
        },
        17 => loop {
            if let Ok(port) = QueuingSource::open("flood") {
                let _ = port.send(&drawn().to_le_bytes());
            }
        },
        // The memory of its own channels, all of it.
        18 => {
            for channel in 0..2_u64 {
                (0..512).for_each(|word| write(tactus_rt::abi::layout::CHANNELS + (channel << 20) + word * 8));
            }
        }
        // What the destination of its queue writes.
        _ => write(tactus_rt::abi::layout::CHANNELS + (2 << 20) - 4096),
    }
}
