//! The kernel of Tactus: mechanism only.
//!
//! It has components, threads, invocations, faults and cores; it has no scheduler, allocates nothing after start-up,
//! takes no lock but where monitors of several cores must agree on one order, and is not preemptible. Which thread runs is decided by the root scheduler, a component at user
//! level, and by those below it in a tree, through `switch_thread`; see `call.rs` for every call and `dispatch.rs` for how
//! events reach them.
//!
//! Nothing that a component passes in is a kernel address: arguments are numbers, checked against tables, and memory
//! shared with a scheduler is reached through the kernel's own mapping of it.
#![no_std]
#![no_main]

mod arch;
mod brand;
mod call;
mod card;
#[cfg(feature = "check")]
mod check;
mod component;
mod delivery;
mod dispatch;
mod event_source;
mod eviction;
mod fault;
mod frames;
mod layout;
mod machine;
mod mailbox;
mod memory;
mod monitor;
mod objects;
mod path;
mod percore;
mod region;
mod reply;
mod restart;
mod set_up;
mod shootdown;
mod slice;
mod stop;
mod switch;
mod thread;
mod tree;
mod upcall;

use arch::entry::leave;
use arch::loader::{BootInfo, Sandbox};
use arch::port::time_stamp;
use arch::serial::say;
use arch::{
    acpi, apic, descriptors, floating_point, idle, lines, paging, protect, serial, smp, speculation as processor, time,
    FrameSource,
};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use frames::Frames;
use machine::{
    components, cores, end, turn, CLOCK, END_BAD_IMAGE, END_KERNEL_FAULT, PLAIN_TIMER, TIME_STAMP_RATE, TURN,
};
use tactus_abi::image::{role, speculation};
use tactus_abi::shared::{event, Clock};

/// Cores that wait for the run to begin.
static WAITING: AtomicUsize = AtomicUsize::new(0);
/// The start of the run in time-stamp ticks; 0 while it is not decided.
static EPOCH: AtomicU64 = AtomicU64::new(0);
extern "C" {
    static kernel_end: u8;
}

#[no_mangle]
extern "C" fn kernel_main(magic: u32, address: u32) -> ! {
    let sandbox = Sandbox::find(magic, address);
    serial::set_up(sandbox.map_or(serial::FIRST, Sandbox::console));
    descriptors::fill_interrupts();
    // In a sandbox they are the monitor's.
    if sandbox.is_none() {
        apic::silence_legacy();
    }
    apic::set_up();
    percore::set_up(0, apic::id());
    apic::take_error_reports();
    paging::protect_from_user();
    protect::protect_kernel(percore::guards());
    match start(magic, address, sandbox) {
        Ok(()) => run_core(),
        Err(reason) => {
            say!("tactus: cannot start: {reason}");
            end(END_BAD_IMAGE)
        }
    }
}

/// Everything up to the first component.
fn start(magic: u32, address: u32, sandbox: Option<Sandbox>) -> Result<(), StartError> {
    let info = BootInfo::read(magic, address).ok_or(StartError::NoModule)?;
    let image = set_up::Image::read(info.image).map_err(StartError::Image)?;
    let told = image.header.speculation;
    if told & speculation::ACCEPTS_MELTDOWN == 0 && processor::has_meltdown() {
        return Err(StartError::Meltdown);
    }
    if told & speculation::BRANCH_BARRIERS != 0 {
        let there = processor::use_barriers();
        dispatch::SPECIAL_CHANGES.store(there, Ordering::Relaxed);
        if !there {
            say!("tactus: branch barriers were asked for, and this processor has none");
        }
    }
    let rates = sandbox.map_or_else(time::rates, Sandbox::rates);
    TIME_STAMP_RATE.store(rates.time_stamp, Ordering::Relaxed);
    machine::APIC_RATE.store(rates.apic, Ordering::Relaxed);
    let (processors, count) = acpi::processors(info.acpi_root);
    let wanted = image.header.cores as usize;
    if count < wanted {
        return Err(StartError::Cores { wanted, found: count });
    }
    let mut frames = Frames::new(&info, (&raw const kernel_end) as u64, &image.header);
    if !frames.is_every(frames.kernel_colours()) {
        protect::move_kernel(&mut frames).ok_or(StartError::Image(set_up::ImageError::OutOfMemory))?;
    }
    let trace = set_up::set_up(&image, &info, &mut frames, rates).map_err(StartError::Image)?;
    machine::CORES.store(wanted, Ordering::Relaxed);
    // A sandbox has no devices.
    if sandbox.is_none() {
        lines::set_up(info.acpi_root);
    }
    machine::COMPONENTS.store(image.header.components as usize, Ordering::Relaxed);
    // In a sandbox another core lets the time pass.
    idle::set_up(wanted, sandbox.is_none() && rates.emulated && (image.header.turn != 0 || wanted == 1));
    let own = apic::id();
    let others = processors[..count].iter().copied().filter(|&id| id != own);
    if wanted > 1 {
        smp::reset(others.clone().take(wanted - 1), rates.time_stamp);
    }
    for (number, apic_id) in (1..wanted).zip(others) {
        if !smp::start(number, apic_id, percore::kernel_stack(number), rates.time_stamp) {
            return Err(StartError::Cores { wanted, found: number });
        }
    }
    if rates.emulated {
        card::write(&image.header, &frames);
        // The emulator's time stamp counts nanoseconds.
        let (turn_length, sharing) = sandbox.map_or((image.header.turn.into(), wanted), Sandbox::turns);
        TURN.store(turn_length, Ordering::Relaxed);
        machine::SHARING.store(sharing, Ordering::Relaxed);
        if turn() != 0 {
            slice::set_up();
        }
    }
    if turn() == 0 {
        event_source::shorten_releases();
    }
    PLAIN_TIMER.store(turn() == 0 && rates.time_stamp == rates.apic, Ordering::Relaxed);
    say!(
        "tactus: {} cores, {} components, {} threads, {} KiB in use, trace {:#x}+{:#x}, clock {} kHz, {} ticks since reset",
        wanted,
        image.header.components,
        image.header.threads,
        frames.used() / 1024,
        trace.start,
        trace.end - trace.start,
        rates.time_stamp / 1000,
        time_stamp()
    );
    Ok(())
}

