//! The heap from which only the first is ever taken, as a queue of ready tasks: whatever else is to be taken out has to be looked for.

use super::{Entry, FirstHeap, ReadyQueue};
use crate::{planted, same, Flaw};
use alloc::vec::Vec;

/// The heap as a queue of ready tasks.
pub struct PlainHeap<const BUG: u8 = { planted::NONE }> {
    heap: FirstHeap<Entry, BUG>,
    /// By task: whether it is in.
    present: Vec<bool>,
}

impl<const BUG: u8> ReadyQueue for PlainHeap<BUG> {
    const NAME: &'static str = "plain heap";

    fn with_room(tasks: usize) -> Self {
        PlainHeap { heap: FirstHeap::with_capacity(tasks), present: alloc::vec![false; tasks] }
    }
    fn insert(&mut self, entry: Entry) {
        if core::mem::replace(&mut self.present[entry.task as usize], true) {
            self.remove(entry.task);
            self.present[entry.task as usize] = true;
        }
        self.heap.push(entry);
    }
    fn remove(&mut self, task: u32) -> Option<Entry> {
        if !core::mem::replace(&mut self.present[task as usize], false) {
            return None;
        }
        let place = self.heap.entries().iter().position(|entry| entry.task == task)?;
        let entry = self.heap.entries()[place];
        self.heap.take(place);
        Some(entry)
    }
    #[inline]
    fn peek(&self) -> Option<Entry> {
        self.heap.peek()
    }
    fn pop(&mut self) -> Option<Entry> {
        let first = self.heap.pop()?;
        self.present[first.task as usize] = false;
        Some(first)
    }
    fn len(&self) -> usize {
        self.heap.entries().len()
    }
    fn each(&self, visit: &mut dyn FnMut(Entry)) {
        self.heap.entries().iter().for_each(|entry| visit(*entry));
    }
    fn check(&self) -> Result<(), Flaw> {
        for (place, entry) in self.heap.entries().iter().enumerate() {
            let parent = self.heap.entries()[place.saturating_sub(1) / 2];
            let rule = "no entry is more urgent than its parent";
            same(Self::NAME, rule, place, 1, u64::from(parent <= *entry))?;
            let present = self.present[entry.task as usize];
            same(Self::NAME, "what is in is known to be", entry.task as usize, 1, u64::from(present))?;
        }
        let present = self.present.iter().filter(|present| **present).count();
        same(Self::NAME, "nothing else is known to be in", 0, self.heap.entries().len() as u64, present as u64)
    }
}
