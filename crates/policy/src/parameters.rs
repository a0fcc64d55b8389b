//! Parameters of the plain orders: priorities and clusters.

use crate::codec::{put, DecodeError, Input, Parameters};
use alloc::vec::Vec;
use tactus_time::CoreSet;

/// A priority for each task, in the order of the tasks; the larger goes first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Priorities(pub Vec<u32>);

/// Clusters of cores, and what comes with their order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clusters {
    /// The clusters: each core is in one of them. A task waits in the cluster that its core is in.
    pub sets: Vec<CoreSet>,
    /// A priority for each task where the order is by priorities; none elsewhere.
    pub priorities: Priorities,
}

impl Parameters for Priorities {
    fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.0.len() as u64);
        self.0.iter().for_each(|priority| out.extend(priority.to_le_bytes()));
    }
    fn decode(input: &mut Input) -> Result<Priorities, DecodeError> {
        Ok(Priorities(input.list(4, |input| input.take().map(u32::from_le_bytes))?))
    }
}

impl Parameters for Clusters {
    fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.sets.len() as u64);
        out.extend(self.sets.iter().map(|set| set.bits()));
        self.priorities.encode(out);
    }
    fn decode(input: &mut Input) -> Result<Clusters, DecodeError> {
        let sets = input.list(1, |input| input.byte().map(CoreSet::from_bits))?;
        Ok(Clusters { sets, priorities: Priorities::decode(input)? })
    }
}
