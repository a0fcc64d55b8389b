//! From the boot loader's 32-bit world to 64-bit Rust: page tables, long mode, and the way in for the other cores.
//!
//! Two loaders come here: one that speaks PVH (`-kernel` of the emulator) and one that speaks multiboot2 (GRUB on a
//! PC). Both enter in 32-bit protected mode with paging off and an information block in `ebx`.
//!
//! The first page tables stay the kernel's for good: the first four gibibytes of physical memory at
//! [`super::paging::DIRECT`], and the first one again at the kernel's link address, until [`super::protect`] leaves the
//! kernel's own pages there, with the rights that they need. The identity mapping that the mode switch needs is dropped
//! once every core is up.

use core::arch::global_asm;

global_asm!(
    r#"
.section .note.pvh, "a", @note
    .align 4
    .long 4, 8, 18
    .asciz "Xen"
    .quad start32

.section .boot.header, "a"
    .align 8
multiboot_start:
    .long 0xE85250D6
    .long 0
    .long multiboot_end - multiboot_start
    .long -(0xE85250D6 + (multiboot_end - multiboot_start))
    .short 0, 0
    .long 8
multiboot_end:

.section .boot.bss, "aw", @nobits
    .align 4096
.global boot_pml4
boot_pml4: .skip 4096
boot_low:  .skip 4096
.global boot_high
boot_high: .skip 4096
.global boot_pages
boot_pages: .skip 4096 * 4
boot_stack: .skip 4096
boot_stack_top:

.section .boot.data, "aw"
    .align 8
boot_gdt:
    .quad 0
    .quad 0x00af9a000000ffff
    .quad 0x00cf92000000ffff
boot_gdt_end:
boot_gdt_pointer:
    .short boot_gdt_end - boot_gdt - 1
    .long boot_gdt
# The time-stamp counter when the firmware was done, for who measures how long the kernel takes to its first component.
.global boot_stamp
    .align 8
boot_stamp: .quad 0

.section .boot.text, "ax"
.code32
.global start32
start32:
    cli
    cld
    mov esp, offset boot_stack_top
    mov edi, eax
    mov esi, ebx
    rdtsc
    mov [boot_stamp], eax
    mov [boot_stamp + 4], edx
    # 4 GiB in pages of 2 MiB.
    mov ebx, offset boot_pages
    mov eax, 0x83
    mov ecx, 2048
2:  mov [ebx], eax
    mov dword ptr [ebx + 4], 0
    add eax, 0x200000
    add ebx, 8
    dec ecx
    jnz 2b
    # The four tables of those pages.
    mov ebx, offset boot_low
    mov eax, offset boot_pages + 3
    mov ecx, 4
3:  mov [ebx], eax
    add eax, 4096
    add ebx, 8
    dec ecx
    jnz 3b
    # The kernel's own address: the first gibibyte again.
    mov eax, offset boot_pages + 3
    mov dword ptr [boot_high + 510 * 8], eax
    mov eax, offset boot_low + 3
    mov dword ptr [boot_pml4], eax
    mov dword ptr [boot_pml4 + 256 * 8], eax
    mov dword ptr [boot_pml4 + 256 * 8 + 4], 0x80000000
    mov eax, offset boot_high + 3
    mov dword ptr [boot_pml4 + 511 * 8], eax
    call enter_long
    push 8
    mov eax, offset start64
    push eax
    retf

# Turns on long mode with the boot tables. Keeps edi and esi.
enter_long:
    mov eax, cr4
    or eax, 0x20
    mov cr4, eax
    mov eax, offset boot_pml4
    mov cr3, eax
    mov ecx, 0xC0000080
    rdmsr
    or eax, 0x901
    wrmsr
    mov eax, cr0
    or eax, 0x80010005
    mov cr0, eax
    lgdt [boot_gdt_pointer]
    ret

.code64
start64:
    mov ax, 0x10
    mov ds, ax
    mov es, ax
    mov ss, ax
    movabs rsp, offset first_stack_top
    movabs rax, offset kernel_main
    mov edi, edi
    mov esi, esi
    call rax
4:  hlt
    jmp 4b

# The other cores start here, copied to page 8, in 16-bit real mode.
.code16
.global ap_start
ap_start:
    cli
    cld
    xor ax, ax
    mov ds, ax
    lgdt [ap_gdt_pointer_at]
    mov eax, cr0
    or al, 1
    mov cr0, eax
    .byte 0x66, 0xea
    .long ap_protected
    .short 0x18
    .align 8
ap_gdt:
    .quad 0
    .quad 0x00af9a000000ffff
    .quad 0x00cf92000000ffff
    .quad 0x00cf9a000000ffff
ap_gdt_pointer:
    .short 31
    .long 0x8000 + (ap_gdt - ap_start)
.set ap_gdt_pointer_at, 0x8000 + (ap_gdt_pointer - ap_start)
.global ap_end
ap_end:

.code32
ap_protected:
    mov ax, 0x10
    mov ds, ax
    mov es, ax
    mov ss, ax
    mov esp, offset boot_stack_top
    call enter_long
    push 8
    mov eax, offset ap_long
    push eax
    retf
.code64
ap_long:
    mov ax, 0x10
    mov ds, ax
    mov es, ax
    mov ss, ax
    movabs rax, offset AP_STACK
    mov rsp, [rax]
    movabs rax, offset ap_main
    call rax
5:  hlt
    jmp 5b

.section .bss
    .align 16
first_stack: .skip 16384
first_stack_top:
"#
);
