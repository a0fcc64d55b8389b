//! Who runs: every core walks down its servers, and cores that arrive at one queue share its jobs.
//!
//! This is the deferred acceptance of Gale and Shapley: cores propose to queues in the order of their servers' urgency,
//! and a queue with fewer jobs than cores turns the surplus away for good. So it ends, and leaves no core idle that could
//! run a waiting job.

use super::domain::{Domain, Offer};
use tactus_task::WhenIdle;
use tactus_time::{CoreId, CoreSet, Instant};

impl Domain {
    /// Plans what every core of the domain should run. `unfinished`: the job that `me` could go on with.
    pub(super) fn assign(&mut self, me: usize, now: Instant, unfinished: Option<usize>) {
        loop {
            self.core_states[me].ghosts.clear();
            for core in 0..self.core_states.len() {
                self.walk(core, me, now);
            }
            if self.shared.is_empty() {
                (0..self.core_states.len()).for_each(|core| self.take(core));
            } else {
                self.settle(me, now, unfinished);
            }
            let again = self.wake_for_waiting(me, now);
            while let Some(vp) = self.aside.pop() {
                self.show(vp, now);
            }
            if !again {
                break;
            }
        }
    }

    /// Walks down from the core's root to a job, a shared queue, or nothing. On the way, what has no work is passed over.
    pub(super) fn walk(&mut self, core: usize, me: usize, now: Instant) {
        let tasks = self.tasks.len();
        'again: loop {
            let mut vp = self.core_states[core].root;
            self.core_states[core].path.clear();
            self.core_states[core].path.push(vp, false);
            loop {
                let queue = self.vps[vp].below;
                let first = self.queues.peek(queue);
                if self.run_queues[queue].vps.len() > 1 && first.is_some() {
                    self.core_states[core].offer = Offer::Queue(queue);
                    return;
                }
                let Some(first) = first else {
                    if self.vps[vp].parent.is_none() {
                        self.core_states[core].offer = Offer::Idle;
                        return;
                    }
                    if self.aside.iter().any(|it| self.vps[*it].parent == Some(vp)) {
                        self.put_aside(vp);
                    } else {
                        // What it had was killed while it waited.
                        self.content_changed(queue, now);
                    }
                    continue 'again;
                };
                if first.place() < tasks {
                    let place = first.place();
                    let chosen = self.resources.as_ref().map_or(Some(place), |resources| resources.choose(place));
                    self.core_states[core].offer = chosen.map_or(Offer::Idle, Offer::Task);
                    return;
                }
                vp = first.place() - tasks;
                match self.when_idle(vp) {
                    WhenIdle::Preserve => {}
                    // What other cores find they find themselves, when they are entered.
                    WhenIdle::Forfeit if core == me => {
                        self.lost = true;
                        self.set_awake(vp, false, now);
                        continue 'again;
                    }
                    WhenIdle::Drain if core == me => {
                        self.core_states[core].ghosts.push(vp);
                        self.put_aside(vp);
                        continue 'again;
                    }
                    WhenIdle::Forfeit | WhenIdle::Drain => {
                        self.put_aside(vp);
                        continue 'again;
                    }
                }
                self.core_states[core].path.push(vp, Domain::is_background(first));
            }
        }
    }

    fn put_aside(&mut self, vp: usize) {
        self.queues.remove(self.tasks.len() + vp);
        self.aside.push(vp);
    }

    /// No core shares its queue: each gets what it found.
    fn take(&mut self, me: usize) {
        let core_state = &mut self.core_states[me];
        core_state.plan = match core_state.offer {
            Offer::Task(place) => Some(place),
            Offer::Idle | Offer::Queue(_) => None,
        };
        if let Some(place) = core_state.plan {
            let queue = self.tasks[place].queue;
            self.run_queues[queue].waiting = self.queues.second(queue);
        }
    }

    /// Shares out the jobs of each queue among the cores that have arrived there, and sends surplus cores on, until nobody
    /// has to go on.
    pub(super) fn settle(&mut self, me: usize, now: Instant, unfinished: Option<usize>) {
        for core in 0..self.core_states.len() {
            if let Offer::Task(place) = self.core_states[core].offer {
                self.core_states[core].next = Some(place);
            }
        }
        'again: loop {
            for n in 0..self.shared.len() {
                let queue = self.shared[n];
                let arrived = self.arrived(queue);
                if arrived.is_empty() {
                    continue;
                }
                let count = arrived.iter().count();
                self.pick(queue, arrived, count, me);
                if self.picked.len() < count {
                    let keep = self.best_cores(arrived, me, unfinished);
                    for core in arrived.iter().filter(|core| !keep.contains(*core)) {
                        self.turn_away(core.index(), me, now);
                    }
                    continue 'again;
                }
                self.hand_out(arrived, me, unfinished);
            }
            break;
        }
        for core_state in &mut self.core_states {
            core_state.plan = match core_state.offer {
                Offer::Idle => None,
                Offer::Task(place) => Some(place),
                Offer::Queue(_) => core_state.next,
            };
        }
        for core in 0..self.core_states.len() {
            if let Offer::Task(place) = self.core_states[core].offer {
                let queue = self.tasks[place].queue;
                self.run_queues[queue].waiting = self.queues.second(queue);
            }
        }
    }

    /// The cores (by place in the domain) that have arrived at the queue.
    fn arrived(&self, queue: usize) -> CoreSet {
        let mut cores = CoreSet::EMPTY;
        for (core, core_state) in self.core_states.iter().enumerate() {
            if core_state.offer == Offer::Queue(queue) {
                cores.insert(CoreId(core as u8));
            }
        }
        cores
    }

    /// Picks the most urgent jobs for these cores, at most `count`. A job that still runs on a core which is not among
    /// them has to wait until that core has let it go.
    fn pick(&mut self, queue: usize, cores: CoreSet, count: usize, me: usize) {
        self.picked.clear();
        self.passed.clear();
        let mut waiting = None;
        while let Some(key) = self.queues.peek(queue) {
            let leaving = self.core_states.iter().enumerate().any(|(core, core_state)| {
                core != me && core_state.running() == Some(key.place()) && !cores.contains(CoreId(core as u8))
            });
            if !leaving && self.picked.len() == count {
                waiting = Some(key);
                break;
            }
            self.queues.remove(key.place());
            if leaving {
                self.passed.push(key);
            } else {
                self.picked.push(key);
            }
        }
        for n in 0..self.picked.len() {
            self.queues.insert(self.picked[n]);
        }
        while let Some(key) = self.passed.pop() {
            self.queues.insert(key);
        }
        self.run_queues[queue].waiting = waiting;
    }

    /// Which cores the picked jobs go to where there are more cores than jobs: those that run them, those that were notified
    /// to, then this one, then the first ones.
    fn best_cores(&self, cores: CoreSet, me: usize, unfinished: Option<usize>) -> CoreSet {
        let mut keep = CoreSet::EMPTY;
        let picked =
            |place: Option<usize>| place.is_some_and(|place| self.picked.iter().any(|key| key.place() == place));
        let runs = |core: usize| if core == me { unfinished } else { self.core_states[core].running() };
        let notified = |core: usize| {
            picked(self.core_states[core].plan) && !self.taken(self.core_states[core].plan, me, unfinished)
        };
        let choices: [&dyn Fn(usize) -> bool; 4] =
            [&|core| picked(runs(core)), &|core| notified(core), &|core| core == me, &|_| true];
        for choice in choices {
            for core in cores.iter() {
                if keep.iter().count() < self.picked.len() && !keep.contains(core) && choice(core.index()) {
                    keep.insert(core);
                }
            }
        }
        keep
    }

    /// Whether the job runs on some core.
    fn taken(&self, place: Option<usize>, me: usize, unfinished: Option<usize>) -> bool {
        place.is_some()
            && (unfinished == place
                || self
                    .core_states
                    .iter()
                    .enumerate()
                    .any(|(core, core_state)| core != me && core_state.running() == place))
    }

    /// The core finds no job at the queue: its server there has no work for it.
    fn turn_away(&mut self, core: usize, me: usize, now: Instant) {
        let Some(vp) = self.core_states[core].path.last() else { return };
        if self.vps[vp].parent.is_none() {
            self.core_states[core].offer = Offer::Idle;
            return;
        }
        self.set_awake(vp, false, now);
        self.walk(core, me, now);
    }

    /// Gives each core one of the picked jobs: each that runs stays, each that was planned stays planned, and the rest go
    /// to this core first.
    fn hand_out(&mut self, cores: CoreSet, me: usize, unfinished: Option<usize>) {
        let mut free = cores;
        for round in 0..2 {
            for core in cores.iter() {
                let core_state = &self.core_states[core.index()];
                let running = if core.index() == me { unfinished } else { core_state.running() };
                let place = if round == 0 { running } else { core_state.plan };
                let found = self.picked.iter().position(|key| Some(key.place()) == place);
                if let Some(found) = found.filter(|_| free.contains(core)) {
                    self.picked.remove(found);
                    self.core_states[core.index()].next = place;
                    free.remove(core);
                }
            }
        }
        let mine = CoreId(me as u8);
        for n in 0..self.picked.len() {
            let core = if free.contains(mine) { Some(mine) } else { free.iter().next() };
            let Some(core) = core else { break };
            self.core_states[core.index()].next = Some(self.picked[n].place());
            free.remove(core);
        }
    }

    /// Wakes the virtual processors that had no work where a job waits that they could run. Whether there were any.
    pub(super) fn wake_for_waiting(&mut self, me: usize, now: Instant) -> bool {
        let mut woke = false;
        for n in 0..self.shared.len() {
            let queue = self.shared[n];
            let placed = |place: usize| self.core_states.iter().any(|core_state| core_state.plan == Some(place));
            let busy = self
                .core_states
                .iter()
                .enumerate()
                .flat_map(|(core, core_state)| {
                    [core_state.plan, core_state.running().filter(|place| core != me && !placed(*place))]
                })
                .flatten()
                .filter(|place| self.tasks[*place].queue == queue && self.queues.contains(*place))
                .count();
            if self.queues.len(queue) <= busy {
                continue;
            }
            for n in 0..self.run_queues[queue].vps.len() {
                let vp = self.run_queues[queue].vps[n];
                let it = &mut self.vps[vp];
                if !it.awake && it.woken != self.entry {
                    it.woken = self.entry;
                    self.set_awake(vp, true, now);
                    woke = true;
                }
            }
        }
        woke
    }
}
