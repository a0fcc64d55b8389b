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
mod recovery;
mod ring;
mod start;
mod state;
mod verdict;

use core::ptr::{addr_of, addr_of_mut};
use state::{system, Core, CoreState, Look};
use tactus_policy::{CoreState as PolicyCore, Decision, Event, Policy, Visitor};
use tactus_record::{EntryReason, EventKind, FaultKind, Record, Sink, Stored, Subject};
use tactus_rt::abi::call::{IDLE, NO_TIMEOUT, SWITCH_RETURN, SWITCH_UPCALL_DONE};
use tactus_rt::abi::layout::{PAGE, TASK_PAGES};
use tactus_rt::abi::shared::{event, Region, TaskPage};
use tactus_rt::time::{CoreId, CoreSet, Instant, TaskId};
use tactus_rt::{calls, clock, region, Caller, Error};
use verdict::Counting;

tactus_rt::component! { upcall: upcall, services: [complete] }

/// What is to be told to the policy beside the kernel's events: the running job is finished.
const COMPLETED: u64 = 1 << 16;
/// The running task can never run again.
const REMOVED: u64 = 1 << 17;
/// The core's first entry.
const BEGUN: u64 = 1 << 18;
/// What is looked at before anything else: it concerns components.
const RARE: u64 = event::FAULT | event::RESTARTED;
/// What the policy is told; the rest is for the scheduler itself.
const FOR_POLICY: u64 = COMPLETED | REMOVED | BEGUN | event::NOTIFY | event::TIMER;

/// The kernel has events for this core.
#[inline(always)]
fn upcall(core: u8) -> ! {
    let region = region::of(core);
    // SAFETY: the core's region.
    let due = unsafe { region::take_events(region) };
    if due == event::TIMER {
        expiry::upcall(core);
    }
    upcall_for(core, due)
}

/// As [`upcall`], the long way: these events have been taken already.
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

impl Look {
    #[inline(always)]
    fn take(state: &CoreState) -> Look {
        let stamp = clock::time_stamp();
        let now = if state.nanosecond_clock {
            // The run has begun.
            Instant::from_nanos(stamp.wrapping_sub(state.epoch))
        } else {
            converted(stamp)
        };
        Look { stamp, now }
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
    let region = region::of(core);
    loop {
        // SAFETY: the core's region.
        due |= unsafe { region::take_events(region) };
        let Some(Core { policy, state }) = state::running(core) else {
            begin(core, region, &mut due, flags);
            continue;
        };
        if due & RARE != 0 {
            due = rare(state, region, due);
        }
        let mut look = Look::take(state);
        // Nearly always one event, and the timer's.
        while due & FOR_POLICY != 0 && !state.ended {
            let Some((reason, done)) = next(state, due, look) else { break };
            due &= !done;
            look = step(policy, state, reason, look);
        }
        due &= !event::TIMER;
        if state.ended {
            told(state);
        }
        match dispatch(state, core, region, flags, look.now) {
            Dispatched::Taken => return,
            Dispatched::Refused => {}
            Dispatched::Stopped => due |= recovery::lost(state),
        }
    }
}

/// What the policy is told first, and which bit of `due` that settles.
#[inline(always)]
fn next(state: &CoreState, due: u64, look: Look) -> Option<(EntryReason, u64)> {
    if due & (BEGUN | REMOVED | COMPLETED | event::NOTIFY) == 0 {
        // An older time-out may come when what it was for has been handled: then nothing is due.
        return (look.now >= state.wake).then_some((EntryReason::Timer, event::TIMER));
    }
    Some(if due & BEGUN != 0 {
        (EntryReason::Start, BEGUN)
    } else if due & REMOVED != 0 {
        (EntryReason::Fault, REMOVED)
    } else if due & COMPLETED != 0 {
        (EntryReason::Complete, COMPLETED)
    } else {
        (EntryReason::Notify, event::NOTIFY)
    })
}

/// The core has not begun: sets the scheduler up, and waits for the start of the run.
#[cold]
fn begin(core: u8, region: *mut Region, due: &mut u64, flags: u64) {
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

/// One call of the policy, with one look at the clock; gives the look after it. When the run is over, marks the core as
/// ended instead.
#[inline(always)]
fn step(policy: &mut PolicyCore, state: &mut CoreState, reason: EntryReason, mut look: Look) -> Look {
    if look.now >= state.limit {
        if look.now >= state.end {
            return end(state, look);
        }
        recovery::go_on(state);
        look = Look::take(state);
    }
    state.look = look;
    state.system.scheduler.visit(policy, Call { state, reason })
}

/// What the policy is told.
#[inline(always)]
fn event(reason: EntryReason) -> Event {
    match reason {
        EntryReason::Start => Event::Start,
        EntryReason::Timer => Event::Timer,
        EntryReason::Complete => Event::Complete,
        EntryReason::Notify => Event::Notify,
        EntryReason::Fault => Event::Remove,
    }
}

/// One call of the policy, whichever it is.
struct Call<'a> {
    state: &'a mut CoreState,
    reason: EntryReason,
}

impl Visitor for Call<'_> {
    type Output = Look;

