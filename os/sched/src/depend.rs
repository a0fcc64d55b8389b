//! Who depends on whom: a thread that waits for another one lends it its urgency.
//!
//! A thread that depends on a holder stays in the policy's queues. When the policy chooses it, the holder runs instead: so
//! the holder has the urgency of the most urgent one that waits for it, whatever the policy means by urgency. If the holder
//! itself is blocked, its dependants leave the queues until it wakes. Dependencies across cores lend nothing: the thread
//! just waits.

use crate::kernel::Kernel;
use crate::scheduler::Scheduler;
use crate::state::{State, Status};
use crate::thread_scheduler::{Thread, ThreadScheduler};
use core::sync::atomic::Ordering;
use tactus_abi::layout::MAX_THREADS;

/// Somebody on another core waits for the section.
const CONTENDED: u32 = 1 << 31;

impl<P: ThreadScheduler, K: Kernel> Scheduler<P, K> {
    /// Who runs when the policy has chosen this thread; nobody if all depends on one that is blocked.
    #[inline(always)]
    pub(crate) fn runs_for(&self, core: u8, state: &mut State<P>, chosen: Thread) -> Option<Thread> {
        if state.waits[chosen.index()].holder().is_none() {
            return Some(chosen);
        }
        self.end_of_chain(core, state, chosen)
    }

    #[inline(never)]
    fn end_of_chain(&self, core: u8, state: &mut State<P>, chosen: Thread) -> Option<Thread> {
        let mut thread = chosen;
        for _ in 0..MAX_THREADS {
            let wait = &mut state.waits[thread.index()];
            let Some(holder) = wait.holder() else { return Some(thread) };
            // A section that has changed hands holds nobody up: who waited tries again. A holder that has gone away, or to
            // another core, cannot be helped here.
            let section = wait.section().map(|section| self.section_owner(section));
            if section.is_some_and(|owner| owner != Some(holder)) || self.home(holder) != Some(core) {
                wait.set_holder(None);
                return Some(thread);
            }
            if !self.record(holder).status().is_ready() {
                // Those between the two follow as they are chosen.
                self.park(state, thread);
                self.park(state, chosen);
                return None;
            }
            thread = holder;
        }
        // A circle: a deadlock of the clients' own making. The thread chosen is let go.
        state.waits[chosen.index()].set_holder(None);
        Some(chosen)
    }

    fn park(&self, state: &mut State<P>, thread: Thread) {
        let record = self.record(thread);
        let status = record.status();
        if status.is_ready() {
            record.set_status(status.but(Status::PARKED));
            state.parked += 1;
            state.policy.thread_block(thread);
        }
    }

    /// A thread can run again: so can all who depended on it. Those who depend on others leave again when they are chosen.
    #[inline(never)]
    pub(crate) fn unpark(&self, core: u8, state: &mut State<P>) {
        state.parked = 0;
        for thread in (0..MAX_THREADS as u16).map(Thread).filter(|thread| self.home(*thread) == Some(core)) {
            let record = self.record(thread);
            let status = record.status();
            if status.is_parked() {
                record.set_status(status.but(Status::READY));
                state.policy.thread_wakeup(thread);
            }
        }
    }

    /// Who is inside the critical section of this client component.
    pub(crate) fn section_owner(&self, component: u16) -> Option<Thread> {
        let word = self.sections.get(usize::from(component))?.load(Ordering::Acquire);
        (word & !CONTENDED).checked_sub(1).map(|thread| Thread(thread as u16))
    }

    /// Takes the section if it is free; else who has it. `wait` leaves word that a core waits.
    pub(crate) fn try_section(&self, component: u16, me: Thread, wait: bool) -> Result<(), Thread> {
        let Some(section) = self.sections.get(usize::from(component)) else { return Ok(()) };
        let mine = u32::from(me.0) + 1;
        loop {
            match section.compare_exchange(0, mine, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Ok(()),
                Err(word) if word & !CONTENDED == mine => return Ok(()),
                Err(word) if !wait || word & CONTENDED != 0 => {
                    return Err(Thread(((word & !CONTENDED) - 1) as u16));
                }
                Err(word) => {
                    let marked = section.compare_exchange(word, word | CONTENDED, Ordering::AcqRel, Ordering::Acquire);
                    if marked.is_ok() {
                        return Err(Thread((word - 1) as u16));
                    }
                }
            }
        }
    }

    /// Releases the section if this thread has it: whether it had, and whether other cores wait.
    pub(crate) fn leave_section(&self, component: u16, me: Thread) -> Option<bool> {
        let section = self.sections.get(usize::from(component))?;
        if section.load(Ordering::Acquire) & !CONTENDED != u32::from(me.0) + 1 {
            return None;
        }
        Some(section.swap(0, Ordering::AcqRel) & CONTENDED != 0)
    }
}
