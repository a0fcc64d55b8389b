//! Random systems that have given features, whatever else they have: for each feature and each pair, and for all of them together.
//!
//! They are made of the types of a system and not of a file, so that some of them have what no file may say together: whoever judges them
//! has to know that no test covers it.

mod donor;
mod frame;
mod what_jobs_do;

use crate::random::Random;
use frame::{Frame, Kind};
use tactus_model::{Feature, System};
use tactus_time::{CoreSet, Duration};

/// The most features that are wished for at once.
const MOST: u64 = 8;

/// A small random system on two cores that has these features, with about this share of each core asked for; nothing if one of them rules
/// another one out.
pub fn featured(wanted: &[Feature], seed: u64, load: f64) -> Option<System> {
    let mut random = Random::new(seed ^ 0x6665_6174);
    let kind = Kind::of(wanted, &mut random)?;
    let mut system = Frame::new(kind, wanted, &mut random).system(load, seed);
    for feature in wanted {
        add(*feature, &mut system, &mut random);
    }
    let has = system.features().all();
    wanted.iter().all(|feature| has.has(*feature)).then_some(system)
}

/// The system of this seed among those with up to eight features drawn from all; from light loads to far too much.
pub fn everything(seed: u64) -> System {
    let mut random = Random::new(seed ^ 0x616c_6c21);
    loop {
        let wanted: Vec<Feature> = (0..random.between(0, MOST)).map(|_| *random.of(Feature::ALL)).collect();
        let load = random.log_uniform(0.05, 1.4);
        if let Some(mut system) = featured(&wanted, random.between(0, u64::MAX >> 1), load) {
            system.name = format!("everything-{seed}");
            return system;
        }
    }
}

/// Lengthens all execution times so that each core is asked for more than it has by its tasks that are not best effort. Whether there are
/// such tasks.
pub fn overload(system: &mut System) -> bool {
    let best_effort = |n: &usize| {
        let yields = system.home(*n).is_some_and(|s| system.scheduling.servers[s].kind.yields());
        let release = system.scheduling.places[*n].release;
        let as_it_comes = system.home(*n).is_some() && release.burst().is_some();
        yields || as_it_comes || release.predecessor().is_some_and(|before| before.index() == *n)
    };
    let counts: Vec<CoreSet> =
        (0..system.tasks.len()).filter(|n| !best_effort(n)).map(|n| system.queue_of(n)).collect();
    for n in 0..system.tasks.len() {
        let queue = system.queue_of(n);
        let task = &mut system.tasks[n];
        // Where two share a core, none is longer than its period; few on many cores have to be.
        let (many, cores) = (counts.iter().filter(|other| **other == queue).count(), queue.iter().count());
        let share = (100 * cores as u64 / many.max(1) as u64 + 1).max(70);
        let long = Duration::from_nanos(task.period.as_nanos() / 100 * share);
        task.deadline = task.deadline.max(long);
        task.execution.iter_mut().flatten().for_each(|time| *time = long);
        task.demand = tactus_model::Demand::Fixed(long);
    }
    !counts.is_empty()
}

/// Has the system have a feature, if that is possible with what it has already. What the frame has brought is not added again.
fn add(feature: Feature, system: &mut System, random: &mut Random) {
    use what_jobs_do as jobs;
    match feature {
        Feature::Offset
        | Feature::Sporadic
        | Feature::Burst
        | Feature::Jitter
        | Feature::After
        | Feature::AfterItself
        | Feature::Interrupt
        | Feature::Message
        | Feature::Raised
        | Feature::Handler
        | Feature::ConstrainedDeadline
        | Feature::ArbitraryDeadline
        | Feature::VirtualDeadline => jobs::releases(feature, system, random),
        Feature::SectionNonPreemptive
        | Feature::SectionCeiling
        | Feature::SectionInheritance
        | Feature::SectionMsrp
        | Feature::SectionFmlp
        | Feature::SectionAcrossCores
        | Feature::NestedSections
        | Feature::Withdrawn => jobs::sections(feature, system, random),
        Feature::PreemptionThreshold
        | Feature::Wait
        | Feature::Condition
        | Feature::Semaphore
        | Feature::Barrier
        | Feature::Signal
        | Feature::Skip
        | Feature::Stop
        | Feature::Kill
        | Feature::Component
        | Feature::Channel
        | Feature::Service => jobs::steps(feature, system, random),
        Feature::ServerMisses
        | Feature::Reconfiguration
        | Feature::ForeignRoot
        | Feature::Ticks
        | Feature::Lines
        | Feature::Monitor
        | Feature::Disk
        | Feature::Colours
        | Feature::Caches
        | Feature::MissCost => donor::give(feature, system),
        // The frame is chosen so that it has them.
        Feature::FixedPriority
        | Feature::RateMonotonic
        | Feature::DeadlineMonotonic
        | Feature::EarliestDeadline
        | Feature::LeastLaxity
        | Feature::LaxityAtRelease
        | Feature::ShortestJob
        | Feature::SlackMonotonic
        | Feature::FirstComeFirstServed
        | Feature::RoundRobin
        | Feature::FixedPriorityRoundRobin
        | Feature::SharedQueue
        | Feature::ServerPeriodic
        | Feature::ServerPolling
        | Feature::ServerSporadicPolling
        | Feature::ServerDeferrable
        | Feature::ServerSporadic
        | Feature::ServerSoftBandwidth
        | Feature::ServerHardBandwidth
        | Feature::ServerPriorityInheriting
        | Feature::ServerReclaiming
        | Feature::ServerWindows
        | Feature::ServerYieldingToChanged
        | Feature::ServerYieldingToMisses
        | Feature::NestedServer
        | Feature::Background
        | Feature::SchedulerPerServer
        | Feature::Schedules
        | Feature::StartFrame
        | Feature::Amc
        | Feature::EdfVd
        | Feature::LevelA
        | Feature::LevelB
        | Feature::LevelC
        | Feature::LevelD
        | Feature::Unenforced
        | Feature::SlackShifting => {}
    }
}
