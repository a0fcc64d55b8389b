//! The root scheduler: a component at user level that runs a policy of `tactus-policy` on all cores. [`root_scheduler!`](crate::root_scheduler)
//! makes a program of it.
//!
//! It is entered in two ways: by the core's upcall, when the kernel has an event, and by a task's thread that has
//! finished its job. While it runs on a core, the kernel only posts further events there and lets it go on; a dispatch
//! fails while events are pending. So each core's state is free whenever it is wanted; that is checked all the same ([`PerCore`]).
//!
//! The loop around a decision, a call of the policy with its records, and what is counted of jobs are the runtime's
//! ([`crate::runtime`]), in which this is the root.
//!
//! There is a program of it for each type that decides ([`RootProgram`]): what a system's policy does not use is not in its image.
//!
//! The way from an event to the dispatch is the hottest of the whole system above the kernel. What is rare stands in
//! functions of its own, marked cold, and what the way needs lies in one core's [`CoreState`].

mod arrivals;
mod deadlines;
mod kill;
mod mailboxes;
mod misses;
mod observe;
mod ports;
mod process;
mod quota;
mod reports;
mod sections;
mod short_way;
mod slot;
mod start;
mod state;
mod verdict;
mod yielding;

use crate::recovery::{self, Lost};
use crate::runtime::{
    self, call, decide_locked, Called, Caller as _, ClockReading, Entry, JobCounts, Next, Role, COMPLETED, REMOVED,
};
use core::marker::PhantomData;
pub use process::tell as process;
pub use slot::tell as slot;
use state::{system, System};
pub use state::{Core, CoreState, RootProgram};
use tactus_policy::{Decision, EventCall, Input, Policy};
use tactus_record::{
    fault_ticket, CallRefusal, EntryReason, EventKind, FaultKind, InputKind, Record, Sink, Stored, Subject,
};
use tactus_rt::abi::call::{IDLE, NO_TIMEOUT, SWITCH_RETURN, SWITCH_UPCALL_DONE};
use tactus_rt::abi::shared::event;
use tactus_rt::scheduler::{publish_job, Borrowed, OwnRegion, PerCore, RingWriter, TraceRing};
use tactus_rt::time::{CoreId, CoreSet, Instant, TaskId};
use tactus_rt::{calls, clock, Caller};

/// Makes a program a root scheduler that decides by this policy; one of trees knows `processes` and `slots`.
#[macro_export]
macro_rules! root_scheduler {
    ($policy:ty) => {
        $crate::root_scheduler! { @program $policy: complete raise section wait event }
    };
    ($policy:ty, processes, slots) => {
        $crate::root_scheduler! { @program $policy: complete raise section wait event process slot }
    };
    (@program $policy:ty: $($service:ident)*) => {
        /// This program.
        struct Root;

        impl $crate::root::RootProgram for Root {
            type Policy = $policy;

            #[inline(always)]
            fn policy() -> &'static $crate::rt::scheduler::Once<$policy> {
                static POLICY: $crate::rt::scheduler::Once<$policy> = $crate::rt::scheduler::Once::new();
                &POLICY
            }

            #[inline(always)]
            fn cores() -> &'static $crate::rt::scheduler::PerCore<$crate::root::Core<$policy>> {
                static CORES: $crate::rt::scheduler::PerCore<$crate::root::Core<$policy>> =
                    $crate::rt::scheduler::PerCore::new();
                &CORES
            }
        }

        $crate::rt::component! {
            upcall: $crate::root::upcall::<Root>,
            services: [$($service),*],
        }

        $(#[inline(always)]
        fn $service(caller: $crate::rt::Caller, words: [u64; 5]) -> [u64; 2] {
            $crate::root::$service::<Root>(caller, words)
        })*
    };
}

