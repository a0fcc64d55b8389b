//! Cache-related preemption delay in the tests of one processor: what a preempted job loads again, by who preempts whom.
//!
//! **Fixed priorities.** Altmeyer, Davis and Maiza, "Improved cache related pre-emption delay aware response time analysis for fixed
//! priority pre-emptive systems", Real-Time Systems 48, 2012. In its symbols, hp(i) are the tasks above τᵢ, aff(i,j) = {k ≤ i below τⱼ} those
//! that a job of τⱼ may preempt while τᵢ's response lasts, Eⱼ(t) = ⌈(t + Jⱼ)/Tⱼ⌉:
//!
//! ```text
//! w = B + (q+1)·Cᵢ + Σ_{j ∈ hp(i)} ( Eⱼ(w)·Cⱼ + γ(i,j) ) + withheld(w)
//! ECB-union multiset   γ(i,j) = the Eⱼ(w) largest of { nⱼₖ times |UCBₖ ∩ ∪_{h ∈ hp(j) ∪ {j}} ECBₕ| : k ∈ aff(i,j) }
//! UCB-union multiset   γ(i,j) = min( Σ_{k ∈ aff(i,j)} nⱼₖ·|UCBₖ ∩ ECBⱼ|, Eⱼ(w)·|ECBⱼ| )
//! nⱼₖ = Eⱼ(Rₖ)·Eₖ(w)   for k < i,   nⱼᵢ = Eⱼ(w)
//! ```
//!
//! each times what a block takes. Both bound all that preemptions take in the window, so the smaller w holds (their *combined* multiset
//! approach). Blocks are counts here, not sets of sets: an intersection is a number that is never too small.
//!
//! **Earliest deadlines.** Lunniss, Altmeyer, Maiza and Davis, "Integrating cache related pre-emption delay analysis into EDF
//! scheduling", RTAS 2013: a job of τⱼ that is due within a window t may preempt those τₖ with Dⱼ < Dₖ ≤ t, and has in the demand of that
//! window, beside Cⱼ,
//!
//! ```text
//! γ(t,j) = max over these k of |UCBₖ ∩ ∪_{Dₕ ≤ Dⱼ} ECBₕ|
//! ```
//!
//! The same charge enters Spuri's response times, whose window for a job that arrives at a ends at a + Dᵢ.
//!
//! **The system's own work** displaces lines as well, whenever the scheduler is entered, with or without a preemption. Its blocks are part of
//! every ECBⱼ, so that a job that is preempted and resumed pays once; and every entry costs what it displaces of the job that it interrupts,
//! of those whose response is looked for and those above it, or of those due within the window.
//!
//! Assumes that Cᵢ is the longest time of a job alone whose lines are in no cache at first, tasks without sections, suspensions and bursts.

use crate::effort::{Effort, HORIZON};
use crate::task::{ceil_div, to_duration, withheld, withheld_terms, Sporadic, Withheld};
use crate::terms::{Source, Term, Terms};
use crate::uniprocessor::edf_demand::{self, jobs_due, Demand};
use crate::uniprocessor::edf_response::{arrivals_to_try, jobs_before, Worst};
use crate::uniprocessor::fixed_priority::{self, Longest};
use crate::uniprocessor::{busy_period, overloaded};
use tactus_time::Duration;

/// What the tasks of a core, the most urgent first, lose to each other and to the system's own work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PreemptionDelays {
    many: usize,
    /// For k and j: what a job of k loads again after a job of j and any of those more urgent than j.
    union: Vec<i128>,
    /// For k and j: after a job of j alone.
    alone: Vec<i128>,
    /// For j: all that one job of j displaces, of whomever.
    displaced: Vec<i128>,
    /// For k: what a job of k loads again after an entry of the scheduler.
    entry: Vec<i128>,
}

/// What a core does beside its tasks.
#[derive(Clone, Copy)]
pub struct Interrupted<'w> {
    /// The time that it keeps for others, without what is loaded again.
    pub withheld: &'w dyn Withheld,
    /// The most entries of the scheduler in a window.
    pub entries: &'w dyn Fn(Duration) -> u64,
}

/// A core each of whose entries makes a job load something again.
struct Reloading<'w> {
    core: Interrupted<'w>,
    reload: i128,
}

