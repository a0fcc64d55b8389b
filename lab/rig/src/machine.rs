//! The emulated machine: a ready queue for each processor, and the directories by which they find one another. The
//! functions are those of the source's figure 1, with one rule added: what a directory finds is a hint, so both queues
//! are locked, in their order, and looked at again; three times at most.

use crate::measure::{Operation, Watch};
use crate::run_queue::RunQueue;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tactus_compared_structures::directory::{Directory, DirectoryRank, Overload};
use tactus_compared_structures::queue::{Entry, ReadyQueue};
use tactus_compared_structures::Cores;
use tactus_sync::{lock_two, Lock, Order, Rank, Unlocked};

/// The rank of ready queues in the order of locks: before what is in a directory.
pub struct QueueRank;

impl Rank for QueueRank {
    const NUMBER: u32 = DirectoryRank::NUMBER + 10;
}

/// How often a hint is followed before the processor gives up until its next event.
const TRIES: usize = 3;

/// Priorities go up to here where a structure knows levels only.
pub(crate) const PRIORITIES: u64 = 99;

/// What all processors share.
pub struct Machine<D, Q> {
    /// By processor.
    pub queues: Vec<Lock<RunQueue<Q>, QueueRank>>,
    /// Where to push to.
    pub push: D,
    /// Where to pull from.
    pub pull: D,
    /// What is known beside.
    pub tables: Tables,
}

/// What all processors share beside structures.
pub struct Tables {
    /// Who has tasks waiting.
    pub overload: Overload,
    /// By task: whether it is ready. Written by who holds its queue.
    pub alive: Vec<AtomicBool>,
    /// By task: the processors that it may run on.
    allowed: Vec<AtomicU64>,
    /// By task: when its deadline or its run time is over, in ns of the rig's clock.
    expiry: Vec<AtomicU64>,
    priorities: bool,
}

/// A processor's own.
pub(crate) struct Processor {
    pub(crate) me: usize,
    pub(crate) order: Order<Unlocked>,
    pub(crate) watch: Watch,
}

impl Tables {
    fn new(tasks: usize, priorities: bool) -> Tables {
        Tables {
            overload: Overload::default(),
            alive: (0..tasks).map(|_| AtomicBool::new(false)).collect(),
            allowed: (0..tasks).map(|_| AtomicU64::new(u64::MAX)).collect(),
            expiry: (0..tasks).map(|_| AtomicU64::new(0)).collect(),
            priorities,
        }
    }

    /// Whether tasks have priorities instead of deadlines, since a structure knows levels only.
    pub fn has_priorities(&self) -> bool {
        self.priorities
    }

    /// An urgency turned round: the more urgent, the greater.
    pub fn turned(&self, urgency: u64) -> u64 {
        if self.priorities {
            (PRIORITIES + 1).saturating_sub(urgency)
        } else {
            u64::MAX - urgency
        }
    }

    /// Where the task may run.
    pub fn allowed(&self, task: u32) -> Cores {
        Cores(self.allowed[task as usize].load(Ordering::Relaxed))
    }

    /// When its deadline or its run time is over.
    pub(crate) fn expiry(&self, task: u32) -> u64 {
        self.expiry[task as usize].load(Ordering::Relaxed)
    }

    /// Whether it is ready.
    pub(crate) fn is_ready(&self, task: u32) -> bool {
        self.alive[task as usize].load(Ordering::Relaxed)
    }

    /// What a queue has to say to those who push and to those who pull.
    pub fn says<Q: ReadyQueue>(&self, queue: &RunQueue<Q>) -> (u64, u64) {
        (queue.room(), queue.offer(|urgency| self.turned(urgency)))
    }
}

