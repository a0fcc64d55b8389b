//! What a stopped slot is: its pages and its threads' registers, copied into frames of its loader's and back again.
//!
//! Each operation copies one page, or the registers of one thread. A thread is saved only where nobody called it and it calls nobody: in
//! the middle of another component's service it is left alone. What is written into a thread's registers comes from memory that the
//! loader can change. So segments and the flag of interrupts are the kernel's own, whatever stands there, and a state that the kernel
//! would not have saved so is refused.

use crate::arch::cpu::copy_and_clear;
use crate::arch::paging::direct;
use crate::arch::registers::Registers;
use crate::component::Component;
use crate::percore::Core;
use crate::thread::{self, state, Thread};
use crate::{memory, restart, stop};
use tactus_abi::call::{Error, SnapshotOperation, ThreadState, THREAD_STATES};
use tactus_abi::layout::{PAGE, WINDOW_PAGES};

/// `(operation, component, what, frame, place)`.
pub fn control(core: &Core, caller: u16, [operation, component, what, frame, place]: [u64; 5]) -> Result<(), Error> {
    let (number, slot) = restart::own_slot(caller, component)?;
    let is = |it: SnapshotOperation| it as u64 == operation;
    if is(SnapshotOperation::Look) {
        if slot.is_stopped() {
            return Err(Error::ComponentStopped);
        }
        return with_thread(core, (number, slot), what, |_| Ok(()));
    }
    if !slot.is_stopped() {
        return Err(Error::NotStopped);
    }
    if !stop::everybody_has_left(number) {
        return Err(Error::Busy);
    }
    if is(SnapshotOperation::SavePage) {
        return with_page(number, what, frame, copy);
    }
    if is(SnapshotOperation::RestorePage) {
        return with_page(number, what, frame, |frame, page| copy(page, frame));
    }
    if place >= THREAD_STATES {
        return Err(Error::BadArgument);
    }
    let at = |frame: u64| direct::<ThreadState>(frame).wrapping_add(place as usize);
    let with_state = |use_it: &mut dyn FnMut(*mut ThreadState, &mut Thread) -> Result<(), Error>| {
        with_thread(core, (number, slot), what, |thread| {
            memory::with_frames(frame, None, |frame, _| use_it(at(frame), thread))
        })
    };
    if is(SnapshotOperation::SaveThread) {
        return with_state(&mut |place, thread| {
            let state = thread.registers.kept();
            // SAFETY: inside a frame of the loader's, aligned.
            unsafe { place.write_volatile(state) };
            Ok(())
        });
    }
    if is(SnapshotOperation::RestoreThread) {
        return with_state(&mut |place, thread| {
            // SAFETY: as above; taken once, since another thread of the loader may change it.
            let state = unsafe { place.read_volatile() };
            thread.registers = Registers::of_kept(&state).ok_or(Error::BadArgument)?;
            Ok(())
        });
    }
    Err(Error::BadArgument)
}

/// With a thread at home in the slot, which is there, called by nobody and inside of nobody.
fn with_thread(
    core: &Core,
    (number, slot): (u16, &Component),
    thread: u64,
    use_it: impl FnOnce(&mut Thread) -> Result<(), Error>,
) -> Result<(), Error> {
    let thread = thread::get(thread).ok_or(Error::BadThread)?;
    // SAFETY: a place of the table. Its home and what it is were set during set-up.
    let is_own = unsafe { (*thread).home == number && (*thread).lacks(state::BRAND | state::SCHEDULER | state::SPARE) };
    if !is_own {
        return Err(Error::BadThread);
    }
    if slot.has_floating_point() {
        return Err(Error::NotAllowed);
    }
    // SAFETY: as above; whoever takes it has it alone.
    let it = unsafe {
        if core::ptr::eq(thread, core.current) || !(*thread).take(core.id) {
            return Err(Error::Busy);
        }
        &mut *thread
    };
    let result = if !it.lacks(state::STOPPED) {
        Err(Error::ThreadStopped)
    } else if it.component != number || it.depth != 0 {
        Err(Error::InUse)
    } else {
        use_it(it)
    };
    it.release();
    result
}

/// With a frame of the loader's and the frame of a page of the slot.
fn with_page(slot: u16, page: u64, frame: u64, use_it: impl FnOnce(u64, u64)) -> Result<(), Error> {
    match page.checked_sub(WINDOW_PAGES) {
        None => memory::with_frames(frame, Some((slot, page)), |frame, page| {
            use_it(frame, page.ok_or(Error::BadPage)?);
            Ok(())
        }),
        Some(own) => {
            let page = restart::own_page(slot, own)?;
            memory::with_frames(frame, None, |frame, _| {
                use_it(frame, page);
                Ok(())
            })
        }
    }
}

fn copy(to: u64, from: u64) {
    if to != from {
        // SAFETY: two frames, one of the loader's and one of a slot that is stopped and that nobody is in.
        unsafe { copy_and_clear(direct(to), direct(from), PAGE / 8, 0) };
    }
}
