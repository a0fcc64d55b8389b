//! Best-effort work that gives way to a counter of its core (Gracioli 2014, section 5.4, phase two).
//!
//! At each period the core's counter is sampled. After more events than the threshold, the server is without budget until the next
//! period; its peers, and real-time work, are never touched. It is the least urgent of all that has a budget, so that nobody waits for it.
//!
//! Whoever runs the policy samples, since only he sees the counter: at the first call since a period's end he tells
//! [`Input::Sample`](crate::Input::Sample). A period of which nothing was told is one without events.

use super::budget::Budget;
use super::domain::Domain;
use super::parameters::{Supply, Tree};
use crate::records::Recorder;
use crate::{PolicyConfig, PolicyConfigError};
use tactus_record::EventKind;
use tactus_task::SampledEvent;
use tactus_time::{CoreId, Duration, Instant};

/// When a core's counter is to be sampled, and which.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sampler {
    event: SampledEvent,
    period: Duration,
    next: Instant,
}

impl Sampler {
    /// The core's, if anything gives way to its counter there. The first sample comes one period after the start.
    pub fn of(setup: &PolicyConfig, core: CoreId) -> Option<Sampler> {
        let servers = &setup.kind.tree()?.servers;
        let supplies = servers.iter().filter(|server| server.cores.contains(core)).filter_map(|server| server.supply);
        supplies.into_iter().find_map(|Supply { kind, period, .. }| {
            Some(Sampler { event: kind.sampled()?, period, next: Instant::ZERO.saturating_add(period) })
        })
    }

    /// What is counted.
    pub fn event(&self) -> SampledEvent {
        self.event
    }

    /// Whether the policy is to be told at its call at `now` what was counted since the sample before. Asked once for each call.
    pub fn is_due(&mut self, now: Instant) -> bool {
        let due = now >= self.next;
        if due {
            let periods = now.since(self.next) / self.period + 1;
            self.next = self.next.saturating_add(self.period * periods);
        }
        due
    }
}

/// Such a server lies in the root, has tasks inside, and is alone on its cores: there is one sample for all.
pub(super) fn check(setup: &PolicyConfig, tree: &Tree) -> Result<(), PolicyConfigError> {
    let told = matches!(setup.kind, crate::PolicySpec::Servers(_) | crate::PolicySpec::Resources(_));
    let yielding = |n: &usize| tree.servers[*n].supply.is_some_and(|supply| supply.kind.yields());
    let wrong = |n: &usize| {
        let server = &tree.servers[*n];
        let inner = tree.servers.iter().skip(1).any(|child| usize::from(child.parent) == *n);
        let meets = |other: usize| tree.servers[other].cores.bits() & server.cores.bits() != 0;
        let several = (0..*n).filter(yielding).any(meets);
        let shared = server.queues.iter().any(|queue| queue.iter().nth(1).is_some());
        !told || inner || several || shared || server.parent != 0 || server.background
    };
    let found = (0..tree.servers.len()).filter(yielding).find(wrong);
    found.map_or(Ok(()), |n| Err(PolicyConfigError::Yielding(n as u16)))
}

impl Domain {
    /// The core's counter counted so many events in the period that is over. What follows from that is decided where the period's end is due.
    #[cold]
    pub(super) fn note_sample(&mut self, me: usize, events: u32) {
        let here = self.vps.iter_mut().filter(|vp| vp.core == me).filter_map(|vp| vp.budget.as_mut());
        here.filter_map(Budget::yielding).for_each(|budget| budget.note_sample(events));
    }

    /// The period of a server that gives way to a counter is over.
    #[cold]
    pub(super) fn end_sampled_period(&mut self, place: usize, records: &mut Recorder) {
        let vp = &mut self.vps[place];
        let Some(budget) = &mut vp.budget else { return };
        let lengths = budget.lengths();
        let Some(yielding) = budget.yielding() else { return };
        let before = yielding.gives_way();
        yielding.end_period(lengths, records.now);
        match (before, yielding.gives_way()) {
            (_, true) => records.server(EventKind::ServerExhausted, vp.server, budget.next(records.now).as_nanos()),
            (true, false) => records.server(EventKind::ServerReplenish, vp.server, lengths.0.as_nanos()),
            (false, false) => {}
        }
    }
}
