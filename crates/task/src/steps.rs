//! What jobs do beside executing.

use crate::{CriticalSection, Program, Wait};
use alloc::vec::Vec;

/// What the jobs of each task do beside executing, by task; nothing where a list is empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobSteps {
    /// Their critical sections.
    pub sections: Vec<Vec<CriticalSection>>,
    /// Their waits.
    pub waits: Vec<Vec<Wait>>,
    /// What they do besides, in which waits and sections have no part.
    pub programs: Vec<Program>,
    /// How many lines each asks memory for in all its execution.
    pub misses: Vec<u32>,
    /// How many of the events each causes that its core's counter counts for work that gives way to it, in all its execution.
    pub sampled: Vec<u32>,
}
