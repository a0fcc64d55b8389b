//! The bound where each interface keeps its flows to what they declare, and links serve in the order of arrival.
//!
//! A flow that sends L flits at most each T cycles brings σ + ρ·w flits at most in w cycles, with σ = L and ρ = L/T. Where Σρ ≤ 1 on a
//! link, no flit is longer in its queue and on it than D = Σσ cycles, the burst of all flows together (Cruz, "A calculus for network
//! delay, part I", IEEE Transactions on Information Theory 1991). What leaves it comes in bursts of σ + ρ·(D − 1). Links are taken in an
//! order in which each comes after those that lead to it, which the ways of a mesh have.

use crate::mesh::Mesh;
use crate::{Cycles, Flow, NetworkError};
use alloc::vec;
use alloc::vec::Vec;

/// Parts of a flit in which bursts and rates are counted, rounded up.
const PARTS: u128 = 1 << 32;

/// The longest from the release of a message to the arrival of its last flit, for each flow.
///
/// # Errors
/// [`NetworkError::NoFlow`], [`NetworkError::Overload`].
pub fn bounds(mesh: &Mesh, flows: &[Flow]) -> Result<Vec<Cycles>, NetworkError> {
    let routes = mesh.routes(flows)?;
    let mut over: Vec<Vec<usize>> = vec![Vec::new(); mesh.links()];
    for (n, route) in routes.iter().enumerate() {
        route.iter().for_each(|link| over[link.index()].push(n));
    }
    let rate = |flow: &Flow| (u128::from(flow.flits) * PARTS).div_ceil(u128::from(flow.period.0));
    let rates: Vec<u128> = flows.iter().map(rate).collect();
    let mut bursts: Vec<u128> = flows.iter().map(|flow| u128::from(flow.flits) * PARTS).collect();
    let mut bounds: Vec<Cycles> = routes.iter().map(|way| Cycles(mesh.router.0 * (way.len() as u64 - 1))).collect();
    for link in mesh.in_order() {
        let here = &over[link.index()];
        let mut load = 0;
        for flow in here {
            load += rates[*flow];
            // Rates are rounded up, each by less than a part.
            if load > PARTS + here.len() as u128 {
                return Err(NetworkError::Overload { flow: *flow });
            }
        }
        let delay = here.iter().map(|flow| bursts[*flow]).sum::<u128>() / PARTS;
        for flow in here {
            bounds[*flow] = bounds[*flow] + Cycles(delay as u64);
            bursts[*flow] += rates[*flow] * delay.saturating_sub(1);
        }
    }
    Ok(bounds)
}
