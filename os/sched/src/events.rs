//! What the kernel and other cores told, taken to the policy.

use crate::kernel::Kernel;
use crate::mailbox::{fate, Fate, Message};
use crate::scheduler::Scheduler;
use crate::state::{State, Status};
use crate::thread_scheduler::{Cycles, Thread, ThreadScheduler};
use tactus_abi::layout::{MAX_CORES, SLOTS};
use tactus_abi::shared::{event, slot};
use tactus_rt::scheduler::ThreadRegion;

impl<P: ThreadScheduler, K: Kernel> Scheduler<P, K> {
    /// Takes everything that has been told to this core. Inside its critical section.
    #[inline(always)]
    pub(crate) fn take_events(&self, core: u8, region: ThreadRegion, state: &mut State<P>) {
        if region.event_pending() {
            self.take_pending(core, region, state);
        } else {
            // Time alone may have been told, and nearly always one thread's.
            let next = self.take_slot(core, region, state, region.take_first());
            if next != 0 {
                self.take_slots(core, region, state, next);
            }
        }
        if self.mail[core as usize % MAX_CORES].is_full() {
            self.take_mail(core, region, state);
        }
    }

    /// Takes what the kernel says is waiting.
    #[inline(never)]
    fn take_pending(&self, core: u8, region: ThreadRegion, state: &mut State<P>) {
        // Cleared before anything is looked at: what comes later refuses the dispatch.
        let events = region.take_events();
        self.take_slots(core, region, state, region.take_first());
        if events != 0 {
            self.happened(core, region, state, events);
        }
    }

    /// Takes the event list from this slot on. A list that makes no sense ends the walk: it hurts nobody but this scheduler.
    #[inline(never)]
    fn take_slots(&self, core: u8, region: ThreadRegion, state: &mut State<P>, first: u16) {
        let mut place = first;
        for _ in 0..SLOTS {
            if place == 0 {
                return;
            }
            place = self.take_slot(core, region, state, place);
        }
    }

    /// Takes one slot of the event list. Gives the next one's place.
    #[inline(always)]
    fn take_slot(&self, core: u8, region: ThreadRegion, state: &mut State<P>, place: u16) -> u16 {
        let Some(told) = region.take(place) else { return 0 };
        let (thread, cycles) = (Thread(told.thread), told.cycles);
        if told.is_time() && self.record(thread).is_of(core) {
            Self::elapsed(state, thread, thread, cycles);
            return told.next();
        }
        self.told(core, region, state, thread, told.flags(), cycles);
        told.next()
    }

    /// What a slot tells, whatever it is.
    #[cold]
    #[inline(never)]
    fn told(&self, core: u8, region: ThreadRegion, state: &mut State<P>, thread: Thread, flags: u16, cycles: u64) {
        let record = self.record(thread);
        // What a child's thread used, its child has used.
        let account = match record.under() {
            None => thread,
            Some(child) => self.child_upcall(child, core),
        };
        if !self.record(account).is_of(core) {
            return;
        }
        Self::elapsed(state, thread, account, cycles);
        if flags != 0 {
            self.changed(core, state, thread, account, flags, region.wake(thread.0));
        }
    }

    /// What the thread used since its slot was last read goes to the account.
    #[inline(always)]
    fn elapsed(state: &mut State<P>, thread: Thread, account: Thread, cycles: u64) {
        // The kernel only adds.
        let used = cycles.wrapping_sub(state.seen[thread.index()]);
        state.seen[thread.index()] = cycles;
        state.policy.time_elapsed(account, Cycles(used));
    }

    #[inline(never)]
    fn changed(&self, core: u8, state: &mut State<P>, thread: Thread, account: Thread, flags: u16, wake: u64) {
        if flags & slot::ACTIVE != 0 {
            if !self.record(account).status().is_ready() {
                state.timeouts.clear(account);
                self.wake(core, state, account);
            }
        } else if flags & slot::COMPLETED != 0 && account == thread {
            self.block(state, thread);
        }
        if flags & slot::IDLE != 0 && account == thread {
            self.block(state, thread);
            // There is always room: children set theirs before any thread can.
            state.timeouts.set(thread, Cycles(wake));
        }
    }

    /// Something other than a slot's change.
    #[inline(never)]
    fn happened(&self, core: u8, region: ThreadRegion, state: &mut State<P>, events: u64) {
        if !state.started {
            self.start(core, region, state);
        }
        if events & event::FAULT != 0 {
            let fault = region.fault();
            if let (Some(thread), 0) = (Thread::new(fault.thread), fault.survives) {
                if self.home(thread) == Some(core) {
                    self.remove(state, thread);
                }
            }
        }
        let now = self.kernel.now();
        if now >= state.next_tick && state.started {
            let quantum = self.quantum();
            let passed = now.since(state.next_tick).0 / quantum.0 + 1;
            state.next_tick = state.next_tick.after(Cycles(passed.saturating_mul(quantum.0)));
            state.policy.timer_tick(passed);
        }
        while let Some(thread) = state.timeouts.take_due(now) {
            let (record, status) = (self.record(thread), self.record(thread).status());
            if status.is_ready() {
                record.set_status(status.woken(true));
            } else {
                self.wake(core, state, thread);
            }
        }
    }

    /// What other cores told.
    #[inline(never)]
    fn take_mail(&self, core: u8, region: ThreadRegion, state: &mut State<P>) {
        let mail = &self.mail[core as usize % MAX_CORES];
        mail.take(|message| match message {
            Message::Adopt(number) => {
                let thread = Thread(number as u16);
                state.seen[number] = region.cycles(thread.0);
                self.admit(region, state, thread);
            }
            Message::Wake(number) => {
                let thread = Thread(number as u16);
                match fate(self.home(thread), core, self.is_here(state, thread)) {
                    Fate::Wake => self.wake(core, state, thread),
                    Fate::Keep => mail.keep(number),
                    Fate::Send(home) => self.send_wake(home, thread),
                    Fate::Drop => {}
                }
            }
            Message::Free(component) => self.wake_waiters(core, state, component as u16),
        });
    }

    /// Asks another core to wake its thread.
    pub(crate) fn send_wake(&self, home: u8, thread: Thread) {
        self.mail[home as usize % MAX_CORES].wake(thread.index());
        self.kernel.notify(home);
    }

    /// Gives a thread that this core now has to the policy, ready to run.
    pub(crate) fn admit(&self, region: ThreadRegion, state: &mut State<P>, thread: Thread) {
        let record = self.record(thread);
        let urgency = state.policy.thread_new(thread, record.parameters());
        region.set_urgency(thread.0, urgency.0);
        record.set_status(record.status().but(Status::READY));
        state.here[thread.index() / 64] |= 1 << (thread.index() % 64);
        state.policy.thread_wakeup(thread);
    }

    /// Whether this core has taken the thread over.
    pub(crate) fn is_here(&self, state: &State<P>, thread: Thread) -> bool {
        state.here[thread.index() / 64] >> (thread.index() % 64) & 1 != 0
    }
}
