//! The replenishments of a sporadic server, by time, in a list of bounded length (Stanovich, Baker, Wang and Harbour,
//! "Defects of the POSIX sporadic server and how to correct them", RTAS 2010).

use crate::tree::parameters::MAX_REPLENISHMENTS;
use alloc::vec::Vec;
use tactus_time::{Duration, Instant};

/// So much budget, to be had from then on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Replenishment {
    pub(super) amount: Duration,
    pub(super) at: Instant,
}

/// Replenishments in the order of their times; at most [`MAX_REPLENISHMENTS`].
#[derive(Clone, Debug)]
pub(super) struct Replenishments {
    list: Vec<Replenishment>,
}

/// An empty list with all the room that it will need.
impl Default for Replenishments {
    fn default() -> Replenishments {
        Replenishments { list: Vec::with_capacity(MAX_REPLENISHMENTS) }
    }
}

impl Replenishments {
    pub(super) fn clear(&mut self) {
        self.list.clear();
    }
    pub(super) fn first(&self) -> Option<Replenishment> {
        self.list.first().copied()
    }
    pub(super) fn take_first(&mut self) {
        if !self.list.is_empty() {
            self.list.remove(0);
        }
    }

    /// Puts a replenishment where its time says. Where the list is full, the replenishment is joined to the one that follows it, or, being
    /// the last, takes the last one along to its own time: budget may come later than it should, never earlier.
    pub(super) fn insert(&mut self, replenishment: Replenishment) {
        let place = self.list.partition_point(|other| other.at <= replenishment.at);
        if self.list.len() < MAX_REPLENISHMENTS {
            self.list.insert(place, replenishment);
            return;
        }
        if place < self.list.len() {
            self.list[place].amount = sum(self.list[place].amount, replenishment.amount);
        } else if let Some(last) = self.list.last_mut() {
            last.amount = sum(last.amount, replenishment.amount);
            last.at = replenishment.at;
        }
    }

    /// The first replenishment keeps `rest`, and `later` is to come. Where there is no room for both, the rest is joined to the
    /// replenishment that follows.
    pub(super) fn split(&mut self, rest: Duration, later: Replenishment) {
        if let Some(head) = self.list.first_mut() {
            head.amount = rest;
        }
        if rest.is_zero() {
            self.take_first();
        } else if self.list.len() == MAX_REPLENISHMENTS {
            self.take_first();
            match self.list.first_mut() {
                Some(next) => next.amount = sum(next.amount, rest),
                None => return self.insert(Replenishment { amount: sum(rest, later.amount), ..later }),
            }
        }
        self.insert(later);
    }

    /// The server goes on at `now` after it was blocked: its first replenishment counts from now, and takes in those that it
    /// reaches, which are due before it would be used up. `used` of the first replenishment is gone already.
    pub(super) fn new_phase(&mut self, now: Instant, used: Duration) {
        let Some(mut head) = self.first() else { return };
        head.at = now;
        while let Some(next) = self.list.get(1) {
            if next.at > now.saturating_add(head.amount.saturating_sub(used)) {
                break;
            }
            head.amount = sum(head.amount, next.amount);
            self.list.remove(1);
        }
        if let Some(first) = self.list.first_mut() {
            *first = head;
        }
    }

    /// The first replenishment comes at `at` instead, joined to the next one if it would not come before.
    pub(super) fn delay_first(&mut self, at: Instant) {
        let Some(head) = self.first() else { return };
        self.take_first();
        match self.list.first_mut().filter(|next| next.at <= at) {
            Some(next) => next.amount = sum(next.amount, head.amount),
            None => self.list.insert(0, Replenishment { at, ..head }),
        }
    }

    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = &Replenishment> {
        self.list.iter()
    }
}

fn sum(a: Duration, b: Duration) -> Duration {
    a.checked_add(b).unwrap_or(Duration::MAX)
}
