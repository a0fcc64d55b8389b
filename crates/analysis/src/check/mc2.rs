//! MC²: the tables of level A, EDF of level B beneath them, global EDF of level C beneath both.
//!
//! **Level A.** Slots are e_A plus the task's allowance. A job that takes at most e_A is charged at most its slots, so it ends by
//! the end of its last one, plus one entry until that is noticed.
//!
//! **Level B.** In a slot whose job is finished the levels beneath run, whether or not ghosts are kept. So at level-B times
//! the table takes e_B plus each task's allowance, from the front of each job's slots, and the core is left to EDF otherwise.
//! A level-B job uses up e_B plus the allowance at its own level even if it ends early, for its ghost does. The test is
//! EDF demand and response times ([`edf_response`]) against what the table takes of a window ([`Curve`]), at worst
//! phase. It subsumes the original condition (Mollison et al. 2010: Σu_B ≤ 1 and level-B periods that are multiples of
//! the table's cycle): over whole cycles the curve takes exactly the table's share.
//!
//! **Level C.** [`tardiness`]: core h gives C the rate 1 − Σ u_C of its A and B tasks, behind by at most the curve's excess
//! at level-C times for A, and uᵢ(Rᵢ + pᵢ − 2eᵢ) for each B task with response bound Rᵢ: a job's work may come as late
//! as Rᵢ in one period and at once in the next. Where Bertogna and Cirinei's test shows all deadlines of level C met, with
//! A and B of each core as pinned work, the tardiness is zero instead.
//!
//! A core that closes to level C sends its job elsewhere, which takes up to 2E; that is put on the A and B jobs that
//! close cores, and on each C job for every closing that may hit it while it executes.
//!
//! **The allowance** of a task is the most that one of its jobs is charged beyond its execution time; see [`allowance`].

mod allowance;

use super::report::{hundredths, Bound, Check};
use super::{assumed, id, sensitivity};
use crate::arrivals::Instants;
use crate::effort::Effort;
use crate::global::bertogna_cirinei;
use crate::global::tardiness::{self, Supply, Unbounded};
use crate::mc2::supply::Curve;
use crate::mc2::table::{Cyclic, Plan, Refusal, MOST_SLOTS};
use crate::task::{ceil_div, to_duration, Dedicated, Sporadic, Withheld};
use crate::uniprocessor::edf_demand::{self, Demand};
use crate::uniprocessor::edf_response;
use tactus_model::System;
use tactus_time::{CoreId, Duration, Level};

/// What one core's levels A and B come to.
struct Local {
    core: usize,
    level_a: Vec<usize>,
    level_b: Vec<usize>,
    plan: Result<Plan, Refusal>,
    /// The level-B tasks and what the table takes, as the test sees them.
    sporadic: Vec<Sporadic>,
    curve: Curve,
    /// Response bounds in the order of `level_b`; nothing where the test gives none.
    responses: Option<Vec<Duration>>,
}

/// The whole system at one set of allowances.
struct Analysis {
    locals: Vec<Local>,
    level_c: Vec<usize>,
    /// Tardiness bounds in the order of `level_c`.
    late: Result<Vec<Duration>, Unbounded>,
    supply: Vec<Supply>,
    sporadic: Vec<Sporadic>,
}

pub(crate) fn check(system: &System, entry: Duration, check: &mut Check) {
    let allowance::Settled { allowances, analysis, open } = allowance::settle(system, entry);
    check.allowances = allowances;
    for local in &analysis.locals {
        check.tables.push(local.plan.as_ref().map(Plan::table).unwrap_or_default());
        level_a(system, entry, local, check);
        level_b(system, entry, local, check);
    }
    level_c(system, entry, &analysis, check);
    allowance::note_open(system, &open, check);
    for verdict in check.tasks.iter_mut().filter(|t| t.level == Some(Level::D)) {
        verdict.met = true;
        verdict.explanation = "best effort".into();
    }
    check.summary = summary(system, check);
}

