//! A pairing heap (Fredman, Sedgewick, Sleator and Tarjan, 1986): putting in is one comparison; the work is done when
//! an entry is taken out. Nodes are places in a table, one for each task.

use super::{Entry, ReadyQueue, NIL};
use crate::{planted, same, Flaw};
use alloc::vec::Vec;

#[derive(Clone, Copy)]
struct Node {
    urgency: u64,
    /// The first child.
    child: u32,
    /// The next sibling.
    next: u32,
    /// The sibling before, or the parent of a first child. The node's own number: it is not in the heap.
    before: u32,
}

/// A pairing heap.
pub struct PairingHeap<const BUG: u8 = { planted::NONE }> {
    nodes: Vec<Node>,
    root: u32,
    len: usize,
}

impl<const BUG: u8> PairingHeap<BUG> {
    #[inline]
    fn entry(&self, node: u32) -> Entry {
        Entry { urgency: self.nodes[node as usize].urgency, task: node }
    }
    fn holds(&self, task: u32) -> bool {
        self.nodes[task as usize].before != task
    }

    /// Makes one heap of two roots; either may be missing.
    fn meld(&mut self, one: u32, other: u32) -> u32 {
        if one == NIL || other == NIL {
            return if one == NIL { other } else { one };
        }
        let (above, below) = if self.entry(one) < self.entry(other) { (one, other) } else { (other, one) };
        let child = self.nodes[above as usize].child;
        if child != NIL {
            self.nodes[child as usize].before = below;
        }
        self.nodes[below as usize].next = child;
        self.nodes[below as usize].before = above;
        self.nodes[above as usize].child = below;
        above
    }

    /// Makes one heap of a row of siblings: in pairs from the left, then all pairs from the right.
    fn combine(&mut self, mut first: u32) -> u32 {
        let mut pairs = NIL;
        while first != NIL {
            let second = self.nodes[first as usize].next;
            let rest = if second == NIL { NIL } else { self.nodes[second as usize].next };
            self.detach(first);
            if second != NIL {
                self.detach(second);
            }
            let pair = self.meld(first, second);
            // The pairs are kept in a row of their own, the last first.
            self.nodes[pair as usize].next = pairs;
            pairs = pair;
            first = rest;
        }
        let mut whole = NIL;
        while pairs != NIL {
            let next = self.nodes[pairs as usize].next;
            self.detach(pairs);
            whole = self.meld(whole, pairs);
            pairs = next;
        }
        whole
    }

    fn detach(&mut self, node: u32) {
        self.nodes[node as usize].next = NIL;
        self.nodes[node as usize].before = NIL;
    }
}

impl<const BUG: u8> ReadyQueue for PairingHeap<BUG> {
    const NAME: &'static str = "pairing heap";

    fn with_room(tasks: usize) -> Self {
        let node = |task| Node { urgency: 0, child: NIL, next: NIL, before: task };
        PairingHeap { nodes: (0..tasks as u32).map(node).collect(), root: NIL, len: 0 }
    }
    fn insert(&mut self, entry: Entry) {
        self.remove(entry.task);
        self.nodes[entry.task as usize] = Node { urgency: entry.urgency, child: NIL, next: NIL, before: NIL };
        self.root = self.meld(self.root, entry.task);
        self.len += 1;
    }
    fn remove(&mut self, task: u32) -> Option<Entry> {
        if !self.holds(task) {
            return None;
        }
        let entry = self.entry(task);
        let Node { child, next, before, .. } = self.nodes[task as usize];
        if self.root != task {
            if next != NIL {
                self.nodes[next as usize].before = before;
            }
            if self.nodes[before as usize].child == task {
                self.nodes[before as usize].child = next;
            } else {
                self.nodes[before as usize].next = next;
            }
        }
        if BUG == planted::LOST_CHILDREN && child != NIL {
            self.nodes[child as usize].next = NIL;
        }
        let orphans = self.combine(child);
        self.root = if self.root == task { orphans } else { self.meld(self.root, orphans) };
        let node = &mut self.nodes[task as usize];
        (node.child, node.next, node.before) = (NIL, NIL, task);
        self.len -= 1;
        Some(entry)
    }
    #[inline]
    fn peek(&self) -> Option<Entry> {
        (self.root != NIL).then(|| self.entry(self.root))
    }
    fn len(&self) -> usize {
        self.len
    }
    fn each(&self, visit: &mut dyn FnMut(Entry)) {
        let mut at = self.root;
        // Down to the first child, else to the next sibling, else up until there is one.
        while at != NIL {
            visit(self.entry(at));
            let mut next = self.nodes[at as usize].child;
            while next == NIL {
                next = self.nodes[at as usize].next;
                if next != NIL {
                    break;
                }
                // Back to the first sibling, whose `before` is the parent.
                loop {
                    let before = self.nodes[at as usize].before;
                    if before == NIL {
                        return;
                    }
                    let up = self.nodes[before as usize].child == at;
                    at = before;
                    if up {
                        break;
                    }
                }
            }
            at = next;
        }
    }
    fn check(&self) -> Result<(), Flaw> {
        let mut reached = 0;
        let mut flaw = Ok(());
        self.each(&mut |entry| {
            reached += 1;
            let node = self.nodes[entry.task as usize];
            let mut child = node.child;
            let mut before = entry.task;
            while child != NIL && flaw.is_ok() {
                let rule = "no entry is more urgent than its parent";
                flaw = same(Self::NAME, rule, child as usize, 1, u64::from(entry <= self.entry(child)));
                let rule = "each sibling knows the one before";
                let found = self.nodes[child as usize].before;
                flaw = flaw.and(same(Self::NAME, rule, child as usize, u64::from(before), u64::from(found)));
                before = child;
                child = self.nodes[child as usize].next;
            }
        });
        flaw?;
        same(Self::NAME, "every entry is reached from the root", 0, self.len as u64, reached)?;
        let held = (0..self.nodes.len() as u32).filter(|task| self.holds(*task)).count();
        same(Self::NAME, "as many entries are held as were put in", 0, self.len as u64, held as u64)
    }
}
