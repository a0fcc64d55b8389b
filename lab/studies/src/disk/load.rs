//! Processes that each have one request outstanding, before a scheduler with one request at the drive, or before a drive
//! with a queue of its own.

use super::{Bench, Draw};
use tactus_disk::{Drive, DriveQueue, Head, LatencyMap, Policy, Request, Scheduler};
use tactus_time::{Duration, Instant};

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Operations a second.
    pub rate: f64,
    /// For each class the longest response.
    pub longest: Vec<Duration>,
    /// Requests that were late.
    pub missed: u64,
    /// The most that one was late.
    pub overtime: Duration,
    /// Requests served.
    pub served: u64,
    /// Operations a second in each of twenty equal parts of the requests.
    pub parts: Vec<f64>,
    /// Requests that took longer than their cell said before.
    pub above: u64,
    /// The most requests that were served while one waited.
    pub passed: u64,
}

/// A class of processes.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// How many processes.
    pub processes: usize,
    /// What each of their requests is given.
    pub deadline: Duration,
}

/// What answers.
pub enum Before<'a> {
    /// A scheduler of ours with a map; `true` if it learns.
    Scheduler(Policy, &'a mut LatencyMap, bool),
    /// The drive orders a queue of this depth itself.
    OwnQueue(usize),
    /// Any rule: which of those that wait goes next.
    Rule(&'a mut dyn FnMut(&[Request], Instant, Head) -> usize),
    /// A model of the drive that is told of completions predicts each request; the first to end goes first.
    Model,
}

/// Runs until `requests` have been served, after a tenth of them that do not count.
pub fn run(bench: &Bench, before: Before<'_>, classes: &[Class], requests: u64, seed: u64) -> Outcome {
    run_on(bench, bench.drive(), before, classes, requests, seed)
}

/// The same on a drive that may have caches or noise.
pub fn run_on(bench: &Bench, drive: Drive, before: Before<'_>, classes: &[Class], requests: u64, seed: u64) -> Outcome {
    let owner: Vec<usize> =
        classes.iter().enumerate().flat_map(|(class, of)| std::iter::repeat_n(class, of.processes)).collect();
    let mut draw = Draw::new(seed);
    let mut issued = 0;
    let mut fresh = |process: usize, serial: u64, now: Instant| {
        let row = bench.row(&mut draw, issued);
        issued += 1;
        let id = Request::name(process as u32, serial as u32);
        bench.request(id, row, now, now.saturating_add(classes[owner[process]].deadline))
    };
    let mut book = Book::new(classes.len(), requests);
    let mut now = Instant::ZERO;
    match before {
        Before::Scheduler(policy, map, learns) => {
            let (mut drive, mut head) = (drive, Head::default());
            let mut queue = Scheduler::new(policy, owner.len());
            for process in 0..owner.len() {
                let _ = queue.arrive(fresh(process, 0, now), head, map);
            }
            let mut first = true;
            while let Some(request) = queue.next(now, head, map) {
                let end = drive.serve(now, &request).end;
                if let (false, Some(cell)) = (first, map.latency(head.granule, request.granule)) {
                    book.outcome.above += u64::from(end.since(now) > cell);
                }
                if learns && !first {
                    map.learn(head.granule, request.granule, end.since(now));
                }
                (first, now, head) = (false, end, Head::from(&request));
                if book.enter(&request, end, &owner) {
                    break;
                }
                let _ = queue.arrive(fresh(request.client() as usize, book.all, now), head, map);
            }
        }
        Before::Rule(choose) => {
            let (mut drive, mut head) = (drive, Head::default());
            let mut waiting: Vec<Request> = (0..owner.len()).map(|process| fresh(process, 0, now)).collect();
            loop {
                let request = waiting.remove(choose(&waiting, now, head));
                (now, head) = (drive.serve(now, &request).end, Head::from(&request));
                if book.enter(&request, now, &owner) {
                    break;
                }
                waiting.push(fresh(request.client() as usize, book.all, now));
            }
        }
        Before::Model => {
            let (mut drive, mut model) = (drive, bench.drive());
            let mut waiting: Vec<Request> = (0..owner.len()).map(|process| fresh(process, 0, now)).collect();
            loop {
                let ends = waiting.iter().map(|request| model.predict(now, request));
                let Some((at, _)) = ends.enumerate().min_by_key(|(_, end)| *end) else { break };
                let request = waiting.swap_remove(at);
                now = drive.serve(now, &request).end;
                model.follow(now, &request);
                if book.enter(&request, now, &owner) {
                    break;
                }
                waiting.push(fresh(request.client() as usize, book.all, now));
            }
        }
        Before::OwnQueue(depth) => {
            let mut drive = DriveQueue::new(drive, depth);
            let mut waiting: std::collections::VecDeque<Request> =
                (0..owner.len()).map(|process| fresh(process, 0, now)).collect();
            loop {
                while drive.has_room() {
                    let Some(request) = waiting.pop_front() else { break };
                    let _ = drive.take(request);
                }
                let Some((request, served)) = drive.serve(now) else { break };
                now = served.end;
                if book.enter(&request, now, &owner) {
                    break;
                }
                waiting.push_back(fresh(request.client() as usize, book.all, now));
            }
        }
    }
    book.close(now)
}

/// What is written down of a run.
struct Book {
    outcome: Outcome,
    all: u64,
    skip: u64,
    requests: u64,
    start: Instant,
    part: Instant,
}

impl Book {
    fn new(classes: usize, requests: u64) -> Book {
        let outcome = Outcome { longest: vec![Duration::ZERO; classes], ..Outcome::default() };
        Book { outcome, all: 0, skip: requests / 10, requests, start: Instant::ZERO, part: Instant::ZERO }
    }
    /// Tells whether that was the last.
    fn enter(&mut self, request: &Request, end: Instant, owner: &[usize]) -> bool {
        self.all += 1;
        let each = (self.requests / 20).max(1);
        if self.all % each == 0 {
            self.outcome.parts.push(each as f64 / end.since(self.part).as_secs_f64());
            self.part = end;
        }
        self.outcome.passed = self.outcome.passed.max(self.all - u64::from(request.number()));
        if self.all <= self.skip {
            self.start = end;
            return false;
        }
        let longest = &mut self.outcome.longest[owner[request.client() as usize]];
        *longest = (*longest).max(end.since(request.arrival));
        self.outcome.missed += u64::from(end > request.deadline);
        self.outcome.overtime = self.outcome.overtime.max(request.overtime(end));
        self.outcome.served += 1;
        self.all >= self.requests + self.skip
    }
    fn close(mut self, now: Instant) -> Outcome {
        self.outcome.rate = self.outcome.served as f64 / now.since(self.start).as_secs_f64();
        self.outcome
    }
}
