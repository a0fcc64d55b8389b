//! The root scheduler: a component at user level that runs `policy` on all cores.
//!
//! It is entered in two ways: by the core's upcall, when the kernel has an event, and by a task's thread that has
//! finished its job. While it runs on a core, the kernel only posts further events there and lets it go on; a dispatch
//! fails while events are pending. So each core's state has one user at a time without a lock.
//!
//! Each call of the policy is bracketed by an `Enter` and a `Leave` record and given one reading of the clock.
//!
//! The way from an event to the dispatch is the hottest of the whole system above the kernel. What is rare stands in
//! functions of its own, marked cold, and what the way needs lies in one core's [`CoreState`].
#![no_std]
#![no_main]

extern crate alloc;

mod expiry;
mod kill;
mod sections;
mod start;
mod state;
mod verdict;

use state::{system, ClockReading, Core, CoreState};
use tactus_policy::{CoreState as PolicyCore, Decision, Event, Input, Policy, Visitor};
use tactus_record::{EntryReason, EventKind, FaultKind, InputKind, Record, Sink, Stored, Subject};
use tactus_rt::abi::call::{IDLE, NO_TIMEOUT, SWITCH_RETURN, SWITCH_UPCALL_DONE};
use tactus_rt::abi::shared::event;
use tactus_rt::scheduler::{publish_job, OwnRegion};
use tactus_rt::time::{CoreId, CoreSet, Instant, TaskId};
use tactus_rt::{calls, clock, Caller, Error};
use tactus_sched::recovery::{self, Lost};
use verdict::Counting;

tactus_rt::component! { upcall: upcall, services: [complete, raise, unlock] }

/// Beside the kernel's events: the running job is finished.
const COMPLETED: u64 = 1 << 16;
/// The running task can never run again.
const REMOVED: u64 = 1 << 17;
/// The core's first entry.
const BEGUN: u64 = 1 << 18;
/// Something arrived: what, stands in the core's state.
const ARRIVED: u64 = 1 << 19;
/// The running job left a critical section for which another one waits.
const UNLOCKED: u64 = 1 << 20;
/// What is looked at before anything else: it concerns components.
const RARE: u64 = event::FAULT | event::RESTARTED;
/// Events for the policy; the rest is for the scheduler itself.
const FOR_POLICY: u64 = COMPLETED | REMOVED | ARRIVED | UNLOCKED | BEGUN | event::NOTIFY | event::TIMER;

/// The kernel has events for this core.
#[inline(always)]
fn upcall(core: u8) -> ! {
    let due = OwnRegion::of(core).take_events();
    if due == event::TIMER {
        expiry::upcall(core);
    }
    upcall_for(core, due)
}

/// As [`upcall`] without the short path: these events have been taken already.
#[cold]
#[inline(never)]
fn upcall_for(core: u8, due: u64) -> ! {
    decide(core, due, SWITCH_UPCALL_DONE);
    // An upcall that gave up the core is begun anew, never resumed.
    calls::give_up()
}

/// A task's thread has finished its job. Comes back when the next one is given a core. Only the component in which
/// the thread is at home may say so: one that the thread merely visits must not end its client's job. Anybody else
/// gets a 1 back at once.
#[inline(always)]
fn complete(caller: Caller, _: [u64; 5]) -> [u64; 2] {
    let core = caller.core();
    let Some(Core { state, .. }) = state::running(core) else { return [1, 0] };
    if !state.is_home(caller.thread().into(), caller.component().into()) {
        return [1, 0];
    }
    // The thread goes on at home: it has nothing left to do here.
    decide(core, COMPLETED, SWITCH_RETURN);
    [0; 2]
}

