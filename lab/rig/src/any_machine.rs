//! A machine of whatever structures: what a run has to do with it. The run's own code is compiled once, and what lies
//! between two stamps of the clock once for each pair of structures: a call through this face is never measured.

use crate::check::{everything, most_urgent, Broken};
use crate::machine::{Machine, Processor, Tables};
use tactus_compared_structures::directory::Directory;
use tactus_compared_structures::queue::{Entry, ReadyQueue};
use tactus_compared_structures::Cores;
use tactus_sync::{Order, Unlocked};

/// See [`Machine`], whose functions these are.
pub(crate) trait AnyMachine: Send + Sync {
    fn processors(&self) -> usize;
    fn tables(&self) -> &Tables;
    /// Works off what the directories have as messages for this processor.
    fn serve(&self, processor: usize, order: &mut Order<Unlocked>);
    fn on_activation(&self, processor: &mut Processor, entry: Entry, allowed: Cores, expiry: u64);
    fn on_block(&self, processor: &mut Processor, ends: &mut dyn FnMut(Entry) -> bool) -> Option<u32>;
    fn on_block_of(&self, processor: &mut Processor, task: u32) -> bool;
    fn pull(&self, processor: &mut Processor) -> bool;
    fn push(&self, processor: &mut Processor) -> bool;
    fn everything(&self, order: &mut Order<Unlocked>) -> Result<(), Broken>;
    fn most_urgent(&self, order: &mut Order<Unlocked>) -> Result<(), Broken>;
}

impl<D: Directory, Q: ReadyQueue> AnyMachine for Machine<D, Q> {
    fn processors(&self) -> usize {
        self.queues.len()
    }
    fn tables(&self) -> &Tables {
        &self.tables
    }
    fn serve(&self, processor: usize, order: &mut Order<Unlocked>) {
        self.push.serve(processor, order);
        self.pull.serve(processor, order);
    }
    fn on_activation(&self, processor: &mut Processor, entry: Entry, allowed: Cores, expiry: u64) {
        Machine::on_activation(self, processor, entry, allowed, expiry);
    }
    fn on_block(&self, processor: &mut Processor, ends: &mut dyn FnMut(Entry) -> bool) -> Option<u32> {
        Machine::on_block(self, processor, ends)
    }
    fn on_block_of(&self, processor: &mut Processor, task: u32) -> bool {
        Machine::on_block_of(self, processor, task)
    }
    fn pull(&self, processor: &mut Processor) -> bool {
        Machine::pull(self, processor)
    }
    fn push(&self, processor: &mut Processor) -> bool {
        Machine::push(self, processor)
    }
    fn everything(&self, order: &mut Order<Unlocked>) -> Result<(), Broken> {
        everything(self, order)
    }
    fn most_urgent(&self, order: &mut Order<Unlocked>) -> Result<(), Broken> {
        most_urgent(&self.queues, &self.tables, order)
    }
}
