//! What a processor gives to the kernel, and all that is particular to one: a folder for each beside this file.
//!
//! Nothing outside these folders names a register, an instruction, a bit of a page table, a vector, a port, a device or the turns of emulated
//! cores; and a folder imports nothing of the kernel but a source of frames (`tests/house`, `arch`). What it must give is said below, by
//! signature: a folder that lacks a line does not compile.
//!
//! | Module | What it gives |
//! |---|---|
//! | `block` | the head of a core's block, and what the processor is told of the core |
//! | `cpu` | the counter of time; the end of a run |
//! | `entry` | the ways in and out, assembled from the places that `layout.rs` names |
//! | `faults` | what exceptions mean |
//! | `floating_point` | the unit's state of threads |
//! | `idle` | how a core waits |
//! | `interrupts`, `lines` | numbers of interrupts, those between cores; lines of devices |
//! | `loader`, `start`, `smp` | what the loader passes; the first steps; the other cores |
//! | `paging`, `protect` | address spaces; the kernel's own pages |
//! | `pci` | devices of a bus as firmware left them |
//! | `registers` | the saved registers of a thread |
//! | `serial` | the console's port |
//! | `slices` | slices of emulated cores that take turns; a machine without them says that there are none |
//! | `speculation` | barriers of processors that execute ahead |
//! | `time`, `timer` | rates; the core's one-shot timer |

#[cfg(target_arch = "aarch64")]
pub mod aarch64;
mod frame_source;
#[cfg(target_arch = "x86_64")]
pub mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64 as processor;
#[cfg(target_arch = "x86_64")]
pub use x86_64 as processor;

pub use frame_source::FrameSource;
#[cfg(feature = "destruction")]
pub use processor::destruction;
pub use processor::{
    block, cpu, entry, faults, floating_point, idle, interrupts, lines, loader, paging, pci, protect, registers,
    serial, slices, smp, speculation, start, time, timer,
};

