//! What other components may call, if the system file grants it: each a function of the scheduler, and by
//! [`crate::scheduler!`] a service of the component under the same name; `complete` is `sched_block` for tasks, whose job is
//! finished.
//!
//! | service | words | gives |
//! |---|---|---|
//! | `sched_block` | | |
//! | `sched_block_dep` | holder | |
//! | `sched_wakeup` | thread | |
//! | `sched_create_thread` | component, [`Parameters`], two words for it | the thread |
//! | `sched_exit` | | never |
//! | `sched_move` | core | |
//! | `sched_component_take`, `sched_component_release` | | |
//! | `sched_timeout_thd` | | |
//! | `sched_timeout` | nanoseconds from now | |
//! | `sched_child_wakeup` | | |
//! | `sched_end` | exit code of the run | never, from the root |
//!
//! The second word that comes back is the kernel's number of an error, 0 for none. The thread meant is the caller's, as the
//! kernel tells it. A thread that another scheduler has may wake, make and release, but not block here: that is its own
//! scheduler's to do ([`Error::NoRight`]).

use crate::kernel::Kernel;
use crate::scheduler::{Scheduler, Then};
use crate::state::{State, Status};
use crate::thread_scheduler::{Cycles, Parameters, Thread, ThreadScheduler};
use tactus_abi::call::{Caller, Error, SchedulerOperation};
use tactus_abi::layout::MAX_THREADS;

/// What a service gives.
pub type Answer = Result<u64, Error>;

/// An answer as two words.
#[inline(always)]
pub fn words(answer: Answer) -> [u64; 2] {
    match answer {
        Ok(value) => [value, 0],
        Err(error) => [0, error as u64],
    }
}

/// A caller whose thread this scheduler has.
#[derive(Clone, Copy)]
struct Own {
    core: u8,
    me: Thread,
}

impl<P: ThreadScheduler, K: Kernel> Scheduler<P, K> {
    /// The caller, if this scheduler's policy has its thread.
    #[inline(always)]
    fn own(&self, caller: Caller) -> Result<Own, Error> {
        let (core, me) = (caller.core(), Thread(caller.thread()));
        if self.threads.get(me.index()).is_some_and(|record| record.is_of(core)) {
            Ok(Own { core, me })
        } else {
            Err(Error::NoRight)
        }
    }

    /// Does something for whoever calls, and lets the most urgent thread run where that can be decided here. `act` says
    /// whether there is something to decide.
    #[inline(always)]
    fn for_anybody<R>(&self, caller: Caller, then: Then, act: impl FnOnce(&mut State<P>) -> (bool, R)) -> R {
        match self.own(caller) {
            Ok(Own { core, me }) => self.decide_then(core, me, then, act),
            Err(_) => self.for_others(caller, act),
        }
    }

    /// As [`Scheduler::for_anybody`], for a thread that somebody else schedules.
    #[inline(never)]
    fn for_others<R>(&self, caller: Caller, act: impl FnOnce(&mut State<P>) -> (bool, R)) -> R {
        let (core, me) = (caller.core(), Thread(caller.thread()));
        let (needed, result) = self.locked(core, me, act);
        if !needed {
            return result;
        }
        match self.threads.get(me.index()).and_then(|record| record.under()) {
            Some(child) => self.decide_beside(core, me, self.child_upcall(child, core)),
            // A thread of somebody above: who has it decides.
            None if !self.is_root() => self.kernel.tell_parent(),
            None => {}
        }
        result
    }

    /// A child's thread runs here: it goes on if its child would.
    fn decide_beside(&self, core: u8, me: Thread, child: Thread) {
        loop {
            let decided = self.locked(core, me, |state| self.choose(core, state));
            if decided.thread == u64::from(child.0) {
                return;
            }
            match self.kernel.switch_thread(decided.thread, 0, decided.timeout) {
                // Comes back when its own scheduler dispatches it.
                Ok(()) => return,
                refused => self.locked(core, me, |state| self.refused(core, state, refused, decided.thread)),
            }
        }
    }

    /// The caller waits until somebody wakes it; not at all if somebody did before.
    #[inline(always)]
    pub fn sched_block(&self, caller: Caller) -> Answer {
        self.block_then(caller, Then::Here)
    }