fn analyse(system: &System, entry: Duration, allowances: &[Duration]) -> Analysis {
    let locals: Vec<Local> = (0..system.cores).map(|core| local(system, core, entry, allowances)).collect();
    let level_c = of_level(system, Level::C, None);
    let supply: Vec<Supply> = locals.iter().map(|l| supply(system, l, entry, allowances)).collect();
    let instants = instants(system, &locals);
    let sporadic: Vec<Sporadic> = level_c
        .iter()
        .map(|&n| {
            let t = &system.tasks[n];
            // Its release and completion may each take 2E to reach the core concerned.
            let e = assumed(t, Level::C) + allowances[n] + entry * 4;
            Sporadic::new(e + detours(system, &instants, entry, e), t.period, t.deadline)
        })
        .collect();
    let late = tardiness::bounds(&sporadic, &supply);
    Analysis { locals, level_c, late, supply, sporadic }
}

/// The time that a level-C job which executes for `e` may spend on its way to other cores: 2E for every release instant
/// or slot boundary in a window of its execution, and for every ghost of level B that ends there.
fn detours(system: &System, instants: &Instants, entry: Duration, e: Duration) -> Duration {
    if entry.is_zero() {
        return Duration::ZERO;
    }
    // The window holds the detours too; one that is twice as long as the execution has room for as many.
    let mut window = e * 2;
    for _ in 0..16 {
        let ghosts: u64 = of_level(system, Level::B, None).iter().map(|&n| window / system.tasks[n].period + 1).sum();
        let detours = (entry * 2).checked_mul(instants.most_in(window) + ghosts).unwrap_or(Duration::MAX);
        if detours <= window - e {
            return detours;
        }
        window = window * 2;
    }
    // No room in any window that matters: as good as overload.
    Duration::from_secs(1_000_000)
}

/// The release instants of all tasks and the slot boundaries of all tables.
fn instants(system: &System, locals: &[Local]) -> Instants {
    let releases = system.tasks.iter().map(|t| (t.offset, t.period));
    let boundaries = locals.iter().filter_map(|l| l.plan.as_ref().ok()).flat_map(|plan| {
        let table = plan.table();
        table.slots.into_iter().flat_map(move |s| [(s.start, table.cycle), (s.end, table.cycle)])
    });
    Instants::of(releases.chain(boundaries), system.duration)
}

fn of_level(system: &System, level: Level, core: Option<usize>) -> Vec<usize> {
    let fits = |n: &usize| {
        let t = &system.tasks[*n];
        t.level == Some(level) && core.is_none_or(|core| t.core.is_some_and(|c| c.index() == core))
    };
    (0..system.tasks.len()).filter(fits).collect()
}

fn local(system: &System, core: usize, entry: Duration, allowances: &[Duration]) -> Local {
    let level_a = of_level(system, Level::A, Some(core));
    let level_b = of_level(system, Level::B, Some(core));
    let cyclic = |&n: &usize| {
        let t = &system.tasks[n];
        Cyclic {
            task: id(n),
            offset: t.offset,
            period: t.period,
            deadline: t.deadline.min(t.period).saturating_sub(entry),
            time: assumed(t, Level::A) + allowances[n],
        }
    };
    let plan = Plan::build(&level_a.iter().map(cyclic).collect::<Vec<_>>());
    let curve = plan.as_ref().map_or(Curve::default(), |p| curve(system, p, Level::B, entry, allowances));
    let sporadic: Vec<Sporadic> = level_b
        .iter()
        .map(|&n| {
            let t = &system.tasks[n];
            Sporadic::new(assumed(t, Level::B) + allowances[n] + entry * 2, t.period, t.deadline)
        })
        .collect();
    let responses =
        if plan.is_ok() { responses(&sporadic, entry, &curve, Effort::of_core(system.cores)) } else { None };
    Local { core, level_a, level_b, plan, sporadic, curve, responses }
}

/// What the table takes of any window at a level's times. A stretch may come as late as its slots allow, at most by the
/// largest allowance in the table, and an entry ends it.
fn curve(system: &System, plan: &Plan, level: Level, entry: Duration, allowances: &[Duration]) -> Curve {
    let busy = plan.busy(|t| assumed(&system.tasks[t.index()], level) + allowances[t.index()], entry);
    let most = plan.tasks().map(|t| allowances[t.index()]).max().unwrap_or(Duration::ZERO);
    let shift = if entry.is_zero() { Duration::ZERO } else { most + entry * 2 };
    Curve::new(plan.cycle(), &busy, shift)
}

