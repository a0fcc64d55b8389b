//! The trace rings in the guest's memory file, read while the guest runs and after it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use tactus_abi::layout::PAGE;
use tactus_image::Interleaved;
use tactus_record::{RingHeader, RING_HEADER_BYTES};
use tactus_time::Instant;

/// The rings of all cores, one after another.
#[derive(Debug)]
pub struct Rings {
    file: File,
    address: u64,
    stride: u64,
    cores: usize,
    /// Which pages from there on hold them.
    pages: Interleaved,
    /// Where in the memory file the guest's memory begins.
    base: u64,
    /// The physical address at which it begins.
    begins: u64,
}

/// How far a run has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// The latest time that a core has seen.
    pub now: Instant,
    /// Records written on all cores.
    pub written: u64,
    /// Cores whose run has ended.
    pub ended: usize,
}

impl Rings {
    /// The rings in the memory file. They begin at `address`, counted from where memory begins, in these pages from there on, and are
    /// `stride` bytes each, head included.
    pub fn new(memory: File, address: u64, stride: u64, cores: usize, pages: Interleaved) -> Rings {
        Rings { file: memory, address, stride, cores, pages, base: 0, begins: 0 }
    }

    /// The same of a machine whose memory begins at this physical address.
    pub fn beginning_at(self, begins: u64) -> Rings {
        Rings { begins, ..self }
    }

    /// The physical address at which memory begins.
    pub fn begins(&self) -> u64 {
        self.begins
    }

    /// Those of another guest in the same memory file, whose address 0 is at `base`, on one core.
    ///
    /// # Errors
    /// If the host lets nobody open further files.
    pub fn of_part(&self, (address, stride, pages): (u64, u64, Interleaved), base: u64) -> io::Result<Rings> {
        Ok(Rings { file: self.file.try_clone()?, address, stride, cores: 1, pages, base, begins: self.begins })
    }

    /// Fills `bytes` from a place in a part's rings, which lie in these pages of it.
    fn read(&self, (part, pages): (u64, Interleaved), mut at: u64, mut bytes: &mut [u8]) -> io::Result<()> {
        let begin = self.base + self.address + part * self.pages.extent(self.stride * self.cores as u64 / PAGE) * PAGE;
        while !bytes.is_empty() {
            let length = if pages.is_whole() { bytes.len() } else { bytes.len().min((PAGE - at % PAGE) as usize) };
            let (here, rest) = bytes.split_at_mut(length);
            self.file.read_exact_at(here, begin + pages.place(at / PAGE) * PAGE + at % PAGE)?;
            (bytes, at) = (rest, at + length as u64);
        }
        Ok(())
    }

    /// The guest's whole memory.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn all(&self) -> io::Result<Vec<u8>> {
        let mut memory = vec![0; self.file.metadata()?.len() as usize];
        self.file.read_exact_at(&mut memory, 0)?;
        Ok(memory)
    }

    /// The length of the guest's memory.
    ///
    /// # Errors
    /// If it cannot be told.
    pub fn bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Fills `bytes` from a physical address of the guest.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn frame(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        let at = at.checked_sub(self.begins).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        self.file.read_exact_at(bytes, self.base + at)
    }

    fn header(&self, core: usize) -> io::Result<RingHeader> {
        let mut head = [0; RING_HEADER_BYTES];
        self.read((0, self.pages), core as u64 * self.stride, &mut head)?;
        Ok(RingHeader::from_bytes(&head))
    }

    /// How far the run has come.
    pub fn progress(&self) -> io::Result<Progress> {
        let mut progress = Progress::default();
        for core in 0..self.cores {
            let head = self.header(core)?;
            progress.now = progress.now.max(Instant::from_nanos(head.now));
            progress.written += head.written;
            progress.ended += usize::from(head.ended != 0);
        }
        Ok(progress)
    }

    /// The whole trace memory, for `Trace::from_memory`.
    pub fn memory(&self) -> io::Result<Vec<u8>> {
        self.part(0, self.pages)
    }

    /// The trace memory of one of the schedulers that have any, the root's first; behind all others the kernel's, which may lie in other
    /// pages than theirs.
    pub fn part(&self, number: usize, pages: Interleaved) -> io::Result<Vec<u8>> {
        let bytes = self.stride * self.cores as u64;
        let mut memory = vec![0; bytes as usize];
        self.read((number as u64, pages), 0, &mut memory)?;
        Ok(memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory_with(heads: &[RingHeader], address: u64, stride: u64) -> std::path::PathBuf {
        static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let n = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("tactus-rings-{}-{n}", std::process::id()));
        let file = File::create(&path).expect("a file in the temporary folder");
        file.set_len(address + stride * heads.len() as u64).expect("its length");
        for (core, head) in heads.iter().enumerate() {
            file.write_all_at(&head.to_bytes(), address + core as u64 * stride).expect("a head");
        }
        path
    }

    const WHOLE: Interleaved = Interleaved { bits: 1, colours: 1 };

    #[test]
    fn progress_is_the_latest_time_of_any_core() {
        let head = RingHeader { capacity: 4, written: 2, dropped: 0, now: 700, ended: 0 };
        let path = memory_with(&[head, RingHeader { now: 900, ended: 1, ..head }], 8192, 4096);
        let rings = Rings::new(File::open(&path).expect("the file is there"), 8192, 4096, 2, WHOLE);
        let progress = rings.progress().expect("it is long enough");
        assert_eq!(progress, Progress { now: Instant::from_nanos(900), written: 4, ended: 1 });
        assert_eq!(
            rings.memory().expect("both rings")[4096..4096 + 64],
            RingHeader { now: 900, ended: 1, ..head }.to_bytes()
        );
        std::fs::remove_file(path).expect("it was there");
    }

    #[test]
    fn a_memory_file_that_is_too_short_is_an_error() {
        let head = RingHeader { capacity: 0, written: 0, dropped: 0, now: 0, ended: 0 };
        let path = memory_with(&[head], 0, 4096);
        let rings = Rings::new(File::open(&path).expect("the file is there"), 0, 4096, 2, WHOLE);
        assert!(rings.progress().is_err());
        assert!(rings.memory().is_err());
        std::fs::remove_file(path).expect("it was there");
    }
}
