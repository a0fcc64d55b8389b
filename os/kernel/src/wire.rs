//! What triggers a brand without a call on its own core: interrupt lines, ticks, other cores; and word from a scheduler to
//! itself on another core.
//!
//! A core writes into another one's [`Mail`] and interrupts it. What the sender has asked for already and the receiver has
//! not come to yet asks for no second interrupt; so nobody can hold up a core with messages, beyond one interrupt each time
//! that the receiver itself gets to run. Interrupt lines come to core 0, which alone touches the interrupt controller, and
//! go on from there.

use crate::arch::entry::VECTOR_TIMER;
use crate::arch::percore::{self, Core};
use crate::arch::port::time_stamp;
use crate::arch::{apic, lines};
use crate::brand::{self, Brand};
use crate::component;
use crate::dispatch::{arm, enter, first_timeout, is_under, post_root};
use crate::path::{self, Scheduler};
use crate::region::{post_slots, Shared};
use crate::slice::start_timer;
use crate::thread::{self, Thread};
use crate::upcall;
use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, AtomicU8};
use tactus_abi::call::{source, Error};
use tactus_abi::layout::{MAX_BRANDS, MAX_COMPONENTS, MAX_CORES, MAX_UPCALLS};
use tactus_abi::shared::{cause, event, slot};

/// The shortest tick (microseconds): what it costs stays below a hundredth.
const SHORTEST_TICK: u64 = 50;
/// The core that has the interrupt controller.
const LINES_CORE: usize = 0;

/// What other cores have left for a core.
struct Mail {
    /// Brands that were triggered, as bits.
    brands: AtomicU32,
    /// Interrupt lines whose state has changed, as bits.
    lines: AtomicU32,
    /// The tick has changed.
    tick: AtomicBool,
    /// Schedulers that were sent word, as bits.
    schedulers: [AtomicU64; MAX_COMPONENTS / 64],
    /// How far each one's word has come: see [`SENT`].
    word: [AtomicU8; MAX_COMPONENTS],
}

/// An interrupt is on its way.
const SENT: u8 = 1;
/// It has come, but the scheduler has not had this core since.
const POSTED: u8 = 2;

static MAIL: [Mail; MAX_CORES] = [const {
    Mail {
        brands: AtomicU32::new(0),
        lines: AtomicU32::new(0),
        tick: AtomicBool::new(false),
        schedulers: [const { AtomicU64::new(0) }; MAX_COMPONENTS / 64],
        word: [const { AtomicU8::new(0) }; MAX_COMPONENTS],
    }
}; MAX_CORES];

/// The brand, plus one, that each line is wired to.
static LINES: [AtomicU16; lines::COUNT] = [const { AtomicU16::new(0) }; lines::COUNT];
/// Lines that may interrupt, as bits.
static OPEN: AtomicU32 = AtomicU32::new(0);
/// The brand, plus one, above the period (microseconds) of each core's tick.
static TICKS: [AtomicU64; MAX_CORES] = [const { AtomicU64::new(0) }; MAX_CORES];

const _: () = assert!(MAX_BRANDS <= 32 && lines::COUNT <= 32);

/// Interrupts the core so that it looks at its mail.
fn ring(core: usize) {
    crate::slice::calls(core);
    // SAFETY: APIC numbers are written during set-up only.
    apic::mail(unsafe { (*percore::of(core % MAX_CORES)).apic });
    crate::slice::let_look();
}

/// The source's core, if there is one.
fn core_of(source: u64) -> Result<usize, Error> {
    let core = (source & 0xff) as usize;
    if core < crate::cores() {
        Ok(core)
    } else {
        Err(Error::BadCore)
    }
}

/// Wires a brand to a source.
pub fn wire(core: &mut Core, caller: &Thread, number: u64, wanted: u64) -> Result<(), Error> {
    let brand = brand::own(caller.component, number)?;
    let (kind, argument) = (wanted & !0xffff_ffff, wanted >> 8 & 0xff_ffff);
    let lines = component::get(caller.component).lines;
    let good = match kind {
        source::LINE => argument < lines::COUNT as u64 && lines & 1 << argument != 0,
        source::REMOTE => argument == 0,
        source::TICK => argument >= SHORTEST_TICK,
        _ => false,
    };
    if !good {
        return Err(Error::BadSource);
    }
    let target = core_of(wanted)?;
    brand.source.compare_exchange(0, wanted, SeqCst, SeqCst).map_err(|_| Error::InUse)?;
    let mark = number + 1;
    let free = match kind {
        source::LINE => LINES[argument as usize].compare_exchange(0, mark as u16, SeqCst, SeqCst).is_ok(),
        source::TICK => TICKS[target].compare_exchange(0, mark << 32 | argument, SeqCst, SeqCst).is_ok(),
        _ => true,
    };
    if !free {
        brand.source.store(0, SeqCst);
        return Err(Error::InUse);
    }
    match kind {
        source::LINE => set_line(core, argument as usize, true),
        source::TICK => set_tick(core, target),
        _ => {}
    }
    Ok(())
}

