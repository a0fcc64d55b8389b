//! A scheduler of a tree that goes by deadlines: response times of its children under its supply.
//!
//! A *periodic*, *polling* or *sporadic* server is a sporadic task with deadline P; a sporadic one regains its budget in the pieces in
//! which it was spent, and nothing but its deadline is sure for a piece, so that its supply starts Q later. Where there are
//! no others, Spuri's response times decide. Else processor demand does, windows t from a busy period's start to a deadline, with
//!
//! - a *constant-bandwidth server*, hard or soft: one that wakes with q left has a deadline as near as qP/Q, so its demand
//!   is bounded by the line tQ/P but by no staircase (Abeni and Buttazzo 1998);
//! - a *deferrable server*: it may use Q at the end of a period, and its demand is at most Q·(1 + ⌊t/P⌋); its own budgets are due at
//!   each P (after Ghazalie and Baker, "Aperiodic servers in a deadline scheduling environment", Real-Time Systems 9, 1995);
//! - a *priority-inheriting server*: its deadline is told by its last budget, so that it may go before anybody. What it executes
//!   in a window is counted whatever its deadline, and what is inside has no bound;
//! - a budget of *misses* beside anything: nobody has a bound; nor beside a server that *reclaims*, but for
//!   constant-bandwidth servers in the root: what it executes beyond its budget is shown to harm none of these (Lipari and Baruah 2000).
//!
//! **Responses** count what each executes in any window of their length: a hard server its budgets with a jitter. A soft one has its next
//! budget at once, so that it may be far ahead: of it, what is due by a job's deadline counts ([`Line`]).
//!
//! **Lines where supply comes in pieces.** Where the whole processor is offered and nothing is withheld, lines need only be looked at at
//! deadlines. Else supply stands still for at most g = (αΔ + σ)/(α − ρ) at a time (α, Δ of the supply; ρ, σ rate and burst of what the
//! system takes), and lines are drawn g further. Deadlines of a line lie anywhere, so such a server may be *late*: all demand is at
//! most U·t + X, all supply at least (α − ρ)t − αΔ − σ, so with U ≤ α − ρ by at most (X + αΔ + σ)/(α − ρ). It supplies Q every P
//! with that much more delay as long as it is late by less than P.
//!
//! **Lines beside servers that keep a budget.** On a whole processor without costs, no demand is above t from the first t looked at on. Before
//! that nothing is due but lines and what deferrable servers have kept, of which no more than t is used by t. So a line is late by no
//! more than what is due of lines by then, or by the time at which the kept budgets are gone. Beside a priority-inheriting server the
//! general bound holds.

use super::{as_task, demand, plus, Demand, Found, Node, Scheduler, Untested, Within};
use crate::effort::Effort;
use crate::reservation::charge::Work;
use crate::reservation::local::fits_share;
use crate::reservation::supply::Supply;
use crate::task::{Sporadic, Withheld};
use crate::uniprocessor::edf_demand;
use crate::uniprocessor::edf_response::{self, Line};
use crate::utilisation::Utilisation;
use tactus_time::Duration;

pub(super) fn responses(scheduler: &Scheduler, supply: &dyn Supply, work: &Work, effort: &mut Effort) -> Vec<Found> {
    let children = &scheduler.children;
    let whole = supply.share().0 == supply.share().1;
    let unbounded = |c| match demand(c) {
        Some(Demand::Misses) => children.len() > 1,
        Some(Demand::Reclaiming) => !whole || !children.iter().all(is_line),
        known => known == Some(Demand::Unknown),
    };
    if let Some(culprit) = children.iter().position(unbounded) {
        let why = |i| if i == culprit { Untested::Itself } else { Untested::Peer(culprit) };
        return children.iter().enumerate().map(|(i, c)| Found::untested(c, why(i))).collect();
    }
    let none = || children.iter().map(|c| Found::new(c, None)).collect();
    let all: Vec<Sporadic> = children.iter().map(|c| as_task(c, work)).collect();
    if !fits_share(&all, supply) {
        return none();
    }
    let within = Within { supply, work };
    if !children.iter().any(special) {
        let found = edf_response::responses(&all, work.entry, &within, &mut effort.clone());
        return match found {
            Some(r) => children.iter().zip(r).map(|(c, r)| Found::new(c, Some(r))).collect(),
            None if edf_demand::schedulable(&all, work.entry, &within, effort) == edf_demand::Demand::Fits => {
                children.iter().map(|c| Found::new(c, Some(as_task(c, work).deadline))).collect()
            }
            None => none(),
        };
    }
    with_lines(children, &all, supply, work, effort).unwrap_or_else(none)
}

