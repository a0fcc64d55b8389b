//! The reference model: one core, fixed priorities inside a window, and processes as the standard has them, each of which looks with the
//! jobs of its task. It takes no time for the system's own work, but what each step costs can be told, so that a caller finds out what
//! depends on that.

use super::process::{Awaits, Process, State, Suspended, Task, Time, MS, NEVER};
use super::{Handling, Partition, Step, StepResult, Story};
use tactus_time::Duration;

/// A unit of computation on the machine: a little less than a millisecond, so that what happens at one is over before the next.
const UNIT: Time = 900_000;

/// The most errors of a process that wait for the handler.
const ERRORS: usize = 4;

/// What must come of the partition in a number of milliseconds, if each step takes this long.
pub fn predict(partition: &Partition, duration: u64, step: Duration) -> Story {
    let mut model = Model {
        partition,
        processes: partition.scripts.iter().cloned().map(Process::new).collect(),
        handler: partition.handler.map(|period| Task { period: period * MS, released: 0, over: 0, begun: false }),
        handling: None,
        begun: false,
        up: false,
        set: 0,
        cost: step.as_nanos(),
        now: 0,
        story: Story::default(),
    };
    let end = duration * MS;
    while model.now < end {
        model.happen();
        let next = model.next_event().min(end);
        model.go_on(next);
    }
    model.story
}

/// The task whose job has the core: the error handler's, or that of a process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    Handler,
    Process(usize),
}

struct Model<'a> {
    partition: &'a Partition,
    processes: Vec<Process>,
    handler: Option<Task>,
    /// The errors that the handler's job takes one after the other, where it runs: what is left of the step that it is in.
    handling: Option<Time>,
    /// Whether the partition was initialised.
    begun: bool,
    up: bool,
    set: u64,
    cost: Time,
    now: Time,
    story: Story,
}

/// What comes of a step.
enum After {
    GoOn,
    JobEnds,
}

