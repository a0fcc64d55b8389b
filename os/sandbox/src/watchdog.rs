//! A kernel that keeps interrupts off for longer than it may is noticed, and is dead for its monitor.
//!
//! On an emulated machine the first core, which lets the time pass, watches a word of each sandbox's memory that its scheduler changes. If
//! that stands still, it interrupts the kernel's core in a way that nothing masks. The kernel's monitor looks then: a kernel that lets
//! interrupts in is alive. For any other the monitor waits until it does; if it does not before the first core interrupts again, it is
//! silent. So it is if the word stands still for longer than the scheduler may have nothing to do. A kernel without work is asked now and
//! then, and one that schedules never.

use crate::apic;
use crate::control::ControlBlock;
use crate::processor::time_stamp;
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};
use tactus_abi::sandbox::MOST;

/// How far the first core and each monitor are with a kernel whose word stands still.
static STATES: [AtomicU64; MOST] = [const { AtomicU64::new(QUIET) }; MOST];
/// Nothing is asked.
const QUIET: u64 = 0;
/// The monitor is to look.
const ASKED: u64 = 1;
/// It has found interrupts off, and waits until they are on.
const WAITS: u64 = 2;
/// It has waited for long enough.
const OVERDUE: u64 = 3;

/// What the first core knows of a sandbox.
#[derive(Clone, Copy, Default)]
pub struct Watched {
    last: u64,
    /// Since when it stands still, and since when nothing was asked.
    since: u64,
    asked: u64,
}

/// For how long a word may stand still before a kernel is asked, how long interrupts may be off then, and how long it may stand still at
/// all: by the time-stamp counter.
#[derive(Clone, Copy)]
pub struct Patience {
    pub asks: u64,
    pub off: u64,
    pub still: u64,
}

impl Watched {
    /// Looks at a sandbox with this core, whose kernel runs if `beat` is there: the word that stands still in a silent kernel.
    pub fn look(&mut self, sandbox: usize, core: u8, beat: Option<u64>, patience: Patience) {
        let (state, now) = (&STATES[sandbox % MOST], time_stamp());
        let Some(beat) = beat.filter(|beat| *beat == self.last) else {
            *self = Watched { last: beat.unwrap_or(u64::MAX), since: now, asked: now };
            return;
        };
        self.last = beat;
        let (from, to, is_due) = match state.load(SeqCst) {
            QUIET if now - self.since > patience.still => (QUIET, OVERDUE, true),
            QUIET => (QUIET, ASKED, now - self.asked > patience.asks),
            WAITS => (WAITS, OVERDUE, now - self.asked > patience.off),
            _ => return,
        };
        if is_due && state.compare_exchange(from, to, SeqCst, SeqCst).is_ok() {
            self.asked = now;
            apic::look_at(core);
        }
    }
}

/// What a monitor finds.
pub enum Found {
    /// Nobody asked: the kernel interrupted itself.
    NotAsked,
    /// The kernel lets interrupts in, or may still do.
    Alive,
    /// It is silent.
    Silent,
}

/// The kernel was interrupted in a way that nothing masks.
pub fn interrupted(sandbox: usize, block: ControlBlock) -> Found {
    let state = &STATES[sandbox % MOST];
    match state.load(SeqCst) {
        ASKED if block.lets_interrupts_in() => state.store(QUIET, SeqCst),
        ASKED => {
            block.wait_for_interrupts(true);
            state.store(WAITS, SeqCst);
        }
        OVERDUE => {
            state.store(QUIET, SeqCst);
            return Found::Silent;
        }
        _ => return Found::NotAsked,
    }
    Found::Alive
}

/// A kernel is dead: what was asked of it is asked no more.
pub fn forget(sandbox: usize) {
    STATES[sandbox % MOST].store(QUIET, SeqCst);
}

/// The kernel lets interrupts in, for which its monitor waited.
pub fn lets_in(sandbox: usize, block: ControlBlock) {
    block.wait_for_interrupts(false);
    STATES[sandbox % MOST].store(QUIET, SeqCst);
}