    #[inline(never)]
    fn visit<P: Policy>(self, policy: &P, core: &mut P::Core) -> Look {
        let Call { state, reason } = self;
        let look = state.look;
        let (id, level) = (CoreId(state.core), reason as u8);
        let expiry = if reason == EntryReason::Timer { state.wake.as_nanos() } else { 0 };
        let mut records = Counting { pen: state.ring.pen(), counts: &mut state.counts, core: id };
        records.pen.store(Stored::about(state.running.with_level(level), look.now, id, EventKind::Enter, 0, expiry));
        let decision = policy.handle(core, look.now, event(reason), &mut records);
        let Counting { mut pen, .. } = records;
        let after = Look::take(state);
        let (subject, job) = match decision.run {
            Some(running) => (Subject::new(running.task, level), running.job),
            None => (Subject::NONE.with_level(level), 0),
        };
        let leave = Stored::about(subject, after.now, id, EventKind::Leave, job, decision.timer.as_nanos());
        pen.store(leave.with_ticket(decision.ticket));
        state.ring.keep(pen);
        state.decide(&decision);
        publish(state, &decision, look.stamp);
        if !decision.notify.is_empty() {
            notify(decision.notify);
        }
        after
    }
}

/// The run is over, which is told once.
#[cold]
fn told(state: &mut CoreState) {
    if !state.told {
        state.told = true;
        verdict::end();
    }
}

/// The run is over on this core.
#[cold]
fn end(state: &mut CoreState, look: Look) -> Look {
    state.ended = true;
    state.limit = Instant::ZERO;
    (state.thread, state.timeout) = (IDLE, NO_TIMEOUT);
    // SAFETY: the core's region, shared with the kernel, which writes the field in one piece.
    let refused = unsafe { addr_of!((*region::of(state.core)).refused).read_volatile() };
    state.ring.end(look.now, refused);
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

/// Tells the chosen job's component what it needs to know.
#[inline(always)]
fn publish(state: &CoreState, decision: &Decision, stamp: u64) {
    let Some(running) = decision.run else { return };
    let Some(counts) = state.counts.get(running.task.index()) else { return };
    kill::before_next(state.system, running.task);
    let page = page_of(running.task);
    // SAFETY: the task's page, mapped writable here; its thread does not run now, since this core is in the scheduler
    // and no other core has the thread. Field by field: the whole would go through the stack.
    unsafe {
        addr_of_mut!((*page).job).write_volatile(running.job.into());
        addr_of_mut!((*page).charged).write_volatile(running.charged.as_nanos());
        addr_of_mut!((*page).since).write_volatile(stamp);
        addr_of_mut!((*page).release).write_volatile(counts.release(running.job).as_nanos());
    }
}

/// The page on which the task's component is told about its job.
#[inline(always)]
fn page_of(task: TaskId) -> *mut TaskPage {
    (TASK_PAGES + u64::from(task.0) * PAGE) as *mut TaskPage
}

/// Components were stopped or run again. What is due from then on.
#[cold]
fn rare(state: &mut CoreState, region: *mut Region, due: u64) -> u64 {
    if due & event::RESTARTED != 0 {
        // SAFETY: as in `take_events`; written before the event was posted.
        let restarted = unsafe { addr_of!((*region).restarted).read_volatile() };
        recovery::by_another(state, restarted as u32, (restarted >> 32) as u32);
    }
    let due = due & !event::RESTARTED;
    if due & event::FAULT != 0 {
        fault(state, region, due)
    } else {
        due
    }
}

/// A component was stopped while this core ran one of its threads. What is due from then on.
fn fault(state: &mut CoreState, region: *mut Region, due: u64) -> u64 {
    // SAFETY: as in `take_events`; written before the event was posted.
    let fault = unsafe { addr_of!((*region).fault).read_volatile() };
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
    let lost = if fault.survives == 0 { recovery::lost_with(state, fault.thread) } else { 0 };
    due & !event::FAULT | lost
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
fn dispatch(state: &CoreState, core: u8, region: *mut Region, flags: u64, now: Instant) -> Dispatched {
    let (thread, timeout) = (state.thread, state.timeout);
    state.ring.look(now);
    loop {
        // SAFETY: as in `take_events`.
        unsafe { addr_of_mut!((*region).next_thread).write_volatile(thread) };
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
fn sleep_until_start(region: *mut Region, flags: u64) {
    // SAFETY: as in `take_events`.
    unsafe { addr_of_mut!((*region).next_thread).write_volatile(IDLE) };
    // An upcall that sleeps is over: the next event begins a new one. If an event is pending, this returns at once.
    let _ = calls::switch_thread(IDLE, flags, clock::clock().epoch);
}
