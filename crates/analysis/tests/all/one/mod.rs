//! One processor in unit steps over a list of jobs: the falsifier of the tests for one core, written the plain way.
#![allow(dead_code)]

use super::common::Dice;

/// One job.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    pub task: usize,
    /// Responses count from here.
    pub arrival: u64,
    /// It may run from here.
    pub release: u64,
    /// The smaller, the more urgent; then the task, then the arrival.
    pub urgency: u64,
    pub left: u64,
}

/// The longest response of every task: `jobs` in any order, `can_run(t)` whether the processor serves them in [t, t+1).
/// Without preemption a started job runs on to its end.
pub fn run(jobs: &mut [Job], tasks: usize, preemptive: bool, can_run: impl Fn(u64) -> bool) -> Vec<u64> {
    jobs.sort_by_key(|j| (j.release, j.task));
    let mut worst = vec![0; tasks];
    let mut pending: Vec<Job> = Vec::new();
    let (mut next, mut now) = (0, 0);
    let mut running: Option<(usize, u64)> = None;
    while next < jobs.len() || !pending.is_empty() {
        while next < jobs.len() && jobs[next].release <= now {
            pending.push(jobs[next]);
            next += 1;
        }
        if pending.is_empty() {
            now = jobs[next].release;
            continue;
        }
        if can_run(now) {
            let place = (0..pending.len())
                .min_by_key(|&i| {
                    let j = &pending[i];
                    let going = !preemptive && running == Some((j.task, j.arrival));
                    (!going, j.urgency, j.task, j.arrival)
                })
                .unwrap();
            let job = &mut pending[place];
            running = Some((job.task, job.arrival));
            job.left -= 1;
            if job.left == 0 {
                worst[job.task] = worst[job.task].max(now + 1 - job.arrival);
                pending.swap_remove(place);
                running = None;
            }
        }
        now += 1;
        assert!(now < 1_000_000, "the processor never catches up");
    }
    worst
}

/// The jobs of a task that arrive before `until`: first at `first`, then `period` apart, each later by up to `late`
/// more; released within `jitter`.
#[allow(clippy::too_many_arguments)]
pub fn arrivals(
    jobs: &mut Vec<Job>,
    task: usize,
    (c, period, jitter): (u64, u64, u64),
    urgency: impl Fn(u64) -> u64,
    first: u64,
    until: u64,
    late: u64,
    dice: &mut Dice,
) {
    let mut arrival = first;
    while arrival < until {
        let release = arrival + if jitter > 0 { dice.between(0, jitter) } else { 0 };
        jobs.push(Job { task, arrival, release, urgency: urgency(arrival), left: c });
        arrival += period + if late > 0 { dice.between(0, late) } else { 0 };
    }
}
