//! Frames that are given out while the system runs, and who sees them.
//!
//! The image keeps a pool of frames, each with the colour that its place in physical memory has. Who manages memory may take
//! them, map them into the windows of others and give them back; so may the loader, for its slots. Neither sees a frame that the other
//! one took. A window's page table is there from the start, so that every operation takes the same few steps. A frame that was unmapped
//! is not mapped elsewhere nor given back before every core has forgotten the old mapping. A frame is never written at one place and
//! executed at another.
//!
//! One operation at a time: the component is refused with `Busy` while another of its threads is at it on another core.

use crate::arch::paging::{self, Access, AddressSpace, MapError};
use crate::arch::protect;
use crate::arch::FrameSource;
use crate::component;
use crate::frames::Frames;
use crate::percore::Core;
use crate::shootdown;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};
use tactus_abi::call::{Error, MemoryOperation};
use tactus_abi::image::role;
use tactus_abi::layout::{MAX_COMPONENTS, PAGE, PROGRAM, WINDOW, WINDOW_PAGES};

/// The most colours.
const MAX_COLOURS: usize = 64;

/// What is noted about a frame.
#[repr(C)]
struct Frame {
    /// The next free frame of the colour, plus one.
    next: u32,
    /// In how many places it is mapped.
    mapped: u16,
    holder: Holder,
    usage: Usage,
    /// The request to forget its last mapping.
    forgotten: u64,
}

/// Who took a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Holder {
    /// Nobody: it is free.
    Nobody,
    /// The component that manages memory.
    Manager,
    /// The loader.
    Loader,
}

/// What has been done with a frame since it was mapped nowhere.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Usage {
    /// Read.
    Read,
    /// Written.
    Written,
    /// Executed.
    Executed,
}

impl Frame {
    #[cfg(feature = "check")]
    fn is_taken(&self) -> bool {
        self.holder != Holder::Nobody
    }

    /// What it is used for once it is mapped so as well; nothing if that would let it be written and executed.
    fn usage_with(&self, access: Access) -> Option<Usage> {
        let now = if self.mapped == 0 { Usage::Read } else { self.usage };
        match (now, access) {
            (Usage::Executed, Access::Write | Access::Device) | (Usage::Written, Access::Execute) => None,
            (_, Access::Write | Access::Device) => Some(Usage::Written),
            (_, Access::Execute) => Some(Usage::Executed),
            (_, Access::Read) => Some(now),
        }
    }
}

/// All of it. Changed only by the core that has [`BUSY`], and during set-up.
struct Pool {
    /// Physical address of the first frame.
    base: u64,
    count: u64,
    colours: u64,
    /// One for each frame.
    frames: *mut Frame,
    /// The first free frame of each colour, plus one.
    free: [u32; MAX_COLOURS],
    /// How many are free.
    left: [u32; MAX_COLOURS],
    /// The page table of each component's window; null if it has none.
    windows: [*mut u64; MAX_COMPONENTS],
}

struct Shared(UnsafeCell<Pool>);

// SAFETY: see `Pool`.
unsafe impl Sync for Shared {}

static POOL: Shared = Shared(UnsafeCell::new(Pool {
    base: 0,
    count: 0,
    colours: 1,
    frames: core::ptr::null_mut(),
    free: [0; MAX_COLOURS],
    left: [0; MAX_COLOURS],
    windows: [core::ptr::null_mut(); MAX_COMPONENTS],
}));
static BUSY: AtomicBool = AtomicBool::new(false);

/// Keeps the pool's frames. During set-up.
pub fn set_up_pool(frames: &mut Frames, count: u64, colours: u64) -> Option<()> {
    if count == 0 {
        return Some(());
    }
    // SAFETY: no component runs yet, and only one core.
    let pool = unsafe { &mut *POOL.0.get() };
    pool.base = frames.pages(count, u64::MAX)?;
    pool.frames = protect::piece(frames, (count * size_of::<Frame>() as u64).div_ceil(PAGE))?;
    (pool.count, pool.colours) = (count, colours.clamp(1, MAX_COLOURS as u64));
    // Each to the front of its colour's list, so that the lowest is given out first.
    for number in (0..count).rev() {
        pool.put(number as usize);
    }
    Some(())
}

