//! The simulated machine: for each core a one-shot timer, a job that uses up its demand, and a line for events of
//! other cores. It calls the policy exactly as the kernel does and knows nothing about policies.
//!
//! **Order.** What happens earlier is served first. At one instant: starts, then completions, then jobs that begin to wait, then ends
//! of critical sections for which somebody waits, then beginnings of those that may be another's, then time-outs, then events of other cores, then arrivals; among equals the lower core first.
//!
//! **Costs.** A time-out or an arrival is noticed `release` after it came; an event of another core `inter_core` after it was
//! sent; a completion `complete` after the job has used its demand. The policy's turn takes `schedule` and the way
//! to the job's first instruction `switch`. While a core is on that way it cannot be entered: what comes meanwhile
//! waits and then pays its cost. Without costs every instant is exact.
//!
//! **Charging.** A job is charged from decision to decision (see `tactus-policy`), costs included, and is finished
//! when its charge reaches its demand, as the kernel's workloads do it.

use crate::bodies::Bodies;
use crate::loader::Loader;
use crate::misses::Misses;
use crate::sampling::Counters;
use crate::sections::Programs;
use crate::services::Services;
use crate::waits::Waits;
use std::fmt;
use tactus_policy::{Event, Input, Policy, PolicyConfig, Running, MAX_ARRIVALS};
use tactus_record::{EntryReason, EventKind, InputKind, Record, Sink};
use tactus_task::{Costs, CriticalSection, EventCall, LoaderSteps, Program, ServiceSteps, Wait};
use tactus_time::{CoreId, Duration, Instant, TaskId};

/// A machine and a policy on it, at some point of a run.
pub struct Simulation<'p, P: Policy, D> {
    policy: &'p P,
    cores: Vec<Core<P::Core>>,
    /// When and why each core is entered next; what the main loop looks at, kept apart so that it stays small.
    next: [Entry; tactus_time::MAX_CORES],
    demands: Demands<D>,
    sources: Vec<ArrivalSource<'p>>,
    programs: Programs,
    services: Services,
    loader: Loader,
    waits: Waits,
    bodies: Bodies,
    misses: Misses,
    write_backs: Misses,
    counters: Counters,
    costs: Costs,
    counts: Counts,
    /// The instant of the last entry, and how many entries it has seen.
    now: Instant,
    crowd: u32,
}

/// What a run did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Calls of the policy.
    pub entries: u64,
    /// Jobs that finished.
    pub jobs: u64,
}

/// The policy is called again and again at one instant: it wants a time-out that lies in the past each time, or
/// cores send each other events without end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stuck {
    /// The core entered last.
    pub core: CoreId,
    /// The instant that does not end.
    pub now: Instant,
    /// The event given last.
    pub event: Event,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stuck { core, now, event } = self;
        write!(f, "the policy makes no progress: called {CROWD} times at {now}, last on core {core} with {event:?}; ")?;
        f.write_str("its time-outs lie in the past or its cores notify each other without end")
    }
}

/// More calls at one instant than any system of 8 cores needs.
const CROWD: u32 = 100_000;

/// When a core is entered next, and why.
#[derive(Clone, Copy)]
struct Entry {
    at: Instant,
    rank: u8,
}

const NOTHING: Entry = Entry { at: Instant::NEVER, rank: 9 };

/// What an entry's rank stands for, in the order of service at one instant.
const RANKS: [(EntryReason, Event); 9] = [
    (EntryReason::Start, Event::Start),
    (EntryReason::Complete, Event::Complete),
    (EntryReason::Wait, Event::Wait),
    (EntryReason::Signal, Event::Signal),
    (EntryReason::Unlock, Event::Unlock),
    (EntryReason::Lock, Event::Lock),
    (EntryReason::Timer, Event::Timer),
    (EntryReason::Notify, Event::Notify),
    (EntryReason::Arrival, Event::Arrival),
];

/// What releases jobs of one task from outside.
struct ArrivalSource<'p> {
    task: TaskId,
    /// The core that notices.
    core: usize,
    next: Instant,
    /// When the next one comes after the last.
    draw: Box<dyn FnMut() -> Instant + 'p>,
}

