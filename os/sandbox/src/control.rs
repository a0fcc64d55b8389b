//! The control block of a kernel in guest mode (AMD64 Architecture Programmer's Manual, volume 2, appendix B), and the way in and out.

use crate::permissions::Maps;
use crate::processor::SVME;
use core::arch::global_asm;
use core::cell::UnsafeCell;
use tactus_abi::sandbox::MOST;

#[repr(C, align(4096))]
struct Block(UnsafeCell<[u64; 512]>);

// SAFETY: one core alone uses each.
unsafe impl Sync for Block {}

static BLOCKS: [Block; MOST] = [const { Block(UnsafeCell::new([0; 512])) }; MOST];

/// Offsets in the block: bytes.
mod at {
    pub const INTERCEPTS: usize = 0x00c;
    pub const MORE_INTERCEPTS: usize = 0x010;
    pub const PORTS: usize = 0x040;
    pub const REGISTERS: usize = 0x048;
    pub const ADDRESS_SPACE: usize = 0x058;
    pub const FORGET: usize = 0x05c;
    pub const EXIT_CODE: usize = 0x070;
    pub const EXIT_FIRST: usize = 0x078;
    pub const EXIT_SECOND: usize = 0x080;
    pub const WINDOW: usize = 0x060;
    pub const NESTED: usize = 0x090;
    pub const EVENT: usize = 0x0a8;
    pub const NESTED_TABLES: usize = 0x0b0;
    pub const STATE: usize = 0x400;
    pub const EFER: usize = STATE + 0x0d0;
    pub const CR0: usize = STATE + 0x158;
    pub const FLAGS: usize = STATE + 0x170;
    pub const RIP: usize = STATE + 0x178;
    pub const RAX: usize = STATE + 0x1f8;
    pub const PAT: usize = STATE + 0x268;
}

/// What leads to an exit: non-maskable and system-management interrupts, INIT, `rsm`, `invd` (which would lose others' writes), `invlpga`,
/// ports, registers, shutdown.
const INTERCEPTS: u32 = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 19 | 1 << 22 | 1 << 26 | 1 << 27 | 1 << 28 | 1 << 31;
/// That the kernel lets interrupts in, where that is waited for; and the request for it, whatever the interrupt's priority.
const WINDOW: u32 = 1 << 4;
const WINDOW_WANTED: u64 = 1 << 8 | 1 << 20;
/// The kernel's flag that lets interrupts in.
const LETS_IN: u64 = 1 << 9;
/// All instructions of virtualisation.
const MORE_INTERCEPTS: u32 = 0x7f;

/// The registers of the kernel that the processor does not keep in the block.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Guest {
    pub rbx: u64,
    pub rcx: u64,
    pub rdx: u64,
    pub rsi: u64,
    pub rdi: u64,
    pub rbp: u64,
    pub r8: u64,
    pub r9: u64,
    pub r10: u64,
    pub r11: u64,
    pub r12: u64,
    pub r13: u64,
    pub r14: u64,
    pub r15: u64,
}

global_asm!(
    r#"
# run_guest(block, registers): runs the kernel until its next exit.
.text
.global run_guest
run_guest:
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
    push rsi
    mov rax, rdi
    mov rbx, [rsi]
    mov rcx, [rsi + 8]
    mov rdx, [rsi + 16]
    mov rdi, [rsi + 32]
    mov rbp, [rsi + 40]
    mov r8, [rsi + 48]
    mov r9, [rsi + 56]
    mov r10, [rsi + 64]
    mov r11, [rsi + 72]
    mov r12, [rsi + 80]
    mov r13, [rsi + 88]
    mov r14, [rsi + 96]
    mov r15, [rsi + 104]
    mov rsi, [rsi + 24]
    vmrun rax
    xchg rsi, [rsp]
    mov [rsi], rbx
    mov [rsi + 8], rcx
    mov [rsi + 16], rdx
    mov [rsi + 32], rdi
    mov [rsi + 40], rbp
    mov [rsi + 48], r8
    mov [rsi + 56], r9
    mov [rsi + 64], r10
    mov [rsi + 72], r11
    mov [rsi + 80], r12
    mov [rsi + 88], r13
    mov [rsi + 96], r14
    mov [rsi + 104], r15
    pop rax
    mov [rsi + 24], rax
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    ret
"#
);

extern "C" {
    fn run_guest(block: *mut u64, registers: *mut Guest);
}

/// The control block.
#[derive(Clone, Copy)]
pub struct ControlBlock(*mut u64);