fn responses(tasks: &[Sporadic], entry: Duration, curve: &Curve, mut effort: Effort) -> Option<Vec<Duration>> {
    let blocking = entry * 2;
    if let Some(r) = edf_response::responses(tasks, blocking, curve, &mut effort.clone()) {
        return Some(r);
    }
    let deadlines = || tasks.iter().map(|τ| τ.deadline).collect();
    if blocking.is_zero() && whole_cycles(tasks, curve) {
        return Some(deadlines());
    }
    match edf_demand::schedulable(tasks, blocking, curve, &mut effort) {
        Demand::Fits => Some(deadlines()),
        _ => None,
    }
}

/// The condition of Mollison et al.: level-B periods, and deadlines, are multiples of the table's cycle, and the load
/// is at most one. Then every window to a deadline is a whole number of cycles, of which the table takes its share.
fn whole_cycles(tasks: &[Sporadic], curve: &Curve) -> bool {
    let Some((taken, cycle)) = curve.share() else {
        return false;
    };
    let load = tasks.iter().map(|τ| (τ.execution, τ.period)).chain([(taken, cycle)]);
    tasks.iter().all(|τ| (τ.period % cycle).is_zero() && τ.deadline == τ.period)
        && crate::utilisation::Utilisation::of(load).at_most(1)
}

/// What core gives to level C.
fn supply(system: &System, local: &Local, entry: Duration, allowances: &[Duration]) -> Supply {
    let mut supply = Supply::full();
    if let Ok(plan) = &local.plan {
        let curve = curve(system, plan, Level::C, entry * 3, allowances);
        supply.taken.extend(curve.share());
        supply.gap += curve.excess();
    }
    for (i, &n) in local.level_b.iter().enumerate() {
        let t = &system.tasks[n];
        let e = level_b_at_c(system, n, entry, allowances);
        let r = local.responses.as_ref().map_or(t.deadline, |r| r[i]).max(e);
        supply.taken.push((e, t.period));
        let behind = i128::from((r + t.period).as_nanos()) - 2 * i128::from(e.as_nanos());
        let share = ceil_div(i128::from(e.as_nanos()) * behind.max(0), i128::from(t.period.as_nanos()));
        supply.gap += to_duration(share);
    }
    supply
}

fn level_a(system: &System, entry: Duration, local: &Local, check: &mut Check) {
    let core = local.core;
    match &local.plan {
        Ok(plan) => {
            for &n in &local.level_a {
                let verdict = &mut check.tasks[n];
                verdict.bound = Bound::Response(plan.response(id(n)) + entry);
                verdict.met = true;
                verdict.explanation = format!("table of core {core}");
            }
        }
        Err(refusal) => {
            let load = hundredths(check.cores[core].levels[0]);
            let (place, what) = match *refusal {
                Refusal::Late { task, release, left } => (
                    task.index(),
                    format!(
                        "core {core} has no level-A table: the job of `{}` released at {release} still needs {left} at its deadline (level A asks for {load} of the core)",
                        system.tasks[task.index()].name
                    ),
                ),
                Refusal::TooLong { jobs } => (
                    local.level_a[0],
                    format!("core {core} has no level-A table: one hyperperiod of its periods holds {jobs} jobs; the limit is {MOST_SLOTS}"),
                ),
                Refusal::TooManySlots => (
                    local.level_a[0],
                    format!("core {core} has no level-A table: it would have more than {MOST_SLOTS} slots"),
                ),
            };
            let remedy = match refusal {
                Refusal::Late { .. } => {
                    let set: Vec<Sporadic> = local
                        .level_a
                        .iter()
                        .map(|&n| {
                            Sporadic::new(
                                assumed(&system.tasks[n], Level::A) + check.allowances[n],
                                system.tasks[n].period,
                                system.tasks[n].deadline,
                            )
                        })
                        .collect();
                    let scale = sensitivity::largest_scale(&set, |set| builds(system, local, entry, set));
                    sensitivity::remedy(scale, &format!(" of level A on core {core}"))
                }
                _ => "choose periods that divide each other, e.g. 25, 50 and 100 ms".into(),
            };
            check.fail(system, place, what, remedy);
            for &n in local.level_a.iter().chain(&local.level_b) {
                check.tasks[n].explanation = format!("core {core} has no table");
            }
        }
    }
}

