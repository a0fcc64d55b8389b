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
        let mut all = [OccurrenceKind::Release; KINDS.len()];
        let mut n = 0;
        while n < all.len() {
            all[n] = KINDS[n].0;
            n += 1;
        }
        all
    };
    /// What is known of it.
    const fn row(self) -> &'static Row {
        // The rows are in the order of the kinds, which a test holds them to.
        &KINDS[self as usize]
    }
    /// The word of the system file.
    pub const fn word(self) -> &'static str {
        self.row().1
    }
    /// Whose it is.
    pub const fn subject(self) -> SubjectKind {
        self.row().2
    }
    /// On whose word it rests.
    pub const fn integrity(self) -> Integrity {
        self.row().3
    }
    /// Whether it happens on the machine alone: components do it, which the simulator does not run.
    pub const fn is_of_components(self) -> bool {
        matches!(self.subject(), SubjectKind::Channel | SubjectKind::Component | SubjectKind::Restarted)
    }
}

/// A kind, its word, whose it is, and on whose word it rests.
type Row = (OccurrenceKind, &'static str, SubjectKind, Integrity);

const KINDS: [Row; 19] = {
    use Integrity::{Kernel, Scheduler};
    use OccurrenceKind::*;
    use SubjectKind::{Channel, Component, Nobody, Restarted, Task, TaskOrServer};
    [
        (Release, "release", Task, Scheduler),
        (Start, "start", Task, Scheduler),
        (Dispatch, "dispatch", Task, Scheduler),
        (Preempt, "preempt", Task, Scheduler),
        (Complete, "complete", Task, Scheduler),
        (Miss, "miss", Task, Scheduler),
        (Drop, "drop", Task, Scheduler),
        (Exhaust, "exhaust", TaskOrServer, Scheduler),
        (Replenish, "replenish", TaskOrServer, Scheduler),
        (Mode, "mode", Nobody, Scheduler),
        (Reconfigure, "reconfigure", Nobody, Scheduler),
        (Fault, "fault", Task, Kernel),
        (Restart, "restart", Nobody, Kernel),
        (GiveUp, "give-up", Restarted, Scheduler),
        (Send, "send", Channel, Kernel),
        (Receive, "receive", Channel, Kernel),
        (Call, "call", Component, Kernel),
        (Return, "return", Component, Kernel),
        (Signal, "signal", Component, Integrity::Component),
    ]
};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_finds_its_own_row_and_each_word_its_kind() {
        for (n, (kind, word, ..)) in KINDS.into_iter().enumerate() {
            assert_eq!((kind as usize, kind.word()), (n, word));
            let named = kind.subject() != SubjectKind::Nobody;
            let of = named.then(|| "camera.ready".to_owned());
            let occurrence = Occurrence { kind, of };
            assert_eq!(Occurrence::parse(&occurrence.to_string()), Ok(occurrence));
        }
    }
}