/// The core's first entry.
const BEGUN: u64 = 1 << 18;
/// Something arrived: what, stands in the core's state.
const ARRIVED: u64 = 1 << 19;
/// The running job left a critical section for which another one waits.
const UNLOCKED: u64 = 1 << 20;
/// The running job asks to wait: until when, stands in the core's state.
const WAITS: u64 = 1 << 21;
/// The running job wants to enter a section that may be another's.
const ASKS: u64 = 1 << 22;
/// It signals or awaits events: which, stands in the core's state.
const CALLS: u64 = 1 << 23;
/// The loader has told of a slot: what, stands in the core's state.
const SLOTTED: u64 = 1 << 24;
/// What is looked at before anything else: it concerns components and devices.
const RARE: u64 = event::FAULT | event::RESTARTED | event::LINE | event::RUN_ENDS | event::VIOLATION;
/// Events for the policy; the rest is for the scheduler itself.
const FOR_POLICY: u64 =
    COMPLETED | REMOVED | ARRIVED | UNLOCKED | WAITS | ASKS | CALLS | SLOTTED | BEGUN | event::NOTIFY | event::TIMER;

/// The kernel has events for this core.
#[inline(always)]
pub fn upcall<R: RootProgram>(core: u8) -> ! {
    let due = OwnRegion::of(core).take_events();
    if R::Policy::EXPIRES && due == event::TIMER {
        short_way::expiry::<R>(core);
    } else if due == event::LINE {
        short_way::lines::<R>(core);
    }
    upcall_for::<R>(core, due, state::running::<R>(core))
}

/// As [`upcall`] without the short path: these events have been taken already.
#[cold]
#[inline(never)]
fn upcall_for<R: RootProgram>(core: u8, due: u64, running: Running<R>) -> ! {
    decide_locked::<Root<R>>(running, core, 0, due, SWITCH_UPCALL_DONE);
    // An upcall that gave up the core is begun anew, never resumed.
    calls::give_up()
}

/// A task's thread has finished its job. Comes back when the next one is given a core. Only the component in which
/// the thread is at home may say so: one that the thread merely visits must not end its client's job. Anybody else
/// gets a 1 back at once.
#[inline(always)]
pub fn complete<R: RootProgram>(caller: Caller, _: [u64; 5]) -> [u64; 2] {
    let core = caller.core();
    let Some(running) = at_home::<R>(core, &caller) else { return NO_JOB };
    // The thread goes on at home: it has nothing left to do here.
    decide_locked::<Root<R>>(Some(running), core, 0, COMPLETED, SWITCH_RETURN);
    [0; 2]
}

/// What a call gives back: the caller has no job here.
const NO_JOB: [u64; 2] = [1, 0];
/// The job's file does not say that it does this.
const NOT_DECLARED: [u64; 2] = [2, 0];
/// The job has called too often: see [`quota`].
const TOO_OFTEN: [u64; 2] = [tactus_abi::shared::TOO_OFTEN, 0];

/// The job has not sent what it signals.
const NOT_SENT: [u64; 2] = [4, 0];

/// The running job's call is refused.
#[cold]
#[inline(never)]
fn refuse<P: Policy>(mut running: Borrowed<'static, Core<P>>, why: CallRefusal) -> [u64; 2] {
    let CoreState { quotas, ring, core, running: own, job, .. } = &mut running.state;
    if let Some(task) = own.task() {
        quotas.refuse((ring, *core), (task, *job), why);
    }
    match why {
        CallRefusal::NotDeclared => NOT_DECLARED,
        CallRefusal::NotSent | CallRefusal::NotWritten => NOT_SENT,
        CallRefusal::TooOften => TOO_OFTEN,
    }
}

/// Whether one more call of the running job is taken.
#[inline(always)]
fn takes_call(state: &mut CoreState) -> bool {
    let (task, job) = (state.running.task(), state.job);
    let quota = task.and_then(|task| state.quotas.of(task));
    quota.is_some_and(|quota| quota.takes_call(job))
}

