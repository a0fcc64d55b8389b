//! What analysis promised.

use tactus_time::Duration;

/// What analysis promised for a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Promise {
    /// No response longer than this (hard).
    Response(Duration),
    /// No job later than its deadline by more than this.
    Tardiness(Duration),
    /// Nothing.
    None,
}
