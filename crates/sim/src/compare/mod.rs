//! A free run beside a trace of the kernel: the same jobs on the same cores in the same order?
//!
//! A kernel's run shifts in time against a free run, because its work takes time. Where two events of the free run lie
//! closer together than that shift, the kernel may meet them in the other order, and from there on the runs are
//! different though both are right. Each first difference is therefore put into one of three classes ([`Cause`]).
//! Whether *every* decision is the policy's own is what [`lockstep`](crate::lockstep) tells; this tells how far
//! a run without costs foresees a run on the machine, and by how much the times differ.

mod drift;
mod laxity;
mod points;
mod steps;

pub use drift::explain;
use points::Points;
use std::fmt;
use steps::Steps;
use tactus_policy::{Partitions, PolicyConfig, PolicySpec, ReconfigurableTree, Resource, ResourceUser, Tree};
use tactus_task::Costs;
use tactus_task::JobSteps;
use tactus_time::{CoreId, Duration, Instant, TaskId};
use tactus_trace::Trace;

/// Whether several cores take from one queue.
fn shares_queues(tree: &Tree) -> bool {
    tree.servers.iter().flat_map(|server| &server.queues).any(|queue| queue.iter().nth(1).is_some())
}

/// A core begins to run a job, or the job is finished there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// When.
    pub time: Instant,
    /// Whose job.
    pub task: TaskId,
    /// Which one.
    pub job: u32,
    /// Whether it is finished, as opposed to begun or gone on with.
    pub finished: bool,
}

impl Step {
    fn what(&self) -> (TaskId, u32, bool) {
        (self.task, self.job, self.finished)
    }
}

/// Why two runs part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Two events of the free run lay so close together that the kernel could meet them in another order.
    Race {
        /// The earlier event.
        first: Instant,
        /// The later event.
        second: Instant,
    },
    /// Another core's run had diverged before, and the policy ties the cores together.
    Consequence {
        /// That core.
        of: CoreId,
    },
    /// Budgets, deadlines of servers, laxities and turns follow when work ran, so that every shift moves all that comes after:
    /// a simulation whose own work takes some of the time that the machine's took does as the machine did ([`explain`]).
    Drift {
        /// What that work took.
        costs: Costs,
    },
    /// None of these: one of the two runs is wrong.
    Disagreement,
}

/// The first place where a core's two runs part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// How many steps were equal before it.
    pub place: usize,
    /// The free run's step, if it has one.
    pub expected: Option<Step>,
    /// The kernel's step, if it has one.
    pub found: Option<Step>,
    /// Why.
    pub cause: Cause,
}

impl Divergence {
    fn time(&self) -> Instant {
        let time = |step: Option<Step>| step.map_or(Instant::NEVER, |s| s.time);
        time(self.expected).min(time(self.found))
    }
}

/// What was found on one core, up to the first divergence.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OnCore {
    /// Jobs that both runs began to run, or went on with, in the same order.
    pub dispatches: usize,
    /// The largest difference in time between them.
    pub dispatch_difference: Duration,
    /// Jobs that both finished.
    pub completions: usize,
    /// The largest difference in time between them.
    pub completion_difference: Duration,
    /// Where the runs first differ in what only the policy sees: a ghost, a used-up budget, a preemption that
    /// leaves the order of jobs as it is. A job that misses its slot or its budget by a microsecond waits for the
    /// next, so that from here on times are not compared, only the order.
    pub diverged: Option<Instant>,
    /// The system's own work in the kernel's trace so far: time-outs from expiry to notice, and turns of the
    /// scheduler.
    pub overhead: Duration,
    /// The first divergence, if there is one.
    pub divergence: Option<Divergence>,
}

impl OnCore {
    /// The largest difference in time between equal steps.
    pub fn largest_difference(&self) -> Duration {
        self.dispatch_difference.max(self.completion_difference)
    }
}

/// What was found on all cores.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Comparison {
    /// Core by core.
    pub cores: Vec<OnCore>,
}

