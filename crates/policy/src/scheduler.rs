//! The list of policies, and the scheduler that is any one of them.
//!
//! To add a policy, write its file and add its line to the list: see `docs/adding-a-policy.md`.

use crate::clustered::{Clustered, Clusters};
use crate::codec::{DecodeError, Input, Parameters};
use crate::jobs::{DeadlineMonotonic, EarliestDeadline, FixedPriority, RateMonotonic};
use crate::mc2::{Containers, Mc2Now};
#[cfg(feature = "mc2-variants")]
use crate::mc2::{Fine, Messages};
use crate::mixed::{DualNow, Modes};
use crate::partitioned::Partitioned;
use crate::reconfigure::{Change, Protocol, Reconfigurable};
use crate::tree::{Partitions, ReconfigurableTree, ResourceTree, SchedulerPlan, Servers, Tree};
#[cfg(feature = "mc2-variants")]
use crate::FineMc2;
use crate::{check, Decision, Event, Input as Fact, Mc2, Mixed, Policy, PolicyConfig, PolicyConfigError, Priorities};
use alloc::vec::Vec;
use tactus_record::Sink;
use tactus_time::Instant;

/// Makes [`PolicySpec`], [`Scheduler`] and [`CoreState`] from the list. A line says what the policy does, the number that
/// stands for it in stored set-ups (never used again for another), the feature that it needs if any, its name with its parameters if it has any, and the
/// type that decides. That type implements [`Policy`] and has two functions:
/// `check(&Setup) -> Result<(), SetupError>` and `new(&Setup) -> (Self, Vec<Core>)`.
macro_rules! policies {
    ($($(#[doc = $says:literal])* $(#[cfg($($with:tt)*)])? $number:literal $name:ident $(($parameters:ty))? => $policy:ty,)*) => {
        /// Which policy decides.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub enum PolicySpec {
            $($(#[doc = $says])* $(#[cfg($($with)*)])? $name $(($parameters))?,)*
        }

        #[repr(u8)]
        enum Shared {
            $($(#[cfg($($with)*)])? $name($policy),)*
        }

        #[repr(u8)]
        enum Own {
            $($(#[cfg($($with)*)])? $name(<$policy as Policy>::Core),)*
        }

        impl PolicySpec {
            pub(crate) fn encode(&self, out: &mut Vec<u8>) {
                match self {
                    $($(#[cfg($($with)*)])? PolicySpec::$name { .. } => out.push($number),)*
                }
                $($(#[cfg($($with)*)])? $(if let PolicySpec::$name { 0: given } = self {
                    <$parameters as Parameters>::encode(given, out);
                })?)*
            }

            pub(crate) fn decode(input: &mut Input) -> Result<PolicySpec, DecodeError> {
                match input.byte()? {
                    $($(#[cfg($($with)*)])? $number => Ok(PolicySpec::$name $((<$parameters as Parameters>::decode(input)?))?),)*
                    _ => Err(input.no_meaning()),
                }
            }
        }

        fn make(setup: &PolicyConfig) -> Result<(Scheduler, Vec<CoreState>), PolicyConfigError> {
            match &setup.kind {
                $($(#[cfg($($with)*)])? PolicySpec::$name { .. } => {
                    <$policy>::check(setup)?;
                    let (shared, cores) = <$policy>::new(setup);
                    let cores = cores.into_iter().map(|core| CoreState(Own::$name(core))).collect();
                    Ok((Scheduler(Shared::$name(shared)), cores))
                })*
            }
        }

        impl Scheduler {
            /// Lets the visitor see the policy and its part of the core's state, each in its own type: what the visitor
            /// does around a decision is compiled together with it, once for each policy.
            ///
            /// # Panics
            /// If `core` was made together with a scheduler of another kind.
            #[inline(always)]
            pub fn visit<V: Visitor>(&self, core: &mut CoreState, visitor: V) -> V::Output {
                match (&self.0, &mut core.0) {
                    $($(#[cfg($($with)*)])? (Shared::$name(shared), Own::$name(core)) => visitor.visit(shared, core),)*
                    _ => panic!("the core's state belongs to a scheduler of another kind"),
                }
            }
        }
    };
}

policies! {
    /// Rate-monotonic on each core by itself (Liu and Layland 1973). Every task needs a core.
    0 PartitionedRm => Partitioned<RateMonotonic>,
    /// Earliest deadline first on each core by itself. Every task needs a core.
    1 PartitionedEdf => Partitioned<EarliestDeadline>,
    /// The m tasks with the shortest periods run, on whatever core.
    2 GlobalRm => Clustered<RateMonotonic>,
    /// The m jobs with the earliest deadlines run, on whatever core.
    3 GlobalEdf => Clustered<EarliestDeadline>,
    /// Mixed criticality on multicore (Herman et al.).
    4 Mc2(Mc2) => Containers,
    /// Any order of tasks inside any servers: see [`Tree`].
    5 Servers(Tree) => Servers,
    /// The shorter relative deadline first, on each core by itself (Leung and Whitehead 1982). Every task needs a core.
    6 PartitionedDm => Partitioned<DeadlineMonotonic>,
    /// The m tasks with the shortest relative deadlines run, on whatever core.
    7 GlobalDm => Clustered<DeadlineMonotonic>,
    /// The larger priority first, on each core by itself. Every task needs a core.
    8 PartitionedFp(Priorities) => Partitioned<FixedPriority>,
    /// The m tasks with the largest priorities run, on whatever core.
    9 GlobalFp(Priorities) => Clustered<FixedPriority>,
    /// Two levels of criticality, with a mode that gives up the lower one: AMC and EDF-VD. Every task needs a core.
    10 Mixed(Mixed) => Modes,
    /// MC² with one lock for each container and each core, as its source has it. For a study.
    #[cfg(feature = "mc2-variants")]
    11 FineMc2(FineMc2) => Fine,
    /// MC² without locks: core 0 owns levels C and D, and is sent messages. For a study.
    #[cfg(feature = "mc2-variants")]
    12 Mc2Messages(Mc2) => Messages,
    /// The same as [`PolicySpec::Servers`], and it changes while it runs: see [`ReconfigurableTree`]. No two cores share a queue.
    13 ReconfigurableTree(ReconfigurableTree) => Servers,
    /// In each cluster as many tasks run as it has cores, those with the shortest periods. Every task needs a core, which
    /// tells its cluster.
    14 ClusteredRm(Clusters) => Clustered<RateMonotonic>,
    /// The same with the shortest relative deadlines.
    15 ClusteredDm(Clusters) => Clustered<DeadlineMonotonic>,
    /// The same with the jobs with the earliest deadlines (Calandrino, Anderson and Baumberger 2007).
    16 ClusteredEdf(Clusters) => Clustered<EarliestDeadline>,
    /// The same with the largest priorities.
    17 ClusteredFp(Clusters) => Clustered<FixedPriority>,
    /// The same as [`PolicySpec::Mixed`], and it changes while it runs: see [`Reconfigurable`].
    18 ReconfigurableMixed(Reconfigurable<Mixed, Vec<DualNow>>) => Modes,
    /// The same as [`PolicySpec::Mc2`], and it changes while it runs: see [`Reconfigurable`].
    19 ReconfigurableMc2(Reconfigurable<Mc2, Mc2Now>) => Containers,
    /// One of several schedulers of a tree of servers: see [`SchedulerPlan`].
    20 PerServer(SchedulerPlan) => Servers,
    /// The same as [`PolicySpec::Servers`] without servers, on each core by itself; jobs that have begun keep their core from
    /// others: see [`ResourceTree`].
    24 Resources(ResourceTree) => Servers,
    /// The same as [`PolicySpec::Servers`], where the outermost servers have the windows of a static table: see [`Partitions`].
    25 Partitions(Partitions) => Servers,
}

impl PolicySpec {
    /// The tree of servers, where one scheduler decides for all of it.
    pub fn tree(&self) -> Option<&Tree> {
        match self {
            PolicySpec::Servers(tree)
            | PolicySpec::Partitions(Partitions { tree, .. })
            | PolicySpec::ReconfigurableTree(ReconfigurableTree { tree, .. })
            | PolicySpec::Resources(ResourceTree { tree, .. }) => Some(tree),
            _ => None,
        }
    }

    /// The changes of the running system, in the order of their numbers.
    pub fn changes(&self) -> &[Change] {
        match self {
            PolicySpec::ReconfigurableTree(all) => &all.changes,
            PolicySpec::ReconfigurableMixed(all) => &all.changes,
            PolicySpec::ReconfigurableMc2(all) => &all.changes,
            _ => &[],
        }
    }

    /// When changes take effect; nothing where there are none.
    pub fn protocol_mut(&mut self) -> Option<&mut Protocol> {
        match self {
            PolicySpec::ReconfigurableTree(all) => Some(&mut all.protocol),
            PolicySpec::ReconfigurableMixed(all) => Some(&mut all.protocol),
            PolicySpec::ReconfigurableMc2(all) => Some(&mut all.protocol),
            _ => None,
        }
    }

    /// The priorities that come with the policy, in the order of the tasks; none where it needs none.
    pub(crate) fn priorities(&self) -> &[u32] {
        match self {
            PolicySpec::PartitionedFp(given) | PolicySpec::GlobalFp(given) => &given.0,
            PolicySpec::ClusteredFp(given) => &given.priorities.0,
            _ => &[],
        }
    }

    /// Whether it is MC², however its cores share levels C and D.
    pub fn is_mc2(&self) -> bool {
        match self {
            PolicySpec::Mc2(_) | PolicySpec::ReconfigurableMc2(_) => true,
            #[cfg(feature = "mc2-variants")]
            PolicySpec::FineMc2(_) | PolicySpec::Mc2Messages(_) => true,
            _ => false,
        }
    }

    /// The clusters of a clustered order.
    pub fn clusters(&self) -> Option<&Clusters> {
        match self {
            PolicySpec::ClusteredRm(given) | PolicySpec::ClusteredDm(given) => Some(given),
            PolicySpec::ClusteredEdf(given) | PolicySpec::ClusteredFp(given) => Some(given),
            _ => None,
        }
    }
}

/// The policy of one system: what all its cores share.
pub struct Scheduler(Shared);

/// What belongs to one core. Its owner is the only one to touch it.
pub struct CoreState(Own);

/// Something to be done with a policy, whichever it is.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<P: Policy>(self, policy: &P, core: &mut P::Core) -> Self::Output;
}

/// One decision.
struct Handle<'a, S> {
    now: Instant,
    event: Event,
    records: &'a mut S,
}

/// The end of a time-out, the short way.
struct Expire<'a, S> {
    now: Instant,
    records: &'a mut S,
}

/// A fact before a decision.
struct Tell(Fact);

impl Visitor for Tell {
    type Output = ();

    fn visit<P: Policy>(self, policy: &P, core: &mut P::Core) {
        policy.input(core, self.0);
    }
}

impl<S: Sink> Visitor for Expire<'_, S> {
    type Output = Option<Decision>;

    fn visit<P: Policy>(self, policy: &P, core: &mut P::Core) -> Option<Decision> {
        policy.expire(core, self.now, self.records)
    }
}

impl<S: Sink> Visitor for Handle<'_, S> {
    type Output = Decision;

    fn visit<P: Policy>(self, policy: &P, core: &mut P::Core) -> Decision {
        policy.handle(core, self.now, self.event, self.records)
    }
}

impl Policy for Scheduler {
    type Core = CoreState;

    const RESOURCES: bool = true;

    /// # Panics
    /// If `core` was made together with a scheduler of another kind.
    fn handle<S: Sink>(&self, core: &mut CoreState, now: Instant, event: Event, records: &mut S) -> Decision {
        self.visit(core, Handle { now, event, records })
    }

    /// # Panics
    /// As [`Scheduler::visit`].
    fn input(&self, core: &mut CoreState, input: Fact) {
        self.visit(core, Tell(input));
    }

    fn awaits_unlock(&self, core: &CoreState) -> bool {
        match (&self.0, &core.0) {
            (Shared::Resources(shared), Own::Resources(core)) => shared.awaits_unlock(core),
            _ => false,
        }
    }

    /// # Panics
    /// As [`Scheduler::visit`].
    fn expire<S: Sink>(&self, core: &mut CoreState, now: Instant, records: &mut S) -> Option<Decision> {
        self.visit(core, Expire { now, records })
    }
}

impl Scheduler {
    /// Makes the scheduler and the state of each core, in core order. All memory that it will ever need is taken here.
    ///
    /// # Errors
    /// If the set-up breaks a rule; the first one found.
    pub fn new(setup: &PolicyConfig) -> Result<(Scheduler, Vec<CoreState>), PolicyConfigError> {
        check::check(setup)?;
        make(setup)
    }
}
