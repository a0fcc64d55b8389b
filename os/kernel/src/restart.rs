//! A stopped component begins anew: threads leave it, its memory becomes what it was, page by page.
//!
//! The component that the image names calls step after step, each a bounded piece of work:
//! 1. nothing, until every core has looked whether it is in the component;
//! 2. some threads at a time: a thread that is in the component goes back to its caller with an error; one that is in
//!    another component that this one called finds, when it returns, that its caller is gone ([`DEAD`]), and goes back
//!    further with the error; one that is at home here begins anew;
//! 3. one page at a time, from the image;
//! 4. its brands come off their sources, to be made anew, and the component runs again.
//!
//! What the file allows within a time is the kernel's to keep: whoever restarts is not trusted with it. A slot's loader may do it
//! without a limit, at its own budget, and says where the threads of what it has loaded begin.
//!
//! A thread that runs on another core and has the component among its callers is left alone: the step is refused with
//! `Busy` until it has left that core. While the component is stopped nobody can enter it, so that threads in it only get
//! fewer.

use crate::arch::cpu::copy_and_clear;
use crate::arch::paging::direct;
use crate::arch::FrameSource;
use crate::brand;
use crate::component::{self, Component};
use crate::event_source;
use crate::frames::Frames;
use crate::percore::Core;
use crate::stop::{self, DEAD};
use crate::thread::{self, state, Thread};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};
use tactus_abi::call::Error;
use tactus_abi::image::role;
use tactus_abi::layout::{MAX_COMPONENTS, MAX_INVOCATIONS, MAX_RESTARTS, MAX_THREADS, PAGE, PROGRAM, WINDOW_PAGES};
use tactus_abi::shared::restart::THREADS_PER_STEP;

/// Memory that becomes what it was.
#[derive(Clone, Copy)]
#[repr(C)]
struct Piece {
    /// Physical address of its frames.
    base: u64,
    pages: u64,
    /// Physical address of what it begins with.
    source: u64,
    /// Length of that.
    bytes: u64,
}

const PIECES: usize = (PAGE as usize - 16) / size_of::<Piece>();

/// A page of them.
#[repr(C)]
struct Pieces {
    /// The page that follows; null if none does.
    next: *mut Pieces,
    count: usize,
    pieces: [Piece; PIECES],
}

/// What is known of one component. Changed by the core that has [`BUSY`], and during set-up.
struct Restorable {
    first: *mut Pieces,
    /// The step that comes next.
    step: u64,
    thread: usize,
    /// The piece that comes next, and the page in it.
    at: *mut Pieces,
    piece: usize,
    page: u64,
    limit: Limit,
}

/// How often a component may be restarted within a time, and when it was.
struct Limit {
    most: u64,
    /// Time-stamp ticks.
    per: u64,
    /// How many restarts came to their end.
    count: u64,
    /// When the last `most` of them began.
    times: [*mut Times; PAGES_OF_TIMES],
    /// When this one began.
    begun: u64,
    /// It has not begun its first life yet, which is none of them.
    loads: bool,
    /// There is no limit: it is a slot.
    unlimited: bool,
}

type Times = [u64; PAGE as usize / 8];

const PAGES_OF_TIMES: usize = MAX_RESTARTS.div_ceil(PAGE as usize / 8);

impl Limit {
    const NONE: Limit = Limit {
        most: 0,
        per: 0,
        count: 0,
        times: [core::ptr::null_mut(); PAGES_OF_TIMES],
        begun: 0,
        loads: false,
        unlimited: false,
    };

    /// When the restart began before which there were `most - 1` others.
    fn oldest(&mut self) -> Option<&mut u64> {
        let place = self.count.checked_rem(self.most)? as usize;
        let times = self.times[place / (PAGE as usize / 8) % PAGES_OF_TIMES];
        // SAFETY: null, or a page of times made during set-up; who has the table has them.
        unsafe { times.as_mut() }.map(|times| &mut times[place % (PAGE as usize / 8)])
    }

    /// One begins, if it may.
    fn begin(&mut self, now: u64) -> Result<(), Error> {
        let (full, per) = (self.count >= self.most, self.per);
        let allowed = self.loads
            || self.unlimited
            || self.oldest().is_some_and(|oldest| !full || now.saturating_sub(*oldest) >= per);
        self.begun = now;
        if allowed {
            Ok(())
        } else {
            Err(Error::Exhausted)
        }
    }

    /// It has come to its end.
    fn end(&mut self) {
        let begun = self.begun;
        if core::mem::take(&mut self.loads) {
            return;
        }
        if let Some(oldest) = self.oldest() {
            *oldest = begun;
            self.count += 1;
        }
    }
}

struct Shared(UnsafeCell<[Restorable; MAX_COMPONENTS]>);

// SAFETY: see `Restorable`.
unsafe impl Sync for Shared {}

static RESTORABLE: Shared = Shared(UnsafeCell::new(
    [const {
        let (first, at) = (core::ptr::null_mut(), core::ptr::null_mut());
        Restorable { first, step: 0, thread: 0, at, piece: 0, page: 0, limit: Limit::NONE }
    }; MAX_COMPONENTS],
));
static BUSY: AtomicBool = AtomicBool::new(false);

