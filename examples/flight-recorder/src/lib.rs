//! A flight recorder: a log on a disk. When the power goes, nothing that was acknowledged is lost.
//!
//! The log is `sequential-storage`'s queue, which is made for flash memory: it asks that a write that is cut off harms no
//! other words of its page. A disk promises less: it acknowledges writes that are in its volatile cache only, keeps any of
//! them when the power goes, and tears one sector. [`Pages`] makes of such a disk what the log asks for. The recorder
//! takes no memory from a heap and runs in a component ([`Store`] is the block service there) as on the host.
#![no_std]
#![forbid(unsafe_code)]

mod pages;
mod store;

pub use pages::{Damage, Page, Pages, PagesError, PAGE};
pub use store::{OnDrive, Store, StoreError, SLOT};

use core::fmt;
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use sequential_storage::cache::NoCache;
use sequential_storage::{queue, Error};

/// The longest entry (bytes).
pub const LONGEST: usize = 128;

/// A log.
pub struct Recorder<'a, S> {
    pages: Pages<'a, S>,
}

/// Why the recorder could not do something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecorderError {
    /// The disk, or what is written on it.
    Disk(PagesError),
    /// The entry is longer than [`LONGEST`], or than the buffer for it.
    Long,
    /// The log's own pages make no sense: not ours, or damaged beyond what a power cut does.
    Corrupted,
}

impl fmt::Display for RecorderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecorderError::Disk(error) => error.fmt(f),
            RecorderError::Long => write!(f, "the entry has more than {LONGEST} bytes; divide it"),
            RecorderError::Corrupted => {
                write!(f, "the log is damaged as no power cut damages it; erase it and begin anew")
            }
        }
    }
}

fn told(error: Error<PagesError>) -> RecorderError {
    match error {
        Error::Storage { value, .. } => RecorderError::Disk(value),
        Error::ItemTooBig | Error::BufferTooBig | Error::BufferTooSmall(_) => RecorderError::Long,
        _ => RecorderError::Corrupted,
    }
}

/// What comes of work that never waits, as on a modelled drive: its answer is there when the call comes back.
pub fn at_once<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = work.as_mut().poll(&mut context) {
            return value;
        }
    }
}

impl<'a, S: Store> Recorder<'a, S> {
    /// The log in the first slots of a disk, two for each page: a new one where nothing was written, else the one that is there. The
    /// pages are held in memory; `slot` is room for what is read and written.
    pub fn open(store: S, pages: &'a mut [Page], slot: &'a mut [u8; SLOT]) -> Recorder<'a, S> {
        Recorder { pages: Pages::new(store, pages, slot) }
    }
    /// Gives the disk back.
    pub fn close(self) -> S {
        self.pages.close()
    }
    /// Slots that were found damaged, and mended by their other copy.
    pub fn damage(&self) -> &Damage {
        self.pages.damage()
    }

    /// Writes an entry behind all others; where the log is full, its oldest page goes. When this comes back well, the entry
    /// is acknowledged: it is on the platter.
    ///
    /// # Errors
    /// Where the disk fails, or the entry is too long.
    pub async fn append(&mut self, entry: &[u8]) -> Result<(), RecorderError> {
        if entry.is_empty() || entry.len() > LONGEST {
            return Err(RecorderError::Long);
        }
        let bytes = self.pages.bytes();
        queue::push(&mut self.pages, 0..bytes, &mut NoCache::new(), entry, true).await.map_err(told)
    }

    /// Hands every entry to `each`, the oldest first.
    ///
    /// # Errors
    /// Where the disk fails, or the log is not one.
    pub async fn entries(&mut self, mut each: impl FnMut(&[u8])) -> Result<(), RecorderError> {
        let mut cache = NoCache::new();
        let mut buffer = [0; LONGEST];
        let bytes = self.pages.bytes();
        let mut entries = queue::iter(&mut self.pages, 0..bytes, &mut cache).await.map_err(told)?;
        while let Some(entry) = entries.next(&mut buffer).await.map_err(told)? {
            each(&entry);
        }
        Ok(())
    }
}