impl<D: Directory, Q: ReadyQueue> Machine<D, Q> {
    pub(crate) fn new(processors: usize, tasks: usize) -> Self {
        let machine = Machine {
            queues: (0..processors).map(|_| Lock::new(RunQueue::new(tasks))).collect(),
            push: D::init(processors),
            pull: D::init(processors),
            tables: Tables::new(tasks, D::LEVELS < u64::MAX || Q::LEVELS < u64::MAX),
        };
        let mut order = Order::unlocked();
        for core in 0..processors {
            // All are idle.
            let mut held = machine.queues[core].lock(&mut order);
            let (queue, order) = held.parts();
            machine.push.finish(core, order, core, queue.room());
            machine.push.serve(0, order);
        }
        machine
    }

    /// Tells the directories what has changed in a queue that the caller holds.
    fn tell<H: Rank>(
        &self,
        processor: (usize, &mut Watch),
        order: &mut Order<H>,
        core: usize,
        before: (u64, u64),
        queue: &RunQueue<Q>,
        arrival: bool,
    ) {
        let (me, watch) = processor;
        let after = self.tables.says(queue);
        let mut hook = |directory: &D, operation, value| {
            watch.time(operation, || {
                if arrival {
                    directory.preempt(me, order, core, value);
                } else {
                    directory.finish(me, order, core, value);
                }
            });
        };
        let (push, pull) = match arrival {
            true => (Operation::Preempt, Operation::PullPreempt),
            false => (Operation::Finish, Operation::PullFinish),
        };
        if after.0 != before.0 {
            hook(&self.push, push, after.0);
        }
        if after.1 != before.1 {
            hook(&self.pull, pull, after.1);
        }
        self.tables.overload.set(core, !queue.waiting.is_empty());
    }

    /// A task becomes ready on this processor.
    pub(crate) fn on_activation(&self, processor: &mut Processor, entry: Entry, allowed: Cores, expiry: u64) {
        let Processor { me, order, watch } = processor;
        self.tables.allowed[entry.task as usize].store(allowed.0, Ordering::Relaxed);
        self.tables.expiry[entry.task as usize].store(expiry, Ordering::Relaxed);
        {
            let mut held = self.queues[*me].lock(order);
            let (queue, order) = held.parts();
            let before = self.tables.says(queue);
            watch.time(Operation::Enqueue, || queue.enqueue(entry));
            queue.arrivals += 1;
            self.tables.alive[entry.task as usize].store(true, Ordering::Relaxed);
            self.tell((*me, watch), order, *me, before, queue, true);
        }
        watch.samples.arrivals += 1;
        self.schedule(processor);
    }

    /// The task that runs on this processor blocks, if there is one that `ends`. Gives the task.
    pub(crate) fn on_block(&self, processor: &mut Processor, ends: &mut dyn FnMut(Entry) -> bool) -> Option<u32> {
        let Processor { me, order, watch } = processor;
        let task = {
            let mut held = self.queues[*me].lock(order);
            let (queue, order) = held.parts();
            let task = queue.running.filter(|running| ends(*running))?.task;
            self.leave((*me, watch), order, *me, queue, task);
            task
        };
        self.schedule(processor);
        Some(task)
    }

    /// A certain task blocks, wherever it is. Whether it was found.
    pub(crate) fn on_block_of(&self, processor: &mut Processor, task: u32) -> bool {
        let me = processor.me;
        // It can be moved while it is looked for, so the search is repeated while it is alive.
        while self.tables.alive[task as usize].load(Ordering::Relaxed) {
            for core in (0..self.queues.len()).map(|n| (me + n) % self.queues.len()) {
                let Processor { order, watch, .. } = &mut *processor;
                let mut held = self.queues[core].lock(order);
                let (queue, order) = held.parts();
                let here = queue.running.is_some_and(|running| running.task == task);
                let mut found = here;
                if !here {
                    queue.waiting.each(&mut |entry| found |= entry.task == task);
                }
                if found {
                    self.leave((me, watch), order, core, queue, task);
                    drop(held);
                    self.schedule(processor);
                    return true;
                }
            }
        }
        false
    }

