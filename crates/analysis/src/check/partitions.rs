//! Systems of partitions: the tasks of each partition on each core, within the windows that it has there.
//!
//! A partition's windows are a supply ([`crate::reservation::windows`]), its tasks are tested as those of a core by
//! themselves. What others do takes nothing of it but the system's work: entries for releases of anybody on the core, for
//! the bounds of windows, and at each start of a window one that is under way for a completion in the window before.
//! What a partition may have in the background is not counted on.
//!
//! With several schedules a promise holds in each and across each switch, in whatever order they come. A partition that has no windows
//! on a core in one of them has no promises there.

use super::assumed::plain;
use super::covers::{one, FIXED, SPORADIC};
use super::declared::{self, Declared};
use super::explain::Wanted;
use super::growth::{self, Growth, SearchBudget};
use super::orders::{self, Queue, Responses};
use super::rank::Rank;
use super::report::{hundredths, Check, TaskVerdict};
use super::subject::Subject;
use super::{sensitivity, work};
use crate::arrivals::Instants;
use crate::effort::Effort;
use crate::reservation::charge::Work;
use crate::reservation::local::fits_share;
use crate::reservation::supply::Supply;
use crate::reservation::windows::WindowTable;
use crate::task::{Sporadic, Withheld};
use crate::terms::{Source, Term, Terms};
use crate::uniprocessor::fixed_priority;
use tactus_model::{Release, Server, System};
use tactus_task::{Bound, Feature, Features};
use tactus_time::{CoreId, Duration};

/// What explains a bound here.
const BY: &str = "response within the windows of its partition";

const IN_WINDOWS: Features = SPORADIC.and(Features::of(&[
    Feature::ServerWindows,
    Feature::Background,
    Feature::Schedules,
    Feature::StartFrame,
    Feature::Reconfiguration,
]));

const fn test(source: &'static str, covers: Features) -> Declared {
    Declared { name: BY, source, place: "windows of partitions", covers: IN_WINDOWS.and(covers), exact: false }
}

/// The same for jobs that ask and serve, none of which is left out or ended: its request would stay without answer.
const fn serving(test: Declared) -> Declared {
    let ends = Features::of(&[Feature::Skip, Feature::Stop, Feature::Kill]);
    Declared { covers: test.covers.without(ends).and(one(Feature::Service)), ..test }
}

/// The tests within windows, for each kind of order.
const TESTS: [Declared; 7] = [
    test("Mok, Feng and Chen 2001; Lehoczky 1990", FIXED),
    test("Mok, Feng and Chen 2001; Spuri 1996; Zhang and Burns 2009", one(Feature::EarliestDeadline)),
    test("Mok, Feng and Chen 2001; George and Minet 1997", one(Feature::FirstComeFirstServed)),
    test("Mok, Feng and Chen 2001; Racu et al. 2007", one(Feature::RoundRobin)),
    test("Mok, Feng and Chen 2001; Lehoczky 1990", one(Feature::FixedPriorityRoundRobin)),
    test("Mok, Feng and Chen 2001; Spuri 1996", one(Feature::LaxityAtRelease)),
    test("Mok, Feng and Chen 2001; Leontyev and Anderson 2010", one(Feature::LeastLaxity)),
];
/// All of them.
pub(crate) const ALL: &[Declared] = &{
    let mut all = [TESTS[0]; 2 * TESTS.len()];
    let mut n = 0;
    while n < TESTS.len() {
        (all[n], all[TESTS.len() + n]) = (TESTS[n], serving(TESTS[n]));
        n += 1;
    }
    all
};

pub(super) fn check(subject: &Subject, entry: Duration, check: &mut Check, wanted: &mut Wanted) {
    let system = subject.system;
    for core in (0..system.cores).map(|core| CoreId(core as u8)) {
        let bounds = Bounds::of(system, core);
        for partition in on(system, core) {
            absent(system, partition, core, check);
            if let Some(inside) = Inside::of(system, partition, core, entry) {
                inside.judge(subject, &bounds, check, wanted);
            }
        }
    }
}

