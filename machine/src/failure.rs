//! How a command ends: what it tells the shell, and what it tells the person.

use std::fmt;

/// A command that came to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The promise held; exit status 0.
    Held,
    /// A deadline or a bound was broken, a system was not accepted or a test failed; exit status 1.
    Broken,
}

impl Outcome {
    /// [`Outcome::Held`] if the condition is met.
    pub fn held_if(condition: bool) -> Outcome {
        if condition {
            Outcome::Held
        } else {
            Outcome::Broken
        }
    }
    /// For the shell.
    pub fn status(self) -> u8 {
        match self {
            Outcome::Held => 0,
            Outcome::Broken => 1,
        }
    }
}

/// A command that could not come to its end. The text says what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// What the person handed in cannot be used; exit status 2.
    Input(String),
    /// The machine lacks something, or did not do what it was asked to; exit status 3.
    Machine(String),
}

impl Failure {
    /// The same with other words for what the machine did.
    pub fn map_machine(self, words: impl FnOnce(String) -> String) -> Failure {
        match self {
            Failure::Machine(text) => Failure::Machine(words(text)),
            input @ Failure::Input(_) => input,
        }
    }
    /// For the shell.
    pub fn status(&self) -> u8 {
        match self {
            Failure::Input(_) => 2,
            Failure::Machine(_) => 3,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(text) | Failure::Machine(text) => f.write_str(text),
        }
    }
}
