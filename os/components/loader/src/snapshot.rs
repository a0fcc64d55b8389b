//! Snapshots: what a program was is kept in frames of the pool, and goes on from there later.
//!
//! A save begins with the tasks taken from the scheduler and the component stopped, between two jobs of the loader; so it does not matter
//! how many jobs the copy takes. A restore takes the digest of all that was kept first, then loads the package again as if for the first
//! time, and then writes what was kept over it. Of a slot there is one snapshot, the last one. It goes
//! on there, or in another slot that has the same stacks, heap and services: there all lies at the same addresses.

use crate::pages::{self, control, patiently};
use crate::{hand_over, next, take, tell, Doing, Failed, Filled, Outcome};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use tactus_package::load::{Loading, Step, PAGES};
use tactus_package::program::{Access, Program};
use tactus_package::snapshot::{Extent, SaveStep, Seal, MOST_PAGES, SAVED_PAGES, THREADS};
use tactus_record::SlotRefusal;
use tactus_rt::abi::call::THREAD_STATES;
use tactus_rt::abi::layout::{MAX_THREADS, PAGE, PROGRAM, WINDOW_PAGES};
use tactus_rt::abi::shared::restart::THREADS_PER_STEP;
use tactus_rt::abi::slot::{SlotCard, SlotChange, SlotReport};
use tactus_rt::calls::{self, MemoryOperation, SnapshotOperation};
use tactus_rt::{info, slots};

const _: () = assert!(THREADS == THREAD_STATES);

/// Frames of the snapshots, plus one, by slot and by page; 0 where nothing is kept.
static FRAMES: [[AtomicU32; MOST_PAGES]; crate::MOST_SLOTS] =
    [const { [const { AtomicU32::new(0) }; MOST_PAGES] }; crate::MOST_SLOTS];

/// What was saved of a slot, but for its frames.
#[derive(Clone, Copy)]
pub struct Snapshot {
    /// The program and its package, and how much there was to save; nothing if nothing is saved.
    of: Option<(&'static [u8], Program<'static>, Extent)>,
    digest: [u8; 32],
}

impl Snapshot {
    /// Nothing is saved.
    pub const NONE: Snapshot = Snapshot { of: None, digest: [0; 32] };
}

/// Where a restore stands.
#[derive(Clone, Copy)]
pub struct Restoring {
    /// Pages whose digest was taken.
    verified: u64,
    /// The first step of the load has been taken.
    begun: bool,
    /// Pages that were written, once the package is loaded again.
    written: Option<u64>,
}

fn extent(card: &SlotCard, program: &Program<'static>) -> Extent {
    let own = card.set_back.saturating_sub(MAX_THREADS.div_ceil(THREADS_PER_STEP) as u64);
    Extent { program: program.pages(), own, tasks: card.tasks.into() }
}

/// Where the frame of a page is noted.
fn place(change: SlotChange, number: u64) -> Result<&'static AtomicU32, Failed> {
    FRAMES.get(usize::from(change.slot)).and_then(|frames| frames.get(number as usize)).ok_or(Failed)
}

fn frame(change: SlotChange, number: u64) -> Option<u64> {
    u64::from(place(change, number).ok()?.load(Relaxed)).checked_sub(1)
}

/// The page is kept no longer.
fn forget(change: SlotChange, number: u64) {
    if let (Some(frame), Ok(place)) = (frame(change, number), place(change, number)) {
        let _ = control(MemoryOperation::Release, 0, 0, frame);
        place.store(0, Relaxed);
    }
}

/// A page as the kernel numbers it; nothing for one with threads.
fn page(program: &Program<'static>, extent: &Extent, number: u64) -> Option<u64> {
    match number.checked_sub(extent.program) {
        None => program.page(number).map(|page| (page.address - PROGRAM) / PAGE),
        Some(own) => (own < extent.own).then_some(WINDOW_PAGES + own),
    }
}

/// The threads whose states lie in the page, each with its place.
fn threads(card: &SlotCard, extent: &Extent, number: u64) -> impl Iterator<Item = (u64, u64)> {
    let from = number.saturating_sub(extent.program + extent.own) * THREADS;
    let first = u64::from(card.first_thread);
    (from..extent.tasks.min(from + THREADS)).map(move |thread| (first + thread, thread - from))
}