/// The address of its first frame, and how many there are. During set-up.
pub fn pool() -> (u64, u64) {
    // SAFETY: as in `set_up_pool`.
    let pool = unsafe { &*POOL.0.get() };
    (pool.base, pool.count)
}

/// Gives the component an empty window. During set-up.
pub fn set_up_window(frames: &mut Frames, component: usize, space: AddressSpace, colours: u64) -> Result<(), MapError> {
    let is_slot = component::get((component % MAX_COMPONENTS) as u16).has_role(role::SLOT);
    let table = space.table(frames, colours, if is_slot { PROGRAM } else { WINDOW })?;
    // SAFETY: as in `set_up_pool`.
    unsafe { (*POOL.0.get()).windows[component % MAX_COMPONENTS] = table };
    Ok(())
}

/// How many of its frames are free, and how many there are. At the end of a run.
#[cfg(feature = "check")]
pub fn free() -> (u64, u64) {
    // SAFETY: the run is over; plain numbers, read as they are.
    unsafe {
        let pool = POOL.0.get();
        ((*pool).left.iter().map(|&left| u64::from(left)).sum(), (*pool).count)
    }
}

/// Whether the entry stands in the table of the component's window.
#[cfg(feature = "check")]
pub fn is_in_window(component: u16, entry: *mut u64) -> bool {
    // SAFETY: written during set-up only.
    let windows = unsafe { (&raw const (*POOL.0.get()).windows).cast::<*mut u64>() };
    // SAFETY: in bounds by the remainder.
    let table = unsafe { *windows.add(usize::from(component) % MAX_COMPONENTS) };
    !table.is_null() && (table as u64) == (entry as u64) & !(PAGE - 1)
}

/// Whether all is as is noted; nothing if another core is at it.
#[cfg(feature = "check")]
pub fn is_sound() -> Option<bool> {
    if BUSY.swap(true, Ordering::Acquire) {
        return None;
    }
    // SAFETY: as in `control`.
    let sound = unsafe { (*POOL.0.get()).is_sound() };
    BUSY.store(false, Ordering::Release);
    Some(sound)
}

/// Makes it unsound: a window shows a frame that was not given out, or one is shown less often than is noted.
#[cfg(feature = "fault-injection")]
pub fn break_window(shown: bool) -> Option<()> {
    if BUSY.swap(true, Ordering::Acquire) {
        return None;
    }
    // SAFETY: as in `control`.
    let pool = unsafe { &mut *POOL.0.get() };
    let base = pool.base;
    let number = (0..pool.count).find(|&it| pool.frame(it).is_some_and(|it| it.is_taken() != shown));
    let empty = (0..MAX_COMPONENTS as u64).find_map(|it| pool.entry(it, WINDOW_PAGES - 1).ok());
    let done = match (number, empty, shown) {
        (Some(number), Some(entry), true) => {
            // SAFETY: as in `map`.
            unsafe { entry.write_volatile(paging::leaf(base + number * PAGE, Access::Read)) };
            Some(())
        }
        (Some(number), _, false) => pool.frame(number).map(|it| it.mapped += 1),
        _ => None,
    };
    BUSY.store(false, Ordering::Release);
    done
}

/// Makes it unsound: a frame may be written, and counts as one that is executed.
#[cfg(feature = "fault-injection")]
pub fn break_usage() -> Option<()> {
    if BUSY.swap(true, Ordering::Acquire) {
        return None;
    }
    // SAFETY: as in `control`.
    let pool = unsafe { &mut *POOL.0.get() };
    let done = pool.break_usage();
    BUSY.store(false, Ordering::Release);
    done
}