struct Core<C> {
    state: C,
    /// When it is entered for the first time, if it was not yet.
    start: Option<Instant>,
    running: Option<Running>,
    /// The time-out wanted.
    timer: Instant,
    /// When the running job has used its demand.
    used: Instant,
    /// When events of other cores were sent that have not been delivered.
    sent: Vec<Instant>,
    /// When something arrives next.
    arrival: Instant,
    /// When the running job leaves a critical section for which somebody waits.
    unlock: Instant,
    /// When the running job signals or awaits an event.
    signal: Instant,
    /// When it enters one on a resource that may be another's.
    lock: Instant,
    /// When the running job asks to wait, if it does so before it has used its demand.
    wait: Instant,
    /// When the last decision was.
    decided: Instant,
    /// When the core leaves the scheduler and the switch.
    free: Instant,
}

impl<C> Core<C> {
    fn next(&self, costs: &Costs) -> Entry {
        if let Some(at) = self.start {
            return Entry { at, rank: 0 };
        }
        let sent = self.sent.iter().copied().min().unwrap_or(Instant::NEVER);
        let noticed = |event: Instant, cost: Duration| event.max(self.free).saturating_add(cost);
        let mut first = Entry { at: noticed(self.used, costs.complete), rank: 1 };
        let timer = noticed(self.timer, costs.release);
        let arrival = noticed(self.arrival, costs.release);
        let unlock = noticed(self.unlock, costs.complete);
        let lock = noticed(self.lock, costs.complete);
        let signal = noticed(self.signal, costs.complete);
        let wait = noticed(self.wait, costs.complete);
        let sent = noticed(sent, costs.inter_core);
        let job = [(wait, 2), (signal, 3), (unlock, 4), (lock, 5)];
        for (at, rank) in job.into_iter().chain([(timer, 6), (sent, 7), (arrival, 8)]) {
            if at < first.at {
                first = Entry { at, rank };
            }
        }
        first
    }
}

/// Demands of jobs; asks only once for a job that is preempted and comes back.
struct Demands<D> {
    draw: D,
    last: Vec<Option<(u32, Duration)>>,
}

impl<D: FnMut(TaskId, u32) -> Duration> Demands<D> {
    fn of(&mut self, job: &Running) -> Duration {
        match &mut self.last[job.task.index()] {
            Some((number, demand)) if *number == job.job => *demand,
            last => {
                let demand = (self.draw)(job.task, job.job);
                *last = Some((job.job, demand));
                demand
            }
        }
    }
}

impl<'p, P: Policy, D: FnMut(TaskId, u32) -> Duration> Simulation<'p, P, D> {
    /// A machine at time zero whose cores have not started yet. `cores` is the policy's state of each core, `tasks`
    /// the number of tasks. `demand` tells how long a job executes, always the same for the same job.
    pub fn new(policy: &'p P, cores: Vec<P::Core>, tasks: usize, demand: D, costs: &Costs) -> Self {
        assert!(cores.len() <= tactus_time::MAX_CORES, "{} cores, at most {}", cores.len(), tactus_time::MAX_CORES);
        let mut next = [NOTHING; tactus_time::MAX_CORES];
        next[..cores.len()].fill(Entry { at: Instant::ZERO, rank: 0 });
        let fresh = |state| Core {
            state,
            start: Some(Instant::ZERO),
            running: None,
            timer: Instant::NEVER,
            used: Instant::NEVER,
            sent: Vec::with_capacity(tactus_time::MAX_CORES),
            arrival: Instant::NEVER,
            unlock: Instant::NEVER,
            lock: Instant::NEVER,
            signal: Instant::NEVER,
            wait: Instant::NEVER,
            decided: Instant::ZERO,
            free: Instant::ZERO,
        };
        Simulation {
            policy,
            cores: cores.into_iter().map(fresh).collect(),
            next,
            demands: Demands { draw: demand, last: vec![None; tasks] },
            sources: Vec::new(),
            programs: Programs::default(),
            services: Services::default(),
            loader: Loader::default(),
            waits: Waits::default(),
            bodies: Bodies::default(),
            misses: Misses::default(),
            write_backs: Misses::default(),
            counters: Counters::default(),
            costs: *costs,
            counts: Counts::default(),
            now: Instant::ZERO,
            crowd: 0,
        }
    }

    /// Lets cores that have not started yet start at these times instead of time zero, in their order.
    pub fn start_at(&mut self, times: &[Instant]) {
        for ((core, next), at) in self.cores.iter_mut().zip(&mut self.next).zip(times) {
            if let Some(start) = &mut core.start {
                *start = *at;
                *next = core.next(&self.costs);
            }
        }
    }

