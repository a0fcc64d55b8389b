//! Pages of programs: written by way of the loader's own window, then shown in the slot's.

use crate::Failed;
use tactus_package::load::{Loading, PAGES};
use tactus_package::program::{Access, Program};
use tactus_rt::abi::layout::{PAGE, PROGRAM};
use tactus_rt::abi::slot::SlotCard;
use tactus_rt::calls::{self, MemoryOperation};
use tactus_rt::{info, slots, Error};

/// How often the kernel is asked again at most: by then every core has looked.
const PATIENCE: usize = 100_000;

/// Asks until no other core is in the way.
pub fn patiently<T>(ask: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
    for _ in 0..PATIENCE {
        match ask() {
            Err(Error::Busy | Error::InUse) => core::hint::spin_loop(),
            other => return other,
        }
    }
    Err(Error::Busy)
}

pub fn control(operation: MemoryOperation, component: u32, address: u64, page: u64) -> Result<u64, Error> {
    patiently(|| calls::memory_control(operation, component.into(), address, page)).map(|[first, _]| first)
}

/// Writes these pages of the program into frames, and shows them in the slot with the rights that they have.
pub fn write(card: &SlotCard, loading: &Loading<'static>, from: u64, count: u64) -> Result<(), Failed> {
    let mut frames = [None; PAGES as usize];
    let written = try_to_write(card, loading, (from, count), &mut frames);
    // Where something failed, those that are not in the slot.
    for (place, frame) in frames.into_iter().enumerate() {
        let Some(frame) = frame else { continue };
        let _ = control(MemoryOperation::Unmap, info().component, place as u64, 0);
        let _ = control(MemoryOperation::Release, 0, 0, frame);
    }
    written
}

/// The same; leaves frames that are not in the slot.
fn try_to_write(
    card: &SlotCard,
    loading: &Loading<'static>,
    (from, count): (u64, u64),
    frames: &mut [Option<u64>],
) -> Result<(), Failed> {
    let own = info().component;
    for (place, frame) in frames.iter_mut().enumerate().take(count as usize) {
        let number = from + place as u64;
        let page = loading.page(number).ok_or(Failed)?;
        let taken = *frame.insert(take(card.colours, number)?);
        control(MemoryOperation::MapWritable, own, place as u64, taken)?;
        // A frame of the pool is full of zeros.
        slots::fill(place as u64, page.offset, page.contents);
        control(MemoryOperation::Unmap, own, place as u64, 0)?;
    }
    for (place, frame) in frames.iter_mut().enumerate().take(count as usize) {
        let page = loading.page(from + place as u64).ok_or(Failed)?;
        let shown = match page.access {
            Access::Read => MemoryOperation::MapReadable,
            Access::Write => MemoryOperation::MapWritable,
            Access::Execute => MemoryOperation::MapExecutable,
        };
        control(shown, card.component, (page.address - PROGRAM) / PAGE, (*frame).ok_or(Failed)?)?;
        *frame = None;
    }
    Ok(())
}

/// A frame of one of these colours, of another one for each page in turn.
pub fn take(colours: u64, number: u64) -> Result<u64, Failed> {
    let in_turn = (0..64).map(|n| (number + n) % 64).filter(|colour| colours >> colour & 1 != 0);
    for colour in in_turn {
        match control(MemoryOperation::Take, 0, 0, colour) {
            Err(Error::Exhausted) => {}
            taken => return Ok(taken?),
        }
    }
    Err(Failed)
}

/// Takes these pages of the program away from the slot, and gives their frames back.
pub fn take_away(card: &SlotCard, program: &Program<'static>, from: u64, count: u64) {
    let pages = (from..from + count).filter_map(|number| program.page(number));
    let mut frames = [None; PAGES as usize];
    for (frame, page) in frames.iter_mut().zip(pages) {
        // Of a load that was abandoned, some were never shown.
        *frame = control(MemoryOperation::Unmap, card.component, (page.address - PROGRAM) / PAGE, 0).ok();
    }
    for frame in frames.into_iter().flatten() {
        let _ = control(MemoryOperation::Release, 0, 0, frame);
    }
}
