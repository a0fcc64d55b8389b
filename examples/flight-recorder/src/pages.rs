//! Pages on a disk that keep what is in them whenever the power goes.
//!
//! Each part of a page has two sectors on the disk, which are written in turn. A sector holds a serial number, the part and
//! a checksum; the valid one with the higher number counts. A write goes to the other one and is flushed, so that a torn
//! sector is never the only one that holds what was acknowledged.

use core::fmt;
use embedded_storage_async::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};
use tactus_disk::{Contents, DriveError, SECTOR};

/// Bytes of a part: a sector but for serial number and checksum.
const PART: usize = SECTOR - 16;
/// Parts of a page.
const PARTS: usize = 8;
/// Bytes of a page.
pub const PAGE: u32 = (PART * PARTS) as u32;

/// What was found damaged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Damage {
    /// How many sectors; one that is read twice counts twice.
    pub sectors: u64,
    /// The block of the last one.
    pub last: Option<u64>,
}

/// Why a page could not be read or written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PagesError {
    /// The drive.
    Drive(DriveError),
    /// Bytes beyond the pages.
    Range,
    /// Both sectors of a part are damaged, which no power cut does; this is the first.
    Lost(u64),
}

impl fmt::Display for PagesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PagesError::Drive(error) => error.fmt(f),
            PagesError::Range => write!(f, "the log has fewer pages than are asked for; give it more"),
            PagesError::Lost(block) => {
                write!(f, "blocks {block} and {} are both damaged; restore them from a copy, or begin anew", block + 1)
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

/// Pages from a block of a disk on.
#[derive(Debug)]
pub struct Pages {
    disk: Contents,
    block: u64,
    pages: u32,
    damage: Damage,
}

/// A part as it counts, and where the next goes.
struct Found {
    part: [u8; PART],
    serial: u64,
    /// Block of the sector that does not count.
    other: u64,
}

impl Pages {
    pub(crate) fn new(disk: Contents, block: u64, pages: u32) -> Pages {
        Pages { disk, block, pages, damage: Damage::default() }
    }
    pub(crate) fn disk(&self) -> &Contents {
        &self.disk
    }
    pub(crate) fn close(self) -> Contents {
        self.disk
    }
    pub(crate) fn damage(&self) -> &Damage {
        &self.damage
    }

    fn find(&mut self, part: u64) -> Result<Found, PagesError> {
        let first = self.block + 2 * part;
        let mut best: Option<(u64, [u8; PART], u64)> = None;
        let mut damaged = 0;
        for block in [first, first + 1] {
            let mut sector = [0; SECTOR];
            self.disk.read(block, &mut sector).map_err(PagesError::Drive)?;
            match open(&sector) {
                Sector::Valid(serial) if best.as_ref().is_none_or(|best| serial > best.0) => {
                    let part = core::array::from_fn(|n| sector[8 + n]);
                    best = Some((serial, part, first + first + 1 - block));
                }
                Sector::Valid(_) | Sector::Empty => {}
                Sector::Damaged => {
                    damaged += 1;
                    self.damage = Damage { sectors: self.damage.sectors + 1, last: Some(block) };
                }
            }
        }
        match best {
            Some((serial, part, other)) => Ok(Found { part, serial, other }),
            None if damaged == 2 => Err(PagesError::Lost(first)),
            // Never written, or the first write was cut off: erased.
            None => Ok(Found { part: [0xff; PART], serial: 0, other: first }),
        }
    }

    fn put(&mut self, found: &Found) -> Result<(), PagesError> {
        let mut sector = [0; SECTOR];
        sector[..8].copy_from_slice(&(found.serial + 1).to_le_bytes());
        sector[8..8 + PART].copy_from_slice(&found.part);
        let sum = checksum(&sector[..8 + PART]);
        sector[8 + PART..].copy_from_slice(&sum.to_le_bytes());
        self.disk.write(found.other, &sector).map_err(PagesError::Drive)
    }

    fn check(&self, offset: u32, bytes: usize) -> Result<(), PagesError> {
        let end = u64::from(offset) + bytes as u64;
        if end > u64::from(self.pages) * u64::from(PAGE) {
            Err(PagesError::Range)
        } else {
            Ok(())
        }
    }
}

enum Sector {
    Empty,
    /// With its serial number.
    Valid(u64),
    Damaged,
}

fn open(sector: &[u8; SECTOR]) -> Sector {
    if sector.iter().all(|byte| *byte == 0) {
        return Sector::Empty;
    }
    let word = |at: usize| u64::from_le_bytes(core::array::from_fn(|n| sector[at + n]));
    if word(8 + PART) != checksum(&sector[..8 + PART]) {
        return Sector::Damaged;
    }
    Sector::Valid(word(0))
}

/// FNV-1a, 64 bits.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

impl ErrorType for Pages {
    type Error = PagesError;
}

impl ReadNorFlash for Pages {
    const READ_SIZE: usize = 1;

    async fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), PagesError> {
        self.check(offset, bytes.len())?;
        let mut at = offset as usize;
        let mut rest = bytes;
        while !rest.is_empty() {
            let found = self.find((at / PART) as u64)?;
            let from = at % PART;
            let many = rest.len().min(PART - from);
            let (out, later) = rest.split_at_mut(many);
            out.copy_from_slice(&found.part[from..from + many]);
            (at, rest) = (at + many, later);
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.pages as usize * PAGE as usize
    }
}

impl NorFlash for Pages {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = PAGE as usize;

    async fn erase(&mut self, from: u32, to: u32) -> Result<(), PagesError> {
        self.check(from, (to - from) as usize)?;
        for part in from as usize / PART..to as usize / PART {
            let found = self.find(part as u64)?;
            self.put(&Found { part: [0xff; PART], ..found })?;
        }
        self.disk.flush().map_err(PagesError::Drive)
    }

    async fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), PagesError> {
        self.check(offset, bytes.len())?;
        let mut at = offset as usize;
        let mut rest = bytes;
        while !rest.is_empty() {
            let mut found = self.find((at / PART) as u64)?;
            let from = at % PART;
            let many = rest.len().min(PART - from);
            let (part, later) = rest.split_at(many);
            // As flash does: what is 0 stays 0.
            found.part[from..from + many].iter_mut().zip(part).for_each(|(old, new)| *old &= new);
            self.put(&found)?;
            (at, rest) = (at + many, later);
        }
        self.disk.flush().map_err(PagesError::Drive)
    }
}

impl MultiwriteNorFlash for Pages {}
