//! The verdict as the machine itself can tell it, on its console.
//!
//! Each scheduler counts the jobs of its own tasks and keeps the sums on a page that its parents and the root read
//! ([`ChildPage`]). When the run ends the root adds its own and says whether every promise held. What a child says of jobs that
//! it never finished is a time: when the first of them breaks its promise. So a child that was stopped, or that never got the core
//! again, cannot keep a late job from being seen.

use crate::state::{self, CoreState, System};
use core::fmt::Write;
use core::sync::atomic::Ordering;
use tactus_record::{EventKind, Stored};
use tactus_rt::abi::call::EXPIRIES;
use tactus_rt::abi::image::role;
use tactus_rt::abi::layout::MAX_CORES;
use tactus_rt::abi::shared::{name_text, ChildPage};
use tactus_rt::cards::components;
use tactus_rt::scheduler::{child_counts, publish_counts, watched_rows, OwnRegion};
use tactus_rt::time::{CoreId, Instant, TaskId};
use tactus_rt::{calls, info, Promises, Screen};
use tactus_sched::runtime::{self, bound, is_tardiness, CountedTasks, JobCounts};

impl CountedTasks for System {
    const NOTES_CHANGES: bool = true;

    fn index(&self, task: usize) -> Option<usize> {
        self.own(TaskId(task as u16))
    }
    fn end(&self) -> Instant {
        self.end
    }
    fn dropped(&self, _: TaskId, _: u32) {}
    // Such systems are never reconfigured.
    fn reconfigured(&self, _: &mut [JobCounts], _: EventKind, _: Stored) {}
}

const NOTHING: ChildPage = ChildPage {
    jobs: 0,
    missed: 0,
    worst: 0,
    tardiness: 0,
    share: 0,
    breaks_after: u64::MAX,
    lost_records: 0,
    promised: 0,
    judged: 0,
    undone: 0,
    stopped: 0,
};

/// What a core has counted.
fn sums(state: &CoreState) -> ChildPage {
    // The root is told of every fault, and it alone of what runs again.
    let stopped = u64::from(state.system.root && state.system.recovery.any_stopped());
    let mut sums = ChildPage { lost_records: state.ring.dropped(), stopped, ..NOTHING };
    let system = state.system;
    for ((counts, name), task) in state.counts.iter().zip(&system.plan.tasks).zip(&system.setup.tasks) {
        let card = &system.cards()[name.index()];
        let here = task.core == Some(CoreId(state.core));
        sums.jobs += counts.finished;
        sums.missed += counts.missed;
        sums.worst = sums.worst.max(counts.worst.as_nanos());
        sums.tardiness = sums.tardiness.max(counts.tardiness.as_nanos());
        if here {
            sums.breaks_after = sums.breaks_after.min(counts.breaks_after(card).as_nanos());
        }
        if let Some(bound) = bound(card) {
            // Rounded up: what exceeds its bound is more than a thousand thousandths.
            let measured = if is_tardiness(card) { counts.tardiness } else { counts.worst };
            let (measured, bound) = (measured.as_nanos(), bound.as_nanos());
            // A bound of zero is kept by zero alone.
            let share =
                if bound == 0 { measured.min(1) * 1_001 } else { measured.saturating_mul(1_000).div_ceil(bound) };
            sums.share = sums.share.max(share);
            // A task of several cores is reported by each of them.
            sums.promised += u64::from(here);
            sums.judged += counts.finished + counts.dropped;
            sums.undone += counts.undone;
        }
    }
    sums
}

/// A child scheduler tells its counts. Each has one core.
pub fn publish(state: &CoreState) {
    if !state.system.root {
        publish_counts(sums(state));
    }
}