impl Withheld for Reloading<'_> {
    fn at_most(&self, window: Duration) -> Duration {
        let own = i128::from(self.core.withheld.at_most(window).as_nanos());
        let entries = if self.reload == 0 { 0 } else { i128::from((self.core.entries)(window)) };
        to_duration(own + entries * self.reload)
    }

    fn terms(&self, window: Duration) -> Vec<Term> {
        let entries = if self.reload == 0 { 0 } else { i128::from((self.core.entries)(window)) };
        let mut all = self.core.withheld.terms(window);
        all.push(Term::new(Source::Reload(None), entries, self.reload));
        all
    }
}

impl PreemptionDelays {
    /// For `many` tasks. `union(k, j)` is what a job of k loads again at most after a job of j < k and others up to j, `alone(k, j)` after
    /// one of j, `displaced(j)` whatever one of j can displace, all three with what the scheduler's entries displace; `entry(k)` what they
    /// displace by themselves.
    pub fn new(
        many: usize,
        union: impl Fn(usize, usize) -> Duration,
        alone: impl Fn(usize, usize) -> Duration,
        displaced: impl Fn(usize) -> Duration,
        entry: impl Fn(usize) -> Duration,
    ) -> PreemptionDelays {
        let ns = |time: Duration| i128::from(time.as_nanos());
        let pairs = |of: &dyn Fn(usize, usize) -> Duration| {
            let one = |n: usize| if n % many < n / many { ns(of(n / many, n % many)) } else { 0 };
            (0..many * many).map(one).collect()
        };
        PreemptionDelays {
            many,
            union: pairs(&union),
            alone: pairs(&alone),
            displaced: (0..many).map(|j| ns(displaced(j))).collect(),
            entry: (0..many).map(|k| ns(entry(k))).collect(),
        }
    }

    fn union(&self, k: usize, j: usize) -> i128 {
        self.union[k * self.many + j]
    }

    fn alone(&self, k: usize, j: usize) -> i128 {
        self.alone[k * self.many + j]
    }

    /// The core with what its entries make these tasks load again.
    fn on<'w>(&self, core: Interrupted<'w>, tasks: impl Iterator<Item = usize>) -> Reloading<'w> {
        Reloading { core, reload: tasks.map(|k| self.entry[k]).max().unwrap_or(0) }
    }
}

/// Whose blocks are united.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Union {
    Evicting,
    Useful,
}

/// The worst-case response times under fixed priorities, the most urgent task first. `None` as in
/// [`fixed_priority::response`].
pub fn by_priority(
    tasks: &[Sporadic],
    delays: &PreemptionDelays,
    blocking: Duration,
    core: Interrupted,
    effort: &mut Effort,
) -> Vec<Option<Duration>> {
    each_by_priority(tasks.len(), tasks, delays, (blocking, core), effort)
        .into_iter()
        .map(|found| Some(found?.0.response))
        .collect()
}

/// The terms of the response of the i-th task under fixed priorities.
pub fn terms_by_priority(
    (tasks, i): (&[Sporadic], usize),
    delays: &PreemptionDelays,
    blocking: Duration,
    core: Interrupted,
    effort: &mut Effort,
) -> Option<Terms> {
    let found = each_by_priority(i + 1, tasks, delays, (blocking, core), effort);
    let above: Vec<Option<Duration>> = found.iter().map(|it| Some(it.as_ref()?.0.response)).collect();
    let (longest, union) = found.into_iter().nth(i)??;
    let (window, core) = (longest.window, delays.on(core, 0..=i));
    let others = Others { tasks, delays, above: &above[..i], union };
    let of = |j: usize| {
        let jobs = Term::new(Source::Other(j), others.arrivals(j, window), tasks[j].c());
        [jobs, Term::once(Source::Reload(Some(j)), others.delay(j, window))]
    };
    let all = (0..i).flat_map(of).chain(withheld_terms(&core, window));
    Some(longest.terms(&tasks[i], i128::from(blocking.as_nanos()), all))
}