/// Notes memory that the component can write, and what it begins with. During set-up.
pub fn note(frames: &mut Frames, component: usize, base: u64, pages: u64, source: u64, bytes: u64) -> Option<()> {
    // SAFETY: no component runs yet, and only one core.
    let it = unsafe { &mut (*RESTORABLE.0.get())[component % MAX_COMPONENTS] };
    // SAFETY: null, or a page that was made here.
    let full = unsafe { it.first.as_ref() }.is_none_or(|page| page.count == PIECES);
    if full {
        let page: *mut Pieces = direct(frames.kernel_page()?);
        // SAFETY: a fresh frame, as long as the page of pieces at least.
        unsafe { (*page).next = it.first };
        it.first = page;
    }
    // SAFETY: as above, not null.
    let page = unsafe { &mut *it.first };
    page.pieces[page.count % PIECES] = Piece { base, pages, source, bytes };
    page.count += 1;
    Some(())
}

const _: () = assert!(size_of::<Pieces>() <= PAGE as usize);

/// Notes how often it may be restarted within how many time-stamp ticks, and what else its role says of that: whether its first life is
/// still to begin, or there is no limit. During set-up.
pub fn limit(frames: &mut Frames, component: usize, most: u64, per: u64, its_role: u32) -> Option<()> {
    // SAFETY: no component runs yet, and only one core.
    let it = unsafe { &mut (*RESTORABLE.0.get())[component % MAX_COMPONENTS].limit };
    for page in it.times.iter_mut().take((most as usize * 8).div_ceil(PAGE as usize)) {
        *page = direct(frames.kernel_page()?);
    }
    (it.most, it.per) = (most.min(MAX_RESTARTS as u64), per);
    (it.loads, it.unlimited) = (its_role & role::LATE != 0, its_role & role::SLOT != 0);
    Some(())
}

/// An ordinary thread, this core's and not running, begins anew: at once, or when it comes back from those that it called.
pub fn give_up(thread: &mut Thread) {
    match thread.depth {
        0 => thread.begin_again(),
        _ => {
            let first = &mut thread.frames[0];
            (first.component, first.instruction) = (DEAD, thread.home.into());
        }
    }
}

/// The component that the caller may restart.
fn own(caller: u16, number: u64) -> Result<(u16, &'static Component), Error> {
    if number >= u64::from(crate::machine::components()) {
        return Err(Error::BadComponent);
    }
    let number = number as u16;
    let it = component::get(number);
    if it.restarted_by != u32::from(caller) {
        return Err(Error::NotAllowed);
    }
    Ok((number, it))
}

/// The slot that the caller may restart.
pub fn own_slot(caller: u16, number: u64) -> Result<(u16, &'static Component), Error> {
    own(caller, number)
        .and_then(|(number, it)| if it.has_role(role::SLOT) { Ok((number, it)) } else { Err(Error::NotAllowed) })
}

/// The frame of a page of memory that the component can write, by the page's number.
pub fn own_page(component: u16, mut number: u64) -> Result<u64, Error> {
    if BUSY.swap(true, Ordering::Acquire) {
        return Err(Error::Busy);
    }
    // SAFETY: this core has it alone until `BUSY` is cleared; the kernel is not preempted.
    let mut at = unsafe { (*RESTORABLE.0.get())[usize::from(component) % MAX_COMPONENTS].first };
    let mut found = None;
    // SAFETY: null, or a page of pieces made during set-up.
    while let (None, Some(pieces)) = (found, unsafe { at.as_ref() }) {
        for piece in pieces.pieces.iter().take(pieces.count) {
            if number < piece.pages {
                found = Some(piece.base + number * PAGE);
                break;
            }
            number -= piece.pages;
        }
        at = pieces.next;
    }
    BUSY.store(false, Ordering::Release);
    found.ok_or(Error::BadPage)
}

/// `(component)`: nobody enters the slot any more, and whoever is in it leaves it.
pub fn stop(core: &Core, caller: u16, number: u64) -> Result<(), Error> {
    let (number, it) = own_slot(caller, number)?;
    if it.is_stopped() {
        return Err(Error::ComponentStopped);
    }
    stop::stop(core, number);
    Ok(())
}

/// `(component, step, entry)`: the step that follows, 0 when the component runs again.
pub fn restart(core: &mut Core, caller: u16, number: u64, [step, entry]: [u64; 2]) -> Result<u64, Error> {
    let (number, it) = own(caller, number)?;
    if !it.is_stopped() {
        return Err(Error::NotStopped);
    }
    if BUSY.swap(true, Ordering::Acquire) {
        return Err(Error::Busy);
    }
    // SAFETY: this core has it alone until `BUSY` is cleared; the kernel is not preempted.
    let restorable = unsafe { &mut (*RESTORABLE.0.get())[usize::from(number) % MAX_COMPONENTS] };
    let result = restorable.step(core, number, step, entry);
    BUSY.store(false, Ordering::Release);
    result
}