    fn leave<H: Rank>(
        &self,
        processor: (usize, &mut Watch),
        order: &mut Order<H>,
        core: usize,
        queue: &mut RunQueue<Q>,
        task: u32,
    ) {
        let (me, watch) = processor;
        let before = self.tables.says(queue);
        watch.time(Operation::Dequeue, || queue.dequeue(task));
        queue.departures += 1;
        watch.samples.departures += 1;
        self.tables.alive[task as usize].store(false, Ordering::Relaxed);
        self.tell((me, watch), order, core, before, queue, false);
    }

    /// What follows every event: a pull, then a push.
    pub(crate) fn schedule(&self, processor: &mut Processor) {
        self.pull(processor);
        self.push(processor);
    }

    /// Fetches a task that is more urgent than what runs here. Whether one came.
    pub(crate) fn pull(&self, processor: &mut Processor) -> bool {
        let start = processor.watch.start(Operation::Pull);
        let moved = self.try_pull(processor);
        processor.watch.stop(Operation::Pull, start);
        moved
    }

    /// Sends away a task that waits here and would run elsewhere. Whether one went.
    pub(crate) fn push(&self, processor: &mut Processor) -> bool {
        let start = processor.watch.start(Operation::Push);
        let moved = self.try_push(processor);
        processor.watch.stop(Operation::Push, start);
        moved
    }

    fn try_pull(&self, processor: &mut Processor) -> bool {
        let Processor { me, order, watch } = processor;
        let others = Cores::below(self.queues.len()).without(*me);
        for _ in 0..TRIES {
            let than = {
                let held = self.queues[*me].lock(order);
                held.running.map_or(0, |running| self.tables.turned(running.urgency))
            };
            let Some(from) = watch.time(Operation::PullFind, || self.pull.find(*me, order, than, others)) else {
                return false;
            };
            let (mut mine, mut theirs) = lock_two(&self.queues, *me, from, order);
            let fits = theirs.waiting.peek().filter(|entry| {
                self.tables.allowed(entry.task).contains(*me)
                    && mine.running.is_none_or(|running| entry.urgency < running.urgency)
            });
            if let Some(entry) = fits {
                self.shift((*me, watch), (from, &mut theirs), (*me, &mut mine), entry);
                return true;
            }
        }
        false
    }

    fn try_push(&self, processor: &mut Processor) -> bool {
        let Processor { me, order, watch } = processor;
        let others = Cores::below(self.queues.len()).without(*me);
        for _ in 0..TRIES {
            let Some(entry) = self.queues[*me].lock(order).waiting.peek() else { return false };
            let allowed = others.and(self.tables.allowed(entry.task));
            let Some(to) = watch.time(Operation::Find, || self.push.find(*me, order, entry.urgency, allowed)) else {
                return false;
            };
            let (mut mine, mut theirs) = lock_two(&self.queues, *me, to, order);
            if mine.waiting.peek() == Some(entry) && theirs.room() > entry.urgency {
                self.shift((*me, watch), (*me, &mut mine), (to, &mut theirs), entry);
                return true;
            }
        }
        false
    }

    /// Moves a task from one queue to another; the caller holds both.
    fn shift(
        &self,
        processor: (usize, &mut Watch),
        (from, source): (usize, &mut tactus_sync::Guard<'_, RunQueue<Q>, QueueRank>),
        (to, target): (usize, &mut tactus_sync::Guard<'_, RunQueue<Q>, QueueRank>),
        entry: Entry,
    ) {
        let (me, watch) = processor;
        let (queue, order) = source.parts();
        let before = self.tables.says(queue);
        watch.time(Operation::Dequeue, || queue.dequeue(entry.task));
        queue.balance -= 1;
        self.tell((me, watch), order, from, before, queue, false);
        let (queue, order) = target.parts();
        let before = self.tables.says(queue);
        watch.time(Operation::Enqueue, || queue.enqueue(entry));
        queue.balance += 1;
        self.tell((me, watch), order, to, before, queue, true);
        watch.samples.moved += 1;
    }
}
