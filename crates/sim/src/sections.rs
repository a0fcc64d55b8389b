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
            *all = one_inside_another(all);
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

/// The sections of a job as they come about where some last longer than declared and reach into the next: a job leaves the one that it
/// entered last first. One on a resource that it holds already changes nothing but how long it holds that.
fn one_inside_another(declared: &[CriticalSection]) -> Vec<CriticalSection> {
    let mut all: Vec<CriticalSection> = Vec::new();
    for section in declared {
        let mut held = false;
        for outer in all.iter_mut().filter(|it| it.from <= section.from && section.from < it.until) {
            outer.until = outer.until.max(section.until);
            held |= outer.resource == section.resource;
        }
        if !held {
            all.push(*section);
        }
    }
    all
}

fn word(held: &[CriticalSection]) -> Sections {
    held.iter().fold(Sections::NONE, |word, section| word.enter(section.resource).unwrap_or(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tactus_time::Duration;

    #[test]
    fn a_section_that_reaches_into_the_next_lasts_until_its_end() {
        let section = |resource, from, until| CriticalSection {
            resource,
            from: Duration::from_millis(from),
            until: Duration::from_millis(until),
        };
        let made = |declared: &[(_, u64, u64)]| {
            one_inside_another(&declared.iter().map(|&(r, from, until)| section(r, from, until)).collect::<Vec<_>>())
        };
        assert_eq!(made(&[(0, 1, 5), (0, 4, 8), (0, 9, 10)]), [section(0, 1, 8), section(0, 9, 10)]);
        assert_eq!(made(&[(0, 1, 5), (1, 4, 8)]), [section(0, 1, 8), section(1, 4, 8)]);
        // One inside another, and one behind another, stay as they are.
        assert_eq!(made(&[(0, 1, 5), (1, 2, 3), (0, 5, 6)]), [section(0, 1, 5), section(1, 2, 3), section(0, 5, 6)]);
    }
}
