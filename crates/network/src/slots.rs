//! The bound where time is divided into slots: a flit that enters in a slot of its flow's goes on from link to link without waiting, since
//! the slot of each next link is the flow's too (contention-free routing, as Goossens, Dielissen and Rădulescu have it for Æthereal, IEEE
//! Design & Test 2005). So nobody moves anybody, whatever is sent.

use crate::mesh::Mesh;
use crate::{Cycles, Flow, NetworkError};
use alloc::vec;
use alloc::vec::Vec;

/// The slots of each flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// With which slots repeat.
    pub length: u32,
    /// By flow: the slots in which a flit of it enters, rising.
    pub slots: Vec<Vec<u32>>,
}

impl Table {
    /// Gives each flow, in turn, as many slots as its messages need, the first that are free on all of its way.
    ///
    /// # Errors
    /// [`NetworkError::NoFlow`], [`NetworkError::NoSlots`].
    pub fn new(mesh: &Mesh, flows: &[Flow], length: u32) -> Result<Table, NetworkError> {
        let routes = mesh.routes(flows)?;
        let step = mesh.router.0 + 1;
        let mut taken = vec![false; mesh.links() * length as usize];
        let mut slots = Vec::new();
        for (n, (flow, route)) in flows.iter().zip(&routes).enumerate() {
            let place = |slot: u32, hop: usize| {
                let at = (u64::from(slot) + hop as u64 * step) % u64::from(length);
                route[hop].index() * length as usize + at as usize
            };
            let mut own: Vec<u32> = Vec::new();
            for slot in 0..length {
                if (0..route.len()).all(|hop| !taken[place(slot, hop)]) {
                    own.push(slot);
                    if wait(flow, &own, length).is_some_and(|wait| wait <= flow.period) {
                        break;
                    }
                }
            }
            if wait(flow, &own, length).is_none_or(|wait| wait > flow.period) {
                return Err(NetworkError::NoSlots { flow: n });
            }
            own.iter().for_each(|slot| (0..route.len()).for_each(|hop| taken[place(*slot, hop)] = true));
            slots.push(own);
        }
        Ok(Table { length, slots })
    }

    /// The longest from the release of a message to the arrival of its last flit, for each flow.
    pub fn bounds(&self, mesh: &Mesh, flows: &[Flow]) -> Vec<Cycles> {
        let one = |(flow, slots): (&Flow, &Vec<u32>)| {
            let links = mesh.route(flow.from, flow.to).len() as u64;
            let way = Cycles(links - 1 + mesh.router.0 * (links - 1));
            wait(flow, slots, self.length).unwrap_or(Cycles(u64::MAX)) + way
        };
        flows.iter().zip(&self.slots).map(one).collect()
    }
}

/// The longest until a message that finds nothing before it has sent its last flit over its first link.
fn wait(flow: &Flow, slots: &[u32], length: u32) -> Option<Cycles> {
    let (flits, length) = (u64::from(flow.flits), u64::from(length));
    let count = slots.len() as u64;
    let at = |n: u64| Some(n.checked_div(count)? * length + u64::from(slots[(n % count) as usize]));
    // It is released the cycle after a slot, and takes the next `flits` ones.
    (0..count).map(|n| Some(Cycles(at(n + flits)? - at(n)?))).max().flatten()
}