impl Comparison {
    /// Whether no difference is left that a race does not explain.
    pub fn agrees(&self) -> bool {
        !self.divergences().any(|(_, d)| d.cause == Cause::Disagreement)
    }
    /// Whether the runs are the same to the end on every core.
    pub fn is_equal(&self) -> bool {
        self.divergences().next().is_none()
    }
    /// Equal steps on all cores.
    pub fn steps(&self) -> usize {
        self.cores.iter().map(|c| c.dispatches + c.completions).sum()
    }
    /// The largest difference in time on any core.
    pub fn largest_difference(&self) -> Duration {
        self.cores.iter().map(OnCore::largest_difference).max().unwrap_or_default()
    }
    /// The cores whose runs part.
    pub fn divergences(&self) -> impl Iterator<Item = (CoreId, &Divergence)> {
        let cores = self.cores.iter().enumerate();
        cores.filter_map(|(core, c)| Some((CoreId(core as u8), c.divergence.as_ref()?)))
    }
}

/// Lays the trace of a free run (`expected`) beside the kernel's (`found`), both of the system that `setup` was made
/// for.
///
/// `demand` is as in [`lockstep`](crate::lockstep::lockstep), and `jobs` is what jobs do beside executing. Two events are a race if they lie within the tolerance plus
/// the shift of the kernel's run at that point: the largest difference in time seen so far on any core, or what jobs
/// were charged beyond their demand since the core was last idle, or how far it is
/// behind with the job that finishes there, as far as the system's work in the whole run so far can have caused that;
/// whichever is most.
pub fn compare(
    setup: &PolicyConfig,
    (mut demand, jobs): (impl FnMut(TaskId, u32) -> Option<Duration>, &JobSteps),
    expected: &Trace,
    found: &Trace,
    tolerance: Duration,
) -> Comparison {
    let points = Points::of(setup, expected, (&mut demand, jobs));
    let (left, right) = (Steps::of(expected), Steps::of(found));
    let mut cores: Vec<OnCore> = (0..setup.cores).map(|core| steps::common(&left, &right, core, tolerance)).collect();

    let together = match &setup.kind {
        PolicySpec::PartitionedRm | PolicySpec::PartitionedDm | PolicySpec::PartitionedEdf => false,
        PolicySpec::PartitionedFp(_)
        | PolicySpec::Mixed(_)
        | PolicySpec::ReconfigurableMixed(_)
        | PolicySpec::PerServer(_) => false,
        PolicySpec::Servers(tree)
        | PolicySpec::Partitions(Partitions { tree, .. })
        | PolicySpec::ReconfigurableTree(ReconfigurableTree { tree, .. }) => shares_queues(tree),
        // Who waits for what another core holds, or signals, waits longer if that one is late.
        PolicySpec::Resources(all) => {
            let core = |user: &ResourceUser| setup.tasks.get(user.task.index()).and_then(|task| task.core);
            let spans = |resource: &Resource| {
                let mut cores = resource.users.iter().map(core);
                let first = cores.next();
                cores.any(|core| Some(core) != first)
            };
            shares_queues(&all.tree) || !all.events.is_empty() || all.resources.iter().any(spans)
        }
        PolicySpec::GlobalRm | PolicySpec::GlobalDm | PolicySpec::GlobalEdf | PolicySpec::GlobalFp(_) => true,
        PolicySpec::ClusteredRm(given)
        | PolicySpec::ClusteredDm(given)
        | PolicySpec::ClusteredEdf(given)
        | PolicySpec::ClusteredFp(given) => given.sets.len() < setup.cores,
        kind => kind.is_mc2(),
    };
    let mut order: Vec<usize> = (0..cores.len()).filter(|core| cores[*core].divergence.is_some()).collect();
    order.sort_by_key(|core| cores[*core].divergence.map(|d| d.time()));
    let earliest = order.first().copied();
    // What lies behind the first divergence of tied cores is no common prefix any more.
    let until = match earliest {
        Some(first) if together => cores[first].divergence.map_or(Instant::NEVER, |d| d.time()),
        _ => Instant::NEVER,
    };
    for (core, on_core) in cores.iter_mut().enumerate() {
        let first = |cores: &mut dyn Iterator<Item = usize>| {
            cores.filter_map(|c| steps::inner_difference(&left, &right, c)).map(|(time, _)| time).min()
        };
        let others = first(&mut (0..setup.cores).filter(|c| together && *c != core));
        let diverged = first(&mut std::iter::once(core)).into_iter().chain(others).min();
        steps::cut(&left, &right, core, until, others.unwrap_or(Instant::NEVER), on_core);
        on_core.diverged = diverged;
        on_core.overhead = steps::overhead(found, core, on_core.divergence.map_or(until, |d| d.time().min(until)));
    }
    let work: Duration = cores.iter().map(|c| c.overhead).sum();
    let seen = cores.iter().map(OnCore::largest_difference).max().unwrap_or_default();
    for core in order {
        let Some(divergence) = &mut cores[core].divergence else { continue };
        let here = if together { None } else { Some(CoreId(core as u8)) };
        let tied = (0..setup.cores).filter(|c| together || *c == core);
        let overrun: Duration = tied.map(|c| steps::overrun(found, c, divergence.time(), &mut demand)).sum();
        let lag = steps::lag((expected, &left), (found, &right), core, divergence, &mut demand).min(work);
        let window = Duration::from_nanos(tolerance.as_nanos().saturating_add(seen.max(overrun).max(lag).as_nanos()));
        let inner = (0..setup.cores).filter(|c| together || *c == core);
        let inner = inner.filter_map(|core| steps::inner_difference(&left, &right, core)).min();
        let race = |time| points.race(time, window, here);
        let inner_race = || match inner? {
            (time, Some(budget)) if budget <= window => Some((time, time.saturating_add(budget))),
            (time, _) => race(time),
        };
        // A turn that ended, or not, as something more urgent came: who is next shows when that is done.
        let turned = steps::left_before(&left, core, divergence);
        let hidden_turn = || points.hidden_turn(turned?, window, here);
        // A job that may hold what another one asks for later.
        let holders = [divergence.expected, divergence.found].into_iter().flatten().filter(|step| !step.finished);
        let holders =
            holders.filter_map(|step| Some((step.task, steps::left_task(&left, core, step.task, divergence)?)));
        let hidden_section = || holders.into_iter().find_map(|it| points.hidden_section(it, window));
        let near = |(first, second): &(Instant, Instant)| second.since(*first) <= window;
        let laxities = || laxity::latest_starts(setup, &mut demand, expected, divergence).filter(near);
        let race =
            race(divergence.time()).or_else(inner_race).or_else(hidden_turn).or_else(hidden_section).or_else(laxities);
        divergence.cause = match (race, earliest) {
            (_, Some(first)) if together && first != core => Cause::Consequence { of: CoreId(first as u8) },
            (Some((first, second)), _) => Cause::Race { first, second },
            (None, _) => Cause::Disagreement,
        };
    }
    Comparison { cores }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.finished { "finished" } else { "runs" };
        write!(f, "task {} job {} {what} at {} ns", self.task.0, self.job, self.time.as_nanos())
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Race { first, second } => {
                let apart = second.since(*first);
                write!(f, "a race: events at {} ns and {} ns lie {apart} apart", first.as_nanos(), second.as_nanos())
            }
            Cause::Consequence { of } => write!(f, "a consequence of what happened before on core {of}"),
            Cause::Drift { costs } => {
                write!(f, "a drift: with {} for each turn of the scheduler a simulation does the same", costs.schedule)
            }
            Cause::Disagreement => f.write_str("a disagreement: no race explains it"),
        }
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = |s: &Option<Step>| s.map_or("nothing more".to_owned(), |s| s.to_string());
        write!(f, "after {} equal steps: {}", self.place, self.cause)?;
        write!(f, "\n  expected  {}\n  found     {}", step(&self.expected), step(&self.found))
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} equal steps, times differ by at most {}", self.steps(), self.largest_difference())?;
        for (core, divergence) in self.divergences() {
            write!(f, "\ncore {core} {divergence}")?;
        }
        Ok(())
    }
}
