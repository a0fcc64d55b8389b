//! A solid-state disk: pages mapped one by one, written in turn, one garbage collector that empties the block with the
//! fewest valid pages when free blocks run out.
//!
//! Times are typical of data sheets of MLC flash (read 50 µs, program 600 µs, erase 3 ms). A request's time depends on
//! what was written before, hardly on where the last one was: what a latency map is worth here is a result.

use crate::request::Request;
use alloc::vec::Vec;
use tactus_time::{Duration, Instant};

/// What it is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SsdSettings {
    /// Pages that the host sees.
    pub pages: u32,
    /// Pages of a block that is erased at once.
    pub block: u32,
    /// Blocks beyond what the host sees; at least 2.
    pub spare: u32,
    /// 512-byte sectors of a page.
    pub sectors: u32,
    /// Reads a page.
    pub read: Duration,
    /// Writes a page.
    pub program: Duration,
    /// Erases a block.
    pub erase: Duration,
    /// Command and bus.
    pub overhead: Duration,
}

impl SsdSettings {
    /// A small one of typical times.
    pub fn typical(pages: u32) -> SsdSettings {
        let micros = Duration::from_micros;
        let (read, program, erase, overhead) = (micros(50), micros(600), micros(3_000), micros(20));
        SsdSettings { pages, block: 64, spare: 2 + pages / 64 / 14, sectors: 8, read, program, erase, overhead }
    }
}

const NOWHERE: u32 = u32::MAX;

/// A solid-state disk.
#[derive(Clone, Debug)]
pub struct Ssd {
    settings: SsdSettings,
    /// Where each page of the host lies.
    place: Vec<u32>,
    /// Whose page lies there.
    owner: Vec<u32>,
    valid: Vec<u32>,
    free: Vec<u32>,
    open: u32,
    next: u32,
    written: u64,
    moved: u64,
}

impl Ssd {
    /// Empty. Blocks of no pages, and fewer than two spare blocks, are taken as one and two.
    pub fn new(mut settings: SsdSettings) -> Ssd {
        settings.block = settings.block.max(1);
        settings.sectors = settings.sectors.max(1);
        settings.spare = settings.spare.max(2);
        let blocks = settings.pages.div_ceil(settings.block) + settings.spare;
        Ssd {
            settings,
            place: alloc::vec![NOWHERE; settings.pages as usize],
            owner: alloc::vec![NOWHERE; (blocks * settings.block) as usize],
            valid: alloc::vec![0; blocks as usize],
            free: (1..blocks).rev().collect(),
            open: 0,
            next: 0,
            written: 0,
            moved: 0,
        }
    }

    /// Serves a request that is dispatched now; sectors beyond the end count as the last page.
    pub fn serve(&mut self, now: Instant, request: &Request) -> Instant {
        let sectors = u64::from(self.settings.sectors);
        let last = u64::from(self.settings.pages.max(1)) - 1;
        let first = (request.block / sectors).min(last);
        let end = ((request.block + u64::from(request.blocks.max(1)) - 1) / sectors).min(last);
        let mut took = self.settings.overhead;
        for page in first..=end {
            took += if request.write { self.write(page as u32) } else { self.settings.read };
        }
        now + took
    }

    fn write(&mut self, page: u32) -> Duration {
        let mut took = Duration::ZERO;
        if self.next == self.settings.block {
            if self.free.len() < 2 {
                took = self.collect();
            }
            self.open_next();
        }
        self.written += 1;
        self.put(page);
        took + self.settings.program
    }

    fn open_next(&mut self) {
        if self.next == self.settings.block {
            if let Some(block) = self.free.pop() {
                (self.open, self.next) = (block, 0);
            }
        }
    }

    fn put(&mut self, page: u32) {
        let old = self.place[page as usize];
        if old != NOWHERE {
            self.owner[old as usize] = NOWHERE;
            self.valid[(old / self.settings.block) as usize] -= 1;
        }
        let new = self.open * self.settings.block + self.next;
        self.next += 1;
        (self.place[page as usize], self.owner[new as usize]) = (new, page);
        self.valid[self.open as usize] += 1;
    }

    /// Empties the blocks with the fewest valid pages until two are free.
    fn collect(&mut self) -> Duration {
        let mut took = Duration::ZERO;
        while self.free.len() < 2 {
            let open = self.open;
            let full = |block: &u32| *block != open && !self.free.contains(block);
            let Some(victim) =
                (0..self.valid.len() as u32).filter(full).min_by_key(|&block| self.valid[block as usize])
            else {
                return took;
            };
            for at in victim * self.settings.block..(victim + 1) * self.settings.block {
                let page = self.owner[at as usize];
                if page != NOWHERE {
                    self.open_next();
                    self.put(page);
                    self.moved += 1;
                    took += self.settings.read + self.settings.program;
                }
            }
            took += self.settings.erase;
            self.free.push(victim);
        }
        took
    }

    /// Pages written by flash for each that the host wrote.
    pub fn amplification(&self) -> f64 {
        if self.written == 0 {
            1.0
        } else {
            (self.written + self.moved) as f64 / self.written as f64
        }
    }
    /// Whether every page of the host lies where its owner says, and counts are right.
    pub fn is_consistent(&self) -> bool {
        let here = |(page, &place): (usize, &u32)| place == NOWHERE || self.owner[place as usize] as usize == page;
        let per_block = self.owner.chunks(self.settings.block as usize);
        let counts = per_block.zip(&self.valid);
        self.place.iter().enumerate().all(here)
            && counts
                .into_iter()
                .all(|(owners, &valid)| owners.iter().filter(|&&page| page != NOWHERE).count() == valid as usize)
    }
}
