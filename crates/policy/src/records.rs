//! How policies write records, so that all of them write alike.

use tactus_record::{EventKind, Sink, SlotSwitch, Stored, Subject};
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

/// Writes the records of one decision: one core, one time.
pub struct Recorder<'a, S: ?Sized = dyn Sink + 'a> {
    /// Where they go.
    pub sink: &'a mut S,
    /// The core.
    pub core: CoreId,
    /// The time.
    pub now: Instant,
}

impl<S: Sink + ?Sized> Recorder<'_, S> {
    /// A record that concerns a job.
    #[inline]
    pub fn job(&mut self, kind: EventKind, (task, level): (TaskId, Level), job: u32, arg: u64) {
        self.sink.put(kind, Stored::new(self.now, self.core, kind, level as u8, (Some(task), job), arg));
    }
    /// The same where the subject was made beforehand.
    #[inline(always)]
    pub fn about(&mut self, kind: EventKind, subject: Subject, job: u32, arg: u64) {
        self.sink.put(kind, Stored::about(subject, self.now, self.core, kind, job, arg));
    }
    /// A record that concerns a server's budget on this core.
    #[inline]
    pub fn server(&mut self, kind: EventKind, server: u16, arg: u64) {
        self.sink.put(kind, Stored::new(self.now, self.core, kind, 0, (None, u32::from(server)), arg));
    }
    /// A record that concerns a change of the system.
    pub fn change(&mut self, kind: EventKind, number: u32, arg: u64) {
        self.sink.put(kind, Stored::new(self.now, self.core, kind, 0, (None, number), arg));
    }
    /// A record that another schedule of windows holds.
    pub fn schedule(&mut self, number: u8, since: Instant) {
        self.sink.put(
            EventKind::Schedule,
            Stored::new(self.now, self.core, EventKind::Schedule, 0, (None, u32::from(number)), since.as_nanos()),
        );
    }
    /// A record of an update of slots: the slot in use, and what became of it.
    pub fn slot(&mut self, slot: u32, switch: SlotSwitch, next: Instant) {
        let kind = EventKind::SlotSwitched;
        self.sink.put(kind, Stored::new(self.now, self.core, kind, switch as u8, (None, slot), next.as_nanos()));
    }
    /// A record that concerns the core alone.
    #[inline(always)]
    pub fn core(&mut self, kind: EventKind, arg: u64) {
        self.sink.put(kind, Stored::about(Subject::NONE, self.now, self.core, kind, 0, arg));
    }
}

/// What a core does between two decisions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnCore {
    /// It has not been told anything yet.
    #[default]
    Nothing,
    /// Idle.
    Idle,
    /// It runs a job of the task at this place.
    Job {
        /// Place of the task among those that the core or container knows.
        place: usize,
        /// Number of the job.
        job: u32,
    },
}

/// When a core last decided; turns the times of entries into lengths to charge.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    last: Instant,
}

impl Clock {
    /// When the core last decided.
    #[inline]
    pub fn last(&self) -> Instant {
        self.last
    }
    /// Moves on to `now` and gives the time since the last decision. A time that goes back counts as standing still.
    #[inline]
    pub fn advance(&mut self, now: Instant) -> (Instant, Duration) {
        let now = now.max(self.last);
        let elapsed = now.since(self.last);
        self.last = now;
        (now, elapsed)
    }
    /// As [`Clock::advance`]; nothing, and no change, if the time went back.
    #[inline(always)]
    pub fn try_advance(&mut self, now: Instant) -> Option<Duration> {
        let elapsed = now.as_nanos().checked_sub(self.last.as_nanos())?;
        self.last = now;
        Some(Duration::from_nanos(elapsed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_goes_back_counts_as_standing_still() {
        let at = Instant::from_nanos;
        let mut clock = Clock::default();
        assert_eq!(clock.advance(at(5)), (at(5), Duration::from_nanos(5)));
        assert_eq!(clock.advance(at(3)), (at(5), Duration::ZERO));
        assert_eq!(clock.advance(at(7)), (at(7), Duration::from_nanos(2)));
    }
}
