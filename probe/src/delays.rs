//! Delays of cores that execute at the same time, after accesses to memory chosen at random: what would have to come together in a few
//! instructions comes together often.
//!
//! `delays=N,seed=S`: a core stands still after one of N accesses, for up to [`LONGEST`].

use crate::interface::{
    self, qemu_plugin_register_vcpu_mem_cb, qemu_plugin_register_vcpu_tb_trans_cb, qemu_plugin_tb_get_insn,
    qemu_plugin_tb_n_insns, TranslatedBlock,
};
use crate::MOST_CORES;
use core::ffi::{c_uint, c_void};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The longest time for which a core stands still.
const LONGEST: Duration = Duration::from_micros(100);

/// The number of accesses of which one is followed by a delay, in the mean.
static EACH: AtomicU32 = AtomicU32::new(0);

/// A core's accesses until the next delay, and its random numbers. Only its own thread has them.
struct Core {
    rest: AtomicU32,
    random: AtomicU64,
}

static CORES: [Core; MOST_CORES] = [const { Core { rest: AtomicU32::new(0), random: AtomicU64::new(0) } }; MOST_CORES];

/// Begins to delay.
///
/// # Errors
/// If an option is wrong, in words.
pub fn begin(id: u64, options: &[String]) -> Result<(), String> {
    let value = |key: &str| options.iter().find_map(|option| option.strip_prefix(key)?.strip_prefix('='));
    let number = |key: &str| value(key).and_then(|text| text.parse::<u32>().ok());
    let (Some(each @ 1..), Some(seed)) = (number("delays"), number("seed")) else {
        return Err("give delays=N and seed=N".into());
    };
    EACH.store(each, Relaxed);
    for (core, number) in CORES.iter().zip(1..) {
        core.random.store((u64::from(seed) << 16 | number).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, Relaxed);
    }
    // SAFETY: the call-back has the interface's signature and lives as long as the plug-in.
    unsafe { qemu_plugin_register_vcpu_tb_trans_cb(id, translated) };
    Ok(())
}

extern "C" fn translated(_: u64, block: *mut TranslatedBlock) {
    // SAFETY: QEMU passes a block that is valid during this call, and asks for instructions below their number.
    unsafe {
        for at in 0..qemu_plugin_tb_n_insns(block) {
            let (instruction, nothing) = (qemu_plugin_tb_get_insn(block, at), core::ptr::null_mut());
            let (registers, which) = (interface::NO_REGISTERS, interface::READS_AND_WRITES);
            qemu_plugin_register_vcpu_mem_cb(instruction, accessed, registers, which, nothing);
        }
    }
}

extern "C" fn accessed(core: c_uint, _: u32, _: u64, _: *mut c_void) {
    let core = &CORES[core as usize % MOST_CORES];
    let rest = core.rest.load(Relaxed);
    core.rest.store(rest.wrapping_sub(1), Relaxed);
    if rest != 0 {
        return;
    }
    // Marsaglia's xorshift.
    let mut random = core.random.load(Relaxed);
    for shift in [13, -7, 17_i32] {
        random ^= if shift < 0 { random >> -shift } else { random << shift };
    }
    core.random.store(random, Relaxed);
    let (one, other) = ((random >> 32) as u32, random as u32);
    core.rest.store(one % (2 * EACH.load(Relaxed)), Relaxed);
    std::thread::sleep(LONGEST * (other % 1_000) / 1_000);
}
