//! The one loop that takes events, asks the policy and dispatches.
//!
//! Whoever comes in, an upcall or a client's thread, does the same: inside the critical section it does what it came for,
//! takes all events, asks the policy and writes the choice where the kernel looks; outside it dispatches. A dispatch that
//! something overtook is refused, and the loop decides again. So nothing that was decided on old news ever runs.

use crate::kernel::Kernel;
use crate::mailbox::Mailbox;
use crate::state::{Core, Record, State, Status, Wait};
use crate::thread_scheduler::{Choice, Cycles, Thread, ThreadScheduler, View};
use core::sync::atomic::{AtomicU32, AtomicU8};
use tactus_abi::call::{Caller, Error, IDLE, SWITCH_UPCALL_DONE};
use tactus_abi::layout::{MAX_COMPONENTS, MAX_CORES, MAX_THREADS};
use tactus_rt::scheduler::ThreadRegion;

/// A scheduler component.
pub struct Scheduler<P, K> {
    pub(crate) kernel: K,
    /// Length of a quantum (ns).
    pub(crate) quantum_nanos: u64,
    pub(crate) cores: [Core<P>; MAX_CORES],
    pub(crate) threads: [Record; MAX_THREADS],
    pub(crate) mail: [Mailbox; MAX_CORES],
    /// Critical sections of client components: the owner + 1, and whether another core waits.
    pub(crate) sections: [AtomicU32; MAX_COMPONENTS],
    /// How far the set-up is, see `start`.
    pub(crate) phase: AtomicU8,
}

/// Where a thread goes on that has said all it had to say to the scheduler, once it is dispatched again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Then {
    /// Behind its call of the library.
    Here,
    /// At its own caller, which finds no error and no value. For services alone, which are always called, and where nobody but
    /// this scheduler dispatches the thread: under the root ([`State::then`]).
    AtItsCaller,
}

/// What a core's decision came to.
pub(crate) struct Decided {
    /// The thread, or [`IDLE`].
    pub thread: u64,
    /// Until when.
    pub timeout: Cycles,
}

#[cfg(not(loom))]
impl<P: ThreadScheduler, K: Kernel> Scheduler<P, K> {
    /// A scheduler of these cores and with this length of a quantum (ns).
    pub const fn new(kernel: K, quantum_nanos: u64, cores: [Core<P>; MAX_CORES]) -> Scheduler<P, K> {
        Scheduler {
            kernel,
            quantum_nanos,
            cores,
            threads: [const { Record::new() }; MAX_THREADS],
            mail: [const { Mailbox::new() }; MAX_CORES],
            sections: [const { AtomicU32::new(0) }; MAX_COMPONENTS],
            phase: AtomicU8::new(0),
        }
    }
}

impl<P: ThreadScheduler, K: Kernel> Scheduler<P, K> {
    /// Lets a service of the component's own do something with the policy of the caller's core.
    pub fn with_policy<R>(&self, caller: Caller, act: impl FnOnce(&mut P) -> R) -> R {
        self.locked(caller.core(), Thread(caller.thread()), |state| act(&mut state.policy))
    }

    /// This core's region.
    #[inline(always)]
    pub(crate) fn region(&self, core: u8) -> ThreadRegion {
        self.kernel.region(core)
    }

    /// Does something inside the core's critical section. `me` is the running thread.
    #[inline(always)]
    pub(crate) fn locked<R>(&self, core: u8, me: Thread, act: impl FnOnce(&mut State<P>) -> R) -> R {
        let region = self.region(core);
        self.kernel.take_lock(region, me);
        let result = act(&mut self.cores[core as usize % MAX_CORES].state());
        self.kernel.release_lock(region);
        result
    }

    /// A thread of this core.
    #[inline(always)]
    pub(crate) fn record(&self, thread: Thread) -> &Record {
        &self.threads[thread.index()]
    }