/// Servers whose demand is no staircase of sporadic jobs.
fn special(node: &Node) -> bool {
    !matches!(demand(node), None | Some(Demand::Sporadic | Demand::Misses))
}

fn is_line(node: &Node) -> bool {
    is_soft(node) || demand(node) == Some(Demand::Hard)
}

fn is_soft(node: &Node) -> bool {
    matches!(demand(node), Some(Demand::Soft | Demand::Reclaiming))
}

/// The time that special servers may ask for in a window.
struct Special<'a> {
    within: Within<'a>,
    /// Constant-bandwidth servers: Q(t + g)/P each.
    lines: Vec<(Duration, Duration)>,
    stands_still: Duration,
    /// Q·(1 + ⌊t/P⌋) each.
    steps: Vec<(Duration, Duration)>,
    /// Q·⌈(t + P − Q)/P⌉ each, whatever their deadlines.
    bursts: Vec<(Duration, Duration)>,
}

impl Withheld for Special<'_> {
    fn at_most(&self, window: Duration) -> Duration {
        let w = u128::from(window.as_nanos());
        let ns = |d: &Duration| u128::from(d.as_nanos());
        let line = |(q, p): &(Duration, Duration)| (ns(q) * (w + ns(&self.stands_still))).div_ceil(ns(p).max(1));
        let step = |(q, p): &(Duration, Duration)| ns(q) * (1 + w / ns(p).max(1));
        let burst = |(q, p): &(Duration, Duration)| ns(q) * (w + ns(p).saturating_sub(ns(q))).div_ceil(ns(p).max(1));
        let sum = self.lines.iter().map(line).sum::<u128>()
            + self.steps.iter().map(step).sum::<u128>()
            + self.bursts.iter().map(burst).sum::<u128>()
            + ns(&self.within.at_most(window));
        Duration::from_nanos(u64::try_from(sum).unwrap_or(u64::MAX))
    }
}

