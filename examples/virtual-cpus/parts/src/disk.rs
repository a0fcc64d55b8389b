//! A device that interrupts far too often: every 50 µs, for 200 µs of work. A brand is wired to its line, and the brand's upcall is bound
//! to an I/O VCPU with 4 % of the core, on behalf of the VCPU that made the request.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use parts::{Meter, MICROSECOND};
use tactus_packets::timer::{Registers, Timer};
use tactus_rt::abi::call::{source, BrandOperation};
use tactus_rt::abi::layout::DEVICES;
use tactus_rt::{calls, grant, Caller};

tactus_rt::component! { thread: leave, brand: interrupt, services: [request, worked, interrupts] }

/// The line on which the timer interrupts.
const LINE: u64 = 2;
/// Millionths of the core.
const SHARE: u64 = 40_000;
const BETWEEN: u64 = 50 * MICROSECOND;
const WORK: u64 = 200 * MICROSECOND;

static METER: Meter = Meter::new();
static COUNT: AtomicU64 = AtomicU64::new(0);
static BRAND: AtomicU64 = AtomicU64::new(u64::MAX);
/// Counts of the timer between two interrupts.
static COUNTS: AtomicU64 = AtomicU64::new(0);

/// The device's registers, mapped into this component alone.
struct Window;

impl Registers for Window {
    fn read(&self, offset: u64) -> u64 {
        // SAFETY: the image maps the device's page here and nowhere else; `timer` keeps to its registers.
        unsafe { ((DEVICES + offset) as *const u64).read_volatile() }
    }
    fn write(&self, offset: u64, value: u64) {
        // SAFETY: as above.
        unsafe { ((DEVICES + offset) as *mut u64).write_volatile(value) }
    }
}

/// The thread that every component gets is not needed here: upcalls are threads of their own.
fn leave(_: [u64; 2]) {
    let _ = grant("exit").call([0; 5]);
}

/// `(main VCPU)`: the disk works for it from now on.
fn request(_: Caller, [vcpu, ..]: [u64; 5]) -> [u64; 2] {
    [0, begin(vcpu).is_none().into()]
}

fn begin(vcpu: u64) -> Option<()> {
    let timer = Timer::find(Window, LINE as u32).ok()?;
    COUNTS.store(BETWEEN * timer.frequency() / 1_000_000_000, Relaxed);
    let brand = calls::brand_control(BrandOperation::Create, 0, 1).ok()?;
    BRAND.store(brand, Relaxed);
    let Ok([disk, 0]) = grant("create_io").call([SHARE, 0, 0, 0, 0]) else { return None };
    let Ok([_, 0]) = grant("upcall").call([brand, disk, vcpu, 0, 0]) else { return None };
    calls::brand_control(BrandOperation::Wire, brand, source::LINE | LINE << 8).ok()?;
    timer.start(COUNTS.load(Relaxed));
    Some(())
}

fn interrupt(_: u64) {
    COUNT.fetch_add(1, Relaxed);
    METER.work(WORK);
    // Before the next one is set: an edge that finds the line masked is lost.
    let _ = calls::brand_control(BrandOperation::Acknowledge, BRAND.load(Relaxed), 0);
    let timer = Timer::running(Window);
    timer.interrupt_at(timer.now() + COUNTS.load(Relaxed));
}

/// `() -> nanoseconds worked`.
fn worked(_: Caller, _: [u64; 5]) -> [u64; 2] {
    [METER.nanos(), 0]
}

/// `() -> interrupts served`.
fn interrupts(_: Caller, _: [u64; 5]) -> [u64; 2] {
    [COUNT.load(Relaxed), 0]
}
