//! A tree of servers in unit steps, each kind by its own rule: the falsifier of the supply functions.
#![allow(dead_code)]

use super::common::Dice;
use std::collections::VecDeque;
use tactus_analysis::reservation::local::Local;
use tactus_analysis::reservation::tree::{Node, Scheduler};
use tactus_task::ServerKind;

pub enum Entity {
    Task { c: u64, t: u64, d: u64, next: u64, late: u64, jobs: VecDeque<(u64, u64)>, worst: u64 },
    Server(Server),
}

pub struct Server {
    kind: ServerKind,
    q: u64,
    p: u64,
    /// Periodic and deferrable: the next replenishment. CBS: the deadline.
    at: u64,
    left: u64,
    /// Sporadic: what comes when, in order of time; the head may be spent from its time on.
    chunks: Vec<(u64, u64)>,
    used: u64,
    worked: bool,
    inner: Group,
}

pub struct Group {
    policy: Local,
    pub entities: Vec<Entity>,
}

impl Group {
    pub fn new(from: &Scheduler, late: u64, dice: &mut Dice) -> Group {
        let entity = |node: &Node| match node {
            Node::Task(τ) => {
                let t = τ.period.as_nanos();
                let next = if dice.between(0, 2) == 0 { 0 } else { dice.between(0, t) };
                let (c, d) = (τ.execution.as_nanos(), τ.deadline.as_nanos());
                Entity::Task { c, t, d, next, late, jobs: VecDeque::new(), worst: 0 }
            }
            Node::Server(s, inner) => {
                let (q, p) = (s.budget.as_nanos(), s.period.as_nanos());
                let cbs = s.kind == ServerKind::HardBandwidth;
                // A budget that is gone at time zero was spent since the last replenishment, which takes Q.
                let forfeits = matches!(s.kind, ServerKind::Polling | ServerKind::SporadicPolling);
                let spent = if forfeits { 0 } else { q };
                let at = if cbs || dice.between(0, 2) == 0 { 0 } else { dice.between(0, p - spent) };
                let inner = Group::new(inner, late, dice);
                let left = 0;
                Entity::Server(Server {
                    kind: s.kind,
                    q,
                    p,
                    at,
                    left,
                    chunks: vec![(q, 0)],
                    used: 0,
                    worked: false,
                    inner,
                })
            }
        };
        Group { policy: from.policy, entities: from.children.iter().map(entity).collect() }
    }

    /// What happens at `now`: releases and replenishments.
    pub fn advance(&mut self, now: u64, dice: &mut Dice) {
        for e in &mut self.entities {
            match e {
                Entity::Task { c, t, next, late, jobs, .. } => {
                    if *next == now {
                        jobs.push_back((now, *c));
                        *next = now + *t + if *late > 0 { dice.between(0, *late) } else { 0 };
                    }
                }
                Entity::Server(s) => s.advance(now, dice),
            }
        }
    }

    fn has_work(&self, now: u64) -> bool {
        self.entities.iter().any(|e| e.ready(now))
    }

    /// One step of time for the most urgent child.
    pub fn run(&mut self, now: u64) {
        let edf = self.policy == Local::EarliestDeadline;
        let ready = (0..self.entities.len()).filter(|&i| self.entities[i].ready(now));
        let Some(first) = ready.min_by_key(|&i| (if edf { self.entities[i].deadline() } else { 0 }, i)) else { return };
        match &mut self.entities[first] {
            Entity::Task { jobs, worst, .. } => {
                let job = jobs.front_mut().unwrap();
                job.1 -= 1;
                if job.1 == 0 {
                    *worst = (*worst).max(now + 1 - job.0);
                    jobs.pop_front();
                }
            }
            Entity::Server(s) => s.run(now),
        }
    }

