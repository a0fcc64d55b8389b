//! The list of policies, which [`PolicySpec`](crate::PolicySpec) and [`Scheduler`](crate::Scheduler) are made from. To add a policy,
//! write its file and add its line here: see `docs/adding-a-policy.md`.

/// Hands the list to another macro. A line says what the policy does, the number that stands for it in stored set-ups (never used
/// again for another), its name with its parameters if it has any, the type that decides, and the
/// name in [`programs`](crate::programs) of the root scheduler that is compiled with this type alone.
/// That type implements [`Policy`](crate::Policy) and has two functions: `check(&PolicyConfig) -> Result<(), PolicyConfigError>` and
/// `new(&PolicyConfig) -> (Self, Vec<Core>)`.
macro_rules! policies {
    ($take:ident) => {
        $take! {
            /// Rate-monotonic on each core by itself (Liu and Layland 1973). Every task needs a core.
            0 PartitionedRm => Partitioned<RateMonotonic> : "partitioned-rm",
            /// Earliest deadline first on each core by itself. Every task needs a core.
            1 PartitionedEdf => Partitioned<EarliestDeadline> : "partitioned-edf",
            /// The m tasks with the shortest periods run, on whatever core.
            2 GlobalRm => Clustered<RateMonotonic> : "clustered-rm",
            /// The m jobs with the earliest deadlines run, on whatever core.
            3 GlobalEdf => Clustered<EarliestDeadline> : "clustered-edf",
            /// Mixed criticality on multicore (Herman et al.).
            4 Mc2(Mc2) => Containers : "mc2",
            /// Any order of tasks inside any servers: see [`Tree`].
            5 Servers(Tree) => Servers : "servers",
            /// The shorter relative deadline first, on each core by itself (Leung and Whitehead 1982). Every task needs a core.
            6 PartitionedDm => Partitioned<DeadlineMonotonic> : "partitioned-dm",
            /// The m tasks with the shortest relative deadlines run, on whatever core.
            7 GlobalDm => Clustered<DeadlineMonotonic> : "clustered-dm",
            /// The larger priority first, on each core by itself. Every task needs a core.
            8 PartitionedFp(Priorities) => Partitioned<FixedPriority> : "partitioned-fp",
            /// The m tasks with the largest priorities run, on whatever core.
            9 GlobalFp(Priorities) => Clustered<FixedPriority> : "clustered-fp",
            /// Two levels of criticality, with a mode that gives up the lower one: AMC and EDF-VD. Every task needs a core.
            10 Mixed(Mixed) => Modes : "mixed",
            /// The same as [`PolicySpec::Servers`], and it changes while it runs: see [`ReconfigurableTree`]. No two cores share a queue.
            13 ReconfigurableTree(ReconfigurableTree) => Servers : "servers",
            /// In each cluster as many tasks run as it has cores, those with the shortest periods. Every task needs a core, which
            /// tells its cluster.
            14 ClusteredRm(Clusters) => Clustered<RateMonotonic> : "clustered-rm",
            /// The same with the shortest relative deadlines.
            15 ClusteredDm(Clusters) => Clustered<DeadlineMonotonic> : "clustered-dm",
            /// The same with the jobs with the earliest deadlines (Calandrino, Anderson and Baumberger 2007).
            16 ClusteredEdf(Clusters) => Clustered<EarliestDeadline> : "clustered-edf",
            /// The same with the largest priorities.
            17 ClusteredFp(Clusters) => Clustered<FixedPriority> : "clustered-fp",
            /// The same as [`PolicySpec::Mixed`], and it changes while it runs: see [`Reconfigurable`].
            18 ReconfigurableMixed(Reconfigurable<Mixed, Vec<DualNow>>) => Modes : "mixed",
            /// The same as [`PolicySpec::Mc2`], and it changes while it runs: see [`Reconfigurable`].
            19 ReconfigurableMc2(Reconfigurable<Mc2, Mc2Now>) => Containers : "mc2",
            /// One of several schedulers of a tree of servers: see [`SchedulerPlan`].
            20 PerServer(SchedulerPlan) => Servers : "servers",
            /// The same as [`PolicySpec::Servers`] without servers, on each core by itself; jobs that have begun keep their core from
            /// others: see [`ResourceTree`].
            24 Resources(ResourceTree) => Servers : "servers",
            /// The same as [`PolicySpec::Servers`], where the outermost servers have the windows of a static table: see [`Partitions`].
            25 Partitions(Partitions) => Servers : "servers",
        }
    };
}

pub(crate) use policies;

/// What a program is called that decides by one of the types.
pub trait Named {
    /// As in [`PolicySpec::program`](crate::PolicySpec::program); empty for who decides by any.
    const NAME: &'static str;
}

/// Who decides by any of them.
pub(crate) struct Any;

impl Named for Any {
    const NAME: &'static str = "";
}

/// Whether the program of this name decides by what `program` decides by.
pub(crate) const fn holds(name: &str, program: &str) -> bool {
    let (name, program) = (name.as_bytes(), program.as_bytes());
    let mut at = 0;
    while at < name.len() && at < program.len() && name[at] == program[at] {
        at += 1;
    }
    name.is_empty() || (at == name.len() && at == program.len())
}