/// Takes the brand off its source, whatever that is.
pub fn unwire(core: &mut Core, caller: &Thread, number: u64) -> Result<(), Error> {
    if take_off(core, brand::own(caller.component, number)?) {
        Ok(())
    } else {
        Err(Error::BadSource)
    }
}

/// Takes the brand off its source; whether it had one.
pub fn take_off(core: &mut Core, brand: &Brand) -> bool {
    let old = brand.source.swap(0, SeqCst);
    let (kind, argument) = (old & !0xffff_ffff, (old >> 8 & 0xff_ffff) as usize);
    match kind {
        source::LINE => {
            set_line(core, argument, false);
            LINES[argument % lines::COUNT].store(0, SeqCst);
        }
        source::TICK => {
            let target = (old & 0xff) as usize % MAX_CORES;
            TICKS[target].store(0, SeqCst);
            set_tick(core, target);
        }
        source::REMOTE => {}
        _ => return false,
    }
    true
}

/// The brand's line may interrupt again.
pub fn acknowledge(core: &mut Core, caller: &Thread, number: u64) -> Result<(), Error> {
    let brand = brand::own(caller.component, number)?;
    let source = brand.source.load(SeqCst);
    if source & !0xffff_ffff != source::LINE {
        return Err(Error::BadSource);
    }
    set_line(core, (source >> 8 & 0xff_ffff) as usize, true);
    Ok(())
}

/// `(core, brand)`.
pub fn trigger_remote(caller: &Thread, target: u64, number: u64) -> Result<(), Error> {
    let brand = brand::own(caller.component, number)?;
    let target = core_of(target.min(0xff))?;
    if brand.source.load(SeqCst) != source::REMOTE | target as u64 {
        return Err(Error::BadSource);
    }
    send(target, brand, number, 0);
    Ok(())
}

/// Triggers a brand on another core.
fn send(target: usize, brand: &Brand, number: u64, word: u64) {
    brand.push(word);
    // An upcall that is active looks itself for more when it ends.
    if brand.has_free_upcall() && MAIL[target].brands.fetch_or(1 << number, SeqCst) & 1 << number == 0 {
        ring(target);
    }
}

/// Word to the scheduler on another core.
pub fn notify(scheduler: Scheduler, target: usize) {
    let number = usize::from(scheduler.component()) % MAX_COMPONENTS;
    let mail = &MAIL[target % MAX_CORES];
    if mail.word[number].compare_exchange(0, SENT, SeqCst, SeqCst).is_ok() {
        mail.schedulers[number / 64].fetch_or(1 << (number % 64), SeqCst);
        ring(target);
    }
}

/// The scheduler gets this core, or has it: word from another one may interrupt again. Whether word had come that it may not
/// have had the core for since: what was sent after that sent no interrupt, so it has to look once more.
pub fn reached(core: &Core, component: u16) -> bool {
    let word = &MAIL[core.id as usize % MAX_CORES].word[usize::from(component) % MAX_COMPONENTS];
    word.load(SeqCst) == POSTED && word.compare_exchange(POSTED, 0, SeqCst, SeqCst).is_ok()
}

/// Lets a line interrupt, or not.
fn set_line(core: &Core, line: usize, open: bool) {
    let bit = 1 << (line % lines::COUNT);
    if open {
        OPEN.fetch_or(bit, SeqCst);
    } else {
        OPEN.fetch_and(!bit, SeqCst);
    }
    if core.id as usize == LINES_CORE {
        lines::set(line, open);
    } else if MAIL[LINES_CORE].lines.fetch_or(bit, SeqCst) & bit == 0 {
        ring(LINES_CORE);
    }
}

/// The core's tick has changed.
fn set_tick(core: &mut Core, target: usize) {
    if core.id as usize == target {
        start_tick(core);
    } else {
        MAIL[target].tick.store(true, SeqCst);
        ring(target);
    }
}

/// The core's own tick begins, or ends.
fn start_tick(core: &mut Core) {
    let ticks = TICKS[core.id as usize % MAX_CORES].load(SeqCst);
    let period = ticks & 0xffff_ffff;
    core.ticking = brand::get((ticks >> 32).wrapping_sub(1)).ok();
    core.tick_source = source::TICK | period << 8 | core.id;
    core.tick_period = crate::microseconds(period);
    core.tick = if period == 0 { tactus_abi::call::NO_TIMEOUT } else { core.entered + core.tick_period };
    arm(core, first_timeout(core));
    start_timer(core);
}

/// The tick is due: when the next one comes, and how many went by with it; those that were missed come no more.
#[inline(always)]
pub fn tick_passed(core: &mut Core) -> u64 {
    let (late, period) = (core.entered - core.tick, core.tick_period);
    if late < period {
        core.tick += period;
        return 1;
    }
    let passed = late.checked_div(period).unwrap_or(0) + 1;
    core.tick += passed * period;
    passed
}

