//! The few functions of QEMU's plug-in interface, version 1, that the probe calls (QEMU 7.2, `qemu-plugin.h`). The emulator
//! that loads the probe has them.

use core::ffi::{c_char, c_int, c_uint, c_void};

/// Version of the interface for which this was written.
pub const VERSION: c_int = 1;

/// `QEMU_PLUGIN_CB_NO_REGS`: a call-back looks at no registers.
pub const NO_REGISTERS: c_int = 0;

/// `QEMU_PLUGIN_INLINE_ADD_U64`: adds to a counter of 64 bits.
pub const ADD: c_int = 0;

/// `QEMU_PLUGIN_MEM_RW`: reads and writes.
pub const READS_AND_WRITES: c_int = 3;

/// A block of instructions that is being translated. Only the emulator looks inside.
#[repr(C)]
pub struct TranslatedBlock {
    _inside: [u8; 0],
}

/// An instruction of such a block.
#[repr(C)]
pub struct Instruction {
    _inside: [u8; 0],
}

/// Where an access went.
#[repr(C)]
pub struct HardwareAddress {
    _inside: [u8; 0],
}

/// What the emulator tells about itself; the probe does not look.
#[repr(C)]
pub struct Info {
    _inside: [u8; 0],
}

/// Called when a block is translated: identifier of the plug-in, block.
pub type TranslationCall = extern "C" fn(u64, *mut TranslatedBlock);
/// Called when a block is executed: processor, what was registered with it.
pub type ExecutionCall = extern "C" fn(c_uint, *mut c_void);
/// Called after an access: processor, kind, virtual address, what was registered with it.
pub type MemoryCall = extern "C" fn(c_uint, u32, u64, *mut c_void);
/// Called at the end.
pub type EndCall = extern "C" fn(u64, *mut c_void);

// SAFETY: the names and signatures are those of the plug-in interface, version 1, in the emulator's `qemu-plugin.h`.
unsafe extern "C" {
    pub fn qemu_plugin_register_vcpu_tb_trans_cb(id: u64, call: TranslationCall);
    pub fn qemu_plugin_register_vcpu_tb_exec_cb(
        block: *mut TranslatedBlock,
        call: ExecutionCall,
        flags: c_int,
        data: *mut c_void,
    );
    pub fn qemu_plugin_register_vcpu_mem_cb(
        instruction: *mut Instruction,
        call: MemoryCall,
        flags: c_int,
        which: c_int,
        data: *mut c_void,
    );
    pub fn qemu_plugin_register_vcpu_insn_exec_cb(
        instruction: *mut Instruction,
        call: ExecutionCall,
        flags: c_int,
        data: *mut c_void,
    );
    pub fn qemu_plugin_register_vcpu_insn_exec_inline(
        instruction: *mut Instruction,
        operation: c_int,
        counter: *mut c_void,
        number: u64,
    );
    pub fn qemu_plugin_register_atexit_cb(id: u64, call: EndCall, data: *mut c_void);
    pub fn qemu_plugin_tb_n_insns(block: *const TranslatedBlock) -> usize;
    pub fn qemu_plugin_tb_get_insn(block: *const TranslatedBlock, at: usize) -> *mut Instruction;
    pub fn qemu_plugin_insn_vaddr(instruction: *const Instruction) -> u64;
    pub fn qemu_plugin_insn_haddr(instruction: *const Instruction) -> *mut c_void;
    pub fn qemu_plugin_insn_size(instruction: *const Instruction) -> usize;
    pub fn qemu_plugin_mem_is_store(kind: u32) -> bool;
    pub fn qemu_plugin_mem_size_shift(kind: u32) -> c_uint;
    pub fn qemu_plugin_get_hwaddr(kind: u32, address: u64) -> *mut HardwareAddress;
    pub fn qemu_plugin_hwaddr_is_io(address: *const HardwareAddress) -> bool;
    pub fn qemu_plugin_hwaddr_phys_addr(address: *const HardwareAddress) -> u64;
    pub fn qemu_plugin_outs(text: *const c_char);
}