/// By how much each execution time may grow, so that all of its partition on its core still pass.
pub(super) fn growth(subject: &Subject, entry: Duration, search: &mut SearchBudget, growth: &mut [Growth]) {
    let system = subject.system;
    let places: Vec<(usize, CoreId)> = (0..system.cores)
        .map(|core| CoreId(core as u8))
        .flat_map(|core| on(system, core).map(move |partition| (partition, core)))
        .collect();
    for (n, (partition, core)) in places.iter().enumerate() {
        search.part(places.len() - n);
        let Some(inside) = Inside::of(system, *partition, *core, entry) else { continue };
        let bounds = Bounds::of(system, *core);
        let work = inside.work(&bounds);
        for (i, task) in inside.tasks.iter().enumerate() {
            let mut passes = |set: &[Sporadic]| {
                search.ask(Effort::of_core(system.cores), |effort| {
                    let responses = inside.responses(set, &work, *effort).0;
                    // What the search took is not told; its share is.
                    effort.spend(set.len() * set.len());
                    inside.all_met(subject, &responses, set)
                })
            };
            growth[inside.places[i]] = growth::of(&inside.tasks, i, task.deadline, &mut passes);
        }
    }
}

/// The partitions with windows on the core.
fn on(system: &System, core: CoreId) -> impl Iterator<Item = usize> + '_ {
    let servers = &system.scheduling.servers;
    (0..servers.len()).filter(move |n| servers[*n].cores.contains(core))
}

/// The schedule in which a partition has no windows on the core, if there is one.
fn without(system: &System, partition: usize, core: CoreId) -> Option<u8> {
    let partitions = &system.scheduling.partitions;
    partitions.numbers().find(|schedule| partitions.list[partition].time_on(core, *schedule).is_zero())
}

/// Nothing is promised in a partition that has no time in some schedule.
fn absent(system: &System, partition: usize, core: CoreId, check: &mut Check) {
    let Some(schedule) = without(system, partition, core) else { return };
    let name = &system.scheduling.partitions.schedules[usize::from(schedule)];
    let own = |n: &usize| system.partition_of(*n) == Some(partition) && system.tasks[*n].core == Some(core);
    for n in (0..system.tasks.len()).filter(own) {
        let why = format!("its partition has no window on core {core} in schedule `{name}`");
        check.tasks[n].verdict = TaskVerdict::Untested(why);
    }
}

/// The instants at which releases and bounds of windows enter the scheduler of a core.
struct Bounds {
    instants: Instants,
}

impl Bounds {
    fn of(system: &System, core: CoreId) -> Bounds {
        let partitions = &system.scheduling.partitions;
        let timed = |n: &usize| system.tasks[*n].core == Some(core) && is_periodic(system, *n);
        let releases = (0..system.tasks.len()).filter(timed);
        let releases = releases.map(|n| (system.tasks[n].offset, system.tasks[n].period));
        let windows = partitions.list.iter().flat_map(|it| &it.windows).filter(|window| window.core == core);
        let bounds = windows.flat_map(|window| [window.start, window.end()]);
        let mut bounds: Vec<Duration> = bounds.map(|at| at % partitions.frame).collect();
        // Where a schedule may begin, the core is entered.
        bounds.extend((partitions.schedules.len() > 1).then_some(Duration::ZERO));
        bounds.sort_unstable();
        bounds.dedup();
        let bounds = bounds.into_iter().map(|at| (at, partitions.frame));
        Bounds { instants: Instants::of(releases.chain(bounds), system.duration) }
    }
}

fn is_periodic(system: &System, n: usize) -> bool {
    system.scheduling.places.get(n).is_none_or(|place| place.release == Release::Periodic)
}

/// The tasks of a partition on one core, the most urgent first.
struct Inside<'s> {
    system: &'s System,
    server: &'s Server,
    core: CoreId,
    places: Vec<usize>,
    tasks: Vec<Sporadic>,
    /// What the windows give, at any time.
    table: WindowTable,
    /// By task, what they give from the instants at which a busy period of it may begin.
    tables: Vec<WindowTable>,
    rank: Rank,
    entry: Duration,
    windows: u64,
}

/// What windows and the system's work leave.
struct Within<'a>(&'a WindowTable, &'a Work<'a>);

impl Withheld for Within<'_> {
    fn at_most(&self, window: Duration) -> Duration {
        let gone = window.saturating_sub(self.0.least(window));
        gone.checked_add(self.1.at_most(window)).unwrap_or(Duration::MAX)
    }

    fn terms(&self, window: Duration) -> Vec<Term> {
        let gone = window.saturating_sub(self.0.least(window));
        let supply = Term::once(Source::Supply, i128::from(gone.as_nanos()));
        std::iter::once(supply).chain(self.1.terms(window)).collect()
    }
}