/// A job raises an arrival for the n-th, in the order of the file, of the tasks whose arrivals its component raises. It goes on
/// when it has a core again. Gives 0, or why nothing arrived: 1 the caller has no job here, 2 it raises no such task.
fn raise(caller: Caller, [event, ..]: [u64; 5]) -> [u64; 2] {
    let core = caller.core();
    let Some(Core { state, .. }) = state::running(core) else { return [1, 0] };
    let component = u64::from(caller.component());
    if !state.is_home(caller.thread().into(), component) {
        return [1, 0];
    }
    let mut raised = state.system.cards().iter().enumerate().filter(|(_, card)| card.raiser == component);
    let Some((task, _)) = usize::try_from(event).ok().and_then(|event| raised.nth(event)) else { return [2, 0] };
    state.raised = Some(TaskId(task as u16));
    decide(core, ARRIVED, SWITCH_RETURN);
    [0; 2]
}

/// A job has left a critical section for which another one waited when the job was given its core. It goes on when it has a core
/// again. Gives 0, or 1 if the caller has no job here.
fn unlock(caller: Caller, _: [u64; 5]) -> [u64; 2] {
    let core = caller.core();
    let Some(Core { policy, state }) = state::running(core) else { return [1, 0] };
    if !state.is_home(caller.thread().into(), caller.component().into()) {
        return [1, 0];
    }
    // It may have been displaced after it left the section and before it said so.
    if state.system.scheduler.awaits_unlock(policy) {
        decide(core, UNLOCKED, SWITCH_RETURN);
    }
    [0; 2]
}

impl ClockReading {
    #[inline(always)]
    fn take(state: &CoreState) -> ClockReading {
        let stamp = clock::time_stamp();
        let now = if state.nanosecond_clock {
            // The run has begun.
            Instant::from_nanos(stamp.wrapping_sub(state.epoch))
        } else {
            converted(stamp)
        };
        ClockReading { stamp, now }
    }
}

/// Where the counter does not count nanoseconds.
#[cold]
#[inline(never)]
fn converted(stamp: u64) -> Instant {
    clock::instant(stamp)
}

/// Handles what happened and dispatches what the policy says, until the kernel takes the dispatch.
#[inline(always)]
fn decide(core: u8, mut due: u64, flags: u64) {
    let region = OwnRegion::of(core);
    loop {
        due |= region.take_events();
        let Some(Core { policy, state }) = state::running(core) else {
            begin(core, region, &mut due, flags);
            continue;
        };
        if due & RARE != 0 {
            due = rare(state, region, due);
        }
        let mut look = ClockReading::take(state);
        // Nearly always one event, and the timer's.
        while due & FOR_POLICY != 0 && !state.ended {
            let Some((reason, done)) = next(state, due, look) else { break };
            due &= !done;
            look = step(policy, state, reason, look);
        }
        due &= !event::TIMER;
        if state.ended {
            report_end(state);
        }
        match dispatch(state, core, region, flags, look.now) {
            Dispatched::Taken => return,
            Dispatched::Refused => {}
            Dispatched::Stopped => due |= lost(state),
        }
    }
}

/// The policy's next event, and the bit of `due` that it answers.
#[inline(always)]
fn next(state: &CoreState, due: u64, look: ClockReading) -> Option<(EntryReason, u64)> {
    if due & (BEGUN | REMOVED | COMPLETED | UNLOCKED | ARRIVED | event::NOTIFY) == 0 {
        // An older timer may expire when its cause has been handled: then nothing is due.
        return (look.now >= state.wake).then_some((EntryReason::Timer, event::TIMER));
    }
    Some(if due & BEGUN != 0 {
        (EntryReason::Start, BEGUN)
    } else if due & REMOVED != 0 {
        (EntryReason::Fault, REMOVED)
    } else if due & COMPLETED != 0 {
        (EntryReason::Complete, COMPLETED)
    } else if due & UNLOCKED != 0 {
        (EntryReason::Unlock, UNLOCKED)
    } else if due & ARRIVED != 0 {
        (EntryReason::Arrival, ARRIVED)
    } else {
        (EntryReason::Notify, event::NOTIFY)
    })
}

/// The core has not begun: sets the scheduler up, and waits for the start of the run.
#[cold]
fn begin(core: u8, region: OwnRegion, due: &mut u64, flags: u64) {
    if *due & event::START != 0 {
        start::start(core);
    }
    *due = 0;
    if clock::time_stamp() < clock::clock().epoch {
        sleep_until_start(region, flags);
    } else {
        state::begin(core);
        *due = BEGUN;
    }
}

