//! What holds the disk's bytes: a virtio disk, memory that the host lends, the component's own memory, or nothing.
//!
//! Where the disk makes requests itself, each of their places has contents that follow from how often it was written: a write is read
//! back when it ends, and every read is compared. Where anything differs, the component gives up, and the verdict says so.

extern crate alloc;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt::Write;
use tactus_block::Medium;
use tactus_disk::{DiskSetup, Faults, Request};
use tactus_rt::channel::SharedData;
use tactus_rt::virtio::{Configuration, DiskError, Transfer, VirtioDisk};
use tactus_rt::{calls, cards, Screen};

/// Vendor and device of memory that the host lends.
const IVSHMEM: u32 = 0x1110_1af4;

enum Store {
    Virtio(Box<VirtioDisk>),
    /// Bytes of each row one after the other.
    Lent(SharedData),
    Own(Vec<u8>),
}

/// See above.
pub struct Platter {
    store: Option<Store>,
    /// Where the bytes of each row of the map begin, where there are no blocks; nothing for rows whose bytes nobody looks at.
    first: Vec<Option<usize>>,
    /// What is read from memory that is no slice.
    copy: Vec<u8>,
    generated: Generated,
    /// How many answers had been announced when that was told last.
    told: u64,
}

/// The places of clients whose requests the disk makes itself.
struct Generated {
    /// How often each was written, by row of the map; nothing for those of components.
    written: Vec<Option<u32>>,
    /// Those that still want their first contents: rows, blocks, bytes.
    empty: Vec<(u32, u64, usize)>,
    /// Each read is compared: the drive neither loses nor delays anything.
    compared: bool,
}

impl Platter {
    /// The platter of a disk.
    ///
    /// # Errors
    /// Where the device cannot be driven, or is too small.
    pub fn new(setup: &DiskSetup) -> Result<Platter, &'static str> {
        let faultless = setup.faults == Faults::default() && setup.write_cache == 0;
        let compared = faultless && !cards::devices().is_empty();
        let kept = || setup.clients.iter().filter(|it| it.buffer.is_some() || compared);
        let slot = kept().map(|it| bytes(it.client.blocks)).max().unwrap_or(0);
        let slots: usize = kept().map(|it| it.client.places as usize).sum();
        let store = match cards::devices() {
            [] if setup.clients.iter().all(|it| it.buffer.is_none()) => None,
            [] => Some(Store::Own(alloc::vec![0; slots * slot])),
            [card, ..] if Configuration::new(card).id() == IVSHMEM => {
                let lent = SharedData::of_device(card);
                if lent.bytes() < (slots * slot) as u64 {
                    return Err("the memory that the host lends is too small for all places; lower places or size");
                }
                Some(Store::Lent(lent))
            }
            _ => Some(Store::Virtio(Box::new(VirtioDisk::new().map_err(|error| match error {
                DiskError::NoDevice => "its device is no virtio disk with dma = \"256 KiB\", nor ivshmem",
                _ => "its virtio disk cannot be set up",
            })?))),
        };
        let mut generated = Generated { written: Vec::new(), empty: Vec::new(), compared };
        let mut first = Vec::new();
        let mut next = 0;
        for it in &setup.clients {
            let own = it.buffer.is_none();
            for place in 0..it.client.places {
                let row = generated.written.len() as u32;
                generated.written.push(own.then_some(0));
                first.push((!own || compared).then_some(next * slot));
                next += usize::from(!own || compared);
                if own && compared {
                    generated.empty.push((row, it.client.block(place), bytes(it.client.blocks)));
                }
            }
        }
        let copy = match store {
            Some(Store::Lent(_)) => alloc::vec![0; slot],
            _ => Vec::new(),
        };
        Ok(Platter { store, first, copy, generated, told: 0 })
    }

    /// How many answers the device's interrupt announced, and how many were waited for; for every 64 of the former, once.
    pub fn answers_to_tell(&mut self) -> Option<[u64; 2]> {
        let Some(Store::Virtio(disk)) = &self.store else { return None };
        let answers = disk.answers();
        (answers[0] / 64 > self.told / 64).then(|| {
            self.told = answers[0];
            answers
        })
    }

    /// Gives one more place its first contents; false if all have them.
    pub fn prepare(&mut self) -> bool {
        let Some((row, block, bytes)) = self.generated.empty.pop() else { return false };
        let contents = self.generated.contents(row, block);
        self.write(row, block, bytes, &mut |data| put(data, contents.clone()));
        self.finish(row, bytes, &mut |_| ());
        self.check(row, block, bytes);
        true
    }

    /// Reads a place and compares.
    fn check(&mut self, row: u32, block: u64, bytes: usize) {
        self.read(block, bytes);
        self.compare(row, block, bytes);
    }
    fn compare(&mut self, row: u32, block: u64, bytes: usize) {
        let (mut same, expected) = (true, self.generated.contents(row, block));
        self.finish(row, bytes, &mut |read| {
            same = read.chunks_exact(8).zip(expected.clone()).all(|(chunk, word)| chunk == word);
        });
        if !same {
            give_up("the disk holds other bytes than were written");
        }
    }

    fn write(&mut self, row: u32, block: u64, bytes: usize, fill: &mut dyn FnMut(&mut [u8])) {
        let at = self.first.get(row as usize).copied().flatten();
        match (&mut self.store, at) {
            (Some(Store::Virtio(disk)), _) => or_give_up(disk.begin(block, bytes, Transfer::Write(fill))),
            (Some(Store::Lent(lent)), Some(at)) => {
                let copy = &mut self.copy[..bytes];
                fill(copy);
                lent.store(at as u64, copy);
            }
            (Some(Store::Own(own)), Some(at)) => fill(&mut own[at..at + bytes]),
            _ => {}
        }
    }
    fn read(&mut self, block: u64, bytes: usize) {
        if let Some(Store::Virtio(disk)) = &mut self.store {
            or_give_up(disk.begin(block, bytes, Transfer::Read));
        }
    }
    fn finish(&mut self, row: u32, bytes: usize, look: &mut dyn FnMut(&[u8])) {
        let at = self.first.get(row as usize).copied().flatten();
        match (&mut self.store, at) {
            (Some(Store::Virtio(disk)), _) => or_give_up(disk.end(look)),
            (Some(Store::Lent(lent)), Some(at)) => {
                let copy = &mut self.copy[..bytes];
                lent.load(at as u64, copy);
                look(copy);
            }
            (Some(Store::Own(own)), Some(at)) => look(&own[at..at + bytes]),
            _ => {}
        }
    }
}

