//! Reconfigurations: tasks and servers that are added, removed and altered while the system runs. One engine for all policies.
//!
//! **The protocol** is that of the idle instant (Tindell and Alonso 1996; Real and Crespo, "Mode change protocols for
//! real-time systems", Real-Time Systems 26, 2004). A reconfiguration is **requested** at its time; from then on what is to be
//! removed releases no more jobs, and the jobs that it has run to their ends. It is **applied** at the first instant at which
//! nothing that was released before is unfinished, so that no job sees the load of both before and after, whatever the order.
//! Requests are decided in their order; several may be decided in one instant.
//!
//! **Admission** is by analysis, before the run; what it refuses is refused here when it is requested. What is to be applied is
//! tested once more: it may not promise more than a core has, and more than was promised before. Of what is refused then nothing
//! comes later: a request carries what it names and no more, and what was computed from all tasks ([`Change::depends`]) is refused too.
//!
//! The engine keeps the list, the order and the records. What is idle, what is promised and what is applied is each policy's
//! own ([`Reconfigure`]). An entry of a policy costs nothing here while nothing is requested. All memory is taken beforehand.

mod parameters;

use crate::{PolicyConfig, PolicyConfigError};
use alloc::vec::Vec;
pub(crate) use parameters::{change, part, put_change, put_part, requested_at, CHANGE_BYTES, PART_BYTES};
pub use parameters::{Action, Alteration, Change, Part, Protocol, Reconfigurable, Values};
use tactus_record::{EventKind, CHANGE_DEPENDS, CHANGE_NOT_ADMITTED, CHANGE_OVERLOADS};
use tactus_time::{Duration, Instant, TaskId};

/// Finds the first thing that is wrong with the reconfigurations; `effect` looks at what one brings.
pub(crate) fn check<K, N>(
    setup: &PolicyConfig,
    all: &Reconfigurable<K, N>,
    effect: impl Fn(TaskId, &N) -> Result<(), PolicyConfigError>,
) -> Result<(), PolicyConfigError> {
    let known = |task: TaskId| task.index() < setup.tasks.len();
    if !all.absent.iter().all(|task| known(*task)) {
        return Err(PolicyConfigError::ChangePart(u32::MAX));
    }
    if all.effects.len() != all.changes.len() {
        return Err(PolicyConfigError::ChangeEffects(all.effects.len()));
    }
    let mut last = Duration::ZERO;
    for (n, (change, then)) in all.changes.iter().zip(&all.effects).enumerate() {
        let sound = match change.action {
            Action::Alter(named) => named.is_sound(),
            Action::Add | Action::Remove => true,
        };
        match change.part {
            Part::Task(task) if known(task) && sound && change.at >= last => effect(task, then)?,
            _ => return Err(PolicyConfigError::ChangePart(n as u32)),
        }
        last = change.at;
    }
    Ok(())
}

/// A reconfiguration as the policy keeps it: `T` is what it concerns there, and what it brings.
#[derive(Clone, Copy)]
pub(crate) struct Request<T> {
    /// Its number in the list of all.
    pub(crate) number: u32,
    /// When it is requested.
    pub(crate) at: Instant,
    pub(crate) action: Action,
    /// Whether analysis admitted it.
    pub(crate) admitted: bool,
    /// See [`Change::depends`].
    pub(crate) depends: bool,
    pub(crate) target: T,
}

impl<T> Request<T> {
    /// The reconfiguration with this number.
    pub(crate) fn new(number: usize, change: &Change, target: T) -> Request<T> {
        let Change { action, admitted, depends, .. } = *change;
        Request { number: number as u32, at: requested_at(change), action, admitted, depends, target }
    }

    /// Whether its target is to release nothing from the request on.
    pub(crate) fn removes(&self) -> bool {
        self.admitted && self.action == Action::Remove
    }
}