/// What each folder gives, by signature.
#[allow(clippy::type_complexity)]
const _: () = {
    use core::iter::Empty;
    use tactus_abi::call::ThreadState;
    use tactus_record::FaultKind;
    use {
        interrupts::Address, loader::Sandbox, paging::AddressSpace, paging::MapError, registers::Registers,
        registers::Words,
    };

    // The head of a core's block at an address, with the upper end of the core's stack; the current core's block.
    let _: fn(u64, u64) -> block::Head = block::Head::new;
    let _: unsafe fn() -> *mut u8 = block::current;
    let _ = (block::Head::EMPTY, block::Processor::EMPTY);
    // Tells the processor of the core: its stack, and those of faults that have their own; where the next interrupt saves registers; its block.
    let _: unsafe fn(&'static mut block::Processor, u64, [u64; block::FAULT_STACKS]) = block::Processor::load;
    let _: fn(&mut block::Processor, u64) = block::Processor::set_save_area;
    let _: fn(u64) = block::set_up_calls;

    let _: fn() -> u64 = cpu::time_stamp;
    // Ends the run with a code.
    let _: fn(u8) -> ! = cpu::end;
    // Copies words, and writes zeros behind them.
    let _: unsafe fn(*mut u64, *const u64, u64, u64) = cpu::copy_and_clear;

    // Leaves the kernel with the core's current thread.
    let _: unsafe fn() -> ! = entry::leave;

    // What an exception means for the component of a thread, and the address concerned; what it means in the kernel, on a guard page or not.
    let _: fn(&Registers, u64) -> (FaultKind, u64) = faults::describe;
    let _: fn(u64, bool) -> &'static str = faults::meaning;

    // Room for this many threads; the unit of a core; a thread's state is kept, or found again if it was interrupted; the unit is shut.
    let _: fn(&mut dyn FrameSource, usize) -> Option<()> = floating_point::set_up;
    let _: fn() = floating_point::set_up_core;
    let _: fn(u16) = floating_point::save;
    let _: fn(u16, bool) -> bool = floating_point::enter;
    let _: fn() = floating_point::shut;

    // How many cores there are, and whether they share one counted time; a core waits until a time-out, and is woken.
    let _: fn(usize, bool) = idle::set_up;
    let _: fn(u64, u64) -> ! = idle::wait;
    let _: fn() = idle::wake;

    // Numbers of the timer's interrupt, of those between cores, of those that nobody sent, and of the first line.
    let _: [u64; 6] = [
        interrupts::TIMER,
        interrupts::NOTIFY,
        interrupts::MAIL,
        interrupts::STOP,
        interrupts::SPURIOUS,
        interrupts::LINES,
    ];
    let _: fn(u64) -> bool = interrupts::is_interrupt;
    let _: fn() = interrupts::end;
    let _: fn() -> Address = interrupts::own_address;
    let _: [fn(Address); 3] = [interrupts::notify, interrupts::mail, interrupts::stop];

    // Finds the controller of lines in the firmware's tables; a line is open or not; it has interrupted; the entry code may handle it.
    let _: usize = lines::COUNT;
    let _: fn(u64) = lines::set_up;
    let _: fn(usize, bool) = lines::set;
    let _: fn(usize) = lines::silence;
    let _: fn(usize) = lines::shorten;

    let _: fn(loader::Passed, loader::Passed) -> Option<loader::BootInfo> = loader::BootInfo::read;
    let _: &str = loader::PROTOCOLS;
    // The monitor of a sandbox, if it is the loader, and what it says: turns and the cores that share them, the begin of the run.
    let _: fn(loader::Passed, loader::Passed) -> Option<Sandbox> = Sandbox::find;
    let _: fn() -> Option<Sandbox> = Sandbox::own;
    let _: fn(Sandbox) -> (u64, usize) = Sandbox::turns;
    let _: fn(Sandbox, u64) -> u64 = Sandbox::begin;

    // The kernel's pointer to physical memory; the table that all address spaces have in common.
    let _: fn(u64) -> *mut u8 = paging::direct;
    let _: fn() -> u64 = paging::kernel_top;
    let _: u64 = paging::USER_END;
    // Where memory begins.
    let _: u64 = paging::MEMORY;
    let _: AddressSpace = AddressSpace::NONE;
    let _: fn(&mut dyn FrameSource, u64) -> Result<AddressSpace, MapError> = AddressSpace::new;
    let _: fn(AddressSpace, &mut dyn FrameSource, u64, u64) -> Result<*mut u64, MapError> = AddressSpace::table;
    let _: fn(AddressSpace, &mut dyn FrameSource, u64, u64, u64, paging::Access) -> Result<(), MapError> =
        AddressSpace::map;
    let _: fn(AddressSpace, u64) -> Option<u64> = AddressSpace::frame_at;
    let _: fn(AddressSpace, u64) -> bool = AddressSpace::lets_write;
    let _: [fn(AddressSpace) -> u64; 1] = [AddressSpace::top];
    let _: fn(AddressSpace) = AddressSpace::load;
    // An entry that shows a frame, and the frame that it shows.
    let _: fn(u64, paging::Access) -> u64 = paging::leaf;
    let _: fn(u64) -> u64 = paging::frame_of;
    // An entry that showed nothing was written while the system runs: it counts from here on.
    let _: fn() = paging::shown;
    // Clears frames; forgets what this core remembers of components' pages, and the mapping of start-up.
    let _: unsafe fn(u64, u64) = paging::clear;
    let _: fn() = paging::forget_mappings;
    let _: fn() = paging::drop_identity;

    // The kernel's own pages: where one lies; memory in one piece; a frame that the kernel sees as well; its own colours.
    let _: fn(u64) -> Option<u64> = protect::physical;
    let _: fn(&mut dyn FrameSource, u64) -> Option<*mut u8> = protect::piece;
    let _: fn(&mut dyn FrameSource, u64) -> Option<u64> = protect::show;
    let _: fn(&mut dyn FrameSource) -> Option<()> = protect::move_kernel;

    let _: fn(u16, [u16; 2]) -> Result<pci::Function, pci::PciError> = pci::Function::find;
    let _: fn(pci::Function, u8) -> u32 = pci::Function::read;
    let _: fn(pci::Function, u8, u64) -> Result<u64, pci::PciError> = pci::Function::memory;
    let _: fn(pci::Function) = pci::Function::let_it_access_memory;

    // Where a thread goes on, with which stack; why it came in; words and status that it passes or gets.
    let _: Registers = Registers::NONE;
    let _: [fn(&Registers) -> u64; 4] = [Registers::instruction, Registers::stack, Registers::cause, Registers::call];
    let _: fn(&mut Registers) -> &mut u64 = Registers::instruction_mut;
    let _: fn(&Registers) -> bool = Registers::are_interrupted;
    let _: fn(&mut Registers, u64) = Registers::set_status;
    let _: fn(&mut Registers, u64, u64) = Registers::go_on_at;
    let _: fn(&mut Registers, [u64; 4]) = Registers::pass;
    let _: fn(&Registers) -> Words = Registers::words;
    let _: fn(&mut Registers, Words) = Registers::pass_all;
    // As they are kept of a saved thread; again, if they could have been kept so.
    let _: fn(&Registers) -> ThreadState = Registers::kept;
    let _: fn(&ThreadState) -> Option<Registers> = Registers::of_kept;
    let _: u64 = registers::RETURN_ADDRESS;

    // Waits until the port has taken what is held; a line of the kernel's own.
    let _: fn() = serial::flush;
    let _: fn(core::fmt::Arguments<'_>) = serial::line;

    // See `timer.rs`: the length of turns, the cores that share one time, the clock page, whether slices may be long.
    let _: slices::State = slices::State::NEW;
    let _: fn() -> bool = slices::are_there;
    let _: fn(u64, usize, u64, bool) = slices::set_up;
    let _: [fn(usize); 2] = [slices::calls, slices::looks];
    let _: fn() = slices::let_look;
    let _: fn(usize, u64) = slices::note;
    let _: fn(&mut slices::State, u64, Option<bool>) = slices::start_timer;
    let _: fn(&mut slices::State, u64) = slices::end;

    // The cores by the firmware's tables; a core starts, is told who it is, and is up.
    let _: fn(u64) -> ([Address; 64], usize) = smp::processors;
    let _ = |all: Empty<Address>, ticks_per_second: u64| smp::reset(all, ticks_per_second);
    let _: fn(usize, Address, u64, u64) -> bool = smp::start;
    let _: fn() -> (usize, Address) = smp::starting;
    let _: fn(usize) = smp::is_up;

    let _: [fn() -> bool; 2] = [speculation::has_meltdown, speculation::use_barriers];
    let _: [fn(); 2] = [speculation::set_up_core, speculation::component_changes];

    // Before the first core has its block; once it has it, with the pages below stacks; once another one has it.
    let _: fn(Option<Sandbox>) = start::machine;
    let _: fn() = start::core;
    let _ = |guards: Empty<u64>| start::first_core(guards);

    let _: fn(Option<Sandbox>) -> time::Rates = time::rates;
    // The timer counts this many counts, at most the longest; or until an instant.
    let _: fn(u32) = timer::start;
    let _: fn(u64) = timer::start_until;
    let _: u32 = timer::LONGEST;
};
