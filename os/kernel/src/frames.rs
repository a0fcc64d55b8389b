//! Physical memory at start-up: frames are handed out by colour and never come back.
//!
//! Which one is next, `tactus_abi::frames` decides. Used only while the system is being set up; no call allocates.

use crate::arch::loader::{BootInfo, Range};
use crate::arch::{paging, FrameSource};
use tactus_abi::frames::Stock;
use tactus_abi::image::Header;

/// What is left of physical memory.
pub struct Frames {
    stock: Stock<{ BootInfo::MAX_RANGES }>,
    /// The colours of the kernel's own frames, as bits.
    kernel: u64,
}

impl Frames {
    /// All usable memory of the machine from the end of the kernel on, but for the image.
    pub fn new(info: &BootInfo, kernel_end: u64, image: &Header) -> Frames {
        let mut stock = Stock::new(image.colours, info.usable, kernel_end.max(0x10_0000));
        stock.reserved = [info.image, info.tables, Range::EMPTY, Range::EMPTY];
        Frames { stock, kernel: image.kernel_colours }
    }

    /// Whether the whole range is usable memory that was not handed out, nor reserved.
    pub fn is_free(&self, range: Range) -> bool {
        self.stock.is_free(range)
    }

    /// Keeps the range from being handed out.
    pub fn reserve(&mut self, range: Range) {
        self.stock.reserved[2] = range;
    }

    /// `pages` frames of these colours in one piece, not cleared; their physical address. Frames of some colours only are in one piece
    /// where their colours follow each other.
    pub fn pages_uncleared(&mut self, pages: u64, colours: u64) -> Option<u64> {
        self.stock.pages(pages, colours)
    }

    /// Bytes handed out so far.
    pub fn used(&self) -> u64 {
        self.stock.used
    }
}

impl FrameSource for Frames {
    fn kernel_colours(&self) -> u64 {
        self.kernel
    }

    fn is_every(&self, colours: u64) -> bool {
        self.stock.is_every(colours)
    }

    fn pages(&mut self, pages: u64, colours: u64) -> Option<u64> {
        let start = self.pages_uncleared(pages, colours)?;
        // SAFETY: the frames were just taken from usable memory and belong to nobody.
        unsafe { paging::clear(start, pages) };
        Some(start)
    }

    /// The lowest there is.
    fn page(&mut self, colours: u64) -> Option<u64> {
        let frame = self.stock.page(colours)?;
        // SAFETY: as above.
        unsafe { paging::clear(frame, 1) };
        Some(frame)
    }
}