impl<'s> Inside<'s> {
    fn of(system: &'s System, partition: usize, core: CoreId, entry: Duration) -> Option<Inside<'s>> {
        let server = &system.scheduling.servers[partition];
        let partitions = &system.scheduling.partitions;
        let rank = Rank::of(server.order);
        let own = |n: &usize| system.partition_of(*n) == Some(partition) && system.tasks[*n].core == Some(core);
        let mut places: Vec<usize> = (0..system.tasks.len()).filter(own).collect();
        rank.sort(system, &mut places);
        let windows: Vec<_> = partitions.list[partition].windows.iter().filter(|it| it.core == core).collect();
        let of =
            |schedule: u8| windows.iter().filter(move |it| it.schedule == schedule).map(|it| (it.start, it.length));
        let table = WindowTable::of_schedules(partitions.frame, partitions.numbers().map(of))?;
        // A busy period begins with a release of a task that is no less urgent: under deadlines that may be any. Other orders
        // are tested from any instant.
        let first = |i: usize| match rank {
            Rank::Fixed(_) => &places[..=i],
            Rank::Edf | Rank::Other(_) => &places[..],
        };
        let from = |i: usize| match first(i) {
            all if matches!(rank, Rank::Other(_)) || !all.iter().all(|n| is_periodic(system, *n)) => table.clone(),
            all => table.from_releases(all.iter().map(|n| (system.tasks[*n].offset, system.tasks[*n].period))),
        };
        let tables = (0..places.len()).map(from).collect();
        let task = |n: &usize| {
            let it = &system.tasks[*n];
            // A request or an answer calls the scheduler, and takes about as long again.
            let calls = 1 + 2 * system.request_calls(*n);
            Sporadic::new(plain(it) + entry * calls, it.period, it.deadline)
        };
        let tasks = places.iter().map(task).collect();
        let windows = windows.len() as u64;
        (!places.is_empty()).then_some(Inside {
            system,
            server,
            core,
            places,
            tasks,
            table,
            tables,
            rank,
            entry,
            windows,
        })
    }

    /// What the system takes of the core in any window.
    fn work<'b>(&self, bounds: &'b Bounds) -> Work<'b> {
        let (system, entry) = (self.system, self.entry);
        if entry.is_zero() {
            return Work::none();
        }
        // An entry that is under way when a window of its own begins.
        let mut recurring = vec![(entry * self.windows, system.scheduling.partitions.frame)];
        for (n, task) in system.tasks.iter().enumerate().filter(|(_, task)| task.core == Some(self.core)) {
            let place = system.scheduling.places.get(n).copied().unwrap_or_default();
            if place.release != Release::Periodic {
                // An arrival, and the release that it waits for; as many more as come at once.
                let most = place.release.burst().map_or(1, |burst| burst.most(task.period));
                recurring.push((entry * 2 * most, task.period));
            }
            recurring.extend(work::recurring(system, n).map(|period| (entry, period)));
            if self.places.contains(&n) && system.may_be_process(n) {
                // A deadline of its own that is missed, one in each period at most; those of others are noticed in their windows.
                recurring.push((entry, task.period));
            }
        }
        let timed = |server: &&Server| server.order.has_quantum();
        let here = system.scheduling.servers.iter().filter(|server| server.cores.contains(self.core));
        recurring.extend(here.filter(timed).map(|server| (entry, server.quantum)));
        Work { entry, completion: entry, instants: Some((&bounds.instants, entry)), recurring }
    }

    fn responses(&self, tasks: &[Sporadic], work: &Work, effort: Effort) -> (Responses, &'static str) {
        if !fits_share(tasks, &self.table) {
            return (vec![None; tasks.len()], "its partition's share of the core");
        }
        if let Rank::Fixed(_) = self.rank {
            let effort = &mut effort.clone();
            let response = |i: usize| {
                let within = Within(&self.tables[i], work);
                fixed_priority::response(&tasks[i], &tasks[..i], work.entry, &within, effort)
            };
            return ((0..tasks.len()).map(response).collect(), BY);
        }
        let (quantum, completion) = (self.server.quantum, work.completion);
        let (rivals, withheld) = (&self.rank.rivals(self.system, &self.places), &Within(&self.tables[0], work));
        (
            orders::by(
                self.server.order,
                Queue { tasks, quantum, completion, rivals, work, withheld },
                &mut effort.clone(),
            ),
            BY,
        )
    }

    /// What the i-th response adds up from.
    fn terms(&self, i: usize, work: &Work, mut effort: Effort) -> Option<Terms> {
        let tasks = &self.tasks[..];
        if let Rank::Fixed(_) = self.rank {
            let within = Within(&self.tables[i], work);
            return fixed_priority::terms(&tasks[i], &tasks[..i], work.entry, &within, &mut effort);
        }
        let (quantum, completion) = (self.server.quantum, work.completion);
        let (rivals, withheld) = (&self.rank.rivals(self.system, &self.places), &Within(&self.tables[0], work));
        let queue = Queue { tasks, quantum, completion, rivals, work, withheld };
        orders::terms_by(self.server.order, queue, i, &mut effort)
    }

    /// Why no test covers the i-th task, if none does.
    fn uncovered(&self, subject: &Subject, i: usize) -> Option<String> {
        let n = self.places[i];
        subject.unknown(n).or_else(|| declared::uncovered(subject, n, ALL))
    }

    /// Whether all that a test covers are in time.
    fn all_met(&self, subject: &Subject, responses: &[Option<Duration>], tasks: &[Sporadic]) -> bool {
        let met = |i: usize| responses[i].is_some_and(|r| r <= tasks[i].deadline);
        (0..tasks.len()).all(|i| met(i) || self.uncovered(subject, i).is_some())
    }

    fn judge(&self, subject: &Subject, bounds: &Bounds, check: &mut Check, wanted: &mut Wanted) {
        let work = self.work(bounds);
        let effort = Effort::of_core(self.system.cores);
        let (responses, by) = self.responses(&self.tasks, &work, effort);
        wanted.explain(self.system, &self.places, |i| self.terms(i, &work, effort));
        let (time, frame) = self.table.share();
        let name = &self.server.name;
        let mut advised = false;
        for (i, &n) in self.places.iter().enumerate() {
            let verdict = &mut check.tasks[n];
            if let Some(why) = self.uncovered(subject, i) {
                verdict.verdict = TaskVerdict::Untested(why);
                continue;
            }
            let unbounded = || {
                format!("no response is bounded in the {time} that windows give it in each {frame}, overheads included")
            };
            let in_time = |n: usize| {
                let i = self.places.iter().position(|other| *other == n);
                i.and_then(|i| responses[i]).is_some_and(|r| r <= self.system.tasks[n].deadline)
            };
            let own = TaskVerdict::of(responses[i].map(Bound::Response), verdict.deadline, by, unbounded);
            verdict.verdict = subject.beside_stopping(n, own, in_time);
            let TaskVerdict::Fails { why: binds, .. } = &verdict.verdict else { continue };
            let what = format!("task `{}` in partition `{name}` on core {} fails: {binds}", verdict.name, self.core);
            let remedy = match std::mem::replace(&mut advised, true) {
                true => "see the remedy above".into(),
                false => self.remedy(subject, &work),
            };
            check.fail(self.system, n, what, remedy);
        }
    }

    /// How much shorter execution times, or how much longer windows would do.
    fn remedy(&self, subject: &Subject, work: &Work) -> String {
        let step = Effort::of_core(self.system.cores).step();
        let passes = |set: &[Sporadic]| self.all_met(subject, &self.responses(set, work, step).0, set);
        let scale = sensitivity::largest_scale(&self.tasks, passes);
        let told = sensitivity::remedy(scale, &format!(" of `{}` on core {}", self.server.name, self.core));
        format!("{told}; or give the partition longer windows, or more of them in each frame")
    }
}

/// The line that sums the check up.
pub(super) fn summary(system: &System, check: &Check) -> String {
    let partitions = &system.scheduling.partitions;
    let given = |core: u8| -> u64 {
        let time =
            |schedule| partitions.list.iter().map(|it| it.time_on(CoreId(core), schedule).as_nanos()).sum::<u64>();
        let most = partitions.numbers().map(time).max().unwrap_or(0);
        most * 1_000 / partitions.frame.as_nanos().max(1) * 1_000
    };
    let most = (0..system.cores as u8).map(given).max().unwrap_or(0);
    let windows: usize = partitions.list.iter().map(|it| it.windows.len()).sum();
    let slack = check.tasks.iter().filter_map(|t| t.slack()).min();
    format!(
        "{} partitions · {windows} windows in {} of {} · at most {} of a core given{}",
        partitions.list.len(),
        match partitions.schedules.len() {
            0 | 1 => "a frame".into(),
            many => format!("{many} schedules with frames"),
        },
        partitions.frame,
        hundredths(most),
        slack.map_or(String::new(), |s| format!(" · least slack {s}"))
    )
}
