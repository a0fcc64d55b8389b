//! What the system's own work adds to a set: the preemption-centric accounting of interrupts.
//!
//! Brandenburg, "Scheduling and locking in multiprocessor real-time operating systems", 2011, as Gracioli uses it for
//! EPOS. A core loses the share u₀ of its time to interrupts, and c_pre to those that may come at once:
//!
//! ```text
//! u₀    = (Δtick + Δrelease)/Q                  Q: period of the timer tick
//! c_pre = (Δtick + Δrelease)/(1 − u₀)
//! e'ᵢ   = (eᵢ + 2·(Δschedule + Δswitch) + Δcache)/(1 − u₀) + 2·c_pre + Δipi
//! ```
//!
//! A tickless system has no Q: every release is an interrupt of its own, so that over the n tasks of the core (or cluster, or
//! machine, under clustered and global policies) u₀ = Σ Δrelease/pᵢ and c_pre = n·Δrelease/(1 − u₀).
//! Δipi is charged under global and clustered policies.
//!
//! Overheads are measured for some numbers of tasks; a set of k takes those of the largest n ≤ k, after a running maximum over n. Where none is
//! that small, the smallest n counts. With `at_least = true` it is the smallest n ≥ k, which is on the safe side.

use crate::spec::Fault;
use serde::Deserialize;
use std::path::Path;
use tactus_analysis::generate::Task;
use tactus_analysis::global::set::Set;

/// How a policy places tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// One queue for all cores.
    Global = 0,
    /// One for each cluster.
    Clustered = 1,
    /// One for each core.
    Partitioned = 2,
}

/// `[[overhead]]` of a study file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    name: String,
    file: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Costs {
    tick_period: Option<String>,
    #[serde(default)]
    at_least: bool,
    #[serde(default = "microseconds")]
    scale: f64,
    global: Vec<Line>,
    clustered: Vec<Line>,
    partitioned: Vec<Line>,
}

fn microseconds() -> f64 {
    1.0
}

/// Microseconds, or numbers that `scale` makes microseconds of.
#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct Line {
    tasks: usize,
    release: f64,
    schedule: f64,
    switch: f64,
    #[serde(default)]
    tick: f64,
    #[serde(default)]
    ipi: f64,
}

/// What was measured with so many tasks, ns.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Measured {
    tasks: usize,
    tick: f64,
    release: f64,
    schedule: f64,
    switch: f64,
    ipi: f64,
}

/// Overheads of a system.
#[derive(Clone, PartialEq, Debug)]
pub struct Overhead {
    /// Name in the results.
    pub name: String,
    /// Q in ns; none without a tick.
    tick_period: Option<f64>,
    at_least: bool,
    /// By policy, then by number of tasks.
    measured: [Vec<Measured>; 3],
}

impl Overhead {
    /// A system that takes no time itself.
    pub fn none() -> Self {
        let nothing = vec![Measured::default()];
        Overhead {
            name: "none".into(),
            tick_period: None,
            at_least: false,
            measured: [nothing.clone(), nothing.clone(), nothing],
        }
    }

    /// What a study file names.
    pub fn read(named: &File, folder: &Path) -> Result<Overhead, Fault> {
        let Some(file) = &named.file else {
            return Ok(Overhead { name: named.name.clone(), ..Overhead::none() });
        };
        let path = folder.join(file);
        let told = |why: String| Fault::Value { key: format!("overhead {:?}", named.name), why };
        let text = tactus_model::read_ordinary_text(&path, crate::spec::MAX_FILE)
            .map_err(|e| told(format!("{}: {e}", path.display())))?;
        Overhead::parse(&named.name, &text).map_err(|why| told(format!("{}: {why}", path.display())))
    }

    /// Reads the text of a file of overheads.
    pub fn parse(name: &str, text: &str) -> Result<Overhead, String> {
        let costs: Costs = toml::from_str(text).map_err(|error| error.to_string())?;
        let tick_period = match &costs.tick_period {
            None => None,
            Some(text) => {
                let length = tactus_model::parse_duration(text).map_err(|error| format!("tick_period: {error}"))?;
                Some(length.as_nanos() as f64)
            }
        };
        if !(costs.scale.is_finite() && costs.scale > 0.0) {
            return Err("scale: write how many microseconds a unit has".into());
        }
        let lines = |key: &str, lines: &[Line]| -> Result<Vec<Measured>, String> {
            if lines.is_empty() {
                return Err(format!("{key}: give at least one line"));
            }
            let mut sorted = lines.to_vec();
            sorted.sort_by_key(|line| line.tasks);
            let mut most = Measured::default();
            let mut all = Vec::new();
            for line in &sorted {
                let given = [line.tick, line.release, line.schedule, line.switch, line.ipi];
                if given.iter().any(|x| !x.is_finite() || *x < 0.0) {
                    return Err(format!("{key}, {} tasks: a cost is a number of microseconds", line.tasks));
                }
                let highest = |old: f64, new: f64| old.max(new * costs.scale * 1000.0);
                most = Measured {
                    tasks: line.tasks,
                    tick: highest(most.tick, line.tick),
                    release: highest(most.release, line.release),
                    schedule: highest(most.schedule, line.schedule),
                    switch: highest(most.switch, line.switch),
                    ipi: highest(most.ipi, line.ipi),
                };
                all.push(most);
            }
            Ok(all)
        };
        Ok(Overhead {
            name: name.to_string(),
            tick_period,
            at_least: costs.at_least,
            measured: [
                lines("global", &costs.global)?,
                lines("clustered", &costs.clustered)?,
                lines("partitioned", &costs.partitioned)?,
            ],
        })
    }

