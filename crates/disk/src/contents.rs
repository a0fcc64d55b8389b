//! A drive with what is written on it: bytes on the platter, bytes in the volatile write cache, and what a power cut
//! leaves of them.
//!
//! [`Drive`] says which writes are still in its cache; this type holds their bytes beside them, in the same order.

use crate::cache::Lost;
use crate::drive::Drive;
use crate::request::Request;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use tactus_time::Instant;

/// Bytes of a sector.
pub const SECTOR: usize = 512;

/// Why a request was not done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DriveError {
    /// The power went before it was done.
    PowerLost,
    /// Blocks beyond the end, or no whole sectors.
    Range,
}

impl fmt::Display for DriveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DriveError::PowerLost => write!(f, "the power went; restore it and open the log again"),
            DriveError::Range => write!(f, "the request is not of whole sectors of the drive; keep to its blocks"),
        }
    }
}

/// A drive and its bytes. Sectors that were never written read as zeros.
#[derive(Clone, Debug)]
pub struct Contents {
    drive: Drive,
    sectors: BTreeMap<u64, [u8; SECTOR]>,
    /// What was answered and is in the cache, the oldest first.
    cached: Vec<(Request, Vec<u8>)>,
    now: Instant,
    /// When the power goes, and the seed of what it leaves.
    cut: Option<(Instant, u64)>,
    powered: bool,
    torn: u64,
}

impl Contents {
    /// An empty drive.
    pub fn new(drive: Drive) -> Contents {
        let (sectors, cached) = (BTreeMap::new(), Vec::new());
        Contents { drive, sectors, cached, now: Instant::ZERO, cut: None, powered: true, torn: 0 }
    }
    /// Lets the power go at an instant; what of the cache survives is drawn from a seed.
    pub fn cut_at(&mut self, at: Instant, seed: u64) {
        self.cut = Some((at, seed));
    }
    /// The power comes back.
    pub fn restore(&mut self) {
        (self.powered, self.cut) = (true, None);
    }
    /// The time at the end of the last request.
    pub fn now(&self) -> Instant {
        self.now
    }
    /// Sectors that power cuts have torn so far.
    pub fn torn(&self) -> u64 {
        self.torn
    }
    /// The drive.
    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// Blocks of this number of bytes, if they are of the drive.
    fn blocks(&self, block: u64, bytes: usize) -> Result<u32, DriveError> {
        let blocks = (bytes / SECTOR) as u64;
        let fits = bytes % SECTOR == 0 && blocks > 0 && block.saturating_add(blocks) <= self.drive.geometry().blocks();
        u32::try_from(blocks).ok().filter(|_| fits).ok_or(DriveError::Range)
    }

    fn request(&self, block: u64, blocks: u32, write: bool) -> Request {
        let (arrival, deadline) = (self.now, Instant::NEVER);
        Request { id: 0, granule: 0, block, blocks, write, arrival, deadline }
    }

    /// Time goes on; fails if the power went before.
    fn until(&mut self, end: Instant) -> Result<(), DriveError> {
        if let Some((at, seed)) = self.cut.filter(|(at, _)| *at <= end) {
            self.now = at;
            self.lose(seed);
        } else {
            self.now = end;
        }
        if self.powered {
            Ok(())
        } else {
            Err(DriveError::PowerLost)
        }
    }

    /// Writes that the drive no longer has in its cache are on the platter, if they arrived there.
    fn settle(&mut self, arrives: bool) {
        let gone = self.cached.len().saturating_sub(self.drive.dirty());
        for (request, bytes) in self.cached.drain(..gone) {
            if arrives {
                put(&mut self.sectors, &request, &bytes);
            }
        }
    }

    fn lose(&mut self, seed: u64) {
        self.powered = false;
        for lost in self.drive.power_cut(seed) {
            if self.cached.is_empty() {
                break;
            }
            let (request, bytes) = self.cached.remove(0);
            match lost {
                Lost::Nothing(_) => put(&mut self.sectors, &request, &bytes),
                Lost::All(_) => {}
                Lost::Torn(_, at) => {
                    let whole = at as usize * SECTOR;
                    put(&mut self.sectors, &request, &bytes[..whole]);
                    // Half of the sector is new, half is what was there.
                    let sector = self.sectors.entry(request.block + u64::from(at)).or_insert([0; SECTOR]);
                    let half = whole + SECTOR / 2;
                    sector[..SECTOR / 2].copy_from_slice(&bytes[whole..half]);
                    self.torn += 1;
                }
            }
        }
        self.cached.clear();
    }