    /// Lets jobs of `task` arrive on `core` at the instants that `draw` gives one after another, until it gives
    /// [`Instant::NEVER`].
    pub fn arrive(&mut self, task: TaskId, core: CoreId, mut draw: impl FnMut() -> Instant + 'p) {
        let (core, next) = (core.index(), draw());
        self.sources.push(ArrivalSource { task, core, next, draw: Box::new(draw) });
        self.await_arrival(core);
        self.next[core] = self.cores[core].next(&self.costs);
    }

    /// Lets jobs hold resources: by task, the critical sections of each of its jobs.
    pub fn hold(&mut self, sections: Vec<Vec<CriticalSection>>) {
        self.programs = Programs::new(sections);
    }

    /// Lets jobs signal and await events: by task, what its jobs do.
    pub fn go_through(&mut self, programs: Vec<Program>) {
        self.bodies = Bodies::new(programs);
    }

    /// Lets jobs ask each other by messages.
    pub fn serve(&mut self, services: Vec<ServiceSteps>) {
        self.services = Services::new(services);
    }

    /// Lets programs come and go by the jobs of a loader.
    pub fn load(&mut self, steps: Option<LoaderSteps>) {
        self.loader = Loader::new(steps);
    }

    /// Lets jobs wait: by task, the waits of each of its jobs.
    pub fn wait(&mut self, waits: Vec<Vec<Wait>>) {
        self.waits = Waits::new(waits);
    }

    /// Lets jobs ask memory for lines: by task, how many each job asks for in all its execution.
    pub fn miss(&mut self, lines: Vec<u32>) {
        self.misses = Misses::new(lines);
    }

    /// Lets jobs make memory take back changed lines: by task, how many each job does in all its execution.
    pub fn write_back(&mut self, lines: Vec<u32>) {
        self.write_backs = Misses::new(lines);
    }

    /// Lets work give way to counters: by task, what each of its jobs makes its core's counter count.
    pub fn sample(&mut self, setup: &PolicyConfig, events: Vec<u32>) {
        self.counters = Counters::new(setup, events);
    }

    /// Counts what the job that ran made the core's counter count, and tells the policy at the end of a period.
    fn tell_sample<S: Sink>(&mut self, index: usize, now: Instant, was: Option<Running>, sink: &mut S) {
        if let Some(job) = was.filter(|job| self.counters.has(index, job)) {
            let demand = self.demands.of(&job);
            self.counters.count(index, &job, (now.since(self.cores[index].decided), demand));
        }
        let Some(events) = self.counters.sample(index, now) else { return };
        sink.record(Record {
            time: now,
            arg: events.into(),
            job: 0,
            task: None,
            kind: EventKind::Input,
            level: InputKind::Sample as u8,
            core: CoreId(index as u8),
            ticket: 0,
        });
        self.policy.input(&mut self.cores[index].state, Input::Sample { events });
    }

    /// Tells the policy how many lines the job asked memory for since it was given the core, or made it take back.
    fn tell_lines<S: Sink>(&mut self, (index, kind): (usize, InputKind), now: Instant, job: &Running, sink: &mut S) {
        let demand = self.demands.of(job);
        let core = &mut self.cores[index];
        let of_jobs = if kind == InputKind::WriteBacks { &self.write_backs } else { &self.misses };
        let lines = of_jobs.asked(job, now.since(core.decided), demand);
        sink.record(Record {
            time: now,
            arg: lines.into(),
            job: job.job,
            task: Some(job.task),
            kind: EventKind::Input,
            level: kind as u8,
            core: CoreId(index as u8),
            ticket: 0,
        });
        let input = match kind {
            InputKind::WriteBacks => Input::WriteBacks { lines },
            _ => Input::Misses { lines },
        };
        self.policy.input(&mut core.state, input);
    }

    /// Notes when something arrives next on the core.
    fn await_arrival(&mut self, core: usize) {
        let on = self.sources.iter().filter(|source| source.core == core).map(|source| source.next);
        self.cores[core].arrival = on.min().unwrap_or(Instant::NEVER);
    }

