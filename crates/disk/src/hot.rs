//! Which granules of a disk have a row in the map: the hot set, in rising order.

use crate::map::GRANULE;
use alloc::vec::Vec;

/// The granules that the map covers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HotSet(Vec<u64>);

impl HotSet {
    /// The granules of these blocks (of 512 bytes), each once.
    pub fn of_blocks(blocks: impl IntoIterator<Item = u64>) -> HotSet {
        let mut granules: Vec<u64> = blocks.into_iter().map(granule).collect();
        granules.sort_unstable();
        granules.dedup();
        HotSet(granules)
    }
    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// The row of a block, if it is hot.
    pub fn row(&self, block: u64) -> Option<u32> {
        self.0.binary_search(&granule(block)).ok().map(|row| row as u32)
    }
}

fn granule(block: u64) -> u64 {
    block * 512 / GRANULE
}
