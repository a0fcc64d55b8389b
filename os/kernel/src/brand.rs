//! Brands: recorded places in which asynchronous work is done by upcall threads, and when those run.
//!
//! A brand is triggered by its component, by an interrupt, by a tick or by another core. If the upcall is more urgent
//! than whoever runs, by the slots of the closest scheduler that the two have in common, it takes the core at once; when it
//! ends, the interrupted thread goes on. No scheduler is entered for either, though all find in their regions what
//! happened. Whatever the kernel cannot tell from the regions is left to the root.
//!
//! Triggers may come from several cores at once. They are counted before an upcall is looked for, and an upcall that ends
//! looks at the count after it has become free: so none is forgotten.

use crate::arch::percore::Core;
use crate::component;
use crate::dispatch::{charge, interrupt_current, leave_kernel, post_root, run, sleep};
use crate::path::{Path, Scheduler};
use crate::region::{post_slots, Shared};
use crate::thread::{self, state, Frame, Thread, IDLE_CORE};
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, AtomicUsize};
use tactus_abi::call::{reason, BrandOperation, Error, IDLE};
use tactus_abi::layout::{MAX_BRANDS, MAX_INVOCATIONS, MAX_SCHEDULERS, MAX_UPCALLS};
use tactus_abi::shared::{event, slot};

/// Stands in [`Brand::upcalls`] for a thread that is on its way there; no thread's number.
const KEPT: u16 = u16::MAX;
/// Words of waiting triggers that are kept.
const WORDS: usize = 16;

/// A brand. Its plain fields are written before `made` and only read afterwards.
pub struct Brand {
    made: AtomicBool,
    /// Where it was made.
    pub component: u16,
    /// Where its upcalls begin.
    home: u16,
    depth: u8,
    frames: [Frame; MAX_INVOCATIONS],
    path: Path,
    /// Its upcall threads, plus one.
    upcalls: [AtomicU16; MAX_UPCALLS],
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
        component: 0,
        home: 0,
        depth: 0,
        frames: [Frame { component: 0, recorded: 0, rip: 0, rsp: 0 }; MAX_INVOCATIONS],
        path: Path::NONE,
        upcalls: [const { AtomicU16::new(0) }; MAX_UPCALLS],
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
    fn claim(&self) -> Option<u64> {
        let number = self
            .served
            .fetch_update(SeqCst, SeqCst, |it| (it != self.triggered.load(SeqCst)).then_some(it.wrapping_add(1)))
            .ok()?;
        let place = &self.words[number as usize % WORDS];
        let word = place.1.load(SeqCst);
        Some(if place.0.load(SeqCst) == number.wrapping_add(1) { word } else { 0 })
    }

    /// Whether a trigger waits.
    pub fn waits(&self) -> bool {
        self.served.load(SeqCst) != self.triggered.load(SeqCst)
    }

    /// An upcall thread that is free, taken for this core.
    fn take_upcall(&self, core: &Core) -> Option<&'static mut Thread> {
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

    /// Whether an upcall is free: a trigger would do more than count.
    pub fn has_free_upcall(&self) -> bool {
        self.upcalls.iter().any(|it| {
            let thread = it.load(SeqCst).checked_sub(1).and_then(|it| thread::any(it.into()));
            // SAFETY: the state is an atomic.
            thread.is_some_and(|it| unsafe { !(*it).lacks(state::INACTIVE) })
        })
    }

    /// Sets the upcall to its beginning.
    fn begin(&self, upcall: &mut Thread, word: u64) {
        upcall.begin(reason::BRAND, word);
        let stack = upcall.fresh_stack;
        for (frame, recorded) in
            upcall.frames.iter_mut().zip(&self.frames[..usize::from(self.depth) % (MAX_INVOCATIONS + 1)])
        {
            *frame = Frame { rsp: stack, ..*recorded };
        }
        upcall.depth = self.depth;
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
pub fn own(component: u16, number: u64) -> Result<&'static Brand, Error> {
    let brand = get(number)?;
    if brand.component == component {
        Ok(brand)
    } else {
        Err(Error::NotBrandOwner)
    }
}

/// `(operation, brand, other)`. What comes back in `rdi`.
pub fn control(core: &mut Core, caller: &Thread, operation: u64, brand: u64, other: u64) -> Result<u64, Error> {
    match operation {
        _ if operation == BrandOperation::Create as u64 => create(caller, other),
        _ if operation == BrandOperation::AddUpcall as u64 => add_upcall(caller, brand),
        _ if operation == BrandOperation::Wire as u64 => crate::wire::wire(core, caller, brand, other).map(|()| 0),
        _ if operation == BrandOperation::Unwire as u64 => crate::wire::unwire(core, caller, brand).map(|()| 0),
        _ if operation == BrandOperation::Acknowledge as u64 => {
            crate::wire::acknowledge(core, caller, brand).map(|()| 0)
        }
        _ => Err(Error::BadArgument),
    }
}

/// Makes a brand of the caller's path.
fn create(caller: &Thread, below: u64) -> Result<u64, Error> {
    let up = match below {
        // In the component that invoked the caller's, if somebody did.
        0 if !caller.is_at_base() => 1,
        0 | 1 => 0,
        _ => return Err(Error::BadArgument),
    };
    let maker = component::get(caller.component);
    maker.brands.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).map_err(|_| Error::Exhausted)?;
    let number = COUNT.fetch_update(SeqCst, SeqCst, |it| (it < MAX_BRANDS).then_some(it + 1)).map_err(|_| {
        maker.brands.fetch_add(1, SeqCst);
        Error::Exhausted
    })?;
    // SAFETY: the number was given to this core alone, and nobody looks before `made`.
    let brand = unsafe { &mut *place(number) };
    brand.component = caller.component;
    let depth = (caller.depth - up) as usize % (MAX_INVOCATIONS + 1);
    brand.home = if up == 1 { caller.frames[depth].component } else { caller.component };
    for (recorded, frame) in brand.frames.iter_mut().zip(&caller.frames[..depth]) {
        let entry = component::get(frame.component).entry;
        *recorded = Frame { component: frame.component, recorded: 1, rip: entry, rsp: 0 };
    }
    brand.depth = depth as u8;
    brand.path.copy(caller.path());
    brand.made.store(true, SeqCst);
    Ok(number as u64)
}

