//! Breaks a rule on purpose, so that tests see that it is found. Only with the feature `fault-injection`: the root asks for it by a call
//! that does not exist otherwise.

use super::threads;
use crate::arch::paging::{self, direct};
use crate::arch::protect::physical;
use crate::component;
use crate::memory;
use crate::path::{self, Entry, Rank, Scheduler};
use crate::percore::Core;
use crate::thread::shared::SharedThread;
use crate::thread::{state, Thread};
use core::sync::atomic::Ordering::SeqCst;
use tactus_abi::call::Error;

/// The call: this, plus what is to be broken.
const CALL: u64 = 0x7461_6374_0000;
/// How many ways of breaking something there are.
const WAYS: u64 = 22;

/// What the call comes to, if it is this one. `Again` if there is nothing yet that could be broken so.
pub fn asked(core: &mut Core, caller: &mut Thread) -> Option<Result<(), Error>> {
    let way = caller.registers.call().checked_sub(CALL).filter(|&way| way < WAYS)?;
    if !component::get(caller.component).is_root() {
        return Some(Err(Error::NotRoot));
    }
    Some(inject(core, caller, way).ok_or(Error::Again))
}

/// A scheduler other than the root, at this depth at least.
fn child(depth: usize) -> Option<(u16, Scheduler)> {
    let of = |number| path::scheduler(number).map(|it| (number, it));
    (0..crate::machine::components()).filter_map(of).find(|(_, it)| it.depth >= depth)
}

/// A component that is no scheduler.
fn client() -> Option<u16> {
    (0..crate::machine::components()).find(|&number| component::get(number).rank().depth().is_none())
}

fn inject(core: &mut Core, caller: &mut Thread, way: u64) -> Option<()> {
    let own = &raw const *caller;
    // A thread that nobody has, under the root alone.
    let free = || threads().find(|it| !it.is(own) && it.path().is_roots() && it.take_idle(core.id));
    match way {
        // Nothing.
        0 => {}
        // The running thread is another core's.
        1 => caller.hand_to((core.id + 1) % crate::machine::cores() as u64),
        // A thread that does not run stays this core's.
        2 => {
            free()?;
        }
        // Who runs is an upcall that has ended.
        3 => caller.set(state::INACTIVE),
        // The component of whoever runs was stopped, and this core has looked.
        4 => component::get(caller.component).stop(),
        // A thread that the root does not schedule.
        5 => release(free()?, |it| it.path().set(0, Entry::NONE)),
        // A thread under a scheduler without that one's parent.
        6 => {
            let (_, scheduler) = child(2)?;
            release(free()?, |it| it.path().set(scheduler.depth, Entry::new(scheduler.identity, 0)));
        }
        // A scheduler at a depth that is not its own.
        7 => {
            let (_, scheduler) = child(1)?;
            release(free()?, |it| it.path().set(scheduler.depth + 1, Entry::new(scheduler.identity, 0)));
        }
        // A second root.
        8 => component::get(client()?).rank.store(Rank::root(client()?).0, SeqCst),
        // A scheduler as deep as its parent: itself.
        9 => {
            let (number, scheduler) = child(1)?;
            let rank = component::get(number).rank();
            component::get(number).rank.store(rank.below(scheduler.identity).0, SeqCst);
        }
        // A rank of another component.
        10 => {
            let (number, _) = child(1)?;
            component::get(client()?).rank.store(component::get(number).rank().0, SeqCst);
        }
        // A promotion is forgotten.
        11 => component::get(child(1)?.0).rank.store(0, SeqCst),
        // A scheduler's upcall that its parent does not dispatch.
        12 => {
            let (number, scheduler) = child(2)?;
            let upcall = crate::thread::any(u64::from(component::get(number).upcalls[0].checked_sub(1)?))?;
            // SAFETY: a path is of atomics.
            unsafe { (*upcall).path().set(scheduler.depth - 1, Entry::NONE) };
        }
        // Two threads with one slot.
        13 => {
            let (one, other) = (free()?, free()?);
            let root = core.root().identity;
            release(one, |it| it.path().set(0, Entry::new(root, 199)));
            release(other, |it| it.path().set(0, Entry::new(root, 199)));
        }
        // Time that nobody had.
        14 => caller.used += 1,
        // A page of a component's program may be written.
        15 => {
            let mut first = None;
            component::get(client()?).space.look(&mut |place, entry| {
                if paging::is_executable(entry) && paging::frame_of(entry) != 0 {
                    first = Some(place);
                }
            });
            // SAFETY: an entry of a table, which is never taken away.
            unsafe { *first? = paging::with_write_turned(*first?) };
        }
        // A window shows a frame that was not given out.
        16 => memory::break_window(true)?,
        // A frame is noted to be shown once more than it is.
        17 => memory::break_window(false)?,
        // A frame that is written counts as one that is executed.
        18 => memory::break_usage()?,
        // The kernel's stack is too small.
        19 => _ = deeper(core::hint::black_box(1)),
        // The kernel's text is written, at its own address and in the map of all memory.
        20 => write_text(inject as *const () as u64),
        21 => write_text(direct::<u8>(physical(inject as *const () as u64)?) as u64),
        _ => return None,
    }
    Some(())
}

#[inline(never)]
#[allow(unconditional_recursion)]
fn deeper(depth: u64) -> u64 {
    let room = core::hint::black_box([depth; 64]);
    deeper(depth + 1) + room[depth as usize % 64]
}

fn write_text(address: u64) {
    // SAFETY: none: the processor must not allow it.
    unsafe { (address as *mut u8).write_volatile(0x90) }
}

/// Does this with the thread, which this core has, and gives it up.
fn release(thread: SharedThread, change: impl FnOnce(SharedThread)) {
    change(thread);
    thread.release();
}