impl Restorable {
    fn step(&mut self, core: &mut Core, number: u16, step: u64, entry: u64) -> Result<u64, Error> {
        if step == 0 {
            if component::get(number).has_role(role::SLOT) {
                begins_at(component::get(number), entry)?;
            }
            self.limit.begin(core.entered)?;
            (self.step, self.thread, self.at, self.piece, self.page) = (0, 0, self.first, 0, 0);
        }
        // Only one after another: none can be left out.
        if step != self.step {
            return Err(Error::BadArgument);
        }
        if !stop::everybody_has_left(number) {
            return Err(Error::Busy);
        }
        if self.thread < MAX_THREADS {
            for _ in 0..THREADS_PER_STEP {
                leave(core, self.thread, number)?;
                self.thread += 1;
            }
        } else if !self.restore_page() {
            self.step = 0;
            event_source::take_off_all(core, number);
            brand::end_of_life(number);
            component::get(number).pieces.store(0, Ordering::Relaxed);
            component::get(number).numbered.store(0, Ordering::Relaxed);
            component::get(number).go_on();
            self.limit.end();
            return Ok(0);
        }
        self.step += 1;
        Ok(self.step)
    }

    /// Restores the next page; whether there was one.
    fn restore_page(&mut self) -> bool {
        loop {
            // SAFETY: null, or a page of pieces made during set-up.
            let Some(pieces) = (unsafe { self.at.as_ref() }) else { return false };
            let Some(piece) = pieces.pieces.get(self.piece).filter(|_| self.piece < pieces.count) else {
                (self.at, self.piece, self.page) = (pieces.next, 0, 0);
                continue;
            };
            if self.page == piece.pages {
                (self.piece, self.page) = (self.piece + 1, 0);
                continue;
            }
            let offset = self.page * PAGE;
            let given = piece.bytes.saturating_sub(offset).min(PAGE);
            self.page += 1;
            restore(piece.base + offset, piece.source + offset, given);
            return true;
        }
    }
}

/// The threads of the slot begin here from now on, which is their entry into what was loaded.
fn begins_at(slot: &Component, entry: u64) -> Result<(), Error> {
    if !(PROGRAM..PROGRAM + WINDOW_PAGES * PAGE).contains(&entry) {
        return Err(Error::BadArgument);
    }
    slot.entry.store(entry, Ordering::Relaxed);
    Ok(())
}

/// Fills the frame with so many bytes from there, and with zeros. By words: an emulator counts one instruction for each
/// element.
fn restore(frame: u64, source: u64, bytes: u64) {
    let words = bytes.div_ceil(8);
    // SAFETY: the frame belongs to a component that is stopped and that nobody is in; what it begins with lies in the
    // image, page-aligned and padded to whole pages, so that whole words can be read.
    unsafe {
        copy_and_clear(direct(frame), direct(source), words, PAGE / 8 - words);
        if bytes % 8 != 0 {
            let last = direct::<u8>(frame);
            (bytes..words * 8).for_each(|at| last.add(at as usize).write(0));
        }
    }
}

/// Takes the thread with this number out of the component.
fn leave(core: &Core, number: usize, component: u16) -> Result<(), Error> {
    if number >= MAX_THREADS {
        return Ok(());
    }
    let thread = thread::slot(number);
    // SAFETY: a place of the table. What is read before the thread was taken may change at once: but no thread enters the
    // component while it is stopped.
    unsafe {
        if !is_within(thread, component) && (*thread).home != component {
            return Ok(());
        }
        let own = core::ptr::eq(thread, core.current);
        if !own && !(*thread).take(core.id) {
            return Err(Error::Busy);
        }
        let it = &mut *thread;
        while it.component == component && it.pop_called(Error::Faulted as u64) {}
        for frame in it.frames.iter_mut().take(usize::from(it.depth)) {
            if frame.component == component && frame.recorded != thread::RECORDED {
                (frame.component, frame.instruction) = (DEAD, component.into());
            }
        }
        if it.home == component && it.component == component {
            begin(it);
        }
        if !own {
            it.release();
        }
    }
    Ok(())
}

/// A thread at home in the component, and in no other now, is what it was at the start.
fn begin(thread: &mut Thread) {
    if !thread.lacks(state::SPARE) {
        return;
    }
    thread.clear(state::STOPPED);
    if thread.lacks(state::BRAND | state::SCHEDULER) {
        thread.begin_again();
    } else {
        thread.set(state::INACTIVE);
    }
}

/// Whether the component is where the thread is, or among its callers. Of a thread that another core may have.
///
/// # Safety
/// The pointer must be to a place of the table.
unsafe fn is_within(thread: *const Thread, component: u16) -> bool {
    // SAFETY: promised by the caller; read as they are, piece by piece.
    unsafe {
        let depth = usize::from((&raw const (*thread).depth).read_volatile()).min(MAX_INVOCATIONS);
        let frames = (&raw const (*thread).frames).cast::<thread::Frame>();
        (&raw const (*thread).component).read_volatile() == component
            || (0..depth).any(|at| (&raw const (*frames.add(at)).component).read_volatile() == component)
    }
}