/// Whether a table exists for other times of the core's level-A tasks.
fn builds(system: &System, local: &Local, entry: Duration, set: &[Sporadic]) -> bool {
    let cyclic = |(&n, τ): (&usize, &Sporadic)| Cyclic {
        task: id(n),
        offset: system.tasks[n].offset,
        period: τ.period,
        deadline: τ.deadline.min(τ.period).saturating_sub(entry),
        time: τ.execution,
    };
    Plan::build(&local.level_a.iter().zip(set).map(cyclic).collect::<Vec<_>>()).is_ok()
}

fn level_b(system: &System, entry: Duration, local: &Local, check: &mut Check) {
    if local.plan.is_err() {
        return;
    }
    let core = local.core;
    let mut remedy = None;
    for (i, &n) in local.level_b.iter().enumerate() {
        let verdict = &mut check.tasks[n];
        verdict.explanation = "EDF beneath the table".into();
        let deadline = verdict.deadline;
        let bound = local.responses.as_ref().map(|r| r[i] + entry);
        if let Some(r) = bound {
            verdict.bound = Bound::Response(r);
            verdict.met = r <= deadline;
        }
        if verdict.met {
            continue;
        }
        let load = hundredths(check.cores[core].levels[1]);
        let binds = match bound {
            Some(r) => format!("its response may reach {r}, over the deadline of {deadline}"),
            None => match edf_demand::schedulable(
                &local.sporadic,
                entry * 2,
                &local.curve,
                &mut Effort::of_core(system.cores),
            ) {
                Demand::Exceeds { window, demand } => {
                    format!("a window of {window} may ask for {demand}, level A and overheads included")
                }
                _ => "levels A and B ask for all of the core, overheads included".into(),
            },
        };
        let what = format!(
            "task `{}` of level B on core {core} fails: {binds} (levels A and B ask for {load} of the core at level-B times)",
            verdict.name
        );
        let advice = remedy.take().unwrap_or_else(|| {
            let scale = sensitivity::largest_scale(&local.sporadic, |set| {
                responses(set, entry, &local.curve, Effort::of_core(system.cores).step())
                    .is_some_and(|r| r.iter().zip(set).all(|(r, τ)| *r + entry <= τ.deadline))
            });
            sensitivity::remedy(scale, &format!(" of level B on core {core}"))
        });
        check.fail(system, n, what, advice);
        remedy = Some(format!("see the remedy for level B on core {core} above"));
    }
}

/// What levels A and B take of one core at level-C times.
struct Above {
    curve: Curve,
    /// The tasks of level B and how long before their deadlines they end.
    level_b: Vec<(Sporadic, i128)>,
}

impl Withheld for Above {
    fn at_most(&self, window: Duration) -> Duration {
        let w = i128::from(window.as_nanos());
        let level_b = self.level_b.iter().map(|(τ, slack)| bertogna_cirinei::work(τ, w, *slack)).sum::<i128>();
        to_duration(level_b + i128::from(self.curve.at_most(window).as_nanos()))
    }
}

/// Whether every level-C deadline is shown to be met.
fn punctual(system: &System, entry: Duration, analysis: &Analysis, allowances: &[Duration]) -> bool {
    let above: Option<Vec<Above>> = analysis
        .locals
        .iter()
        .map(|l| {
            let curve = curve(system, l.plan.as_ref().ok()?, Level::C, entry * 3, allowances);
            let one = |(&n, r): (&usize, &Duration)| {
                let t = &system.tasks[n];
                let τ = Sporadic::new(level_b_at_c(system, n, entry, allowances), t.period, t.deadline);
                let slack = τ.d() - i128::from((*r).max(τ.execution).as_nanos());
                (τ, slack)
            };
            let level_b = l.level_b.iter().zip(l.responses.as_ref()?).map(one).collect();
            Some(Above { curve, level_b })
        })
        .collect();
    let Some(above) = above else { return false };
    let pinned: Vec<&dyn Withheld> = above.iter().map(|a| a as &dyn Withheld).collect();
    let mut effort = Effort::default();
    let r = bertogna_cirinei::edf_responses(&analysis.sporadic, system.cores, &pinned, &Dedicated, &mut effort);
    r.iter().zip(&analysis.sporadic).all(|(r, τ)| r.is_some_and(|r| r <= τ.deadline))
}