/// `(operation, component, address, page)`: the two words that come back.
pub fn control(core: &Core, caller: u16, [operation, component, address, page]: [u64; 4]) -> Result<[u64; 2], Error> {
    let holder = match component::get(caller).role & (role::MEMORY | role::LOADER) {
        0 => return Err(Error::NotAllowed),
        role::LOADER => Holder::Loader,
        _ => Holder::Manager,
    };
    let windows = [MemoryOperation::MapWritable, MemoryOperation::MapReadable, MemoryOperation::Unmap];
    let shows = windows.iter().any(|it| *it as u64 == operation) || operation == MemoryOperation::MapExecutable as u64;
    if shows && !may_show(caller, holder, component) {
        return Err(Error::NotAllowed);
    }
    if BUSY.swap(true, Ordering::Acquire) {
        return Err(Error::Busy);
    }
    // SAFETY: this core has it alone until `BUSY` is cleared; the kernel is not preempted.
    let pool = unsafe { &mut *POOL.0.get() };
    let result = match operation {
        n if n == MemoryOperation::Take as u64 => pool.take(page, holder),
        n if n == MemoryOperation::MapWritable as u64 => pool.map((component, address), (page, holder), Access::Write),
        n if n == MemoryOperation::MapReadable as u64 => pool.map((component, address), (page, holder), Access::Read),
        n if n == MemoryOperation::MapExecutable as u64 => {
            pool.map((component, address), (page, holder), Access::Execute)
        }
        n if n == MemoryOperation::Unmap as u64 => pool.unmap(core, component, address),
        n if n == MemoryOperation::Release as u64 => pool.release(page, holder),
        n if n == MemoryOperation::Count as u64 => pool.count_of(page),
        _ => Err(Error::BadArgument),
    };
    BUSY.store(false, Ordering::Release);
    result
}

/// Lets `use_it` have a frame of the loader's that is executed nowhere, by its physical address; and that of the frame that a page of a
/// slot's window shows, if it is one that may be written. Neither can be given back meanwhile.
pub fn with_frames(
    frame: u64,
    window: Option<(u16, u64)>,
    use_it: impl FnOnce(u64, Option<u64>) -> Result<(), Error>,
) -> Result<(), Error> {
    if BUSY.swap(true, Ordering::Acquire) {
        return Err(Error::Busy);
    }
    // SAFETY: as in `control`.
    let pool = unsafe { &mut *POOL.0.get() };
    let result = pool.loaders_frame(frame).and_then(|frame| {
        let shown = window.map(|(component, page)| pool.written(component, page)).transpose()?;
        use_it(frame, shown)
    });
    BUSY.store(false, Ordering::Release);
    result
}

/// Whether it may change what the component's window shows: the loader its own and those of its slots, the manager all others.
fn may_show(caller: u16, holder: Holder, component: u64) -> bool {
    if component >= MAX_COMPONENTS as u64 {
        // Refused as one without a window.
        return true;
    }
    let it = component::get(component as u16);
    match holder {
        Holder::Loader if it.has_role(role::SLOT) => it.restarted_by == u32::from(caller),
        Holder::Loader => component == u64::from(caller),
        _ => !it.has_role(role::SLOT | role::LOADER),
    }
}

impl Pool {
    fn colour(&self, number: usize) -> usize {
        ((self.base / PAGE + number as u64) % self.colours) as usize
    }

    /// What is noted about a frame of the pool.
    fn frame(&mut self, number: u64) -> Option<&mut Frame> {
        // SAFETY: there are `count` of them, and nobody else has a reference: see `Pool`.
        (number < self.count).then(|| unsafe { &mut *self.frames.add(number as usize) })
    }

    /// Puts a frame to the front of its colour's list.
    fn put(&mut self, number: usize) {
        let colour = self.colour(number);
        let next = self.free[colour];
        if let Some(frame) = self.frame(number as u64) {
            *frame = Frame { next, mapped: 0, holder: Holder::Nobody, usage: Usage::Read, forgotten: 0 };
            self.free[colour] = number as u32 + 1;
            self.left[colour] += 1;
        }
    }

