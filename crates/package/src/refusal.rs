//! Why a package is not loaded: errors with the values that broke the rule.

use crate::admission::Unschedulable;
use crate::keys::KeyId;
use crate::manifest::RightKind;
use crate::program::ProgramFault;
use crate::wire::Malformed;
use core::fmt;

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
    /// It wants, or names twice, something that programs in this slot may not have.
    Right {
        /// The kind.
        kind: RightKind,
        /// The name.
        name: &'b str,
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
}

/// The kind of a refusal, as records have it: a number from 1 on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The slot is not empty.
    Full,
    /// There is nothing in the slot that could be unloaded.
    Empty,
    /// [`Refusal::Malformed`].
    Malformed,
    /// [`Refusal::UnknownKey`].
    UnknownKey,
    /// [`Refusal::Signature`].
    Signature,
    /// [`Refusal::ManifestDigest`].
    ManifestDigest,
    /// [`Refusal::ImageSize`].
    ImageSize,
    /// [`Refusal::ImageDigest`].
    ImageDigest,
    /// [`Refusal::Older`].
    Older,
    /// [`Refusal::Processor`].
    Processor,
    /// [`Refusal::Class`].
    Class,
    /// [`Refusal::Heap`].
    Heap,
    /// [`Refusal::Memory`].
    Memory,
    /// [`Refusal::TooManyTasks`].
    TooManyTasks,
    /// [`Refusal::Right`].
    Right,
    /// [`Refusal::Unschedulable`].
    Unschedulable,
    /// [`Refusal::Program`].
    Program,
}

impl Reason {
    /// All of them, in the order of their numbers.
    pub const ALL: [Reason; 17] = [
        Reason::Full,
        Reason::Empty,
        Reason::Malformed,
        Reason::UnknownKey,
        Reason::Signature,
        Reason::ManifestDigest,
        Reason::ImageSize,
        Reason::ImageDigest,
        Reason::Older,
        Reason::Processor,
        Reason::Class,
        Reason::Heap,
        Reason::Memory,
        Reason::TooManyTasks,
        Reason::Right,
        Reason::Unschedulable,
        Reason::Program,
    ];

    /// Its number.
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }

    /// The one with this number.
    pub fn of(number: u8) -> Option<Reason> {
        Reason::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }

    /// What a run says of it.
    pub const fn words(self) -> &'static str {
        match self {
            Reason::Full => "the slot is not empty",
            Reason::Empty => "the slot is empty",
            Reason::Malformed => "not a package",
            Reason::UnknownKey => "signed by a key that is not trusted",
            Reason::Signature => "a signature of somebody else",
            Reason::ManifestDigest => "a manifest that was not signed",
            Reason::ImageSize => "a program of another length",
            Reason::ImageDigest => "a program that was not signed",
            Reason::Older => "older than what ran there",
            Reason::Processor => "for another processor",
            Reason::Class => "for another kind of slot",
            Reason::Heap => "more heap than the slot has",
            Reason::Memory => "more memory than the slot has",
            Reason::TooManyTasks => "more tasks than the slot has",
            Reason::Right => "a right that the slot does not give",
            Reason::Unschedulable => "its tasks could miss deadlines",
            Reason::Program => "a program that cannot be loaded safely",
        }
    }
}

impl Refusal<'_> {
    /// Its kind.
    pub fn reason(&self) -> Reason {
        match self {
            Refusal::Malformed(_) => Reason::Malformed,
            Refusal::UnknownKey { .. } => Reason::UnknownKey,
            Refusal::Signature => Reason::Signature,
            Refusal::ManifestDigest => Reason::ManifestDigest,
            Refusal::ImageSize { .. } => Reason::ImageSize,
            Refusal::ImageDigest => Reason::ImageDigest,
            Refusal::Older { .. } => Reason::Older,
            Refusal::Processor { .. } => Reason::Processor,
            Refusal::Class { .. } => Reason::Class,
            Refusal::Heap { .. } => Reason::Heap,
            Refusal::Memory { .. } => Reason::Memory,
            Refusal::TooManyTasks { .. } => Reason::TooManyTasks,
            Refusal::Right { .. } => Reason::Right,
            Refusal::Unschedulable { .. } => Reason::Unschedulable,
            Refusal::Program(_) => Reason::Program,
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
                write!(f, "sequence number {is} is older than {least}, the least that this slot accepts")
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
                write!(f, "it may not have {} `{name}` in this slot, or names it twice", kind.word())
            }
            Refusal::Unschedulable { why, task: Some(task) } => write!(f, "task `{task}`: {why}"),
            Refusal::Unschedulable { why, task: None } => why.fmt(f),
            Refusal::Program(fault) => fault.fmt(f),
        }
    }
}