    /// The longest response of every task in the order of the verdicts; unfinished jobs count up to `now`.
    pub fn worst(&self, now: u64, into: &mut Vec<Option<u64>>) {
        for e in &self.entities {
            match e {
                Entity::Task { jobs, worst, .. } => {
                    into.push(Some(jobs.front().map_or(*worst, |j| (now - j.0).max(*worst))));
                }
                Entity::Server(s) => {
                    into.push(None);
                    s.inner.worst(now, into);
                }
            }
        }
    }
}

impl Entity {
    fn ready(&self, now: u64) -> bool {
        match self {
            Entity::Task { jobs, .. } => !jobs.is_empty(),
            Entity::Server(s) => s.budget(now) > 0 && (s.kind == ServerKind::Periodic || s.inner.has_work(now)),
        }
    }

    fn deadline(&self) -> u64 {
        match self {
            Entity::Task { d, jobs, .. } => jobs.front().map_or(u64::MAX, |j| j.0 + d),
            Entity::Server(s) => match s.kind {
                ServerKind::Sporadic => s.chunks[0].1 + s.p,
                _ => s.at,
            },
        }
    }
}

impl Server {
    fn budget(&self, now: u64) -> u64 {
        match self.kind {
            ServerKind::Sporadic if self.chunks[0].1 <= now => self.chunks[0].0 - self.used,
            ServerKind::Sporadic => 0,
            _ => self.left,
        }
    }

    fn advance(&mut self, now: u64, dice: &mut Dice) {
        self.inner.advance(now, dice);
        let works = self.inner.has_work(now);
        match self.kind {
            ServerKind::Periodic | ServerKind::Polling | ServerKind::Deferrable => {
                if now == self.at {
                    self.left = self.q;
                    self.at += self.p;
                }
                if self.kind == ServerKind::Polling && !works {
                    self.left = 0;
                }
            }
            ServerKind::SporadicPolling => {
                // Work that comes begins a period, and so does the end of one with work.
                if works && now >= self.at {
                    (self.left, self.at) = (self.q, now + self.p);
                }
                if !works {
                    self.left = 0;
                }
            }
            ServerKind::HardBandwidth => {
                if now == self.at && self.worked {
                    (self.left, self.at) = (self.q, self.at + self.p);
                }
                let wakes = works && !self.worked;
                let stale = self.at <= now || self.left * self.p >= (self.at - now) * self.q;
                // A throttled server that wakes still waits for its deadline.
                if wakes && stale && (self.left > 0 || self.at <= now) {
                    (self.left, self.at) = (self.q, now + self.p);
                }
                if self.left == 0 && self.at <= now {
                    (self.left, self.at) = (self.q, now + self.p);
                }
            }
            ServerKind::Sporadic => {
                if works && !self.worked && self.budget(now) > 0 {
                    // A new phase starts.
                    self.chunks[0].1 = now;
                    while self.chunks.len() > 1 && self.chunks[1].1 <= now + self.chunks[0].0 - self.used {
                        let head = self.chunks.remove(0);
                        self.chunks[0] = (self.chunks[0].0 + head.0, now);
                    }
                }
                if !works && self.worked && self.used > 0 {
                    let (b, t) = self.chunks[0];
                    self.chunks[0].0 = b - self.used;
                    self.later(self.used, t + self.p);
                    self.used = 0;
                }
            }
            other => unreachable!("no tree here has {other:?}"),
        }
        self.worked = works;
    }

    fn later(&mut self, amount: u64, time: u64) {
        let place = self.chunks.partition_point(|c| c.1 <= time);
        self.chunks.insert(place, (amount, time));
    }

    fn run(&mut self, now: u64) {
        if self.inner.has_work(now) {
            self.inner.run(now);
        }
        if self.kind == ServerKind::Sporadic {
            self.used += 1;
            if self.used == self.chunks[0].0 {
                let (b, t) = self.chunks.remove(0);
                self.later(b, t + self.p);
                self.used = 0;
            }
        } else {
            self.left -= 1;
        }
    }
}