/// Two of them together.
fn add(all: &mut ChildPage, one: &ChildPage) {
    all.jobs += one.jobs;
    all.missed += one.missed;
    all.worst = all.worst.max(one.worst);
    all.tardiness = all.tardiness.max(one.tardiness);
    all.share = all.share.max(one.share);
    all.breaks_after = all.breaks_after.min(one.breaks_after);
    all.lost_records += one.lost_records;
    all.promised += one.promised;
    all.judged += one.judged;
    all.undone += one.undone;
    all.stopped |= one.stopped;
}

/// The run is over on this core; the last one ends it for all.
#[cold]
pub fn end(state: &mut CoreState, region: OwnRegion, now: Instant) {
    if core::mem::replace(&mut state.ended, true) {
        return;
    }
    state.ring.end(now, region.refused());
    let cores = info().cores as usize;
    runtime::end(cores, || print(state, cores));
}

/// Prints the verdict; whether every promise held.
fn print(last: &CoreState, cores: usize) -> bool {
    let (mut own, mut console) = (sums(last), Screen);
    for core in (0..cores.min(MAX_CORES) as u8).filter(|core| *core != last.core) {
        // All other cores have ended: the last of them may be about to give its state back.
        let state = loop {
            match state::of(core) {
                Some(state) => break state,
                None => core::hint::spin_loop(),
            }
        };
        add(&mut own, &sums(&state));
    }
    let _ = writeln!(console, "{}", name_text(&info().system));
    let _ = writeln!(console, "scheduler              jobs  missed  worst response  worst / bound  tardiness");
    let of_host = info().promised_by_host as usize;
    let mut promises = Promises { made: of_host, left_out: of_host, ..Promises::default() };
    line(&mut console, "root", &own, last.system.end, &mut promises);
    for (number, card) in components().iter().enumerate() {
        if card.role & (role::SCHEDULER | role::ROOT) != role::SCHEDULER {
            continue;
        }
        let mut sums = child_counts(number as u64);
        // What was stopped is bound by no promise any more; the judge says so too.
        let lost = |child: &state::Child| child.component == number as u64 && child.lost.load(Ordering::Relaxed);
        if last.system.children.iter().any(lost) {
            sums.breaks_after = u64::MAX;
        }
        line(&mut console, name_text(&card.name), &sums, last.system.end, &mut promises);
    }
    for core in 0..cores as u8 {
        let _ = writeln!(console, "core {core}   {}", OwnRegion::of(core).counts());
    }
    last.system.recovery.report(&mut console);
    // The root's own: what monitors found. Refused to nobody who has such rows.
    let found = watched_rows().and_then(|_| calls::observe(EXPIRIES, last.system.end.as_nanos()).ok());
    if let Some([_, violations]) = found.filter(|[_, violations]| *violations > 0) {
        let _ = writeln!(console, "{violations} violations of monitored properties");
        promises.violated = true;
    }
    let (words, held) = promises.verdict();
    let _ = writeln!(console, "verdict: {words}");
    held
}

/// One scheduler's counts, and what they say of its promises.
fn line(console: &mut Screen, name: &str, sums: &ChildPage, end: Instant, promises: &mut Promises) {
    let (worst, tardiness) = (sums.worst / 1_000, sums.tardiness / 1_000);
    let (whole, tenths) = (sums.share / 10, sums.share % 10);
    let _ = writeln!(
        console,
        "{name:<18} {:>8}  {:>6}  {worst:>11} µs  {whole:>9}.{tenths} %  {tardiness:>6} µs",
        sums.jobs, sums.missed
    );
    let unfinished = end > Instant::from_nanos(sums.breaks_after);
    if unfinished {
        let _ = writeln!(console, "{name}: a job that never finished broke its promise");
    }
    if sums.lost_records > 0 {
        let _ = writeln!(console, "{name}: {} records did not fit", sums.lost_records);
    }
    promises.made += sums.promised as usize;
    promises.judged |= sums.judged > 0;
    promises.missed |= sums.share > 1_000 || unfinished || sums.undone > 0;
    promises.lost |= sums.lost_records > 0;
    promises.stopped |= sums.stopped != 0;
}
