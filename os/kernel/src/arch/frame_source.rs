//! What a processor's folder needs of the kernel.

/// Who hands out physical memory while the system is being set up.
pub trait FrameSource {
    /// The colours of the kernel's own frames, as bits.
    fn kernel_colours(&self) -> u64;

    /// Whether these are all colours: then frames that follow each other can be had.
    fn is_every(&self, colours: u64) -> bool;

    /// `pages` frames of these colours in one piece, full of zeros; their physical address.
    fn pages(&mut self, pages: u64, colours: u64) -> Option<u64>;

    /// One frame of any of these colours, full of zeros.
    fn page(&mut self, colours: u64) -> Option<u64> {
        self.pages(1, colours)
    }

    /// One frame for the kernel itself, full of zeros.
    fn kernel_page(&mut self) -> Option<u64> {
        self.page(self.kernel_colours())
    }
}
