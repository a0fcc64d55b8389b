//! The replenishments of a sporadic server, by time, in a list of bounded length (Stanovich, Baker, Wang and Harbour,
//! "Defects of the POSIX sporadic server and how to correct them", RTAS 2010).

use super::parameters::MAX_REPLENISHMENTS;
use alloc::vec::Vec;
use tactus_task::ServerKind;
use tactus_time::{Duration, Instant};

/// So much budget, to be had from then on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Replenishment {
    pub(crate) amount: Duration,
    pub(crate) at: Instant,
}

/// Replenishments in the order of their times; at most [`MAX_REPLENISHMENTS`].
#[derive(Clone, Debug)]
pub(crate) struct Replenishments {
    list: Vec<Replenishment>,
}

impl Replenishments {
    /// An empty list, with room where the kind needs it.
    pub(crate) fn for_kind(kind: ServerKind) -> Replenishments {
        Replenishments { list: Vec::with_capacity(if kind == ServerKind::Sporadic { MAX_REPLENISHMENTS } else { 0 }) }
    }

    pub(crate) fn clear(&mut self) {
        self.list.clear();
    }
    pub(crate) fn first(&self) -> Option<Replenishment> {
        self.list.first().copied()
    }
    pub(crate) fn take_first(&mut self) {
        if !self.list.is_empty() {
            self.list.remove(0);
        }
    }

    /// Puts a replenishment where its time says. Where the list is full, the replenishment is joined to the one that follows it, or, being
    /// the last, takes the last one along to its own time: budget may come later than it should, never earlier.
    pub(crate) fn insert(&mut self, replenishment: Replenishment) {
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
    pub(crate) fn split(&mut self, rest: Duration, later: Replenishment) {
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
    pub(crate) fn new_phase(&mut self, now: Instant, used: Duration) {
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
    pub(crate) fn delay_first(&mut self, at: Instant) {
        let Some(head) = self.first() else { return };
        self.take_first();
        match self.list.first_mut().filter(|next| next.at <= at) {
            Some(next) => next.amount = sum(next.amount, head.amount),
            None => self.list.insert(0, Replenishment { at, ..head }),
        }
    }

    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Replenishment> {
        self.list.iter()
    }
}

fn sum(a: Duration, b: Duration) -> Duration {
    a.checked_add(b).unwrap_or(Duration::MAX)
}
