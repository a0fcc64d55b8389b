//! A machine of real threads: each core is a thread that watches the clock and calls the policy, all at once. What it
//! writes must agree with the policy call by call, whatever the threads' luck: this is where the order of decisions
//! on shared state is not that of their times.

use crate::common::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant as Clock;
use tactus_generate::{Draw, POLICIES};
use tactus_policy::{CoreState, Decision, Event, Policy, Running, Scheduler};
use tactus_record::{EntryReason, EventKind, Record, Sink};
use tactus_sim::lockstep::lockstep;
use tactus_time::{CoreId, Duration, Instant, TaskId};
use tactus_trace::Trace;

/// The task whose component is stopped when its third job has run for a while.
const FAULTY: TaskId = TaskId(1);

struct Records(Vec<Record>);

impl Sink for Records {
    fn record(&mut self, record: Record) {
        self.0.push(record);
    }
}

struct Thread<'m, D> {
    id: CoreId,
    policy: &'m Scheduler,
    bells: &'m [AtomicBool],
    demand: D,
    begin: Clock,
    records: Records,
    last: Decision,
    since: Instant,
}

impl<D: Fn(TaskId, u32) -> Duration> Thread<'_, D> {
    fn now(&self) -> Instant {
        Instant::from_nanos(self.begin.elapsed().as_nanos() as u64)
    }

    fn call(&mut self, state: &mut CoreState, reason: EntryReason, event: Event) {
        let now = self.now();
        let running = self.last.run;
        let arg = if reason == EntryReason::Timer { self.last.timer.as_nanos() } else { 0 };
        let (task, job, core) = (running.map(|r| r.task), running.map_or(0, |r| r.job), self.id);
        let enter = Record { time: now, arg, job, task, kind: EventKind::Enter, level: reason as u8, core, ticket: 0 };
        self.records.record(enter);
        self.last = self.policy.handle(state, now, event, &mut self.records);
        self.since = now;
        let Decision { run, timer, notify, ticket } = self.last;
        let (task, job) = (run.map(|r| r.task), run.map_or(0, |r| r.job));
        let time = self.now();
        self.records.record(Record {
            time,
            arg: timer.as_nanos(),
            job,
            task,
            kind: EventKind::Leave,
            level: 0,
            core,
            ticket,
        });
        for other in notify.iter() {
            self.bells[other.index()].store(true, Ordering::SeqCst);
        }
    }

    fn faults(job: &Running, charged: Duration) -> bool {
        job.task == FAULTY && job.job >= 2 && charged > us(20)
    }

    fn run(mut self, state: &mut CoreState, end: Instant) -> Vec<Record> {
        self.call(state, EntryReason::Start, Event::Start);
        loop {
            let now = self.now();
            let charged = self.last.run.map(|job| (job, job.charged + now.since(self.since)));
            if now >= end {
                break;
            } else if charged.is_some_and(|(job, charged)| Self::faults(&job, charged)) {
                self.call(state, EntryReason::Fault, Event::Remove);
            } else if charged.is_some_and(|(job, charged)| charged >= (self.demand)(job.task, job.job)) {
                self.call(state, EntryReason::Complete, Event::Complete);
            } else if self.last.timer <= now {
                self.call(state, EntryReason::Timer, Event::Timer);
            } else if self.bells[self.id.index()].swap(false, Ordering::SeqCst) {
                self.call(state, EntryReason::Notify, Event::Notify);
            } else {
                std::thread::yield_now();
            }
        }
        let (time, core) = (self.now(), self.id);
        self.records.record(Record {
            time,
            arg: 0,
            job: 0,
            task: None,
            kind: EventKind::End,
            level: 0,
            core,
            ticket: 0,
        });
        self.records.0
    }
}

#[test]
fn real_threads_agree_with_the_policy_under_every_policy() {
    let (mut calls, mut out_of_order, mut removed) = (0, 0, 0);
    for (seed, policy) in POLICIES.into_iter().enumerate() {
        let draw = Draw { policy, cores: 4, tasks: 24, utilisation: 0.8, ..Draw::from_seed(seed as u64) };
        let system = draw.system();
        let setup = setup_of(&system, Duration::ZERO);
        let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
        let (scheduler, mut states) = Scheduler::new(&setup).unwrap();
        let bells: Vec<AtomicBool> = (0..setup.cores).map(|_| AtomicBool::new(false)).collect();
        let begin = Clock::now();
        let end = Instant::from_nanos(300_000_000);
        let cores: Vec<Vec<Record>> = std::thread::scope(|scope| {
            let start = |(core, state)| {
                let thread = Thread {
                    id: CoreId(core as u8),
                    policy: &scheduler,
                    bells: &bells,
                    demand,
                    begin,
                    records: Records(Vec::new()),
                    last: idle(),
                    since: Instant::ZERO,
                };
                scope.spawn(move || thread.run(state, end))
            };
            let threads: Vec<_> = states.iter_mut().enumerate().map(start).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let dropped = vec![0; cores.len()];
        let trace = Trace { cores, dropped, disks: Vec::new(), observed: Vec::new() };
        removed += trace.cores.iter().flatten().filter(|r| r.kind == EventKind::Removed).count();
        out_of_order += exchanged(&trace);
        // Threads of a busy host sleep for as long as it likes.
        let tolerance = Duration::from_secs(60);
        let said = lockstep(&setup, |task, job| Some(demand(task, job)), &trace, tolerance).unwrap();
        let agreement = said.unwrap_or_else(|e| panic!("{policy:?}: {e}"));
        assert_eq!(agreement.cut, 0);
        calls += agreement.calls;
    }
    println!("{calls} calls, {out_of_order} of them not in the order of their times, {removed} tasks removed");
    assert!(calls > 300 && removed > 0, "{calls} calls, {removed} removed");
}

/// How many decisions on shared state were taken after one with a later time.
fn exchanged(trace: &Trace) -> usize {
    let mut order = Vec::new();
    for records in &trace.cores {
        let mut entered = Instant::ZERO;
        for record in records {
            match record.kind {
                EventKind::Enter => entered = record.time,
                EventKind::Leave if record.ticket != 0 => order.push((record.ticket, entered)),
                _ => {}
            }
        }
    }
    order.sort_unstable();
    order.windows(2).filter(|pair| pair[0].1 > pair[1].1).count()
}
