//! Decisions of a scheduler whose cores share a queue.
//!
//! The scheduler above may take any core away at any time, in the middle of a decision too, and the others have to go on. So what
//! they share has no lock: a decision is made on a copy, and made once more if another core was faster ([`Versions`]). So that
//! this is rare, and no core is overtaken again and again, they stand in line, but for those that were taken away ([`Line`]). What
//! follows from it comes afterwards: records, words to other cores, what a job is told.
//!
//! Nor may a thread that has finished its job be caught in the middle of a decision and taken along to another core. It only
//! leaves word, and makes an event of it that keeps it from going home before this scheduler has seen to it.

use crate::lending::{Why, Word};
use crate::state::CoreState;
use crate::step::{keep, leave};
use crate::{changes, lending, state, Next, REFUSED, REMOVED};
use alloc::vec::Vec;
use core::ptr::{addr_of, addr_of_mut};
use core::sync::atomic::{AtomicU64, AtomicU8, Ordering::SeqCst};
use tactus_policy::{Decision, Platform, Seen, SetupError, TierPlan, ASKED, ELSEWHERE};
use tactus_record::{EntryReason, Kind, Record, Sink, Stored};
use tactus_rt::abi::call::NO_TIMEOUT;
use tactus_rt::abi::layout::{LENT, MAX_CORES, PAGE, TASK_PAGES};
use tactus_rt::abi::shared::{event, LentPage, TaskPage, CHANGES};
use tactus_rt::time::{CoreId, CoreSet, Instant, TaskId};
use tactus_rt::{calls, clock, region};
use tactus_sync::facade::AtomicU32;
use tactus_sync::{places_for, Line, Place, Versions};

/// What cores share.
pub struct Shared {
    /// These cores.
    pub cores: CoreSet,
    versions: Versions<Platform, Vec<Place<Platform>>, Vec<AtomicU32>>,
    /// Cores that are about to decide.
    line: Line<Vec<AtomicU32>>,
}

/// What a task's thread and the cores tell each other.
#[derive(Default)]
pub struct JobState {
    /// The last job that said that it is finished, plus one.
    finished: AtomicU64,
    /// The last job that its thread was made ready for, plus one.
    begun: AtomicU64,
    /// The core that was given its last job.
    pub core: AtomicU8,
}

impl JobState {
    /// Its last job is finished, and the scheduler knows.
    pub fn finish(&self) {
        self.finished.store(self.begun.load(SeqCst), SeqCst);
    }

    /// Whether the thread is in the middle of a job before this one, which was killed.
    pub fn is_behind(&self, job: u32) -> bool {
        let begun = self.begun.load(SeqCst);
        begun <= u64::from(job) && begun != self.finished.load(SeqCst)
    }

    /// The thread is ready for the job. A core that was taken away meanwhile may say so late.
    pub fn begin(&self, job: u32) {
        self.begun.fetch_max(u64::from(job) + 1, SeqCst);
    }
}

impl Shared {
    /// Whether this scheduler does not have the core with this number among those that share.
    fn is_away(&self, index: usize) -> bool {
        self.cores.iter().nth(index).is_none_or(|core| !lending::is_here(LENT as *const LentPage, core))
    }
}

/// What the cores share, queue by queue.
///
/// # Errors
/// If the plan's set-up cannot be used.
pub fn of(plan: &TierPlan) -> Result<Vec<Shared>, SetupError> {
    let shared = |cores: CoreSet| {
        let count = cores.iter().count();
        let places = Platform::new(plan, cores, places_for(count))?.into_iter().map(Place::new).collect();
        let words = || (0..count).map(|_| AtomicU32::new(0)).collect();
        Ok(Shared { cores, versions: Versions::new(places, words()), line: Line::new(words()) })
    };
    plan.shared().into_iter().map(shared).collect()
}

/// The thread, which is that of a task of this scheduler's, has finished its job. Whether that is all that there is to do: its
/// cores share a queue.
pub fn finished(thread: u64) -> bool {
    let system = state::system();
    let task = TaskId(thread.wrapping_sub(system.plan.setup.cores as u64) as u16);
    let Some(place) = system.own(task) else { return false };
    let core = system.plan.setup.tasks[place].core;
    if !core.is_some_and(|core| system.platforms.iter().any(|it| it.cores.contains(core))) {
        return false;
    }
    let page = (TASK_PAGES + u64::from(task.0) * PAGE) as *const TaskPage;
    // SAFETY: the page of a task of this scheduler's, written when its thread did not run.
    let job = unsafe { addr_of!((*page).job).read_volatile() };
    system.jobs[place].finished.store(job + 1, SeqCst);
    // From here on nobody goes on with the job elsewhere; up to here the core may have been another one than at the beginning.
    let core = system.jobs[place].core.load(SeqCst);
    // SAFETY: a region of this scheduler's; what the kernel writes there it writes as well.
    unsafe { addr_of_mut!((*region::of(core)).event_pending).write_volatile(1) };
    true
}

