//! What may not be done on AArch64.

pub fn jump(address: u64) {
    // SAFETY: none: the component asks for what it may not have. The kernel must stop it.
    unsafe { core::arch::asm!("blr {}", in(reg) address, clobber_abi("C")) };
}

pub fn privileged(which: u8) {
    // SAFETY: as for `jump`.
    unsafe {
        match which {
            0 => core::arch::asm!("msr daifset, #2"),
            1 => core::arch::asm!("wfi"),
            2 => core::arch::asm!("msr ttbr0_el1, xzr"),
            // The emulator would end with what stands there.
            3 => core::arch::asm!("hlt #0xf000", in("w0") 0x18, in("x1") &[0x2_0026_u64, 0x10]),
            4 => core::arch::asm!("msr sctlr_el1, xzr"),
            // The machine would be switched off.
            5 => core::arch::asm!("hvc #0", in("x0") 0x8400_0008_u64),
            // FMOV x0, d0.
            6 => core::arch::asm!(".inst 0x9e660000", out("x0") _),
            7 => core::arch::asm!("udf #0"),
            8 => core::arch::asm!("msr cntv_ctl_el0, xzr"),
            9 => core::arch::asm!("mrs {}, pmccntr_el0", out(reg) _),
            10 => core::arch::asm!("dc civac, {}", in(reg) &0_u64),
            // The controller of interrupts would give out its next one.
            11 => core::arch::asm!("mrs {}, S3_0_C12_C12_0", out(reg) _),
            12 => core::arch::asm!("brk #1"),
            13 => core::arch::asm!("smc #0", in("x0") 0x8400_0008_u64),
            14 => core::arch::asm!("msr tpidr_el1, xzr"),
            15 => core::arch::asm!("mrs {}, ttbr1_el1", out(reg) _),
            16 => {
                let mut line = [0_u64; 32];
                core::arch::asm!("dc zva, {}", in(reg) &mut line);
                core::hint::black_box(line);
            }
            17 => core::arch::asm!("mrs {}, cntpct_el0", out(reg) _),
            18 => core::arch::asm!("tlbi vmalle1"),
            _ => core::arch::asm!("eret"),
        }
    }
}

/// Leaves a number in the register that components may write beside the general ones.
pub fn leave_a_number() {
    // SAFETY: the register means nothing to any program of ours.
    unsafe { core::arch::asm!("msr tpidr_el0, {}", in(reg) 0x5ec7e7_u64) };
}

/// Whether it holds nothing.
pub fn is_cleared() -> bool {
    let left: u64;
    // SAFETY: reads only.
    unsafe { core::arch::asm!("mrs {}, tpidr_el0", out(reg) left) };
    left == 0
}

pub fn break_stack(pointer: u64) {
    // SAFETY: as for `jump`. A call with a stack pointer into the kernel must not make the kernel use it.
    unsafe {
        core::arch::asm!("mov sp, {}", "mov x8, #0", "svc #0", "str x8, [sp, #-16]!", in(reg) pointer, options(noreturn))
    }
}

