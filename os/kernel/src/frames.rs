//! Physical memory at start-up: frames are handed out in ascending order and never come back.
//!
//! Used only while the system is being set up; no call allocates.

use crate::arch::loader::{BootInfo, Range};
use crate::arch::paging;

/// What is left of physical memory.
pub struct Frames {
    next: u64,
    used: u64,
    usable: [Range; BootInfo::MAX_RANGES],
    reserved: [Range; 4],
}

impl Frames {
    /// All usable memory of the machine from the end of the kernel on, but for the image.
    pub fn new(info: &BootInfo, kernel_end: u64) -> Frames {
        Frames {
            next: kernel_end.max(0x10_0000),
            used: 0,
            usable: info.usable,
            reserved: [info.image, info.tables, Range::EMPTY, Range::EMPTY],
        }
    }

    /// Whether the whole range is usable memory that was not handed out, nor reserved.
    pub fn is_free(&self, range: Range) -> bool {
        range.start >= self.next
            && self.usable.iter().any(|u| u.start <= range.start && range.end <= u.end)
            && !self.reserved.iter().any(|r| r.overlaps(range))
    }

    /// Keeps the range from being handed out.
    pub fn reserve(&mut self, range: Range) {
        self.reserved[2] = range;
    }

    /// `pages` frames in one piece, not cleared; their physical address.
    pub fn pages_uncleared(&mut self, pages: u64) -> Option<u64> {
        let bytes = pages * 4096;
        loop {
            let wanted = Range { start: self.next, end: self.next.checked_add(bytes)? };
            if let Some(taken) = self.reserved.iter().find(|r| r.overlaps(wanted)) {
                self.next = taken.end.next_multiple_of(4096);
                continue;
            }
            if self.usable.iter().any(|u| u.start <= wanted.start && wanted.end <= u.end) {
                self.next = wanted.end;
                self.used += bytes;
                return Some(wanted.start);
            }
            // On to the next usable range.
            let next = self.usable.iter().filter(|u| u.start > self.next && u.end != 0).map(|u| u.start).min()?;
            self.next = next.next_multiple_of(4096);
        }
    }

    /// `pages` frames in one piece, full of zeros; their physical address.
    pub fn pages(&mut self, pages: u64) -> Option<u64> {
        let start = self.pages_uncleared(pages)?;
        // SAFETY: the frames were just taken from usable memory and belong to nobody.
        unsafe { paging::clear(start, pages) };
        Some(start)
    }

    /// One frame full of zeros.
    pub fn page(&mut self) -> Option<u64> {
        self.pages(1)
    }

    /// Bytes handed out so far.
    pub fn used(&self) -> u64 {
        self.used
    }
}
