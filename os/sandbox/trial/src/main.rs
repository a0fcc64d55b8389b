//! A kernel that tries all that a kernel in a sandbox may not do, one attempt after another, and tells what came of each.
//!
//! The length of memory names the last attempt, after which no kernel goes on: its last three bits in MiB; 0 for none. The last two
//! are many calls of the monitor, from which it does go on.
#![no_std]
#![no_main]

mod boot;

use core::arch::asm;
use core::cell::UnsafeCell;
use core::fmt::{self, Write};
use core::panic::PanicInfo;
use core::ptr::{addr_of, addr_of_mut};

/// Where an exception goes on, and which one it was. Written by the handlers.
#[no_mangle]
static mut TRIAL_RESUME: u64 = 0;
#[no_mangle]
static mut TRIAL_VECTOR: u64 = 0;

/// The first serial port.
struct Serial;

fn out8(port: u16, value: u8) {
    // SAFETY: writes no memory.
    unsafe { asm!("out dx, al", in("dx") port, in("al") value, options(nomem, nostack)) }
}

fn in8(port: u16) -> u8 {
    let value: u8;
    // SAFETY: touches no memory.
    unsafe { asm!("in al, dx", in("dx") port, out("al") value, options(nomem, nostack)) }
    value
}

impl Write for Serial {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            while in8(0x3fd) & 0x20 == 0 {}
            out8(0x3f8, byte);
        }
        Ok(())
    }
}

/// Does what the instructions say; which exception came of it, 0 for none, and `rax` behind them.
macro_rules! attempt {
    ($($line:literal),+; $($register:tt = $value:expr),*) => {{
        let after: u64;
        // SAFETY: a handler goes on at the label whatever happens; the trial owns the machine and needs nothing of it afterwards.
        unsafe {
            *addr_of_mut!(TRIAL_VECTOR) = 0;
            asm!("lea r11, [rip + 77f]", "mov [TRIAL_RESUME], r11", $($line,)+ "77:", $(in($register) $value,)* lateout("rax") after,
                out("r11") _, lateout("rcx") _, lateout("rdx") _, lateout("rsi") _, lateout("rdi") _);
        }
        // SAFETY: the handlers have written it.
        (unsafe { addr_of!(TRIAL_VECTOR).read_volatile() }, after)
    }};
}

fn tell(what: fmt::Arguments, (vector, after): (u64, u64)) {
    let _ = match vector {
        0 => writeln!(Serial, "trial: {what}: goes on, {:#x}", after & 0xffff_ffff),
        6 => writeln!(Serial, "trial: {what}: invalid opcode"),
        13 => writeln!(Serial, "trial: {what}: general protection"),
        other => writeln!(Serial, "trial: {what}: exception {other}"),
    };
}

#[repr(C, align(16))]
struct Gates(UnsafeCell<[[u64; 2]; 32]>);

// SAFETY: one core.
unsafe impl Sync for Gates {}

static GATES: Gates = Gates(UnsafeCell::new([[0; 2]; 32]));

fn set_gates() {
    for (vector, address) in boot::gates() {
        let low = address & 0xffff | 8 << 16 | 0x8e00 << 32 | (address >> 16 & 0xffff) << 48;
        // SAFETY: one core, nothing reads them yet; the vector is below 32.
        unsafe { (*GATES.0.get())[vector % 32] = [low, address >> 32] }
    }
    let mut pointer = [0_u8; 10];
    pointer[..2].copy_from_slice(&511_u16.to_le_bytes());
    pointer[2..].copy_from_slice(&(GATES.0.get() as u64).to_le_bytes());
    // SAFETY: the table stays where it is.
    unsafe { asm!("lidt [{}]", in(reg) &pointer, options(nostack)) }
}

/// What the machine ends with after all attempts.
const END: u32 = 0x7c;

/// Registers that no kernel in a sandbox may write or read: of the monitor, of firmware, of memory's kinds, of interrupts.
const REGISTERS: [u32; 14] = [
    0xc001_0117,
    0xc001_0114,
    0xc001_0111,
    0xc001_0112,
    0xc001_0113,
    0xc001_0010,
    0xc001_0015,
    0xc001_001f,
    0x200,
    0x2ff,
    0x830,
    0x17a,
    0x400,
    0x1234_5678,
];
/// Ports: configuration of devices, firmware's files and their transfers, reset, gate A20, system management, disks, keyboard, clock.
const PORTS: [u16; 14] = [0xcf8, 0xcfc, 0xcf9, 0x510, 0x511, 0x514, 0x92, 0xb2, 0xb3, 0x1f0, 0x170, 0x60, 0x64, 0x70];

