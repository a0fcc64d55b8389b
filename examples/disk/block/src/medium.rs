//! The bytes of the disk: a virtio disk, on which every read is held against what must be there.
//!
//! While the map is surveyed, each place gets its first contents. Later a write is read back when it ends. Where anything
//! differs, the component gives up, and the verdict says so.

use alloc::vec::Vec;
use tactus_block::Medium;
use tactus_disk::{Client, Request};
use tactus_rt::calls;
use tactus_rt::virtio::{Transfer, VirtioDisk};

/// See above.
pub struct Bytes {
    disk: VirtioDisk,
    /// How often each place of each client was written, by row of the map.
    written: Vec<u32>,
    /// The places that still want their first contents: rows, blocks, bytes.
    empty: Vec<(u32, u64, usize)>,
}

impl Bytes {
    /// The component's disk; nothing if it has none.
    pub fn new(clients: &[Client]) -> Option<Bytes> {
        let disk = VirtioDisk::new().ok()?;
        let mut empty = Vec::new();
        for client in clients {
            for place in 0..client.places {
                empty.push((empty.len() as u32, client.block(place), bytes(client.blocks)));
            }
        }
        Some(Bytes { disk, written: alloc::vec![0; empty.len()], empty })
    }

    /// Gives one more place its first contents.
    pub fn prepare(&mut self) {
        if let Some((row, block, bytes)) = self.empty.pop() {
            self.put(row, block, bytes);
            self.check(row, block, bytes);
        }
    }

    /// What a place holds, word by word.
    fn contents(&self, row: u32, block: u64) -> impl Iterator<Item = [u8; 8]> {
        let count = self.written.get(row as usize).copied().unwrap_or(0);
        let next = |word: &u64| Some(word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        core::iter::successors(Some(block << 20 ^ u64::from(count)), next).map(u64::to_le_bytes)
    }

    fn start_write(&mut self, row: u32, block: u64, bytes: usize) {
        if let Some(count) = self.written.get_mut(row as usize) {
            *count += 1;
        }
        let mut contents = self.contents(row, block);
        let mut fill = |data: &mut [u8]| {
            data.chunks_exact_mut(8).zip(&mut contents).for_each(|(chunk, word)| chunk.copy_from_slice(&word));
        };
        or_give_up(self.disk.begin(block, bytes, Transfer::Write(&mut fill)));
    }

    fn put(&mut self, row: u32, block: u64, bytes: usize) {
        self.start_write(row, block, bytes);
        or_give_up(self.disk.end(|_| ()));
    }

    /// Reads a place and compares.
    fn check(&mut self, row: u32, block: u64, bytes: usize) {
        or_give_up(self.disk.begin(block, bytes, Transfer::Read));
        self.compare(row, block);
    }

    /// Ends a read and compares.
    fn compare(&mut self, row: u32, block: u64) {
        let expected = self.contents(row, block);
        let same = |read: &[u8]| read.chunks_exact(8).zip(expected).all(|(chunk, word)| chunk == word);
        if !or_give_up(self.disk.end(same)) {
            calls::text("the disk holds other bytes than were written\n");
            calls::give_up();
        }
    }
}

impl Medium for Bytes {
    fn begin(&mut self, request: &Request) {
        let bytes = bytes(request.blocks);
        if request.write {
            self.start_write(request.granule, request.block, bytes);
        } else {
            or_give_up(self.disk.begin(request.block, bytes, Transfer::Read));
        }
    }

    fn end(&mut self, request: &Request) {
        let (row, block, bytes) = (request.granule, request.block, bytes(request.blocks));
        if request.write {
            or_give_up(self.disk.end(|_| ()));
            self.check(row, block, bytes);
        } else {
            self.compare(row, block);
        }
    }
}

fn bytes(blocks: u32) -> usize {
    blocks as usize * 512
}

fn or_give_up<T, E: core::fmt::Display>(result: Result<T, E>) -> T {
    use core::fmt::Write;
    result.unwrap_or_else(|error| {
        let _ = writeln!(tactus_rt::Screen, "block: {error}");
        calls::give_up()
    })
}
