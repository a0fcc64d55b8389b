//! One decision.

use crate::lending::{self, Around, Why, Word};
use crate::state::{CoreState, Own};
use crate::{changes, faults, platform, recovery, Next, COMPLETED, REMOVED};
use core::fmt::Write;
use core::mem;
use core::ptr::{addr_of, addr_of_mut};
use core::sync::atomic::{AtomicUsize, Ordering};
use tactus_policy::{Below, Decision, Event, Gave, Rest, Says, Turn};
use tactus_record::{EntryReason, Kind, Sink, Stored, Subject};
use tactus_rt::abi::call::{IDLE, NO_TIMEOUT};
use tactus_rt::abi::layout::{PAGE, TASK_PAGES};
use tactus_rt::abi::shared::{event, slot, Region, TaskPage};
use tactus_rt::time::{CoreId, CoreSet, Duration, Instant};
use tactus_rt::{calls, clock, info, region, Screen};

/// Handles what is due and says who is to run. Inside the core's lock.
pub fn step(state: &mut CoreState, region: *mut Region, mut due: u64) -> Next {
    if due & event::RESTARTED != 0 {
        // SAFETY: the core's region; written before the event was posted.
        let restarted = unsafe { addr_of!((*region).restarted).read_volatile() };
        recovery::by_another(state, restarted as u32, (restarted >> 32) as u32);
    }
    if due & event::FAULT != 0 {
        due |= faults::told(state, region);
    }
    let mut stamp = clock::time_stamp();
    if clock::instant(stamp) >= state.limit {
        if clock::instant(stamp) >= state.end {
            return end(state, region, clock::instant(stamp));
        }
        recovery::go_on(state);
        stamp = clock::time_stamp();
    }
    let now = clock::instant(stamp);
    faults::pass_on(state.system);
    // SAFETY: the core's region; the kernel wrote it with the event.
    let left = || clock::instant(unsafe { addr_of!((*region).left).read_volatile() });
    let left = (due & event::GIVEN != 0).then(left);
    if let Own::Shared(place) = state.policy {
        return platform::step(state, place, due, left);
    }
    let (what, reason, gave) = event(state, region, due, now);
    let core = CoreId(state.core);
    let expiry = if reason == EntryReason::Timer { state.wake.as_nanos() } else { 0 };
    let level = reason as u8;
    state.ring.store(Stored::about(state.running.with_level(level), now, core, Kind::Enter, 0, expiry));
    let (before, system) = (state.running.task(), state.system);
    if let (Event::Complete, Some(place)) = (what, before.and_then(|task| system.own(task))) {
        system.jobs[place].finish();
    }
    let total = if system.root { 0 } else { lending::visited(core) };
    let visited = Duration::from_nanos(total.wrapping_sub(mem::replace(&mut state.visited, total)));
    let Own::Alone(tier) = &mut state.policy else { return Next::NOBODY };
    changes::hear(system, tier, core);
    let mut around = Around(system);
    let mut turn = Turn::new(&system.plan.below, &system.lending, &mut around, core, now);
    let mut took = turn.look();
    let gives = gave.filter(|gave| gave.rest != Rest::No).map(|gave| gave.stands);
    turn.hear(tier, gives, true);
    turn.once_more = false;
    let (order, ring) = (&mut state.order, &mut state.ring);
    let (mut decision, mut says) = changes::with_others(system, tier, core, now, order, |tier, now| {
        tier.handle((left.unwrap_or(now), visited), now, what, ring)
    });
    let mut moment = says == Says::Moment;
    turn.tell(tier, gave.as_ref());
    let mut rest: Option<Rest>;
    while mem::take(&mut turn.once_more) || {
        let gives = decision.run.is_none() && !system.root;
        rest = if gives { turn.leave() } else { Some(Rest::No) };
        rest.is_none()
    } {
        took = turn.look();
        turn.hear(tier, None, true);
        turn.once_more = false;
        (decision, says) = changes::with_others(system, tier, core, now, order, |tier, now| {
            tier.handle((now, Duration::ZERO), now, Event::Notify, ring)
        });
        moment |= says == Says::Moment;
        turn.tell(tier, None);
    }
    let wants = turn.wants;
    changes::tell(system, tier, core);
    decision.timer = decision.timer.min(took);
    if let (true, Some(task)) = (reason == EntryReason::Fault, before) {
        faults::gone(state, task);
    }
    let hollow = says == Says::Hollow && !system.root;
    let (blinks, wants) = state.say(due, decision.run.is_some() || hollow, (moment, wants));
    let mut next = keep(state, &decision, blinks, stamp);
    leave(state, &Decision { run: decision.run.filter(|_| !blinks || system.root), ..decision }, level);
    let until = if decision.run.is_some() { NO_TIMEOUT } else { next.timeout };
    let goes_on = decision.run.is_some() || blinks;
    let why = match rest {
        _ if system.root => return next,
        Some(Rest::Elsewhere) if wants.is_empty() && !blinks => Why::Elsewhere,
        _ if wants.is_empty() => {
            if hollow && !blinks {
                next.timeout = lending::hollow(next.timeout);
            }
            return next;
        }
        _ if !goes_on => Why::Asked,
        _ if blinks => Why::Moment,
        _ => Why::GoesOn,
    };
    Next::nobody_until(Word { why, hollow: hollow && !blinks, wants, until }.timeout())
}

