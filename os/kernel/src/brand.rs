//! Brands: recorded places in which asynchronous work is done by upcall threads.
//!
//! A brand is triggered by its component, by an interrupt, by a tick or by another core; when the upcall runs is told in
//! `upcall.rs`.
//!
//! Triggers may come from several cores at once. They are counted before an upcall is looked for, and an upcall that ends
//! looks at the count after it has become free: so none is forgotten.

use crate::component::{self, Component};
use crate::path::Path;
use crate::percore::Core;
use crate::thread::{self, state, Frame, Thread, RECORDED};
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, AtomicU8, AtomicUsize};
use tactus_abi::call::{reason, Error};
use tactus_abi::layout::{MAX_BRANDS, MAX_INVOCATIONS, MAX_UPCALLS};

/// See [`Brand::component`]; no component's number.
const FORMER: u16 = 1 << 15;
/// Stands in [`Brand::upcalls`] for a thread that is on its way there; no thread's number.
const KEPT: u16 = u16::MAX;
/// Words of waiting triggers that are kept.
const WORDS: usize = 16;

/// A brand. Its plain fields are written before `made` and only read afterwards.
pub struct Brand {
    made: AtomicBool,
    /// Upcall threads, as bits, that it has from its maker's life before and that nobody has asked for since.
    left: AtomicU8,
    /// Where it was made; with [`FORMER`] if that has begun anew since: then it is nobody's before it was made again.
    component: AtomicU16,
    /// Where its upcalls begin.
    home: u16,
    depth: u8,
    frames: [Frame; MAX_INVOCATIONS],
    /// The schedulers over its upcalls.
    pub path: Path,
    /// Its upcall threads, plus one.
    upcalls: [AtomicU16; MAX_UPCALLS],
    /// The first of them, once it is there.
    first: AtomicPtr<Thread>,
    /// Triggers, and how many of them were served.
    triggered: AtomicU32,
    served: AtomicU32,
    /// The words of the last triggers, each with the number of its trigger, plus one, so that nobody takes an old one.
    words: [(AtomicU32, AtomicU64); WORDS],
    /// What it is wired to; see `wire.rs`.
    pub source: AtomicU64,
}

impl Brand {
    // Copied into the table once, never used by itself.
    #[allow(clippy::declare_interior_mutable_const)]
    const EMPTY: Brand = Brand {
        made: AtomicBool::new(false),
        left: AtomicU8::new(0),
        component: AtomicU16::new(0),
        home: 0,
        depth: 0,
        frames: [Frame { component: 0, recorded: 0, instruction: 0, stack: 0 }; MAX_INVOCATIONS],
        path: Path::NONE,
        upcalls: [const { AtomicU16::new(0) }; MAX_UPCALLS],
        first: AtomicPtr::new(core::ptr::null_mut()),
        triggered: AtomicU32::new(0),
        served: AtomicU32::new(0),
        words: [const { (AtomicU32::new(0), AtomicU64::new(0)) }; WORDS],
        source: AtomicU64::new(0),
    };

    /// Counts a trigger.
    pub fn push(&self, word: u64) {
        // A brand that nobody serves stays at the largest count: it never looks as if everything were served.
        let counted = self.triggered.fetch_update(SeqCst, SeqCst, |it| {
            (it.wrapping_sub(self.served.load(SeqCst)) < u32::MAX / 2).then_some(it.wrapping_add(1))
        });
        if let Ok(number) = counted {
            let place = &self.words[number as usize % WORDS];
            place.1.store(word, SeqCst);
            place.0.store(number.wrapping_add(1), SeqCst);
        }
    }

    /// Takes one waiting trigger: its word, 0 if too many have come since to know it.
    pub fn claim(&self) -> Option<u64> {
        let number = self
            .served
            .fetch_update(SeqCst, SeqCst, |it| (it != self.triggered.load(SeqCst)).then_some(it.wrapping_add(1)))
            .ok()?;
        let place = &self.words[number as usize % WORDS];
        let word = place.1.load(SeqCst);
        Some(if place.0.load(SeqCst) == number.wrapping_add(1) { word } else { 0 })
    }

    /// Whether a trigger waits.
    #[inline(always)]
    pub fn waits(&self) -> bool {
        self.served.load(SeqCst) != self.triggered.load(SeqCst)
    }

