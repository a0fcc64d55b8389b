//! Changes of the running system in a summary.

use super::units::{instant, some_instant};
use serde::Serialize;
use tactus_time::Instant;

/// A change of the running system, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangeSummary {
    /// In words.
    pub what: String,
    /// The core on which it is made.
    pub core: u8,
    /// When it was requested.
    #[serde(rename = "requested_ns", serialize_with = "instant")]
    pub requested: Instant,
    /// What became of it.
    pub fate: Fate,
    /// When it was applied or refused; `null` if it did not come to that.
    #[serde(rename = "decided_ns", serialize_with = "some_instant")]
    pub decided: Option<Instant>,
    /// Why it was refused; `null` if it was not.
    pub why: Option<String>,
}

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It was applied.
    Applied,
    /// It was refused.
    Refused,
    /// It waits for an idle instant.
    Waiting,
    /// The run ended before.
    NotRequested,
}