impl Generated {
    /// Counts one more write of a place; whether it is one of these.
    fn write(&mut self, row: u32) -> bool {
        match self.written.get_mut(row as usize) {
            Some(Some(count)) => {
                *count += 1;
                true
            }
            _ => false,
        }
    }
    fn is(&self, row: u32) -> bool {
        self.compared && matches!(self.written.get(row as usize), Some(Some(_)))
    }
    /// What a place holds, word by word.
    fn contents(&self, row: u32, block: u64) -> impl Iterator<Item = [u8; 8]> + Clone {
        let count = self.written.get(row as usize).copied().flatten().unwrap_or(0);
        let next = |word: &u64| Some(word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        core::iter::successors(Some(block << 20 ^ u64::from(count)), next).map(u64::to_le_bytes)
    }
}

impl Medium for Platter {
    fn begin(&mut self, request: &Request, fill: &mut dyn FnMut(&mut [u8])) {
        let (row, block, bytes) = (request.granule, request.block, bytes(request.blocks));
        if !request.write {
            self.read(block, bytes);
        } else if self.generated.write(row) {
            let contents = self.generated.contents(row, block);
            self.write(row, block, bytes, &mut |data| put(data, contents.clone()));
        } else {
            self.write(row, block, bytes, fill);
        }
    }

    fn end(&mut self, request: &Request, look: &mut dyn FnMut(&[u8])) {
        let (row, block, bytes) = (request.granule, request.block, bytes(request.blocks));
        match (self.generated.is(row), request.write) {
            (true, false) => self.compare(row, block, bytes),
            (true, true) => {
                self.finish(row, bytes, look);
                self.check(row, block, bytes);
            }
            _ => self.finish(row, bytes, look),
        }
    }
}

fn put(data: &mut [u8], contents: impl Iterator<Item = [u8; 8]>) {
    data.chunks_exact_mut(8).zip(contents).for_each(|(chunk, word)| chunk.copy_from_slice(&word));
}

fn bytes(blocks: u32) -> usize {
    blocks as usize * 512
}

fn or_give_up<T>(result: Result<T, DiskError>) -> T {
    result.unwrap_or_else(|error| give_up(error))
}

fn give_up(why: impl core::fmt::Display) -> ! {
    let _ = writeln!(Screen, "block: {why}");
    calls::give_up()
}
