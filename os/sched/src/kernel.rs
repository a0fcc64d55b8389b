//! The kernel, as the library uses it; a fake one stands in its place in tests on the host.

use crate::thread_scheduler::{Clock, Cycles, Thread};
use tactus_rt::abi::call::BrandOperation;
use tactus_rt::abi::shared::{ComponentCard, TaskCard};
use tactus_rt::calls::{self, Error, SchedulerOperation};
use tactus_rt::cards::components;
use tactus_rt::scheduler::task_cards;
use tactus_rt::scheduler::ThreadRegion;
use tactus_rt::time as rt_time;
use tactus_rt::{clock, info};

/// What the library asks of the machine.
pub trait Kernel: Clock {
    /// A core's region.
    fn region(&self, core: u8) -> ThreadRegion;
    /// Takes the scheduler lock of the region.
    fn take_lock(&self, region: ThreadRegion, thread: Thread);
    /// Releases it.
    fn release_lock(&self, region: ThreadRegion);
    /// Gives the core to a thread.
    ///
    /// # Errors
    /// As the kernel's call.
    fn switch_thread(&self, thread: u64, flags: u64, timeout: Cycles) -> Result<(), Error>;
    /// Sends an event to this scheduler on another core.
    fn notify(&self, core: u8);
    /// Changes the tree of schedulers.
    ///
    /// # Errors
    /// As the kernel's call.
    fn control(&self, operation: SchedulerOperation, thread: u64, other: u64) -> Result<(), Error>;
    /// Makes a thread: by the kernel for a root scheduler, by the parent for others.
    ///
    /// # Errors
    /// As the kernel's call; [`Error::NotGranted`] if there is a parent that this scheduler may not call.
    fn create_thread(&self, root: bool, component: u64, parameters: u64, words: [u64; 2]) -> Result<Thread, Error>;
    /// Gives a brand an upcall thread. The root scheduler only.
    ///
    /// # Errors
    /// As the kernel's call.
    fn add_upcall(&self, brand: u64) -> Result<Thread, Error>;
    /// Tells the parent that there is something to do here.
    fn tell_parent(&self);
    /// The number of this component and of the cores.
    fn place(&self) -> (u16, u8);
    /// All components.
    fn cards(&self) -> &[ComponentCard];
    /// Ends the run; why not.
    fn finish(&self, code: u64) -> Error;
    /// The tasks of the system file; none for a child.
    fn tasks(&self) -> &[TaskCard];
}

/// The real one.
pub struct Machine;

/// The name under which a child's `uses` has its parent's `sched_create_thread`.
pub const PARENT_CREATE: &str = "parent_create";
/// The name under which a child's `uses` has its parent's `sched_child_wakeup`.
pub const PARENT_WAKEUP: &str = "parent_wakeup";

impl Clock for Machine {
    #[inline(always)]
    fn now(&self) -> Cycles {
        Cycles(clock::time_stamp())
    }
    fn cycles(&self, nanos: u64) -> Cycles {
        let start = clock::reading(rt_time::Instant::ZERO);
        Cycles(clock::reading(rt_time::Instant::from_nanos(nanos)).saturating_sub(start))
    }
    fn nanos(&self, cycles: Cycles) -> u64 {
        clock::ticks_to_nanos(cycles.0)
    }
}

impl Kernel for Machine {
    #[inline(always)]
    fn region(&self, core: u8) -> ThreadRegion {
        ThreadRegion::of(core)
    }
    #[inline(always)]
    fn take_lock(&self, region: ThreadRegion, thread: Thread) {
        region.take_lock(thread.0);
    }
    #[inline(always)]
    fn release_lock(&self, region: ThreadRegion) {
        region.release_lock();
    }
    #[inline(always)]
    fn switch_thread(&self, thread: u64, flags: u64, timeout: Cycles) -> Result<(), Error> {
        calls::switch_thread(thread, flags, timeout.0)
    }
    fn notify(&self, core: u8) {
        // Cores are counted in `place`; no other is named.
        let _ = calls::notify(core);
    }
    fn control(&self, operation: SchedulerOperation, thread: u64, other: u64) -> Result<(), Error> {
        calls::scheduler_control(operation, thread, other)
    }
    fn create_thread(&self, root: bool, component: u64, parameters: u64, words: [u64; 2]) -> Result<Thread, Error> {
        let number = if root {
            calls::create_thread(component, words)?
        } else {
            let [number, error] =
                tactus_rt::grant(PARENT_CREATE).call([component, parameters, words[0], words[1], 0])?;
            match Error::from_u64(error) {
                Some(Error::None) => number,
                other => return Err(other.unwrap_or(Error::BadCall)),
            }
        };
        Thread::new(number).ok_or(Error::BadThread)
    }
    fn add_upcall(&self, brand: u64) -> Result<Thread, Error> {
        let number = calls::brand_control(BrandOperation::AddUpcall, brand, 0)?;
        Thread::new(number).ok_or(Error::BadThread)
    }
    fn tell_parent(&self) {
        // A scheduler that may not call its parent is looked at when the parent likes.
        let _ = tactus_rt::grant(PARENT_WAKEUP).call([0; 5]);
    }
    fn place(&self) -> (u16, u8) {
        (info().component as u16, info().cores as u8)
    }
    fn cards(&self) -> &[ComponentCard] {
        components()
    }
    fn tasks(&self) -> &[TaskCard] {
        // Only the root sees them: it alone is told how long the run is.
        if info().duration > 0 {
            task_cards()
        } else {
            &[]
        }
    }
    fn finish(&self, code: u64) -> Error {
        let status = calls::raw(tactus_rt::abi::call::Call::Finish as u64, [code, 0, 0, 0, 0, 0]);
        Error::from_u64(status).unwrap_or(Error::BadCall)
    }
}
