//! Admission: whether the tasks of a program meet their deadlines inside the supply of a slot.
//!
//! Shin and Lee, "Periodic resource model for compositional real-time guarantees", RTSS 2003: fixed priorities hold if for each task
//! some window w ≤ D has rbf(w) ≤ sbf(w); earliest deadline first holds if dbf(t) ≤ sbf(t) for every t. Both are exact for the worst
//! supply. Deadlines are looked at from the last one backwards (Zhang and Burns, IEEE TC 58(9), 2009); where that takes more than
//! [`Work`] allows, the first deadlines of each task are looked at and the rest is replaced by a line (Albers and Slomka, ECRTS 2004),
//! which can refuse what would fit and accepts nothing else.
//!
//! The same code runs on the host and in the loader: integers, no allocation, and an amount of work that the caller states.

use core::fmt;
use tactus_time::Duration;

/// The most tasks of one program.
pub const MOST_TASKS: usize = 32;
/// The longest period or deadline, and the longest blackout and period of a slot's server: 73 minutes. With it no sum overflows.
pub const LONGEST: Duration = Duration::from_nanos(1 << 42);
/// Windows longer than this are not looked at.
const HORIZON: u64 = 1 << 54;
/// Deadlines of each task that are looked at one by one where the exact search takes too much work.
const FIRST_DEADLINES: u64 = 16;

/// What a task asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Demand {
    /// The longest execution of a job, the system's own work for it included.
    pub execution: Duration,
    /// The least time from one release to the next.
    pub period: Duration,
    /// From release to deadline; at most the period.
    pub deadline: Duration,
    /// A smaller number is more urgent, where priorities decide.
    pub priority: u32,
}

/// What the slot's server gives at least: nothing for `blackout`, then `budget` at the start of every `period`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Supply {
    /// Budget; at most the period.
    pub budget: Duration,
    /// Period of replenishment.
    pub period: Duration,
    /// The longest time without service; at least what the period is longer than the budget.
    pub blackout: Duration,
}

impl Supply {
    /// sbf(t): the least service in a window of length `t`.
    pub fn least(&self, t: u64) -> u64 {
        let t = t.saturating_sub(self.blackout.as_nanos());
        let (q, p) = (self.budget.as_nanos(), self.period.as_nanos().max(1));
        t / p * q + (t % p).min(q)
    }

    /// The shortest window with `service` in it whatever the phase.
    fn window_for(&self, service: u64) -> u64 {
        let (q, p) = (self.budget.as_nanos(), self.period.as_nanos());
        match service.checked_sub(1) {
            None => 0,
            Some(before) if q > 0 => (before / q)
                .checked_mul(p)
                .and_then(|whole| whole.checked_add(self.blackout.as_nanos() + before % q + 1))
                .unwrap_or(u64::MAX),
            Some(_) => u64::MAX,
        }
    }

    fn is_sound(&self) -> bool {
        !self.budget.is_zero()
            && self.budget <= self.period
            && self.period <= LONGEST
            && self.blackout >= self.period.saturating_sub(self.budget)
            && self.blackout <= Duration::from_nanos(2 * LONGEST.as_nanos())
    }
}

/// Who runs first inside the slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The least [`Demand::priority`]; the first in the list among equals.
    FixedPriority,
    /// The earliest deadline.
    EarliestDeadline,
}

/// Terms that may still be evaluated; a term is one task's share of a sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work(pub u32);

impl Work {
    /// What the loader gives an admission: 40,000 terms.
    pub const OF_AN_ADMISSION: Work = Work(40_000);

    fn spend(&mut self, terms: usize) -> Result<(), OutOfWork> {
        match self.0.checked_sub(terms as u32 + 1) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => Err(OutOfWork),
        }
    }
}

/// The search took more than its work.
struct OutOfWork;

