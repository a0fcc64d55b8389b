//! What a bound adds up from: the terms of the equation whose solution it is, as the test itself evaluates them.
//!
//! A test that is asked for them searches as always, and writes down the sum at the instant that decides. So the terms are those of the
//! bound, and add up to it.

use crate::task::to_duration;
use tactus_task::Bound;
use tactus_time::Duration;

/// What takes the time of a term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Jobs of the task itself.
    Own,
    /// Jobs of another one, by its place among the tasks of the test; of the system in what the check gives.
    Other(usize),
    /// Budgets of a server, by its place in the system.
    Server(usize),
    /// Less urgent work that has begun, of the task at this place where one is known.
    Blocking(Option<usize>),
    /// An entry of the scheduler that is under way when the window begins.
    EntryUnderWay,
    /// Entries of the scheduler for releases.
    Releases,
    /// Entries of the scheduler for what recurs: waits, kills, turns, budgets.
    Recurring,
    /// What tasks load again into the caches: after jobs of the one at this place, or after entries of the scheduler.
    Reload(Option<usize>),
    /// What a server or a partition's windows do not give of the window.
    Supply,
    /// What the processor keeps for others, of a kind that the test does not tell.
    Withheld,
    /// The time from an arrival to the release.
    Jitter,
    /// How long after the start of the window the job arrives; to be taken off.
    Arrival,
}

/// One term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Term {
    /// Whose it is.
    pub source: Source,
    /// How often it counts.
    pub times: u64,
    /// What it counts for each time, with what the system's own work, waits and spinning add to it.
    pub each: Duration,
    /// How much of `each` these add to the time that the file assumes.
    pub added: Duration,
}

impl Term {
    /// A term without additions.
    pub(crate) fn new(source: Source, times: i128, each: i128) -> Term {
        let times = u64::try_from(times.max(0)).unwrap_or(u64::MAX);
        Term { source, times, each: to_duration(each), added: Duration::ZERO }
    }
    /// One that counts once.
    pub(crate) fn once(source: Source, each: i128) -> Term {
        Term::new(source, 1, each)
    }
    /// What it comes to.
    pub fn amount(&self) -> Duration {
        self.each.checked_mul(self.times).unwrap_or(Duration::MAX)
    }
}

/// What the terms add up to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Equation {
    /// The response time, which is the bound.
    Response,
    /// The work of a window that ends at a deadline, the one with the least room of those that the test looked at. It fits, and so do all others:
    /// the deadline is the bound.
    Demand,
}

/// The terms of a bound.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Terms {
    /// What they add up to.
    pub equation: Equation,
    /// The window in which they are counted.
    pub window: Duration,
    /// Among how many cores the time of [`Source::Other`] is divided; the fraction is rounded down.
    pub cores: u64,
    /// The terms.
    pub list: Vec<Term>,
}

impl Terms {
    /// Terms that add up to a response on one core. Those that come to nothing are left out.
    pub(crate) fn response(window: i128, list: Vec<Term>) -> Terms {
        Terms::of(Equation::Response, window, list)
    }
    /// Terms that add up to the demand of a window.
    pub(crate) fn demand(window: i128, list: Vec<Term>) -> Terms {
        Terms::of(Equation::Demand, window, list)
    }
    fn of(equation: Equation, window: i128, mut list: Vec<Term>) -> Terms {
        list.retain(|term| !term.amount().is_zero());
        Terms { equation, window: to_duration(window), cores: 1, list }
    }
    /// What they add up to.
    pub fn sum(&self) -> Duration {
        let of = |counts: &dyn Fn(Source) -> bool| -> i128 {
            self.list.iter().filter(|term| counts(term.source)).map(|term| i128::from(term.amount().as_nanos())).sum()
        };
        let others = of(&|source| matches!(source, Source::Other(_) | Source::Server(_)));
        let arrival = of(&|source| source == Source::Arrival);
        let rest = of(&|source| !matches!(source, Source::Other(_) | Source::Server(_) | Source::Arrival));
        to_duration(rest + others / i128::from(self.cores.max(1)) - arrival)
    }
    /// Says whose blocking it is, where the test was given it as one sum.
    pub(crate) fn blocked_by(&mut self, parts: &[Term]) {
        self.list.retain(|term| term.source != Source::Blocking(None));
        self.list.extend(parts.iter().filter(|part| !part.amount().is_zero()));
    }
    /// Says of each place whose it is: [`Source::Other`] or [`Source::Server`].
    pub(crate) fn renumber(&mut self, whose: impl Fn(usize) -> Source) {
        let task = |i: usize| match whose(i) {
            Source::Other(n) => Some(n),
            _ => None,
        };
        for term in &mut self.list {
            match &mut term.source {
                Source::Other(i) => term.source = whose(*i),
                Source::Blocking(Some(i)) | Source::Reload(Some(i)) => *i = task(*i).unwrap_or(*i),
                _ => {}
            }
        }
    }

    /// Whether they give this bound, of a task with this deadline.
    pub fn gives(&self, bound: Bound, deadline: Duration) -> bool {
        match (self.equation, bound) {
            (Equation::Response, Bound::Response(response)) => response == self.sum(),
            (Equation::Demand, Bound::Response(response)) => response == deadline && self.sum() <= self.window,
            (_, Bound::Tardiness(_)) => false,
        }
    }
}
