//! A red-black tree (Guibas and Sedgewick, 1978; the procedures are those of Cormen, Leiserson, Rivest and Stein) that
//! remembers its leftmost node: the run queue of Linux's fair and deadline classes. Nodes are places in a table, one for
//! each task, and one more that stands for every leaf.

use super::{Entry, ReadyQueue};
use crate::{planted, same, Flaw};
use alloc::vec::Vec;

#[derive(Clone, Copy)]
struct Node {
    urgency: u64,
    /// The more urgent and the less urgent child.
    child: [u32; 2],
    parent: u32,
    red: bool,
    held: bool,
}

/// A red-black tree.
pub struct RedBlackTree<const BUG: u8 = { planted::NONE }> {
    nodes: Vec<Node>,
    /// The node that stands for every leaf: black, and the parent of the root.
    leaf: u32,
    root: u32,
    first: u32,
    len: usize,
}

const LEFT: usize = 0;
const RIGHT: usize = 1;

impl<const BUG: u8> RedBlackTree<BUG> {
    #[inline]
    fn entry(&self, node: u32) -> Entry {
        Entry { urgency: self.nodes[node as usize].urgency, task: node }
    }
    #[inline]
    fn child(&self, node: u32, side: usize) -> u32 {
        self.nodes[node as usize].child[side]
    }
    #[inline]
    fn parent(&self, node: u32) -> u32 {
        self.nodes[node as usize].parent
    }
    #[inline]
    fn red(&self, node: u32) -> bool {
        self.nodes[node as usize].red
    }
    #[inline]
    fn paint(&mut self, node: u32, red: bool) {
        self.nodes[node as usize].red = red;
    }

    /// Puts `new` in the place of `old` under `old`'s parent.
    fn transplant(&mut self, old: u32, new: u32) {
        let parent = self.parent(old);
        if parent == self.leaf {
            self.root = new;
        } else {
            let side = usize::from(self.child(parent, RIGHT) == old);
            self.nodes[parent as usize].child[side] = new;
        }
        self.nodes[new as usize].parent = parent;
    }

    /// Lets the node sink to `side`; its child on the other side takes its place.
    fn rotate(&mut self, node: u32, side: usize) {
        let up = self.child(node, 1 - side);
        let middle = self.child(up, side);
        self.nodes[node as usize].child[1 - side] = middle;
        if middle != self.leaf {
            self.nodes[middle as usize].parent = node;
        }
        self.transplant(node, up);
        self.nodes[up as usize].child[side] = node;
        self.nodes[node as usize].parent = up;
    }

    fn leftmost(&self, mut node: u32) -> u32 {
        while self.child(node, LEFT) != self.leaf {
            node = self.child(node, LEFT);
        }
        node
    }

    fn mend_after_insert(&mut self, mut node: u32) {
        while self.red(self.parent(node)) {
            let parent = self.parent(node);
            let grand = self.parent(parent);
            let side = usize::from(self.child(grand, RIGHT) == parent);
            let uncle = self.child(grand, 1 - side);
            if self.red(uncle) {
                self.paint(parent, false);
                self.paint(uncle, false);
                self.paint(grand, true);
                node = grand;
                continue;
            }
            if node == self.child(parent, 1 - side) {
                node = parent;
                self.rotate(node, side);
            }
            let parent = self.parent(node);
            let grand = self.parent(parent);
            self.paint(parent, false);
            self.paint(grand, true);
            self.rotate(grand, 1 - side);
        }
        let root = self.root;
        self.paint(root, false);
    }

    fn mend_after_remove(&mut self, mut node: u32) {
        while node != self.root && !self.red(node) {
            let parent = self.parent(node);
            let side = usize::from(self.child(parent, RIGHT) == node);
            let mut sibling = self.child(parent, 1 - side);
            if self.red(sibling) {
                self.paint(sibling, false);
                self.paint(parent, true);
                self.rotate(parent, side);
                sibling = self.child(parent, 1 - side);
            }
            let (near, far) = (self.child(sibling, side), self.child(sibling, 1 - side));
            if !self.red(near) && !self.red(far) {
                self.paint(sibling, true);
                node = parent;
                continue;
            }
            if !self.red(far) {
                self.paint(near, false);
                self.paint(sibling, true);
                self.rotate(sibling, 1 - side);
                sibling = self.child(parent, 1 - side);
            }
            let red = self.red(parent);
            self.paint(sibling, red);
            self.paint(parent, false);
            let far = self.child(sibling, 1 - side);
            self.paint(far, false);
            self.rotate(parent, side);
            node = self.root;
        }
        self.paint(node, false);
    }

