//! What a task's bound adds up from, written down while the check computes it.

use super::assumed::plain;
use super::report::Check;
use crate::terms::{Source, Term, Terms};
use tactus_model::System;
use tactus_time::Duration;

/// Tasks whose terms are wanted, and what was found.
#[derive(Default)]
pub(super) struct Wanted {
    /// By task of the system that is being checked.
    tasks: Vec<usize>,
    /// With the same indices.
    found: Vec<(usize, Terms)>,
}

impl Wanted {
    /// Nobody's.
    pub(super) fn none() -> Wanted {
        Wanted::default()
    }

    /// Those of these tasks.
    pub(super) fn of(tasks: Vec<usize>) -> Wanted {
        Wanted { tasks, found: Vec::new() }
    }

    /// Which they are.
    pub(super) fn tasks(&self) -> impl Iterator<Item = usize> {
        self.tasks.clone().into_iter()
    }

    /// Asks for the terms of those of a test's tasks that are wanted. `places`: which tasks they are.
    pub(super) fn explain(&mut self, system: &System, places: &[usize], terms: impl Fn(usize) -> Option<Terms>) {
        for (i, n) in places.iter().enumerate() {
            let Some(mut terms) = Some(i).filter(|_| self.tasks.contains(n)).and_then(&terms) else { continue };
            terms.renumber(|place| Source::Other(places[place]));
            self.keep(system, *n, terms);
        }
    }

    /// Keeps the terms of a task, which name others by their indices: says what of them is not the tasks' own time.
    pub(super) fn keep(&mut self, system: &System, n: usize, mut terms: Terms) {
        // What is blocking beside less urgent jobs is an entry under way.
        for term in terms.list.iter_mut().filter(|term| term.source == Source::Blocking(None)) {
            term.source = Source::EntryUnderWay;
        }
        let alone = terms.cores == 1;
        let assumed = |term: &Term| match term.source {
            Source::Own => Some(plain(&system.tasks[n])),
            Source::Other(other) if alone => Some(plain(&system.tasks[other])),
            Source::Server(server) => Some(system.scheduling.servers[server].budget),
            _ => None,
        };
        for term in &mut terms.list {
            term.added = assumed(term).map_or(Duration::ZERO, |own| term.each.saturating_sub(own));
        }
        self.found.push((n, terms));
    }

    /// What was found of a task, if it adds up to the bound that the check gives.
    fn taken(&self, n: usize, check: &Check) -> Option<Terms> {
        let (_, terms) = self.found.iter().find(|(task, _)| *task == n)?;
        let bound = check.tasks[n].bound()?;
        terms.gives(bound, check.tasks[n].deadline).then(|| terms.clone())
    }

    /// All that were found, by task.
    pub(super) fn all(&self, check: &Check) -> Vec<Option<Terms>> {
        (0..check.tasks.len()).map(|n| self.taken(n, check)).collect()
    }
}
