//! The types that decide, each under the name of the root scheduler that holds it and no other policy.
//!
//! A machine's scheduler is compiled with one of them: what a system's policy does not use is not in its image, and nothing is
//! chosen while it runs.

use crate::clustered::Clustered;
use crate::jobs::{DeadlineMonotonic, EarliestDeadline, FixedPriority, RateMonotonic};
use crate::list::Named;
use crate::mc2::Containers;
use crate::mixed::Modes;
use crate::partitioned::Partitioned;
use crate::tree::Servers;
use crate::{check, Policy, PolicyConfig, PolicyConfigError};
use alloc::vec::Vec;

/// A policy that a root scheduler is compiled with.
pub trait Program: Policy + Named + Sized {
    /// Makes what all cores share and the state of each core, in core order. All memory that it will ever need is taken here.
    ///
    /// # Errors
    /// If the set-up breaks a rule, the first one found, or is another program's.
    fn make(config: &PolicyConfig) -> Result<(Self, Vec<Self::Core>), PolicyConfigError>;
}

macro_rules! programs {
    ($($(#[doc = $says:literal])* $name:ident = $policy:ty : $program:literal;)*) => {
        $(
            $(#[doc = $says])*
            pub type $name = $policy;

            impl Named for $policy {
                const NAME: &'static str = $program;
            }

            impl Program for $policy {
                fn make(config: &PolicyConfig) -> Result<(Self, Vec<Self::Core>), PolicyConfigError> {
                    if config.kind.program() != Self::NAME {
                        return Err(PolicyConfigError::OtherProgram);
                    }
                    check::check(config)?;
                    <$policy>::check(config)?;
                    Ok(<$policy>::new(config))
                }
            }
        )*

        /// All of them.
        pub const NAMES: &[&str] = &[$($program,)*];
    };
}

programs! {
    /// The shorter period first, on each core by itself.
    PartitionedRm = Partitioned<RateMonotonic>: "partitioned-rm";
    /// The shorter relative deadline first, on each core by itself.
    PartitionedDm = Partitioned<DeadlineMonotonic>: "partitioned-dm";
    /// The larger priority first, on each core by itself.
    PartitionedFp = Partitioned<FixedPriority>: "partitioned-fp";
    /// The earlier deadline first, on each core by itself.
    PartitionedEdf = Partitioned<EarliestDeadline>: "partitioned-edf";
    /// The shorter period first, on any core or inside a cluster.
    ClusteredRm = Clustered<RateMonotonic>: "clustered-rm";
    /// The shorter relative deadline first, on any core or inside a cluster.
    ClusteredDm = Clustered<DeadlineMonotonic>: "clustered-dm";
    /// The larger priority first, on any core or inside a cluster.
    ClusteredFp = Clustered<FixedPriority>: "clustered-fp";
    /// The earlier deadline first, on any core or inside a cluster.
    ClusteredEdf = Clustered<EarliestDeadline>: "clustered-edf";
    /// Mixed criticality on multicore.
    MixedCriticalityOnMulticore = Containers: "mc2";
    /// Two levels of criticality with a mode.
    Mixed = Modes: "mixed";
    /// Any order of tasks inside any servers, partitions with windows, critical sections, changes.
    Trees = Servers: "servers";
}
