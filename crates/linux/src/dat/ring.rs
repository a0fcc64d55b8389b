//! The events of one processor: pages of the kernel's ring buffer as the kernel filled them (`include/linux/ring_buffer.h` of Linux), one
//! of them, or one compressed part of the file, in memory at a time.

use super::header::{Header, Ring};
use super::packing::Packing;
use super::source::{number, Source};
use crate::text::went_back;
use std::io::{Read, Seek};
use std::ops::Range;

/// What comes next on a processor.
#[derive(Clone)]
pub(super) enum Item {
    /// An event, where it lies in [`Reader::bytes`].
    Event(Range<usize>),
    /// Events are missing.
    Lost,
}

/// Where the reading of a processor's events stands.
pub(super) struct Reader {
    pub(super) cpu: u16,
    /// Where the file goes on, and where this processor's part ends.
    file: Range<u64>,
    packed: Vec<u8>,
    chunks: u64,
    /// Pages that are read.
    bytes: Vec<u8>,
    /// Where the next page begins.
    page: usize,
    /// What of the page is left.
    rest: Range<usize>,
    time: u64,
    last: u64,
    /// Events before the page's first are missing.
    lost: bool,
}

impl Reader {
    pub(super) fn new<R: Read + Seek>(ring: &Ring, source: &mut Source<R>, packing: Packing) -> Result<Reader, String> {
        let mut file = ring.from..ring.from + ring.length;
        let mut chunks = 0;
        if packing != Packing::None {
            source.go(file.start)?;
            chunks = source.number(4)?;
            file.start = source.at();
        }
        let (packed, bytes) = (Vec::new(), Vec::new());
        Ok(Reader { cpu: ring.cpu, file, packed, chunks, bytes, page: 0, rest: 0..0, time: 0, last: 0, lost: false })
    }

    /// The bytes of an event.
    pub(super) fn bytes(&self, event: &Range<usize>) -> &[u8] {
        &self.bytes[event.clone()]
    }

    /// The next event and its time by the trace's clock; nothing after the last.
    pub(super) fn next<R: Read + Seek>(
        &mut self,
        source: &mut Source<R>,
        header: &Header,
    ) -> Result<Option<(u64, Item)>, String> {
        loop {
            if std::mem::take(&mut self.lost) {
                return self.at(Item::Lost, header).map(Some);
            }
            if let Some(event) = self.in_page()? {
                return self.at(Item::Event(event), header).map(Some);
            }
            if self.page >= self.bytes.len() && !self.more(source, header)? {
                return Ok(None);
            }
            self.open(header)?;
        }
    }

    fn at(&mut self, item: Item, header: &Header) -> Result<(u64, Item), String> {
        let time = header.clock.nanos(self.time);
        if time < self.last {
            return Err(went_back(self.last - time, self.cpu));
        }
        self.last = time;
        Ok((time, item))
    }

    /// Reads on in the file.
    fn more<R: Read + Seek>(&mut self, source: &mut Source<R>, header: &Header) -> Result<bool, String> {
        /// So much is read at once where nothing is compressed.
        const AT_ONCE: u64 = 64 << 10;
        self.page = 0;
        source.go(self.file.start)?;
        if header.packing == Packing::None {
            let page = header.page as u64;
            let length = (self.file.end - self.file.start).min((AT_ONCE / page).max(1) * page);
            source.fill(&mut self.bytes, length)?;
        } else {
            if self.chunks == 0 {
                self.bytes.clear();
                return Ok(false);
            }
            self.chunks -= 1;
            let (packed, whole) = (source.number(4)?, source.number(4)?);
            source.fill(&mut self.packed, packed)?;
            header.packing.unpack(&self.packed, whole as usize, &mut self.bytes)?;
        }
        self.file.start = source.at();
        Ok(!self.bytes.is_empty())
    }

    fn damaged(&self) -> String {
        format!("it is damaged: a page of core {} is cut", self.cpu)
    }

    /// Begins a page.
    fn open(&mut self, header: &Header) -> Result<(), String> {
        const MISSED: u64 = 1 << 31;
        let end = (self.page + header.page).min(self.bytes.len());
        let page = &self.bytes[self.page..end];
        let (Some(time), Some(commit)) = (page.get(..8), page.get(8..header.head)) else { return Err(self.damaged()) };
        let commit = number(commit);
        let filled = header.head + (commit & 0x7ff_ffff) as usize;
        if filled > page.len() {
            return Err(self.damaged());
        }
        (self.time, self.lost) = (number(time), commit & MISSED != 0);
        self.rest = self.page + header.head..self.page + filled;
        self.page = end;
        Ok(())
    }

    fn word(&mut self) -> Result<u64, String> {
        self.data(4).map(|event| number(&self.bytes[event]))
    }

    fn data(&mut self, length: u64) -> Result<Range<usize>, String> {
        let from = self.rest.start;
        match usize::try_from(length).ok().filter(|length| *length <= self.rest.len()) {
            Some(length) => {
                self.rest.start += length;
                Ok(from..from + length)
            }
            None => Err(self.damaged()),
        }
    }

    /// The next event of the page.
    fn in_page(&mut self) -> Result<Option<Range<usize>>, String> {
        while self.rest.len() >= 4 {
            let word = self.word()?;
            let (kind, delta) = (word & 0x1f, word >> 5);
            match kind {
                // The rest of the page is empty.
                29 if delta == 0 => break,
                29 => {
                    let length = self.word()?.saturating_sub(4);
                    self.data(length)?;
                    self.time = self.time.wrapping_add(delta);
                }
                30 => self.time = self.time.wrapping_add((self.word()? << 27) + delta),
                // The lower 59 bits of the time itself.
                31 => self.time = (self.time & !((1 << 59) - 1)) | ((self.word()? << 27) + delta),
                words => {
                    self.time = self.time.wrapping_add(delta);
                    let length = if words == 0 { self.word()?.saturating_sub(4) } else { words * 4 };
                    return self.data(length).map(Some);
                }
            }
        }
        self.rest = 0..0;
        Ok(None)
    }
}
