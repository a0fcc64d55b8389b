//! Pages on a disk that keep what is in them whenever the power goes.
//!
//! Each page has two slots on the disk, which are written in turn. A slot holds a serial number, the page and a checksum; the valid
//! one with the higher number counts. A write goes to the other one and is flushed, so that a torn slot is never the only one that
//! holds what was acknowledged. What was read or written is held in memory, so that each slot is read once.

use crate::store::{Store, StoreError, SLOT};
use core::fmt;
use embedded_storage_async::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};

/// Bytes of a page: a slot but for serial number and checksum.
pub const PAGE: u32 = (SLOT - 16) as u32;
const BYTES: usize = PAGE as usize;

/// What was found damaged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Damage {
    /// How many slots.
    pub slots: u64,
    /// The last one.
    pub last: Option<u32>,
}

/// Why a page could not be read or written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PagesError {
    /// The disk.
    Store(StoreError),
    /// Bytes beyond the pages.
    Range,
    /// Both slots of a page are damaged, which no power cut does; this is the first.
    Lost(u32),
}

impl fmt::Display for PagesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PagesError::Store(error) => error.fmt(f),
            PagesError::Range => write!(f, "the log has fewer pages than are asked for; give it more"),
            PagesError::Lost(slot) => {
                write!(f, "slots {slot} and {} are both damaged; restore them from a copy, or begin anew", slot + 1)
            }
        }
    }
}

impl NorFlashError for PagesError {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            PagesError::Range => NorFlashErrorKind::OutOfBounds,
            _ => NorFlashErrorKind::Other,
        }
    }
}

/// A page in memory.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its serial number, and the slot that does not count; nothing before it was read, or after a write failed.
    known: Option<(u64, u32)>,
    bytes: [u8; BYTES],
}

impl Page {
    /// One of which nothing is known.
    pub const UNREAD: Page = Page { known: None, bytes: [0xff; BYTES] };
}

/// Pages on a disk.
pub struct Pages<'a, S> {
    store: S,
    pages: &'a mut [Page],
    slot: &'a mut [u8; SLOT],
    damage: Damage,
}

impl<'a, S: Store> Pages<'a, S> {
    pub(crate) fn new(store: S, pages: &'a mut [Page], slot: &'a mut [u8; SLOT]) -> Pages<'a, S> {
        pages.iter_mut().for_each(|page| page.known = None);
        Pages { store, pages, slot, damage: Damage::default() }
    }
    pub(crate) fn close(self) -> S {
        self.store
    }
    pub(crate) fn damage(&self) -> &Damage {
        &self.damage
    }
    pub(crate) fn bytes(&self) -> u32 {
        self.pages.len() as u32 * PAGE
    }

    /// Reads a page unless it is known.
    async fn find(&mut self, number: usize) -> Result<(), PagesError> {
        if self.pages[number].known.is_some() {
            return Ok(());
        }
        let first = 2 * number as u32;
        let (mut best, mut damaged): (Option<(u64, u32)>, u32) = (None, 0);
        for slot in [first, first + 1] {
            self.store.read(slot, self.slot).await.map_err(PagesError::Store)?;
            match open(self.slot) {
                Slot::Valid(serial) if best.is_none_or(|best| serial > best.0) => {
                    best = Some((serial, first + first + 1 - slot));
                    self.pages[number].bytes.copy_from_slice(&self.slot[8..8 + BYTES]);
                }
                Slot::Valid(_) | Slot::Empty => {}
                Slot::Damaged => {
                    damaged += 1;
                    self.damage = Damage { slots: self.damage.slots + 1, last: Some(slot) };
                }
            }
        }
        if best.is_none() {
            if damaged == 2 {
                return Err(PagesError::Lost(first));
            }
            // Never written, or the first write was cut off: erased.
            self.pages[number].bytes.fill(0xff);
        }
        self.pages[number].known = Some(best.unwrap_or((0, first)));
        Ok(())
    }

    /// Writes a page, as it is in memory now, to its other slot.
    async fn put(&mut self, number: usize) -> Result<(), PagesError> {
        // If this fails, the disk says next time what is there.
        let (serial, other) = self.pages[number].known.take().unwrap_or((0, 2 * number as u32));
        self.slot[..8].copy_from_slice(&(serial + 1).to_le_bytes());
        self.slot[8..8 + BYTES].copy_from_slice(&self.pages[number].bytes);
        let sum = checksum(&self.slot[..8 + BYTES]);
        self.slot[8 + BYTES..].copy_from_slice(&sum.to_le_bytes());
        self.store.write(other, self.slot).await.map_err(PagesError::Store)?;
        self.store.flush().await.map_err(PagesError::Store)?;
        self.pages[number].known = Some((serial + 1, other ^ 1));
        Ok(())
    }

    fn check(&self, offset: u32, bytes: usize) -> Result<(), PagesError> {
        if u64::from(offset) + bytes as u64 > u64::from(self.bytes()) {
            Err(PagesError::Range)
        } else {
            Ok(())
        }
    }
}

enum Slot {
    Empty,
    /// With its serial number.
    Valid(u64),
    Damaged,
}

fn open(slot: &[u8; SLOT]) -> Slot {
    if slot.iter().all(|byte| *byte == 0) {
        return Slot::Empty;
    }
    let word = |at: usize| u64::from_le_bytes(core::array::from_fn(|n| slot[at + n]));
    if word(8 + BYTES) != checksum(&slot[..8 + BYTES]) {
        return Slot::Damaged;
    }
    Slot::Valid(word(0))
}

/// FNV-1a, 64 bits.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

impl<S> ErrorType for Pages<'_, S> {
    type Error = PagesError;
}

impl<S: Store> ReadNorFlash for Pages<'_, S> {
    const READ_SIZE: usize = 1;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), PagesError> {
        self.check(offset, bytes.len())?;
        let (mut at, mut rest) = (offset as usize, bytes);
        while !rest.is_empty() {
            let (number, from) = (at / BYTES, at % BYTES);
            self.find(number).await?;
            let many = rest.len().min(BYTES - from);
            let (out, later) = rest.split_at_mut(many);
            out.copy_from_slice(&self.pages[number].bytes[from..from + many]);
            (at, rest) = (at + many, later);
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes() as usize
    }
}

impl<S: Store> NorFlash for Pages<'_, S> {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = BYTES;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), PagesError> {
        self.check(from, (to - from) as usize)?;
        for number in from as usize / BYTES..to as usize / BYTES {
            self.find(number).await?;
            self.pages[number].bytes.fill(0xff);
            self.put(number).await?;
        }
        Ok(())
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), PagesError> {
        self.check(offset, bytes.len())?;
        let (mut at, mut rest) = (offset as usize, bytes);
        while !rest.is_empty() {
            let (number, from) = (at / BYTES, at % BYTES);
            self.find(number).await?;
            let many = rest.len().min(BYTES - from);
            let (part, later) = rest.split_at(many);
            // As flash does: what is 0 stays 0.
            self.pages[number].bytes[from..from + many].iter_mut().zip(part).for_each(|(old, new)| *old &= new);
            self.put(number).await?;
            (at, rest) = (at + many, later);
        }
        Ok(())
    }
}

impl<S: Store> MultiwriteNorFlash for Pages<'_, S> {}
