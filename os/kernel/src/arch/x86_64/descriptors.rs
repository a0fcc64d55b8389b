//! Segments, task state and the interrupt table: what the processor wants to be told once.

use super::port::write_msr;
use core::arch::asm;

/// One core's segment descriptors and task state.
#[repr(C, align(16))]
pub struct Descriptors {
    segments: [u64; 8],
    task_state: TaskState,
}

/// Place of what [`Descriptors::set_save_area`] sets. Known to the entry code.
pub const SAVE_AREA: usize = core::mem::offset_of!(Descriptors, task_state) + core::mem::offset_of!(TaskState, stack);

#[repr(C, packed(4))]
struct TaskState {
    reserved: u32,
    stack: [u64; 3],
    reserved2: u64,
    fault_stacks: [u64; 7],
    reserved3: u64,
    reserved4: u16,
    io_map: u16,
}

/// The register that holds the base of GS: the core's block inside the kernel, zero outside. Known to the entry code.
pub const GS_BASE: u32 = 0xc000_0101;

/// Interrupts and faults that have a stack of their own on each core.
pub const FAULT_STACKS: usize = 3;
/// Vector: an interrupt that cannot be masked.
pub const NON_MASKABLE: usize = 2;
/// Vector: a fault on the way to the handler of another one.
pub const DOUBLE_FAULT: usize = 8;
/// Vector: the processor reports an error of the machine.
pub const MACHINE_CHECK: usize = 18;

const LIMIT: u16 = core::mem::size_of::<TaskState>() as u16;

#[repr(C, packed)]
struct Pointer {
    limit: u16,
    base: u64,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Gate([u64; 2]);

static mut INTERRUPTS: [Gate; 256] = [Gate([0; 2]); 256];

extern "C" {
    static trap_table: [u64; 61];
    fn call_entry();
}

impl Descriptors {
    /// Not loaded yet.
    pub const EMPTY: Descriptors = Descriptors {
        segments: [0; 8],
        task_state: TaskState {
            reserved: 0,
            stack: [0; 3],
            reserved2: 0,
            fault_stacks: [0; 7],
            reserved3: 0,
            reserved4: 0,
            io_map: 0,
        },
    };

    /// Fills the descriptors and makes them the current core's.
    ///
    /// # Safety
    /// `self` must stay where it is for ever; the stacks must be the core's own.
    pub unsafe fn load(&mut self, kernel_stack: u64, fault_stacks: [u64; FAULT_STACKS]) {
        let base = (&raw const self.task_state) as u64;
        self.task_state.stack[0] = kernel_stack;
        for (number, stack) in fault_stacks.into_iter().enumerate() {
            self.task_state.fault_stacks[number] = stack;
        }
        self.task_state.io_map = LIMIT;
        self.segments = [
            0,
            0x00af_9a00_0000_ffff, // kernel code
            0x00cf_9200_0000_ffff, // kernel data
            0,
            0x00cf_f200_0000_ffff, // user data
            0x00af_fa00_0000_ffff, // user code
            (u64::from(LIMIT) - 1) | (base & 0xff_ffff) << 16 | 0x89 << 40 | (base >> 24 & 0xff) << 56,
            base >> 32,
        ];
        let segments = Pointer { limit: 63, base: (&raw const self.segments) as u64 };
        let interrupts = Pointer { limit: 4095, base: (&raw const INTERRUPTS) as u64 };
        // SAFETY: the tables are complete and stay; selectors 8, 16 and 0x30 are those filled above.
        unsafe {
            asm!(
                "lgdt [{segments}]",
                "push 8",
                "lea {scratch}, [rip + 2f]",
                "push {scratch}",
                "retfq",
                "2:",
                "mov {scratch:e}, 0x10",
                "mov ds, {scratch:e}",
                "mov es, {scratch:e}",
                "mov ss, {scratch:e}",
                "xor {scratch:e}, {scratch:e}",
                "mov fs, {scratch:e}",
                "mov gs, {scratch:e}",
                "mov {scratch:e}, 0x30",
                "ltr {scratch:x}",
                "lidt [{interrupts}]",
                segments = in(reg) &segments,
                interrupts = in(reg) &interrupts,
                scratch = out(reg) _,
            );
        }
    }

    /// Where the next interrupt from user level saves the thread's registers.
    pub fn set_save_area(&mut self, end: u64) {
        self.task_state.stack[0] = end;
    }
}

/// Fills the interrupt table, which all cores share.
pub fn fill_interrupts() {
    // SAFETY: done once, before any core loads the table.
    unsafe {
        for (i, &address) in trap_table.iter().enumerate() {
            let vector = match i {
                32 => 0x40,
                33 => 0x41,
                34 => 0x42,
                35 => 0x43,
                36 => 0xff,
                // Interrupt lines.
                i if i > 36 => 0x50 + i - 37,
                i => i,
            };
            // Each on a stack of its own that cannot be broken, not even by one of the others.
            let stack = match vector {
                DOUBLE_FAULT => 1,
                NON_MASKABLE => 2,
                MACHINE_CHECK => 3,
                _ => 0,
            };
            let low = (address & 0xffff) | 8 << 16 | stack << 32 | 0x8e << 40 | (address >> 16 & 0xffff) << 48;
            (&raw mut INTERRUPTS).cast::<Gate>().add(vector).write(Gate([low, address >> 32]));
        }
    }
}

/// Sets up the `syscall` instruction and the GS bases of the current core. `block` is the core's block.
pub fn set_up_calls(block: u64) {
    const STAR: u32 = 0xc000_0081;
    const LSTAR: u32 = 0xc000_0082;
    const FLAG_MASK: u32 = 0xc000_0084;
    const KERNEL_GS_BASE: u32 = 0xc000_0102;
    // Cleared on entry: trap, interrupt, direction, nested task, resume, alignment check.
    const FLAGS: u64 = 0x100 | 0x200 | 0x400 | 0x4000 | 0x1_0000 | 0x4_0000;
    // SAFETY: these registers exist on every 64-bit processor (the extension was turned on at start-up); inside the
    // kernel GS is the block, outside it is zero.
    unsafe {
        write_msr(STAR, 0x18 << 48 | 8 << 32);
        write_msr(LSTAR, call_entry as *const () as u64);
        write_msr(FLAG_MASK, FLAGS);
        write_msr(GS_BASE, block);
        write_msr(KERNEL_GS_BASE, 0);
    }
}