    /// The core that has this thread in its own policy.
    #[inline(always)]
    pub(crate) fn home(&self, thread: Thread) -> Option<u8> {
        self.threads.get(thread.index())?.core()
    }

    /// Lets the core decide, again and again until the dispatch stands. `act` is what the caller came for. For a thread of
    /// this scheduler: comes back when it was dispatched and is not blocked.
    ///
    /// Gives what `act` gave: nothing if there is nothing to decide.
    #[inline(always)]
    pub(crate) fn decide<R>(&self, core: u8, me: Thread, act: impl FnOnce(&mut State<P>) -> (bool, R)) -> R {
        self.decide_then(core, me, Then::Here, act)
    }

    /// As [`Scheduler::decide`], for a thread that goes on where `then` says.
    #[inline(always)]
    pub(crate) fn decide_then<R>(
        &self,
        core: u8,
        me: Thread,
        then: Then,
        act: impl FnOnce(&mut State<P>) -> (bool, R),
    ) -> R {
        let region = self.region(core);
        self.kernel.take_lock(region, me);
        let mut state = self.cores[core as usize % MAX_CORES].state();
        let (needed, result) = act(&mut state);
        if !needed {
            drop(state);
            self.kernel.release_lock(region);
            return result;
        }
        let decided = self.look(core, &mut state);
        let flags = if then == Then::Here { 0 } else { state.then };
        if decided.thread == u64::from(me.0) && decided.timeout == state.timeout {
            drop(state);
            self.kernel.release_lock(region);
            if !region.event_pending() {
                // It has the core, until the time that the kernel knows.
                return result;
            }
        } else {
            state.timeout = decided.timeout;
            drop(state);
            self.kernel.release_lock(region);
        }
        let switched = self.kernel.switch_thread(decided.thread, flags, decided.timeout);
        if switched.is_err() || !self.may_go_on(me) {
            self.again(core, me.0.into(), flags, switched, decided.thread);
        }
        result
    }

    /// Whether the running thread is not blocked, as one that was removed is. Its own record, which changes on this core only.
    #[inline(always)]
    fn may_go_on(&self, me: Thread) -> bool {
        self.record(me).status().is_ready()
    }

    /// The dispatch was refused, or the thread was resumed by somebody who did not ask this scheduler: the core decides until
    /// the thread goes on.
    ///
    /// The thread is a whole word, as those who call this have it: then they keep it in one register.
    #[cold]
    #[inline(never)]
    fn again(&self, core: u8, me: u64, flags: u64, first: Result<(), Error>, first_tried: u64) {
        let (mut core, me, mut switched, mut tried) = (core, Thread(me as u16), first, first_tried);
        loop {
            if switched.is_ok() {
                if self.may_go_on(me) {
                    return;
                }
                // Whoever is dispatched is on the core that has it: it may be another one than before.
                core = self.home(me).unwrap_or(core);
            }
            let decided = self.locked(core, me, |state| {
                self.refused(core, state, switched, tried);
                self.choose(core, state)
            });
            switched = self.kernel.switch_thread(decided.thread, flags, decided.timeout);
            tried = decided.thread;
        }
    }

    /// Draws the consequence of a refusal.
    pub(crate) fn refused(&self, core: u8, state: &mut State<P>, switched: Result<(), Error>, tried: u64) {
        let (Err(error), Some(thread)) = (switched, Thread::new(tried)) else { return };
        if self.home(thread) != Some(core) {
            return;
        }
        match error {
            // Decide again; or another core has not saved the thread yet.
            Error::Again | Error::Busy => {}
            Error::ThreadStopped | Error::BadThread => self.remove(state, thread),
            // It is not this scheduler's to dispatch now: as if it were blocked.
            _ => self.block(state, thread),
        }
    }

