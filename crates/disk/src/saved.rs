//! A map as bytes, and back: which drive it belongs to is written in it, and another drive's is refused.
//!
//! Layout, little-endian: magic `TLMAP1`, form, 0, granules u32, quantum u64, beyond u64, drive name u64 (model and
//! firmware), the cells, and a CRC-32 (IEEE 802.3) over all before. A name does not prove that a drive is of the same
//! kind, so [`LatencyMap::agrees`] holds some measured times against the cells as well.

use crate::map::{Form, LatencyMap};
use alloc::vec::Vec;
use core::fmt;
use tactus_time::Duration;

const MAGIC: &[u8; 6] = b"TLMAP1";
const HEAD: usize = 36;

/// Stands for the model and firmware of a drive: a hash of what the drive says of itself. Identical drives share a map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DriveName(pub u64);

impl DriveName {
    /// FNV-1a, 64 bits, over model, firmware and capacity.
    pub fn of(model: &str, firmware: &str, blocks: u64) -> DriveName {
        let bytes = model.bytes().chain([0]).chain(firmware.bytes()).chain([0]).chain(blocks.to_le_bytes());
        let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        DriveName(bytes.fold(0xcbf2_9ce4_8422_2325, hash))
    }
}

/// Why bytes are not this drive's map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoadError {
    /// Not a map at all, or of another version.
    NotAMap,
    /// Fewer or more bytes than its head says.
    Length {
        /// What the head says.
        expected: usize,
        /// What is there.
        found: usize,
    },
    /// Bytes have changed.
    Damaged,
    /// Another drive's.
    AnotherDrive {
        /// The name in the map.
        saved: DriveName,
        /// The drive that is here.
        here: DriveName,
    },
    /// Measured times are longer than the cells of the map.
    Slower {
        /// How many of the samples.
        samples: usize,
        /// Are above their cells.
        above: usize,
    },
    /// Measured times are so much shorter than the cells that the drive is another.
    Faster {
        /// How many of the samples.
        samples: usize,
        /// Are more than two quanta under their cells.
        below: usize,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::NotAMap => write!(f, "no saved map of this version; learn a new one"),
            LoadError::Length { expected, found } => {
                write!(
                    f,
                    "the saved map has {found} bytes where its head says {expected}; copy it again or learn a new one"
                )
            }
            LoadError::Damaged => write!(f, "the saved map is damaged (checksum); copy it again or learn a new one"),
            LoadError::AnotherDrive { saved, here } => {
                write!(f, "the saved map is of drive {:016x}, this is {:016x}; learn this drive's own", saved.0, here.0)
            }
            LoadError::Slower { samples, above } => {
                write!(f, "{above} of {samples} measured times are longer than the map says; learn this drive's own")
            }
            LoadError::Faster { samples, below } => {
                write!(
                    f,
                    "{below} of {samples} measured times are far shorter than the map says; learn this drive's own"
                )
            }
        }
    }
}

impl LatencyMap {
    /// The map as bytes that name the drive.
    pub fn save(&self, drive: DriveName) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEAD + self.cells.len() + 4);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&[u8::from(self.form() == Form::Directed), 0]);
        out.extend_from_slice(&self.granules().to_le_bytes());
        out.extend_from_slice(&self.quantum().as_nanos().to_le_bytes());
        out.extend_from_slice(&self.beyond().to_le_bytes());
        out.extend_from_slice(&drive.0.to_le_bytes());
        out.extend_from_slice(&self.cells);
        let sum = crc(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// The map of this drive from bytes.
    ///
    /// # Errors
    /// Where the bytes are no map, damaged, or of another drive.
    pub fn load(bytes: &[u8], here: DriveName) -> Result<LatencyMap, LoadError> {
        if bytes.len() < HEAD + 4 || &bytes[..6] != MAGIC || bytes[6] > 1 {
            return Err(LoadError::NotAMap);
        }
        let word = |at: usize| u64::from_le_bytes(core::array::from_fn(|n| bytes[at + n]));
        let granules = u32::from_le_bytes(core::array::from_fn(|n| bytes[8 + n]));
        let form = if bytes[6] == 1 { Form::Directed } else { Form::Symmetric };
        let n = u64::from(granules);
        let cells = if form == Form::Directed { n * n } else { n * (n + 1) / 2 };
        let expected = usize::try_from(cells.div_ceil(2)).map_or(usize::MAX, |cells| cells.saturating_add(HEAD + 4));
        if bytes.len() != expected {
            return Err(LoadError::Length { expected, found: bytes.len() });
        }
        let (body, sum) = bytes.split_at(bytes.len() - 4);
        if crc(body).to_le_bytes() != *sum {
            return Err(LoadError::Damaged);
        }
        let saved = DriveName(word(28));
        if saved != here {
            return Err(LoadError::AnotherDrive { saved, here });
        }
        let mut map =
            LatencyMap::new(form, granules as usize, Duration::from_nanos(word(12))).map_err(|_| LoadError::NotAMap)?;
        map.set_beyond(word(20));
        map.cells.copy_from_slice(&body[HEAD..]);
        Ok(map)
    }

    /// Holds measured times (from, to, took; back to back, no cache hits) against the cells. On the same kind of drive
    /// none is above its cell. On a faster drive they lie far under: where half of the samples do by more than two
    /// quanta, it is another drive. A symmetric map holds the worse of two directions, so that only the first is asked.
    ///
    /// # Errors
    /// Where the times are not this map's.
    pub fn agrees(&self, samples: &[(u32, u32, Duration)]) -> Result<(), LoadError> {
        let known = samples.iter().filter_map(|&(from, to, took)| Some((self.latency(from, to)?, took)));
        let above = known.clone().filter(|(cell, took)| took > cell).count();
        let below = known.filter(|(cell, took)| *took + self.quantum() + self.quantum() < *cell).count();
        let samples = samples.len();
        if above > 0 {
            Err(LoadError::Slower { samples, above })
        } else if self.form() == Form::Directed && 2 * below > samples {
            Err(LoadError::Faster { samples, below })
        } else {
            Ok(())
        }
    }
}

fn crc(bytes: &[u8]) -> u32 {
    let byte = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 })
    };
    !bytes.iter().fold(!0, byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_standards() {
        assert_eq!(crc(b"123456789"), 0xcbf4_3926);
    }
}