/// Why tasks are not admitted into a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unschedulable {
    /// More tasks than a program may have.
    TooMany,
    /// A task's execution, deadline and period do not follow one another, or one of them is zero or too long.
    Parameters {
        /// Its index.
        task: usize,
    },
    /// The slot's server gives nothing, or no server has its values.
    Supply,
    /// The tasks ask for more than the slot's share.
    Overload,
    /// A deadline can be missed.
    Late {
        /// The task's index.
        task: usize,
        /// The window, from the release of its first job, in which there is not enough service.
        window: Duration,
    },
    /// The search took more than its work, and the quick test does not admit them either.
    Undecided {
        /// The index of the task at which it stood.
        task: usize,
    },
}

impl Unschedulable {
    /// The index of the task that it is about, if it is about one.
    pub fn task(&self) -> Option<usize> {
        match *self {
            Unschedulable::Parameters { task }
            | Unschedulable::Late { task, .. }
            | Unschedulable::Undecided { task } => Some(task),
            Unschedulable::TooMany | Unschedulable::Supply | Unschedulable::Overload => None,
        }
    }
}

impl fmt::Display for Unschedulable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unschedulable::TooMany => write!(f, "a program has at most {MOST_TASKS} tasks"),
            Unschedulable::Parameters { .. } => {
                write!(f, "needs 0 < execution (with the system's own work) ≤ deadline ≤ period ≤ {LONGEST}")
            }
            Unschedulable::Supply => {
                f.write_str("the slot's server needs 0 < budget ≤ period, and a blackout of at least period − budget")
            }
            Unschedulable::Overload => f.write_str("the tasks ask for more than the slot's share of its core"),
            Unschedulable::Late { window, .. } => {
                write!(f, "a deadline can be missed: the slot does not give enough within {window}")
            }
            Unschedulable::Undecided { .. } => {
                f.write_str("no answer within the work that an admission may take; ask for less, or take a larger slot")
            }
        }
    }
}

/// Admits the tasks into a slot with this supply, or tells which task fails and when.
///
/// Tasks beyond [`MOST_TASKS`] and values beyond [`LONGEST`] are refused. At most `work` terms are evaluated, and as many again as the
/// first deadlines of all tasks take where that does not do.
pub fn admit(tasks: &[Demand], order: Order, supply: &Supply, mut work: Work) -> Result<(), Unschedulable> {
    admit_within(tasks, order, supply, &mut work)
}

/// As [`admit`]; the terms that the search did not evaluate stay in `work`.
///
/// # Errors
/// Which task fails, and when.
pub fn admit_within(tasks: &[Demand], order: Order, supply: &Supply, work: &mut Work) -> Result<(), Unschedulable> {
    if tasks.len() > MOST_TASKS {
        return Err(Unschedulable::TooMany);
    }
    let sound = |task: &Demand| {
        !task.execution.is_zero()
            && task.execution <= task.deadline
            && task.deadline <= task.period
            && task.period <= LONGEST
    };
    if let Some(task) = tasks.iter().position(|task| !sound(task)) {
        return Err(Unschedulable::Parameters { task });
    }
    if !supply.is_sound() {
        return Err(Unschedulable::Supply);
    }
    match order {
        Order::FixedPriority => fixed_priority(tasks, supply, work),
        Order::EarliestDeadline => earliest_deadline(tasks, supply, work),
    }
}

/// The bound on the response of each of the tasks that [`admit`] admits: by fixed priorities the longest response in the worst supply, by
/// earliest deadline first the deadline. Nothing for a task that there is not, or that is not admitted.
pub fn bound(tasks: &[Demand], order: Order, supply: &Supply, task: usize) -> Option<Duration> {
    match order {
        Order::FixedPriority if task < tasks.len() => {
            longest_response(tasks, supply, task, &mut Work(u32::MAX)).ok().map(Duration::from_nanos)
        }
        Order::FixedPriority => None,
        Order::EarliestDeadline => tasks.get(task).map(|task| task.deadline),
    }
}

/// Each task's longest response against its deadline.
fn fixed_priority(tasks: &[Demand], supply: &Supply, work: &mut Work) -> Result<(), Unschedulable> {
    (0..tasks.len()).try_for_each(|i| longest_response(tasks, supply, i, work).map(drop))
}

