//! Releases of periodic tasks, those of one offset and one period together: they are always due at the same instants, so one entry
//! of the queue stands for all of them, and each costs no more than a step along a list.

use crate::heap::Key;
use crate::releases::Releases;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;
use tactus_time::{Duration, Instant};

/// See above.
pub(crate) struct Groups {
    groups: Box<[Group]>,
    /// Places of tasks, group by group, in their order within each.
    places: Box<[usize]>,
    /// Of each task, its group.
    group_of: Box<[usize]>,
    releases: Releases,
}

struct Group {
    period: Duration,
    /// Where its places are.
    places: Range<usize>,
    /// How many of them are still released.
    alive: usize,
}

impl Groups {
    /// Tasks by place, each with its offset and period.
    pub(crate) fn new(tasks: impl Iterator<Item = (Duration, Duration)>) -> Groups {
        let tasks: Vec<(Duration, Duration)> = tasks.collect();
        // Numbered by their first tasks, so that of groups that are due at one instant the one with the lowest task is first.
        let first_like = |task: &(Duration, Duration)| tasks.iter().position(|other| other == task).unwrap_or(0);
        let leaders: Vec<usize> = tasks.iter().map(first_like).collect();
        let mut places: Vec<usize> = (0..tasks.len()).collect();
        places.sort_unstable_by_key(|place| (leaders[*place], *place));
        let (mut groups, mut group_of) = (Vec::new(), alloc::vec![0; tasks.len()]);
        let mut begin = 0;
        for members in places.chunk_by(|a, b| leaders[*a] == leaders[*b]) {
            members.iter().for_each(|place| group_of[*place] = groups.len());
            let end = begin + members.len();
            groups.push(Group { period: tasks[members[0]].1, places: begin..end, alive: members.len() });
            begin = end;
        }
        let first = |group: &Group| Instant::ZERO.saturating_add(tasks[places[group.places.start]].0);
        let times: Vec<Instant> = groups.iter().map(first).collect();
        // Each lies at most its own period, or its offset, after the earliest.
        let apart = tasks.iter().map(|(offset, period)| (*offset).max(*period)).max().unwrap_or(Duration::ZERO);
        let mut releases = Releases::with_capacity(groups.len(), apart);
        times.iter().enumerate().for_each(|(group, time)| releases.push(Key::at(*time, group)));
        Groups { groups: groups.into(), places: places.into(), group_of: group_of.into(), releases }
    }
    /// The next release; never, if there is none.
    #[inline]
    pub(crate) fn next(&self) -> Instant {
        self.releases.first().time()
    }
    /// The earliest release at `now` or before that was not given yet, and the places of its tasks, those taken out included.
    #[inline]
    pub(crate) fn due(&mut self, now: Instant) -> Option<(Instant, &[usize])> {
        let next = self.releases.first();
        if next.time() > now {
            return None;
        }
        let group = self.groups.get(next.place())?;
        let follower = next.time().saturating_add(group.period);
        if follower < Instant::NEVER && group.alive > 0 {
            self.releases.replace_first(Key::at(follower, next.place()));
        } else {
            self.releases.pop();
        }
        Some((next.time(), &self.places[group.places.clone()]))
    }
    /// The task is released no more.
    pub(crate) fn remove(&mut self, place: usize) {
        let group = &mut self.groups[self.group_of[place]];
        group.alive = group.alive.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_is_due_at_its_own_instants_alone_or_in_company() {
        let tasks = [(0, 4), (1, 4), (0, 6), (0, 4), (1, 4), (2, 3)];
        let of = |millis| Duration::from_millis(millis);
        let mut groups = Groups::new(tasks.iter().map(|(offset, period)| (of(*offset), of(*period))));
        assert_eq!(groups.groups.len(), 4);
        let mut seen = Vec::new();
        while let Some((time, places)) = groups.due(Instant::ZERO + of(30)) {
            seen.extend(places.iter().map(|place| (time.as_nanos() / 1_000_000, *place)));
        }
        let mut expected = Vec::new();
        for (place, (offset, period)) in tasks.into_iter().enumerate() {
            expected.extend((offset..=30).step_by(period as usize).map(|time| (time, place)));
        }
        assert!(seen.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{seen:?}");
        seen.sort_unstable();
        expected.sort_unstable();
        assert_eq!(seen, expected);
        assert_eq!(groups.next(), Instant::ZERO + of(32));
    }

    #[test]
    fn a_group_of_which_all_are_taken_out_is_due_once_more_at_most() {
        let of = Duration::from_millis;
        let mut groups = Groups::new([(of(0), of(5)), (of(0), of(5))].into_iter());
        groups.remove(0);
        assert!(groups.due(Instant::ZERO).is_some());
        groups.remove(1);
        assert!(groups.due(Instant::ZERO + of(5)).is_some());
        assert_eq!(groups.next(), Instant::NEVER);
        assert!(groups.due(Instant::ZERO + of(1_000)).is_none());
    }
}
