//! Why nodes in scope do not host a version: what each of them found, as far as it is known here.
//!
//! All nodes that know of the version join what they know, so that it comes to the owner over whatever way there is, and once they agree
//! nobody tells it any more. Of many, those of the nodes with the smallest numbers are kept: the same ones everywhere.

use crate::frame::{items, Malformed, NodeId};
use alloc::vec::Vec;
use minicbor::decode::Decoder;
use minicbor::encode::Encoder;

/// As many are kept of a version.
pub const MOST_REFUSALS: usize = 32;

/// Why a node does not host a version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Refusal {
    /// The number of the reason: `tactus_record::SlotRefusal`.
    pub reason: u8,
    /// The package's task that is to blame, if one is.
    pub task: Option<u8>,
}

/// Refusals of one version, each by the node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Refusals(Vec<(NodeId, Refusal)>);

impl Refusals {
    /// Adds one; whether it is new here.
    pub fn add(&mut self, node: NodeId, refusal: Refusal) -> bool {
        let Err(place) = self.0.binary_search_by_key(&node, |it| it.0) else { return false };
        if place >= MOST_REFUSALS {
            return false;
        }
        self.0.insert(place, (node, refusal));
        self.0.truncate(MOST_REFUSALS);
        true
    }
    /// All of them, by their nodes.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, Refusal)> + '_ {
        self.0.iter().copied()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// A number that differs where they differ, but for one in 2^64; 0 of none.
    pub fn digest(&self) -> u64 {
        // SplitMix64's mixer; what is summed does not depend on the order.
        let mixed = |(node, it): &(NodeId, Refusal)| {
            let task = it.task.map_or(0, |task| u64::from(task) + 1);
            let word = u64::from(node.0) << 32 | u64::from(it.reason) << 16 | task;
            let word = (word ^ word >> 30).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            word ^ word >> 31
        };
        self.0.iter().map(mixed).fold(0, u64::wrapping_add)
    }
    /// Writes them into an emptied buffer.
    pub fn write(&self, to: &mut Vec<u8>) {
        to.clear();
        // Memory takes what is written.
        let _ = self.encode(&mut Encoder::new(to));
    }

    fn encode(&self, to: &mut Encoder<&mut Vec<u8>>) -> Result<(), minicbor::encode::Error<core::convert::Infallible>> {
        to.array(3 * self.0.len() as u64)?;
        for (node, it) in &self.0 {
            to.u32(node.0)?.u8(it.reason)?;
            match it.task {
                Some(task) => to.u8(task)?,
                None => to.null()?,
            };
        }
        Ok(())
    }

    /// Reads some.
    ///
    /// # Errors
    /// Where they are none, or too many.
    pub fn read(bytes: &[u8]) -> Result<Refusals, Malformed> {
        let mut from = Decoder::new(bytes);
        let numbers = items(&mut from, 0, 3 * MOST_REFUSALS)?;
        let mut all = Refusals::default();
        for _ in 0..numbers / 3 {
            let (node, reason) = (NodeId(from.u32()?), from.u8()?);
            let task = if from.datatype()? == minicbor::data::Type::Null {
                from.null()?;
                None
            } else {
                Some(from.u8()?)
            };
            if !all.add(node, Refusal { reason, task }) {
                return Err(Malformed);
            }
        }
        (numbers % 3 == 0 && from.position() == bytes.len()).then_some(all).ok_or(Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: impl Iterator<Item = u32>) -> Refusals {
        let mut all = Refusals::default();
        for n in numbers {
            all.add(NodeId(n), Refusal { reason: n as u8, task: (n % 2 == 0).then_some(n as u8) });
        }
        all
    }

    #[test]
    fn whatever_their_order_the_same_ones_are_kept_and_written() {
        let (up, down) = (of(0..50), of((0..50).rev()));
        assert_eq!((&up, up.iter().count()), (&down, MOST_REFUSALS));
        assert_eq!(up.digest(), down.digest());
        let mut bytes = Vec::new();
        up.write(&mut bytes);
        assert_eq!(Refusals::read(&bytes), Ok(up.clone()));
        for cut in 0..bytes.len() {
            assert!(Refusals::read(&bytes[..cut]).is_err());
        }
        assert!(of(0..49).digest() == up.digest() && of(0..31).digest() != up.digest());
        assert_eq!(Refusals::default().digest(), 0);
    }
}
