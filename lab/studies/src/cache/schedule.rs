//! Jobs that proceed as fast as those beside them let them.
//!
//! A small discrete-event simulation for this study alone: a job is a number of accesses, and what an access costs follows from
//! the [`Table`] and from who runs at the moment. (The simulator of `crates/sim` takes execution times that are known when a job begins.)
//! Processor p and p + 1 share a core for even p, as on the source's machine.

use super::table::{Relation, Table};
use tactus_analysis::partitioned::colours::Class;

/// Processors of the source's machine.
pub const PROCESSORS: usize = 8;

/// A task as it runs.
#[derive(Clone, Debug)]
pub struct Task {
    /// Nanoseconds; the deadline, too.
    pub period: f64,
    /// When the first job is released.
    pub offset: f64,
    /// Jobs; a best-effort task has one that never ends.
    pub jobs: u32,
    /// Accesses of a job.
    pub accesses: f64,
    /// Number of its load in the table.
    pub load: u8,
    /// What it is promised.
    pub class: Class,
    /// Its colour.
    pub colour: usize,
    /// Its array.
    pub array: usize,
    /// Processors on which it may run, one bit each; two tasks have the same or none in common.
    pub processors: u8,
}

/// How ready jobs are ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Urgency {
    /// Earlier deadline first.
    Edf,
    /// Hard before soft before best-effort, in each the shorter period first.
    Bands,
}

/// The counter-driven suppression of best-effort tasks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Throttle {
    /// Nanoseconds from one look at the counter to the next.
    pub quantum: f64,
    /// Events in a quantum that are tolerated.
    pub threshold: f64,
    /// What a look costs, in nanoseconds, on every processor.
    pub cost: f64,
}

/// What happened to a task.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Outcome {
    /// Jobs that ended.
    pub jobs: u32,
    /// Jobs that ended after their deadline.
    pub missed: u32,
    /// The longest time on a processor, in nanoseconds.
    pub longest: f64,
    /// All times on a processor together.
    pub total: f64,
    /// The longest response, in nanoseconds.
    pub response: f64,
}

/// What happened.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// To each task.
    pub tasks: Vec<Outcome>,
    /// When the last job ended, in nanoseconds.
    pub end: f64,
    /// Times that a best-effort task was sent away.
    pub yields: u64,
    /// Accesses of best-effort tasks.
    pub best_effort: f64,
}

#[derive(Clone, Debug)]
struct State {
    released: u32,
    done: u32,
    remaining: f64,
    /// Cycles that the caches still have to be filled for.
    reload: f64,
    busy: f64,
    processor: Option<usize>,
    last: Option<usize>,
    suspended: bool,
}

/// A schedule in the making.
struct Simulation<'a> {
    tasks: &'a [Task],
    table: &'a mut Table,
    urgency: Urgency,
    state: Vec<State>,
    /// Who ran last on each core.
    last_on: [Option<usize>; PROCESSORS / 2],
    running: [Option<usize>; PROCESSORS],
    now: f64,
    run: Run,
    speed: f64,
}

/// Runs all jobs of all tasks that are not best-effort; ends at the latest after ten times the nominal time.
pub fn run(tasks: &[Task], table: &mut Table, urgency: Urgency, throttle: Option<Throttle>) -> Run {
    let state = tasks.iter().map(|_| State {
        released: 0,
        done: 0,
        remaining: 0.0,
        reload: 0.0,
        busy: 0.0,
        processor: None,
        last: None,
        suspended: false,
    });
    let speed = table.clock() * throttle.map_or(1.0, |throttle| 1.0 - throttle.cost / throttle.quantum);
    let mut simulation = Simulation {
        tasks,
        urgency,
        state: state.collect(),
        last_on: Default::default(),
        running: Default::default(),
        now: 0.0,
        run: Run { tasks: vec![Outcome::default(); tasks.len()], ..Run::default() },
        speed,
        table,
    };
    simulation.run(throttle);
    simulation.run
}