/// A job raises an arrival for the n-th, in the order of the file, of the tasks whose arrivals its component raises; or, if the second
/// word is not zero, for the task with the number n, which has to be one of them. It goes on when it has a core again. Gives 0, or why
/// nothing arrived: [`NO_JOB`], [`NOT_DECLARED`] or [`TOO_OFTEN`].
pub fn raise<R: RootProgram>(caller: Caller, [event, by_number, ..]: [u64; 5]) -> [u64; 2] {
    let core = caller.core();
    let Some(mut running) = at_home::<R>(core, &caller) else { return NO_JOB };
    let component = u32::from(caller.component());
    let own = match by_number {
        0 => running.state.quotas.nth_raised(component, event),
        _ => u16::try_from(event).ok().map(TaskId),
    };
    let raised = own.and_then(|task| Some((task, running.state.quotas.of(task)?)));
    let Some((task, quota)) = raised.filter(|(_, it)| it.raiser == component) else {
        return refuse(running, CallRefusal::NotDeclared);
    };
    if !quota.takes_arrival(clock::now) {
        return refuse(running, CallRefusal::TooOften);
    }
    // At the time of the call of the policy. If anything else has come, the kernel refuses the dispatch, and it is handled then.
    let arrival = (task, None);
    if let Some(due) = short_way::arrive::<R>(CoreId(core), running, arrival, (SWITCH_RETURN, false)) {
        decide_locked::<Root<R>>(state::running::<R>(core), core, 0, due, SWITCH_RETURN);
    }
    [0; 2]
}

/// A job has left a critical section for which another one waited when the job was given its core; or, if `asks` is not 0, it wants the
/// one that it entered last, which may be another's. It goes on when it has a core again. Gives 0, [`NO_JOB`] or [`TOO_OFTEN`].
pub fn section<R: RootProgram>(caller: Caller, [asks, ..]: [u64; 5]) -> [u64; 2] {
    let core = caller.core();
    let Some(mut running) = at_home::<R>(core, &caller) else { return NO_JOB };
    let Core { policy, own, state } = &mut *running;
    let left = state.running.task().filter(|task| asks == 0 && sections::has_left_all(&state.sections, *task));
    let due = if let Some(task) = left {
        // Once for each time that the policy was told of sections, so that no quota is needed. The job may have been displaced after it
        // left the section and before it said so. If anything else has come, the kernel refuses the dispatch, and it is handled then.
        if policy.awaits_unlock(own) {
            short_way::unlock::<R>(CoreId(core), running, task)
        } else {
            None
        }
    } else {
        if !takes_call(state) {
            return refuse(running, CallRefusal::TooOften);
        }
        let due = if asks != 0 {
            let locked = policy.locked(own);
            sections::may_ask(&mut state.sections, state.running, locked).then_some(ASKS)
        } else {
            policy.awaits_unlock(own).then_some(UNLOCKED)
        };
        drop(running);
        due
    };
    if let Some(due) = due {
        decide_locked::<Root<R>>(state::running::<R>(core), core, 0, due, SWITCH_RETURN);
    }
    [0; 2]
}

/// A job waits until this instant, in ns since the start of the run; but no longer, and no more often, than its task declares. It goes
/// on when it has a core again. Gives 0, [`NO_JOB`] or [`TOO_OFTEN`].
pub fn wait<R: RootProgram>(caller: Caller, [until, ..]: [u64; 5]) -> [u64; 2] {
    let core = caller.core();
    let Some(mut running) = at_home::<R>(core, &caller) else { return NO_JOB };
    if !takes_call(&mut running.state) {
        return refuse(running, CallRefusal::TooOften);
    }
    running.state.waits_until = Instant::from_nanos(until);
    decide_locked::<Root<R>>(Some(running), core, 0, WAITS, SWITCH_RETURN);
    [0; 2]
}

