//! A call of a policy: what happened on a core, what the policy knows besides, and what it decides.

use crate::reconfigure::Values;
use tactus_record::{Sink, SlotRefusal};
use tactus_task::{EventCall, Sections};
use tactus_time::{CoreSet, Duration, Instant, TaskId};

/// What happened on a core.
///
/// Where several are due on a core at the same time, [`Event::Complete`] comes first: a job that ends in the instant
/// in which its budget or its slot ends is complete, not exhausted. The numbers are those of the reasons of entry in a trace, so that
/// a machine need not translate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Event {
    /// The core starts. Comes once, first, at time zero or soon after.
    Start = 0,
    /// The time-out of the last decision expired. Harmless if it comes without cause.
    Timer = 1,
    /// The running job finished.
    Complete = 2,
    /// Another core's decision named this core in [`Decision::notify`]. Harmless if it comes without cause.
    Notify = 3,
    /// The running task can never run again: its component was stopped. Its pending jobs are dropped, and no more
    /// are released.
    Remove = 4,
    /// Something arrived: what, was told by [`Input::Arrival`]. Harmless if it comes without cause.
    Arrival = 5,
    /// The running job left a critical section for which another job was kept waiting ([`Policy::awaits_unlock`]): what it holds
    /// now, was told by [`Input::Section`]. Harmless if it comes without cause.
    Unlock = 8,
    /// The running job asks to wait: until when, was told by [`Input::Wait`]. Harmless if it comes without cause.
    Wait = 9,
    /// The running job is to have a resource that another one holds, or that jobs of other cores use: which, was told by
    /// [`Input::Section`]. It has it when it has a core again. Harmless if it comes without cause.
    Lock = 10,
    /// The running job signals or awaits events: which, was told by [`Input::Event`]. Harmless if it comes without cause.
    Signal = 11,
    /// The running job, the loader's, has loaded or unloaded a slot, or refused to: what, was told by [`Input::Slot`]. The job goes on.
    /// Harmless if it comes without cause.
    Slot = 12,
}

/// What the loader did to a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotAction {
    /// A program was loaded. The tasks that were told by [`Input::SlotTask`] since the last [`Input::Slot`] begin now.
    Load,
    /// The program was unloaded: pending jobs are dropped, and no more are released until the next load.
    Unload,
    /// As [`SlotAction::Unload`], and how long each of its tasks had until its next release is kept: no time, if it has a job under way.
    Save,
    /// As [`SlotAction::Load`], of what was saved: each task has its next release as long after now as the one in its place had when it was
    /// saved, and the values that it had if it was told none.
    Restore {
        /// The slot of which it was saved.
        from: u16,
    },
    /// Nothing: a load or an unload was refused.
    Refuse(SlotRefusal),
    /// A new version was loaded, with the values that were told: it takes over from the program of another slot as soon as that one has no
    /// job under way. If it fails in its first jobs, the other one goes on.
    Update {
        /// The slot of the program that is replaced.
        from: u16,
        /// Jobs of the new version that must be good.
        trial: u32,
    },
    /// The trial is over: whatever is not decided ends as it is best, and the program that is not in use is unloaded.
    Settle,
}

/// A fact that a policy is told before the event of its next call. It is recorded, so that a replay repeats it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// The parent scheduler had the core from then on until now.
    Absent {
        /// Until when this scheduler had it.
        since: Instant,
    },
    /// Something arrived that releases a job of a task that time does not release.
    Arrival {
        /// Whose job.
        task: TaskId,
        /// When it arrived; not later than the call.
        at: Instant,
    },
    /// The running job entered one more critical section, or left some.
    Section {
        /// What it holds now.
        held: Sections,
        /// Since when it holds the innermost; without meaning if it left some.
        since: Instant,
    },
    /// The running job asks to wait, so that it needs no core before then. [`Event::Wait`] follows.
    Wait {
        /// Until when.
        until: Instant,
    },
    /// The core has asked memory for these lines since its last decision.
    Misses {
        /// How many.
        lines: u32,
    },
    /// The core has made memory take back these changed lines since its last decision.
    WriteBacks {
        /// How many.
        lines: u32,
    },
    /// A period of work that gives way to the core's counter is over: the first call since then.
    Sample {
        /// What was counted on the core since the sample before.
        events: u32,
    },
    /// The running job does this to an event. [`Event::Signal`] follows.
    Event(EventCall),
    /// A task of a slot is to have these values when the program that is loaded begins: [`Input::Slot`] follows.
    SlotTask {
        /// The task, one of the slot's.
        task: TaskId,
        /// What it is to have.
        values: Values,
    },
    /// The running job has done this to a slot. [`Event::Slot`] follows.
    Slot {
        /// The slot, by its index in [`crate::ReconfigurableTree::slots`].
        slot: u16,
        /// The number of the load or unload, in the order of the system file.
        load: u16,
        /// What was done.
        action: SlotAction,
    },
    /// The child scheduler that has the core has nothing to run for a while. [`Event::Complete`] of its proxy follows.
    Sleep {
        /// Its proxy.
        proxy: TaskId,
        /// When it will have something; [`Instant::NEVER`] if that is not known.
        until: Instant,
    },
}

/// A job that has a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Running {
    /// Whose job.
    pub task: TaskId,
    /// Which one, counted from 0.
    pub job: u32,
    /// What it has been charged at the time of this decision.
    pub charged: Duration,
    /// Its nominal release, if it is not time that releases the task's jobs: then their numbers do not tell it.
    pub arrived: Option<Instant>,
}

