//! The bytes in the drive's volatile write cache: what was answered and is not on the platter. The drive's model knows which writes
//! these are; here are their bytes, in the same order.

use alloc::vec::Vec;
use tactus_disk::Request;

/// See above.
#[derive(Debug, Default)]
pub(crate) struct WriteCache {
    writes: Vec<Request>,
    bytes: Vec<u8>,
    /// Bytes kept for each write.
    slot: usize,
    /// Which part of `bytes` each write has.
    slots: Vec<usize>,
    free: Vec<usize>,
}

impl WriteCache {
    /// For this number of writes, and one that comes, of at most `slot` bytes.
    pub(crate) fn new(writes: usize, slot: usize) -> WriteCache {
        if writes == 0 {
            return WriteCache::default();
        }
        let many = writes + 1;
        WriteCache {
            writes: Vec::with_capacity(many),
            bytes: alloc::vec![0; many * slot],
            slot,
            slots: Vec::with_capacity(many),
            free: (0..many).collect(),
        }
    }
    pub(crate) fn len(&self) -> usize {
        self.writes.len()
    }

    /// Keeps a write; `fill` puts its bytes.
    pub(crate) fn push(&mut self, request: &Request, fill: impl FnOnce(&mut [u8])) {
        let Some(slot) = self.free.pop() else { return };
        self.writes.push(*request);
        self.slots.push(slot);
        fill(&mut self.bytes[slot * self.slot..][..request.blocks as usize * 512]);
    }
    /// Takes the oldest out, with its bytes.
    pub(crate) fn pop(&mut self) -> Option<(Request, &[u8])> {
        if self.writes.is_empty() {
            return None;
        }
        let (request, slot) = (self.writes.remove(0), self.slots.remove(0));
        self.free.push(slot);
        Some((request, &self.bytes[slot * self.slot..][..request.blocks as usize * 512]))
    }
    /// What was written last to the place of a request, if it is here.
    pub(crate) fn find(&self, request: &Request) -> Option<&[u8]> {
        let place = self.writes.iter().rposition(|write| write.granule == request.granule)?;
        Some(&self.bytes[self.slots[place] * self.slot..][..request.blocks as usize * 512])
    }
}