    /// Tells the policy what arrived on the core up to `now`, as much as it takes at once.
    fn take_arrivals<S: Sink>(&mut self, index: usize, now: Instant, sink: &mut S) {
        for _ in 0..MAX_ARRIVALS {
            let due = self.sources.iter_mut().filter(|it| it.core == index && it.next <= now).min_by_key(|it| it.next);
            let Some(source) = due else { break };
            let (task, at) = (source.task, source.next);
            source.next = (source.draw)();
            sink.record(Record {
                time: now,
                arg: at.as_nanos(),
                job: 0,
                task: Some(task),
                kind: EventKind::Input,
                level: InputKind::Arrival as u8,
                core: CoreId(index as u8),
                ticket: 0,
            });
            self.policy.input(&mut self.cores[index].state, Input::Arrival { task, at });
        }
        self.await_arrival(index);
    }

    /// Serves everything that is noticed before `end`, which itself is left to the next call.
    ///
    /// # Errors
    /// If the policy does not let time pass.
    pub fn run_until<S: Sink>(&mut self, end: Instant, sink: &mut S) -> Result<Counts, Stuck> {
        loop {
            let mut first = 0;
            for core in 1..self.cores.len() {
                let (a, b) = (self.next[core], self.next[first]);
                if (a.at, a.rank) < (b.at, b.rank) {
                    first = core;
                }
            }
            if self.next[first].at >= end {
                return Ok(self.counts);
            }
            self.enter(first, sink)?;
        }
    }

    /// Writes the end of the run on each core; where that is in its scheduler then, when it has left it.
    pub fn end<S: Sink>(&self, end: Instant, sink: &mut S) {
        for (core, state) in self.cores.iter().enumerate() {
            let core = CoreId(core as u8);
            sink.record(Record {
                time: end.max(state.free),
                arg: 0,
                job: 0,
                task: None,
                kind: EventKind::End,
                level: 0,
                core,
                ticket: 0,
            });
        }
    }

