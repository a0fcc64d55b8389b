//! From the loader to Rust: page tables, the translation, the kernel's own addresses.
//!
//! The loader enters at EL1 with the translation off and the device tree's address in `x0`; 0 stands for a tree at the beginning of
//! memory, where the emulator leaves it for a kernel that is an ELF file. The first tables show four gibibytes of physical memory at
//! [`super::paging::DIRECT`], of which the first is devices', and the gibibyte of the kernel at its link address, until
//! [`super::protect`] makes others. Until the run begins the lower half shows that gibibyte at its physical address.

use core::arch::global_asm;

global_asm!(
    r#"
.section .boot.bss, "aw", @nobits
    .balign 4096
boot_upper:     .skip 4096
boot_direct:    .skip 4096
boot_kernel:    .skip 4096
boot_lower:     .skip 4096
boot_identity:  .skip 4096

.section .boot.text, "ax"
.global start
start:
    msr daifset, #0xf
    mov x19, x0
    // What is not in the file is zero.
    ldr x0, =bss_start
    ldr x1, =kernel_end_virtual
    ldr x2, ={base}
    sub x0, x0, x2
    sub x1, x1, x2
2:  stp xzr, xzr, [x0], #16
    cmp x0, x1
    b.lo 2b
    adrp x0, boot_upper
    add x1, x0, #5 * 4096
3:  stp xzr, xzr, [x0], #16
    cmp x0, x1
    b.lo 3b

    // Four blocks of 1 GiB: devices, then memory.
    adrp x0, boot_direct
    ldr x1, ={device_block}
    str x1, [x0]
    ldr x1, ={data_block}
    mov x3, #{gibibyte}
    add x1, x1, x3
    str x1, [x0, #8]
    add x1, x1, x3
    str x1, [x0, #16]
    add x1, x1, x3
    str x1, [x0, #24]
    // The kernel's gibibyte, to be executed.
    ldr x1, ={text_block}
    add x1, x1, x3
    adrp x2, boot_kernel
    str x1, [x2, #511 * 8]
    adrp x4, boot_identity
    str x1, [x4, #8]
    adrp x1, boot_upper
    orr x5, x0, #3
    str x5, [x1, #256 * 8]
    orr x5, x2, #3
    str x5, [x1, #511 * 8]
    adrp x6, boot_lower
    orr x5, x4, #3
    str x5, [x6]
    msr ttbr0_el1, x6
    msr ttbr1_el1, x1
    ldr x0, ={attributes}
    msr mair_el1, x0
    ldr x0, ={translation}
    msr tcr_el1, x0
    tlbi vmalle1
    ic iallu
    dsb sy
    isb
    ldr x0, ={control}
    msr sctlr_el1, x0
    isb
    msr tpidr_el1, xzr
    ldr x0, =first_stack_top
    mov sp, x0
    mov x0, x19
    mov x1, #0
    ldr x2, =kernel_main
    blr x2
4:  wfi
    b 4b

// (x0: a top table) The upper half is shown by it from now on. At a physical address, since the tables of the lower half stay.
.global change_upper
change_upper:
    dsb ish
    msr ttbr1_el1, x0
    isb
    tlbi vmalle1
    dsb ish
    isb
    ret
    .ltorg

.section .bss
    .balign 16
first_stack: .skip 16384
first_stack_top:
.text
"#,
    base = const super::protect::BASE,
    gibibyte = const 1_u64 << 30,
    device_block = const super::paging::BLOCK | super::paging::DEVICE | super::paging::NEVER_EXECUTED,
    data_block = const super::paging::BLOCK | super::paging::MEMORY_KIND | super::paging::NEVER_EXECUTED,
    text_block = const super::paging::BLOCK | super::paging::MEMORY_KIND | super::paging::NEVER_EXECUTED_BELOW,
    attributes = const super::paging::ATTRIBUTES,
    translation = const super::paging::TRANSLATION,
    control = const super::paging::CONTROL,
);
