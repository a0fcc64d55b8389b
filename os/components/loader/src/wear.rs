//! Memory errors, for tests (`tests/scenarios/worn-loader`): what is kept of a program changes by itself, with each save in another way.
//!
//! Pages change after their digest was taken, so that it finds them. States of threads change before, so that none but the kernel can.

use crate::pages::control;
use crate::Failed;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use tactus_package::snapshot::MOST_PAGES;
use tactus_rt::calls::MemoryOperation;
use tactus_rt::{info, slots};

/// Saves that were over.
static SAVES: AtomicUsize = AtomicUsize::new(0);

/// What becomes of pages that are kept, by the save.
const WAYS: usize = 5;

/// Words of a thread's state as they are after each save that follows, each with its number: another way into the kernel; an instruction
/// outside of the slot, in the kernel, and nowhere; a kernel's segments; flags with interrupts off, with input and output allowed, with
/// single steps; a stack in the kernel, and nowhere; words that mean nothing.
const STATES: [(usize, u64); 14] = [
    (15, 14),
    (15, 259),
    (16, 0x1f_fff8),
    (16, 0xffff_8000_0000_0000),
    (16, 1 << 47),
    (17, 0x08),
    (17, 0x28),
    (18, 0x002),
    (18, 0x3202),
    (18, 0x302),
    (19, 0xffff_ffff_8000_0000),
    (19, 1 << 47),
    (20, 0x10),
    (31, 1),
];

/// Changes the eight bytes at this offset of the frame.
fn change(frame: u64, offset: usize, change: impl FnOnce(&mut [u8; 8])) -> Result<(), Failed> {
    let mut word = [0; 8];
    control(MemoryOperation::MapWritable, info().component, 0, frame)?;
    slots::read(0, offset, &mut word);
    change(&mut word);
    slots::fill(0, offset, &word);
    control(MemoryOperation::Unmap, info().component, 0, 0)?;
    Ok(())
}

/// States of threads have been copied into the frame, and their digest is taken next.
pub fn states(frame: u64) -> Result<(), Failed> {
    let Some((word, value)) = SAVES.load(Relaxed).checked_sub(WAYS).and_then(|way| STATES.get(way)) else {
        return Ok(());
    };
    change(frame, 8 * word, |bytes| *bytes = value.to_le_bytes())
}

/// All is kept, in these frames (plus one; 0 for a page that was as at its beginning).
pub fn kept(frames: &[AtomicU32; MOST_PAGES]) -> Result<(), Failed> {
    let way = SAVES.fetch_add(1, Relaxed);
    let all = || frames.iter().filter(|frame| frame.load(Relaxed) != 0);
    let (Some(first), Some(last)) = (all().next(), all().next_back()) else { return Err(Failed) };
    let number = |of: &AtomicU32| u64::from(of.load(Relaxed)) - 1;
    match way {
        0 => change(number(first), 0, |word| word[0] ^= 1)?,
        1 => change(number(first), 4088, |word| word[7] ^= 0x80)?,
        2 => change(number(last), 16 * 8, |word| word[1] ^= 0x10)?,
        // Two pages change places; a page is shown where none was kept.
        3 => first.store(last.swap(first.load(Relaxed), Relaxed), Relaxed),
        4 => {
            let empty = frames.iter().find(|frame| frame.load(Relaxed) == 0).ok_or(Failed)?;
            empty.store(first.swap(0, Relaxed), Relaxed);
        }
        _ => {}
    }
    Ok(())
}
