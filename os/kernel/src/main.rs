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
mod snapshot;
mod stop;
mod switch;
mod thread;
mod timer;
mod tree;
mod upcall;

use arch::cpu::time_stamp;
use arch::entry::leave;
use arch::loader::{self, BootInfo, Sandbox};
use arch::serial::say;
use arch::{
    floating_point, idle, interrupts, lines, paging, protect, slices, smp, speculation as processor, start, time,
    FrameSource,
};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use frames::Frames;
use machine::{components, cores, end, CLOCK, END_BAD_IMAGE, END_KERNEL_FAULT, PLAIN_TIMER, TIME_STAMP_RATE};
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
extern "C" fn kernel_main(first: loader::Passed, second: loader::Passed) -> ! {
    let sandbox = Sandbox::find(first, second);
    start::machine(sandbox);
    percore::set_up(0, interrupts::own_address());
    start::first_core(percore::guards());
    match start(first, second, sandbox) {
        Ok(()) => run_core(),
        Err(reason) => {
            say!("tactus: cannot start: {reason}");
            end(END_BAD_IMAGE)
        }
    }
}

/// Everything up to the first component.
fn start(first: loader::Passed, second: loader::Passed, sandbox: Option<Sandbox>) -> Result<(), StartError> {
    let info = BootInfo::read(first, second).ok_or(StartError::NoModule)?;
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
    let rates = time::rates(sandbox);
    TIME_STAMP_RATE.store(rates.time_stamp, Ordering::Relaxed);
    let (processors, count) = smp::processors(info.firmware);
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
        lines::set_up(info.firmware);
    }
    machine::COMPONENTS.store(image.header.components as usize, Ordering::Relaxed);
    // In a sandbox another core lets the time pass.
    idle::set_up(wanted, sandbox.is_none() && rates.emulated && (image.header.turn != 0 || wanted == 1));
    let own = interrupts::own_address();
    let others = processors[..count].iter().copied().filter(|&id| id != own);
    if wanted > 1 {
        smp::reset(others.clone().take(wanted - 1), rates.time_stamp);
    }
    for (number, address) in (1..wanted).zip(others) {
        if !smp::start(number, address, percore::kernel_stack(number), rates.time_stamp) {
            return Err(StartError::Cores { wanted, found: number });
        }
    }
    if rates.emulated {
        card::write(&image.header, &frames);
        let (turn, sharing) = sandbox.map_or((image.header.turn.into(), wanted), Sandbox::turns);
        timer::set_up_slices(turn, sharing);
    }
    if !slices::are_there() {
        event_source::shorten_releases();
    }
    PLAIN_TIMER.store(!slices::are_there() && rates.time_stamp == rates.timer, Ordering::Relaxed);
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
            StartError::NoModule => write!(f, "the boot loader passed no image ({} module)", loader::PROTOCOLS),
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
    let (id, address) = smp::starting();
    percore::set_up(id, address);
    start::core();
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