/// A spare thread of the brand's home becomes an upcall thread of the brand.
fn add_upcall(caller: &Thread, number: u64) -> Result<u64, Error> {
    if !component::get(caller.component).is_root() {
        return Err(Error::NotRoot);
    }
    let brand = get(number)?;
    let kept = |it: &&AtomicU16| it.compare_exchange(0, KEPT, SeqCst, SeqCst).is_ok();
    let place = brand.upcalls.iter().find(kept).ok_or(Error::Exhausted)?;
    let Some(thread) = take_spare(brand.home) else {
        place.store(0, SeqCst);
        return Err(Error::Exhausted);
    };
    thread.brand = number as u16 + 1;
    thread.follow(&brand.path);
    thread.counted.store(true, Relaxed);
    thread.clear(state::SPARE);
    thread.set(state::BRAND | state::INACTIVE);
    place.store(thread.id + 1, SeqCst);
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

/// Asks for one more run of the brand's upcall. Whoever is the core's current thread afterwards goes on.
pub fn trigger(core: &mut Core, brand: &'static Brand, word: u64) {
    brand.push(word);
    serve(core, brand)
}

/// Begins an upcall for a waiting trigger, if one is free.
pub fn serve(core: &mut Core, brand: &'static Brand) {
    if !brand.waits() {
        return go_on(core);
    }
    let Some(upcall) = brand.take_upcall(core) else { return go_on(core) };
    let Some(word) = brand.claim() else {
        upcall.release();
        return go_on(core);
    };
    upcall.clear(state::INACTIVE | state::SUSPENDED);
    (upcall.preempter, upcall.interrupted) = (0, 0);
    brand.begin(upcall, word);
    post_slots(core, &brand.path, slot::ACTIVE);
    decide(core, upcall)
}

/// Whoever has the core goes on. The stretches of a core that idles interest nobody.
fn go_on(core: &mut Core) {
    if !core.current.is_null() {
        leave_kernel(core);
    }
}

/// Whether the upcall takes the core.
fn decide(core: &mut Core, upcall: &mut Thread) {
    // SAFETY: the running thread is this core's.
    let runs = is_enabled(core, upcall.path())
        && match unsafe { core.current.as_ref() } {
            None => true,
            Some(current) => closest(core, upcall, current).is_some(),
        };
    if !runs {
        core.deferred = true;
        upcall.release();
        return go_on(core);
    }
    // SAFETY: as above.
    match unsafe { core.current.as_mut() } {
        Some(current) => {
            current.preempter = upcall.id + 1;
            upcall.interrupted = current.id + 1;
        }
        None => upcall.interrupted = IDLE_CORE,
    }
    interrupt_current(core);
    run(core, upcall, core.expiry)
}

/// The closest scheduler that both have, if by its slots the upcall goes before the running thread.
fn closest(core: &Core, upcall: &Thread, current: &Thread) -> Option<Scheduler> {
    let mut common: Option<(Scheduler, u16, u16)> = None;
    let mut theirs = current.path().holders();
    for (scheduler, slot) in upcall.path().holders() {
        // Who is in the middle of a scheduler of the upcall's is not interrupted by it: the scheduler itself finds out.
        if current.component == scheduler.component() || current.is_upcall_of(scheduler.component()) {
            return None;
        }
        match theirs.next() {
            Some((other, their_slot)) if other == scheduler => common = Some((scheduler, slot, their_slot)),
            _ => break,
        }
    }
    let (scheduler, slot, their_slot) = common?;
    let region = Shared::of(core, scheduler.component());
    (region.urgency(slot) < region.urgency(their_slot)).then_some(scheduler)
}

/// Whether every scheduler of the thread lets it run unasked.
fn is_enabled(core: &Core, path: &Path) -> bool {
    path.holders().all(|(it, slot)| Shared::of(core, it.component()).urgency(slot) != slot::DISABLED)
}

/// The scheduler that should decide now, since somebody whose turn it may be, an upcall thread of a scheduler, goes
/// before the running thread.
pub fn goes_before(core: &Core, upcall: &Thread, current: &Thread) -> Option<Scheduler> {
    if is_enabled(core, upcall.path()) {
        closest(core, upcall, current)
    } else {
        None
    }
}

/// `()`: the calling upcall is finished.
pub fn done(core: &mut Core, upcall: &mut Thread) -> Result<(), Error> {
    if upcall.lacks(state::BRAND) || !upcall.is_at_base() {
        return Err(Error::NotUpcall);
    }
    let Ok(brand) = get(u64::from(upcall.brand.wrapping_sub(1))) else { return Err(Error::NotUpcall) };
    if is_enabled(core, &brand.path) {
        if let Some(word) = brand.claim() {
            brand.begin(upcall, word);
            core.enter_space(component::get(upcall.component).space);
            leave_kernel(core);
            return Ok(());
        }
    }
    let interrupted = core::mem::take(&mut upcall.interrupted);
    charge(core, upcall);
    core.current = core::ptr::null_mut();
    finish(core, upcall, brand);
    match resumable(core, interrupted, upcall) {
        Some(After::Sleep) => sleep(core, core.expiry),
        Some(After::Run(thread)) => {
            thread.preempter = 0;
            run(core, thread, core.expiry)
        }
        None => post_root(core, event::UPCALL_COMPLETE),
    }
    Ok(())
}

/// An upcall that a scheduler retires while it dispatches another thread. It is given up here.
pub fn retire(core: &mut Core, upcall: &mut Thread) {
    upcall.interrupted = 0;
    if let Ok(brand) = get(u64::from(upcall.brand.wrapping_sub(1))) {
        finish(core, upcall, brand);
    }
}

/// The upcall is free, or active once more if a trigger waits. It is given up here.
fn finish(core: &mut Core, upcall: &mut Thread, brand: &'static Brand) {
    post_slots(core, &brand.path, slot::COMPLETED);
    upcall.set(state::INACTIVE);
    upcall.release();
    // A trigger may have come between the look and the line above.
    if !brand.waits() {
        return;
    }
    let Some(upcall) = brand.take_upcall(core) else { return };
    if let Some(word) = brand.claim() {
        upcall.clear(state::INACTIVE);
        brand.begin(upcall, word);
        post_slots(core, &brand.path, slot::ACTIVE);
        core.deferred = true;
    }
    upcall.release();
}

/// What runs after an upcall, where no scheduler needs to be asked.
enum After {
    Sleep,
    Run(&'static mut Thread),
}

/// Whoever the upcall interrupted, taken for this core, if nobody that the kernel knows of should run before it.
fn resumable(core: &Core, interrupted: u16, upcall: &Thread) -> Option<After> {
    if core.deferred {
        return None;
    }
    if interrupted == IDLE_CORE {
        let root = Shared::of(core, core.root().component());
        return (root.next_thread() == IDLE).then_some(After::Sleep);
    }
    let thread = thread::any(interrupted.checked_sub(1)?.into())?;
    // SAFETY: `take` succeeds only if no other core has the thread; from then on it is this core's.
    let thread = unsafe {
        if !(*thread).take_new(core.id) {
            return None;
        }
        &mut *thread
    };
    let whole = thread.lacks(state::STOPPED | state::INACTIVE | state::SUSPENDED);
    if whole
        && thread.preempter == upcall.id + 1
        && !component::get(thread.component).is_stopped()
        && !is_overtaken(core, thread, upcall)
    {
        return Some(After::Run(thread));
    }
    thread.release();
    None
}

/// Whether a scheduler of the thread's, from the closest that it shares with the upcall down, has chosen somebody who is
/// more urgent than it.
fn is_overtaken(core: &Core, thread: &Thread, upcall: &Thread) -> bool {
    let path = thread.path();
    let common = (0..MAX_SCHEDULERS)
        .take_while(|&depth| {
            let (own, other) = (path.at(depth).identity(), upcall.path().at(depth).identity());
            own.is_some() && own == other
        })
        .count()
        .saturating_sub(1);
    path.holders().skip(common).any(|(scheduler, slot)| {
        let region = Shared::of(core, scheduler.component());
        let Some(next) = thread::get(region.next_thread()) else { return false };
        // SAFETY: path and state are atomics, home is written during set-up only.
        let (next_path, home) = unsafe { ((*next).path(), (*next).is_scheduler_upcall().then_some((*next).home)) };
        let theirs = next_path.at(scheduler.depth);
        if theirs.identity() != Some(scheduler.identity) || core::ptr::eq(next, thread) {
            return false;
        }
        // Both under one child: that is the child's to say.
        let child = path.at(scheduler.depth + 1).identity();
        let same = child
            .is_some_and(|it| next_path.at(scheduler.depth + 1).identity() == Some(it) || home == Some(it.component()));
        !same && region.urgency(theirs.slot()) < region.urgency(slot)
    })
}
