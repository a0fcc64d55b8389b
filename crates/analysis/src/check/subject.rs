//! A system as its tests are chosen for: the features of each task with those of whoever can delay it.

use super::rank::Rank;
use super::report::TaskVerdict;
use tactus_model::{Overrun, Policy, System, SystemFeatures, TaskOrder};
use tactus_task::{Feature, Features};
use tactus_time::{CoreSet, Duration, Level};

/// A system, and who can delay whom in it.
pub(super) struct Subject<'s> {
    pub system: &'s System,
    features: SystemFeatures,
    /// By task.
    delayed: Vec<Delayed>,
    /// By task, why nobody knows what other cores or preemptions add to its jobs.
    unknown: &'s [Option<String>],
    /// What an entry of the scheduler costs.
    entry: Duration,
}

/// Who can delay a task.
struct Delayed {
    /// Tasks, itself among them.
    by: Vec<usize>,
    /// Servers, which it is in, and those beside or inside of these.
    servers: Vec<usize>,
    /// Of all of them, with what the whole system has.
    features: Features,
}

impl<'s> Subject<'s> {
    /// `whole`: what is known beside what the system says; `unknown`: what nobody knows, and why, by task; `entry`: what an entry of the
    /// scheduler costs.
    pub fn of(system: &'s System, whole: Features, unknown: &'s [Option<String>], entry: Duration) -> Subject<'s> {
        let mut features = system.features();
        features.whole = features.whole.and(whole);
        let queues: Vec<CoreSet> = (0..system.tasks.len()).map(|n| system.queue_of(n)).collect();
        let one = |n| delayed(system, &features, &queues, n);
        let delayed = (0..system.tasks.len()).map(one).collect();
        Subject { system, features, delayed, unknown, entry }
    }

    /// The features of a task, of those who can delay it, and of the whole.
    pub fn features(&self, n: usize) -> Features {
        self.delayed[n].features
    }

    /// The name of whoever has the feature: the task itself, a task or a server that can delay it, any other task, or a component. An order is that of
    /// all of them.
    pub fn owner(&self, n: usize, feature: Feature) -> Option<&str> {
        if TaskOrder::ALL.into_iter().any(|order| Feature::from(order) == feature) {
            return None;
        }
        let Delayed { by, servers, .. } = &self.delayed[n];
        let all: Vec<usize> = (0..self.system.tasks.len()).collect();
        let task = std::iter::once(&n).chain(by).chain(&all).find(|i| self.features.tasks[**i].has(feature));
        let server = servers.iter().find(|s| self.features.servers[**s].has(feature));
        let component = self.features.components.iter().position(|it| it.has(feature));
        let System { tasks, scheduling, components, .. } = self.system;
        let task = task.map(|i| tasks[*i].name.as_str());
        let server = server.map(|s| scheduling.servers[*s].name.as_str());
        task.or(server).or(component.map(|c| components[c].name.as_str()))
    }

    /// Why no bound holds: the overrun rule ends jobs that are in time, or other cores, or preemptions, may lengthen a job of the task, or of
    /// somebody who can delay it, by more than is known.
    pub fn unknown(&self, n: usize) -> Option<String> {
        let place = self.system.scheduling.places.get(n);
        let bursts = place.is_some_and(|place| place.release.burst().is_some());
        if bursts || self.features.tasks[n].has(Feature::ArbitraryDeadline) {
            match place.map_or(Overrun::Continue, |place| place.overrun) {
                Overrun::Skip => return Some("no bound: a release is left out while the job before is in time".into()),
                Overrun::Stop => return Some("no bound: a job in time may stop at the next release".into()),
                Overrun::Continue | Overrun::Kill => {}
            }
        }
        let why = self.delayed[n].by.iter().find_map(|i| self.unknown.get(*i)?.as_ref())?;
        Some(format!("no bound: what {why}"))
    }

    /// Tasks that can delay this one, itself among them, and stop when their time is used up, which gives them that much anew in each period
    /// and no more. By a number that it keeps, such a task takes no more than that of others, whether or not it is late; in any other order
    /// a job that goes on in the next period has the urgency of an old one.
    fn stopping(&self, n: usize) -> impl Iterator<Item = usize> + '_ {
        let stops = |i: usize| self.system.scheduling.places.get(i).is_some_and(|place| place.overrun == Overrun::Stop);
        let fixed =
            |i: usize| self.system.order_of_queue(i).is_none_or(|order| matches!(Rank::of(order), Rank::Fixed(_)));
        self.delayed[n].by.iter().copied().filter(move |&i| stops(i) && (i == n || !fixed(i)))
    }

    /// The verdict on a task beside those that stop, from what its test says: nothing is shown while the system's own work costs something,
    /// since that is paid from their time too, so that a job which takes all of its time may not end in its period; nor while one of
    /// them is not shown to end in its period. `in_time` says so of each.
    pub fn beside_stopping(&self, n: usize, verdict: TaskVerdict, in_time: impl Fn(usize) -> bool) -> TaskVerdict {
        let lasts = |i: &usize| !self.entry.is_zero() || !in_time(*i);
        let Some(i) = self.stopping(n).find(lasts) else { return verdict };
        match verdict {
            TaskVerdict::Fails { bound: _, why, by } => TaskVerdict::Fails { bound: None, why, by },
            TaskVerdict::Untested(why) => TaskVerdict::Untested(why),
            TaskVerdict::Bounded { .. } => TaskVerdict::Untested(format!(
                "no test: task `{}` stops after its execution time and may go on in a later period{}",
                self.system.tasks[i].name,
                match i == n {
                    true => ", since the system's own work is paid from it too",
                    false => ", then as urgent as an old job",
                }
            )),
        }
    }
}

