//! Why a package is not loaded: errors with the values that broke the rule.

use crate::admission::Unschedulable;
use crate::keys::KeyId;
use crate::manifest::{RightKind, Version};
use crate::program::ProgramFault;
use crate::wire::Malformed;
use core::fmt;
use tactus_record::SlotRefusal;
use tactus_time::Duration;

/// Why a package is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal<'b> {
    /// It is not encoded as a package is.
    Malformed(Malformed),
    /// Nobody who is trusted has the key that it names.
    UnknownKey {
        /// The key's number.
        signer: KeyId,
    },
    /// The signature is not that of the key that it names.
    Signature,
    /// The manifest is not the one that was signed.
    ManifestDigest,
    /// The program is longer or shorter than the manifest says.
    ImageSize {
        /// Bytes by the manifest.
        said: u64,
        /// Bytes that are there.
        is: u64,
    },
    /// The program is not the one that the manifest names.
    ImageDigest,
    /// It is older than the slot accepts.
    Older {
        /// Its sequence number.
        is: u64,
        /// The least that is accepted.
        least: u64,
    },
    /// It is compiled for another processor.
    Processor {
        /// The slot's.
        wanted: u16,
        /// Its own.
        is: u16,
    },
    /// It is made for another kind of slot.
    Class {
        /// The kind that it is made for.
        is: &'b str,
    },
    /// It wants more heap than the slot has.
    Heap {
        /// Bytes that it wants.
        wanted: u64,
        /// Bytes of the slot.
        most: u64,
    },
    /// Its program takes more memory than the slot has.
    Memory {
        /// Pages that it takes.
        wanted: u64,
        /// Pages of the slot.
        most: u64,
    },
    /// It has more tasks than the slot.
    TooManyTasks {
        /// Its tasks.
        wanted: usize,
        /// The slot's.
        most: usize,
    },
    /// It wants something that programs in this slot may not have.
    Right {
        /// The kind.
        kind: RightKind,
        /// The name.
        name: &'b str,
    },
    /// A task of it is released more often than the slot's server is replenished, so often that others would notice.
    TooOften {
        /// The task.
        task: &'b str,
        /// Its period.
        period: Duration,
        /// The server's.
        least: Duration,
    },
    /// Its tasks do not meet their deadlines there.
    Unschedulable {
        /// Why.
        why: Unschedulable,
        /// Which task.
        task: Option<&'b str>,
    },
    /// The program cannot be loaded.
    Program(ProgramFault),
    /// It is to replace a program, and does not use the service that keeps its state.
    State,
    /// It is to replace a program whose tasks are released otherwise.
    Releases,
}

impl Refusal<'_> {
    /// The task to blame, if one is.
    pub fn task(&self) -> Option<&str> {
        match self {
            Refusal::TooOften { task, .. } | Refusal::Unschedulable { task: Some(task), .. } => Some(task),
            _ => None,
        }
    }

    /// Its kind, as records have it.
    pub fn reason(&self) -> SlotRefusal {
        match self {
            Refusal::Malformed(_) => SlotRefusal::Malformed,
            Refusal::UnknownKey { .. } | Refusal::Signature | Refusal::ManifestDigest => SlotRefusal::Signature,
            Refusal::ImageSize { .. } | Refusal::ImageDigest | Refusal::Program(_) => SlotRefusal::Program,
            Refusal::Older { .. } => SlotRefusal::Older,
            Refusal::Processor { .. } | Refusal::Class { .. } => SlotRefusal::Kind,
            Refusal::Heap { .. } | Refusal::Memory { .. } | Refusal::TooManyTasks { .. } => SlotRefusal::Size,
            Refusal::Right { .. } => SlotRefusal::Right,
            Refusal::State | Refusal::Releases => SlotRefusal::Replacement,
            Refusal::TooOften { .. } | Refusal::Unschedulable { .. } => SlotRefusal::Unschedulable,
        }
    }
}

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Malformed(Malformed { part, at }) => write!(f, "not a package: {part} is damaged at byte {at}"),
            Refusal::UnknownKey { signer } => {
                f.write_str("signed by a key that is not trusted here: ")?;
                signer.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Refusal::Signature => f.write_str("the signature is not that of the key that it names"),
            Refusal::ManifestDigest => f.write_str("the manifest is not the one that was signed"),
            Refusal::ImageSize { said, is } => write!(f, "the program has {is} bytes; the manifest says {said}"),
            Refusal::ImageDigest => f.write_str("the program is not the one that the manifest names"),
            Refusal::Older { is, least } => {
                let (is, least) = (Version::of(*is), Version::of(*least));
                write!(f, "version {is} is older than {least}, the least that this slot accepts")
            }
            Refusal::Processor { wanted, is } => {
                write!(f, "compiled for machine {is}, the slot is on machine {wanted}")
            }
            Refusal::Class { is } => write!(f, "made for slots of class `{is}`"),
            Refusal::Memory { wanted, most } => {
                write!(f, "the program takes {wanted} pages of memory, the slot has {most}")
            }
            Refusal::Heap { wanted, most } => write!(f, "it wants {wanted} bytes of heap, the slot has {most}"),
            Refusal::TooManyTasks { wanted, most } => write!(f, "{wanted} tasks, the slot has room for {most}"),
            Refusal::Right { kind, name } => {
                write!(f, "it may not have {} `{name}` in this slot", kind.word())
            }
            Refusal::TooOften { task, period, least } => write!(
                f,
                "task `{task}` has a period of {} ns, and its slot's server one of {} ns: others are promised that no task in there comes more often",
                period.as_nanos(),
                least.as_nanos()
            ),
            Refusal::Unschedulable { why, task: Some(task) } => write!(f, "task `{task}`: {why}"),
            Refusal::Unschedulable { why, task: None } => why.fmt(f),
            Refusal::Program(fault) => fault.fmt(f),
            Refusal::State => {
                f.write_str("it does not use the service that keeps the state of the program that it is to replace")
            }
            Refusal::Releases => {
                f.write_str("its tasks are not as many, or do not have the periods of those that they are to replace")
            }
        }
    }
}