    /// An upcall of this scheduler, for a core. `me` is the upcall's own thread.
    pub fn upcall(&self, core: u8) -> ! {
        let me = self.upcall_thread(core);
        let mut last = (Ok(()), IDLE);
        loop {
            let (switched, tried) = last;
            let decided = self.locked(core, me, |state| {
                self.refused(core, state, switched, tried);
                self.choose(core, state)
            });
            // An upcall that gave up the core is begun anew, never resumed: where this comes back, it was refused.
            last = (self.kernel.switch_thread(decided.thread, SWITCH_UPCALL_DONE, decided.timeout), decided.thread);
        }
    }

    /// What the core is told to do next.
    #[inline(always)]
    pub(crate) fn choose(&self, core: u8, state: &mut State<P>) -> Decided {
        let decided = self.look(core, state);
        state.timeout = decided.timeout;
        decided
    }

    /// Takes all events, asks the policy, writes the choice where the kernel looks. Its time is for the caller to note.
    #[inline(always)]
    fn look(&self, core: u8, state: &mut State<P>) -> Decided {
        let region = self.region(core);
        self.take_events(core, region, state);
        let choice = state.policy.schedule(&View { region, clock: &self.kernel });
        let plain = choice.thread.filter(|chosen| state.waits[chosen.index()].holder().is_none());
        let (thread, timeout) = match plain {
            Some(runs) => (runs.0.into(), choice.until.min(state.next_tick).min(state.timeouts.first())),
            None => self.choose_for(core, region, state, choice.thread, choice.until),
        };
        region.set_next_thread(thread);
        Decided { thread, timeout }
    }

    /// The rest of a choice of nobody, or of a thread that depends on another one.
    #[inline(never)]
    fn choose_for(
        &self,
        core: u8,
        region: ThreadRegion,
        state: &mut State<P>,
        thread: Option<Thread>,
        until: Cycles,
    ) -> (u64, Cycles) {
        let mut choice = Choice { thread, until };
        for _ in 0..MAX_THREADS {
            let timeout = state.timeouts.first().min(choice.until);
            let Some(chosen) = choice.thread else { return (IDLE, timeout) };
            if let Some(runs) = self.runs_for(core, state, chosen) {
                return (runs.0.into(), timeout.min(state.next_tick));
            }
            // It depends on a blocked thread and has left the queues.
            choice = state.policy.schedule(&View { region, clock: &self.kernel });
        }
        // More threads than there are: the policy chooses those that it was told are blocked.
        (IDLE, state.next_tick)
    }

    /// The thread cannot run until it is woken.
    #[inline(always)]
    pub(crate) fn block(&self, state: &mut State<P>, thread: Thread) {
        let record = self.record(thread);
        let status = record.status();
        record.set_status(status.but(Status::BLOCKED));
        if status.is_ready() {
            state.policy.thread_block(thread);
        } else if status.is_parked() {
            state.parked -= 1;
        }
    }

    /// The thread is woken; one that is not blocked will find its next block done.
    pub(crate) fn wake(&self, core: u8, state: &mut State<P>, thread: Thread) {
        let (record, status) = (self.record(thread), self.record(thread).status());
        let wait = core::mem::replace(&mut state.waits[thread.index()], Wait::NONE);
        if status == Status::BLOCKED {
            record.set_status(Status::READY);
        } else if status.is_ready() {
            record.set_status(status.woken(wait.holder().is_none()));
            return;
        } else {
            record.set_status(status.but(Status::READY));
            state.parked -= usize::from(status.is_parked());
        }
        state.policy.thread_wakeup(thread);
        if state.parked > 0 {
            self.unpark(core, state);
        }
    }

    /// The thread has left for ever.
    pub(crate) fn remove(&self, state: &mut State<P>, thread: Thread) {
        self.block(state, thread);
        state.policy.thread_remove(thread);
        state.timeouts.clear(thread);
        self.leave(state, thread);
        self.record(thread).set_core(None);
    }

    /// The thread is this core's no more.
    pub(crate) fn leave(&self, state: &mut State<P>, thread: Thread) {
        state.here[thread.index() / 64] &= !(1 << (thread.index() % 64));
        state.waits[thread.index()] = Wait::NONE;
    }
}
