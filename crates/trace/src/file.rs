//! Traces as bytes: the rings in a run's memory, and the file `trace.bin` that keeps them.
//!
//! The file holds only what the run determined, so two equal runs give two equal files. Its head and every block of
//! records are followed by a checksum: a damaged file is never read as a trace. `README.md` describes it.

use crate::Trace;
use crc32fast::Hasher;
use std::fmt;
use std::path::{Path, PathBuf};
use tactus_record::{Record, RingHeader, RECORD_BYTES, RING_HEADER_BYTES};
use tactus_time::MAX_CORES;

/// The first bytes of a trace file.
pub const MAGIC: [u8; 8] = *b"TACTUSTR";

/// The version of the trace file that is written, and the only one that is read. Version 1 had no checksums.
pub const VERSION: u32 = 2;

/// How many records of one core a block of the file holds; a core's last block may hold fewer.
pub const BLOCK_RECORDS: usize = 1024;

/// Each ring in the trace memory begins at a multiple of this.
pub const RING_ALIGN: usize = 4096;

const HEAD_BYTES: usize = 16;
const CORE_BYTES: usize = 16;
const CHECKSUM_BYTES: usize = 4;

/// Why bytes are not a trace.
#[derive(Debug)]
pub enum TraceError {
    /// The file could not be read or written.
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The file does not begin with [`MAGIC`].
    NotATrace,
    /// The file has another version than [`VERSION`].
    Version(u32),
    /// The number of cores is not between 1 and [`MAX_CORES`].
    Cores(u64),
    /// The bytes end before what they announce.
    TooShort {
        /// What was being read.
        what: &'static str,
        /// The core concerned.
        core: usize,
        /// How many bytes it takes to hold that.
        needed: u128,
        /// How many there are.
        present: usize,
    },
    /// The bytes of the head, or of a block of records, are not those that their checksum was made of.
    Damaged {
        /// What is damaged.
        part: FilePart,
        /// Its first byte in the file, counted from 0.
        from: usize,
        /// The first byte behind it and its checksum.
        to: usize,
    },
    /// There are bytes behind the last record.
    TooLong {
        /// How many.
        excess: usize,
    },
    /// A ring says that it holds more records than fit.
    Overfull {
        /// Whose ring.
        core: usize,
        /// Records written, as it says.
        written: u64,
        /// Its capacity, as it says.
        capacity: u64,
    },
    /// A record of an unknown kind.
    Kind {
        /// Whose.
        core: usize,
        /// The record's place, counted from 0.
        index: usize,
        /// The number in place of a kind.
        kind: u8,
    },
    /// A record that says it is another core's.
    Core {
        /// Whose ring.
        core: usize,
        /// The record's place, counted from 0.
        index: usize,
        /// The core that it names.
        named: u8,
    },
}

/// A part of a trace file that has a checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FilePart {
    /// What stands before the records: version, cores, how many records there are.
    Head,
    /// A block of records.
    Block {
        /// Whose records.
        core: usize,
        /// The first of them, counted from 0.
        first: usize,
        /// The last of them.
        last: usize,
    },
}

impl fmt::Display for FilePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilePart::Head => f.write_str("the head"),
            FilePart::Block { core, first, last } => write!(f, "records {first} to {last} of core {core}"),
        }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::Io { path, error } => write!(f, "{}: {error}", path.display()),
            TraceError::NotATrace => {
                write!(f, "not a Tactus trace: it does not begin with `TACTUSTR`; give the trace.bin of a run")
            }
            TraceError::Version(v) => write!(
                f,
                "the trace has version {v}, this program reads version {VERSION}: run the system again, or read the trace \
                 with the program that wrote it"
            ),
            TraceError::Cores(n) => write!(f, "the trace is said to have {n} cores; 1 to {MAX_CORES} are possible"),
            TraceError::TooShort { what, core, needed, present } => write!(
                f,
                "the trace is cut off: {what} of core {core} needs {needed} bytes in all, {present} are there"
            ),
            TraceError::Damaged { part, from, to } => write!(
                f,
                "the trace is damaged: {part} (bytes {from} to {}) do not match their checksum; run the system again",
                to - 1
            ),
            TraceError::TooLong { excess } => {
                write!(f, "the trace has {excess} bytes behind its last record: it is damaged or was appended to")
            }
            TraceError::Overfull { core, written, capacity } => {
                write!(f, "the ring of core {core} says that it holds {written} records where only {capacity} fit")
            }
            TraceError::Kind { core, index, kind } => {
                write!(f, "record {index} of core {core} has the unknown kind {kind}: the trace is damaged")
            }
            TraceError::Core { core, index, named } => {
                write!(f, "record {index} of core {core} says that it belongs to core {named}: the trace is damaged")
            }
        }
    }
}

