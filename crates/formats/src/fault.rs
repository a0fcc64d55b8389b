//! What is wrong with a file of task sets, or with writing one.

use crate::Format;
use std::fmt;
use std::path::PathBuf;

/// What is wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1; 0 if the file as a whole is concerned.
    pub line: usize,
    /// What.
    pub reason: Reason,
}

/// What is wrong with a value or a construct, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The file cannot be read.
    Unreadable {
        /// What the operating system said.
        reason: String,
    },
    /// The text is not of its format.
    Syntax {
        /// What the reader said.
        reason: String,
    },
    /// The text is XML, but of no format that is known here.
    UnknownRoot {
        /// The root element.
        found: String,
    },
    /// Something that must be there is not.
    Missing {
        /// What.
        what: String,
        /// Of which task or element.
        of: String,
    },
    /// A value that is no number, or not one that will do.
    Value {
        /// Which value, of what.
        what: String,
        /// As it was written.
        found: String,
        /// What it should be.
        expected: String,
    },
    /// A construct that would change the schedule and that a task set cannot say.
    Refused {
        /// Which, and why.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// A system file or rt-app file has faults; all of them, one on each line.
    System {
        /// The problems.
        problems: String,
    },
    /// A file of this format holds one task set.
    Several {
        /// The format.
        format: Format,
        /// How many there are.
        sets: usize,
    },
    /// The format cannot hold the set.
    Unwritable {
        /// The format.
        format: Format,
        /// What it cannot hold.
        what: String,
        /// What to do.
        remedy: String,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Unreadable { reason } => write!(f, "it cannot be read: {reason}"),
            Reason::Syntax { reason } => f.write_str(reason),
            Reason::UnknownRoot { found } => {
                write!(f, "the XML is a <{found}>; give SchedCAT's <taskset> or <testpoint>, or SimSo's <simulation>")
            }
            Reason::Missing { what, of } => write!(f, "{of} has no {what}; add it"),
            Reason::Value { what, found, expected } => write!(f, "{what} is {found:?}; write {expected}"),
            Reason::Refused { what, remedy } => write!(f, "{what}; {remedy}"),
            Reason::System { problems } => f.write_str(problems),
            Reason::Several { format, sets } => {
                write!(f, "a file of {format} holds one task set, not {sets}; write csv or schedcat, or one set alone")
            }
            Reason::Unwritable { format, what, remedy } => write!(f, "{format} cannot hold it: {what}; {remedy}"),
        }
    }
}

impl std::error::Error for Reason {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // These name their file themselves.
        if let Reason::System { problems } = &self.reason {
            return f.write_str(problems);
        }
        write!(f, "{}:", self.file.display())?;
        if self.line > 0 {
            write!(f, "{}:", self.line)?;
        }
        write!(f, " {}", self.reason)
    }
}

impl std::error::Error for Fault {}