    /// As [`Scheduler::sched_block`], for a service that does nothing more: the caller need not come back here. It does where the
    /// call fails, or where there is nothing to wait for.
    #[inline(always)]
    pub fn sched_block_and_return(&self, caller: Caller) -> Answer {
        self.block_then(caller, Then::AtItsCaller)
    }

    #[inline(always)]
    fn block_then(&self, caller: Caller, then: Then) -> Answer {
        let Own { core, me } = self.own(caller)?;
        self.decide_then(core, me, then, |state| (self.block_unless_woken(state, me), Ok(0)))
    }

    #[inline(always)]
    fn block_unless_woken(&self, state: &mut State<P>, me: Thread) -> bool {
        let (record, status) = (self.record(me), self.record(me).status());
        if status == Status::READY {
            record.set_status(Status::BLOCKED);
            state.policy.thread_block(me);
            return true;
        }
        self.block_unless_woken_otherwise(state, me, status)
    }

    /// The same for a thread that is not ready, or not only that.
    #[cold]
    #[inline(never)]
    fn block_unless_woken_otherwise(&self, state: &mut State<P>, me: Thread, status: Status) -> bool {
        if status.is_woken() {
            self.record(me).set_status(status.woken(false));
        } else {
            self.block(state, me);
        }
        !status.is_woken()
    }

    /// The caller waits until somebody wakes it, and meanwhile `holder` is as urgent as the caller.
    pub fn sched_block_dep(&self, caller: Caller, holder: u64) -> Answer {
        let Own { core, me } = self.own(caller)?;
        let holder = Thread::new(holder).filter(|holder| *holder != me).ok_or(Error::BadThread)?;
        let home = self.home(holder).ok_or(Error::BadThread)?;
        let mut waits = self.decide(core, me, |state| {
            if home != core {
                let waits = self.block_unless_woken(state, me);
                return (waits, false);
            }
            let (record, status) = (self.record(me), self.record(me).status());
            let woken = status.is_woken();
            record.set_status(status.woken(false));
            if !woken {
                state.waits[me.index()].set_holder(Some(holder));
                state.dependants = true;
            }
            (!woken, !woken)
        });
        // The policy may choose the caller while it depends only if its holder has gone: then it just waits.
        while waits {
            waits = self.decide(core, me, |state| {
                let depends = state.waits[me.index()].holder().is_some();
                (depends, depends)
            });
        }
        Ok(0)
    }

    /// Wakes a thread: at once here, by a message on another core.
    #[inline(always)]
    pub fn sched_wakeup(&self, caller: Caller, thread: u64) -> Answer {
        self.wake_then(caller, thread, Then::Here)
    }

    /// As [`Scheduler::sched_wakeup`], for a service that does nothing more: see [`Scheduler::sched_block_and_return`].
    #[inline(always)]
    pub fn sched_wakeup_and_return(&self, caller: Caller, thread: u64) -> Answer {
        self.wake_then(caller, thread, Then::AtItsCaller)
    }

    #[inline(always)]
    fn wake_then(&self, caller: Caller, thread: u64, then: Then) -> Answer {
        let thread = Thread::new(thread).ok_or(Error::BadThread)?;
        let home = self.home(thread).ok_or(Error::BadThread)?;
        let core = caller.core();
        if home != core {
            self.send_wake(home, thread);
            return Ok(0);
        }
        self.for_anybody(caller, then, |state| {
            self.wake(core, state, thread);
            (true, Ok(0))
        })
    }

    /// Makes a thread in a component, for the caller's scheduler: if a child of this one asks, for that child.
    pub fn sched_create_thread(&self, caller: Caller, component: u64, parameters: u64, words: [u64; 2]) -> Answer {
        let asks = usize::from(caller.component());
        if self.children().any(|child| child == asks) {
            return self.create_for_child(asks, component, words).map(|thread| thread.0.into());
        }
        let parameters = Parameters(parameters);
        let (here, cores) = (caller.core(), self.kernel.place().1);
        let core = parameters.core().unwrap_or(here);
        if core >= cores {
            return Err(Error::BadCore);
        }
        let thread = self.kernel.create_thread(self.is_root(), component, parameters.0, words)?;
        self.bind(thread);
        let region = self.region(here);
        self.for_anybody(caller, Then::Here, |state| {
            self.record(thread).set_parameters(parameters);
            self.record(thread).set_core(Some(core));
            if core == here {
                state.seen[thread.index()] = region.cycles(thread.0);
                self.admit(region, state, thread);
            } else {
                // From here on it is the other core's.
                self.hand_over(thread, core);
            }
            (core == here, Ok(thread.0.into()))
        })
    }