/// A job lets others go on that await an event, one if `action` is 1 and all if it is 2; or it awaits the event, if it is 0, and gives a
/// semaphore back before, whose number plus one is `gives`, if that is not 0. It goes on when it has a core again. Gives 0, or why
/// nothing was done: [`NO_JOB`], [`NOT_DECLARED`] if an event is none that the task signals or awaits, [`NOT_SENT`], [`TOO_OFTEN`].
pub fn event<R: RootProgram>(caller: Caller, [action, event, gives, ..]: [u64; 5]) -> [u64; 2] {
    let core = caller.core();
    let Some(mut running) = at_home::<R>(core, &caller) else { return NO_JOB };
    let Some(calls) = own_calls(&running.state, [action, event, gives]) else {
        return refuse(running, CallRefusal::NotDeclared);
    };
    if !calls.into_iter().flatten().all(|call| ports::is_sent(&running.state.system.channels, call)) {
        return refuse(running, CallRefusal::NotSent);
    }
    if !takes_call(&mut running.state) {
        return refuse(running, CallRefusal::TooOften);
    }
    running.state.event_calls = calls;
    decide_locked::<Root<R>>(Some(running), core, 0, CALLS, SWITCH_RETURN);
    [0; 2]
}

/// What the running job wants to do to events, if its task may.
fn own_calls(state: &CoreState, [action, event, gives]: [u64; 3]) -> Option<[Option<EventCall>; 2]> {
    let event = u16::try_from(event).ok()?;
    let calls = match (action, gives) {
        (0, 0) => [None, Some(EventCall::Await(event))],
        (0, gives) => [Some(EventCall::Signal(u16::try_from(gives - 1).ok()?)), Some(EventCall::Await(event))],
        (1, _) => [Some(EventCall::Signal(event)), None],
        (2, _) => [Some(EventCall::Broadcast(event)), None],
        _ => return None,
    };
    let (task, cards) = (state.running.task()?, state.system.cards());
    calls.into_iter().flatten().all(|call| quota::has_right(cards, task, call)).then_some(calls)
}

