//! What a system can have that can make a theorem of schedulability untrue.
//!
//! A feature is set by what the system file says, and by nothing else. A test lists the features that its theorem covers; whoever meets one
//! that no test lists is promised nothing. So a new feature is untested until a test lists it.

use crate::{OrderBasis, Overrun, ResourceProtocol, TaskOrder};
use tactus_time::Level;

/// Makes the enum, the list of all and their words from one row each.
macro_rules! features {
    ($($(#[$doc:meta])* $name:ident: $words:literal,)*) => {
        /// Something that a system can have and that can make a theorem untrue.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Feature {
            $($(#[$doc])* $name,)*
        }

        impl Feature {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [Feature] = &[$(Feature::$name,)*];

            /// What it is, for people.
            pub const fn words(self) -> &'static str {
                match self {
                    $(Feature::$name => $words,)*
                }
            }
        }
    };
}

features! {
    // What releases jobs.
    /// The first job comes later than the start.
    Offset: "offsets",
    /// Arrivals from outside, a period apart at least.
    Sporadic: "sporadic releases",
    /// Arrivals from outside that may bunch.
    Burst: "arrivals in bursts",
    /// Jobs that time releases, or as much later as the jitter says.
    Jitter: "release jitter",
    /// Completions of another task release jobs.
    After: "releases by another task's end",
    /// A job is released by the end of the one before it.
    AfterItself: "releases by the task's own end",
    /// A device releases jobs.
    Interrupt: "releases by interrupts",
    /// Messages of a component release jobs.
    Message: "releases by messages",
    /// A component raises the arrivals.
    Raised: "releases that a component raises",
    /// Violations of a monitor release jobs.
    Handler: "releases by violations of a monitor",
    // Deadlines.
    /// A deadline before the next release.
    ConstrainedDeadline: "deadlines shorter than periods",
    /// A deadline after the next release.
    ArbitraryDeadline: "deadlines longer than periods",
    /// A virtual deadline that the file gives.
    VirtualDeadline: "virtual deadlines of the file",
    // What jobs do.
    /// Sections without preemption, on a resource of one core.
    SectionNonPreemptive: "non-preemptive sections",
    /// Sections under a ceiling.
    SectionCeiling: "sections with ceilings",
    /// Sections with priority inheritance.
    SectionInheritance: "sections with inheritance",
    /// Sections by MSRP on a resource of one core.
    SectionMsrp: "sections by MSRP on one core",
    /// Sections by FMLP on a resource of one core.
    SectionFmlp: "sections by FMLP on one core",
    /// Sections on a resource of several cores.
    SectionAcrossCores: "resources of several cores",
    /// A section inside another one.
    NestedSections: "nested sections",
    /// A resource that is withdrawn from whoever holds it too long.
    Withdrawn: "resources that are withdrawn",
    /// A preemption threshold.
    PreemptionThreshold: "preemption thresholds",
    /// Jobs that wait for time to pass.
    Wait: "jobs that wait",
    /// Jobs that await a condition.
    Condition: "jobs that await conditions",
    /// Jobs that await a semaphore.
    Semaphore: "jobs that await semaphores",
    /// Jobs that await each other at a barrier.
    Barrier: "jobs that await barriers",
    /// Jobs that signal others.
    Signal: "jobs that signal",
    /// Releases that are left out while a job is late.
    Skip: "overrun = \"skip\"",
    /// Jobs that stop when their time is used up.
    Stop: "overrun = \"stop\"",
    /// Jobs that end at their deadlines.
    Kill: "overrun = \"kill\"",
    /// Jobs of a component of the user's own.
    Component: "components",
    /// Messages by channels.
    Channel: "channels",
    /// Requests to a service, or answers.
    Service: "services",
    // How a queue is ordered, and whose it is.
    /// Given priorities.
    FixedPriority: "fixed priorities",
    /// The shorter period first.
    RateMonotonic: "rate-monotonic order",
    /// The shorter relative deadline first.
    DeadlineMonotonic: "deadline-monotonic order",
    /// The earlier deadline first.
    EarliestDeadline: "order by deadlines",
    /// The least laxity first.
    LeastLaxity: "order by laxities",
    /// The least laxity at release first.
    LaxityAtRelease: "order by laxities at release",
    /// The shortest job first.
    ShortestJob: "shortest job first",
    /// The earliest release first.
    FirstComeFirstServed: "first come first served",
    /// Turns.
    RoundRobin: "turns",
    /// The least deadline less execution time first.
    SlackMonotonic: "slack-monotonic order",
    /// Turns among equal priorities.
    FixedPriorityRoundRobin: "turns among equal priorities",
    /// Several cores have one queue.
    SharedQueue: "a queue of several cores",
    // Servers.
    /// An idling periodic server.
    ServerPeriodic: "periodic servers",
    /// A polling server.
    ServerPolling: "polling servers",
    /// A polling server whose periods begin with work.
    ServerSporadicPolling: "sporadic polling servers",
    /// A deferrable server.
    ServerDeferrable: "deferrable servers",
    /// A sporadic server.
    ServerSporadic: "sporadic servers",
    /// A soft constant-bandwidth server.
    ServerSoftBandwidth: "soft bandwidth servers",
    /// A hard constant-bandwidth server.
    ServerHardBandwidth: "hard bandwidth servers",
    /// A priority-inheriting bandwidth-preserving server.
    ServerPriorityInheriting: "priority-inheriting servers",
    /// A server that reclaims bandwidth.
    ServerReclaiming: "reclaiming servers",
    /// Windows of a static table.
    ServerWindows: "windows of partitions",
    /// A budget of misses.
    ServerMisses: "budgets of misses",
    /// Best-effort work that gives way to accesses to changed lines.
    ServerYieldingToChanged: "work that gives way to changed lines",
    /// Best-effort work that gives way to misses.
    ServerYieldingToMisses: "work that gives way to misses",
    /// A server in a server.
    NestedServer: "servers in servers",
    /// A server that goes on in the background.
    Background: "background service",
    /// A scheduler in a component of its own for each server.
    SchedulerPerServer: "a scheduler for each server",
    // Partitions.
    /// Several schedules of windows.
    Schedules: "several schedules of windows",
    /// A partition that starts later.
    StartFrame: "partitions that start later",
    // Levels of criticality.
    /// Two levels by adaptive mixed criticality.
    Amc: "adaptive mixed criticality",
    /// Two levels by earliest deadlines with virtual ones.
    EdfVd: "EDF with virtual deadlines",
    /// Level A of MC².
    LevelA: "level A",
    /// Level B of MC².
    LevelB: "level B",
    /// Level C of MC².
    LevelC: "level C",
    /// Level D of MC².
    LevelD: "level D",
    /// Tasks with levels that are not held to their budgets.
    Unenforced: "budgets that are not enforced",
    /// Finished jobs that go on as ghosts.
    SlackShifting: "slack shifting",
    // The whole system.
    /// It changes while it runs.
    Reconfiguration: "reconfiguration",
    /// A root scheduler of the file's own.
    ForeignRoot: "a root scheduler of the file's own",
    /// A component that may wire ticks, which interrupt whoever runs.
    Ticks: "ticks of a component",
    /// A component that may wire interrupt lines, beside tasks that a device releases.
    Lines: "interrupt lines of a component",
    /// Monitors.
    Monitor: "monitors",
    /// Disks.
    Disk: "disks",
    /// Colours of memory.
    Colours: "colours of memory",
    /// Caches of known geometry.
    Caches: "caches",
    /// A known cost of the lines that other cores ask for.
    MissCost: "costs of other cores' lines",
}

impl Feature {
    /// That a queue is ordered so.
    pub const fn of_order(order: TaskOrder) -> Feature {
        match order {
            TaskOrder::FixedPriority => Feature::FixedPriority,
            TaskOrder::RateMonotonic => Feature::RateMonotonic,
            TaskOrder::DeadlineMonotonic => Feature::DeadlineMonotonic,
            TaskOrder::EarliestDeadline => Feature::EarliestDeadline,
            TaskOrder::LeastLaxity => Feature::LeastLaxity,
            TaskOrder::LaxityAtRelease => Feature::LaxityAtRelease,
            TaskOrder::ShortestJob => Feature::ShortestJob,
            TaskOrder::FirstComeFirstServed => Feature::FirstComeFirstServed,
            TaskOrder::RoundRobin => Feature::RoundRobin,
            TaskOrder::FixedPriorityRoundRobin => Feature::FixedPriorityRoundRobin,
            TaskOrder::SlackMonotonic => Feature::SlackMonotonic,
        }
    }
}

impl From<TaskOrder> for Feature {
    fn from(order: TaskOrder) -> Feature {
        Feature::of_order(order)
    }
}

/// The feature of sections on a resource of one core.
impl From<ResourceProtocol> for Feature {
    fn from(protocol: ResourceProtocol) -> Feature {
        match protocol {
            ResourceProtocol::NonPreemptive => Feature::SectionNonPreemptive,
            ResourceProtocol::Ceiling => Feature::SectionCeiling,
            ResourceProtocol::Inheritance => Feature::SectionInheritance,
            ResourceProtocol::Msrp => Feature::SectionMsrp,
            ResourceProtocol::Fmlp => Feature::SectionFmlp,
        }
    }
}

/// The feature of a level of MC².
impl From<Level> for Feature {
    fn from(level: Level) -> Feature {
        match level {
            Level::A => Feature::LevelA,
            Level::B => Feature::LevelB,
            Level::C => Feature::LevelC,
            Level::D => Feature::LevelD,
        }
    }
}

/// The feature of an overrun rule, where it is one: a job that goes on is what every test assumes.
impl From<Overrun> for Features {
    fn from(overrun: Overrun) -> Features {
        match overrun {
            Overrun::Continue => Features::NONE,
            Overrun::Skip => Features::of(&[Feature::Skip]),
            Overrun::Stop => Features::of(&[Feature::Stop]),
            Overrun::Kill => Features::of(&[Feature::Kill]),
        }
    }
}

/// A set of features.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Features(u128);

impl Features {
    /// None.
    pub const NONE: Features = Features(0);

    /// These.
    pub const fn of(all: &[Feature]) -> Features {
        let (mut bits, mut n) = (0, 0);
        while n < all.len() {
            bits |= 1 << all[n] as u8;
            n += 1;
        }
        Features(bits)
    }

    /// The orders by a number that a task keeps.
    pub const fn kept_orders() -> Features {
        let (mut bits, mut n) = (0, 0);
        while n < TaskOrder::ALL.len() {
            let order = TaskOrder::ALL[n];
            if matches!(order.basis(), OrderBasis::Kept(_)) {
                bits |= 1 << Feature::of_order(order) as u8;
            }
            n += 1;
        }
        Features(bits)
    }

    /// These and those.
    #[must_use]
    pub const fn and(self, other: Features) -> Features {
        Features(self.0 | other.0)
    }

    /// Those of these that are among those.
    #[must_use]
    pub const fn only(self, other: Features) -> Features {
        Features(self.0 & other.0)
    }

    /// These without those.
    #[must_use]
    pub const fn without(self, other: Features) -> Features {
        Features(self.0 & !other.0)
    }

    /// Whether it is one of them.
    pub const fn has(self, feature: Feature) -> bool {
        self.0 & (1 << feature as u8) != 0
    }

    /// Whether all of those are among them.
    pub const fn cover(self, other: Features) -> bool {
        other.0 & !self.0 == 0
    }

    /// How many.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// All of them, in the order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.iter().copied().filter(move |feature| self.has(*feature))
    }

    /// Adds one.
    pub fn insert(&mut self, feature: Feature) {
        self.0 |= 1 << feature as u8;
    }
}

impl Extend<Feature> for Features {
    fn extend<T: IntoIterator<Item = Feature>>(&mut self, all: T) {
        all.into_iter().for_each(|feature| self.insert(feature));
    }
}

impl FromIterator<Feature> for Features {
    fn from_iter<T: IntoIterator<Item = Feature>>(all: T) -> Features {
        let mut set = Features::NONE;
        set.extend(all);
        set
    }
}

// A set has a bit for each.
const _: () = assert!(Feature::ALL.len() <= u128::BITS as usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_put_into_it() {
        let (one, other) = (Feature::Wait, Feature::MissCost);
        let set = Features::of(&[one, other]);
        assert!(set.iter().eq([one, other]) && set.count() == 2);
        assert!(set.cover(Features::of(&[other])) && !Features::of(&[other]).cover(set));
        assert_eq!(set.without(Features::of(&[one])), Features::of(&[other]));
        assert_eq!(Feature::ALL.iter().copied().collect::<Features>().count() as usize, Feature::ALL.len());
    }
}
