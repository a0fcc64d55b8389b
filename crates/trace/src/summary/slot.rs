//! Slots, and the programs that came and went, in a summary.

use super::units::{instant, some_instant, some_nanos};
use serde::Serialize;
use tactus_time::{Duration, Instant};

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
    /// How a new version took over, and whether it stayed; `null` for what is no update, and for one that was refused.
    pub update: Option<UpdateSummary>,
}

/// An update of a pair of slots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UpdateSummary {
    /// The slot of the old version.
    pub from: String,
    /// The slot of the new one.
    pub to: String,
    /// When the new version took over; `null` if it never did.
    #[serde(rename = "over_ns", serialize_with = "some_instant")]
    pub over: Option<Instant>,
    /// When it was decided which of them stays; `null` if the run ended before.
    #[serde(rename = "decided_ns", serialize_with = "some_instant")]
    pub decided: Option<Instant>,
    /// Why the old version went on; `null` if the new one stays.
    pub back: Option<String>,
    /// Jobs of the new version that ended before they were complete, since it gave way.
    pub lost: Vec<LostJob>,
    /// The longest time from one complete job of the pair to the next, around the instants in which one version took over from the other.
    #[serde(rename = "gap_ns", serialize_with = "some_nanos")]
    pub gap: Option<Duration>,
}

/// A job that a version that gave way did not complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostJob {
    /// Its task.
    pub task: String,
    /// Its number.
    pub job: u32,
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
    /// The new version of an update stays.
    Updated,
    /// The new version of an update gave way, and the old one went on.
    WentBack,
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
                LoadFate::Refused | LoadFate::Pending | LoadFate::Updated | LoadFate::WentBack => continue,
            };
            words += &format!("{inside} until {}, ", at.since(Instant::ZERO));
            inside = next;
        }
        match words.is_empty() {
            true => format!("{inside} all the time"),
            false => format!("{words}then {inside}"),
        }
    }

    /// What became of each update: `fly 2.0.0 takes over from left in right at 2 s, and stays`.
    pub fn updates(&self) -> impl Iterator<Item = String> + '_ {
        self.loads.iter().filter_map(|load| {
            let update = load.update.as_ref()?;
            let program = load.program.as_deref().unwrap_or("a new version");
            let UpdateSummary { from, to, .. } = update;
            let Some(over) = update.over else {
                return Some(format!("{program} in {to} never took over from {from}"));
            };
            let over = over.since(Instant::ZERO);
            let mut words = format!("{program} in {to} took over from {from} at {over}");
            match (&update.back, update.decided) {
                (Some(why), Some(at)) => {
                    words += &format!("; {from} went on at {}: {why}", at.since(Instant::ZERO));
                    let lost: Vec<String> =
                        update.lost.iter().map(|it| format!("job {} of {}", it.job, it.task)).collect();
                    words += &match lost.is_empty() {
                        true => ", no job lost".to_string(),
                        false => format!(", lost: {}", lost.join(", ")),
                    };
                }
                (None, Some(at)) => words += &format!(" and stays since {}, no job lost", at.since(Instant::ZERO)),
                (_, None) => words += ", and its trial goes on",
            }
            if let Some(gap) = update.gap {
                words += &format!("; {gap} from job to job at most");
            }
            Some(words)
        })
    }

    /// What was refused, each with its reason.
    pub fn refused(&self) -> impl Iterator<Item = (&LoadSummary, &str)> {
        self.loads.iter().filter_map(|load| Some((load, load.why.as_deref()?)))
    }
}
