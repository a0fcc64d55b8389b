//! What became of a property that a monitor watched.

use super::units::{instant, some_instant};
use crate::{Conclusion, Finding};
use serde::Serialize;
use tactus_monitor::{Integrity, Monitor, Verdict};
use tactus_time::Instant;

/// The verdict on a property of which nothing can be said.
const NOT_JUDGED: &str = "not judged";

/// A monitor and its verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MonitorSummary {
    /// Its name.
    pub name: String,
    /// What it watched.
    pub property: String,
    /// `false`, `true` or `not yet`: the first verdict that it came to, a violation before any other. `not judged` where events of it
    /// were not recorded and no violation was found.
    pub verdict: String,
    /// Since when that is certain; `null` if it is not.
    #[serde(rename = "at_ns", serialize_with = "some_instant")]
    pub at: Option<Instant>,
    /// The event that brought it; `null` if there is none, or what was awaited did not come.
    pub event: Option<String>,
    /// The events that led there, the last one last.
    pub path: Vec<Step>,
    /// How many verdicts it came to: more than one only where it starts anew after each.
    pub verdicts: usize,
    /// How many events it took.
    pub events: usize,
    /// How many of its events found no room in the trace.
    pub not_recorded: u64,
    /// What is done where it is violated, as the system file has it.
    pub action: String,
    /// On whose word its events rest, beside the kernel's: `kernel` for nobody's, `scheduler`, `component`.
    pub rests_on: &'static str,
    /// Who stepped it: the `kernel` while the system ran, or the judge, over the `trace`.
    pub judged_by: &'static str,
}

/// An event of a monitor, and the state to which it led.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// When.
    #[serde(rename = "at_ns", serialize_with = "instant")]
    pub at: Instant,
    /// The name that the property gives it.
    pub event: String,
    /// The monitor's state after it.
    pub state: u32,
}

impl MonitorSummary {
    /// What a monitor found.
    pub fn of(monitor: &Monitor, finding: &Finding) -> MonitorSummary {
        let all = &finding.conclusions;
        // Unless it starts anew, nothing that is missing changes a verdict.
        let judged = |it: &&Conclusion| finding.lost == 0 || it.verdict == Verdict::False || !monitor.reset;
        let first: Option<&Conclusion> =
            all.iter().find(|it| it.verdict == Verdict::False).or(all.first()).filter(judged);
        let integrity = monitor.events.iter().map(|(_, what)| what.kind.integrity()).max();
        let path = first.map_or(&[][..], |it| &it.path).iter();
        MonitorSummary {
            name: monitor.name.clone(),
            property: monitor.property.to_string(),
            verdict: match first {
                Some(it) => it.verdict.to_string(),
                None if finding.lost > 0 => NOT_JUDGED.to_owned(),
                None => Verdict::NotYet.to_string(),
            },
            at: first.map(|it| it.at),
            event: first.and_then(|it| it.event.clone()),
            path: path.map(|it| Step { at: it.at, event: it.event.clone(), state: it.state }).collect(),
            verdicts: all.len(),
            events: finding.events,
            not_recorded: finding.lost,
            action: monitor.action.to_string(),
            rests_on: match integrity {
                None | Some(Integrity::Kernel) => "kernel",
                Some(Integrity::Scheduler) => "scheduler",
                Some(Integrity::Component) => "component",
            },
            judged_by: if finding.by_kernel { "kernel" } else { "trace" },
        }
    }

    /// Whether the property was violated.
    pub fn is_broken(&self) -> bool {
        self.verdict == Verdict::False.to_string()
    }

    /// Why nothing can be said of the property, if that is so.
    pub fn not_judged(&self) -> Option<String> {
        let events = self.not_recorded;
        (self.verdict == NOT_JUDGED).then(|| {
            format!("property {} cannot be judged: {events} of its events found no room in the trace", self.name)
        })
    }

    /// `property order was violated by moves, at 13 ms`; nothing if it was not.
    pub fn violation(&self) -> Option<String> {
        let at = self.at.filter(|_| self.is_broken())?;
        let cause = match &self.event {
            Some(event) => format!("by {event}"),
            None if self.path.is_empty() && self.judged_by == "kernel" => "as the kernel found".to_owned(),
            None => "since what it awaits did not come".to_owned(),
        };
        Some(format!("property {} was violated {cause}, at {at}", self.name))
    }
}