    /// What counts for a set of k tasks.
    fn of(&self, policy: Policy, k: usize) -> Measured {
        let lines = &self.measured[policy as usize];
        let up_to = lines.partition_point(|line| line.tasks <= k);
        let place = if self.at_least { lines.partition_point(|line| line.tasks < k) } else { up_to.saturating_sub(1) };
        lines[place.min(lines.len() - 1)]
    }
}

/// The overheads that one set is charged with.
#[derive(Clone, Copy, Debug)]
pub struct Charged<'o> {
    overhead: &'o Overhead,
    costs: Measured,
    /// Δipi, where the policy needs it.
    ipi: f64,
    cache_delay: f64,
}

/// What lies in a bin: sums over its tasks.
#[derive(Clone, Copy, Default, Debug)]
pub struct Load {
    /// Σ e/p.
    share: f64,
    /// Σ 1/p.
    rate: f64,
    tasks: usize,
}

impl Load {
    /// The bin with one more task.
    pub fn with(&self, _: &Charged, task: &Task) -> Load {
        let period = task.period as f64;
        Load {
            share: self.share + task.execution as f64 / period,
            rate: self.rate + 1.0 / period,
            tasks: self.tasks + 1,
        }
    }

    /// Σ e'/p; infinite where interrupts take all time.
    pub fn utilisation(&self, charged: &Charged) -> f64 {
        let Some((kept, c_pre)) = charged.interrupts(self) else { return f64::INFINITY };
        (self.share + charged.per_job() * self.rate) / kept + (2.0 * c_pre + charged.ipi) * self.rate
    }
}

impl<'o> Charged<'o> {
    /// The overheads of a set of k tasks.
    pub fn new(overhead: &'o Overhead, policy: Policy, k: usize, cache_delay: f64) -> Self {
        let costs = overhead.of(policy, k);
        let ipi = if policy == Policy::Partitioned { 0.0 } else { costs.ipi };
        Charged { overhead, costs, ipi, cache_delay }
    }

    /// 2(Δschedule + Δswitch) + Δcache.
    fn per_job(&self) -> f64 {
        2.0 * (self.costs.schedule + self.costs.switch) + self.cache_delay
    }

    /// (1 − u₀, c_pre) where these tasks are released; nothing where u₀ ≥ 1.
    fn interrupts(&self, load: &Load) -> Option<(f64, f64)> {
        let (u0, at_once) = match self.overhead.tick_period {
            Some(q) => ((self.costs.tick + self.costs.release) / q, self.costs.tick + self.costs.release),
            None => (self.costs.release * load.rate, self.costs.release * load.tasks as f64),
        };
        (u0 < 1.0).then(|| (1.0 - u0, at_once / (1.0 - u0)))
    }

    /// Fills `set` with the chosen tasks, their execution times enlarged and rounded up. False where one no longer fits its deadline.
    pub fn fill(&self, tasks: &[Task], chosen: impl Iterator<Item = usize> + Clone, set: &mut Set) -> bool {
        set.clear();
        let load = chosen.clone().fold(Load::default(), |load, i| load.with(self, &tasks[i]));
        let Some((kept, c_pre)) = self.interrupts(&load) else { return false };
        let (before, after) = (self.per_job(), 2.0 * c_pre + self.ipi);
        let nothing = before == 0.0 && after == 0.0 && kept == 1.0;
        for i in chosen {
            let Task { execution, period, deadline } = tasks[i];
            let e = if nothing { execution } else { ((execution as f64 + before) / kept + after).ceil() as u64 };
            if e > deadline.min(period) {
                return false;
            }
            set.push(e, period, deadline);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: &str = "tick_period = '1 ms'
[[global]]
tasks = 15
tick = 2.0
release = 18.0
schedule = 4.0
switch = 5.0
ipi = 3.0
[[global]]
tasks = 5
tick = 2.0
release = 3.0
schedule = 9.0
switch = 5.0
ipi = 3.0
[[clustered]]
tasks = 5
release = 1.0
schedule = 1.0
switch = 1.0
[[partitioned]]
tasks = 5
release = 1.0
schedule = 1.0
switch = 1.0
";

    #[test]
    fn inflation_is_the_published_formula() {
        let overhead = Overhead::parse("x", TICK).expect("a good file");
        let charged = Charged::new(&overhead, Policy::Global, 20, 100_000.0);
        let mut set = Set::new();
        let tasks = [Task { execution: 1_000_000, period: 10_000_000, deadline: 10_000_000 }];
        assert!(charged.fill(&tasks, 0..1, &mut set));
        // By hand: u0 = 20/1000; c_pre = 20/0.98; e' = (1000 + 2(9 + 5) + 100)/0.98 + 2·20/0.98 + 3 µs.
        let by_hand = (1000.0 + 28.0 + 100.0) / 0.98 + 2.0 * 20.0 / 0.98 + 3.0;
        assert!((set.c[0] / 1000.0 - by_hand).abs() < 0.002, "{} {by_hand}", set.c[0]);
    }

    #[test]
    fn a_set_takes_the_largest_measured_number_below_it_after_the_running_maximum() {
        let overhead = Overhead::parse("x", TICK).expect("a good file");
        // The schedule cost of 5 tasks is above that of 15, so 15 take it over.
        assert_eq!(overhead.of(Policy::Global, 14).release, 3_000.0);
        assert_eq!(overhead.of(Policy::Global, 20).release, 18_000.0);
        assert_eq!(overhead.of(Policy::Global, 20).schedule, 9_000.0);
        assert_eq!(overhead.of(Policy::Global, 1).release, 3_000.0);
        let safe = Overhead { at_least: true, ..overhead };
        assert_eq!(safe.of(Policy::Global, 6).release, 18_000.0);
    }
}