/// What a level-B job takes of its core from level C: its execution at level-C times, its allowance, and the detours
/// of level-C jobs that it displaces when it starts and when a ghost before it ends.
fn level_b_at_c(system: &System, n: usize, entry: Duration, allowances: &[Duration]) -> Duration {
    assumed(&system.tasks[n], Level::C) + allowances[n] + entry * 6
}

fn level_c(system: &System, entry: Duration, analysis: &Analysis, check: &mut Check) {
    if punctual(system, entry, analysis, &check.allowances) {
        for &n in &analysis.level_c {
            let verdict = &mut check.tasks[n];
            verdict.explanation = "global EDF beneath A and B; every deadline is met".into();
            verdict.bound = Bound::Tardiness(Duration::ZERO);
            verdict.met = true;
        }
        return;
    }
    match &analysis.late {
        Ok(late) => {
            for (&n, late) in analysis.level_c.iter().zip(late) {
                let verdict = &mut check.tasks[n];
                verdict.explanation = "global EDF beneath A and B".into();
                // Bounds of A and B carry level C: without them there is none.
                if analysis.locals.iter().all(|l| l.plan.is_ok() && l.responses.is_some()) {
                    verdict.bound = Bound::Tardiness(*late);
                    verdict.met = true;
                } else {
                    verdict.explanation = "levels A and B fail, so level C has no known supply".into();
                }
            }
        }
        Err(reason) => {
            let (place, what) = match *reason {
                Unbounded::Overload { utilisation, supply } => (
                    0,
                    format!(
                        "level C asks for {} cores; levels A and B leave {} at level-C times, overheads included",
                        hundredths(utilisation),
                        hundredths(supply.saturating_sub(9_999))
                    ),
                ),
                Unbounded::TooHeavy(k) => {
                    (k, format!("task `{}` of level C needs more than its period", system.tasks[analysis.level_c[k]].name))
                }
                Unbounded::TooSparse(k) => (
                    k,
                    format!(
                        "level C has no tardiness bound: beside task `{}` and the heaviest others too little of the cores is always available",
                        system.tasks[analysis.level_c[k]].name
                    ),
                ),
            };
            let scale =
                sensitivity::largest_scale(&analysis.sporadic, |set| tardiness::bounds(set, &analysis.supply).is_ok());
            check.fail(system, analysis.level_c[place], what, sensitivity::remedy(scale, " of level C"));
            for &n in &analysis.level_c {
                check.tasks[n].explanation = "no tardiness bound".into();
            }
        }
    }
}

fn summary(system: &System, check: &Check) -> String {
    let mut parts = Vec::new();
    let with_table: Vec<CoreId> =
        (0..check.tables.len()).filter(|&c| !check.tables[c].slots.is_empty()).map(|c| CoreId(c as u8)).collect();
    if !with_table.is_empty() {
        parts.push(format!("A tables built on {}", cores(&with_table)));
    }
    let has = |level| system.tasks.iter().any(|t| t.level == Some(level));
    if has(Level::B) {
        let most = check.cores.iter().map(|c| c.levels[1]).max().unwrap_or(0);
        parts.push(format!("B at most {} per core", hundredths(most)));
    }
    if has(Level::C) {
        let late = check.tasks.iter().filter_map(|t| match t.bound {
            Bound::Tardiness(x) => Some(x),
            Bound::Response(_) | Bound::None => None,
        });
        parts.push(match late.max() {
            None => "C tardiness has no bound".into(),
            Some(Duration::ZERO) => "C never tardy".into(),
            Some(x) => format!("C tardiness at most {x}"),
        });
    }
    parts.join(" · ")
}

/// `core 2`, `cores 1–3`, `cores 0, 2`.
fn cores(list: &[CoreId]) -> String {
    let (first, last) = (list[0], list[list.len() - 1]);
    match list.len() {
        1 => format!("core {first}"),
        n if n > 2 && last.index() - first.index() + 1 == n => format!("cores {first}–{last}"),
        _ => format!("cores {}", list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}
