//! When jobs arrive, where the system file tells it: for the simulator.

use crate::demand::stream;
use crate::System;
use rand_xoshiro::rand_core::Rng;
use tactus_task::ReleaseGuard;
use tactus_time::{Duration, Instant, TaskId};

/// The arrivals of a sporadic task, one after another, without end.
#[derive(Clone, Debug)]
pub struct Arrivals {
    task: TaskId,
    seed: u64,
    least: Duration,
    longest: Duration,
    number: u32,
    last: Instant,
    /// Where they come in bursts.
    guard: Option<ReleaseGuard>,
}

impl System {
    /// Whether violations of a monitor's property release the task's jobs, and nothing else does.
    pub fn handles(&self, task: TaskId) -> bool {
        let name = self.tasks.get(task.index()).map(|task| &task.name);
        self.monitors
            .iter()
            .any(|it| matches!(&it.action, tactus_monitor::Action::Run(handler) if Some(handler) == name))
    }

    /// The arrivals of each sporadic task but of those that handle violations. Where they come in bursts, distances are drawn from zero on, and what would come too early
    /// comes as soon as it may. Where the file gives a longest distance, distances are uniform between the period and
    /// that; else they come as close as they may, the first at time zero, which no test finds better than anything else.
    pub fn arrivals(&self) -> Vec<(TaskId, Arrivals)> {
        let sporadic = |(n, place): (usize, &crate::TaskPlacement)| {
            let (task, least) = (TaskId(n as u16), self.tasks[n].period);
            let longest = place.longest_distance.unwrap_or(least);
            let guard = place.release.burst().map(|burst| ReleaseGuard::new(least, Some(burst)));
            let longest = if guard.is_some() { place.longest_distance.unwrap_or_default() } else { longest };
            let last = Instant::ZERO;
            let arrivals = Arrivals { task, seed: self.seed, least, longest, number: 0, last, guard };
            (place.release.is_from_outside() && !self.handles(task)).then_some((task, arrivals))
        };
        self.scheduling.places.iter().enumerate().filter_map(sporadic).collect()
    }
}

impl Iterator for Arrivals {
    type Item = Instant;

    fn next(&mut self) -> Option<Instant> {
        if let Some(guard) = &mut self.guard {
            // As early as it may be after a distance that is drawn.
            let drawn = stream(!self.seed, self.task, self.number).next_u64()
                % self.longest.as_nanos().saturating_add(1).max(1);
            let drawn = if self.number == 0 { 0 } else { drawn };
            self.number = self.number.wrapping_add(1);
            self.last = guard.nominal(self.last.saturating_add(Duration::from_nanos(drawn)));
            guard.release(self.last);
            return Some(self.last);
        }
        let spread = self.longest.saturating_sub(self.least).as_nanos();
        // Another stream than that of the job's demand.
        let drawn = stream(!self.seed, self.task, self.number).next_u64() % spread.saturating_add(1).max(1);
        let least = if self.number == 0 { Duration::ZERO } else { self.least };
        self.number = self.number.wrapping_add(1);
        self.last = self.last.saturating_add(least).saturating_add(Duration::from_nanos(drawn));
        Some(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn arrivals(more: &str) -> Vec<Duration> {
        let text = format!(
            "[system]\ncores = 1\nduration = '1 s'\n[policy]\nkind = 'partitioned-edf'\n[[task]]\nname = 'a'\ncore = 0\n\
             period = '10 ms'\nexecution = '1 ms'\n{more}"
        );
        let system = System::parse_toml(&text, Path::new("a.toml")).expect("a good file");
        let [(_, arrivals)] = &system.arrivals()[..] else { panic!("one task is sporadic") };
        arrivals.clone().take(1_000).map(|at| at.since(Instant::ZERO)).collect()
    }

    #[test]
    fn arrivals_come_as_close_as_they_may_or_as_far_as_the_file_says() {
        let close = arrivals("release = 'sporadic'\n");
        assert!(close.iter().enumerate().all(|(n, at)| *at == Duration::from_millis(10) * n as u64));
        let drawn = arrivals("release = 'sporadic'\nlongest-distance = '15 ms'\n");
        let distances: Vec<Duration> = drawn.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        let (least, longest) = (distances.iter().min().copied(), distances.iter().max().copied());
        let ms = |n: u64, tenths: u64| Some(Duration::from_micros(n * 1_000 + tenths * 100));
        assert!(least >= ms(10, 0) && least < ms(10, 1), "{least:?}");
        assert!(longest <= ms(15, 0) && longest > ms(14, 9), "{longest:?}");
    }
}