/// What a core is to do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The job to run; nothing means idle.
    pub run: Option<Running>,
    /// When to call again with [`Event::Timer`] at the latest; [`Instant::NEVER`] if no time is set.
    pub timer: Instant,
    /// The cores to send an inter-core event to, so that they are called with [`Event::Notify`].
    pub notify: CoreSet,
    /// The order of this decision among all that touched shared state, counted from 1; 0 if it touched none.
    pub ticket: u32,
}

/// Some resources, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ResourceSet([u64; 4]);

impl ResourceSet {
    /// None of them.
    pub const NONE: &'static ResourceSet = &ResourceSet([0; 4]);

    /// Adds one.
    #[inline]
    pub(crate) fn insert(&mut self, resource: u8) {
        self.0[usize::from(resource) / 64] |= 1 << (resource % 64);
    }

    /// Takes one out.
    #[inline]
    pub(crate) fn remove(&mut self, resource: u8) {
        self.0[usize::from(resource) / 64] &= !(1 << (resource % 64));
    }

    /// Whether the resource is one of them.
    pub fn contains(&self, resource: u8) -> bool {
        self.0[usize::from(resource) / 64] & 1 << (resource % 64) != 0
    }

    /// Resource `r` is bit `r % 64` of word `r / 64`.
    pub fn words(&self) -> &[u64; 4] {
        &self.0
    }
}

/// The records of one [`Policy::expire`], [`Policy::arrive`] or [`Policy::unlock`] at most: a release, or the end of a window and the start of another one; a preemption, a dispatch.
pub const MOST_RECORDS: usize = 4;

/// A scheduling policy over all cores of a system.
pub trait Policy: Sync {
    /// What belongs to one core.
    type Core: Send;

    /// Whether its jobs may hold resources. Where not, a machine compiles nothing that concerns them.
    const RESOURCES: bool = false;

    /// Whether [`Policy::expire`] may give anything. Where not, a machine compiles nothing that asks.
    const EXPIRES: bool = false;

    /// Handles everything that is due on the core at `now`: the event itself, and all releases (but for what can wait),
    /// exhausted budgets and ends of ghosts up to `now`. Times never go back on one core. Every step is written to `records`.
    fn handle<S: Sink>(&self, core: &mut Self::Core, now: Instant, event: Event, records: &mut S) -> Decision;

    /// Tells a fact that the next call of [`Policy::handle`] on this core is to take into account. A policy that has no use for
    /// it ignores it.
    fn input(&self, _core: &mut Self::Core, _input: Input) {}

    /// Whether a job is kept from the core by critical sections of the job that has it: then [`Event::Unlock`] is to come as soon
    /// as that leaves one.
    #[inline(always)]
    fn awaits_unlock(&self, _core: &Self::Core) -> bool {
        false
    }

    /// The resources before whose critical sections the running job must call, with [`Event::Lock`]; by the last decision on the core.
    #[inline(always)]
    fn locked<'c>(&self, _core: &'c Self::Core) -> &'c ResourceSet {
        ResourceSet::NONE
    }

    /// Whether a program is in the slot, as far as this core was told.
    fn is_loaded(&self, _core: &mut Self::Core, _slot: u16) -> bool {
        false
    }

    /// The usual end of a time-out, if the policy has a short way for it: decides as [`Policy::handle`] does for
    /// [`Event::Timer`], with at most [`MOST_RECORDS`] records. If it gives nothing, what was recorded does not count, nothing
    /// has changed, and `handle` is to be called.
    #[inline(always)]
    fn expire<S: Sink>(&self, _core: &mut Self::Core, _now: Instant, _records: &mut S) -> Option<Decision> {
        None
    }

    /// Whether [`Policy::arrive`] may give anything for this task on this core. A machine that is told otherwise need not ask.
    #[inline(always)]
    fn may_arrive(&self, _core: &Self::Core, _task: TaskId) -> bool {
        false
    }

    /// As [`Policy::arrive`], only where the job that is released has the core at once; quicker than that. `is_idle`: whether the core runs
    /// nothing, by the last decision.
    #[inline(always)]
    fn arrive_first<S: Sink>(
        &self,
        _core: &mut Self::Core,
        _now: Instant,
        _arrival: (TaskId, Instant),
        _is_idle: bool,
        _records: &mut S,
    ) -> Option<Decision> {
        None
    }

    /// The usual arrival, if the policy has a short way for it: decides as [`Policy::handle`] does for [`Event::Arrival`] after
    /// [`Input::Arrival`] and nothing else, with at most [`MOST_RECORDS`] records and nobody to notify. If it gives nothing,
    /// nothing was recorded or has changed, and `handle` is to be called.
    #[inline(always)]
    fn arrive<S: Sink>(
        &self,
        _core: &mut Self::Core,
        _now: Instant,
        _arrival: (TaskId, Instant),
        _records: &mut S,
    ) -> Option<Decision> {
        None
    }

    /// The usual end of a critical section for which another job waits ([`Policy::awaits_unlock`]), if the policy has a short way for
    /// it: decides as [`Policy::handle`] does for [`Event::Unlock`] after an [`Input::Section`] that nothing is held any more, with at
    /// most [`MOST_RECORDS`] records and nobody to notify. If it gives nothing, nothing was recorded or has changed, and `handle` is to
    /// be called.
    #[inline(always)]
    fn unlock<S: Sink>(&self, _core: &mut Self::Core, _now: Instant, _records: &mut S) -> Option<Decision> {
        None
    }
}