fn with_lines(
    children: &[Node],
    all: &[Sporadic],
    supply: &dyn Supply,
    work: &Work,
    effort: &mut Effort,
) -> Option<Vec<Found>> {
    let of = |wanted: fn(&Node) -> bool| (0..all.len()).filter(|&i| wanted(&children[i])).collect::<Vec<usize>>();
    let pairs = |places: &[usize]| places.iter().map(|&i| (all[i].execution, all[i].period)).collect::<Vec<_>>();
    let (lines, ordinary) = (of(is_line), of(|c| !special(c)));
    let deferrable = of(|c| demand(c) == Some(Demand::Deferrable));
    let inheriting = of(|c| demand(c) == Some(Demand::Inheriting));

    let (q, p) = supply.share();
    let calm = q == p && supply.delay().is_zero() && work.is_none();
    let mut due: Vec<Sporadic> = ordinary.iter().map(|&i| all[i]).collect();
    let implicit = due.iter().all(|τ| τ.deadline >= τ.period && τ.jitter.is_zero());
    // Budgets of deferrable servers are due at each period; what they take is among the steps.
    due.extend(deferrable.iter().map(|&i| Sporadic { execution: Duration::ZERO, ..all[i] }));
    let only_lines = deferrable.is_empty() && inheriting.is_empty();
    let first = due.iter().map(|τ| τ.deadline.saturating_sub(τ.jitter)).min();
    let Behind { stands_still, late } = match calm {
        true if only_lines => Behind::default(),
        true if inheriting.is_empty() => {
            let sum = deferrable.iter().fold(Duration::ZERO, |sum, &i| plus(sum, all[i].execution));
            let late = lines_by(&pairs(&lines), first.map_or(sum, |first| first.min(sum)));
            Behind { stands_still: Duration::ZERO, late }
        }
        true => Behind { stands_still: Duration::ZERO, ..behind(children, all, supply, work)? },
        false => behind(children, all, supply, work)?,
    };
    let mut asked = Special {
        within: Within { supply, work },
        lines: pairs(&lines),
        stands_still,
        steps: pairs(&deferrable),
        bursts: pairs(&inheriting),
    };
    let proven = calm && implicit && only_lines;
    if !proven && edf_demand::schedulable(&due, work.entry, &asked, effort) != edf_demand::Demand::Fits {
        return None;
    }
    // All deadlines are met; responses may be shorter.
    let mut seen: Vec<Sporadic> = ordinary.iter().map(|&i| all[i]).collect();
    seen.extend(lines.iter().filter(|&&i| !is_soft(&children[i])).map(|&i| {
        let jitter = if calm { all[i].period.saturating_sub(all[i].execution) } else { all[i].period };
        Sporadic { jitter, deadline: jitter, ..all[i] }
    }));
    let soft = lines.iter().filter(|&&i| is_soft(&children[i]));
    let soft: Vec<Line> =
        soft.map(|&i| Line { budget: all[i].execution, period: all[i].period, ahead: stands_still }).collect();
    asked.bursts.extend(std::mem::take(&mut asked.steps));
    asked.lines.clear();
    let sharper = match soft.is_empty() {
        true => edf_response::responses(&seen, work.entry, &asked, effort),
        false => last_arrival(&seen, &soft, (children, all), supply, work)
            .and_then(|last| edf_response::responses_beside(&seen, (&soft, last), work.entry, &asked, effort)),
    };
    let mut found: Vec<Found> = children.iter().map(|c| Found::new(c, None)).collect();
    for (place, &i) in ordinary.iter().enumerate() {
        let own = sharper.as_ref().map(|r| r[place]);
        found[i].response = Some(own.map_or(all[i].deadline, |r| r.min(all[i].deadline)));
    }
    for &i in &deferrable {
        found[i].response = Some(all[i].deadline);
    }
    for &i in &inheriting {
        found[i].untested = Some(Untested::Itself);
    }
    for &i in &lines {
        // Late by less than a period, or the server does not catch up.
        let limit =
            if late.is_zero() { all[i].period } else { (all[i].period * 2).saturating_sub(Duration::from_nanos(1)) };
        found[i] = Found { response: Some(plus(all[i].period, late)), limit, untested: None };
    }
    Some(found)
}

/// What is due of lines within a window, drawn from its start.
fn lines_by(lines: &[(Duration, Duration)], window: Duration) -> Duration {
    let ns = |d: Duration| u128::from(d.as_nanos());
    let of = |(q, p): &(Duration, Duration)| (ns(*q) * ns(window)).div_ceil(ns(*p).max(1));
    Duration::from_nanos(u64::try_from(lines.iter().map(of).sum::<u128>()).unwrap_or(u64::MAX))
}

