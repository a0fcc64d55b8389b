//! What every scheduler component has beside its policy: taking the kernel's events, the scheduler lock, blocking with
//! dependencies, time-outs, critical sections of clients, children, several cores.
//!
//! The author of a scheduler writes a [`ThreadScheduler`] and one [`scheduler!`]; `docs/writing-a-scheduler.md` shows it from zero.
//! The same program runs as the root of a system, or as a child under any other scheduler of this library.
//!
//! | File | Idea |
//! |---|---|
//! | `thread_scheduler` | the seven functions, and the words in which they speak |
//! | `thread_schedulers` | fixed priorities with round robin, and deferrable servers over it |
//! | `scheduler` | the one loop that takes events, asks the policy and dispatches; blocking and waking |
//! | `depend` | who depends on whom, inside one core |
//! | `events` | what the kernel and other cores told, taken to the policy |
//! | `brands` | upcall threads of brands |
//! | `services` | what other components may call |
//! | `start` | promotion, grants, regions and slots when the system starts |
//! | `region`, `state`, `timeouts`, `mailbox` | what is kept |
//! | `kernel` | what is asked of the machine |
//! | `runtime`, `recovery` | with the feature `runtime`: what a scheduler has that hosts a policy of `tactus-policy` |
//! | `root` | with the same feature: the root scheduler of a system that has one scheduler |
//!
//! **Trust.** A scheduler trusts those above it and nothing below: what a child or a client passes in is checked, and what
//! it corrupts is its own. **Bounds.** Every loop in a critical section is bounded by the number of threads; the loop around
//! a dispatch repeats only because something happened in between (Parmer and West 2013, section 6).
#![cfg_attr(not(any(test, loom)), no_std)]

#[cfg(feature = "runtime")]
extern crate alloc;

mod brands;
mod depend;
mod events;
mod kernel;
pub mod mailbox;
#[cfg(feature = "runtime")]
pub mod recovery;
#[cfg(feature = "runtime")]
pub mod root;
#[cfg(feature = "runtime")]
pub mod runtime;
mod scheduler;
pub mod services;
mod start;
mod state;
mod thread_scheduler;
pub mod thread_schedulers;
mod timeouts;

pub use kernel::{Kernel, Machine, PARENT_CREATE, PARENT_WAKEUP};
pub use scheduler::Scheduler;
pub use state::Core;
pub use tactus_rt as rt;
pub use thread_scheduler::{Choice, Clock, Cycles, Parameters, Thread, ThreadScheduler, Urgency, View};
pub use timeouts::MAX_TIMEOUTS;