    fn take(&mut self, colour: u64, holder: Holder) -> Result<[u64; 2], Error> {
        if colour >= self.colours || self.count == 0 {
            return Err(Error::BadArgument);
        }
        let colour = colour as usize % MAX_COLOURS;
        let number = u64::from(self.free[colour]).checked_sub(1).ok_or(Error::Exhausted)?;
        let frame = self.frame(number).ok_or(Error::Exhausted)?;
        frame.holder = holder;
        let next = frame.next;
        self.free[colour] = next;
        self.left[colour] -= 1;
        Ok([number, 0])
    }

    /// The page-table entry of a window's page.
    fn entry(&mut self, component: u64, page: u64) -> Result<*mut u64, Error> {
        let table = self.windows.get(component as usize).copied().unwrap_or(core::ptr::null_mut());
        if table.is_null() {
            return Err(Error::BadComponent);
        }
        if page >= WINDOW_PAGES {
            return Err(Error::BadPage);
        }
        // SAFETY: a page table has 512 entries, as many as the window has pages.
        Ok(unsafe { table.add(page as usize) })
    }

    /// The address of a frame of the loader's that is executed nowhere.
    fn loaders_frame(&mut self, page: u64) -> Result<u64, Error> {
        let base = self.base;
        let frame = self.frame(page).filter(|frame| frame.holder == Holder::Loader).ok_or(Error::BadPage)?;
        if frame.mapped > 0 && frame.usage == Usage::Executed {
            return Err(Error::InUse);
        }
        Ok(base + page * PAGE)
    }

    /// The address of the frame that the component's window shows there, if it may be written.
    fn written(&mut self, component: u16, page: u64) -> Result<u64, Error> {
        let entry = self.entry(component.into(), page)?;
        // SAFETY: as in `map`.
        let address = paging::frame_of(unsafe { entry.read_volatile() });
        let number = address.checked_sub(self.base).ok_or(Error::BadPage)? / PAGE;
        self.frame(number).filter(|it| it.mapped > 0 && it.usage == Usage::Written).ok_or(Error::BadPage)?;
        Ok(address)
    }

    fn map(
        &mut self,
        (component, address): (u64, u64),
        (page, holder): (u64, Holder),
        access: Access,
    ) -> Result<[u64; 2], Error> {
        let entry = self.entry(component, address)?;
        if access == Access::Execute && !component::get(component as u16).has_role(role::SLOT) {
            return Err(Error::NotAllowed);
        }
        let base = self.base;
        if self.frame(page).is_some()
            && component::get(component as u16).window_colours >> self.colour(page as usize) & 1 == 0
        {
            return Err(Error::BadColour);
        }
        let frame = self.frame(page).filter(|frame| frame.holder == holder).ok_or(Error::BadPage)?;
        // SAFETY: an entry of a window's table, see `entry`. The processor may read it at any time, and writes marks of use
        // only into one that is present.
        let occupied = unsafe { entry.read_volatile() } != 0;
        if occupied || frame.mapped == u16::MAX || !shootdown::is_done(frame.forgotten) {
            return Err(Error::InUse);
        }
        frame.usage = frame.usage_with(access).ok_or(Error::InUse)?;
        frame.mapped += 1;
        // SAFETY: as above; nothing was mapped there, so no core remembers anything else.
        unsafe { entry.write_volatile(paging::leaf(base + page * PAGE, access)) };
        paging::shown();
        Ok([0; 2])
    }

    fn unmap(&mut self, core: &Core, component: u64, address: u64) -> Result<[u64; 2], Error> {
        let entry = self.entry(component, address)?;
        // SAFETY: as in `map`.
        let mapped = unsafe { entry.read_volatile() };
        if mapped == 0 {
            return Err(Error::BadPage);
        }
        // SAFETY: as in `map`.
        unsafe { entry.write_volatile(0) };
        let number = (paging::frame_of(mapped) - self.base) / PAGE;
        let forgotten = shootdown::request(core);
        if let Some(frame) = self.frame(number) {
            frame.mapped -= 1;
            frame.forgotten = forgotten;
        }
        Ok([number, 0])
    }

