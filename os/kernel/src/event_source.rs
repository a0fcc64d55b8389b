//! What a brand is wired to: an interrupt line, the tick of a core, another core; and which lines release jobs.
//!
//! Interrupt lines come to core 0, which alone touches the interrupt controller, and go on from there.

use crate::arch::lines;
use crate::brand::{self, Brand};
use crate::component;
use crate::dispatch::{arm, first_timeout};
use crate::machine::{cores, microseconds};
use crate::mailbox::{ring, MAIL};
use crate::percore::Core;
use crate::thread::Thread;
use crate::timer::start_timer;
use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};
use tactus_abi::call::{source, Error, SHORTEST_TICK};
use tactus_abi::layout::{MAX_BRANDS, MAX_CORES};

/// The core that has the interrupt controller.
pub const LINES_CORE: usize = 0;

/// The brand, plus one, that each line is wired to. Known to the entry code.
pub static LINES: [AtomicU16; lines::COUNT] = [const { AtomicU16::new(0) }; lines::COUNT];
/// The component, plus one, of whose tasks each line releases jobs.
static RELEASES: [AtomicU16; lines::COUNT] = [const { AtomicU16::new(0) }; lines::COUNT];
/// Lines that may interrupt, as bits. Known to the entry code. Who is wired or taken off changes nothing of it: a line that nobody has
/// interrupts at most once more.
pub static OPEN: AtomicU32 = AtomicU32::new(0);
/// The brand, plus one, above the period (microseconds) of each core's tick.
pub static TICKS: [AtomicU64; MAX_CORES] = [const { AtomicU64::new(0) }; MAX_CORES];

const _: () = assert!(MAX_BRANDS <= 32 && lines::COUNT <= 32 && lines::COUNT == tactus_abi::layout::LINES);

/// The source's core, if there is one.
pub fn core_of(source: u64) -> Result<usize, Error> {
    let core = (source & 0xff) as usize;
    if core < cores() {
        Ok(core)
    } else {
        Err(Error::BadCore)
    }
}

/// Wires a brand to a source.
pub fn wire(core: &mut Core, caller: &Thread, number: u64, wanted: u64) -> Result<(), Error> {
    let brand = brand::own(caller.component, number)?;
    let (kind, argument) = (wanted & !0xffff_ffff, wanted >> 8 & 0xff_ffff);
    let component::Component { lines, tick, .. } = component::get(caller.component);
    let good = match kind {
        source::LINE => argument < lines::COUNT as u64 && *lines & 1 << argument != 0,
        source::REMOTE => argument == 0,
        // The file gives it the right to some, and the shortest.
        source::TICK => *tick != 0 && argument >= (*tick).max(SHORTEST_TICK).into(),
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
        source::LINE => open_line(core, argument as usize),
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
fn take_off(core: &mut Core, brand: &Brand) -> bool {
    let old = brand.source.swap(0, SeqCst);
    let (kind, argument) = (old & !0xffff_ffff, (old >> 8 & 0xff_ffff) as usize);
    match kind {
        source::LINE => LINES[argument % lines::COUNT].store(0, SeqCst),
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

/// Takes all brands of the component off their sources.
pub fn take_off_all(core: &mut Core, component: u16) {
    brand::of(component).for_each(|brand| {
        take_off(core, brand);
    });
}

/// The brand's line may interrupt again.
pub fn acknowledge(core: &mut Core, caller: &Thread, number: u64) -> Result<(), Error> {
    let brand = brand::own(caller.component, number)?;
    let source = brand.source.load(SeqCst);
    if source & !0xffff_ffff != source::LINE {
        return Err(Error::BadSource);
    }
    open_line(core, (source >> 8 & 0xff_ffff) as usize);
    Ok(())
}

/// The lines, as bits, release jobs of the component's tasks. During set-up.
pub fn set_up_releases(component: u16, lines: u32) {
    let own = RELEASES.iter().enumerate().filter(|(line, _)| lines & 1 << line != 0);
    own.for_each(|(_, it)| it.store(component + 1, SeqCst));
}

/// Whether the line releases jobs.
pub fn releases(line: usize) -> bool {
    RELEASES[line % lines::COUNT].load(SeqCst) != 0
}

/// The entry code may handle interrupts of lines that release jobs. Once their controller is found, where cores take no turns.
pub fn shorten_releases() {
    (0..lines::COUNT).filter(|line| releases(*line)).for_each(lines::shorten);
}

/// Whether any line releases jobs.
pub fn any_releases() -> bool {
    (0..lines::COUNT).any(releases)
}

/// The line, which releases jobs of the caller's component, may interrupt again.
pub fn acknowledge_line(core: &Core, caller: &Thread, line: u64) -> Result<(), Error> {
    let own = RELEASES.get(line as usize).is_some_and(|it| it.load(SeqCst) == caller.component + 1);
    if !own {
        return Err(Error::BadSource);
    }
    open_line(core, line as usize);
    Ok(())
}

/// Lets a line interrupt, which another core than its own asks for once for each of its interrupts.
fn open_line(core: &Core, line: usize) {
    let line = line % lines::COUNT;
    if OPEN.fetch_or(1 << line, SeqCst) & 1 << line != 0 {
        return;
    }
    if core.id as usize == LINES_CORE {
        lines::set(line, true);
    } else if MAIL[LINES_CORE].lines.fetch_or(1 << line, SeqCst) & 1 << line == 0 {
        ring(LINES_CORE);
    }
}

/// The core's tick has changed.
fn set_tick(core: &mut Core, target: usize) {
    if core.id as usize == target {
        start_tick(core);
    } else if !MAIL[target].tick.swap(true, SeqCst) {
        // Who has changed it before the core has looked has rung for this, too.
        ring(target);
    }
}

/// The core's own tick begins, or ends.
pub fn start_tick(core: &mut Core) {
    let ticks = TICKS[core.id as usize % MAX_CORES].load(SeqCst);
    let period = ticks & 0xffff_ffff;
    core.ticking = brand::get((ticks >> 32).wrapping_sub(1)).ok();
    core.tick_source = source::TICK | period << 8 | core.id;
    core.tick_period = microseconds(period);
    core.tick = if period == 0 { tactus_abi::call::NO_TIMEOUT } else { core.entered + core.tick_period };
    arm(core, first_timeout(core));
    start_timer(core);
}