impl Model<'_> {
    fn frame(&self) -> Time {
        self.partition.frame * MS
    }

    /// The first instant from `at` on that lies in the window.
    fn in_window(&self, at: Time) -> Time {
        let (start, length) = (self.partition.window.0 * MS, self.partition.window.1 * MS);
        let inside = at % self.frame();
        match inside {
            _ if at == NEVER => NEVER,
            _ if inside < start => at - inside + start,
            _ if inside < start + length => at,
            _ => at - inside + self.frame() + start,
        }
    }

    /// When the deadline that is watched is noticed.
    fn notice(&self, process: &Process) -> Time {
        match process.watched.0 {
            NEVER => NEVER,
            deadline => self.in_window(deadline.max(process.quiet)),
        }
    }

    /// Whether a job of the process that is unfinished is ended at this instant.
    fn kill(&self, process: &Process) -> Time {
        match self.partition.restarts && process.task.has_job() {
            true => process.task.release() + process.task.period,
            false => NEVER,
        }
    }

    /// What is due now: misses before ends, and ends before releases.
    fn happen(&mut self) {
        for n in 0..self.processes.len() {
            if self.notice(&self.processes[n]) <= self.now {
                self.miss(n);
            }
            if self.kill(&self.processes[n]) <= self.now {
                let process = &mut self.processes[n];
                process.leaves |= process.task.begun;
                process.task.end_job();
            }
        }
        let now = self.now;
        let tasks = self.processes.iter_mut().map(|it| &mut it.task).chain(&mut self.handler);
        for task in tasks {
            while task.released * task.period <= now {
                task.released += 1;
            }
        }
    }

    fn miss(&mut self, n: usize) {
        let process = &mut self.processes[n];
        let missed = process.miss(self.now);
        if self.handler.is_some() {
            process.errors.push((missed, true));
        } else if self.partition.restarts {
            process.leaves = true;
        }
        let who = process.script.who;
        self.story.missed.push((who, Duration::from_nanos(missed), Duration::from_nanos(self.now)));
    }

    /// When something happens that does not come of what runs.
    fn next_event(&self) -> Time {
        let later = |at: Time| if at > self.now { at } else { NEVER };
        let (start, length) = (self.partition.window.0 * MS, self.partition.window.1 * MS);
        let begin = self.in_window(self.now);
        let bound = if begin > self.now { begin } else { self.now - self.now % self.frame() + start + length };
        let releases = self.processes.iter().map(|it| &it.task).chain(&self.handler);
        let releases = releases.map(|task| task.released * task.period).min().unwrap_or(NEVER);
        let notices = self.processes.iter().map(|it| later(self.notice(it))).min().unwrap_or(NEVER);
        let kills = self.processes.iter().map(|it| later(self.kill(it))).min().unwrap_or(NEVER);
        releases.min(notices).min(kills).min(later(bound)).min(self.now - self.now % self.frame() + self.frame())
    }

    fn first(&self) -> Option<Who> {
        let handler = self.handler.as_ref().filter(|task| task.has_job()).map(|_| Who::Handler);
        let process = || self.processes.iter().position(|it| it.task.has_job()).map(Who::Process);
        handler.or_else(process)
    }

    /// Whoever is first takes a step, no longer than to this instant.
    fn go_on(&mut self, end: Time) {
        match self.first().filter(|_| self.in_window(self.now) == self.now) {
            Some(Who::Handler) => self.handle(end),
            Some(Who::Process(n)) => self.run(n, end),
            None => self.now = end,
        }
    }

    fn initialise(&mut self) {
        if self.begun {
            return;
        }
        self.begun = true;
        self.tell('-', "init", 0);
        // A step for each process that it creates, and one more.
        let (now, end) = (self.now, self.now + self.cost * (1 + self.processes.len() as Time));
        self.processes.iter_mut().filter(|it| it.script.started).for_each(|it| it.start_first(now, end));
    }

    fn tell(&mut self, who: char, what: &str, code: u32) {
        let at = Duration::from_nanos(self.now);
        self.story.told.push(StepResult { who, what: what.to_owned(), code, at });
    }

    /// A step of the error handler: it takes the oldest error, or its job ends.
    fn handle(&mut self, end: Time) {
        self.initialise();
        let first = |it: &(usize, &Process)| it.1.errors.iter().min().copied();
        let all = self.processes.iter().enumerate().filter_map(|it| Some((first(&it)?, it.0)));
        let Some(((_, missed), n)) = all.min_by_key(|((at, _), n)| (*at, *n)) else {
            return self.handler.iter_mut().for_each(Task::end_job);
        };
        let left = self.handling.unwrap_or(self.cost);
        if !self.spend(left, end, |model, left| model.handling = Some(left)) {
            return;
        }
        self.handling = None;
        let process = &mut self.processes[n];
        let oldest = process.errors.iter().enumerate().min_by_key(|(_, it)| **it).map(|(place, _)| place);
        oldest.map(|place| process.errors.remove(place));
        let (who, handling) = (process.script.who, process.script.handling);
        self.tell('!', &who.to_string(), u32::from(!missed));
        if missed && handling != Handling::Ignore {
            let stopped = self.stop(n);
            if stopped && handling == Handling::Restart {
                let now = self.now;
                self.processes[n].start(now);
            }
        }
    }

    /// Whether what takes so long is over before the end; else what is left is kept.
    fn spend(&mut self, left: Time, end: Time, keep: impl FnOnce(&mut Self, Time)) -> bool {
        if self.now + left > end {
            keep(self, left - (end - self.now));
            self.now = end;
            return false;
        }
        self.now += left;
        true
    }

    /// Whether the process was not dormant.
    fn stop(&mut self, n: usize) -> bool {
        let process = &mut self.processes[n];
        if process.state == State::Dormant {
            return false;
        }
        process.leaves = true;
        process.stop();
        true
    }

    /// A step of a process, from where it was preempted; or its job begins.
    fn run(&mut self, n: usize, end: Time) {
        let now = self.now;
        let process = &mut self.processes[n];
        let under_way = matches!(process.state, State::Running | State::Waiting);
        if std::mem::take(&mut process.leaves) {
            // A process that was stopped is not under way.
            if under_way {
                process.restart(now);
            }
            if process.task.begun {
                return process.task.end_job();
            }
        }
        if !process.task.begun {
            process.task.begun = true;
            self.initialise();
            if !self.look(n) {
                self.processes[n].task.end_job();
            }
            return;
        }
        let Some(step) = self.processes[n].step() else {
            let who = self.processes[n].script.who;
            self.tell(who, "end", 0);
            self.processes[n].stop();
            return self.processes[n].task.end_job();
        };
        let left = self.processes[n].left;
        if !self.spend(left, end, |model, left| model.processes[n].left = left) {
            return;
        }
        if let After::JobEnds = self.step(n, step) {
            self.processes[n].task.end_job();
        }
    }

    /// What the next step takes.
    fn enter(&mut self, n: usize, at: usize) {
        let cost = self.cost;
        let process = &mut self.processes[n];
        process.at = at;
        process.left = match process.step() {
            Some(Step::Compute(units)) => units * UNIT + cost,
            Some(Step::Forever) => NEVER / 2,
            Some(Step::Again) => 0,
            _ => cost,
        };
    }

    /// Whether the process has something to do in a job that begins.
    fn look(&mut self, n: usize) -> bool {
        let (now, up, set) = (self.now, self.up, self.set);
        let process = &mut self.processes[n];
        let release = process.task.release();
        if process.suspended == Suspended::ByOther {
            return false;
        }
        match process.state {
            State::Ready => {
                let due = if process.script.periodic { release >= process.from } else { now >= process.from };
                if !due {
                    return false;
                }
                process.state = State::Running;
                if process.script.periodic {
                    process.released(release);
                }
                let who = process.script.who;
                self.tell(who, "begin", 0);
                self.enter(n, 0);
                true
            }
            State::Waiting => {
                let (awaits, limit) = process.awaits;
                let over = now >= limit;
                let room = process.errors.iter().filter(|(_, missed)| !missed).count() < ERRORS;
                let code = match awaits {
                    Awaits::Release => 0,
                    Awaits::Time if over => 0,
                    Awaits::Event(before) if up || set != before => 0,
                    Awaits::Resumption if process.suspended == Suspended::No => 0,
                    Awaits::Room if room => 0,
                    Awaits::Event(_) | Awaits::Resumption if over => 6,
                    _ => return false,
                };
                match awaits {
                    Awaits::Release => process.released(release),
                    Awaits::Resumption => process.suspended = Suspended::No,
                    Awaits::Room => process.errors.push((now, false)),
                    Awaits::Time | Awaits::Event(_) => {}
                }
                process.state = State::Running;
                self.done(n, code);
                true
            }
            State::Dormant | State::Running => false,
        }
    }

    /// A step of the process is over: it tells so, and comes to the next one.
    fn done(&mut self, n: usize, code: u32) {
        let (who, word) = (self.processes[n].script.who, self.processes[n].step().map(Step::word).unwrap_or_default());
        self.tell(who, &word, code);
        let next = self.processes[n].at + 1;
        self.enter(n, next);
    }

    /// The process waits.
    fn wait(&mut self, n: usize, awaits: Awaits, limit: Time) -> After {
        let process = &mut self.processes[n];
        (process.state, process.awaits) = (State::Waiting, (awaits, limit));
        After::JobEnds
    }

    fn find(&self, who: char) -> Option<usize> {
        self.processes.iter().position(|it| it.script.who == who)
    }

    /// The effect of a step that has taken its time.
    fn step(&mut self, n: usize, step: Step) -> After {
        let now = self.now;
        let limit = |time_out: u64| if time_out == 0 { NEVER } else { now + time_out * MS };
        let periodic = self.processes[n].script.periodic;
        let code = match step {
            Step::Compute(_) => 0,
            Step::Period if periodic => {
                let process = &mut self.processes[n];
                process.released(process.task.release() + process.task.period);
                return self.wait(n, Awaits::Release, NEVER);
            }
            Step::Period => 5,
            Step::Sleep(0) => 0,
            Step::Sleep(n_ms) => return self.wait(n, Awaits::Time, now + n_ms * MS),
            Step::Await(_) if self.up => 0,
            Step::Await(time_out) => return self.wait(n, Awaits::Event(self.set), limit(time_out)),
            Step::Set => {
                (self.up, self.set) = (true, self.set + 1);
                0
            }
            Step::Reset => {
                self.up = false;
                0
            }
            Step::Replenish(budget) => self.replenish(n, limit(budget)),
            Step::SuspendSelf(_) if periodic => 5,
            Step::SuspendSelf(time_out) => {
                self.processes[n].suspended = Suspended::ByItself;
                return self.wait(n, Awaits::Resumption, limit(time_out));
            }
            Step::Suspend(who) => self.suspend(n, who),
            Step::Resume(who) => self.resume(n, who),
            Step::Stop(who) => match self.find(who) {
                Some(other) if other != n => u32::from(!self.stop(other)),
                _ => 3,
            },
            Step::Start(who) => match self.find(who) {
                Some(other) if self.processes[other].state == State::Dormant => {
                    self.processes[other].start(now);
                    0
                }
                Some(_) => 1,
                None => 3,
            },
            Step::Raise => {
                let errors = &mut self.processes[n].errors;
                if errors.iter().filter(|(_, missed)| !missed).count() == ERRORS {
                    return self.wait(n, Awaits::Room, NEVER);
                }
                errors.push((now, false));
                0
            }
            Step::StopSelf => {
                let who = self.processes[n].script.who;
                self.tell(who, "z", 0);
                self.processes[n].stop();
                return After::JobEnds;
            }
            Step::Forever => return After::GoOn,
            Step::Again => {
                self.enter(n, 0);
                return After::GoOn;
            }
        };
        self.done(n, code);
        After::GoOn
    }

    fn replenish(&mut self, n: usize, deadline: Time) -> u32 {
        let process = &mut self.processes[n];
        let next = process.task.release() + process.task.period;
        if process.script.periodic && deadline > next {
            return 5;
        }
        if process.script.capacity > 0 {
            process.deadline = deadline;
            process.watch();
        }
        0
    }

    fn suspend(&mut self, n: usize, who: char) -> u32 {
        let Some(other) = self.find(who).filter(|other| *other != n) else { return 3 };
        let other = &mut self.processes[other];
        match (other.script.periodic || other.state == State::Dormant, other.suspended) {
            (true, _) => 5,
            (false, Suspended::No) => {
                other.suspended = Suspended::ByOther;
                0
            }
            (false, _) => 1,
        }
    }

    fn resume(&mut self, n: usize, who: char) -> u32 {
        let Some(other) = self.find(who).filter(|other| *other != n) else { return 3 };
        let other = &mut self.processes[other];
        match (other.script.periodic || other.state == State::Dormant, other.suspended) {
            (true, _) => 5,
            (false, Suspended::No) => 1,
            (false, _) => {
                other.suspended = Suspended::No;
                0
            }
        }
    }
}