/// The end of a decision in the records.
pub fn leave(state: &mut CoreState, decision: &Decision, level: u8) {
    let (subject, job) = match decision.run {
        Some(running) => (Subject::new(running.task, level), running.job),
        None => (Subject::NONE.with_level(level), 0),
    };
    let (core, after) = (CoreId(state.core), clock::now());
    state.ring.store(Stored::about(subject, after, core, Kind::Leave, job, decision.timer.as_nanos()));
    state.ring.look(after);
}

/// What the policy is told, and how records call it; and which scheduler below gave the core back, and why.
fn event(state: &mut CoreState, region: *mut Region, due: u64, now: Instant) -> (Event, EntryReason, Option<Gave>) {
    if !state.begun {
        state.begun = true;
        return (Event::Start, EntryReason::Start, None);
    }
    if due & REMOVED != 0 {
        return (Event::Remove, EntryReason::Fault, None);
    }
    if due & COMPLETED != 0 {
        return (Event::Complete, EntryReason::Complete, None);
    }
    if due & event::CHILD_IDLE != 0 {
        let runs = state.running.task().and_then(|task| state.system.child(task));
        if let Some((below, child)) = runs {
            let (idle, timeout) = idle(region, child.first_upcall + u64::from(state.core));
            let (mut gave, hollow) = read(below, timeout, now);
            if !idle {
                // It was told something before this one came to read that it gave the core back, and is to have it still; but what
                // it wants it does not say again.
                gave.rest = Rest::No;
            }
            if gave.rest == Rest::No {
                return (Event::Timer, EntryReason::Notify, Some(gave));
            }
            let Own::Alone(tier) = &mut state.policy else { return (Event::Timer, EntryReason::Notify, None) };
            if hollow {
                tier.hollow(gave.until);
                return (Event::Timer, EntryReason::Notify, Some(gave));
            }
            tier.doze(gave.until);
            return (Event::Complete, EntryReason::Complete, Some(gave));
        }
    }
    match due & event::NOTIFY {
        0 => (Event::Timer, EntryReason::Timer, None),
        _ => (Event::Notify, EntryReason::Notify, None),
    }
}

/// What the time-out says with which the scheduler below gave the core back, and whether budgets go by inside while its server is
/// the most urgent.
fn read(below: &Below, timeout: u64, now: Instant) -> (Gave, bool) {
    let at = |timeout: u64| if timeout == NO_TIMEOUT { Instant::NEVER } else { clock::instant(timeout) };
    let word = Word::of(timeout).filter(|_| !below.shared.is_empty());
    let hollow_until = lending::hollow_until(timeout);
    let (until, rest) = match word.map(|word| (word.why, at(word.until))) {
        None => (at(hollow_until.unwrap_or(timeout)), if below.own { Rest::Empty } else { Rest::Own }),
        Some((Why::Elsewhere, until)) => (until, Rest::Elsewhere),
        Some((Why::Asked, until)) => (until, Rest::Asked),
        Some((Why::Moment, _)) => (now, if below.own { Rest::Moment } else { Rest::Own }),
        Some((Why::GoesOn, until)) => (until, Rest::No),
    };
    let hollow = hollow_until.is_some() || word.is_some_and(|word| word.hollow);
    (Gave { stands: below.stands, rest, until, wants: word.map_or(CoreSet::EMPTY, |word| word.wants) }, hollow)
}

/// Whether the scheduler with this upcall has given the core back, not to be asked for.
pub fn is_idle(region: *const Region, upcall: u64) -> bool {
    // SAFETY: the core's region; the slot is that of a thread, so there is one.
    unsafe { addr_of!((*region).slots[upcall as usize + 1].flags).read_volatile() & slot::IDLE != 0 }
}

