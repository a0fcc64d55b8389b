//! Slots, and the programs that came and went, in a summary.

use super::units::{instant, some_instant};
use serde::Serialize;
use tactus_time::Instant;

/// A slot, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlotSummary {
    /// Its name.
    pub name: String,
    /// Loads and unloads, in order.
    pub loads: Vec<LoadSummary>,
}

/// A load or an unload, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoadSummary {
    /// The program that was to come; `null` for an unload, and where the package does not tell.
    pub program: Option<String>,
    /// The names of its tasks, in the order of the slot's.
    pub tasks: Vec<String>,
    /// From when on the loader was to do it.
    #[serde(rename = "requested_ns", serialize_with = "instant")]
    pub requested: Instant,
    /// What became of it.
    pub fate: LoadFate,
    /// When the scheduler was told; `null` if it did not come to that.
    #[serde(rename = "decided_ns", serialize_with = "some_instant")]
    pub decided: Option<Instant>,
    /// Why it was refused; `null` if it was not.
    pub why: Option<String>,
}

/// What became of a load or an unload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadFate {
    /// The program began.
    Loaded,
    /// The program ended.
    Unloaded,
    /// The program ended, and what it was is kept.
    Saved,
    /// The program goes on from what was saved.
    Restored,
    /// It was refused, and changed nothing.
    Refused,
    /// The run ended before.
    Pending,
}

impl SlotSummary {
    /// What was in it and when: `empty until 35 ms, blink 1.0.0 until 65 ms, then empty`.
    pub fn words(&self) -> String {
        let mut inside = "empty".to_string();
        let mut words = String::new();
        for load in &self.loads {
            let Some(at) = load.decided else { continue };
            let next = match load.fate {
                LoadFate::Loaded | LoadFate::Restored => load.program.clone().unwrap_or_else(|| "a program".into()),
                LoadFate::Unloaded => "empty".into(),
                LoadFate::Saved => format!("empty, with {inside} saved,"),
                LoadFate::Refused | LoadFate::Pending => continue,
            };
            words += &format!("{inside} until {}, ", at.since(Instant::ZERO));
            inside = next;
        }
        match words.is_empty() {
            true => format!("{inside} all the time"),
            false => format!("{words}then {inside}"),
        }
    }

    /// What was refused, each with its reason.
    pub fn refused(&self) -> impl Iterator<Item = (&LoadSummary, &str)> {
        self.loads.iter().filter_map(|load| Some((load, load.why.as_deref()?)))
    }
}
