//! Upcalls of brands: threads that the kernel begins by itself where their slot's urgency lets it.
//!
//! The policy hears of them as of any thread: new and blocked here, woken when a trigger comes, blocked when the upcall has
//! ended.

use crate::kernel::Kernel;
use crate::scheduler::Scheduler;
use crate::services::Answer;
use crate::thread_scheduler::{Parameters, Thread, ThreadScheduler};
use tactus_abi::call::{Caller, Error};

impl<P: ThreadScheduler, K: Kernel> Scheduler<P, K> {
    /// Gives a brand one more upcall thread, on the caller's core. Gives the thread. The root scheduler only; whom to trust
    /// with an urgency is for the component's own service to say, which calls this.
    ///
    /// # Errors
    /// As the kernel's call; [`Error::BadCore`] if the parameters name another core.
    pub fn add_upcall(&self, caller: Caller, brand: u64, parameters: Parameters) -> Answer {
        let core = caller.core();
        if parameters.core().is_some_and(|wanted| wanted != core) {
            return Err(Error::BadCore);
        }
        let thread = self.kernel.add_upcall(brand)?;
        self.bind(thread);
        let region = self.region(core);
        self.locked(core, Thread(caller.thread()), |state| {
            // One that the brand had in its maker's life before: it comes anew.
            if self.is_here(state, thread) {
                self.remove(state, thread);
            }
            self.record(thread).set_core(Some(core));
            self.record(thread).set_parameters(parameters);
            state.seen[thread.index()] = region.cycles(thread.0);
            self.admit(region, state, thread);
            // It is blocked until a trigger comes.
            self.block(state, thread);
        });
        Ok(thread.0.into())
    }
}
