//! What belongs to one core: its block, found through the GS base, and its stacks.
//!
//! Only the owning core touches its block, and only inside the kernel, which is not preemptible.

use crate::arch::descriptors::{Descriptors, FAULT_STACKS};
use crate::arch::port::core_block;
use crate::brand::Brand;
use crate::path::Scheduler;
use crate::thread::{self, Thread};
use tactus_abi::layout::{MAX_COMPONENTS, MAX_CORES, MAX_SCHEDULERS};
use tactus_abi::shared::Region;

/// Offset of [`Core::kernel_stack`].
pub const CORE_KERNEL_STACK: usize = 8;
/// Offset of [`Core::scratch`].
pub const CORE_SCRATCH: usize = 16;

/// One core's block. Known to the entry code.
#[repr(C, align(64))]
pub struct Core {
    /// This block's own address.
    pub this: *mut Core,
    /// Upper end of the core's kernel stack.
    pub kernel_stack: u64,
    /// A place to put one register.
    pub scratch: u64,
    /// Places to put three more.
    pub aside: [u64; 3],
    /// Zero: a segment without meaning.
    pub no_selector: u64,
    /// The running thread; null if the core idles.
    pub current: *mut Thread,
    /// The upcall of the root scheduler.
    pub upcall: *mut Thread,
    /// Shared with the root scheduler.
    pub region: *mut Region,
    /// The root scheduler's number.
    pub root: u64,
    /// The core's number.
    pub id: u64,
    /// What marks a thread as this core's, see [`thread::mark`].
    pub mark: u64,
    /// Its part of what an invoked component is told about its caller ([`tactus_abi::call::Caller`]).
    pub caller: u64,
    /// Its APIC number.
    pub apic: u8,
    /// The address space that is loaded.
    pub space: crate::arch::paging::AddressSpace,
    /// The next time-out or tick, in time-stamp ticks; `NO_TIMEOUT` if none.
    pub expiry: u64,
    /// What the timer is set for; something that no time-out is where it must be set each time.
    pub armed: u64,
    /// How many of `timeouts` count.
    pub levels: usize,
    /// The time-outs of the schedulers in force, root first, in time-stamp ticks.
    pub timeouts: [u64; MAX_SCHEDULERS],
    /// Whose they are.
    pub owners: [Option<Scheduler>; MAX_SCHEDULERS],
    /// When the core's tick is due, in time-stamp ticks; `NO_TIMEOUT` if it has none.
    pub tick: u64,
    /// From one tick to the next, in time-stamp ticks; 0 if it has none.
    pub tick_period: u64,
    /// The brand that its tick triggers.
    pub ticking: Option<&'static Brand>,
    /// The source that the brand is wired to for as long as it ticks.
    pub tick_source: u64,
    /// An upcall was left to the schedulers since the root last dispatched.
    pub deferred: bool,
    /// Time-stamp ticks in which nobody ran.
    pub idle: u64,
    /// When the kernel was last entered, in time-stamp ticks.
    pub entered: u64,
    /// Why: see [`tactus_abi::shared::cause`].
    pub cause: u64,
    /// When the kernel was last left, in time-stamp ticks.
    pub left: u64,
    /// What the others take, in time-stamp ticks, between setting the timer and going on, where cores take turns; see
    /// `slice::end_turn`.
    pub lags: [u64; 2],
    /// Whether it was last given a long slice.
    pub long: bool,
    /// When time was last charged to a thread, in time-stamp ticks.
    pub charged: u64,
    /// Whether the floating-point unit is open: the component that was entered last has it.
    pub floating_point: bool,
    /// Segment descriptors and task state.
    pub descriptors: Descriptors,
    /// The core's region of each component; [`NOBODYS_REGION`] for those that have none.
    pub regions: [*mut Region; MAX_COMPONENTS],
    /// The end of the event list in each of them.
    pub tails: [u16; MAX_COMPONENTS],
}

/// Stands for the region of components that are no schedulers: nothing ever waits in it.
pub static mut NOBODYS_REGION: core::mem::MaybeUninit<Region> = core::mem::MaybeUninit::zeroed();

/// Stands in [`Core::armed`] for no time-out. (A time-out of this length is never set; never is one more.)
pub const UNARMED: u64 = u64::MAX - 1;

const STACK_BYTES: usize = 8 * 1024;
const PAGE: usize = 4096;

/// A stack above a page that is never mapped: whoever goes beyond the stack's end faults at once.
#[repr(C, align(4096))]
struct Stack<const BYTES: usize> {
    guard: [u8; PAGE],
    bytes: [u8; BYTES],
}