/// The responses of the first `many` tasks, each with the blocks that were united.
fn each_by_priority(
    many: usize,
    tasks: &[Sporadic],
    delays: &PreemptionDelays,
    (blocking, core): (Duration, Interrupted),
    effort: &mut Effort,
) -> Vec<Option<(Longest, Union)>> {
    let mut all: Vec<Option<(Longest, Union)>> = Vec::with_capacity(many);
    let mut responses: Vec<Option<Duration>> = Vec::with_capacity(many);
    for i in 0..many {
        let core = delays.on(core, 0..=i);
        let mut with = |union, most| {
            let longest = response(tasks, delays, &responses, (blocking, &core), (union, most), effort)?;
            Some((longest, union))
        };
        let evicting = with(Union::Evicting, None);
        let most = evicting.as_ref().map(|it| it.0.response);
        let found = with(Union::Useful, most).or(evicting);
        responses.push(found.as_ref().map(|it| it.0.response));
        all.push(found);
    }
    all
}

/// What the tasks above one take of a window.
struct Others<'a> {
    tasks: &'a [Sporadic],
    delays: &'a PreemptionDelays,
    /// Their responses, of all above it.
    above: &'a [Option<Duration>],
    union: Union,
}

impl Others<'_> {
    fn arrivals(&self, k: usize, w: i128) -> i128 {
        ceil_div(w + self.tasks[k].j(), self.tasks[k].t())
    }

    /// nⱼₖ: how often jobs of j can preempt those of k in a window.
    fn preemptions(&self, j: usize, k: usize, w: i128) -> i128 {
        let all = self.arrivals(j, w);
        match self.above.get(k) {
            Some(Some(r)) => (self.arrivals(j, i128::from(r.as_nanos())) * self.arrivals(k, w)).min(all),
            _ => all,
        }
    }

    /// γ(i,j).
    fn delay(&self, j: usize, w: i128) -> i128 {
        let (i, delays) = (self.above.len(), self.delays);
        let mut left = self.arrivals(j, w);
        if self.union == Union::Useful {
            let each = |k| self.preemptions(j, k, w) * delays.alone(k, j);
            return (j + 1..=i).map(each).sum::<i128>().min(left * delays.displaced[j]);
        }
        let mut costs: Vec<(i128, i128)> = (j + 1..=i)
            .map(|k| (delays.union(k, j), self.preemptions(j, k, w)))
            .filter(|(cost, _)| *cost > 0)
            .collect();
        costs.sort_unstable_by(|one, other| other.cmp(one));
        let mut sum = 0;
        for (cost, times) in costs {
            let times = times.min(left);
            sum += cost * times;
            left -= times;
        }
        sum
    }
}

/// The response of the task after those whose responses are given, if it is not over `most`.
fn response(
    tasks: &[Sporadic],
    delays: &PreemptionDelays,
    above: &[Option<Duration>],
    (blocking, processor): (Duration, &dyn Withheld),
    (union, most): (Union, Option<Duration>),
    effort: &mut Effort,
) -> Option<Longest> {
    let i = above.len();
    let most = most.map_or(HORIZON, |most| i128::from(most.as_nanos()));
    if overloaded(&tasks[..=i]) {
        return None;
    }
    let all = Others { tasks, delays, above, union };
    let others = |w: i128| -> i128 {
        (0..i).map(|j| all.arrivals(j, w) * tasks[j].c() + all.delay(j, w)).sum::<i128>() + withheld(processor, w)
    };
    let b = i128::from(blocking.as_nanos());
    fixed_priority::longest(&tasks[i], (b, most), (effort, i * (i + 1)), others)
}

/// What jobs cause within windows, by how many of the tasks can be due there.
struct Windows {
    /// γ(t,j) for each task, and the longest reload after an entry.
    by_due: Vec<(Vec<i128>, i128)>,
}

impl Windows {
    /// The tasks come with ascending deadlines.
    fn of(tasks: &[Sporadic], delays: &PreemptionDelays) -> Windows {
        let mut last = (vec![0; tasks.len()], 0);
        let mut by_due = vec![last.clone()];
        for (k, τ) in tasks.iter().enumerate() {
            for j in (0..k).filter(|&j| tasks[j].d() < τ.d()) {
                last.0[j] = last.0[j].max(delays.union(k, j));
            }
            last.1 = last.1.max(delays.entry[k]);
            by_due.push(last.clone());
        }
        Windows { by_due }
    }

    /// Of a window of length t.
    fn at(&self, tasks: &[Sporadic], t: i128) -> &(Vec<i128>, i128) {
        &self.by_due[tasks.partition_point(|τ| τ.d() <= t)]
    }

