//! What may not be done on x86-64.

use core::hint::black_box;
use tactus_rt::calls;

pub fn jump(address: u64) {
    // SAFETY: none: the component asks for what it may not have. The kernel must stop it.
    unsafe { core::arch::asm!("call {}", in(reg) address, clobber_abi("C")) };
}

pub fn privileged(which: u8) {
    // SAFETY: as for `jump`.
    unsafe {
        match which {
            0 => core::arch::asm!("cli"),
            1 => core::arch::asm!("hlt"),
            2 => core::arch::asm!("mov cr3, {}", in(reg) 0x1000_u64),
            3 => core::arch::asm!("out dx, al", in("dx") 0xf4_u16, in("al") 1_u8),
            4 => core::arch::asm!("wrmsr", in("ecx") 0xc000_0080_u32, in("eax") 0, in("edx") 0),
            5 => core::arch::asm!("int 0x40"),
            6 => core::arch::asm!("addps xmm0, xmm1"),
            7 => core::arch::asm!("ud2"),
            8 => core::arch::asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq", "nop"),
            9 => {
                core::arch::asm!("pushfq", "or qword ptr [rsp], 0x4000", "popfq");
                // The kernel must not stumble over the flag; the component does no harm by it.
                calls::null();
                core::arch::asm!("pushfq", "and qword ptr [rsp], ~0x4000", "popfq", "ud2");
            }
            11 => {
                let mut table = [0_u8; 10];
                core::arch::asm!("sgdt [{}]", in(reg) table.as_mut_ptr());
                black_box(table);
            }
            12 => core::arch::asm!("int3"),
            13 => core::arch::asm!(".byte 0xf1"),
            14 => {
                // The flag lets a kernel touch a component's memory: ours must not keep it.
                core::arch::asm!("pushfq", "or qword ptr [rsp], 0x40000", "popfq");
                calls::null();
                core::arch::asm!("pushfq", "or qword ptr [rsp], 0x40000", "popfq", "ud2");
            }
            15 => {
                // The kernel must not copy backwards because a component does.
                core::arch::asm!("std");
                calls::null();
                core::arch::asm!("std", "2:", "pause", "dec {}", "jnz 2b", "cld", "ud2", inout(reg) 2_000_u64 => _);
            }
            _ => core::arch::asm!("div {}", in(reg) 0_u64, inout("rax") 1_u64 => _, inout("rdx") 0_u64 => _),
        }
    }
}

pub fn break_stack(pointer: u64) {
    // SAFETY: as for `jump`. A call with a stack pointer into the kernel must not make the kernel use it.
    unsafe {
        core::arch::asm!(
            "mov rsp, {}",
            "xor eax, eax",
            "syscall",
            "push rax",
            in(reg) pointer,
            options(noreturn)
        )
    }
}

/// There is no register that components may write beside those that a change of component clears.
pub fn leave_a_number() {}

/// See [`leave_a_number`].
pub fn is_cleared() -> bool {
    true
}