    /// Tells a core that a thread is its own from now on.
    fn hand_over(&self, thread: Thread, core: u8) {
        self.mail[core as usize % self.mail.len()].adopt(thread.index());
        self.kernel.notify(core);
    }

    /// The caller ends. Comes back only if it may not.
    pub fn sched_exit(&self, caller: Caller) -> Answer {
        let Own { core, me } = self.own(caller)?;
        self.decide(core, me, |state| {
            self.remove(state, me);
            (true, Err(Error::NoRight))
        })
    }

    /// The caller goes on on another core. Only under the root scheduler, which nobody preempts: there a thread that has
    /// given itself away touches nothing of its old core before it has left it.
    pub fn sched_move(&self, caller: Caller, to: u64) -> Answer {
        let Own { core, me } = self.own(caller)?;
        if !self.is_root() {
            return Err(Error::NotRoot);
        }
        if to >= u64::from(self.kernel.place().1) {
            return Err(Error::BadCore);
        }
        if to == u64::from(core) {
            return Ok(0);
        }
        self.decide(core, me, |state| {
            self.block(state, me);
            state.policy.thread_remove(me);
            state.timeouts.clear(me);
            self.leave(state, me);
            self.record(me).set_core(Some(to as u8));
            self.hand_over(me, to as u8);
            (true, Ok(0))
        })
    }

    /// Enters the critical section of the caller's component: one thread at a time, over all cores.
    pub fn sched_component_take(&self, caller: Caller) -> Answer {
        let Own { mut core, me } = self.own(caller)?;
        let section = caller.component();
        loop {
            let Err(owner) = self.try_section(section, me, false) else { return Ok(0) };
            self.decide(core, me, |state| {
                if self.home(owner) == Some(core) {
                    state.waits[me.index()].set_holder(Some(owner));
                    state.waits[me.index()].set_section(section);
                    state.dependants = true;
                    return (true, ());
                }
                // The owner is elsewhere: says that it waits, or finds the section free after all.
                let waits = self.try_section(section, me, true).is_err();
                if waits {
                    state.waits[me.index()].set_section(section);
                    self.block(state, me);
                }
                (waits, ())
            });
            core = self.home(me).unwrap_or(core);
        }
    }

    /// Leaves the critical section of the caller's component.
    pub fn sched_component_release(&self, caller: Caller) -> Answer {
        let Own { core, me } = self.own(caller)?;
        let section = caller.component();
        let contended = self.leave_section(section, me).ok_or(Error::NotHeld)?;
        if contended {
            for other in (0..self.kernel.place().1).filter(|other| *other != core) {
                self.mail[usize::from(other) % self.mail.len()].free(section.into());
                self.kernel.notify(other);
            }
        }
        self.decide(core, me, |state| {
            if contended {
                self.wake_waiters(core, state, section);
            }
            // Whoever waited here is chosen before the caller if it is more urgent.
            (contended || core::mem::take(&mut state.dependants), Ok(0))
        })
    }

    /// Wakes all threads of this core that wait for the section.
    pub(crate) fn wake_waiters(&self, core: u8, state: &mut State<P>, section: u16) {
        for thread in (0..MAX_THREADS as u16).map(Thread) {
            if self.home(thread) == Some(core)
                && self.is_here(state, thread)
                && self.record(thread).status().is_blocked()
                && state.waits[thread.index()].section() == Some(section)
            {
                self.wake(core, state, thread);
            }
        }
    }

    /// The caller is a thread that wakes up by time.
    pub fn sched_timeout_thd(&self, caller: Caller) -> Answer {
        let Own { core, me } = self.own(caller)?;
        self.locked(core, me, |_| self.record(me).set_timed());
        Ok(0)
    }

