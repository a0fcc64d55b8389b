//! What one core leaves for another, and the interrupt that says so.
//!
//! A core writes into another one's [`Mail`] and interrupts it. What the sender has asked for already and the receiver has
//! not come to yet asks for no second interrupt; so nobody can hold up a core with messages, beyond one interrupt each time
//! that the receiver itself gets to run.

use crate::arch::{interrupts, slices};
use crate::path::Scheduler;
use crate::percore::{self, Core};
use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicU8};
use tactus_abi::layout::{MAX_COMPONENTS, MAX_CORES};

/// What other cores have left for a core.
pub struct Mail {
    /// Brands that were triggered, as bits.
    pub brands: AtomicU32,
    /// Interrupt lines that have interrupted and may again, as bits.
    pub lines: AtomicU32,
    /// The tick has changed.
    pub tick: AtomicBool,
    /// Schedulers that were sent word, as bits.
    pub schedulers: [AtomicU64; MAX_COMPONENTS / 64],
    /// How far each one's word has come: see [`SENT`].
    pub word: [AtomicU8; MAX_COMPONENTS],
}

/// An interrupt is on its way.
pub const SENT: u8 = 1;
/// It has come, but the scheduler has not had this core since.
pub const POSTED: u8 = 2;

/// By core.
pub static MAIL: [Mail; MAX_CORES] = [const {
    Mail {
        brands: AtomicU32::new(0),
        lines: AtomicU32::new(0),
        tick: AtomicBool::new(false),
        schedulers: [const { AtomicU64::new(0) }; MAX_COMPONENTS / 64],
        word: [const { AtomicU8::new(0) }; MAX_COMPONENTS],
    }
}; MAX_CORES];

/// Interrupts the core so that it looks at its mail.
pub fn ring(core: usize) {
    slices::calls(core);
    // SAFETY: addresses of cores are written during set-up only.
    interrupts::mail(unsafe { (*percore::of(core % MAX_CORES)).address });
    slices::let_look();
}

/// Word to the scheduler on another core.
pub fn notify(scheduler: Scheduler, target: usize) {
    let number = usize::from(scheduler.component()) % MAX_COMPONENTS;
    let mail = &MAIL[target % MAX_CORES];
    if mail.word[number].compare_exchange(0, SENT, SeqCst, SeqCst).is_ok() {
        mail.schedulers[number / 64].fetch_or(1 << (number % 64), SeqCst);
        ring(target);
    }
}

/// The scheduler gets this core, or has it: word from another one may interrupt again. Whether word had come that it may not
/// have had the core for since: what was sent after that sent no interrupt, so it has to look once more.
pub fn reached(core: &Core, component: u16) -> bool {
    let word = &MAIL[core.id as usize % MAX_CORES].word[usize::from(component) % MAX_COMPONENTS];
    word.load(SeqCst) == POSTED && word.compare_exchange(POSTED, 0, SeqCst, SeqCst).is_ok()
}
