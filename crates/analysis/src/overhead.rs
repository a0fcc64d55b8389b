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
//! such excess over the jobs of a task is the task's *allowance*, by which its budgets are enlarged.

use crate::arrivals::Instants;
use tactus_model::Costs;
use tactus_time::Duration;

/// Entries that one release instant may cause on one core: its timer, or one event, and one that crosses it.
const ENTRIES_PER_INSTANT: u64 = 2;
/// How many entries' time it takes at most until an instant's last effect has reached its core.
const ENTRIES_FOR_EFFECT: u64 = 3;
/// Rounds of the search for the end of a tail. Where entries take less than all time it ends after a handful.
const LONGEST_SEARCH: u32 = 64;
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
    /// For a job of the built-in workload: what it is charged after its charge has reached its demand, its *tail*.
    ///
    /// It then needs one more stretch to say that it is done. What is left of the entry under way, and that stretch,
    /// take at most E; every entry that comes before the stretch is over takes at most E more and makes the job try
    /// again. Such an entry is the work of a release instant or slot boundary that lies within the tail or at most
    /// [`ENTRIES_FOR_EFFECT`] entries before it (it takes an event so long to reach its last core), and each instant
    /// causes at most [`ENTRIES_PER_INSTANT`] entries on one core. So an uninterrupted tail is at most the smallest w with
    ///
    /// ```text
    /// w = E·(1 + 2·N(w + 3E))
    /// ```
    ///
    /// **Assumed**: whatever else meets one job in its tail costs at most a second tail like the first. That is: it is
    /// displaced there at most once, and when it resumes meets the like once more; or, where it is not displaced,
    /// the entries that no instant causes (ends of ghosts, exhausted budgets and completions elsewhere) are at most as
    /// many as those that instants cause. Not allowed for is a job that is displaced twice within its tail.
    ///
    /// `Duration::MAX` where instants follow so densely that a tail need not end.
    pub(crate) fn of_workload(&self) -> Duration {
        if self.entry.is_zero() {
            return Duration::ZERO;
        }
        let mut entries = 1;
        for _ in 0..LONGEST_SEARCH {
            let window = self.entry.checked_mul(entries + ENTRIES_FOR_EFFECT).unwrap_or(Duration::MAX);
            let met = self.instants.most_in(window).saturating_mul(ENTRIES_PER_INSTANT).saturating_add(1);
            if met <= entries {
                return self.entry.checked_mul(entries * 2).unwrap_or(Duration::MAX);
            }
            entries = met;
        }
        Duration::MAX
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

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    /// The tail, in entries of 10 µs, of a job among tasks of these offsets and periods in microseconds.
    fn tail(tasks: &[(u64, u64)]) -> Option<u64> {
        let instants = Instants::of(tasks.iter().map(|&(o, p)| (us(o), us(p))), us(100_000));
        let charge = Charge { entry: us(10), instants: &instants };
        let tail = charge.of_workload();
        (tail < Duration::MAX).then(|| tail / us(10))
    }

    #[test]
    fn a_tail_ends_where_no_further_instant_can_reach_it() {
        // Two tails, each of one stretch and two entries of the one instant that can be near.
        assert_eq!(tail(&[(0, 1_000), (0, 2_000)]), Some(2 * 3));
        // 3 entries long, and what happened up to 3 before: 60 µs hold two instants that are 59 µs apart.
        assert_eq!([tail(&[(0, 1_000), (60, 1_000)]), tail(&[(0, 1_000), (59, 1_000)])], [Some(2 * 3), Some(2 * 5)]);
        // Two that are met make it 5 entries long, which reaches a third within 80 µs.
        assert_eq!(tail(&[(0, 1_000), (59, 1_000), (80, 1_000)]), Some(2 * 5));
        assert_eq!(tail(&[(0, 1_000), (59, 1_000), (79, 1_000)]), Some(2 * 7));
    }

    #[test]
    fn a_tail_among_instants_that_are_too_dense_has_no_end() {
        assert_eq!(tail(&[(0, 21)]).map(|_| ()), Some(()));
        assert_eq!(tail(&[(0, 19)]), None);
    }

    #[test]
    fn without_costs_nothing_is_charged() {
        let charge = Charge { entry: Duration::ZERO, instants: &Instants::of([(us(0), us(10))], us(1_000)) };
        assert_eq!((charge.of_workload(), charge.of_component(us(500), 3, 2)), (Duration::ZERO, Duration::ZERO));
    }
}
