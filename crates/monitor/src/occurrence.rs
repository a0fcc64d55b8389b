//! What happens in a system and can be an event of a monitor.

use std::fmt;

/// The kinds of things that happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum OccurrenceKind {
    /// A job of a task is released.
    Release,
    /// A job has a core for the first time.
    Start,
    /// A job begins or goes on to run.
    Dispatch,
    /// A job loses its core.
    Preempt,
    /// A job is finished.
    Complete,
    /// A job reaches its deadline unfinished.
    Miss,
    /// A job ends without being finished.
    Drop,
    /// A budget is used up.
    Exhaust,
    /// A budget arrives.
    Replenish,
    /// A core changes its mode of criticality.
    Mode,
    /// A reconfiguration is applied.
    Reconfigure,
    /// The component of a task faults and is stopped.
    Fault,
    /// A stopped component runs again.
    Restart,
    /// A component has been restarted as often as it may, and stays stopped.
    GiveUp,
    /// A message is sent through a channel.
    Send,
    /// A message is taken out of a channel.
    Receive,
    /// A component calls a service by one of its grants.
    Call,
    /// Such a call returns.
    Return,
    /// A component raises an event of its own.
    Signal,
}

/// On whose word an event rests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Integrity {
    /// The kernel makes it happen.
    Kernel,
    /// The root scheduler, which alone knows of it, tells the kernel.
    Scheduler,
    /// A component raises it when it likes.
    Component,
}

/// Whose occurrences they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SubjectKind {
    /// A task's.
    Task,
    /// A task's or a server's.
    TaskOrServer,
    /// A channel's: a buffer of the system file.
    Channel,
    /// A component's, with a name behind a dot: that of a grant, or of its own event.
    Component,
    /// A component's that the root scheduler restarts.
    Restarted,
    /// Nobody's: the word stands alone.
    Nobody,
}

impl OccurrenceKind {
    /// All of them.
    pub const ALL: [OccurrenceKind; 19] = {
        use OccurrenceKind::*;
        [
            Release,
            Start,
            Dispatch,
            Preempt,
            Complete,
            Miss,
            Drop,
            Exhaust,
            Replenish,
            Mode,
            Reconfigure,
            Fault,
            Restart,
            GiveUp,
            Send,
            Receive,
            Call,
            Return,
            Signal,
        ]
    };
    /// The word of the system file.
    pub const fn word(self) -> &'static str {
        match self {
            OccurrenceKind::Release => "release",
            OccurrenceKind::Start => "start",
            OccurrenceKind::Dispatch => "dispatch",
            OccurrenceKind::Preempt => "preempt",
            OccurrenceKind::Complete => "complete",
            OccurrenceKind::Miss => "miss",
            OccurrenceKind::Drop => "drop",
            OccurrenceKind::Exhaust => "exhaust",
            OccurrenceKind::Replenish => "replenish",
            OccurrenceKind::Mode => "mode",
            OccurrenceKind::Reconfigure => "reconfigure",
            OccurrenceKind::Fault => "fault",
            OccurrenceKind::Restart => "restart",
            OccurrenceKind::GiveUp => "give-up",
            OccurrenceKind::Send => "send",
            OccurrenceKind::Receive => "receive",
            OccurrenceKind::Call => "call",
            OccurrenceKind::Return => "return",
            OccurrenceKind::Signal => "signal",
        }
    }
    /// Whose it is.
    pub const fn subject(self) -> SubjectKind {
        match self {
            OccurrenceKind::Exhaust | OccurrenceKind::Replenish => SubjectKind::TaskOrServer,
            OccurrenceKind::Mode | OccurrenceKind::Reconfigure | OccurrenceKind::Restart => SubjectKind::Nobody,
            OccurrenceKind::Send | OccurrenceKind::Receive => SubjectKind::Channel,
            OccurrenceKind::GiveUp => SubjectKind::Restarted,
            OccurrenceKind::Call | OccurrenceKind::Return | OccurrenceKind::Signal => SubjectKind::Component,
            _ => SubjectKind::Task,
        }
    }
    /// On whose word it rests.
    pub const fn integrity(self) -> Integrity {
        match self {
            OccurrenceKind::Fault | OccurrenceKind::Restart => Integrity::Kernel,
            OccurrenceKind::Send | OccurrenceKind::Receive | OccurrenceKind::Call | OccurrenceKind::Return => {
                Integrity::Kernel
            }
            OccurrenceKind::Signal => Integrity::Component,
            _ => Integrity::Scheduler,
        }
    }
    /// Whether it happens on the machine alone: components do it, which the simulator does not run.
    pub const fn is_of_components(self) -> bool {
        matches!(self.subject(), SubjectKind::Channel | SubjectKind::Component | SubjectKind::Restarted)
    }
}

/// One thing that can happen: `complete sensor`, `exhaust radio`, `mode`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Occurrence {
    /// What happens.
    pub kind: OccurrenceKind,
    /// The task or server, where the kind has one.
    pub of: Option<String>,
}

/// A text that names no occurrence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OccurrenceError {
    /// The first word is unknown.
    UnknownKind {
        /// It.
        word: String,
    },
    /// The name is missing.
    NoSubject {
        /// The kind.
        kind: OccurrenceKind,
    },
    /// There is a name, or more, that has no place.
    Excess {
        /// The kind.
        kind: OccurrenceKind,
        /// What is too much.
        text: String,
    },
}

impl fmt::Display for OccurrenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OccurrenceError::UnknownKind { word } => {
                let words = OccurrenceKind::ALL.map(OccurrenceKind::word).join(", ");
                write!(f, "{word:?} is nothing that happens; write one of {words}, and the name of whose it is")
            }
            OccurrenceError::NoSubject { kind } => {
                let whose = match kind.subject() {
                    SubjectKind::Task => "a task",
                    SubjectKind::Channel => "a buffer",
                    SubjectKind::Component if *kind == OccurrenceKind::Signal => {
                        "a component and of its event, like camera.ready,"
                    }
                    SubjectKind::Component => "a component and of its grant, like camera.log,",
                    SubjectKind::Restarted => "a component that is restarted",
                    SubjectKind::TaskOrServer | SubjectKind::Nobody => "a task or server",
                };
                write!(f, "{:?} needs the name of {whose} after it", kind.word())
            }
            OccurrenceError::Excess { kind, text } => {
                write!(f, "{text:?} has no place after {:?}; leave it out", kind.word())
            }
        }
    }
}

impl std::error::Error for OccurrenceError {}

impl Occurrence {
    /// Reads `complete sensor`.
    ///
    /// # Errors
    /// The word is unknown, or a name is missing or too much.
    pub fn parse(text: &str) -> Result<Occurrence, OccurrenceError> {
        let mut words = text.split_whitespace();
        let word = words.next().unwrap_or_default();
        let Some(kind) = OccurrenceKind::ALL.into_iter().find(|kind| kind.word() == word) else {
            return Err(OccurrenceError::UnknownKind { word: word.chars().take(40).collect() });
        };
        let of = match kind.subject() {
            SubjectKind::Nobody => None,
            _ => Some(words.next().ok_or(OccurrenceError::NoSubject { kind })?.to_owned()),
        };
        match words.next() {
            Some(excess) => Err(OccurrenceError::Excess { kind, text: excess.chars().take(40).collect() }),
            None => Ok(Occurrence { kind, of }),
        }
    }
}

impl fmt::Display for Occurrence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.word())?;
        self.of.iter().try_for_each(|name| write!(f, " {name}"))
    }
}