    fn enter<S: Sink>(&mut self, index: usize, sink: &mut S) -> Result<(), Stuck> {
        let Entry { at: now, rank } = self.next[index];
        let (mut reason, mut event) = RANKS[usize::from(rank)];
        let id = CoreId(index as u8);
        self.let_time_pass(now, id, event)?;

        let core = &mut self.cores[index];
        let was = core.running;
        let mut answer = None;
        if let (Some(running), EntryReason::Complete) = (was, reason) {
            answer = self.services.answer(&running);
            if answer.is_some() {
                (reason, event) = (EntryReason::Signal, Event::Signal);
            } else if self.loader.tells(&running) {
                (reason, event) = (EntryReason::Slot, Event::Slot);
            } else if self.loader.stops(&running) {
                (reason, event) = (EntryReason::Fault, Event::Remove);
            }
        }
        sink.record(Record {
            time: now,
            arg: if reason == EntryReason::Timer { core.timer.as_nanos() } else { 0 },
            job: was.map_or(0, |r| r.job),
            task: was.map(|r| r.task),
            kind: EventKind::Enter,
            level: reason as u8,
            core: id,
            ticket: 0,
        });
        if let Some(job) = was.filter(|job| self.misses.has(job)) {
            self.tell_lines((index, InputKind::Misses), now, &job, sink);
        }
        if let Some(job) = was.filter(|job| self.write_backs.has(job)) {
            self.tell_lines((index, InputKind::WriteBacks), now, &job, sink);
        }
        self.tell_sample(index, now, was, sink);
        if reason == EntryReason::Arrival {
            self.take_arrivals(index, now, sink);
        }
        if let (Some(running), EntryReason::Wait) = (was, reason) {
            let slept = self.bodies.sleep(&running).map(|length| now.saturating_add(length));
            let until = slept.unwrap_or_else(|| self.waits.take(&running, now));
            sink.record(Record {
                time: now,
                arg: until.as_nanos(),
                job: 0,
                task: Some(running.task),
                kind: EventKind::Input,
                level: InputKind::Wait as u8,
                core: id,
                ticket: 0,
            });
            self.policy.input(&mut self.cores[index].state, Input::Wait { until });
        }
        if let (Some(running), EntryReason::Signal) = (was, reason) {
            let asked = if answer.is_none() { self.services.ask(&running) } else { None };
            let own = answer.or(asked);
            let steps = if own.is_none() { self.bodies.calls(&running) } else { Vec::new() };
            for call in own.into_iter().chain(steps) {
                let (level, event, all) = match call {
                    EventCall::Await(event) => (InputKind::Await, event, 0),
                    EventCall::Signal(event) => (InputKind::Signal, event, 0),
                    EventCall::Broadcast(event) => (InputKind::Signal, event, 1),
                };
                sink.record(Record {
                    time: now,
                    arg: event.into(),
                    job: all,
                    task: Some(running.task),
                    kind: EventKind::Input,
                    level: level as u8,
                    core: id,
                    ticket: 0,
                });
                self.policy.input(&mut self.cores[index].state, Input::Event(call));
            }
        }
        if reason == EntryReason::Slot {
            let (policy, state) = (self.policy, &mut self.cores[index].state);
            // Asked beforehand: nothing of an entry alters it before the policy is called.
            let first = self.loader.first_slot();
            let is_loaded = policy.is_loaded(state, first);
            self.loader.tell((now, id), is_loaded, |record, input| {
                sink.record(record);
                input.into_iter().for_each(|input| policy.input(state, input));
            });
        }
        if let Some(running) = was.filter(|_| !matches!(reason, EntryReason::Start | EntryReason::Complete)) {
            let core = &mut self.cores[index];
            let (policy, decided) = (self.policy, core.decided);
            self.programs.tell(&running, (decided, now, reason == EntryReason::Lock), |held, since| {
                sink.record(Record {
                    time: now,
                    arg: since.as_nanos(),
                    job: held.bits(),
                    task: Some(running.task),
                    kind: EventKind::Input,
                    level: InputKind::Section as u8,
                    core: id,
                    ticket: 0,
                });
                policy.input(&mut core.state, Input::Section { held, since });
            });
        }
        let core = &mut self.cores[index];
        let decision = self.policy.handle(&mut core.state, now, event, &mut &mut *sink);
        let leave = now.saturating_add(self.costs.schedule);
        sink.record(Record {
            time: leave,
            arg: decision.timer.as_nanos(),
            job: decision.run.map_or(0, |r| r.job),
            task: decision.run.map(|r| r.task),
            kind: EventKind::Leave,
            level: 0,
            core: id,
            ticket: decision.ticket,
        });

        core.start = None;
        core.running = decision.run;
        core.timer = decision.timer;
        core.free = leave.saturating_add(self.costs.switch);
        core.decided = now;
        let awaited = decision.run.filter(|_| self.policy.awaits_unlock(&core.state));
        core.unlock = awaited.map_or(Instant::NEVER, |job| self.programs.next_end(&job, now));
        let locked = *self.policy.locked(&core.state);
        core.lock = decision.run.map_or(Instant::NEVER, |job| self.programs.next_lock(&job, now, locked));
        core.used = match &decision.run {
            Some(job) => {
                let demand = self.loader.demand(job).unwrap_or_else(|| self.demands.of(job));
                now.saturating_add(demand.saturating_sub(job.charged))
            }
            None => Instant::NEVER,
        };
        // One that would begin when all is done is none.
        if core.lock >= core.used {
            core.lock = Instant::NEVER;
        }
        core.wait = decision.run.map_or(Instant::NEVER, |job| self.waits.next(&job, now));
        if core.wait >= core.used {
            core.wait = Instant::NEVER;
        }
        core.signal = Instant::NEVER;
        if let Some((at, sleeps)) = decision.run.and_then(|job| self.bodies.next(&job, now)) {
            // It is done when all its steps are.
            core.used = Instant::NEVER;
            *(if sleeps { &mut core.wait } else { &mut core.signal }) = at;
        }
        if decision.run.is_some_and(|job| self.services.asks(&job)) {
            core.signal = now;
        }
        if reason == EntryReason::Notify {
            // One that is sent while this one is on its way still comes.
            core.sent.retain(|sent| *sent > now);
        }
        self.next[index] = core.next(&self.costs);

        self.counts.entries += 1;
        self.counts.jobs += u64::from(reason == EntryReason::Complete);
        for other in decision.notify.iter() {
            if let Some(core) = self.cores.get_mut(other.index()) {
                core.sent.push(leave);
                self.next[other.index()] = core.next(&self.costs);
            }
        }
        Ok(())
    }

    fn let_time_pass(&mut self, now: Instant, core: CoreId, event: Event) -> Result<(), Stuck> {
        if now > self.now {
            (self.now, self.crowd) = (now, 0);
        }
        self.crowd += 1;
        if self.crowd > CROWD {
            return Err(Stuck { core, now, event });
        }
        Ok(())
    }
}