    /// An upcall thread that is free, taken for this core.
    pub fn take_upcall(&self, core: &Core) -> Option<&'static mut Thread> {
        if component::get(self.home).is_stopped() {
            return None;
        }
        for upcall in &self.upcalls {
            let upcall = thread::any(upcall.load(SeqCst).checked_sub(1)?.into())?;
            // SAFETY: the state is an atomic; `take` succeeds only if no other core has the thread, and an inactive one is
            // not this core's either.
            unsafe {
                let free = |it: *mut Thread| (*it).state() & (state::INACTIVE | state::STOPPED) == state::INACTIVE;
                if free(upcall) && (*upcall).take_new(core.id) {
                    if free(upcall) {
                        return Some(&mut *upcall);
                    }
                    (*upcall).release();
                }
            }
        }
        None
    }

    /// The first upcall thread, active and taken for this core, if it is free.
    #[inline(always)]
    pub fn activate_first(&self, core: &Core, home: &Component) -> Option<&'static mut Thread> {
        let upcall = self.first.load(Relaxed);
        if upcall.is_null() || home.is_stopped() {
            return None;
        }
        // SAFETY: a thread of the table; owner and state are atomics, and once it is taken it is this core's.
        unsafe {
            (*upcall).exchange_state(state::BRAND | state::INACTIVE, state::BRAND, core.mark).then(|| &mut *upcall)
        }
    }

    /// Whether an upcall is free: a trigger would do more than count.
    pub fn has_free_upcall(&self) -> bool {
        self.upcalls.iter().any(|it| {
            let thread = it.load(SeqCst).checked_sub(1).and_then(|it| thread::any(it.into()));
            // SAFETY: the state is an atomic.
            thread.is_some_and(|it| unsafe { !(*it).lacks(state::INACTIVE) })
        })
    }

    /// Where its upcalls begin.
    #[inline(always)]
    pub fn home(&self) -> &'static Component {
        component::get(self.home)
    }

    /// Sets the upcall to its beginning.
    pub fn begin(&self, upcall: &mut Thread, word: u64) {
        self.begin_at(self.home(), upcall, word)
    }

    /// As [`Brand::begin`]; `home` is the brand's.
    #[inline(always)]
    pub fn begin_at(&self, home: &Component, upcall: &mut Thread, word: u64) {
        upcall.begin_at(home, reason::BRAND, word);
        if self.depth != 0 {
            self.climb(upcall);
        }
    }

    /// The upcall returns to the components that are recorded.
    #[inline(always)]
    fn climb(&self, upcall: &mut Thread) {
        let stack = upcall.fresh_stack;
        upcall.frames[0] = Frame { stack, ..self.frames[0] };
        if self.depth > 1 {
            self.climb_on(upcall);
        }
        upcall.depth = self.depth;
    }

    /// The same for all but the lowest.
    #[inline(never)]
    fn climb_on(&self, upcall: &mut Thread) {
        let stack = upcall.fresh_stack;
        for (frame, recorded) in upcall.frames.iter_mut().zip(&self.frames).take(self.depth.into()) {
            *frame = Frame { stack, ..*recorded };
        }
    }
}

static mut BRANDS: [Brand; MAX_BRANDS] = [const { Brand::EMPTY }; MAX_BRANDS];
/// Brands that were made, or are being made.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn place(number: usize) -> *mut Brand {
    // SAFETY: in bounds by the remainder.
    unsafe { (&raw mut BRANDS).cast::<Brand>().add(number % MAX_BRANDS) }
}

/// The brand with this number.
#[inline(always)]
pub fn get(number: u64) -> Result<&'static Brand, Error> {
    if number >= MAX_BRANDS as u64 {
        return Err(Error::BadBrand);
    }
    // SAFETY: `made` is an atomic; what is made is not written any more but for its atomics.
    unsafe {
        let brand = place(number as usize);
        if (*brand).made.load(SeqCst) {
            Ok(&*brand)
        } else {
            Err(Error::BadBrand)
        }
    }
}

/// The brand's path.
pub fn path_of(number: u16) -> Option<&'static Path> {
    get(number.into()).ok().map(|brand| &brand.path)
}

/// The brand, which must have been made in the component.
#[inline(always)]
pub fn own(component: u16, number: u64) -> Result<&'static Brand, Error> {
    let brand = get(number)?;
    if brand.component.load(Relaxed) == component {
        Ok(brand)
    } else {
        Err(Error::NotBrandOwner)
    }
}

/// Makes a brand of the caller's path.
pub fn create(caller: &Thread, below: u64) -> Result<u64, Error> {
    let up = match below {
        // In the component that invoked the caller's, if somebody did.
        0 if !caller.is_at_base() => 1,
        0 | 1 => 0,
        _ => return Err(Error::BadArgument),
    };
    let maker = component::get(caller.component);
    let depth = (caller.depth - up) as usize % (MAX_INVOCATIONS + 1);
    let home = if up == 1 { caller.frames[depth].component } else { caller.component };
    // Its upcalls begin in the middle of whatever they interrupt, and the floating-point unit stays with that.
    let above = caller.frames[..depth].iter().map(|frame| frame.component);
    if above.chain([home]).any(|number| component::get(number).has_floating_point()) {
        return Err(Error::NotAllowed);
    }
    maker.brands.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).map_err(|_| Error::Exhausted)?;
    if let Some(number) = again(caller, home, depth) {
        return Ok(number as u64);
    }
    let number = COUNT.fetch_update(SeqCst, SeqCst, |it| (it < MAX_BRANDS).then_some(it + 1)).map_err(|_| {
        maker.brands.fetch_add(1, SeqCst);
        Error::Exhausted
    })?;
    // SAFETY: the number was given to this core alone, and nobody looks before `made`.
    let brand = unsafe { &mut *place(number) };
    brand.component.store(caller.component, Relaxed);
    brand.home = home;
    for (recorded, frame) in brand.frames.iter_mut().zip(&caller.frames[..depth]) {
        let entry = component::get(frame.component).entry.load(Relaxed);
        *recorded = Frame { component: frame.component, recorded: RECORDED, instruction: entry, stack: 0 };
    }
    brand.depth = depth as u8;
    brand.path.copy(caller.path());
    brand.made.store(true, SeqCst);
    Ok(number as u64)
}