    /// Writes whole sectors. What is answered may be in the cache only.
    ///
    /// # Errors
    /// Where the power goes before the answer, or there are no such sectors.
    pub fn write(&mut self, block: u64, bytes: &[u8]) -> Result<(), DriveError> {
        if !self.powered {
            return Err(DriveError::PowerLost);
        }
        let request = self.request(block, self.blocks(block, bytes.len())?, true);
        let end = self.drive.serve(self.now, &request).end;
        self.cached.push((request, Vec::from(bytes)));
        // Where the cache was full, its oldest went to the platter meanwhile; if the power goes before the end, perhaps not.
        let arrives = self.cut.is_none_or(|(at, seed)| at > end || seed % 2 == 0);
        self.settle(arrives);
        self.until(end)
    }

    /// Reads whole sectors.
    ///
    /// # Errors
    /// Where the power goes before the answer, or there are no such sectors.
    pub fn read(&mut self, block: u64, bytes: &mut [u8]) -> Result<(), DriveError> {
        if !self.powered {
            return Err(DriveError::PowerLost);
        }
        let request = self.request(block, self.blocks(block, bytes.len())?, false);
        let end = self.drive.serve(self.now, &request).end;
        self.until(end)?;
        for (n, out) in bytes.chunks_exact_mut(SECTOR).enumerate() {
            let block = block + n as u64;
            let covers = |it: &&(Request, Vec<u8>)| (it.0.block..it.0.block + u64::from(it.0.blocks)).contains(&block);
            match (self.cached.iter().rev().find(covers), self.sectors.get(&block)) {
                (Some((request, kept)), _) => {
                    let from = (block - request.block) as usize * SECTOR;
                    out.copy_from_slice(&kept[from..from + SECTOR]);
                }
                (None, Some(sector)) => out.copy_from_slice(sector),
                (None, None) => out.fill(0),
            }
        }
        Ok(())
    }

    /// Waits until all that was answered is on the platter.
    ///
    /// # Errors
    /// Where the power goes before.
    pub fn flush(&mut self) -> Result<(), DriveError> {
        if !self.powered {
            return Err(DriveError::PowerLost);
        }
        // If the power goes meanwhile, each write may be there or not: as before the flush.
        let mut flushed = self.drive.clone();
        let end = flushed.flush(self.now);
        self.until(end)?;
        self.drive = flushed;
        self.settle(true);
        Ok(())
    }
}

fn put(sectors: &mut BTreeMap<u64, [u8; SECTOR]>, request: &Request, bytes: &[u8]) {
    for (n, chunk) in bytes.chunks_exact(SECTOR).enumerate() {
        let mut sector = [0; SECTOR];
        sector.copy_from_slice(chunk);
        sectors.insert(request.block + n as u64, sector);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::CacheSettings;
    use crate::parameters::source_10k;
    use tactus_time::Duration;

    fn contents() -> Contents {
        let settings = CacheSettings { writes: 4, ..CacheSettings::default() };
        Contents::new(Drive::new(source_10k().unwrap(), settings))
    }

    #[test]
    fn what_was_flushed_survives_every_cut_and_of_the_rest_each_sector_is_new_old_or_half() {
        let mut torn = 0;
        for seed in 0..200 {
            let mut it = contents();
            it.write(10, &[1; 3 * SECTOR]).unwrap();
            it.flush().unwrap();
            it.write(10, &[2; 3 * SECTOR]).unwrap();
            it.write(100, &[3; SECTOR]).unwrap();
            it.cut_at(it.now() + Duration::from_nanos(1), seed);
            assert_eq!(it.flush(), Err(DriveError::PowerLost));
            assert_eq!(it.read(10, &mut [0; SECTOR]), Err(DriveError::PowerLost));
            it.restore();
            let mut bytes = [0; 3 * SECTOR];
            it.read(10, &mut bytes).unwrap();
            let mut halves = 0;
            for sector in bytes.chunks_exact(SECTOR) {
                let (first, second) = sector.split_at(SECTOR / 2);
                assert!([first, second]
                    .iter()
                    .all(|half| half.iter().all(|byte| *byte == half[0] && [1, 2].contains(byte))));
                halves += u64::from(first[0] != second[0]);
            }
            assert!(halves <= it.torn(), "{seed}");
            torn += halves;
        }
        assert!(torn > 20, "{torn}");
    }

    #[test]
    fn what_is_read_is_what_was_written_whether_it_is_in_the_cache_or_on_the_platter() {
        let mut it = contents();
        for n in 0..12_u8 {
            it.write(u64::from(n), &[n + 1; SECTOR]).unwrap();
        }
        assert!(it.drive().dirty() <= 4);
        for n in 0..12_u8 {
            let mut sector = [0; SECTOR];
            it.read(u64::from(n), &mut sector).unwrap();
            assert_eq!(sector, [n + 1; SECTOR]);
        }
        assert_eq!(it.write(0, &[0; 5]), Err(DriveError::Range));
        assert_eq!(it.read(u64::MAX, &mut [0; SECTOR]), Err(DriveError::Range));
    }
}
