//! The critical sections of jobs: which resources a job holds after so much execution, and what of that the policy was told.

use tactus_policy::{Running, Sections};
use tactus_task::CriticalSection;
use tactus_time::Instant;

/// The sections of all tasks.
#[derive(Default)]
pub(crate) struct Programs {
    /// By task; those that begin earlier first, and of those that begin together the longer ones.
    sections: Vec<Vec<CriticalSection>>,
    /// By task: the job of which the policy was told something, and the sections that it was told of, with their beginnings.
    told: Vec<(u32, Vec<CriticalSection>)>,
}

impl Programs {
    pub(crate) fn new(mut sections: Vec<Vec<CriticalSection>>) -> Programs {
        for all in &mut sections {
            all.sort_by_key(|section| (section.from, std::cmp::Reverse(section.until)));
        }
        Programs { told: vec![(0, Vec::new()); sections.len()], sections }
    }

    /// Tells what the running job has entered and left, where it was told otherwise: what it holds, and since when. Its last decision
    /// was at `decided`.
    pub(crate) fn tell(
        &mut self,
        running: &Running,
        (decided, now): (Instant, Instant),
        mut tell: impl FnMut(Sections, Instant),
    ) {
        let Some(sections) = self.sections.get(running.task.index()).filter(|all| !all.is_empty()) else { return };
        let ran = running.charged + now.since(decided);
        let held: Vec<CriticalSection> =
            sections.iter().filter(|it| it.from < ran && ran < it.until).copied().collect();
        let (job, told) = &mut self.told[running.task.index()];
        if std::mem::replace(job, running.job) != running.job {
            told.clear();
        }
        let same = told.iter().zip(&held).take_while(|(a, b)| a == b).count();
        if told.len() > same {
            told.truncate(same);
            tell(word(told), now);
        }
        for section in &held[same..] {
            told.push(*section);
            tell(word(told), decided.saturating_add(section.from.saturating_sub(running.charged)));
        }
    }

    /// When the job, if it keeps its core from `now` on, leaves a section next.
    pub(crate) fn next_end(&self, running: &Running, now: Instant) -> Instant {
        let sections = self.sections.get(running.task.index()).map_or(&[][..], Vec::as_slice);
        let held = sections.iter().filter(|it| it.from < running.charged && running.charged < it.until);
        let first = held.map(|it| it.until - running.charged).min();
        first.map_or(Instant::NEVER, |left| now.saturating_add(left))
    }
}

fn word(held: &[CriticalSection]) -> Sections {
    held.iter().fold(Sections::NONE, |word, section| word.enter(section.resource).unwrap_or(word))
}