    fn release(&mut self, page: u64, holder: Holder) -> Result<[u64; 2], Error> {
        let address = self.base + page.min(self.count) * PAGE;
        let frame = self.frame(page).filter(|frame| frame.holder == holder).ok_or(Error::BadPage)?;
        if frame.mapped > 0 || !shootdown::is_done(frame.forgotten) {
            return Err(Error::InUse);
        }
        // SAFETY: a frame of the pool, by `frame`; it is mapped nowhere, and every core has forgotten its last mapping.
        unsafe { paging::clear(address, 1) };
        self.put(page as usize);
        Ok([0; 2])
    }

    #[cfg(feature = "fault-injection")]
    fn break_usage(&mut self) -> Option<()> {
        let entry = (0..MAX_COMPONENTS as u64).find_map(|it| self.entry(it, WINDOW_PAGES - 1).ok())?;
        let [number, _] = self.take(0, Holder::Manager).ok()?;
        let base = self.base;
        let frame = self.frame(number)?;
        (frame.mapped, frame.usage) = (1, Usage::Executed);
        // SAFETY: as in `map`.
        unsafe { entry.write_volatile(paging::leaf(base + number * PAGE, Access::Write)) };
        Some(())
    }

    /// Whether every window's entry shows a frame that was given out, no frame is both written and executed, each is shown as often as
    /// is noted, and all others hang in their colours' lists.
    #[cfg(feature = "check")]
    fn is_sound(&mut self) -> bool {
        // One number for how often each frame is shown.
        let weight = |number: u64| (2 * number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (mut shown, mut noted, mut taken) = (0_u64, 0_u64, 0);
        for component in 0..u64::from(crate::machine::components()) {
            for page in 0..WINDOW_PAGES {
                let Ok(entry) = self.entry(component, page) else { continue };
                // SAFETY: as in `map`.
                let entry = unsafe { entry.read_volatile() } & !paging::USED;
                if entry == 0 {
                    continue;
                }
                let number = paging::frame_of(entry).wrapping_sub(self.base) / PAGE;
                let frame = paging::frame_of(entry);
                let known = [Access::Read, Access::Write, Access::Execute];
                let access = known.into_iter().find(|&access| entry == paging::leaf(frame, access));
                let in_slot = component::get(component as u16).has_role(role::SLOT);
                let keeps = |it: &mut Frame| match access {
                    Some(Access::Read) => true,
                    Some(Access::Write) => it.usage == Usage::Written,
                    Some(Access::Execute) => in_slot && it.usage == Usage::Executed,
                    _ => false,
                };
                if !self.frame(number).is_some_and(|it| it.is_taken() && keeps(it)) {
                    return false;
                }
                shown = shown.wrapping_add(weight(number));
            }
        }
        for number in 0..self.count {
            let Some(frame) = self.frame(number) else { return false };
            noted = noted.wrapping_add(weight(number).wrapping_mul(frame.mapped.into()));
            taken += u64::from(frame.is_taken());
        }
        let free: Option<u64> = (0..self.colours as usize % (MAX_COLOURS + 1)).map(|colour| self.free_of(colour)).sum();
        shown == noted && free.is_some_and(|free| free + taken == self.count)
    }

    /// How many frames hang in the colour's list; nothing if that is not what is noted.
    #[cfg(feature = "check")]
    fn free_of(&mut self, colour: usize) -> Option<u64> {
        let (mut count, mut next) = (0, self.free[colour % MAX_COLOURS]);
        while next != 0 {
            let number = u64::from(next - 1);
            let right = self.colour(number as usize) == colour && count < self.count;
            next = self.frame(number).filter(|it| right && !it.is_taken() && it.mapped == 0)?.next;
            count += 1;
        }
        (count == u64::from(self.left[colour % MAX_COLOURS])).then_some(count)
    }

    fn count_of(&self, colour: u64) -> Result<[u64; 2], Error> {
        if colour >= self.colours || self.count == 0 {
            return Err(Error::BadArgument);
        }
        let first = (colour + self.colours - self.base / PAGE % self.colours) % self.colours;
        let all = self.count.saturating_sub(first).div_ceil(self.colours);
        Ok([all, self.left[colour as usize % MAX_COLOURS].into()])
    }
}
