//! From where a loader enters a kernel to Rust, and the handlers of exceptions: each goes on where the attempt says.

use core::arch::global_asm;

global_asm!(
    r#"
.section .bss.boot, "aw", @nobits
    .align 4096
trial_top: .skip 4096
trial_low: .skip 4096
trial_pages: .skip 4096 * 4
trial_stack: .skip 16384
trial_stack_top:

.section .boot.data, "aw"
    .align 8
trial_gdt:
    .quad 0
    .quad 0x00af9a000000ffff
    .quad 0x00cf92000000ffff
trial_gdt_end:
trial_gdt_pointer:
    .short trial_gdt_end - trial_gdt - 1
    .long trial_gdt

.section .boot.text, "ax"
.code32
.global trial_entry
trial_entry:
    cli
    cld
    mov esp, offset trial_stack_top
    mov esi, ebx
    mov ebx, offset trial_pages
    mov eax, 0x83
    mov ecx, 2048
2:  mov [ebx], eax
    mov dword ptr [ebx + 4], 0
    add eax, 0x200000
    add ebx, 8
    dec ecx
    jnz 2b
    mov ebx, offset trial_low
    mov eax, offset trial_pages + 3
    mov ecx, 4
3:  mov [ebx], eax
    add eax, 4096
    add ebx, 8
    dec ecx
    jnz 3b
    mov eax, offset trial_low + 3
    mov dword ptr [trial_top], eax
    mov eax, cr4
    or eax, 0x20
    mov cr4, eax
    mov eax, offset trial_top
    mov cr3, eax
    mov ecx, 0xC0000080
    rdmsr
    or eax, 0x100
    wrmsr
    mov eax, cr0
    or eax, 0x80000001
    mov cr0, eax
    lgdt [trial_gdt_pointer]
    push 8
    mov eax, offset trial_long
    push eax
    retf
.code64
trial_long:
    mov ax, 0x10
    mov ds, ax
    mov es, ax
    mov ss, ax
    mov rsp, offset trial_stack_top
    mov edi, esi
    call trial_main

# An exception goes on where the attempt says, and tells its number.
.macro handler number, code
.global trial_handler_\number
trial_handler_\number:
    .if \code
    add rsp, 8
    .endif
    mov qword ptr [TRIAL_VECTOR], \number
    push rax
    mov rax, [TRIAL_RESUME]
    mov [rsp + 8], rax
    pop rax
    iretq
.endm
    handler 6, 0
    handler 13, 1
    handler 14, 1
"#
);

extern "C" {
    fn trial_handler_6();
    fn trial_handler_13();
    fn trial_handler_14();
}

/// A gate for each exception that is expected.
pub fn gates() -> [(usize, u64); 3] {
    [
        (6, trial_handler_6 as *const () as u64),
        (13, trial_handler_13 as *const () as u64),
        (14, trial_handler_14 as *const () as u64),
    ]
}
