//! A kernel that destroys itself, or lies ([`super::forgery`]), so that tests see that nobody beside it is harmed. Only with the feature `destruction`: the monitor of its
//! sandbox names the way and the time; what is drawn in a way is drawn from the time.

use super::apic;
use super::cpu::time_stamp;
use super::forgery;
use super::loader::Sandbox;
use super::paging::direct;
use super::port::{in32, in8, out32, out8, read_msr, write_msr};
use core::arch::{asm, global_asm};
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// The port that would end the run.
const EXIT_PORT: u16 = 0xf4;

/// How many ways there are.
pub const WAYS: u64 = 30;

/// Destroys the kernel if its time has come.
pub fn look() {
    let Some((way, at)) = Sandbox::own().and_then(Sandbox::fault) else { return };
    if time_stamp() < at {
        return;
    }
    let mut drawn = Drawn(at | 1);
    if (forgery::FIRST..=forgery::LAST).contains(&(way & 0xff)) {
        return forgery::forge(way, &mut drawn);
    }
    match way {
        1 => {}
        2..=6 => stand_still(way, &mut drawn),
        7..=11 => break_memory(way, &mut drawn),
        12..=17 => break_processor(way, &mut drawn),
        18..=22 => interrupt(way, &mut drawn),
        23..=WAYS => use_all(way, &mut drawn),
        _ => panic!("destroyed by way {way}"),
    }
    fail_twice()
}

/// Numbers that follow from the first one (xorshift).
pub struct Drawn(u64);