fn delayed(system: &System, features: &SystemFeatures, queues: &[CoreSet], n: usize) -> Delayed {
    let by: Vec<usize> = (0..system.tasks.len()).filter(|&i| i == n || can_delay(system, queues, i, n)).collect();
    let own = queues[n];
    let around: Vec<Option<usize>> = system.around(n).map(Some).chain([None]).collect();
    let beside = |s: &usize| {
        let server = &system.scheduling.servers[*s];
        // Partitions have their windows.
        let apart = system.policy == Policy::Partitions && system.home(n) != Some(*s);
        !apart && around.contains(&server.parent) && server.cores.bits() & own.bits() != 0
    };
    let servers: Vec<usize> = (0..system.scheduling.servers.len()).filter(beside).collect();
    let orders = system.around(n).map(|s| system.scheduling.servers[s].order);
    let orders = orders.chain(system.policy.root().map(|(_, order)| order));
    // What orders the queue of the task, and the servers that it is in.
    let orders: Features = orders.map(Feature::from).collect();
    let tasks = by.iter().map(|i| features.tasks[*i]);
    let all = tasks.chain(servers.iter().map(|s| features.servers[*s])).chain(features.components.iter().copied());
    let features = all.fold(features.whole.and(orders), Features::and);
    Delayed { by, servers, features }
}

/// Whether another task can take time that a job of this one wants, or hold what it wants. `queues`: the cores of each task.
fn can_delay(system: &System, queues: &[CoreSet], i: usize, n: usize) -> bool {
    let (task, other) = (&system.tasks[n], &system.tasks[i]);
    match system.policy {
        Policy::Mixed(_) => other.core == task.core,
        // What is in another partition has its own windows.
        Policy::Partitions => system.home(i) == system.home(n) && other.core == task.core,
        Policy::Mc2 { .. } => match (task.level, other.level) {
            (_, Some(Level::D) | None) | (Some(Level::D) | None, _) => false,
            // A level waits for those above it, and for itself.
            (Some(own), Some(level)) if level > own => false,
            (Some(Level::C), _) => true,
            (Some(Level::A | Level::B), _) => other.core == task.core,
        },
        Policy::PartitionedRm
        | Policy::PartitionedEdf
        | Policy::GlobalRm
        | Policy::GlobalEdf
        | Policy::Ordered { .. } => {
            if !system.scheduling.servers.is_empty() {
                // Whoever is in a server around the task, or beside it; what is in another server has its budget.
                let home = system.home(i);
                let around = home.is_none() || system.around(n).any(|s| Some(s) == home);
                return around && queues[i].bits() & queues[n].bits() != 0;
            }
            queues[i] == queues[n] && (is_before(system, i, n) || keeps_others_off(system, i))
        }
    }
}

/// Whether a task may be as urgent as another one of its queue.
fn is_before(system: &System, i: usize, n: usize) -> bool {
    let Some((_, order)) = system.policy.root() else { return true };
    match Rank::of(order) {
        rank @ Rank::Fixed(_) => (rank.key(system, i), i) < (rank.key(system, n), n),
        Rank::Edf | Rank::Other(_) => true,
    }
}

/// Whether a job that has begun may go on before a more urgent one.
fn keeps_others_off(system: &System, i: usize) -> bool {
    let threshold = system.scheduling.places.get(i).and_then(|place| place.threshold);
    threshold.is_some() || !system.scheduling.sections_of(i).is_empty()
}