/// The longest response of task `i`; stops at the first window beyond its deadline, so the search is short.
fn longest_response(tasks: &[Demand], supply: &Supply, i: usize, work: &mut Work) -> Result<u64, Unschedulable> {
    let task = &tasks[i];
    let more_urgent = |(j, other): &(usize, &Demand)| (other.priority, *j) < (task.priority, i);
    let deadline = task.deadline.as_nanos();
    let mut window = supply.window_for(task.execution.as_nanos());
    loop {
        if window > deadline {
            return Err(Unschedulable::Late { task: i, window: Duration::from_nanos(window.min(HORIZON)) });
        }
        work.spend(tasks.len()).map_err(|OutOfWork| Unschedulable::Undecided { task: i })?;
        let others: u64 = (tasks.iter().enumerate().filter(more_urgent))
            .map(|(_, other)| window.div_ceil(other.period.as_nanos()) * other.execution.as_nanos())
            .sum();
        let next = supply.window_for(task.execution.as_nanos() + others);
        if next <= window {
            return Ok(window);
        }
        window = next;
    }
}

/// dbf(t): what has release and deadline in a window of length `t`.
fn demand(tasks: &[Demand], t: u64) -> u64 {
    let of = |task: &Demand| match t.checked_sub(task.deadline.as_nanos()) {
        Some(rest) => (rest / task.period.as_nanos() + 1) * task.execution.as_nanos(),
        None => 0,
    };
    tasks.iter().map(of).sum()
}

/// The last deadline before `limit`, and whose it is.
fn last_deadline(tasks: &[Demand], limit: u64) -> Option<(u64, usize)> {
    let of = |(i, task): (usize, &Demand)| {
        let (d, t) = (task.deadline.as_nanos(), task.period.as_nanos());
        Some((d + (limit.checked_sub(1)?.checked_sub(d)?) / t * t, i))
    };
    tasks.iter().enumerate().filter_map(of).max_by_key(|(deadline, _)| *deadline)
}

fn earliest_deadline(tasks: &[Demand], supply: &Supply, work: &mut Work) -> Result<(), Unschedulable> {
    let (asked, given) = shares(tasks, supply);
    // Each share that is asked for was rounded up by less than one.
    if asked > given + 1 + tasks.len() as u128 {
        return Err(Unschedulable::Overload);
    }
    match backwards(tasks, supply, work) {
        Ok(verdict) => verdict,
        Err(OutOfWork) if asked > given => Err(Unschedulable::Undecided { task: 0 }),
        Err(OutOfWork) => first_deadlines(tasks, supply),
    }
}

/// Σ C/T, each share rounded up, and Q/P, rounded down; in units of 2⁻⁶².
fn shares(tasks: &[Demand], supply: &Supply) -> (u128, u128) {
    let scaled = |c: Duration| u128::from(c.as_nanos()) << 62;
    let asked = tasks.iter().map(|task| scaled(task.execution).div_ceil(u128::from(task.period.as_nanos())));
    (asked.sum(), scaled(supply.budget) / u128::from(supply.period.as_nanos()))
}

/// The exact test. `Ok` is its verdict.
fn backwards(tasks: &[Demand], supply: &Supply, work: &mut Work) -> Result<Result<(), Unschedulable>, OutOfWork> {
    // The longest window in which work waits all the time at the worst supply.
    let mut busy = 0;
    loop {
        work.spend(tasks.len())?;
        let of = |task: &Demand| busy_jobs(busy, task) * task.execution.as_nanos();
        let next = supply.window_for(tasks.iter().map(of).sum());
        if next <= busy {
            break;
        }
        if next > HORIZON {
            return Err(OutOfWork);
        }
        busy = next;
    }
    let mut before = busy + 1;
    loop {
        work.spend(2 * tasks.len())?;
        let Some((window, task)) = last_deadline(tasks, before) else { return Ok(Ok(())) };
        let needed = supply.window_for(demand(tasks, window));
        if needed > window {
            return Ok(Err(Unschedulable::Late { task, window: Duration::from_nanos(window) }));
        }
        // No deadline between the two can fail: there is no more demand than here.
        before = if needed < window { needed + 1 } else { window };
    }
}

