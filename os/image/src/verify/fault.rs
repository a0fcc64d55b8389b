//! What can be wrong with an image.

use std::fmt;
use tactus_abi::image::VERSION;
use tactus_abi::shared::Name;

/// What is wrong with an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VerifyError {
    /// It ends before the part is complete.
    Truncated {
        /// The part.
        part: Part,
    },
    /// It has a layout of another version.
    Version {
        /// The version found.
        found: u32,
    },
    /// A part breaks a rule.
    Broken {
        /// Which kind of part.
        part: Part,
        /// Its number among its kind.
        number: usize,
        /// What it does, as the end of a sentence.
        rule: &'static str,
    },
}

/// A kind of part of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The head.
    Header,
    /// A component.
    Component,
    /// A grant.
    Grant,
    /// A memory object.
    Memory,
    /// A mapping.
    Mapping,
    /// A thread.
    Thread,
    /// What a component is told about itself.
    Info,
    /// What the scheduler is told about a task.
    Card,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Header => "head",
            Part::Component => "component",
            Part::Grant => "grant",
            Part::Memory => "memory object",
            Part::Mapping => "mapping",
            Part::Thread => "thread",
            Part::Info => "information for component",
            Part::Card => "card of task",
        })
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let remedy = "build the image again with this version of Tactus";
        match self {
            VerifyError::Truncated { part } => write!(f, "the image ends within its {part}s; {remedy}"),
            VerifyError::Version { found } => {
                write!(f, "the image has a layout of version {found}, this is version {VERSION}; {remedy}")
            }
            VerifyError::Broken { part: Part::Header, rule, .. } => write!(f, "the image's head {rule}; {remedy}"),
            VerifyError::Broken { part, number, rule } => write!(f, "the image's {part} {number} {rule}; {remedy}"),
        }
    }
}

impl std::error::Error for VerifyError {}

/// `Err` with this rule unless the condition holds.
pub(super) fn rule(holds: bool, part: Part, number: usize, rule: &'static str) -> Result<(), VerifyError> {
    if holds {
        Ok(())
    } else {
        Err(VerifyError::Broken { part, number, rule })
    }
}

/// Whether a name is text, padded with zeros.
pub(super) fn is_name(name: &Name) -> bool {
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    end > 0 && name[end..].iter().all(|byte| *byte == 0) && std::str::from_utf8(&name[..end]).is_ok()
}