impl ControlBlock {
    /// A kernel before its first instruction: in 32-bit protected mode without paging, as a loader would enter it.
    pub fn for_kernel(sandbox: usize, (entry, magic): (u64, u32), tables: u64, maps: Maps) -> ControlBlock {
        let block = ControlBlock(BLOCKS[sandbox % MOST].0.get().cast());
        (0..512).for_each(|place| block.set(place * 8, 0));
        block.set32(at::INTERCEPTS, INTERCEPTS);
        block.set32(at::MORE_INTERCEPTS, MORE_INTERCEPTS);
        block.set(at::PORTS, maps.ports);
        block.set(at::REGISTERS, maps.registers);
        // Number 0 is the monitor's.
        block.set32(at::ADDRESS_SPACE, 1);
        block.set32(at::FORGET, 1);
        block.set(at::NESTED, 1);
        block.set(at::NESTED_TABLES, tables);
        // Flat segments of 4 GiB: `es`, `cs`, `ss`, `ds`, `fs`, `gs`.
        for (place, selector, rights) in
            [(0, 0x10, 0xc93), (1, 8, 0xc9b), (2, 0x10, 0xc93), (3, 0x10, 0xc93), (4, 0x10, 0xc93), (5, 0x10, 0xc93)]
        {
            block.set(at::STATE + place * 16, selector | rights << 16 | 0xffff_ffff << 32);
        }
        block.set(at::EFER, SVME);
        block.set(at::CR0, 0x11);
        block.set(at::FLAGS, 2);
        block.set(at::RIP, entry);
        block.set(at::RAX, magic.into());
        block.set(at::PAT, 0x0007_0406_0007_0406);
        block
    }

    fn set(self, offset: usize, value: u64) {
        // SAFETY: inside the block, which this core alone uses; the processor reads it with the next entry only.
        unsafe { self.0.add(offset / 8 % 512).write_volatile(value) }
    }

    fn set32(self, offset: usize, value: u32) {
        // SAFETY: as in `set`.
        unsafe { self.0.cast::<u32>().add(offset / 4 % 1024).write_volatile(value) }
    }

    fn get(self, offset: usize) -> u64 {
        // SAFETY: as in `set`.
        unsafe { self.0.add(offset / 8 % 512).read_volatile() }
    }

    /// Runs the kernel until its next exit.
    pub fn run(self, guest: &mut Guest) {
        // SAFETY: the block is whole, virtualisation is on; the kernel reaches none of the monitor's memory.
        unsafe { run_guest(self.0, guest) }
        // Addresses that an earlier kernel had are forgotten once.
        self.set32(at::FORGET, 0);
    }

    /// Why the kernel stopped: its code and two words more.
    pub fn exit(self) -> (u64, u64, u64) {
        (self.get(at::EXIT_CODE), self.get(at::EXIT_FIRST), self.get(at::EXIT_SECOND))
    }

    /// The kernel's `rax`.
    pub fn rax(self) -> u64 {
        self.get(at::RAX)
    }

    /// Gives the kernel another `rax`.
    pub fn set_rax(self, value: u64) {
        self.set(at::RAX, value);
    }

    /// The kernel's next instruction.
    pub fn rip(self) -> u64 {
        self.get(at::RIP)
    }

    /// The kernel goes on there.
    pub fn go_on_at(self, rip: u64) {
        self.set(at::RIP, rip);
    }

    /// What the kernel wrote to the register that turns modes on; virtualisation stays on.
    pub fn set_modes(self, value: u64) {
        self.set(at::EFER, value | SVME);
    }

    /// Whether interrupts may reach the kernel now.
    pub fn lets_interrupts_in(self) -> bool {
        self.get(at::FLAGS) & LETS_IN != 0
    }

    /// The next time that interrupts may reach the kernel leads to an exit, or does so no more.
    pub fn wait_for_interrupts(self, wait: bool) {
        self.set(at::WINDOW, if wait { WINDOW_WANTED } else { 0 });
        self.set32(at::INTERCEPTS, INTERCEPTS | if wait { WINDOW } else { 0 });
    }

    /// The kernel takes this exception with its next entry.
    pub fn raise(self, exception: Exception) {
        let (vector, code) = match exception {
            Exception::InvalidOpcode => (6, 0),
            Exception::GeneralProtection => (13, 1 << 11),
        };
        self.set(at::EVENT, vector | 3 << 8 | code | 1 << 31);
    }
}

/// What a kernel that asks for too much is told.
#[derive(Clone, Copy)]
pub enum Exception {
    /// There is no such instruction.
    InvalidOpcode,
    /// It may not.
    GeneralProtection,
}
