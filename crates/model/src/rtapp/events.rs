//! The events by which threads of an rt-app file wait for each other, numbered in the order in which the file names them.

use crate::EventRule;

/// The events of a file, by what they are and their names.
#[derive(Default)]
pub(super) struct Events {
    names: Vec<(Kind, String)>,
    rules: Vec<EventRule>,
    /// For whoever has done all its loops: nobody signals it.
    never: Option<u16>,
}

/// What an event of rt-app is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Mutex,
    Condition,
    Semaphore,
    Barrier,
}

impl Events {
    /// The number of the event of this kind and name.
    pub(super) fn of(&mut self, kind: Kind, name: &str) -> u16 {
        let found = self.names.iter().position(|(other, of)| *other == kind && of == name);
        let place = found.unwrap_or_else(|| {
            self.names.push((kind, name.to_string()));
            self.rules.push(match kind {
                Kind::Mutex => EventRule::Semaphore(1),
                Kind::Condition => EventRule::Condition,
                Kind::Semaphore => EventRule::Semaphore(0),
                Kind::Barrier => EventRule::Barrier(0),
            });
            self.names.len() - 1
        });
        place as u16
    }

    /// The number of the event that nobody signals.
    pub(super) fn never(&mut self) -> u16 {
        let next = self.names.len() as u16;
        *self.never.get_or_insert_with(|| {
            self.names.push((Kind::Condition, String::new()));
            self.rules.push(EventRule::Condition);
            next
        })
    }

    /// So many more threads come to a barrier.
    pub(super) fn join(&mut self, barrier: u16, instances: u64) {
        if let Some(EventRule::Barrier(of)) = self.rules.get_mut(usize::from(barrier)) {
            *of = of.saturating_add(instances as u32);
        }
    }

    /// At least one, so that such a system is known by them.
    pub(super) fn into_rules(mut self) -> Vec<EventRule> {
        if self.rules.is_empty() {
            self.rules.push(EventRule::Condition);
        }
        self.rules
    }
}