impl<const BYTES: usize> Stack<BYTES> {
    const EMPTY: Self = Stack { guard: [0; PAGE], bytes: [0; BYTES] };
}

/// A block that exists but is not in use yet.
#[allow(clippy::declare_interior_mutable_const)]
const UNUSED: Core = Core {
    this: core::ptr::null_mut(),
    kernel_stack: 0,
    scratch: 0,
    aside: [0; 3],
    no_selector: 0,
    current: core::ptr::null_mut(),
    upcall: core::ptr::null_mut(),
    region: core::ptr::null_mut(),
    root: 0,
    id: 0,
    mark: 0,
    caller: 0,
    apic: 0,
    space: crate::arch::paging::AddressSpace::NONE,
    expiry: 0,
    armed: UNARMED,
    levels: 1,
    timeouts: [tactus_abi::call::NO_TIMEOUT; MAX_SCHEDULERS],
    owners: [None; MAX_SCHEDULERS],
    tick: tactus_abi::call::NO_TIMEOUT,
    tick_period: 0,
    ticking: None,
    tick_source: 0,
    deferred: false,
    idle: 0,
    entered: 0,
    cause: tactus_abi::shared::cause::START,
    left: 0,
    lags: [0; 2],
    long: false,
    charged: 0,
    floating_point: false,
    descriptors: Descriptors::EMPTY,
    regions: [(&raw mut NOBODYS_REGION).cast(); MAX_COMPONENTS],
    tails: [0; MAX_COMPONENTS],
};

static mut CORES: [Core; MAX_CORES] = [UNUSED; MAX_CORES];
static mut KERNEL_STACKS: [Stack<STACK_BYTES>; MAX_CORES] = [const { Stack::EMPTY }; MAX_CORES];
static mut FAULT_STACK_OF: [[Stack<PAGE>; FAULT_STACKS]; MAX_CORES] =
    [const { [const { Stack::EMPTY }; FAULT_STACKS] }; MAX_CORES];

/// The block of core `id`, for setting it up.
pub fn of(id: usize) -> *mut Core {
    assert!(id < MAX_CORES);
    // SAFETY: in bounds by the line above.
    unsafe { (&raw mut CORES).cast::<Core>().add(id) }
}

/// Upper end of core `id`'s kernel stack.
pub fn kernel_stack(id: usize) -> u64 {
    // SAFETY: one past the end of a stack inside the array.
    unsafe { (&raw mut KERNEL_STACKS).cast::<Stack<STACK_BYTES>>().add(id + 1) as u64 }
}

/// Upper ends of core `id`'s stacks for what has a stack of its own.
fn fault_stacks(id: usize) -> [u64; FAULT_STACKS] {
    let first = (&raw mut FAULT_STACK_OF).cast::<Stack<PAGE>>();
    // SAFETY: one past the end of a stack inside the array.
    core::array::from_fn(|number| unsafe { first.add(id * FAULT_STACKS + number + 1) as u64 })
}

/// The guard pages of all stacks, by their addresses.
pub fn guards() -> impl Iterator<Item = u64> {
    let kernel = (&raw const KERNEL_STACKS).cast::<Stack<STACK_BYTES>>();
    let fault = (&raw const FAULT_STACK_OF).cast::<Stack<PAGE>>();
    // A guard is a stack's first page.
    let kernel = (0..MAX_CORES).map(move |id| kernel.wrapping_add(id) as u64);
    kernel.chain((0..MAX_CORES * FAULT_STACKS).map(move |number| fault.wrapping_add(number) as u64))
}

/// Whether this address lies in the page below a stack.
pub fn is_guard(address: u64) -> bool {
    guards().any(|guard| address & !(PAGE as u64 - 1) == guard)
}

/// The current core's block.
///
/// # Safety
/// Only inside the kernel after `set_up`, and no other reference to the block may be alive.
pub unsafe fn current() -> &'static mut Core {
    // SAFETY: the block was set up, and its first field is its address; no other reference is alive, by the caller's promise.
    unsafe { &mut *core_block::<Core>() }
}

/// Fills the current core's block and makes it current: descriptors, the way in for calls, GS base.
pub fn set_up(id: usize, apic: u8) {
    let core = of(id);
    // SAFETY: each core does this once, for its own block, before it uses it.
    unsafe {
        (*core).this = core;
        (*core).id = id as u64;
        (*core).mark = thread::mark(id as u64);
        (*core).caller = (id as u64) << 32;
        (*core).apic = apic;
        (*core).kernel_stack = kernel_stack(id);
        (*core).expiry = tactus_abi::call::NO_TIMEOUT;
        (*core).descriptors.load(kernel_stack(id), fault_stacks(id));
        crate::arch::descriptors::set_up_calls(core as u64);
    }
}
