//! Set-up: regions, children, first threads.
//!
//! The first core that comes in sets up what all cores share; each core then takes in its own children. Children are the
//! components whose parent, in the system file, is this scheduler; they go in the file's order, the first one the most
//! urgent. Every component that is no scheduler and may have threads gets its first one from the scheduler after which it is
//! named: `left-sensor` from the scheduler `left`, a component whose name begins with no scheduler's from the root. That
//! thread makes all others, by [`crate::services`]. The root also begins the thread of every task of the system file, on
//! its first core, once; periods are for policies that know them.

use crate::kernel::Kernel;
use crate::scheduler::Scheduler;
use crate::state::State;
use crate::thread_scheduler::{Cycles, Parameters, Thread, ThreadScheduler};
use core::sync::atomic::Ordering;
use tactus_abi::call::{Error, SchedulerOperation, SWITCH_RETURN};
use tactus_abi::image::role;
use tactus_abi::layout::MAX_COMPONENTS;
use tactus_abi::shared::{name_text, ComponentCard};
use tactus_rt::scheduler::ThreadRegion;

/// The priority of the first child; the others follow.
pub const FIRST_CHILD: u16 = 8;

/// Phases of the set-up.
const NEW: u8 = 0;
const BUSY: u8 = 1;
const READY: u8 = 2;

impl<P: ThreadScheduler, K: Kernel> Scheduler<P, K> {
    /// This component's card.
    pub(crate) fn own_card(&self) -> Option<&ComponentCard> {
        self.kernel.cards().get(usize::from(self.kernel.place().0))
    }

    /// Whether this is the root of the tree.
    pub(crate) fn is_root(&self) -> bool {
        self.own_card().is_none_or(|card| card.role & role::ROOT != 0)
    }

    /// The upcall thread of a core.
    pub(crate) fn upcall_thread(&self, core: u8) -> Thread {
        let first = if self.is_root() { 0 } else { self.own_card().map_or(0, |card| card.first_upcall) };
        Thread((first + u32::from(core)) as u16)
    }

    /// A child's upcall thread of a core. Children are counted by their components' numbers.
    pub(crate) fn child_upcall(&self, child: usize, core: u8) -> Thread {
        let first = self.kernel.cards().get(child).map_or(0, |card| card.first_upcall);
        Thread((first + u32::from(core)) as u16)
    }

    /// Numbers of the children's components.
    pub(crate) fn children(&self) -> impl Iterator<Item = usize> + '_ {
        let own = u32::from(self.kernel.place().0);
        let scheduler = move |card: &ComponentCard| card.role & role::SCHEDULER != 0 && card.parent == own;
        self.kernel.cards().iter().enumerate().filter(move |(_, card)| scheduler(card)).map(|(number, _)| number)
    }

    /// A quantum in ticks of the time-stamp counter.
    pub(crate) fn quantum(&self) -> Cycles {
        Cycles(self.kernel.cycles(self.quantum_nanos).0.max(1))
    }

    /// A core's first look. Inside its critical section.
    #[cold]
    pub(crate) fn start(&self, core: u8, region: ThreadRegion, state: &mut State<P>) {
        state.started = true;
        let first = self.phase.compare_exchange(NEW, BUSY, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if first {
            self.set_up();
            self.phase.store(READY, Ordering::Release);
        }
        while self.phase.load(Ordering::Acquire) != READY {
            core::hint::spin_loop();
        }
        state.next_tick = self.kernel.now().after(self.quantum());
        state.then = if self.is_root() { SWITCH_RETURN } else { 0 };
        for (place, child) in self.children().enumerate() {
            let upcall = self.child_upcall(child, core);
            let server = u8::try_from(place + 1).unwrap_or(u8::MAX);
            let parameters = Parameters::priority_of(FIRST_CHILD + place as u16).in_server(server);
            self.record(upcall).set_core(Some(core));
            self.record(upcall).set_parameters(parameters);
            self.admit(region, state, upcall);
        }
        if first {
            self.first_threads(core, region, state);
        }
    }

    /// What all cores share.
    fn set_up(&self) {
        let (_, cores) = self.kernel.place();
        // Refused where the kernel shares it already.
        let _ = self.kernel.control(SchedulerOperation::Region, 0, 0);
        for child in self.children() {
            // A child that cannot be promoted never runs; the system goes on without it.
            let _ = self.kernel.control(SchedulerOperation::Promote, 0, child as u64);
            for core in 0..cores {
                self.bind(self.child_upcall(child, core));
            }
        }
    }

    /// Gives the thread its event slot.
    pub(crate) fn bind(&self, thread: Thread) {
        let _ = self.kernel.control(SchedulerOperation::Slot, thread.0.into(), thread.slot() as u64);
    }

    /// Makes the first thread of every component that is named after this scheduler.
    fn first_threads(&self, core: u8, region: ThreadRegion, state: &mut State<P>) {
        for thread in self.kernel.tasks().iter().filter_map(|task| Thread::new(task.thread)) {
            self.take_in(core, region, state, thread);
        }
        let own = usize::from(self.kernel.place().0);
        for (number, card) in self.kernel.cards().iter().enumerate().take(MAX_COMPONENTS) {
            let threads = card.spares > 0 && card.role & (role::ROOT | role::SCHEDULER) == 0;
            if threads && self.named_after(name_text(&card.name)) == own {
                let made = self.kernel.create_thread(self.is_root(), number as u64, 0, [0; 2]);
                // A parent without threads left leaves the component without.
                let Ok(thread) = made else { continue };
                self.take_in(core, region, state, thread);
            }
        }
    }

    /// A first thread is this core's.
    fn take_in(&self, core: u8, region: ThreadRegion, state: &mut State<P>, thread: Thread) {
        self.bind(thread);
        self.record(thread).set_core(Some(core));
        self.record(thread).set_parameters(Parameters::DEFAULT);
        state.seen[thread.index()] = region.cycles(thread.0);
        self.admit(region, state, thread);
    }

    /// The scheduler after which a component is named: the longest name that fits; the root if there is none.
    fn named_after(&self, name: &str) -> usize {
        let scheduler = |card: &&(usize, &ComponentCard)| card.1.role & role::SCHEDULER != 0;
        let fits = |card: &&(usize, &ComponentCard)| {
            name.strip_prefix(name_text(&card.1.name)).is_some_and(|rest| rest.starts_with('-'))
        };
        let all = self.kernel.cards().iter().enumerate();
        let longest = |card: &(usize, &ComponentCard)| name_text(&card.1.name).len();
        all.filter(|card| scheduler(&card) && fits(&card)).max_by_key(longest).map_or(0, |(number, _)| number)
    }

    /// Makes a thread for a child, which then holds it.
    pub(crate) fn create_for_child(&self, child: usize, component: u64, words: [u64; 2]) -> Result<Thread, Error> {
        let thread = self.kernel.create_thread(self.is_root(), component, 0, words)?;
        self.record(thread).set_under(child);
        self.bind(thread);
        match self.kernel.control(SchedulerOperation::Grant, thread.0.into(), child as u64) {
            // It was made by a thread of the child's and has its path.
            Ok(()) | Err(Error::Held) => Ok(thread),
            Err(error) => Err(error),
        }
    }
}
