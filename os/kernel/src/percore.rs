//! What belongs to one core: its block, and its stacks.
//!
//! Only the owning core touches its block, and only inside the kernel, which is not preemptible.

use crate::arch::block::{self, Head, Processor, FAULT_STACKS};
use crate::arch::{interrupts, slices};
use crate::brand::Brand;
use crate::path::Scheduler;
use crate::thread::{self, Thread};
use tactus_abi::layout::{MAX_COMPONENTS, MAX_CORES, MAX_SCHEDULERS};
use tactus_abi::shared::Region;

/// One core's block. Known to the entry code.
#[repr(C, align(64))]
pub struct Core {
    /// What the entry code finds it by and keeps in it.
    pub head: Head,
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
    /// By what other cores interrupt it.
    pub address: interrupts::Address,
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
    /// Its slices, where cores take turns.
    pub slices: slices::State,
    /// When time was last charged to a thread, in time-stamp ticks.
    pub charged: u64,
    /// Whether the floating-point unit is open: the component that was entered last has it.
    pub floating_point: bool,
    /// What the processor is told of the core.
    pub processor: Processor,
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
    head: Head::EMPTY,
    current: core::ptr::null_mut(),
    upcall: core::ptr::null_mut(),
    region: core::ptr::null_mut(),
    root: 0,
    id: 0,
    mark: 0,
    caller: 0,
    address: 0,
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
    slices: slices::State::NEW,
    charged: 0,
    floating_point: false,
    processor: Processor::EMPTY,
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
    unsafe { &mut *block::current::<Core>() }
}

/// Fills the current core's block and makes it current, with the way in for calls.
pub fn set_up(id: usize, address: interrupts::Address) {
    let core = of(id);
    // SAFETY: each core does this once, for its own block, before it uses it.
    unsafe {
        (*core).head = Head::new(core as u64, kernel_stack(id));
        (*core).id = id as u64;
        (*core).mark = thread::mark(id as u64);
        (*core).caller = (id as u64) << 32;
        (*core).address = address;
        (*core).expiry = tactus_abi::call::NO_TIMEOUT;
        (*core).processor.load(kernel_stack(id), fault_stacks(id));
        block::set_up_calls(core as u64);
    }
}