/// A brand of the life before of the caller's component, made in the same place and under the same schedulers, is made again:
/// with its number, its upcall threads and their slots.
fn again(caller: &Thread, home: u16, depth: usize) -> Option<usize> {
    (0..COUNT.load(SeqCst).min(MAX_BRANDS)).find(|&number| {
        let Ok(brand) = get(number as u64) else { return false };
        let same_frames = || {
            let mut both = brand.frames.iter().zip(&caller.frames).take(depth);
            both.all(|(one, other)| one.component == other.component)
        };
        brand.component.load(SeqCst) == caller.component | FORMER
            && brand.home == home
            && usize::from(brand.depth) == depth
            && same_frames()
            && brand.path.is_as(caller.path())
            // Two threads may ask at once, on two cores: one of them gets it.
            && brand
                .component
                .compare_exchange(caller.component | FORMER, caller.component, SeqCst, SeqCst)
                .is_ok()
    })
}

/// The brands of the component.
pub fn of(component: u16) -> impl Iterator<Item = &'static Brand> {
    (0..COUNT.load(SeqCst).min(MAX_BRANDS)).filter_map(move |number| own(component, number as u64).ok())
}

/// The component begins anew, and its brands are off their sources: what waited is forgotten, and it may make as many again.
/// Their upcall threads stay theirs. While the component is stopped, nobody makes or triggers its brands.
pub fn end_of_life(component: u16) {
    for brand in of(component) {
        brand.served.store(brand.triggered.load(SeqCst), SeqCst);
        let threads = brand.upcalls.iter().enumerate().filter(|(_, it)| it.load(SeqCst) != 0);
        brand.left.store(threads.fold(0, |bits, (place, _)| bits | 1 << place), SeqCst);
        brand.component.store(component | FORMER, SeqCst);
        component::get(component).brands.fetch_add(1, SeqCst);
    }
}

/// A spare thread of the brand's home becomes an upcall thread of the brand, if it has none left from a life before.
pub fn add_upcall(caller: &Thread, number: u64) -> Result<u64, Error> {
    if !component::get(caller.component).is_root() {
        return Err(Error::NotRoot);
    }
    let brand = get(number)?;
    let left = brand.left.fetch_update(SeqCst, SeqCst, |left| (left != 0).then_some(left & left.wrapping_sub(1)));
    if let Ok(left) = left {
        let thread = brand.upcalls[left.trailing_zeros() as usize % MAX_UPCALLS].load(SeqCst);
        return Ok(thread.wrapping_sub(1).into());
    }
    let kept = |it: &&AtomicU16| it.compare_exchange(0, KEPT, SeqCst, SeqCst).is_ok();
    let place = brand.upcalls.iter().find(kept).ok_or(Error::Exhausted)?;
    let Some(thread) = take_spare(brand.home) else {
        place.store(0, SeqCst);
        return Err(Error::Exhausted);
    };
    thread.brand = number as u16 + 1;
    thread.follow(&brand.path);
    thread.counted.store(true, Relaxed);
    // In this order: at no time does it look like an ordinary thread that may run.
    thread.set(state::BRAND | state::INACTIVE);
    thread.clear(state::SPARE);
    place.store(thread.id + 1, SeqCst);
    if core::ptr::eq(place, &brand.upcalls[0]) {
        brand.first.store(thread, SeqCst);
    }
    Ok(thread.id.into())
}

/// A spare thread of the component, which from then on is nobody else's.
pub fn take_spare(component: u16) -> Option<&'static mut Thread> {
    let component = component::get(component);
    let first = component
        .spare
        .fetch_update(SeqCst, SeqCst, |first| {
            // SAFETY: the link is an atomic, never changed once it is set up.
            thread::any(u64::from(first.checked_sub(1)?)).map(|it| unsafe { (*it).next_spare.load(SeqCst) })
        })
        .ok()?;
    let thread = thread::any(u64::from(first.checked_sub(1)?))?;
    // SAFETY: it was taken out of the list, which no thread ever comes back to; nobody else knows it.
    Some(unsafe { &mut *thread })
}
