//! Over which nodes data comes to its receivers.
//!
//! The hops of a stream are a tree from its sender: to each receiver over as few hops as there are, and of several ways over the nodes
//! with the smallest numbers. Nodes between pass frames on and do not read them; they are there all the time, so that a way stands.

use crate::field::Field;
use crate::frame::{Frame, NodeId};
use crate::refusals::MOST_REFUSALS;
use crate::stream::Stream;
use alloc::vec::Vec;
use tactus_time::{Duration, Instant};

/// A node of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// Which node.
    pub node: usize,
    /// Whose frames it takes, as an index of the tree; the sender's is its own.
    pub parent: usize,
    /// From the end of that one's frame to its arrival here.
    pub delay: Duration,
    /// Frames of a million that are lost on the link.
    pub loss: u32,
    /// Hops from the sender.
    pub hops: u32,
    /// Whether it sends them on.
    pub relays: bool,
    /// Whether the data is for it.
    pub receives: bool,
}

/// Over which nodes a stream comes to its receivers, each after the one whose frames it takes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tree {
    /// The sender first.
    pub hops: Vec<Hop>,
    /// Receivers to which there is no way.
    pub unreached: Vec<usize>,
}

impl Tree {
    /// The way to a node of the tree, from the sender on, as indices.
    pub fn way(&self, to: usize) -> Vec<usize> {
        let mut way = alloc::vec![to];
        let mut at = to;
        while self.hops[at].parent != at {
            at = self.hops[at].parent;
            way.push(at);
        }
        way.reverse();
        way
    }

    /// Whether frames can be lost on the way to a node of the tree.
    pub fn loses(&self, to: usize) -> bool {
        self.way(to).iter().any(|&at| self.hops[at].loss > 0)
    }
}

impl Field {
    /// The tree of a stream.
    pub fn tree(&self, stream: &Stream) -> Tree {
        let always = |n: usize| self.members[n].comes == Instant::ZERO && self.members[n].goes == Instant::NEVER;
        let covers = |n: usize| n != stream.from && stream.scope.covers(&self.members[n].description);
        let hop = |node, parent, hops| Hop {
            node,
            parent,
            delay: Duration::ZERO,
            loss: 0,
            hops,
            relays: false,
            receives: covers(node),
        };
        let mut seen = alloc::vec![false; self.members.len()];
        seen[stream.from] = true;
        let mut all = alloc::vec![hop(stream.from, 0, 0)];
        let (mut begin, mut hops) = (0, 0);
        while begin < all.len() {
            let end = all.len();
            hops += 1;
            for parent in begin..end {
                let node = all[parent].node;
                if node != stream.from && !always(node) {
                    continue;
                }
                for link in &self.members[node].links {
                    if !core::mem::replace(&mut seen[link.to], true) {
                        all.push(Hop { delay: link.delay, loss: link.loss, ..hop(link.to, parent, hops) });
                    }
                }
            }
            all[end..].sort_by_key(|it| it.node);
            begin = end;
        }
        let unreached = (0..seen.len()).filter(|&n| !seen[n] && covers(n)).collect();
        Tree { hops: pruned(&all), unreached }
    }

    /// The most bytes of a frame that is not data: what a stream's frame may find in front of it, however urgent it is.
    pub fn longest_other(&self) -> usize {
        let mut longest = 0;
        let mut frame = Vec::new();
        let mut of = |it: Frame<'_>| {
            it.write(NodeId(u32::MAX), &mut frame);
            longest = longest.max(frame.len());
        };
        of(Frame::Solicit);
        // Three numbers a node, of at most five, two and two bytes.
        let some = if self.members.iter().any(|it| it.slots.is_some()) { MOST_REFUSALS } else { 0 };
        let refusals = alloc::vec![0; 3 + 9 * some];
        for package in self.deliveries.iter().map(|it| &it.package) {
            let (app, version) = (package.app, package.version);
            let encoded = Frame::package(package);
            let (distance, outside) = (u8::MAX, u8::MAX);
            of(Frame::Offer { app, version, distance, outside, refusals: u64::MAX, package: &encoded });
            of(Frame::Request { to: NodeId(u32::MAX), app, version, first: u16::MAX, wanted: u64::MAX });
            of(Frame::Refusals { app, version, all: &refusals });
            let chunk = alloc::vec![0; package.range(0).len()];
            of(Frame::Chunk { app, version, index: u16::MAX, bytes: &chunk });
        }
        longest
    }

    /// The trees of all streams.
    pub fn trees(&self) -> Vec<Tree> {
        self.streams.iter().map(|stream| self.tree(stream)).collect()
    }
}

/// Leaves out what leads to no receiver.
fn pruned(all: &[Hop]) -> Vec<Hop> {
    let mut relays = alloc::vec![false; all.len()];
    for (at, hop) in all.iter().enumerate().skip(1).rev() {
        relays[hop.parent] |= relays[at] || hop.receives;
    }
    let stays = |at: usize| at == 0 || relays[at] || all[at].receives;
    let mut index = alloc::vec![0; all.len()];
    let mut kept = Vec::new();
    for (at, hop) in all.iter().enumerate().filter(|(at, _)| stays(*at)) {
        index[at] = kept.len();
        kept.push(Hop { parent: index[hop.parent], relays: relays[at], ..*hop });
    }
    kept
}