/// What each policy knows of reconfigurations, at one entry.
pub(crate) trait Reconfigure<T> {
    /// The time of the entry.
    fn now(&self) -> Instant;
    /// Writes a record about the request with this number.
    fn record(&mut self, kind: EventKind, number: u32, argument: u64);
    /// Lets the target of a removal release nothing from the request on.
    fn stop_releases(&mut self, request: &Request<T>);
    /// Whether nothing that was released before is unfinished, as far as the request could meet it.
    fn is_idle(&self, request: &Request<T>) -> bool;
    /// Takes up what the request promises, unless that is more than there is and more than before.
    ///
    /// # Errors
    /// `arg` of the record that tells why it is refused.
    fn accept(&mut self, request: &mut Request<T>) -> Result<(), u64>;
    /// Takes out of a removal what it brings others, computed with a request that was refused; a removal itself is never refused.
    fn forget_effect(&mut self, request: &mut Request<T>);
    /// Applies the first of the requests that are not decided.
    fn apply(&mut self, pending: &mut [Request<T>]);
}

/// The reconfigurations of what shares one idle instant: a core, a domain, or all cores.
pub(crate) struct Requests<T> {
    list: Vec<Request<T>>,
    /// How many were requested, and how many of these are decided.
    requested: usize,
    decided: usize,
    /// Whether one that admission allowed was refused.
    any_refused: bool,
    protocol: Protocol,
}

impl<T> Requests<T> {
    /// None requested yet. `list` in the order of their times.
    pub(crate) fn new(list: Vec<Request<T>>, protocol: Protocol) -> Requests<T> {
        Requests { list, requested: 0, decided: 0, any_refused: false, protocol }
    }

    /// Whether one was requested that is not decided.
    pub(crate) fn is_pending(&self) -> bool {
        self.decided < self.requested
    }

    /// How many are decided.
    pub(crate) fn decided(&self) -> usize {
        self.decided
    }

    /// All, in their order.
    pub(crate) fn all(&self) -> &[Request<T>] {
        &self.list
    }

    /// When the next one is requested.
    pub(crate) fn next(&self) -> Instant {
        self.list.get(self.requested).map_or(Instant::NEVER, |request| request.at)
    }

    /// Takes up what is requested by now.
    pub(crate) fn receive(&mut self, policy: &mut impl Reconfigure<T>) {
        while let Some(request) = self.list.get(self.requested).filter(|request| request.at <= policy.now()) {
            self.requested += 1;
            policy.record(EventKind::ChangeRequested, request.number, request.at.as_nanos());
            if request.removes() {
                policy.stop_releases(request);
            }
        }
    }

    /// Decides what can be decided now. Whether anything was applied.
    pub(crate) fn decide(&mut self, policy: &mut impl Reconfigure<T>) -> bool {
        let mut any = false;
        while self.decided < self.requested {
            let pending = &mut self.list[self.decided..self.requested];
            let request = &mut pending[0];
            let waits = self.protocol == Protocol::IdleInstant && !policy.is_idle(request);
            let outdated = request.depends && self.any_refused;
            if outdated && request.removes() && !waits {
                policy.forget_effect(request);
            }
            let decision = match () {
                () if !request.admitted => Err(CHANGE_NOT_ADMITTED),
                () if outdated && !request.removes() => Err(CHANGE_DEPENDS),
                () if waits => break,
                () => policy.accept(request),
            };
            match decision {
                Ok(()) => {
                    policy.record(EventKind::ChangeApplied, request.number, 0);
                    policy.apply(pending);
                    any = true;
                }
                Err(why) => {
                    policy.record(EventKind::ChangeRefused, request.number, why);
                    self.any_refused |= why != CHANGE_NOT_ADMITTED;
                }
            }
            self.decided += 1;
        }
        any
    }
}

/// The request goes in if it fits.
pub(crate) fn unless_overloaded(fits: bool) -> Result<(), u64> {
    match fits {
        true => Ok(()),
        false => Err(CHANGE_OVERLOADS),
    }
}

/// A whole core, in the unit in which shares are counted.
pub(crate) const WHOLE: u64 = 1 << 32;

/// The share of a core that `time` in each `period` is, rounded down.
pub(crate) fn share(time: Duration, period: Duration) -> u64 {
    let share = u128::from(time.as_nanos()) * u128::from(WHOLE) / u128::from(period.as_nanos().max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}
