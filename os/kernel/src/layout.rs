//! Where the entry code finds what it needs in the kernel's tables: fields, sizes and states, by the names that the assembly
//! under `arch/` has for them.

use crate::arch::entry::ways_in_and_out;
use crate::component::{self, Component, Grant};
use crate::percore::Core;
use crate::thread::{self, Frame, Thread};
use core::mem::{offset_of, size_of};
use tactus_abi::shared::{slot, Slot};

ways_in_and_out! {
    Thread,
    Frame,
    Core,
    current = const offset_of!(Core, current),
    regions = const offset_of!(Core, regions),
    space = const offset_of!(Core, space),
    core_caller = const offset_of!(Core, caller),
    components = sym component::COMPONENTS,
    component_bytes = const size_of::<Component>(),
    component_grants = const offset_of!(Component, grants),
    component_special = const offset_of!(Component, special),
    component_space = const offset_of!(Component, space),
    component_entry = const offset_of!(Component, entry),
    component_special_inside = const offset_of!(Component, is_special_inside),
    grant_shift = const size_of::<Grant>().ilog2(),
    grant_entry = const offset_of!(Grant, entry),
    grant_component = const offset_of!(Grant, component),
    thread_component = const offset_of!(Thread, component),
    thread_depth = const offset_of!(Thread, depth),
    thread_frames = const offset_of!(Thread, frames),
    thread_caller = const offset_of!(Thread, caller),
    thread_fresh_stack = const offset_of!(Thread, fresh_stack),
    frame_component = const offset_of!(Frame, component),
    last_recorded = const ((thread::RECORDED as u32) << 16) | 0xffff,
    plain_timer = sym crate::machine::PLAIN_TIMER,
    line_brands = sym crate::event_source::LINES,
    open_lines = sym crate::event_source::OPEN,
    expiry = const offset_of!(Core, expiry),
    idle = const offset_of!(Core, idle),
    root = const offset_of!(Core, root),
    region = const offset_of!(Core, region),
    tails = const offset_of!(Core, tails),
    upcall = const offset_of!(Core, upcall),
    mark = const offset_of!(Core, mark),
    entered = const offset_of!(Core, entered),
    charged = const offset_of!(Core, charged),
    deferred = const offset_of!(Core, deferred),
    levels = const offset_of!(Core, levels),
    timeouts = const offset_of!(Core, timeouts),
    tick = const offset_of!(Core, tick),
    armed = const offset_of!(Core, armed),
    checked = const cfg!(feature = "check") as u64,
    threads = sym thread::THREADS,
    thread_bytes = const size_of::<Thread>(),
    thread_owner = const thread::OWNER,
    thread_state = const thread::STATE,
    state_inactive = const thread::state::INACTIVE,
    state_scheduler = const thread::state::SCHEDULER,
    state_upcall = const thread::state::SCHEDULER | thread::state::INACTIVE,
    thread_id = const offset_of!(Thread, id),
    thread_argument = const offset_of!(Thread, argument),
    thread_counted = const offset_of!(Thread, counted),
    thread_used = const offset_of!(Thread, used),
    thread_preempter = const offset_of!(Thread, preempter),
    thread_path = const thread::PATH_USED,
}

// What the assembly takes for granted: places are found by shifting, and by three words for a frame.
const _: () = assert!(size_of::<Slot>() == 24 && slot::LINKED == 1);
const _: () = assert!(thread::STATE % 8 == 0 && thread::OWNER == thread::STATE + 4);
const _: () = assert!(size_of::<Grant>().is_power_of_two() && size_of::<Frame>() == 24);
// An invocation writes the component and clears the mark beside it in one piece.
const _: () = assert!(offset_of!(Frame, recorded) == offset_of!(Frame, component) + 2);
