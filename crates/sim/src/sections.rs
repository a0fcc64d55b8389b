//! The critical sections of jobs: which resources a job holds after so much execution, and what of that the policy was told.

use tactus_policy::{ResourceSet, Running, Sections};
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
    /// was at `decided`. `asks`: it is about to enter one more.
    pub(crate) fn tell(
        &mut self,
        running: &Running,
        (decided, now, asks): (Instant, Instant, bool),
        mut tell: impl FnMut(Sections, Instant),
    ) {
        let Some(sections) = self.sections.get(running.task.index()).filter(|all| !all.is_empty()) else { return };
        let ran = running.charged + now.since(decided);
        let same_job = |it: &&CriticalSection| {
            let (job, told) = &self.told[running.task.index()];
            *job == running.job && told.contains(it)
        };
        let entered = |it: &&CriticalSection| it.from < ran || (it.from == ran && (asks || same_job(it)));
        let held: Vec<CriticalSection> = sections.iter().filter(|it| ran < it.until).filter(entered).copied().collect();
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

    /// When the job, if it keeps its core from `now` on, enters a section on one of the `locked` resources next, and has not asked for it.
    pub(crate) fn next_lock(&self, running: &Running, now: Instant, locked: ResourceSet) -> Instant {
        let sections = self.sections.get(running.task.index()).map_or(&[][..], Vec::as_slice);
        let (job, told) = &self.told.get(running.task.index()).map_or((0, &[][..]), |(job, told)| (*job, &told[..]));
        let asked = |it: &&CriticalSection| *job == running.job && told.contains(it);
        let ahead =
            sections.iter().filter(|it| it.from >= running.charged && !asked(it) && locked.contains(it.resource));
        let first = ahead.map(|it| it.from.saturating_sub(running.charged)).min();
        first.map_or(Instant::NEVER, |left| now.saturating_add(left))
    }

    /// When the job, if it keeps its core from `now` on, leaves a section next.
    pub(crate) fn next_end(&self, running: &Running, now: Instant) -> Instant {
        let sections = self.sections.get(running.task.index()).map_or(&[][..], Vec::as_slice);
        let told = |it: &CriticalSection| {
            self.told.get(running.task.index()).is_some_and(|(job, told)| *job == running.job && told.contains(it))
        };
        let entered = |it: &&CriticalSection| it.from < running.charged || told(it);
        let held = sections.iter().filter(|it| running.charged < it.until).filter(entered);
        let first = held.map(|it| it.until - running.charged).min();
        first.map_or(Instant::NEVER, |left| now.saturating_add(left))
    }
}

fn word(held: &[CriticalSection]) -> Sections {
    held.iter().fold(Sections::NONE, |word, section| word.enter(section.resource).unwrap_or(word))
}