/// Copies the page, or the states of threads, into the frame or back.
fn copy(
    card: &SlotCard,
    (program, extent): (&Program<'static>, &Extent),
    number: u64,
    (frame, saves): (u64, bool),
) -> Result<(), Failed> {
    let (of_page, of_thread) = match saves {
        true => (SnapshotOperation::SavePage, SnapshotOperation::SaveThread),
        false => (SnapshotOperation::RestorePage, SnapshotOperation::RestoreThread),
    };
    let does =
        |operation, what, place| patiently(|| calls::snapshot(operation, card.component.into(), what, (frame, place)));
    match page(program, extent, number) {
        Some(page) => does(of_page, page, 0)?,
        None => threads(card, extent, number).try_for_each(|(thread, place)| does(of_thread, thread, place))?,
    }
    Ok(())
}

/// Shows the frame in the loader's own window and reads it piece by piece, as long as `goes_on`.
fn read(frame: u64, mut goes_on: impl FnMut(usize, &[u8]) -> bool) -> Result<(), Failed> {
    const PIECE: usize = 256;
    control(MemoryOperation::MapReadable, info().component, 0, frame)?;
    let mut piece = [0; PIECE];
    for offset in (0..PAGE as usize).step_by(PIECE) {
        slots::read(0, offset, &mut piece);
        if !goes_on(offset, &piece) {
            break;
        }
    }
    control(MemoryOperation::Unmap, info().component, 0, 0)?;
    Ok(())
}

/// Adds the page in the frame to the digest.
fn add(seal: &mut Seal, number: u64, frame: u64) -> Result<(), Failed> {
    seal.page(number);
    read(frame, |_, piece| {
        seal.contents(piece);
        true
    })
}

/// Whether all threads are where they can be saved.
fn can_be_saved(card: &SlotCard) -> bool {
    let mut threads = (0..u64::from(card.tasks)).map(|thread| u64::from(card.first_thread) + thread);
    threads.all(|thread| calls::snapshot(SnapshotOperation::Look, card.component.into(), thread, (0, 0)).is_ok())
}

/// The next step of a save; what is under way after it.
pub fn save(step: u64, seal: &mut Seal, (card, filled): (&SlotCard, &mut Filled), change: SlotChange) -> Outcome {
    let Some(program) = filled.program else { return Ok(None) };
    let extent = extent(card, &program);
    let done = match extent.save_step(step) {
        None => Ok(()),
        Some(SaveStep::Stop) => {
            *seal = Seal::new();
            stop(card, filled, &extent, change)?;
            Ok(())
        }
        Some(SaveStep::Keep { from, count }) => {
            (from..from + count).try_for_each(|number| keep(card, (&program, &extent), seal, number, change))
        }
        Some(SaveStep::Unmap { from, count }) => {
            pages::take_away(card, &program, from, count);
            Ok(())
        }
    };
    if done.is_err() {
        // The pool is smaller than was promised: the program ends, and nothing is saved of it.
        (0..extent.pages()).for_each(|number| forget(change, number));
        tell(SlotReport::Refused(change, SlotRefusal::Resources as u8));
        return Ok(Some(Doing::Unload(2)));
    }
    if extent.save_step(step + 1).is_some() {
        return Ok(Some(Doing::Save(step + 1)));
    }
    filled.snapshot.of = Some((filled.package, program, extent));
    filled.snapshot.digest = seal.clone().digest();
    #[cfg(feature = "memory-errors")]
    let _ = crate::wear::kept(&FRAMES[usize::from(change.slot)]);
    filled.program = None;
    Ok(None)
}

/// The tasks end, and the component is stopped, unless a thread is where it cannot be saved.
fn stop(card: &SlotCard, filled: &mut Filled, extent: &Extent, change: SlotChange) -> Result<(), SlotRefusal> {
    if !can_be_saved(card) {
        return Err(SlotRefusal::Unsavable);
    }
    tell(SlotReport::Saved(change));
    // It may have run since it was looked at.
    if !can_be_saved(card) || calls::stop(card.component.into()).is_err() {
        tell(SlotReport::Restored { change, from: change.slot });
        return Err(SlotRefusal::Unsavable);
    }
    if let Some((_, _, old)) = filled.snapshot.of.take() {
        (extent.pages()..old.pages()).for_each(|number| forget(change, number));
    }
    Ok(())
}

/// Keeps the page, if it is not as it was at the beginning.
fn keep(
    card: &SlotCard,
    (program, extent): (&Program<'static>, &Extent),
    seal: &mut Seal,
    number: u64,
    change: SlotChange,
) -> Result<(), Failed> {
    forget(change, number);
    let page = program.page(number);
    if page.is_some_and(|page| page.access != Access::Write) {
        return Ok(());
    }
    let (place, frame) = (place(change, number)?, pages::take(card.colours, number)?);
    place.store(frame as u32 + 1, Relaxed);
    copy(card, (program, extent), number, (frame, true))?;
    #[cfg(feature = "memory-errors")]
    if number >= extent.program + extent.own {
        crate::wear::states(frame)?;
    }
    let (at, contents) = page.map_or((0, &[][..]), |page| (page.offset, page.contents));
    let was = |offset: usize| {
        let inside = offset.checked_sub(at).and_then(|inside| contents.get(inside));
        inside.copied().unwrap_or(0)
    };
    let mut same = true;
    read(frame, |offset, piece| {
        same = piece.iter().zip(offset..).all(|(byte, offset)| *byte == was(offset));
        same
    })?;
    if same {
        forget(change, number);
        return Ok(());
    }
    add(seal, number, frame)
}

impl Restoring {
    /// A restore that begins of what was saved of this slot, if something is.
    pub fn new(filled: &Filled) -> Option<Restoring> {
        filled.snapshot.of.map(|_| Restoring { verified: 0, begun: false, written: None })
    }

    /// The next step; what is under way after it.
    pub fn step(
        mut self,
        (loading, seal): (&mut Loading<'static>, &mut Seal),
        (from, snapshot): (u16, Snapshot),
        (card, filled): (&'static SlotCard, &mut Filled),
        change: SlotChange,
    ) -> Outcome {
        let Some((package, program, extent)) = snapshot.of else { return Err(SlotRefusal::Unsaved) };
        let kept = SlotChange { slot: from, ..change };
        let of = (&program, &extent);
        if self.verified < extent.pages() {
            if self.verified == 0 {
                *seal = Seal::new();
            }
            self.verify(&extent, seal, &snapshot.digest, kept)?;
            return Ok(Some(Doing::Restore(self)));
        }
        let (done, why) = match self.written {
            None => {
                let first = !core::mem::replace(&mut self.begun, true);
                if first {
                    *loading = Loading::new(package, card.set_back);
                }
                match next(loading, (first, None), card, filled)? {
                    Some(Step::HandOver) | None => (self.write(0, card, of, kept), SlotRefusal::Damaged),
                    Some(step) => (take(loading, step, card), SlotRefusal::Resources),
                }
            }
            // What the kernel does not take back, it never gave.
            Some(written) if written < extent.pages() => (self.write(written, card, of, kept), SlotRefusal::Damaged),
            Some(_) => match hand_over(loading, card, filled, SlotReport::Restored { change, from }) {
                Ok(()) => {
                    filled.package = package;
                    return Ok(None);
                }
                failed => (failed, SlotRefusal::Resources),
            },
        };
        Ok(match done {
            Ok(()) => Some(Doing::Restore(self)),
            Err(Failed) => Some(Doing::Abandon(loading.pages(), why)),
        })
    }

    /// Takes the digest of some pages, and compares it after the last one.
    fn verify(
        &mut self,
        extent: &Extent,
        seal: &mut Seal,
        digest: &[u8; 32],
        change: SlotChange,
    ) -> Result<(), SlotRefusal> {
        let end = extent.pages().min(self.verified + SAVED_PAGES);
        for number in self.verified..end {
            if let Some(frame) = frame(change, number) {
                add(seal, number, frame).map_err(|Failed| SlotRefusal::Damaged)?;
            }
        }
        self.verified = end;
        if end == extent.pages() && seal.clone().digest() != *digest {
            return Err(SlotRefusal::Damaged);
        }
        Ok(())
    }

    /// Writes some of what was kept over what the package brought.
    fn write(
        &mut self,
        from: u64,
        card: &SlotCard,
        of: (&Program<'static>, &Extent),
        change: SlotChange,
    ) -> Result<(), Failed> {
        let end = of.1.pages().min(from + PAGES);
        for number in from..end {
            if let Some(frame) = frame(change, number) {
                copy(card, of, number, (frame, false))?;
            }
        }
        self.written = Some(end);
        Ok(())
    }
}