impl Drawn {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Nothing goes on: interrupts off, in a loop and halted; on, with no timer; on, with a timer that does nothing but interrupt.
fn stand_still(way: u64, drawn: &mut Drawn) {
    if way >= 5 {
        survive_exceptions(0);
        apic::start_timer(0);
    }
    if way == 6 {
        const PERIODIC: u32 = 1 << 17;
        apic::set_timer(PERIODIC | (0x20 + (drawn.next() % 0xc0) as u32), 500);
    }
    loop {
        // SAFETY: none is needed: nothing goes on.
        unsafe {
            match way {
                2 => asm!("cli"),
                3 => asm!("cli", "hlt"),
                4 => asm!("cli", "pause"),
                5 => asm!("sti", "hlt"),
                _ => asm!("sti"),
            }
        }
    }
}

/// Memory: all of it from the first byte, at places that are drawn; code: at a place without any, at places that are drawn, drawn code.
fn break_memory(way: u64, drawn: &mut Drawn) {
    let put = |address: u64, value: u64| {
        // SAFETY: none: the processor must hold it back.
        unsafe { direct::<u64>(address & !7).write_volatile(value) }
    };
    match way {
        7 => (0..1_u64 << 32).step_by(4096).chain((0..1 << 32).step_by(8)).for_each(|address| put(address, address)),
        8 => loop {
            put(drawn.next() & 0xffff_ffff, drawn.next());
        },
        9 => jump(0x7fff_dead_b000),
        10 => jump(direct::<u8>(drawn.next() & 0x3ff_ffff) as u64),
        _ => {
            let code = super::paging::direct::<u64>(0x70_0000);
            // SAFETY: none, again.
            (0..512).for_each(|n| unsafe { code.add(n).write_volatile(drawn.next()) });
            jump(0xffff_ffff_8000_0000 + 0x70_0000);
        }
    }
}

/// What the processor goes by: page tables, modes, segments, the stack, tracing.
fn break_processor(way: u64, drawn: &mut Drawn) {
    let value = drawn.next();
    // SAFETY: none: this is the end.
    unsafe {
        match way {
            12 => asm!("mov cr3, {}", in(reg) value & 0xffff_f000),
            13 => asm!("mov cr0, {}", in(reg) value & 0x7fff_ffff | 1),
            14 => asm!("mov cr4, {}", in(reg) value & 0x3f_ffff),
            15 => asm!("lgdt [{}]", "mov ds, {:x}", in(reg) &[0_u8; 10], in(reg) value),
            16 => asm!("mov rsp, {}", "push rax", in(reg) value),
            _ => {
                survive_exceptions(0);
                asm!("mov dr7, {}", "push {}", "popfq", in(reg) value & 0xffff_ffff, in(reg) 0x100_u64, options(nostack));
            }
        }
    }
}

/// Interrupts: to itself in a way that nothing masks; of all kinds to all cores, through registers and through memory; messages of devices;
/// in kinds of its own timer that nothing masks.
fn interrupt(way: u64, drawn: &mut Drawn) {
    survive_exceptions(2);
    match way {
        18 => (0..200).for_each(|_| apic::interrupt_itself_unmasked()),
        19 => {
            for command in 0..1 << 13 {
                // Kind, mode and to whom; of all vectors one that is drawn.
                let (kind, who) = (command & 0x1f, command >> 5 & 3);
                let core = [0, 1, 2, 3, 4, 5, 0xff, 0xffff_ffff][command as usize >> 7 & 7];
                let low = drawn.next() & 0xff | kind << 8 | 0x4000 | who << 18;
                // SAFETY: none: the monitor must hold it back.
                unsafe { write_msr(0x830, core << 32 | low) }
            }
        }
        20 => apic::command_through_memory(drawn.next() as u8 & 7, 0x4500),
        21 => loop {
            // SAFETY: none, again.
            unsafe { direct::<u32>(0xfee0_0000 + (drawn.next() & 0xf_fff0)).write_volatile(drawn.next() as u32 & 0xff) }
        },
        _ => {
            for kind in 0..8 {
                apic::set_timer(kind << 8 | 0x40, 200);
                let begin = time_stamp();
                while time_stamp() - begin < 20_000 {}
            }
        }
    }
}

/// All ports, in all widths, in and out; all registers; all vectors; the instructions of virtualisation and of firmware.
fn use_all(way: u64, drawn: &mut Drawn) {
    let ports = (0..=u16::MAX).filter(|port| !(EXIT_PORT - 3..EXIT_PORT + 4).contains(port));
    let registers = (0..0x2000).chain(0xc000_0000..0xc000_2000_u32).chain(0xc001_0000..0xc001_2000);
    survive_exceptions(if way == 29 { 3 } else { 2 });
    // SAFETY: none: the monitor must hold it back.
    unsafe {
        match way {
            23 => ports.for_each(|port| out8(port, drawn.next() as u8)),
            24 => ports.for_each(|port| out32(port, drawn.next() as u32)),
            25 => ports.for_each(|port| {
                let _ = (in8(port), in32(port));
            }),
            // But for segments, which the code itself needs, and what is counted beside.
            26 => registers.for_each(|register| write_msr(register, drawn.next())),
            27 => registers.for_each(|register| {
                let _ = read_msr(register);
            }),
            28 => (0..4_000).for_each(|_| asm!("invd", "rsm", options(nostack))),
            29 => (0..4_000).for_each(|_| {
                let (a, c, d) = (drawn.next(), drawn.next(), drawn.next());
                for instruction in 0..7_u8 {
                    match instruction {
                        0 => asm!("vmmcall", in("rax") a, in("rcx") c, in("rdx") d, options(nostack)),
                        1 => asm!("vmrun rax", in("rax") a, options(nostack)),
                        2 => asm!("vmload rax", in("rax") a, options(nostack)),
                        3 => asm!("vmsave rax", in("rax") a, options(nostack)),
                        4 => asm!("stgi", options(nostack)),
                        5 => asm!("clgi", options(nostack)),
                        _ => asm!("invlpga rax, ecx", in("rax") a, in("ecx") c as u32, options(nostack)),
                    }
                }
            }),
            _ => {
                let port = drawn.next() as u16;
                let port = if port.abs_diff(EXIT_PORT) < 8 { 0x510 } else { port };
                asm!("rep outsb", in("dx") port, inout("rsi") 0xffff_8000_0020_0000_u64 => _, inout("rcx") 4_096_u64 => _);
            }
        }
    }
}

fn jump(address: u64) {
    // SAFETY: none, again.
    let nowhere: extern "C" fn() = unsafe { core::mem::transmute(address as usize) };
    nowhere();
}

global_asm!(
    r#"
.text
destruction_goes_on_behind_code:
    add rsp, 8
destruction_goes_on:
    push rax
    mov rax, [{bytes}]
    add [rsp + 8], rax
    pop rax
    iretq
destruction_goes_on_there:
    iretq
"#,
    bytes = sym SKIPPED
);

extern "C" {
    fn destruction_goes_on_behind_code();
    fn destruction_goes_on();
    fn destruction_goes_on_there();
}

/// Bytes of the instruction that failed.
static SKIPPED: AtomicU64 = AtomicU64::new(0);
static mut GATES: [[u64; 2]; 256] = [[0; 2]; 256];

/// From now on an instruction of this number of bytes that fails is passed over, and interrupts do nothing.
fn survive_exceptions(bytes: u64) {
    SKIPPED.store(bytes, SeqCst);
    let gates = (&raw mut GATES).cast::<[u64; 2]>();
    for vector in 0..256 {
        let handler = match vector {
            8 | 10..=14 | 17 | 21 => destruction_goes_on_behind_code,
            6 | 0 | 7 => destruction_goes_on,
            _ => destruction_goes_on_there,
        };
        let address = handler as *const () as u64;
        let low = address & 0xffff | 8 << 16 | 0x8e00 << 32 | (address >> 16 & 0xffff) << 48;
        // SAFETY: one core, and nobody else uses the table.
        unsafe { gates.add(vector).write([low, address >> 32]) }
    }
    load_gates(gates as u64, 4095);
}

fn load_gates(address: u64, last: u16) {
    let mut pointer = [0_u8; 10];
    pointer[..2].copy_from_slice(&last.to_le_bytes());
    pointer[2..].copy_from_slice(&address.to_le_bytes());
    // SAFETY: none is needed: this is the end.
    unsafe { asm!("lidt [{}]", in(reg) &pointer) }
}

/// No handler for any exception: the first one cannot be handled, nor that.
fn fail_twice() -> ! {
    load_gates(0, 0);
    loop {
        // SAFETY: none: this is the end.
        unsafe { asm!("int3") }
    }
}
