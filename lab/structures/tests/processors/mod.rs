//! Processors with a ready queue each, that push and pull between them with the help of two directories: what a global scheduler
//! of per-core queues does, small enough for model checkers. Two queues are held at a time, and a lock in a directory below
//! them.

use tactus_compared_structures::directory::{judge, Directory, DirectoryRank, CLOSED, IDLE};
use tactus_compared_structures::Cores;
use tactus_sync::{lock_all, lock_two, Guard, Lock, Order, Rank, Unlocked};

/// Ready queues come before what is in a directory.
pub struct QueueRank;
impl Rank for QueueRank {
    const NUMBER: u32 = DirectoryRank::NUMBER + 10;
}

/// Urgencies are below this, all different; smaller is more urgent.
const LEAST: u64 = 90;

/// By urgency; the first one runs.
type Queue = Vec<u64>;

/// What all share. `AGAINST`: of two queues everybody locks the own one first, with tokens made twice.
pub struct Processors<D, const AGAINST: bool = false> {
    queues: Vec<Lock<Queue, QueueRank>>,
    push: D,
    pull: D,
}

fn says(queue: &Queue) -> (u64, u64) {
    (queue.first().copied().unwrap_or(IDLE), queue.get(1).map_or(CLOSED, |urgency| LEAST - urgency))
}

impl<D: Directory, const AGAINST: bool> Processors<D, AGAINST> {
    /// All idle.
    pub fn idle(processors: usize) -> Self {
        let all = Processors {
            queues: (0..processors).map(|_| Lock::new(Queue::with_capacity(16))).collect(),
            push: D::init(processors),
            pull: D::init(processors),
        };
        let mut order = Order::unlocked();
        (0..processors).for_each(|core| all.push.finish(core, &mut order, core, IDLE));
        all.serve(0, &mut order);
        all
    }

    fn serve<H: Rank>(&self, me: usize, order: &mut Order<H>) {
        self.push.serve(me, order);
        self.pull.serve(me, order);
    }

    /// Changes a queue that is held, and says so.
    fn change(&self, me: usize, core: usize, held: &mut Guard<'_, Queue, QueueRank>, work: impl FnOnce(&mut Queue)) {
        let (queue, order) = held.parts();
        let before = says(queue);
        work(queue);
        let after = says(queue);
        if after.0 != before.0 {
            self.push.preempt(me, order, core, after.0);
        }
        if after.1 != before.1 {
            self.pull.preempt(me, order, core, after.1);
        }
    }

    /// A task arrives.
    pub fn arrive(&self, me: usize, order: &mut Order<Unlocked>, urgency: u64) {
        self.change(me, me, &mut self.queues[me].lock(order), |queue| {
            queue.insert(queue.partition_point(|other| *other < urgency), urgency);
        });
        self.schedule(me, order);
    }

    /// What runs ends. Gives it.
    pub fn block(&self, me: usize, order: &mut Order<Unlocked>) -> Option<u64> {
        let mut ended = None;
        self.change(me, me, &mut self.queues[me].lock(order), |queue| {
            ended = (!queue.is_empty()).then(|| queue.remove(0));
        });
        self.schedule(me, order);
        ended
    }

    /// A pull, then a push. Whether anything moved.
    pub fn schedule(&self, me: usize, order: &mut Order<Unlocked>) -> bool {
        self.serve(me, order);
        let others = Cores::below(self.queues.len()).without(me);
        let than = self.queues[me].lock(order).first().map_or(0, |running| LEAST - running);
        let from = self.pull.find(me, order, than, others);
        let pulled = from.is_some_and(|from| {
            let fits = |mine: &Queue, theirs: &Queue| mine.first().is_none_or(|running| theirs[1] < *running);
            self.shift(me, order, from, me, |from, to| from.len() > 1 && fits(to, from))
        });
        let waits = self.queues[me].lock(order).get(1).copied();
        let Some(waits) = waits else { return pulled };
        let to = self.push.find(me, order, waits, others);
        let pushed = to.is_some_and(|to| {
            self.shift(me, order, me, to, |from, to| {
                from.get(1).is_some_and(|waits| to.first().is_none_or(|running| waits < running))
            })
        });
        pulled || pushed
    }

    /// Moves what waits first from one queue to another if it still `fits` when both are held.
    fn shift(
        &self,
        me: usize,
        order: &mut Order<Unlocked>,
        from: usize,
        to: usize,
        fits: impl FnOnce(&Queue, &Queue) -> bool,
    ) -> bool {
        let mut second = Order::unlocked();
        let (mut source, mut target) = if !AGAINST {
            lock_two(&self.queues, from, to, order)
        } else if from == me {
            let mine = self.queues[from].lock(order);
            (mine, self.queues[to].lock(&mut second))
        } else {
            let mine = self.queues[to].lock(order);
            (self.queues[from].lock(&mut second), mine)
        };
        if !fits(&source, &target) {
            return false;
        }
        let mut moved = 0;
        self.change(me, from, &mut source, |queue| moved = queue.remove(1));
        self.change(me, to, &mut target, |queue| queue.insert(queue.partition_point(|other| *other < moved), moved));
        true
    }

    /// Nobody is at work any more: all that is `ready` is in one queue, the directories tell of the queues, and once hints are
    /// followed until nothing moves, the most urgent tasks run.
    pub fn check(&self, mut ready: Vec<u64>) {
        let mut order = Order::unlocked();
        while (0..self.queues.len()).any(|me| self.schedule(me, &mut order)) {}
        self.serve(0, &mut order);
        let mut held = Vec::new();
        lock_all(&self.queues, &mut order, |guard| held.push(guard));
        let mut there: Vec<u64> = held.iter().flat_map(|queue| queue.iter().copied()).collect();
        let mut running: Vec<u64> = held.iter().filter_map(|queue| queue.first().copied()).collect();
        let (rooms, offers): (Vec<u64>, Vec<u64>) = held.iter().map(|queue| says(queue)).unzip();
        there.sort_unstable();
        running.sort_unstable();
        ready.sort_unstable();
        assert_eq!(there, ready, "each task once");
        assert_eq!(running, ready[..ready.len().min(self.queues.len())], "the most urgent run");
        let Some(last) = held.last_mut() else { return };
        let order = last.parts().1;
        self.push.check(order, &rooms).unwrap();
        self.pull.check(order, &offers).unwrap();
        let all = Cores::below(rooms.len());
        judge::<D>(&rooms, 1, all, self.push.find(0, order, 1, all)).unwrap();
    }
}