impl std::error::Error for TraceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            TraceError::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl Trace {
    /// Reads the rings of `cores` cores out of a run's trace memory: one after another, each at a multiple of
    /// [`RING_ALIGN`], a [`RingHeader`] and then its records. May be called while the run goes on: what has been
    /// written so far is read.
    ///
    /// # Errors
    /// If a ring does not lie within `bytes`, holds more than fits, or holds what is no record.
    pub fn from_memory(bytes: &[u8], cores: usize) -> Result<Trace, TraceError> {
        if cores == 0 || cores > MAX_CORES {
            return Err(TraceError::Cores(cores as u64));
        }
        let mut trace = Trace::default();
        let mut at = 0;
        for core in 0..cores {
            let short = |what, needed| TraceError::TooShort { what, core, needed, present: bytes.len() };
            let head = bytes
                .get(at..)
                .and_then(|rest| rest.first_chunk::<RING_HEADER_BYTES>())
                .ok_or(short("the ring's head", at as u128 + RING_HEADER_BYTES as u128))?;
            let head = RingHeader::from_bytes(head);
            if head.written > head.capacity {
                return Err(TraceError::Overfull { core, written: head.written, capacity: head.capacity });
            }
            let start = at + RING_HEADER_BYTES;
            let end = start as u128 + u128::from(head.capacity) * RECORD_BYTES as u128;
            if end > bytes.len() as u128 {
                return Err(short("the ring", end));
            }
            // Both fit: they do not exceed `end`, which is a place in `bytes`.
            let used = start + head.written as usize * RECORD_BYTES;
            let mut records = Vec::with_capacity(head.written as usize);
            read_records(&bytes[start..used], core, &mut records)?;
            trace.cores.push(records);
            trace.dropped.push(head.dropped);
            at = (end as usize).next_multiple_of(RING_ALIGN);
        }
        Ok(trace)
    }

    /// The bytes of the trace file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let observed = |core: usize| self.observed.get(core).map_or(&[][..], Vec::as_slice);
        let records: usize = (0..self.cores.len()).map(|core| self.cores[core].len() + observed(core).len()).sum();
        let blocks = self.cores.len() + records / BLOCK_RECORDS;
        let head = HEAD_BYTES + CORE_BYTES * self.cores.len() + CHECKSUM_BYTES;
        let mut out = Vec::with_capacity(head + CHECKSUM_BYTES * blocks + RECORD_BYTES * records);
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend((self.cores.len() as u32).to_le_bytes());
        for (core, records) in self.cores.iter().enumerate() {
            out.extend(((records.len() + observed(core).len()) as u64).to_le_bytes());
            out.extend(self.dropped.get(core).copied().unwrap_or(0).to_le_bytes());
        }
        let mut checksum = Hasher::new();
        checksum.update(&out);
        out.extend(checksum.clone().finalize().to_le_bytes());
        for (core, records) in self.cores.iter().enumerate() {
            let mut all = records.iter().chain(observed(core)).peekable();
            while all.peek().is_some() {
                let from = out.len();
                all.by_ref().take(BLOCK_RECORDS).for_each(|record| out.extend(record.to_bytes()));
                checksum.update(&out[from..]);
                out.extend(checksum.clone().finalize().to_le_bytes());
            }
        }
        out
    }

    /// Reads the bytes of a trace file.
    ///
    /// # Errors
    /// If they are not exactly one whole, undamaged trace of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Trace, TraceError> {
        if bytes.get(..8) != Some(&MAGIC) {
            return Err(TraceError::NotATrace);
        }
        let short = |what, core, needed| TraceError::TooShort { what, core, needed, present: bytes.len() };
        let head = bytes.first_chunk::<HEAD_BYTES>().ok_or(short("the head", 0, HEAD_BYTES as u128))?;
        let version = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
        if version != VERSION {
            return Err(TraceError::Version(version));
        }
        let cores = u32::from_le_bytes([head[12], head[13], head[14], head[15]]) as usize;
        if cores == 0 || cores > MAX_CORES {
            return Err(TraceError::Cores(cores as u64));
        }
        let mut file = Checked { bytes, at: 0, checksum: Hasher::new() };
        let length = HEAD_BYTES + CORE_BYTES * cores;
        let head = file.take(length, FilePart::Head)?.ok_or(short("the count", cores - 1, length as u128))?;
        let mut trace = Trace::default();
        for (core, entry) in head[HEAD_BYTES..].chunks_exact(CORE_BYTES).enumerate() {
            let [count, dropped] = [&entry[..8], &entry[8..]].map(|b| {
                let mut word = [0; 8];
                word.copy_from_slice(b);
                u64::from_le_bytes(word)
            });
            trace.cores.push(file.records(core, count)?);
            trace.dropped.push(dropped);
        }
        trace.separate();
        match bytes.len() - file.at {
            0 => Ok(trace),
            excess => Err(TraceError::TooLong { excess }),
        }
    }

    /// Puts what the kernel recorded of monitors, which stands behind a core's other records, by itself.
    fn separate(&mut self) {
        let is_observed = |record: &Record| record.kind.is_of_monitors();
        if !self.cores.iter().flatten().any(is_observed) {
            return;
        }
        for records in &mut self.cores {
            let (observed, others) = std::mem::take(records).into_iter().partition(is_observed);
            *records = others;
            self.observed.push(observed);
        }
    }

    /// Reads a trace file.
    ///
    /// # Errors
    /// If it cannot be read or is not a trace.
    pub fn read(path: impl AsRef<Path>) -> Result<Trace, TraceError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|error| TraceError::Io { path: path.to_owned(), error })?;
        Trace::from_bytes(&bytes)
    }

    /// Writes a trace file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), TraceError> {
        let path = path.as_ref();
        std::fs::write(path, self.to_bytes()).map_err(|error| TraceError::Io { path: path.to_owned(), error })
    }
}