/// Jobs of a task that are released in a window of length `t`, the one at its start included.
fn busy_jobs(t: u64, task: &Demand) -> u64 {
    t.div_ceil(task.period.as_nanos()).max(1)
}

/// The sufficient test, for tasks that ask for no more than the share. Beyond its first deadlines each task's demand is a line above
/// the exact one; the supply is a line below the exact one. Between two deadlines that are looked at both grow as lines, the demand no
/// faster than the supply.
fn first_deadlines(tasks: &[Demand], supply: &Supply) -> Result<(), Unschedulable> {
    let at_most = |task: &Demand, t: u64| -> u64 {
        let (c, d, p) = (task.execution.as_nanos(), task.deadline.as_nanos(), task.period.as_nanos());
        match t.checked_sub(d) {
            None => 0,
            Some(rest) if rest / p < FIRST_DEADLINES => (rest / p + 1) * c,
            // ⌈c·(1 + rest/p)⌉
            Some(rest) => c + (u128::from(rest) * u128::from(c)).div_ceil(u128::from(p)) as u64,
        }
    };
    let line = |t: u64| -> u64 {
        let (q, p) = (u128::from(supply.budget.as_nanos()), u128::from(supply.period.as_nanos()));
        (u128::from(t.saturating_sub(supply.blackout.as_nanos())) * q / p) as u64
    };
    for (i, task) in tasks.iter().enumerate() {
        // One more: there the line begins.
        for k in 0..=FIRST_DEADLINES {
            let t = task.deadline.as_nanos() + k * task.period.as_nanos();
            let demand: u64 = tasks.iter().map(|other| at_most(other, t)).sum();
            if demand > line(t) {
                return Err(Unschedulable::Undecided { task: i });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(n: u64) -> Duration {
        Duration::from_nanos(n)
    }

    fn task(c: u64, t: u64, d: u64, priority: u32) -> Demand {
        Demand { execution: ns(c), period: ns(t), deadline: ns(d), priority }
    }

    #[test]
    fn the_window_for_a_service_is_the_inverse_of_the_supply() {
        for (q, p, blackout) in [(1, 5, 8), (3, 5, 4), (2, 7, 10), (5, 5, 0)] {
            let supply = Supply { budget: ns(q), period: ns(p), blackout: ns(blackout) };
            for service in 0..40 {
                let window = supply.window_for(service);
                assert!(supply.least(window) >= service, "({q}, {p}, {blackout}) for {service}");
                assert!(window == 0 || supply.least(window - 1) < service, "({q}, {p}, {blackout}) for {service}");
            }
        }
    }

    #[test]
    fn a_task_that_fits_exactly_is_admitted_and_one_unit_more_is_refused() {
        // Nothing for 4, then 3 in every 5: 7 units are there after 4 + 5 + 5 + 1 = 15.
        let supply = Supply { budget: ns(3), period: ns(5), blackout: ns(4) };
        for order in [Order::FixedPriority, Order::EarliestDeadline] {
            assert_eq!(admit(&[task(7, 20, 15, 0)], order, &supply, Work::OF_AN_ADMISSION), Ok(()));
            let refused = admit(&[task(7, 20, 14, 0)], order, &supply, Work::OF_AN_ADMISSION);
            assert!(matches!(refused, Err(Unschedulable::Late { task: 0, .. })), "{refused:?}");
        }
    }

    #[test]
    fn without_work_the_answer_is_never_a_wrong_yes() {
        let supply = Supply { budget: ns(3), period: ns(5), blackout: ns(4) };
        let late = [task(2, 10, 6, 0), task(2, 12, 7, 1)];
        for order in [Order::FixedPriority, Order::EarliestDeadline] {
            assert!(admit(&late, order, &supply, Work(0)).is_err());
        }
    }
}
