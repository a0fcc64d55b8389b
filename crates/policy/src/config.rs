//! What a scheduler is made from, and its stored form: what the image builder writes and the scheduler component reads.
//!
//! Little-endian, packed: the magic `TSET`, a version (`u16`), then the fields in the order of their declaration.
//! Counts and lengths of time are `u64`, enums and booleans one byte, and an optional core is a byte that says whether
//! it is there with a byte that says which. Nothing may follow.

use crate::codec::{put, DecodeError, Input, Parameters, MAGIC, VERSION};
use crate::list::{holds, policies, Any, Named};
use crate::{Change, Clusters, DualNow, Mc2, Mc2Now, Mixed, Partitions, Priorities, Protocol, Reconfigurable};
use crate::{ReconfigurableTree, ResourceTree, SchedulerPlan, Tree};
use alloc::vec::Vec;
use tactus_time::{CoreId, Duration, Level};

/// The least size of a task, so that a false count is found before memory is taken for it.
const TASK_BYTES: usize = 1 + 2 + 4 * 8;

/// What a scheduler is made from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyConfig {
    /// Number of cores, 1 to [`tactus_time::MAX_CORES`].
    pub cores: usize,
    /// The policy and its parameters.
    pub kind: PolicySpec,
    /// The tasks; a [`TaskId`](tactus_time::TaskId) is an index into this.
    pub tasks: Vec<Task>,
}

/// A task as the policies see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Task {
    /// Criticality; [`Level::A`] where the policy knows no levels.
    pub level: Level,
    /// The core it is bound to, where the policy is partitioned (for MC²: levels A and B).
    pub core: Option<CoreId>,
    /// Release of the first job.
    pub offset: Duration,
    /// Time from release to release, greater than zero.
    pub period: Duration,
    /// Deadline relative to the release.
    pub deadline: Duration,
    /// Execution time per period at the task's own level, and what the system's work on its behalf may take; enforced by
    /// MC² if it enforces. Zero for level D.
    pub budget: Duration,
}

/// Makes [`PolicySpec`] from the list.
macro_rules! specs {
    ($($(#[doc = $says:literal])* $number:literal $name:ident $(($parameters:ty))? => $policy:ty : $program:literal,)*) => {
        /// Which policy decides.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub enum PolicySpec {
            $($(#[doc = $says])* $name $(($parameters))?,)*
        }

        impl PolicySpec {
            pub(crate) fn encode(&self, out: &mut Vec<u8>) {
                match self {
                    $(PolicySpec::$name { .. } => out.push($number),)*
                }
                $($(if let PolicySpec::$name { 0: given } = self {
                    <$parameters as Parameters>::encode(given, out);
                })?)*
            }

            /// The name of the root scheduler that decides by it and by nothing else; see [`programs`](crate::programs).
            pub fn program(&self) -> &'static str {
                match self {
                    $(PolicySpec::$name { .. } => $program,)*
                }
            }

            /// Reads what the program decides by; nothing else is compiled into it.
            fn decode<P: Named>(input: &mut Input) -> Result<PolicySpec, DecodeError> {
                match input.byte()? {
                    $($number if const { holds(P::NAME, $program) } => Ok(PolicySpec::$name $((<$parameters as Parameters>::decode(input)?))?),)*
                    _ => Err(input.no_meaning()),
                }
            }
        }
    };
}

policies! { specs }

impl PolicySpec {
    /// Whether the policy may have a short way for ends of time-outs; where not, [`crate::Policy::expire`] need not be asked.
    pub fn has_short_way(&self) -> bool {
        matches!(self, PolicySpec::Partitions(_)) || self.tree().is_none()
    }

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

    /// Whether it is MC².
    pub fn is_mc2(&self) -> bool {
        matches!(self, PolicySpec::Mc2(_) | PolicySpec::ReconfigurableMc2(_))
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

impl PolicyConfig {
    /// The stored form.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        put(&mut out, self.cores as u64);
        self.kind.encode(&mut out);
        put(&mut out, self.tasks.len() as u64);
        for task in &self.tasks {
            out.push(task.level as u8);
            out.extend([u8::from(task.core.is_some()), task.core.map_or(0, |core| core.0)]);
            for time in [task.offset, task.period, task.deadline, task.budget] {
                put(&mut out, time.as_nanos());
            }
        }
        out
    }

    /// Reads the stored form. Any bytes may be given; whether the set-up makes sense is for
    /// [`Scheduler::new`](crate::Scheduler::new) to say.
    ///
    /// # Errors
    /// If the bytes are not what [`PolicyConfig::encode`] writes.
    pub fn decode(bytes: &[u8]) -> Result<PolicyConfig, DecodeError> {
        PolicyConfig::decode_for::<Any>(bytes)
    }

    /// The same for one program.
    ///
    /// # Errors
    /// As for [`PolicyConfig::decode`], and if another program decides by it.
    pub fn decode_for<P: Named>(bytes: &[u8]) -> Result<PolicyConfig, DecodeError> {
        let mut input = Input { bytes, at: 0 };
        if input.take::<4>() != Ok(MAGIC) {
            return Err(DecodeError::Magic);
        }
        let version = u16::from_le_bytes(input.take()?);
        if version != VERSION {
            return Err(DecodeError::Version(version));
        }
        let at = input.at;
        let cores = usize::try_from(input.number()?).map_err(|_| DecodeError::Value(at))?;
        let kind = PolicySpec::decode::<P>(&mut input)?;
        let tasks = input.list(TASK_BYTES, task)?;
        input.end()?;
        Ok(PolicyConfig { cores, kind, tasks })
    }
}

fn task(input: &mut Input) -> Result<Task, DecodeError> {
    let level = Level::from_index(input.byte()?).ok_or(DecodeError::Value(input.at - 1))?;
    let (bound, core) = (input.boolean()?, input.byte()?);
    if !bound && core != 0 {
        return Err(input.no_meaning());
    }
    Ok(Task {
        level,
        core: bound.then_some(CoreId(core)),
        offset: input.time()?,
        period: input.time()?,
        deadline: input.time()?,
        budget: input.time()?,
    })
}