/// The bytes of a trace file while they are read, each part held against its checksum.
struct Checked<'a> {
    bytes: &'a [u8],
    /// The first byte that has not been read.
    at: usize,
    /// The checksum of what has been read, checksums left out.
    checksum: Hasher,
}

impl<'a> Checked<'a> {
    /// Reads a part and the checksum behind it; `None` if the bytes end before.
    fn take(&mut self, length: usize, part: FilePart) -> Result<Option<&'a [u8]>, TraceError> {
        let rest = &self.bytes[self.at..];
        let Some((content, rest)) = rest.split_at_checked(length) else { return Ok(None) };
        let Some(stored) = rest.first_chunk::<CHECKSUM_BYTES>() else { return Ok(None) };
        self.checksum.update(content);
        let (from, to) = (self.at, self.at + length + CHECKSUM_BYTES);
        if self.checksum.clone().finalize() != u32::from_le_bytes(*stored) {
            return Err(TraceError::Damaged { part, from, to });
        }
        self.at = to;
        Ok(Some(content))
    }

    /// Reads the blocks of one core.
    fn records(&mut self, core: usize, count: u64) -> Result<Vec<Record>, TraceError> {
        // Room is made for what is there, whatever the head says.
        let room = (self.bytes.len() - self.at) / RECORD_BYTES;
        let mut records = Vec::with_capacity(usize::try_from(count).map_or(room, |count| count.min(room)));
        while (records.len() as u64) < count {
            let first = records.len();
            let length = (count - first as u64).min(BLOCK_RECORDS as u64) as usize;
            let part = FilePart::Block { core, first, last: first + length - 1 };
            let Some(block) = self.take(length * RECORD_BYTES, part)? else {
                let left = u128::from(count) - first as u128;
                let blocks = left.div_ceil(BLOCK_RECORDS as u128);
                let needed = self.at as u128 + left * RECORD_BYTES as u128 + blocks * CHECKSUM_BYTES as u128;
                let (what, present) = ("the list of records", self.bytes.len());
                return Err(TraceError::TooShort { what, core, needed, present });
            };
            read_records(block, core, &mut records)?;
        }
        Ok(records)
    }
}

/// Reads records of one core and adds them to those that are there.
fn read_records(bytes: &[u8], core: usize, records: &mut Vec<Record>) -> Result<(), TraceError> {
    for raw in bytes.chunks_exact(RECORD_BYTES) {
        let index = records.len();
        let mut b = [0; RECORD_BYTES];
        b.copy_from_slice(raw);
        let record = Record::from_bytes(&b).ok_or(TraceError::Kind { core, index, kind: b[22] })?;
        if record.core.index() != core {
            return Err(TraceError::Core { core, index, named: record.core.0 });
        }
        records.push(record);
    }
    Ok(())
}
