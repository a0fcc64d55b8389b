//! Tells those who read the machine's memory from outside where address spaces and threads lie: see [`tactus_abi::card`].

use crate::arch::paging::{direct, kernel_top, MEMORY};
use crate::arch::protect::physical;
use crate::arch::FrameSource;
use crate::component;
use crate::frames::Frames;
use crate::memory;
use crate::percore;
use crate::thread::{self, Thread};
use tactus_abi::card::{word, MAGIC, PLACE};
use tactus_abi::image::Header;
use tactus_abi::layout::{COUNTERS, MAX_COMPONENTS, MAX_CORES};

/// Writes the words. During set-up, of an emulated machine.
pub fn write(header: &Header, frames: &Frames) {
    let put = |at: usize, value: u64| {
        // SAFETY: the page lies below the first mebibyte, which the kernel leaves alone but for it and the start-up code of other cores.
        unsafe { direct::<u64>(MEMORY + PLACE).add(at).write_volatile(value) }
    };
    let (pool, count) = memory::pool();
    for (at, value) in [
        (word::CORES, header.cores.into()),
        (word::COMPONENTS, header.components.into()),
        (word::COLOURS, header.colours.into()),
        (word::KERNEL, frames.kernel_colours()),
        (word::KERNEL_TOP, kernel_top()),
        (word::POOL, pool),
        (word::POOL_FRAMES, count),
        (word::THREADS, &raw const thread::THREADS as u64),
        (word::THREAD_BYTES, size_of::<Thread>() as u64),
    ] {
        put(at, value);
    }
    for core in 0..(header.cores as usize).min(MAX_CORES) {
        // SAFETY: places in the block, of which only the addresses are taken.
        let (space, current) =
            unsafe { (&raw const (*percore::of(core)).space as u64, &raw const (*percore::of(core)).current as u64) };
        put(word::LOADED + core, physical(space).unwrap_or(0));
        put(word::RUNNING + core, physical(current).unwrap_or(0));
    }
    for number in 0..(header.components as usize).min(MAX_COMPONENTS) {
        let space = component::get(number as u16).space;
        let counters = space.frame_at(COUNTERS).unwrap_or(0) >> 12;
        put(word::TOPS + number, space.top() | (counters << 32));
    }
    put(word::MAGIC, MAGIC);
}
