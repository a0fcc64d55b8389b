//! What a program was, kept beside its slot: which pages that takes, in which steps, and the digest that finds damage.
//!
//! The pages of a snapshot have numbers: first those of the program, as [`Program::page`](crate::program::Program::page) has them; then the
//! slot's own, stacks and heap; then pages with the states of its threads, [`THREADS`] in each. Only what the program may write and what
//! is not as at its beginning is kept. The digest covers the number and the contents of each page that is kept, in their order, so what
//! was changed, left out or exchanged is found before anything of the slot is touched. As in [`load`](crate::load), the loader does
//! what the steps say, and the host counts them.

use crate::load::PAGES;
use crate::program::PAGE;
use hmac_sha256::Hash;

/// Pages that one step saves, or whose digest it takes again: as many bytes as a load reads in a step.
pub const SAVED_PAGES: u64 = (crate::load::DIGEST_BYTES as u64) / PAGE;
/// States of threads in a page.
pub const THREADS: u64 = 16;
/// The most pages of a slot that is saved.
pub const MOST_PAGES: usize = 1024;

/// How many pages a snapshot has at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Pages of the program.
    pub program: u64,
    /// Pages of the slot's own memory: stacks and heap.
    pub own: u64,
    /// Tasks of the slot.
    pub tasks: u64,
}

impl Extent {
    /// All of them.
    pub fn pages(&self) -> u64 {
        self.program + self.own + self.tasks.div_ceil(THREADS)
    }

    /// Steps of the loader that take the digest again.
    pub fn verify_steps(&self) -> u64 {
        self.pages().div_ceil(SAVED_PAGES)
    }

    /// Steps of the loader that write what was saved.
    pub fn write_steps(&self) -> u64 {
        self.pages().div_ceil(PAGES)
    }

    /// Jobs of the loader that a save takes.
    pub fn save_steps(&self) -> u64 {
        1 + self.verify_steps() + self.program.div_ceil(PAGES)
    }

    /// Jobs of the loader that a restore takes, where a load of its package takes `load`.
    pub fn restore_steps(&self, load: u64) -> u64 {
        self.verify_steps() + load + self.write_steps()
    }

    /// What a step of a save does; nothing once it is over.
    pub fn save_step(&self, number: u64) -> Option<SaveStep> {
        let Some(number) = number.checked_sub(1) else { return Some(SaveStep::Stop) };
        let part = |number: u64, step: u64, all: u64| {
            let from = number.checked_mul(step).filter(|from| *from < all)?;
            Some((from, step.min(all - from)))
        };
        if let Some((from, count)) = part(number, SAVED_PAGES, self.pages()) {
            return Some(SaveStep::Keep { from, count });
        }
        let (from, count) = part(number - self.verify_steps(), PAGES, self.program)?;
        Some(SaveStep::Unmap { from, count })
    }
}

/// What a step of a save does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SaveStep {
    /// The scheduler ends the tasks, and the component is stopped.
    Stop,
    /// Pages of the snapshot are copied and their digest is taken.
    Keep {
        /// The first.
        from: u64,
        /// How many.
        count: u64,
    },
    /// Pages of the program are taken away from the slot and given back.
    Unmap {
        /// The first.
        from: u64,
        /// How many.
        count: u64,
    },
}

/// The digest of the pages that are kept.
#[derive(Clone)]
pub struct Seal(Hash);

impl Seal {
    /// Of no page yet.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Seal {
        Seal(Hash::new())
    }

    /// And of the page with this number, whose contents follow.
    pub fn page(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    /// And of this piece of a page.
    pub fn contents(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// Of all of them.
    pub fn digest(self) -> [u8; 32] {
        self.0.finalize()
    }
}