impl Simulation<'_> {
    fn release(&self, task: usize, job: u32) -> f64 {
        self.tasks[task].offset + f64::from(job) * self.tasks[task].period
    }

    fn ready(&self, task: usize) -> bool {
        let state = &self.state[task];
        state.done < state.released && !state.suspended
    }

    /// Smaller is more urgent.
    fn key(&self, task: usize) -> (u8, f64) {
        let of = &self.tasks[task];
        match self.urgency {
            Urgency::Edf => (0, self.release(task, self.state[task].done) + of.period),
            Urgency::Bands => (of.class as u8, of.period),
        }
    }

    /// Decides who runs where; a job that goes on keeps its processor.
    fn dispatch(&mut self) {
        let mut ready: Vec<usize> = (0..self.tasks.len()).filter(|&task| self.ready(task)).collect();
        ready.sort_by(|&a, &b| {
            let (a, b) = ((self.key(a), a), (self.key(b), b));
            a.0 .0.cmp(&b.0 .0).then(a.0 .1.total_cmp(&b.0 .1)).then(a.1.cmp(&b.1))
        });
        let mut free = [0u32; 256];
        let mut chosen = Vec::with_capacity(PROCESSORS);
        for task in ready {
            let domain = self.tasks[task].processors;
            if free[usize::from(domain)] < domain.count_ones() {
                free[usize::from(domain)] += 1;
                chosen.push(task);
            }
        }
        for task in 0..self.tasks.len() {
            if self.state[task].processor.is_some() && !chosen.contains(&task) {
                self.state[task].processor = None;
            }
        }
        self.running = Default::default();
        for &task in &chosen {
            if let Some(processor) = self.state[task].processor {
                self.running[processor] = Some(task);
            }
        }
        for task in chosen {
            if self.state[task].processor.is_some() {
                continue;
            }
            let domain = self.tasks[task].processors;
            let free = (0..PROCESSORS).filter(|p| domain >> p & 1 == 1 && self.running[*p].is_none());
            let last = self.state[task].last;
            // Where it ran last, else a core that is idle altogether, else any.
            let best = free.min_by_key(|p| (Some(*p) != last, self.running[p ^ 1].is_some(), *p));
            let Some(processor) = best else { continue };
            self.running[processor] = Some(task);
            let state = &mut self.state[task];
            state.processor = Some(processor);
            let core = processor / 2;
            let migrated = last.is_some_and(|last| last / 2 != core);
            let disturbed = self.last_on[core] != Some(task);
            state.last = Some(processor);
            self.last_on[core] = Some(task);
            if self.tasks[task].class != Class::BestEffort && (migrated || disturbed) {
                state.reload = self.table.reload(self.tasks[task].load, migrated);
            }
        }
    }

    fn relation(&self, task: usize, other: usize) -> Relation {
        let (task, other) = (&self.tasks[task], &self.tasks[other]);
        if task.array == other.array {
            Relation::Array
        } else if task.colour == other.colour {
            Relation::Colour
        } else {
            Relation::Nothing
        }
    }

    fn run(&mut self, throttle: Option<Throttle>) {
        let nominal = |task: &Task| task.offset + task.period * f64::from(task.jobs);
        let ordinary = |task: &&Task| task.class != Class::BestEffort;
        let limit = 10.0 * self.tasks.iter().filter(ordinary).map(nominal).fold(0.0, f64::max);
        let mut open = self.tasks.iter().filter(ordinary).count();
        let mut look = throttle.map_or(f64::INFINITY, |throttle| throttle.quantum);
        let mut counted = [0.0f64; PROCESSORS];
        while open > 0 && self.now < limit {
            self.dispatch();
            let mut rates = [super::table::Measured::default(); PROCESSORS];
            let mut next = look;
            for (processor, rate) in rates.iter_mut().enumerate() {
                let Some(task) = self.running[processor] else { continue };
                let sibling = self.running[processor ^ 1];
                let sibling = sibling.map(|other| (self.tasks[other].load, self.relation(task, other)));
                let mut others = [(0, Relation::Nothing); PROCESSORS];
                for (place, other) in
                    others.iter_mut().zip(self.running).enumerate().filter_map(|(p, (place, other))| {
                        let other = other?;
                        (p / 2 != processor / 2).then_some((place, other))
                    })
                {
                    *place = (self.tasks[other].load, self.relation(task, other));
                }
                *rate = self.table.measured(self.tasks[task].load, sibling, &others);
                let state = &self.state[task];
                let left = (state.reload + state.remaining * rate.cycles) / self.speed;
                next = next.min(self.now + left);
            }
            for task in 0..self.tasks.len() {
                let released = self.state[task].released;
                if released < self.tasks[task].jobs {
                    next = next.min(self.release(task, released));
                }
            }
            self.advance(next, &rates, &mut counted, &mut open);
            if let Some(throttle) = throttle.filter(|_| next >= look) {
                look += throttle.quantum;
                for task in 0..self.tasks.len() {
                    self.state[task].suspended = false;
                }
                for (processor, counted) in counted.iter_mut().enumerate() {
                    let best_effort = |task: &usize| self.tasks[*task].class == Class::BestEffort;
                    if let Some(task) = self.running[processor].filter(best_effort) {
                        if *counted > throttle.threshold {
                            self.state[task].suspended = true;
                            self.run.yields += 1;
                        }
                    }
                    *counted = 0.0;
                }
            }
        }
        self.run.end = self.now;
    }

    /// Lets time pass until `next`, ends jobs and releases others.
    fn advance(
        &mut self,
        next: f64,
        rates: &[super::table::Measured; PROCESSORS],
        counted: &mut [f64; PROCESSORS],
        open: &mut usize,
    ) {
        let elapsed = next - self.now;
        self.now = next;
        for processor in 0..PROCESSORS {
            let Some(task) = self.running[processor] else { continue };
            let state = &mut self.state[task];
            state.busy += elapsed;
            let mut cycles = elapsed * self.speed;
            let reload = cycles.min(state.reload);
            state.reload -= reload;
            cycles -= reload;
            let accesses = (cycles / rates[processor].cycles).min(state.remaining);
            state.remaining -= accesses;
            counted[processor] += accesses * rates[processor].hitm;
            if self.tasks[task].class == Class::BestEffort {
                self.run.best_effort += accesses;
                state.remaining = f64::MAX;
            } else if state.remaining < 1e-3 && state.reload < 1e-3 {
                let deadline = self.release(task, self.state[task].done) + self.tasks[task].period;
                let state = &mut self.state[task];
                let outcome = &mut self.run.tasks[task];
                outcome.jobs += 1;
                // A nanosecond of grace for the arithmetic.
                outcome.missed += u32::from(self.now > deadline + 1.0);
                outcome.longest = outcome.longest.max(state.busy);
                outcome.total += state.busy;
                outcome.response = outcome.response.max(self.now - (deadline - self.tasks[task].period));
                state.done += 1;
                (state.busy, state.remaining) = (0.0, self.tasks[task].accesses);
                *open -= usize::from(state.done == self.tasks[task].jobs);
                if state.done == state.released {
                    state.processor = None;
                }
            }
        }
        for task in 0..self.tasks.len() {
            let of = &self.tasks[task];
            while self.state[task].released < of.jobs && self.release(task, self.state[task].released) <= self.now {
                let state = &mut self.state[task];
                if state.released == state.done {
                    state.remaining = if of.class == Class::BestEffort { f64::MAX } else { of.accesses };
                }
                state.released += 1;
            }
        }
    }
}