/// Whether the scheduler below has nothing to run, and what it said with that: the time-out of its last dispatch.
fn idle(region: *mut Region, upcall: u64) -> (bool, u64) {
    // SAFETY: the core's region; the slot is that of a thread, so there is one. The kernel writes it on this core only,
    // and one instruction takes the flag.
    unsafe {
        let place = addr_of_mut!((*region).slots[upcall as usize + 1]);
        let flags = addr_of!((*place).flags).read_volatile();
        core::arch::asm!("and word ptr [{at}], {rest}", at = in(reg) addr_of_mut!((*place).flags),
            rest = const !slot::IDLE as i16, options(nostack));
        (flags & slot::IDLE != 0, addr_of!((*place).wake).read_volatile())
    }
}

/// Keeps the decision and what follows from it.
pub fn keep(state: &mut CoreState, decision: &Decision, blinks: bool, stamp: u64) -> Next {
    let system = state.system;
    let mut anew = None;
    state.wake = decision.timer;
    state.running = decision.run.map_or(Subject::NONE, |running| Subject::new(running.task, 0));
    state.job = decision.run.map_or(0, |running| running.job);
    state.thread = match decision.run {
        None => IDLE,
        Some(running) => match system.child(running.task) {
            Some((_, child)) => {
                if let Own::Alone(tier) = &mut state.policy {
                    let visited = tier.take_visited(running.task);
                    if visited > Duration::ZERO {
                        lending::tell_visited(child, CoreId(state.core), visited);
                    }
                }
                child.first_upcall + u64::from(state.core)
            }
            None => {
                anew = publish(state, &running, stamp);
                system.thread_of(running.task)
            }
        },
    };
    let timeout = |at: Instant| match at {
        Instant::NEVER => NO_TIMEOUT,
        _ => clock::reading(at),
    };
    if system.root {
        return Next { thread: state.thread, timeout: timeout(decision.timer.min(state.limit)), anew };
    }
    if blinks {
        // The parent is to know that there was nothing to run, and that there is now.
        return Next::nobody_until(stamp);
    }
    Next { thread: state.thread, timeout: timeout(decision.timer), anew }
}

/// Tells the chosen job's component what it needs to know. Gives the job, with the place of its task, if the thread has to begin anew
/// for it.
fn publish(state: &CoreState, running: &tactus_policy::Running, stamp: u64) -> Option<(usize, u32)> {
    let place = state.system.own(running.task)?;
    let release = match &state.policy {
        Own::Alone(tier) => tier.released_at().unwrap_or(Instant::ZERO),
        Own::Shared(_) => {
            let task = &state.system.plan.setup.tasks[place];
            Instant::ZERO.saturating_add(task.offset).saturating_add(task.period * u64::from(running.job))
        }
    };
    state.system.jobs[place].core.store(state.core, Ordering::Relaxed);
    let page = (TASK_PAGES + u64::from(running.task.0) * PAGE) as *mut TaskPage;
    // SAFETY: the page of a task of this scheduler's, mapped writable here, whose words are whole; its thread does not run now,
    // since this core is in the scheduler, and runs on no other core.
    unsafe {
        addr_of_mut!((*page).job).write_volatile(running.job.into());
        addr_of_mut!((*page).charged).write_volatile(running.charged.as_nanos());
        addr_of_mut!((*page).since).write_volatile(stamp);
        addr_of_mut!((*page).release).write_volatile(release.as_nanos());
    }
    let job = &state.system.jobs[place];
    if job.is_behind(running.job) {
        return Some((place, running.job));
    }
    job.begin(running.job);
    None
}

static ENDED: AtomicUsize = AtomicUsize::new(0);
/// The exit code of a run that came to its end. Whether every promise held is for the judge to say, who reads all records.
const WHOLE_RUN: u8 = 0x10;

/// The run is over on this core; the last one ends it for all.
#[cold]
fn end(state: &mut CoreState, region: *mut Region, now: Instant) -> Next {
    if !core::mem::replace(&mut state.ended, true) {
        // SAFETY: the core's region.
        let refused = unsafe { addr_of!((*region).refused).read_volatile() };
        state.ring.end(now, refused);
        let cores = info().cores as usize;
        if ENDED.fetch_add(1, Ordering::AcqRel) + 1 == cores {
            tell(cores as u8);
            recovery::tell(&mut Screen);
            calls::finish(WHOLE_RUN);
        }
    }
    Next::NOBODY
}

/// What the kernel counted.
fn tell(cores: u8) {
    for core in 0..cores {
        // SAFETY: the region of a core that exists.
        let counts = unsafe { region::Counts::of(region::of(core)) };
        let _ = writeln!(Screen, "core {core}   {counts}");
    }
    let _ = writeln!(Screen, "verdict: none here, since with schedulers apart none of them sees all jobs; a run on the emulator judges the trace");
}