#[no_mangle]
extern "C" fn trial_main(info: u32) -> ! {
    set_gates();
    for register in REGISTERS {
        tell(
            format_args!("write register {register:#x}"),
            attempt!("wrmsr"; "ecx" = register, "eax" = 0x1000_u32, "edx" = 0_u32),
        );
        tell(format_args!("read register {register:#x}"), attempt!("rdmsr"; "ecx" = register));
    }
    tell(
        format_args!("move the interrupt controller"),
        attempt!("wrmsr"; "ecx" = 0x1b_u32, "eax" = 0x4_0900_u32, "edx" = 0_u32),
    );
    tell(
        format_args!("bits of modes that there are not"),
        attempt!("wrmsr"; "ecx" = 0xc000_0080_u32, "eax" = 0x8500_u32, "edx" = 0_u32),
    );
    tell(
        format_args!("virtualisation off"),
        attempt!("wrmsr"; "ecx" = 0xc000_0080_u32, "eax" = 0x500_u32, "edx" = 0_u32),
    );
    for port in PORTS {
        tell(format_args!("write port {port:#x}"), attempt!("out dx, eax"; "dx" = port, "eax" = 0x8000_0000_u32));
        tell(format_args!("read port {port:#x}"), attempt!("in eax, dx"; "dx" = port, "eax" = 0_u32));
        tell(format_args!("read a byte of port {port:#x}"), attempt!("in al, dx"; "dx" = port, "eax" = 0_u32));
    }
    let place = 0x20_0000_u64;
    tell(
        format_args!("write memory to port 0x510"),
        attempt!("rep outsb"; "dx" = 0x510_u16, "rsi" = place, "rcx" = 4_u64),
    );
    tell(
        format_args!("read port 0x511 to memory"),
        attempt!("rep insb"; "dx" = 0x511_u16, "rdi" = place, "rcx" = 4_u64),
    );
    tell(format_args!("vmrun"), attempt!("vmrun rax"; "rax" = place));
    tell(format_args!("vmmcall"), attempt!("vmmcall"; "rax" = place));
    tell(format_args!("vmload"), attempt!("vmload rax"; "rax" = place));
    tell(format_args!("vmsave"), attempt!("vmsave rax"; "rax" = place));
    tell(format_args!("stgi"), attempt!("stgi"; "rax" = place));
    tell(format_args!("clgi"), attempt!("clgi"; "rax" = place));
    tell(format_args!("skinit"), attempt!("skinit eax"; "rax" = place));
    tell(format_args!("invlpga"), attempt!("invlpga rax, ecx"; "rax" = place, "ecx" = 0_u32));
    // A non-maskable interrupt to itself, by the interrupt controller.
    tell(
        format_args!("interrupt itself, not maskable"),
        attempt!("mov dword ptr [rdi], eax"; "rdi" = 0xfee0_0300_u64, "eax" = 0x4_4400_u32),
    );
    match last(info) {
        1 => tell(format_args!("read the monitor"), attempt!("mov rax, [rdi]"; "rdi" = 0x4_0000_u64)),
        2 => tell(format_args!("write the monitor"), attempt!("mov [rdi], rdi"; "rdi" = 0x4_5000_u64)),
        3 => tell(format_args!("execute the monitor"), attempt!("jmp rdi"; "rdi" = 0x4_0000_u64)),
        4 => tell(format_args!("page tables in the monitor"), attempt!("mov cr3, rdi"; "rdi" = 0x4_a000_u64)),
        6 => call_the_monitor(10_000),
        7 => call_the_monitor(1_000_000),
        5 => {
            let none = [0_u8; 10];
            tell(format_args!("fail without handlers"), attempt!("lidt [rdi]", "ud2"; "rdi" = none.as_ptr()));
        }
        _ => {}
    }
    let _ = writeln!(Serial, "trial: ends");
    // SAFETY: writes no memory; ends the machine.
    unsafe { asm!("out dx, eax", in("dx") 0xf4_u16, in("eax") END, options(nomem, nostack)) };
    stop()
}

/// Calls the monitor as often as that, with all registers drawn (xorshift): how often the call came to nothing, and how long one took at most.
fn call_the_monitor(count: u64) {
    let mut drawn = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        drawn ^= drawn << 13;
        drawn ^= drawn >> 7;
        drawn ^= drawn << 17;
        drawn
    };
    let (mut refused, mut longest) = (0_u64, 0);
    for _ in 0..count {
        let (a, c, d, s) = (next(), next(), next(), next());
        // SAFETY: every processor with long mode has the counter.
        let begin = unsafe { core::arch::x86_64::_rdtsc() };
        let (vector, _) = attempt!("vmmcall"; "rax" = a, "rcx" = c, "rdx" = d, "rsi" = s, "rdi" = next(), "r8" = next(), "r9" = next());
        // SAFETY: as above.
        longest = u64::max(longest, unsafe { core::arch::x86_64::_rdtsc() } - begin);
        refused += u64::from(vector == 6);
    }
    let _ = writeln!(
        Serial,
        "trial: {count} calls of the monitor: {refused} invalid opcode, each in at most {longest} ticks"
    );
}

/// Which attempt is the last one.
fn last(info: u32) -> u64 {
    let mut end = 0;
    // SAFETY: the loader's block and its map of memory; all memory below 4 GiB is mapped at its own address.
    unsafe {
        let block = info as usize as *const u64;
        let (map, count) = (block.add(5).read(), block.add(6).read() as u32);
        for entry in (0..u64::from(count)).map(|n| (map + n * 24) as usize as *const u64) {
            if entry.add(2).read() as u32 == 1 {
                end = u64::max(end, entry.read() + entry.add(1).read());
            }
        }
    }
    end.div_ceil(1 << 20) & 7
}

fn stop() -> ! {
    loop {
        // SAFETY: nothing is to be done any more.
        unsafe { asm!("cli", "hlt", options(nomem, nostack)) }
    }
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    let _ = writeln!(Serial, "trial: its own code failed");
    stop()
}
