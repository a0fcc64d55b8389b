//! What the system's own work costs a job: the bridge from measured costs to inflated parameters.
//!
//! **Model.** A core's time is cut by scheduler *entries* (a timer, a completion, an event from another core). From one
//! decision to the next, all time is charged to the job that the first decision chose. One entry therefore takes at
//! most
//!
//! ```text
//! E = max(release, inter_core) + complete + schedule + switch
//! ```
//!
//! of a core's time away from jobs: noticing the event, deciding, and reaching the next job's first instruction. The
//! time until an event is noticed is counted although a job may run in it, for it may be the wrong job. `complete` is part
//! of every entry: one that falls into a job's completion makes the job try again after it.
//!
//! **Partitioned policies.** Entries on a core: one per distinct release instant of its tasks (releases at the same time
//! share one), one per completion. So C' = C + E for every job's completion; N(w)·E is withheld in a window w with N(w)
//! release instants, whoever is released, since a release of a less urgent task interrupts as well; and one entry
//! that began before the busy period, or the start of the core, blocks for E.
//!
//! **Global policies.** A release instant enters core 0, which may notify another core, which may hand its displaced job
//! on to a third: within 3E every core runs what it should, and a core sees at most two entries. So per instant
//! a job may lose 2E on its own core, 1E on average over the cores while it waits, and 3E of precedence: 6E.
//!
//! **MC².** Budgets hold a job to what it is *charged*, which is all time from the decisions that gave it a core to the
//! next ones. The built-in workload ends when its charge reaches its demand, so interrupts on the way are part of its
//! demand, and only the tail after that comes on top (`Charge::of_workload`). A component of the user's own executes its
//! code whatever it is charged, so every entry while it is pending comes on top (`Charge::of_component`). The largest
//! such excess over all jobs of levels A to C is the *allowance* by which all budgets are enlarged.

use crate::arrivals::Instants;
use tactus_model::Costs;
use tactus_time::Duration;

/// Entries that one release instant may cause on one core: its timer, or one event, and one that crosses it.
const ENTRIES_PER_INSTANT: u64 = 2;
/// What one release instant may cost a job under a global policy, in entries.
pub(crate) const GLOBAL_ENTRIES_PER_INSTANT: u64 = 6;

/// E: the longest time that one scheduler entry takes from jobs.
pub fn entry(costs: &Costs) -> Duration {
    costs.release.max(costs.inter_core) + costs.complete + costs.schedule + costs.switch
}

/// What a job of an MC² system is charged for the system's work, at most.
pub(crate) struct Charge<'a> {
    /// E.
    pub entry: Duration,
    /// The release instants of all tasks and the slot boundaries of all tables.
    pub instants: &'a Instants,
}

impl Charge<'_> {
    /// For a job of the built-in workload: what it is charged after its charge has reached its demand.
    ///
    /// Then it needs one more stretch to say so. An entry that comes first costs up to E and makes it try again. Twice
    /// the entries of a window of 8E are allowed for, i.e. that it is preempted at that point and meets the like once
    /// more when it resumes; not that this happens to one job a third time.
    pub(crate) fn of_workload(&self) -> Duration {
        if self.entry.is_zero() {
            return Duration::ZERO;
        }
        let entries = self.instants.most_in(self.entry * 8).saturating_mul(2 * ENTRIES_PER_INSTANT) + 2;
        self.entry.checked_mul(entries).unwrap_or(Duration::MAX)
    }

    /// For a job of a user's component that is pending for at most `window`, runs in at most `pieces` stretches that its
    /// own level cuts, and may see `others` further entries (ends of ghosts) meanwhile.
    pub(crate) fn of_component(&self, window: Duration, pieces: u64, others: u64) -> Duration {
        if self.entry.is_zero() {
            return Duration::ZERO;
        }
        // Per piece one late start and one end; two for the job's own release and completion.
        let entries = self.instants.most_in(window).saturating_mul(ENTRIES_PER_INSTANT) + 2 * pieces + 2 + others;
        self.entry.checked_mul(entries).unwrap_or(Duration::MAX)
    }
}