/// The tick triggers its brand, which is told how many went by. Whoever is the core's current thread afterwards goes on.
pub fn tick(core: &mut Core, passed: u64) {
    // Taken off its source meanwhile, by another core: then it ticks no more from now on.
    match core.ticking.filter(|brand| brand.source.load(SeqCst) == core.tick_source) {
        Some(brand) => upcall::trigger(core, brand, passed),
        None => crate::fault::go_on(core),
    }
}

/// The tick alone is due, at user level, where the timer counts as the time-stamp counter does and is set for nothing but
/// time-outs. `now`: when the kernel was entered.
#[no_mangle]
extern "C" fn kernel_tick(now: u64) {
    // SAFETY: this is the kernel's entry on this core; nobody else holds the block.
    let core = unsafe { percore::current() };
    core.entered = now;
    core.cause = cause::INTERRUPT + VECTOR_TIMER;
    // SAFETY: a thread was running, and it is this core's.
    let thread = unsafe { &mut *core.current };
    crate::fault::leave_sequence(thread);
    apic::end_of_interrupt();
    let passed = tick_passed(core);
    let next = core.timeouts[0].min(core.tick);
    (core.expiry, core.armed) = (next, next);
    let now = time_stamp();
    let ticks = next.wrapping_sub(now);
    let usual = ticks.wrapping_sub(1) < apic::LONGEST_COUNT.into();
    apic::start_timer(match usual {
        true => ticks as u32,
        false if next <= now => 1,
        false => apic::LONGEST_COUNT,
    });
    match core.ticking.filter(|brand| brand.source.load(SeqCst) == core.tick_source) {
        Some(brand) => upcall::trigger_interrupting(core, brand, thread, passed),
        None => crate::fault::go_on(core),
    }
}

/// A line's interrupt: it is silent until somebody acknowledges it.
pub fn line(core: &mut Core, line: u64) {
    let line = line as usize % lines::COUNT;
    OPEN.fetch_and(!(1 << line), SeqCst);
    lines::set(line, false);
    lines::end(line);
    let number = u64::from(LINES[line].load(SeqCst)).wrapping_sub(1);
    let Ok(brand) = brand::get(number) else { return crate::fault::go_on(core) };
    match core_of(brand.source.load(SeqCst)) {
        Ok(target) if target as u64 != core.id => {
            send(target, brand, number, line as u64);
            crate::fault::go_on(core)
        }
        _ => upcall::trigger(core, brand, line as u64),
    }
}

/// The core looks at its mail. Whoever is its current thread afterwards goes on.
pub fn mail(core: &mut Core) {
    let mail = &MAIL[core.id as usize % MAX_CORES];
    if core.id as usize == LINES_CORE {
        bits(mail.lines.swap(0, SeqCst).into(), |line| {
            lines::set(line, OPEN.load(SeqCst) & 1 << line != 0);
        });
    }
    if mail.tick.swap(false, SeqCst) {
        start_tick(core);
    }
    bits(mail.brands.swap(0, SeqCst).into(), |number| {
        let Ok(brand) = brand::get(number as u64) else { return };
        for _ in 0..MAX_UPCALLS {
            if !brand.waits() || !brand.has_free_upcall() {
                break;
            }
            upcall::serve(core, brand);
        }
    });
    for (place, schedulers) in mail.schedulers.iter().enumerate() {
        bits(schedulers.swap(0, SeqCst), |bit| deliver(core, (place * 64 + bit) as u16));
    }
    crate::fault::go_on(core)
}

/// Calls for each bit that is set.
fn bits(mut set: u64, mut each: impl FnMut(usize)) {
    while set != 0 {
        each(set.trailing_zeros() as usize);
        set &= set - 1;
    }
}

/// Word for a scheduler from another core. If this core is not in its hands, those above hear of it like of a brand's
/// upcall.
fn deliver(core: &mut Core, number: u16) {
    let word = &MAIL[core.id as usize % MAX_CORES].word[usize::from(number) % MAX_COMPONENTS];
    let Some(scheduler) = path::scheduler(number) else { return word.store(0, SeqCst) };
    Shared::of(core, number).post(event::NOTIFY);
    if is_under(core, scheduler) {
        word.store(0, SeqCst);
        return enter(core, scheduler);
    }
    word.store(POSTED, SeqCst);
    let component = component::get(number);
    let own = component.upcalls[core.id as usize % MAX_CORES].checked_sub(1);
    let Some(own) = own.and_then(|it| thread::any(it.into())) else { return };
    // SAFETY: its path is of atomics, its number and home are written during set-up only.
    let own = unsafe { &*own };
    post_slots(core, own.path(), slot::ACTIVE);
    // SAFETY: the running thread is this core's.
    let Some(current) = (unsafe { core.current.as_ref() }) else { return post_root(core, 0) };
    match upcall::goes_before(core, own, current) {
        Some(common) => enter(core, common),
        None => core.deferred = true,
    }
}