/// Why the system cannot start.
enum StartError {
    NoModule,
    Image(set_up::ImageError),
    Cores { wanted: usize, found: usize },
    Meltdown,
}

impl core::fmt::Display for StartError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            StartError::NoModule => write!(f, "the boot loader passed no image (PVH or multiboot2 module)"),
            StartError::Meltdown => write!(
                f,
                "this processor may have Meltdown, by which any component reads all memory; take another one, or accept that with \
                 accept-meltdown = true under [machine]"
            ),
            StartError::Image(error) => error.fmt(f),
            StartError::Cores { wanted, found } => {
                write!(f, "the system wants {wanted} cores, the machine has {found}")
            }
        }
    }
}

/// Another core begins here.
#[no_mangle]
extern "C" fn ap_main() -> ! {
    let (id, apic) = smp::starting();
    percore::set_up(id, apic);
    paging::protect_from_user();
    apic::set_up();
    smp::is_up(id);
    run_core()
}

/// Waits for all cores, then runs the core's scheduler for the first time.
fn run_core() -> ! {
    let waiting = WAITING.fetch_add(1, Ordering::SeqCst) + 1;
    // SAFETY: the kernel's own code; no other reference to the block is alive.
    let core = unsafe { percore::current() };
    // The last core to come here starts the run.
    if waiting == cores() {
        begin_run();
    }
    while EPOCH.load(Ordering::SeqCst) == 0 {
        core::hint::spin_loop();
    }
    processor::set_up_core();
    floating_point::set_up_core();
    core.charged = time_stamp();
    core.entered = core.charged;
    #[cfg(feature = "check")]
    check::begin(core);
    // SAFETY: the core's own upcall, not running anywhere.
    unsafe { (*core.upcall).take(core.id) };
    dispatch::post_root(core, event::START);
    // SAFETY: the core's current thread is the upcall, complete; the stack in use is not needed any more.
    unsafe { leave() }
}

/// Decides the start of the run, the same for all cores: 20 ms ahead, and as much for every four further schedulers, so that
/// they can set themselves up before; in a sandbox not before those beside it.
fn begin_run() {
    let schedulers = (0..components()).filter(|number| component::get(*number).has_role(role::SCHEDULER));
    let lead = TIME_STAMP_RATE.load(Ordering::Relaxed) / 200 * (4 + schedulers.count() as u64);
    let earliest = time_stamp() + lead;
    let epoch = Sandbox::own().map_or(earliest, |it| it.begin(earliest));
    paging::drop_identity();
    // SAFETY: the clock page is the kernel's to write; no component runs yet.
    unsafe { (*paging::direct::<Clock>(CLOCK.load(Ordering::Relaxed))).epoch = epoch };
    EPOCH.store(epoch, Ordering::SeqCst);
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    say!("tactus: kernel panic: {info}");
    end(END_KERNEL_FAULT)
}
