//! The bytes of a package as they come, chunk by chunk, and which of them others have asked for.

use crate::frame::{Package, WINDOW};
use alloc::vec::Vec;
use hmac_sha256::Hash;

/// A replica of a package, whole or not. It takes memory from its first chunk on.
#[derive(Debug, Default)]
pub(crate) struct Replica {
    bytes: Vec<u8>,
    here: Vec<u64>,
    marked: Vec<u64>,
    missing: u16,
    chunks: u16,
}

fn is_set(bits: &[u64], index: u16) -> bool {
    bits.get(usize::from(index / 64)).is_some_and(|word| word >> (index % 64) & 1 == 1)
}

impl Replica {
    /// Nothing of it.
    pub(crate) fn new(package: &Package) -> Replica {
        let chunks = if package.removed { 0 } else { package.chunks() };
        Replica { missing: chunks, chunks, ..Replica::default() }
    }
    /// All of it; nothing if the bytes are others.
    pub(crate) fn of(package: &Package, bytes: &[u8]) -> Option<Replica> {
        let mut replica = Replica::new(package);
        for index in 0..replica.chunks {
            replica.put(package, index, bytes.get(package.range(index))?);
        }
        (bytes.len() as u64 == u64::from(package.bytes) && replica.is_package(package)).then_some(replica)
    }
    pub(crate) fn is_complete(&self) -> bool {
        self.missing == 0
    }
    /// Whether these are the bytes of the package.
    pub(crate) fn is_package(&self, package: &Package) -> bool {
        self.is_complete() && (package.removed || Hash::hash(&self.bytes) == package.digest)
    }
    /// All bytes.
    pub(crate) fn whole(&self) -> Option<&[u8]> {
        self.is_complete().then_some(&self.bytes)
    }
    /// Forgets them.
    pub(crate) fn clear(&mut self) {
        (self.bytes, self.here, self.marked) = (Vec::new(), Vec::new(), Vec::new());
        self.missing = self.chunks;
    }
    /// Takes a chunk; whether it is new.
    pub(crate) fn put(&mut self, package: &Package, index: u16, bytes: &[u8]) -> bool {
        let range = package.range(index);
        if index >= self.chunks || is_set(&self.here, index) || bytes.len() != range.len() {
            return false;
        }
        self.bytes.resize(package.bytes as usize, 0);
        self.here.resize(usize::from(self.chunks).div_ceil(64), 0);
        self.bytes[range].copy_from_slice(bytes);
        self.here[usize::from(index / 64)] |= 1 << (index % 64);
        self.missing -= 1;
        true
    }
    /// A chunk that is here.
    pub(crate) fn chunk(&self, package: &Package, index: u16) -> &[u8] {
        &self.bytes[package.range(index)]
    }
    pub(crate) fn first_missing(&self) -> Option<u16> {
        (0..self.chunks).find(|&index| !is_set(&self.here, index))
    }
    /// Which chunks are missing from this one on, as bits.
    pub(crate) fn missing_from(&self, first: u16) -> u64 {
        let missing = |bit: &u16| first.checked_add(*bit).is_some_and(|it| it < self.chunks && !is_set(&self.here, it));
        (0..WINDOW).filter(missing).fold(0, |bits, bit| bits | 1 << bit)
    }
    /// Marks a chunk that is here to be sent; whether it is here.
    pub(crate) fn mark(&mut self, index: u16) -> bool {
        let here = is_set(&self.here, index);
        if here {
            self.marked.resize(self.here.len(), 0);
            self.marked[usize::from(index / 64)] |= 1 << (index % 64);
        }
        here
    }
    /// Takes the mark off the first that has one.
    pub(crate) fn unmark(&mut self) -> Option<u16> {
        let index = (0..self.chunks).find(|&index| is_set(&self.marked, index))?;
        self.marked[usize::from(index / 64)] &= !(1 << (index % 64));
        Some(index)
    }
}