    /// The longest busy period, in which each job causes all that it ever can.
    fn longest(&self, tasks: &[Sporadic], b: i128, core: Interrupted, effort: &mut Effort) -> Option<i128> {
        let (caused, reload) = &self.by_due[tasks.len()];
        let longer = |(τ, more): (&Sporadic, &i128)| Sporadic { execution: to_duration(τ.c() + more), ..*τ };
        let all: Vec<Sporadic> = tasks.iter().zip(caused).map(longer).collect();
        busy_period(&all, b, &Reloading { core, reload: *reload }, effort)
    }
}

/// The response-time bounds under earliest deadline first, the task with the shortest deadline first. As
/// [`edf_response::responses`](super::edf_response::responses).
pub fn by_deadline(
    tasks: &[Sporadic],
    delays: &PreemptionDelays,
    blocking: Duration,
    core: Interrupted,
    effort: &mut Effort,
) -> Option<Vec<Duration>> {
    let b = i128::from(blocking.as_nanos());
    let windows = Windows::of(tasks, delays);
    let longest = windows.longest(tasks, b, core, effort)?;
    let one = |i| Some(to_duration(response_by_deadline(tasks, &windows, i, (b, longest), core, effort)?.response));
    (0..tasks.len()).map(one).collect()
}

/// The terms of the response of the i-th task under earliest deadline first.
pub fn terms_by_deadline(
    (tasks, i): (&[Sporadic], usize),
    delays: &PreemptionDelays,
    blocking: Duration,
    core: Interrupted,
    effort: &mut Effort,
) -> Option<Terms> {
    let b = i128::from(blocking.as_nanos());
    let windows = Windows::of(tasks, delays);
    let longest = windows.longest(tasks, b, core, effort)?;
    let worst = response_by_deadline(tasks, &windows, i, (b, longest), core, effort)?;
    let (caused, reload) = windows.at(tasks, worst.arrival + tasks[i].d());
    let core = Reloading { core, reload: *reload };
    let reloads = worst.jobs(tasks, i).map(|(j, jobs)| Term::new(Source::Reload(Some(j)), jobs, caused[j]));
    Some(worst.terms(tasks, i, b, reloads.chain(withheld_terms(&core, worst.finish))))
}

fn response_by_deadline(
    tasks: &[Sporadic],
    windows: &Windows,
    i: usize,
    (b, longest): (i128, i128),
    core: Interrupted,
    effort: &mut Effort,
) -> Option<Worst> {
    let own = &tasks[i];
    let mut worst = Worst { response: b + own.c() + own.j(), arrival: -own.j(), finish: b + own.c() };
    let mut finish = (b + own.c()).max(1);
    for a in arrivals_to_try(tasks, own, longest, effort)? {
        let (caused, reload) = windows.at(tasks, a + own.d());
        let core = Reloading { core, reload: *reload };
        let jobs = 1 + (a + own.j()).div_euclid(own.t());
        loop {
            if finish > HORIZON || !effort.spend(tasks.len()) {
                return None;
            }
            let mut next = b + jobs * (own.c() + caused[i]) + withheld(&core, finish);
            for (j, τ) in tasks.iter().enumerate() {
                if j != i {
                    next += jobs_before(own, τ, a, finish) * (τ.c() + caused[j]);
                }
            }
            if next <= finish {
                break;
            }
            finish = next;
        }
        worst.at(a, finish);
    }
    Some(worst)
}

/// Judges the tasks by their demand under earliest deadline first. As [`edf_demand::schedulable`].
pub fn demand(
    tasks: &[Sporadic],
    delays: &PreemptionDelays,
    blocking: Duration,
    core: Interrupted,
    effort: &mut Effort,
) -> Demand {
    if overloaded(tasks) {
        return Demand::Overload;
    }
    let b = i128::from(blocking.as_nanos());
    let windows = Windows::of(tasks, delays);
    let Some(longest) = windows.longest(tasks, b, core, effort) else {
        return Demand::Undecided;
    };
    let h = |t: i128| {
        let (caused, reload) = windows.at(tasks, t);
        let one = |(τ, more): (&Sporadic, &i128)| jobs_due(τ, t) * (τ.c() + more);
        let jobs: i128 = tasks.iter().zip(caused).map(one).sum();
        b + jobs + withheld(&Reloading { core, reload: *reload }, t)
    };
    edf_demand::at_deadlines(tasks, longest, effort, h)
}