/// One call of the policy, with one reading of the clock; returns the reading after it. When the run is over, marks the core as
/// ended instead.
#[inline(always)]
fn step(policy: &mut PolicyCore, state: &mut CoreState, reason: EntryReason, mut look: ClockReading) -> ClockReading {
    if look.now >= state.limit {
        if look.now >= state.end {
            return end(state, look);
        }
        recovery::go_on(state);
        look = ClockReading::take(state);
    }
    state.look = look;
    state.system.scheduler.visit(policy, Call { state, reason })
}

/// The policy's event for a reason of entry.
#[inline(always)]
fn event(reason: EntryReason) -> Event {
    match reason {
        EntryReason::Start => Event::Start,
        EntryReason::Timer => Event::Timer,
        EntryReason::Complete => Event::Complete,
        EntryReason::Notify => Event::Notify,
        EntryReason::Fault => Event::Remove,
        EntryReason::Arrival => Event::Arrival,
        EntryReason::Unlock => Event::Unlock,
    }
}

/// Tells the policy what arrived.
#[cold]
fn arrive<P: Policy>(policy: &P, core: &mut P::Core, raised: Option<TaskId>, records: &mut Counting, now: Instant) {
    let Some(task) = raised else { return };
    let subject = Subject::new(task, InputKind::Arrival as u8);
    records.writer.store(Stored::about(subject, now, records.core, EventKind::Input, 0, now.as_nanos()));
    policy.input(core, Input::Arrival { task, at: now });
}

/// One call of the policy, whichever it is.
struct Call<'a> {
    state: &'a mut CoreState,
    reason: EntryReason,
}

impl Visitor for Call<'_> {
    type Output = ClockReading;

    #[inline(never)]
    fn visit<P: Policy>(self, policy: &P, core: &mut P::Core) -> ClockReading {
        let Call { state, reason } = self;
        let look = state.look;
        let (id, level) = (CoreId(state.core), reason as u8);
        let expiry = if reason == EntryReason::Timer { state.wake.as_nanos() } else { 0 };
        let mut records = Counting { writer: state.ring.writer(), counts: &mut state.counts, core: id };
        records.writer.store(Stored::about(state.running.with_level(level), look.now, id, EventKind::Enter, 0, expiry));
        if reason == EntryReason::Arrival {
            arrive(policy, core, state.raised.take(), &mut records, look.now);
        }
        if P::RESOURCES && !state.sections.is_empty() {
            sections::tell((policy, core), (&mut state.sections, state.running), &mut records, (reason, look.now));
        }
        let decision = policy.handle(core, look.now, event(reason), &mut records);
        let Counting { mut writer, .. } = records;
        let after = ClockReading::take(state);
        let (subject, job) = match decision.run {
            Some(running) => (Subject::new(running.task, level), running.job),
            None => (Subject::NONE.with_level(level), 0),
        };
        let leave = Stored::about(subject, after.now, id, EventKind::Leave, job, decision.timer.as_nanos());
        writer.store(leave.with_ticket(decision.ticket));
        state.ring.keep(writer);
        state.decide(&decision);
        publish(state, &decision, look.stamp);
        if let Some(running) = decision.run.filter(|_| P::RESOURCES && !state.sections.is_empty()) {
            sections::publish((policy, core), state, running.task);
        }
        if !decision.notify.is_empty() {
            notify(decision.notify);
        }
        after
    }
}

/// Reports the end of the run on this core, once.
#[cold]
fn report_end(state: &mut CoreState) {
    if !state.end_reported {
        state.end_reported = true;
        verdict::end();
    }
}

/// The run is over on this core.
#[cold]
fn end(state: &mut CoreState, look: ClockReading) -> ClockReading {
    state.ended = true;
    state.limit = Instant::ZERO;
    (state.thread, state.timeout) = (IDLE, NO_TIMEOUT);
    state.ring.end(look.now, OwnRegion::of(state.core).refused());
    look
}