/// Keeps the records of a decision until it stands.
struct Kept<'a>(&'a mut Vec<Record>);

impl Sink for Kept<'_> {
    fn record(&mut self, record: Record) {
        if self.0.len() < self.0.capacity() {
            self.0.push(record);
        }
    }
}

/// As [`crate::step::step`]. `left`: until when this core was here, if it was away.
pub fn step(state: &mut CoreState, place: usize, due: u64, left: Option<Instant>) -> Next {
    let (system, core) = (state.system, CoreId(state.core));
    let shared = &system.platforms[place];
    let Some(index) = shared.cores.iter().position(|it| it == core) else { return Next::NOBODY };
    let ran = state.running.task();
    let finished = |task: TaskId, job: u32| {
        let told = |place: usize| system.jobs[place].finished.load(SeqCst) == u64::from(job) + 1;
        system.own(task).is_some_and(told)
    };
    shared.line.join(index);
    while !shared.line.is_first(index, |other| shared.is_away(other)) {
        core::hint::spin_loop();
    }
    let (kept, (number, left_over)) = (&mut state.kept, &mut state.left);
    let changes = system.plan.whole.is_some();
    let made = shared.versions.change(index, Platform::become_as, |platform| {
        kept.clear();
        // After the last decision of all, whose records are not to be later than those of this one.
        let stamp = clock::time_stamp();
        let now = clock::instant(stamp);
        let left = left.unwrap_or(now);
        let mut away = [None; MAX_CORES];
        for other in shared.cores.iter().filter(|other| *other != core) {
            away[other.index()] = lending::away(LENT as *const LentPage, other).map(clock::instant);
        }
        let completes = platform.job_on(core).is_some_and(|(task, job)| finished(task, job));
        let seen = Seen { core, left, now, removed: due & REMOVED != 0, finished: &finished, away };
        if changes {
            platform.told(changes::outcomes(core));
        }
        let (decision, blinks) = platform.handle(&seen, &mut Kept(kept));
        let (report, all) = platform.left();
        *number = report;
        left_over.clear();
        left_over.extend_from_slice(&all[..all.len().min(CHANGES)]);
        let goes_on = ran.and_then(|task| platform.core_of(task));
        let mut wants = decision.notify;
        for other in decision.notify.iter().filter(|it| platform.job_on(*it).is_some()) {
            wants.remove(other);
        }
        (decision, blinks, completes, goes_on, wants, (now, stamp))
    });
    shared.line.leave(index);
    if *number > 0 {
        changes::tell_shared(core, *number, left_over);
    }
    let (decision, blinks, completes, goes_on, wants, (now, stamp)) = made;
    let (blinks, wants) = state.say(due, decision.run.is_some(), (blinks, wants));
    let reason = match (due & REMOVED != 0, completes, due & event::NOTIFY != 0) {
        (true, ..) => EntryReason::Fault,
        (_, true, _) => EntryReason::Complete,
        (.., true) => EntryReason::Notify,
        _ => EntryReason::Timer,
    };
    let expiry = if reason == EntryReason::Timer { state.wake.as_nanos() } else { 0 };
    let level = reason as u8;
    state.ring.store(Stored::about(state.running.with_level(level), now, core, Kind::Enter, 0, expiry));
    for record in &state.kept {
        // What happened on a core that was taken away is told by the one that found out.
        let elsewhere = record.core != core;
        let ticket = if elsewhere { u32::from(record.core.0) + 1 } else { record.ticket };
        state.ring.record(Record { core, ticket, ..*record });
    }
    for other in decision.notify.iter().filter(|it| !wants.contains(*it)) {
        // A core that does not exist cannot be named: the plan was made for this number of cores.
        let _ = calls::notify(other.0);
    }
    // This core was taken away when it was about to give a job to its thread. Who has the job now may have been told of it before:
    // what this core wrote then has to be written once more.
    if let Some(other) = goes_on.filter(|other| due & REFUSED != 0 && *other != core) {
        let _ = calls::notify(other.0);
    }
    let next = keep(state, &decision, false, stamp);
    leave(state, &Decision { run: decision.run.filter(|_| !blinks), ..decision }, level);
    let why = match decision.timer {
        _ if blinks => Why::Moment,
        ELSEWHERE => Why::Elsewhere,
        ASKED => Why::Asked,
        _ if wants.is_empty() => return next,
        _ => Why::GoesOn,
    };
    Next::nobody_until(Word { why, hollow: false, wants, until: NO_TIMEOUT }.timeout())
}
