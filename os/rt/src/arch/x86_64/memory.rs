//! What `core` of the target for floating point expects from an operating system's library: five functions on memory. The bare target's
//! brings its own.
//!
//! By words where that is possible: an emulator counts one instruction for each element that is copied.

use core::arch::global_asm;

// SAFETY of all: as the C standard has them; the direction flag is clear where a function begins.
global_asm!(
    ".text",
    ".global memcpy, memmove, memset, memcmp, bcmp",
    // rdi: to; rsi: from; rdx: how many bytes.
    "memmove: mov rax, rdi",
    "sub rax, rsi",
    "cmp rax, rdx",
    "jb 2f",
    "memcpy: mov rax, rdi",
    "mov rcx, rdx",
    "shr rcx, 3",
    "rep movsq",
    "mov ecx, edx",
    "and ecx, 7",
    "rep movsb",
    "ret",
    // The end of what is copied lies inside of where it goes: from the end on.
    "2: mov rax, rdi",
    "lea rdi, [rdi + rdx - 1]",
    "lea rsi, [rsi + rdx - 1]",
    "std",
    "mov ecx, edx",
    "and ecx, 7",
    "rep movsb",
    "sub rdi, 7",
    "sub rsi, 7",
    "mov rcx, rdx",
    "shr rcx, 3",
    "rep movsq",
    "cld",
    "ret",
    // rdi: to; esi: the byte; rdx: how many.
    "memset: mov r8, rdi",
    "movzx eax, sil",
    "movabs rcx, 0x0101010101010101",
    "imul rax, rcx",
    "mov rcx, rdx",
    "shr rcx, 3",
    "rep stosq",
    "mov ecx, edx",
    "and ecx, 7",
    "rep stosb",
    "mov rax, r8",
    "ret",
    // rdi, rsi: what is compared; rdx: how many bytes. Zero bytes are equal.
    "bcmp:",
    "memcmp: xor eax, eax",
    "mov rcx, rdx",
    "cmp eax, eax",
    "repe cmpsb",
    "je 3f",
    "movzx eax, byte ptr [rdi - 1]",
    "movzx ecx, byte ptr [rsi - 1]",
    "sub eax, ecx",
    "3: ret",
    // Named by `core` where it would be unwound, which nobody does here.
    ".global rust_eh_personality",
    "rust_eh_personality: ud2",
);
