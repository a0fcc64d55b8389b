//! The slots of a simulated node: what admission says of each package in each of them, and what is in them.

use crate::frame::{Name, Version};
use crate::refusals::Refusal;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use tactus_time::Duration;

/// What admission says of a package in an empty slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// It is admitted, and runs this long after its loading has begun.
    Fits(Duration),
    /// It is not.
    Refused(Refusal),
}

/// What a node can host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slots {
    /// By package, the admission of each slot.
    pub admissions: BTreeMap<(Name, Version), Vec<Admission>>,
    /// The slots' names.
    pub names: Vec<Name>,
    /// The number of the reason that all slots are taken.
    pub full: u8,
    /// The number of the reason that a slot is for another class of packages: the least telling one.
    pub class: u8,
}

impl Slots {
    /// The slots that admit a package, with the time that its loading takes.
    pub fn admitting(&self, app: Name, version: Version) -> impl Iterator<Item = (usize, Duration)> + '_ {
        let admissions = self.admissions.get(&(app, version)).map_or(&[][..], |all| all);
        admissions.iter().enumerate().filter_map(|(n, admission)| match admission {
            Admission::Fits(time) => Some((n, *time)),
            Admission::Refused(_) => None,
        })
    }
    /// Why slots refuse a package that do not admit it, by their numbers.
    pub fn refusals(&self, app: Name, version: Version) -> impl Iterator<Item = (usize, Refusal)> + '_ {
        let admissions = self.admissions.get(&(app, version)).map_or(&[][..], |all| all);
        admissions.iter().enumerate().filter_map(|(n, admission)| match admission {
            Admission::Fits(_) => None,
            Admission::Refused(refusal) => Some((n, *refusal)),
        })
    }
    /// The reason that is told, of those of several slots: the first that is not that the slot is for another class.
    pub fn telling(&self, refusals: impl Iterator<Item = Refusal> + Clone) -> Option<Refusal> {
        let mut all = refusals.clone();
        all.find(|it| it.reason != self.class).or_else(|| refusals.into_iter().next())
    }
}

/// What is in the slots of a node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Occupied(Vec<Option<(Name, Version)>>);

impl Occupied {
    /// All slots are empty.
    pub(crate) fn new(slots: usize) -> Occupied {
        Occupied(alloc::vec![None; slots])
    }
    /// Takes a slot for a package: the first empty one that admits it. A version before it goes on in its own until then.
    pub(crate) fn take(&mut self, slots: &Slots, app: Name, version: Version) -> Result<(usize, Duration), Refusal> {
        let empty = |n: usize| self.0[n].is_none();
        if let Some((n, time)) = slots.admitting(app, version).find(|it| empty(it.0)) {
            self.0[n] = Some((app, version));
            return Ok((n, time));
        }
        let refusals: Vec<Refusal> = slots.refusals(app, version).filter(|it| empty(it.0)).map(|it| it.1).collect();
        Err(slots.telling(refusals.into_iter()).unwrap_or(Refusal { reason: slots.full, task: None }))
    }
    /// A version has ended.
    pub(crate) fn free(&mut self, app: Name, version: Version) {
        self.0.iter_mut().filter(|it| **it == Some((app, version))).for_each(|it| *it = None);
    }
}
