//! A bitmap of priorities with a first-in, first-out list for each: every operation takes the same few instructions,
//! however many tasks there are. This is the run queue of Linux's fixed-priority classes, with 4,096 levels in two steps.

use super::{Entry, ReadyQueue, NIL};
use crate::{planted, same, Flaw};
use alloc::vec::Vec;

const LEVELS: usize = 4_096;

#[derive(Clone, Copy)]
struct Link {
    level: u32,
    next: u32,
    before: u32,
}

/// A bitmap of priorities.
pub struct Bitmap<const BUG: u8 = { planted::NONE }> {
    /// Which words of `levels` are not zero.
    words: u64,
    /// Which levels have a task.
    levels: [u64; LEVELS / 64],
    heads: Vec<u32>,
    tails: Vec<u32>,
    /// By task; its level is `NIL` while it is not in the queue.
    links: Vec<Link>,
    len: usize,
}

impl<const BUG: u8> ReadyQueue for Bitmap<BUG> {
    const NAME: &'static str = "bitmap";
    const LEVELS: u64 = LEVELS as u64;

    fn with_room(tasks: usize) -> Self {
        Bitmap {
            words: 0,
            levels: [0; LEVELS / 64],
            heads: alloc::vec![NIL; LEVELS],
            tails: alloc::vec![NIL; LEVELS],
            links: alloc::vec![Link { level: NIL, next: NIL, before: NIL }; tasks],
            len: 0,
        }
    }
    /// An urgency beyond the last level counts as the last level.
    fn insert(&mut self, entry: Entry) {
        self.remove(entry.task);
        let level = entry.urgency.min(LEVELS as u64 - 1) as usize;
        let before = self.tails[level];
        self.links[entry.task as usize] = Link { level: level as u32, next: NIL, before };
        if before == NIL {
            self.heads[level] = entry.task;
        } else {
            self.links[before as usize].next = entry.task;
        }
        self.tails[level] = entry.task;
        self.levels[level / 64] |= 1 << (level % 64);
        self.words |= 1 << (level / 64);
        self.len += 1;
    }
    fn remove(&mut self, task: u32) -> Option<Entry> {
        let Link { level, next, before } = self.links[task as usize];
        if level == NIL {
            return None;
        }
        self.links[task as usize].level = NIL;
        let level = level as usize;
        if before == NIL {
            self.heads[level] = next;
        } else {
            self.links[before as usize].next = next;
        }
        if next == NIL {
            self.tails[level] = before;
        } else {
            self.links[next as usize].before = before;
        }
        if self.heads[level] == NIL && BUG != planted::STALE_BIT {
            self.levels[level / 64] &= !(1 << (level % 64));
            if self.levels[level / 64] == 0 {
                self.words &= !(1 << (level / 64));
            }
        }
        self.len -= 1;
        Some(Entry { urgency: level as u64, task })
    }
    #[inline]
    fn peek(&self) -> Option<Entry> {
        if self.words == 0 {
            return None;
        }
        let word = self.words.trailing_zeros() as usize;
        let level = word * 64 + self.levels[word].trailing_zeros() as usize;
        let task = self.heads[level];
        (task != NIL).then_some(Entry { urgency: level as u64, task })
    }
    fn len(&self) -> usize {
        self.len
    }
    fn each(&self, visit: &mut dyn FnMut(Entry)) {
        for (level, head) in self.heads.iter().enumerate() {
            let mut task = *head;
            while task != NIL {
                visit(Entry { urgency: level as u64, task });
                task = self.links[task as usize].next;
            }
        }
    }
    fn check(&self) -> Result<(), Flaw> {
        let mut reached = 0;
        self.each(&mut |_| reached += 1);
        same(Self::NAME, "every task is in the list of its level", 0, self.len as u64, reached)?;
        for level in 0..LEVELS {
            let bit = self.levels[level / 64] >> (level % 64) & 1;
            let rule = "a level's bit is set if its list has a task";
            same(Self::NAME, rule, level, u64::from(self.heads[level] != NIL), bit)?;
        }
        for (word, levels) in self.levels.iter().enumerate() {
            let rule = "a word's bit is set if one of its levels' is";
            same(Self::NAME, rule, word, u64::from(*levels != 0), self.words >> word & 1)?;
        }
        Ok(())
    }
}
