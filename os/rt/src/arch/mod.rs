//! What a processor gives to a component, and all that is particular to one: a folder for each beside this file.
//!
//! Nothing outside these folders names a register, an instruction or a layout of the stack, and a folder imports of the rest only what has to be
//! called back: [`crate::calls::give_up`], the contended rest of [`crate::lock`], and the interface of [`crate::counters`]
//! (`tests/house`, `arch`). What a folder must give stands below, by signature.
//!
//! | Module | What it gives |
//! |---|---|
//! | `calls` | the ways into the kernel |
//! | `clock` | the counter of time that the kernel's clock page is told in |
//! | `counters` | the processor's counters of events, as far as components may reach them |
//! | `entry` | where threads, upcalls and services begin: three macros; a thread begins again |
//! | `hostile` | instructions of components that test the kernel |
//! | `marks` | instructions that do nothing and hold a number |
//! | `memory` | `memcpy` and its like, where `core` brings none |
//! | `sequences` | the restartable atomic sequences, with the table of their bounds |
//! | `spend` | work of an exact number of instructions |
//! | `word` | single instructions on words that the kernel writes too; the order of stores |

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as processor;
#[cfg(target_arch = "x86_64")]
use x86_64 as processor;

#[cfg(feature = "hostile")]
pub(crate) use processor::hostile;
#[cfg(feature = "marks")]
pub use processor::marks;
pub(crate) use processor::{calls, clock, entry, word};
pub use processor::{counters, sequences, spend};

use crate::lock;
use tactus_abi::layout::MAX_SEQUENCES;

/// What each folder gives, by signature; the macros of `entry` are used in `lib.rs`.
#[allow(clippy::type_complexity)]
const _: () = {
    // Enters the kernel with the number of a call and its words; the status, and two words.
    let _: fn(u64, [u64; 6]) -> (u64, [u64; 2]) = calls::enter;
    // The call that does nothing.
    let _: fn() = calls::null;
    // As `enter`, to invoke with ten words, there and back.
    let _: fn(u64, [u64; 10]) -> (u64, [u64; 10]) = calls::invoke_wide;
    // Returns from an invocation with ten words.
    let _: fn([u64; 10]) -> ! = calls::return_wide;
    // Dispatches a thread, with flags, until a time-out; the status.
    let _: fn(u64, u64, u64) -> u64 = calls::switch_thread;
    // The counter of time.
    let _: fn() -> u64 = clock::time_stamp;
    // Leaves everything on the stack that ends here.
    let _: unsafe fn(u64, extern "C" fn() -> !) -> ! = entry::restart_at;
    // Bounds of the sequences below, in their order.
    let _: fn() -> &'static [sequences::Bounds; MAX_SEQUENCES] = sequences::table;
    let _: unsafe fn(*mut u64, u64, u64) -> u64 = sequences::exchange;
    let _: unsafe fn(*mut u32) -> u32 = sequences::take_word;
    let _: unsafe fn(*mut u64, u64) = sequences::take_lock;
    let _: unsafe fn(*mut u64) = sequences::release_lock;
    // Exactly this number of instructions: counted down, executed one after another, a row of those that do nothing.
    let _: fn(u64) = spend::count_down;
    let _: fn(u64) = spend::execute;
    let _: fn() = spend::row;
    let _: u64 = spend::MOST_INSTRUCTIONS;
    // Takes a word and leaves zero; clears bits; in one instruction.
    let _: unsafe fn(*mut u64) -> u64 = word::take;
    let _: unsafe fn(*mut u16) = word::keep_only::<0>;
    // Hides from the compiler where an address comes from; keeps stores in their order.
    let _: fn(u64) -> u64 = word::opaque;
    let _: fn() = word::before_stores;
    // Called back by the sequences of the lock.
    let _: extern "C" fn(*mut u64, u64) = lock::take_contended;
    let _: extern "C" fn(*mut u64) = lock::release_contended;
};

#[cfg(feature = "marks")]
const _: fn(u64) = marks::mark;

#[cfg(feature = "hostile")]
const _: () = {
    let _: unsafe fn(*mut u32) -> u32 = hostile::take_word;
    let _: fn(u64) -> u8 = hostile::read_anywhere;
    let _: fn() = hostile::touch_floating_point;
    // Whether the registers that a call does not give back come back cleared.
    let _: fn(u64, u64) -> bool = hostile::comes_back_clean;
};
