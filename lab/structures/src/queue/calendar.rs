//! A calendar queue (Brown, 1988): a wheel of days, each a short sorted list. A task goes to the day of its deadline;
//! the most urgent one is on the first day that has one. Cheap while deadlines are spread over a year of the wheel.

use super::{Entry, ReadyQueue, NIL};
use crate::{planted, same, Flaw};
use alloc::vec::Vec;

/// How long a day is: 2^20 ns, about a millisecond.
const DAY_BITS: u32 = 20;

#[derive(Clone, Copy)]
struct Link {
    urgency: u64,
    next: u32,
    /// The task before on the same day; its own number while it is not in the queue.
    before: u32,
}

/// A calendar queue.
pub struct Calendar<const BUG: u8 = { planted::NONE }> {
    /// By day of the wheel: the most urgent task.
    days: Vec<u32>,
    links: Vec<Link>,
    /// The most urgent task of all.
    first: u32,
    len: usize,
}

impl<const BUG: u8> Calendar<BUG> {
    #[inline]
    fn entry(&self, task: u32) -> Entry {
        Entry { urgency: self.links[task as usize].urgency, task }
    }
    #[inline]
    fn day(&self, urgency: u64) -> usize {
        (urgency >> DAY_BITS) as usize & (self.days.len() - 1)
    }

    /// The most urgent task, given that none is more urgent than `from`.
    fn search(&self, from: u64) -> u32 {
        if self.len == 0 {
            return NIL;
        }
        let start = from >> DAY_BITS;
        for offset in 0..self.days.len() as u64 {
            let date = start.saturating_add(offset);
            let head = self.days[date as usize & (self.days.len() - 1)];
            if head != NIL && self.links[head as usize].urgency >> DAY_BITS == date {
                return head;
            }
        }
        // Nothing within a year: the first of all days.
        let heads = self.days.iter().filter(|head| **head != NIL);
        heads.map(|head| self.entry(*head)).min().map_or(NIL, |entry| entry.task)
    }
}

impl<const BUG: u8> ReadyQueue for Calendar<BUG> {
    const NAME: &'static str = "calendar";

    fn with_room(tasks: usize) -> Self {
        let link = |task| Link { urgency: 0, next: NIL, before: task };
        Calendar {
            days: alloc::vec![NIL; (2 * tasks).next_power_of_two().max(64)],
            links: (0..tasks as u32).map(link).collect(),
            first: NIL,
            len: 0,
        }
    }
    fn insert(&mut self, entry: Entry) {
        self.remove(entry.task);
        let day = self.day(entry.urgency);
        let (mut before, mut next) = (NIL, self.days[day]);
        while next != NIL && self.entry(next) < entry {
            before = next;
            next = self.links[next as usize].next;
        }
        self.links[entry.task as usize] = Link { urgency: entry.urgency, next, before };
        if next != NIL {
            self.links[next as usize].before = entry.task;
        }
        if before == NIL {
            self.days[day] = entry.task;
        } else {
            self.links[before as usize].next = entry.task;
        }
        self.len += 1;
        let earlier = self.first == NIL || entry < self.entry(self.first) && BUG != planted::STALE_FIRST;
        if earlier {
            self.first = entry.task;
        }
    }
    fn remove(&mut self, task: u32) -> Option<Entry> {
        let Link { urgency, next, before } = self.links[task as usize];
        if before == task {
            return None;
        }
        if before == NIL {
            let day = self.day(urgency);
            self.days[day] = next;
        } else {
            self.links[before as usize].next = next;
        }
        if next != NIL {
            self.links[next as usize].before = before;
        }
        self.links[task as usize].before = task;
        self.len -= 1;
        if self.first == task {
            self.first = self.search(urgency);
        }
        Some(Entry { urgency, task })
    }
    #[inline]
    fn peek(&self) -> Option<Entry> {
        (self.first != NIL).then(|| self.entry(self.first))
    }
    fn len(&self) -> usize {
        self.len
    }
    fn each(&self, visit: &mut dyn FnMut(Entry)) {
        for head in &self.days {
            let mut task = *head;
            while task != NIL {
                visit(self.entry(task));
                task = self.links[task as usize].next;
            }
        }
    }
    fn check(&self) -> Result<(), Flaw> {
        let mut reached = 0;
        let mut least: Option<Entry> = None;
        for (day, head) in self.days.iter().enumerate() {
            let (mut before, mut task) = (NIL, *head);
            while task != NIL {
                reached += 1;
                let entry = self.entry(task);
                least = Some(least.map_or(entry, |least| least.min(entry)));
                let rule = "a task is on the day of its urgency";
                same(Self::NAME, rule, task as usize, self.day(entry.urgency) as u64, day as u64)?;
                let sorted = before == NIL || self.entry(before) < entry;
                same(Self::NAME, "the tasks of a day are sorted", task as usize, 1, u64::from(sorted))?;
                let link = self.links[task as usize];
                let rule = "each task knows the one before";
                same(Self::NAME, rule, task as usize, u64::from(before), u64::from(link.before))?;
                (before, task) = (task, link.next);
            }
        }
        same(Self::NAME, "every task is on some day", 0, self.len as u64, reached)?;
        let expected = least.map_or(NIL, |entry| entry.task);
        same(Self::NAME, "the first task is the most urgent", 0, u64::from(expected), u64::from(self.first))
    }
}