    /// The caller is woken so many nanoseconds from now, instead of whenever it was to be woken before.
    pub fn sched_timeout(&self, caller: Caller, nanos: u64) -> Answer {
        let Own { core, me } = self.own(caller)?;
        let at = match nanos {
            u64::MAX => Cycles::NEVER,
            nanos => self.kernel.now().after(self.kernel.cycles(nanos)),
        };
        self.locked(core, me, |state| {
            if !self.record(me).is_timed() {
                return Err(Error::NoRight);
            }
            if state.timeouts.set(me, at) {
                Ok(0)
            } else {
                Err(Error::Exhausted)
            }
        })
    }

    /// A child has something to run.
    pub fn sched_child_wakeup(&self, caller: Caller) -> Answer {
        let asks = usize::from(caller.component());
        if !self.children().any(|child| child == asks) {
            return Err(Error::NotChild);
        }
        let core = caller.core();
        let upcall = self.child_upcall(asks, core);
        self.for_anybody(caller, Then::Here, |state| {
            let asleep = !self.record(upcall).status().is_ready();
            if asleep {
                state.timeouts.clear(upcall);
                self.wake(core, state, upcall);
            }
            (asleep, Ok(0))
        })
    }

    /// Ends the run. Comes back from a scheduler that is not the root.
    pub fn sched_end(&self, _: Caller, code: u64) -> Answer {
        Err(self.kernel.finish(code))
    }

    /// Takes a thread from a child of this scheduler.
    pub fn revoke(&self, thread: Thread, child: u16) -> Answer {
        self.kernel.control(SchedulerOperation::Revoke, thread.0.into(), child.into()).map(|()| 0)
    }
}

/// Makes a scheduler component of a policy: its upcall and its services.
///
/// ```ignore
/// tactus_sched::scheduler! { policy: FixedPriority = FixedPriority::new(), quantum: 1_000_000 }
/// ```
///
/// `quantum` is the length of a quantum in nanoseconds. More services may follow: `services: [a, b]`, each a function as
/// [`tactus_rt::component!`] takes them. The scheduler itself is `SCHEDULER`.
#[macro_export]
macro_rules! scheduler {
    (policy: $type:ty = $policy:expr, quantum: $quantum:expr $(, services: [$($more:ident),* $(,)?])? $(,)?) => {
        static SCHEDULER: $crate::Scheduler<$type, $crate::Machine> = $crate::Scheduler::new(
            $crate::Machine,
            $quantum,
            [const { $crate::Core::new($policy) }; $crate::rt::abi::layout::MAX_CORES],
        );
        fn upcall(core: u8) -> ! {
            SCHEDULER.upcall(core)
        }
        $crate::scheduler! { @export
            complete() = sched_block_and_return, sched_block() = sched_block_and_return,
            sched_block_dep(a) = sched_block_dep, sched_wakeup(a) = sched_wakeup_and_return, sched_exit() = sched_exit,
            sched_move(a) = sched_move, sched_component_take() = sched_component_take,
            sched_component_release() = sched_component_release, sched_timeout_thd() = sched_timeout_thd,
            sched_timeout(a) = sched_timeout, sched_child_wakeup() = sched_child_wakeup, sched_end(a) = sched_end
        }
        fn sched_create_thread(caller: $crate::rt::Caller, words: [u64; 5]) -> [u64; 2] {
            let [component, parameters, first, second, _] = words;
            $crate::services::words(SCHEDULER.sched_create_thread(caller, component, parameters, [first, second]))
        }
        $crate::rt::component! {
            upcall: upcall,
            services: [
                complete, sched_block, sched_block_dep, sched_wakeup, sched_create_thread, sched_exit, sched_move,
                sched_component_take, sched_component_release, sched_timeout_thd, sched_timeout, sched_child_wakeup, sched_end,
                $($($more),*)?
            ]
        }
    };
    (@export $($name:ident($($word:ident)?) = $function:ident),*) => {
        $(fn $name(caller: $crate::rt::Caller, _words: [u64; 5]) -> [u64; 2] {
            $(let $word = _words[0];)?
            $crate::services::words(SCHEDULER.$function(caller $(, $word)?))
        })*
    };
}