/// After which no arrival of a job counts in a busy period that began at zero, where soft servers may be ahead: all that may be due by the
/// deadline of a job that arrives at a, or arrive before a, is at most U·a + X, and the supply until then at least (α − ρ)a − αΔ − σ. Nothing
/// where U reaches α − ρ.
fn last_arrival(
    seen: &[Sporadic],
    soft: &[Line],
    (children, all): (&[Node], &[Sporadic]),
    supply: &dyn Supply,
    work: &Work,
) -> Option<Duration> {
    let ns = |d: Duration| u128::from(d.as_nanos());
    let Lost { rate, lost } = Lost::of(supply, work)?;
    let taken = Utilisation::of(all.iter().map(|τ| (τ.execution, τ.period))).bracket().1;
    let left = rate.checked_sub(taken).filter(|left| *left > 0)?;
    // A job more than a window has room for, and those of its jitter.
    let seen_above =
        seen.iter().map(|τ| ns(τ.execution) + (ns(τ.execution) * ns(τ.jitter)).div_ceil(ns(τ.period).max(1)));
    let longest = seen.iter().map(|τ| τ.deadline).max().unwrap_or_default();
    let ahead = |it: &Line| ns(it.budget) * (ns(longest) + ns(it.ahead)).div_ceil(ns(it.period).max(1)) + ns(it.budget);
    let bursts = children.iter().zip(all).map(|(node, τ)| match demand(node) {
        Some(Demand::Deferrable | Demand::Inheriting) => 2 * ns(τ.execution),
        _ => 0,
    });
    let above: u128 = seen_above.chain(soft.iter().map(ahead)).chain(bursts).sum();
    time(above + lost, left)
}

/// The rate α − ρ at which time is left, in units of 2⁻⁶⁰ and rounded down, and what may be lost beside: αΔ + σ and the blocking.
struct Lost {
    rate: u128,
    lost: u128,
}

impl Lost {
    fn of(supply: &dyn Supply, work: &Work) -> Option<Lost> {
        let (q, p) = supply.share();
        let ns = |d: Duration| u128::from(d.as_nanos());
        let given = ns(q) * ONE / ns(p).max(1);
        let rate = given.checked_sub(Utilisation::of(work.rates()).bracket().1).filter(|rate| *rate > 0)?;
        let lost = (ns(q) * ns(supply.delay())).div_ceil(ns(p).max(1)) + ns(work.burst()) + ns(work.entry);
        Some(Lost { rate, lost })
    }
}

const ONE: u128 = 1 << 60;

/// How long so much work takes at a rate in units of 2⁻⁶⁰.
fn time(work: u128, rate: u128) -> Option<Duration> {
    let t = work.checked_mul(ONE)?.div_ceil(rate);
    u64::try_from(t).ok().map(Duration::from_nanos)
}

/// For how long supply stands still, and how late a constant-bandwidth server may be.
#[derive(Clone, Copy, Default)]
struct Behind {
    stands_still: Duration,
    late: Duration,
}

/// The head of the file has the formulas; `None` where U > α − ρ.
fn behind(children: &[Node], all: &[Sporadic], supply: &dyn Supply, work: &Work) -> Option<Behind> {
    let (q, p) = supply.share();
    let asked = all.iter().map(|τ| (τ.execution, τ.period)).chain(work.rates()).chain([(p.checked_sub(q)?, p)]);
    if !Utilisation::of(asked).at_most(1) {
        return None;
    }
    let ns = |d: Duration| u128::from(d.as_nanos());
    let Lost { rate, lost } = Lost::of(supply, work)?;
    // X: what a demand may be above its rate.
    let above = |(node, τ): (&Node, &Sporadic)| match demand(node) {
        _ if is_line(node) => 0,
        Some(Demand::Deferrable) => ns(τ.execution),
        Some(Demand::Inheriting) => 2 * ns(τ.execution),
        _ => {
            let reach = (ns(τ.period) + ns(τ.jitter)).saturating_sub(ns(τ.deadline));
            (ns(τ.execution) * reach).div_ceil(ns(τ.period).max(1))
        }
    };
    let x: u128 = children.iter().zip(all).map(above).sum();
    Some(Behind { stands_still: time(lost, rate)?, late: time(lost + x, rate)? })
}