/// Sends an inter-core event to each of these cores.
#[inline(never)]
fn notify(cores: CoreSet) {
    for other in cores.iter() {
        // A core that does not exist cannot be named: the policy was made for this number of cores.
        let _ = calls::notify(other.0);
    }
}

/// Publishes the chosen job to its component.
#[inline(always)]
fn publish(state: &CoreState, decision: &Decision, stamp: u64) {
    let Some(running) = decision.run else { return };
    let Some(counts) = state.counts.get(running.task.index()) else { return };
    kill::before_next(state.system, running.task);
    // The thread does not run now: this core is in the scheduler, and no other core has the thread.
    publish_job(
        running.task,
        running.job,
        running.charged,
        stamp,
        running.arrived.unwrap_or(counts.release(running.job)),
    );
}

/// Components were stopped or run again. What is due from then on.
#[cold]
fn rare(state: &mut CoreState, region: OwnRegion, due: u64) -> u64 {
    if due & event::RESTARTED != 0 {
        recovery::by_another(state, region.restarted());
    }
    let due = due & !event::RESTARTED;
    if due & event::FAULT != 0 {
        fault(state, region, due)
    } else {
        due
    }
}

/// A component was stopped while this core ran one of its threads. What is due from then on.
fn fault(state: &mut CoreState, region: OwnRegion, due: u64) -> u64 {
    let fault = region.fault();
    if fault.survives != 0 && fault.kind == FaultKind::Gone as u64 {
        // A thread has come back to a caller that gave up on it before: nothing stopped now.
        return due & !event::FAULT;
    }
    let task = system().task_of(fault.thread);
    state.ring.record(Record {
        time: clock::now(),
        arg: fault.address,
        job: fault.component as u32,
        task,
        kind: EventKind::Fault,
        level: FaultKind::from_u8(fault.kind as u8).unwrap_or(FaultKind::Other) as u8,
        core: CoreId(state.core),
        ticket: fault.survives as u32,
    });
    if fault.kind != FaultKind::Gone as u64 {
        recovery::stopped(state, fault.component);
    }
    let lost = if fault.survives == 0 { ended(recovery::lost_with(state, fault.thread)) } else { 0 };
    due & !event::FAULT | lost
}

/// What is due since the thread that was to run was stopped with its component.
#[cold]
fn lost(state: &mut CoreState) -> u64 {
    match state.run() {
        Some((task, _)) => ended(recovery::lost_with(state, system().thread_of(task))),
        None => 0,
    }
}

/// What is due since the job or its task ended.
fn ended(lost: Lost) -> u64 {
    match lost {
        Lost::Job => COMPLETED,
        Lost::Task => REMOVED,
    }
}

/// What became of a dispatch.
enum Dispatched {
    /// The kernel took it, and the core has come back since.
    Taken,
    /// Something happened in between: decide again.
    Refused,
    /// The thread can never run again.
    Stopped,
}

/// Gives the core to what was decided. `now` is when this core last looked at the clock.
#[inline(always)]
fn dispatch(state: &CoreState, core: u8, region: OwnRegion, flags: u64, now: Instant) -> Dispatched {
    let (thread, timeout) = (state.thread, state.timeout);
    state.ring.note_time(now);
    loop {
        region.set_next_thread(thread);
        match calls::switch_thread(thread, flags, timeout) {
            Ok(()) => return Dispatched::Taken,
            // The thread's last core has not saved it yet; it will within its own dispatch.
            Err(Error::Busy) => core::hint::spin_loop(),
            Err(Error::Again) => return Dispatched::Refused,
            Err(Error::ThreadStopped) => return Dispatched::Stopped,
            Err(_) => panic!("core {core}: the kernel refuses a thread of this scheduler"),
        }
    }
}

/// Sleeps until the run begins or an event comes.
#[cold]
fn sleep_until_start(region: OwnRegion, flags: u64) {
    region.set_next_thread(IDLE);
    // An upcall that sleeps is over: the next event begins a new one. If an event is pending, this returns at once.
    let _ = calls::switch_thread(IDLE, flags, clock::clock().epoch);
}