impl runtime::Caller for CoreState {
    type Tasks = System;
    #[inline(always)]
    fn ring(&mut self) -> &mut TraceRing {
        &mut self.ring
    }
    #[inline(always)]
    fn counts(&mut self) -> (&mut [JobCounts], &'static System) {
        (&mut self.counts, self.system)
    }
    #[inline(always)]
    fn read_clock(&self) -> ClockReading {
        let stamp = clock::time_stamp();
        let now = if self.nanosecond_clock {
            // The run has begun.
            Instant::from_nanos(stamp.wrapping_sub(self.epoch))
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

/// The core's state; none if the caller's thread runs no jobs of a task that is at home in the caller.
#[inline(always)]
fn at_home<R: RootProgram>(core: u8, caller: &Caller) -> Option<Borrowed<'static, Core<R::Policy>>> {
    let running = state::running::<R>(core)?;
    running.state.is_home(caller.thread().into(), caller.component().into()).then_some(running)
}

/// The state of a core whose run has begun.
type Running<R> = Option<Borrowed<'static, Core<<R as RootProgram>::Policy>>>;

/// The root: nobody enters it twice at a time on a core, so that its state is free.
struct Root<R>(PhantomData<R>);

impl<R: RootProgram> Role for Root<R> {
    type Lock = Running<R>;
    const IS_INTERRUPTED: bool = false;

    #[inline(always)]
    fn lock(core: u8, _: OwnRegion, _: u64) -> Running<R> {
        state::running::<R>(core)
    }

    #[inline(always)]
    fn next(lock: &mut Running<R>, core: u8, region: OwnRegion, due: &mut u64, stopped: Option<u64>) -> Next {
        if lock.is_none() {
            *lock = begin::<R>(core, due);
        }
        let Some(running) = lock else { return Next::nobody_until(clock::clock().epoch) };
        let Core { policy, own, state } = &mut **running;
        if stopped.is_some() {
            *due |= lost(state);
        }
        if *due & RARE != 0 {
            *due = rare(state, region, *due);
        }
        let mut look = state.read_clock();
        // Nearly always one event, and the timer's.
        while *due & FOR_POLICY != 0 && !state.ended {
            let Some((reason, done)) = next(state, *due, look) else {
                if look.now >= state.limit {
                    look = beside(state, look);
                }
                break;
            };
            *due &= !done;
            look = step(*policy, own, state, reason, look);
        }
        *due &= !event::TIMER;
        state.ring.note_time(look.now);
        let next = state.next();
        if state.ended {
            report_end(lock.take(), R::cores());
        }
        next
    }
}

/// The policy's next event, and the bit of `due` that it answers.
#[inline(always)]
fn next(state: &CoreState, due: u64, look: ClockReading) -> Option<(EntryReason, u64)> {
    if due & (FOR_POLICY & !event::TIMER) == 0 {
        // An older timer may expire when its cause has been handled: then nothing is due.
        return (look.now >= state.wake).then_some((EntryReason::Timer, event::TIMER));
    }
    Some(if due & BEGUN != 0 {
        (EntryReason::Start, BEGUN)
    } else if due & REMOVED != 0 {
        (EntryReason::Fault, REMOVED)
    } else if due & COMPLETED != 0 {
        (EntryReason::Complete, COMPLETED)
    } else if due & WAITS != 0 {
        (EntryReason::Wait, WAITS)
    } else if due & UNLOCKED != 0 {
        (EntryReason::Unlock, UNLOCKED)
    } else if due & CALLS != 0 {
        (EntryReason::Signal, CALLS)
    } else if due & ASKS != 0 {
        (EntryReason::Lock, ASKS)
    } else if due & SLOTTED != 0 {
        (EntryReason::Slot, SLOTTED)
    } else if due & ARRIVED != 0 {
        let last = !state.arrivals.are_more_than_one_call();
        (EntryReason::Arrival, if last { ARRIVED } else { 0 })
    } else {
        (EntryReason::Notify, event::NOTIFY)
    })
}

/// The core has not begun: sets the scheduler up, and begins at the start of the run; none before that.
#[cold]
fn begin<R: RootProgram>(core: u8, due: &mut u64) -> Running<R> {
    if *due & event::START != 0 {
        start::start::<R>(core);
    }
    *due = 0;
    if clock::time_stamp() < clock::clock().epoch {
        return None;
    }
    if !R::cores().open(core) {
        // The last core, which judges the run, is looking at what this one has counted.
        return None;
    }
    *due = BEGUN;
    let mut begun = state::running::<R>(core)?;
    let state = &mut begun.state;
    recovery::begin(state);
    if core == 0 && arrivals::begin(state.system, &mut state.arrivals) {
        *due |= ARRIVED;
    }
    Some(begun)
}

/// One call of the policy, with one reading of the clock; returns the reading after it. When the run is over, marks the core as
/// ended instead.
#[inline(always)]
fn step<P: Policy>(
    policy: &P,
    own: &mut P::Core,
    state: &mut CoreState,
    reason: EntryReason,
    look: ClockReading,
) -> ClockReading {
    if look.now >= state.lone_limit {
        return step_beside(policy, own, state, reason, look);
    }
    state.look = look;
    call_policy(policy, own, state, reason)
}

/// The same where something beside the policy's work is due, or monitors are told of what it decides.
#[cold]
#[inline(never)]
fn step_beside<P: Policy>(
    policy: &P,
    own: &mut P::Core,
    state: &mut CoreState,
    reason: EntryReason,
    mut look: ClockReading,
) -> ClockReading {
    if look.now >= state.limit {
        look = beside(state, look);
        if state.ended {
            return look;
        }
    }
    state.look = look;
    let after = call_policy(policy, own, state, reason);
    let system = state.system;
    if let Some(watched) = &system.watched {
        observe::tell(state, watched);
    }
    if !system.mailboxes.is_empty() {
        mailboxes::tell(&system.mailboxes, (&mut state.ring, state.core), state.look.now, after.now);
    }
    after
}

/// Does what is due beside the policy's work: the next piece of a restart, what monitors await, or the end. Returns the reading of the clock
/// after it.
#[cold]
#[inline(never)]
fn beside(state: &mut CoreState, look: ClockReading) -> ClockReading {
    if look.now >= state.end {
        return end(state, look);
    }
    recovery::go_on(state);
    process::late(state, look.now);
    observe::late(state, look.now);
    state.enter_by(state.limit);
    state.read_clock()
}

/// Tells the policy until when the running job asks to wait.
#[cold]
#[inline(never)]
fn tell_wait<P: Policy>(
    policy: &P,
    own: &mut P::Core,
    (running, until): (Subject, Instant),
    (mut writer, core): (RingWriter, CoreId),
    now: Instant,
) -> RingWriter {
    let Some(task) = running.task() else { return writer };
    let subject = Subject::new(task, InputKind::Wait as u8);
    writer.store(Stored::about(subject, now, core, EventKind::Input, 0, until.as_nanos()));
    policy.input(own, Input::Wait { until });
    writer
}

/// Tells the policy what the running job does to events.
#[cold]
#[inline(never)]
fn tell_calls<P: Policy>(
    policy: &P,
    own: &mut P::Core,
    (running, calls): (Subject, [Option<EventCall>; 2]),
    (mut writer, core): (RingWriter, CoreId),
    now: Instant,
) -> RingWriter {
    let Some(task) = running.task() else { return writer };
    for call in calls.into_iter().flatten() {
        let (kind, event, all) = match call {
            EventCall::Await(event) => (InputKind::Await, event, 0),
            EventCall::Signal(event) => (InputKind::Signal, event, 0),
            EventCall::Broadcast(event) => (InputKind::Signal, event, 1),
        };
        let subject = Subject::new(task, kind as u8);
        writer.store(Stored::about(subject, now, core, EventKind::Input, all, event.into()));
        policy.input(own, Input::Event(call));
    }
    writer
}

/// Tells the policy what counters say, where a server depends on them.
#[cold]
#[inline(never)]
fn tell_counters<P: Policy>(
    (policy, own): (&P, &mut P::Core),
    state: &mut CoreState,
    (mut writer, core): (RingWriter, CoreId),
    now: Instant,
) -> RingWriter {
    if let Some(told) = &mut state.lines {
        let telling = (told, state.running, state.job);
        writer = misses::tell((policy, &mut *own), telling, (writer, core), now);
    }
    if let Some(counter) = &mut state.counter {
        writer = yielding::tell((policy, own), counter, (writer, core), now);
    }
    writer
}

/// Calls the policy, and keeps, publishes and sends what it decides.
#[inline(never)]
fn call_policy<P: Policy>(policy: &P, own: &mut P::Core, state: &mut CoreState, reason: EntryReason) -> ClockReading {
    let (look, core) = (state.look, CoreId(state.core));
    // Only a tree has partitions, whose processes say so.
    let idle = P::RESOURCES && core::mem::take(&mut state.idled) && reason == EntryReason::Complete;
    // Of the loader it counts in which job it tells.
    let job = if P::RESOURCES && reason == EntryReason::Slot { state.job } else { 0 };
    let entry = Entry { core, reason, now: look.now, running: state.running, wake: state.wake, idle, job };
    if idle {
        note_idle(state);
    }
    let Called { decision, after, .. } = call((policy, &mut *own), state, entry, |state, policy, own, mut writer| {
        if P::RESOURCES && state.reads_counters {
            writer = tell_counters((policy, own), state, (writer, core), look.now);
        }
        if reason == EntryReason::Arrival {
            writer = arrivals::tell((policy, own), &mut state.arrivals, (writer, core), look.now);
        }
        if P::RESOURCES && reason == EntryReason::Wait {
            writer = tell_wait(policy, own, (state.running, state.waits_until), (writer, core), look.now);
        }
        if P::RESOURCES && reason == EntryReason::Signal {
            let calls = core::mem::take(&mut state.event_calls);
            writer = tell_calls(policy, own, (state.running, calls), (writer, core), look.now);
        }
        if P::RESOURCES && reason == EntryReason::Slot {
            writer = slot::pass_on((policy, own), state, (writer, core), look.now);
        }
        if P::RESOURCES && !state.sections.is_empty() {
            let running = state.running;
            writer = sections::tell((policy, own), (&mut state.sections, running), (writer, core), (reason, look.now));
        }
        writer
    });
    state.decide(&decision);
    publish(state, &decision, look.stamp);
    if let Some(running) = decision.run.filter(|_| P::RESOURCES && !state.sections.is_empty()) {
        sections::publish((policy, own), state, running.task);
    }
    if !decision.notify.is_empty() {
        notify(decision.notify);
    }
    after
}

/// The running job is finished, and had nothing to do.
#[cold]
fn note_idle(state: &mut CoreState) {
    let Some((task, job)) = state.run() else { return };
    if let Some(counts) = state.counts.get_mut(task.index()) {
        counts.idle(job);
    }
}

/// Reports the end of the run on this core, once.
#[cold]
fn report_end<P: Policy>(running: Option<Borrowed<'static, Core<P>>>, cores: &'static PerCore<Core<P>>) {
    let reported = running.is_none_or(|mut it| core::mem::replace(&mut it.state.end_reported, true));
    if !reported {
        runtime::end(system().setup.cores, || verdict::print(cores));
    }
}

/// Tells which sources of sampling channels have written less often than their jobs ended here. Memory that began anew with its component
/// says nothing of what was.
fn tell_unwritten(state: &mut CoreState, now: Instant) {
    let CoreState { system, counts, ring, core, .. } = state;
    let ended = |task: TaskId| counts.get(task.index()).map_or(0, |counts| counts.finished);
    let sampled = ports::sampled(&system.channels);
    for (task, channel, written) in sampled.filter(|(task, _, written)| *written < ended(*task)) {
        let home = system.cards().get(task.index()).map(|card| card.home);
        if !home.is_some_and(|home| system.recovery.has_restarted(home)) {
            quota::put_unwritten((ring, *core), now, (task, written as u32), channel);
        }
    }
}

/// The run is over on this core.
#[cold]
fn end(state: &mut CoreState, look: ClockReading) -> ClockReading {
    observe::late(state, look.now.min(state.end));
    state.ended = true;
    (state.limit, state.lone_limit) = (Instant::ZERO, Instant::ZERO);
    (state.short_limit, state.arrival_limit) = (Instant::ZERO, Instant::ZERO);
    (state.thread, state.timeout) = (IDLE, NO_TIMEOUT);
    tell_unwritten(state, look.now);
    state.quotas.report((&mut state.ring, state.core), look.now);
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
    let of_time = || state.counts.get(running.task.index()).map(|counts| counts.release(running.job));
    let Some(release) = running.arrived.or_else(of_time) else { return };
    kill::before_next(state.system, running.task);
    // The thread does not run now: this core is in the scheduler, and no other core has the thread.
    publish_job(running.task, running.job, running.charged, stamp, release);
}

/// Components were stopped or run again, or devices interrupted. What is due from then on.
#[cold]
fn rare(state: &mut CoreState, region: OwnRegion, due: u64) -> u64 {
    if due & event::RESTARTED != 0 {
        recovery::by_another(state, region.restarted());
    }
    let mut due = due & !event::RESTARTED;
    if due & event::LINE != 0 {
        arrivals::take_lines(state, region);
        due = due & !event::LINE | ARRIVED;
    }
    if due & event::FAULT != 0 {
        due = fault(state, region, due);
        observe::late(state, clock::now());
    }
    if due & event::VIOLATION != 0 {
        observe::take_violations(state);
        due = due & !event::VIOLATION | ARRIVED;
    }
    if due & event::RUN_ENDS != 0 && !state.ended {
        let look = state.read_clock();
        end(state, look);
    }
    due & !event::RUN_ENDS
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
        ticket: fault_ticket(fault.survives != 0, fault.instruction),
    });
    if fault.kind != FaultKind::Gone as u64 {
        process::stopped(state, fault.component);
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