    fn successor(&self, node: u32) -> u32 {
        if self.child(node, RIGHT) != self.leaf {
            return self.leftmost(self.child(node, RIGHT));
        }
        let (mut node, mut parent) = (node, self.parent(node));
        while parent != self.leaf && node == self.child(parent, RIGHT) {
            (node, parent) = (parent, self.parent(parent));
        }
        parent
    }
}

impl<const BUG: u8> ReadyQueue for RedBlackTree<BUG> {
    const NAME: &'static str = "red-black tree";

    fn with_room(tasks: usize) -> Self {
        let leaf = tasks as u32;
        let node = Node { urgency: 0, child: [leaf; 2], parent: leaf, red: false, held: false };
        RedBlackTree { nodes: alloc::vec![node; tasks + 1], leaf, root: leaf, first: leaf, len: 0 }
    }
    fn insert(&mut self, entry: Entry) {
        self.remove(entry.task);
        let (mut parent, mut at, mut side, mut is_first) = (self.leaf, self.root, LEFT, true);
        while at != self.leaf {
            parent = at;
            side = usize::from(self.entry(at) < entry);
            is_first &= side == LEFT;
            at = self.child(at, side);
        }
        let leaf = self.leaf;
        self.nodes[entry.task as usize] =
            Node { urgency: entry.urgency, child: [leaf; 2], parent, red: true, held: true };
        if parent == leaf {
            self.root = entry.task;
        } else {
            self.nodes[parent as usize].child[side] = entry.task;
        }
        if is_first {
            self.first = entry.task;
        }
        self.mend_after_insert(entry.task);
        self.len += 1;
    }
    fn remove(&mut self, task: u32) -> Option<Entry> {
        if !core::mem::replace(&mut self.nodes[task as usize].held, false) {
            return None;
        }
        if self.first == task {
            self.first = self.successor(task);
        }
        let [left, right] = self.nodes[task as usize].child;
        let (black_lost, orphan);
        if left == self.leaf || right == self.leaf {
            orphan = if left == self.leaf { right } else { left };
            black_lost = !self.red(task);
            self.transplant(task, orphan);
        } else {
            let next = self.leftmost(right);
            black_lost = !self.red(next);
            orphan = self.child(next, RIGHT);
            if self.parent(next) == task {
                // Also where it is the leaf: mending looks for its parent.
                self.nodes[orphan as usize].parent = next;
            } else {
                self.transplant(next, orphan);
                self.nodes[next as usize].child[RIGHT] = right;
                self.nodes[right as usize].parent = next;
            }
            self.transplant(task, next);
            self.nodes[next as usize].child[LEFT] = left;
            self.nodes[left as usize].parent = next;
            let red = self.red(task);
            self.paint(next, red);
        }
        if black_lost && BUG != planted::UNMENDED_COLOURS {
            self.mend_after_remove(orphan);
        }
        self.len -= 1;
        Some(self.entry(task))
    }
    #[inline]
    fn peek(&self) -> Option<Entry> {
        (self.first != self.leaf).then(|| self.entry(self.first))
    }
    fn len(&self) -> usize {
        self.len
    }
    fn each(&self, visit: &mut dyn FnMut(Entry)) {
        let mut at = if self.root == self.leaf { self.leaf } else { self.leftmost(self.root) };
        while at != self.leaf {
            visit(self.entry(at));
            at = self.successor(at);
        }
    }
    fn check(&self) -> Result<(), Flaw> {
        let mut reached = 0;
        let mut last: Option<Entry> = None;
        let mut flaw = Ok(());
        let mut depth = None;
        self.each(&mut |entry| {
            reached += 1;
            let node = self.nodes[entry.task as usize];
            let at = entry.task as usize;
            let sorted = last.is_none_or(|last| last < entry);
            let red_pair = node.red && (self.red(node.child[LEFT]) || self.red(node.child[RIGHT]));
            flaw = flaw.and(same(Self::NAME, "the tree is sorted", at, 1, u64::from(sorted))).and(same(
                Self::NAME,
                "no red node has a red child",
                at,
                0,
                u64::from(red_pair),
            ));
            last = Some(entry);
            if node.child.contains(&self.leaf) {
                // Black nodes from here up to the root.
                let (mut black, mut up) = (0, entry.task);
                while up != self.leaf {
                    black += u64::from(!self.red(up));
                    up = self.parent(up);
                }
                let rule = "every way down has as many black nodes";
                flaw = flaw.and(same(Self::NAME, rule, at, *depth.get_or_insert(black), black));
            }
        });
        flaw?;
        same(Self::NAME, "every node is reached from the root", 0, self.len as u64, reached)?;
        let leftmost = if self.root == self.leaf { self.leaf } else { self.leftmost(self.root) };
        same(Self::NAME, "the first node is the leftmost", 0, u64::from(leftmost), u64::from(self.first))
    }
}
