//! From the loader's 32-bit world to the monitor, and what the loader says of the kernel.

use core::arch::global_asm;

global_asm!(
    r#"
.section .note.pvh, "a", @note
    .align 4
    .long 4, 8, 18
    .asciz "Xen"
    .quad monitor_loaded

.section .bss.boot, "aw", @nobits
    .align 4096
monitor_top: .skip 4096
monitor_low: .skip 4096
monitor_pages: .skip 4096 * 4
monitor_ap_room: .skip 64
monitor_ap_stack: .skip 64
monitor_stack: .skip 8192
monitor_stack_top:

.section .boot.data, "aw"
    .align 8
monitor_gdt:
    .quad 0
    .quad 0x00af9a000000ffff
    .quad 0x00cf92000000ffff
monitor_gdt_end:
monitor_gdt_pointer:
    .short monitor_gdt_end - monitor_gdt - 1
    .long monitor_gdt

.section .boot.text, "ax"
.code32
# Where the loader enters: down to where the monitor was linked, and on there.
.global monitor_first
monitor_first:
    cli
    cld
    mov esi, offset monitor_loaded
    mov edi, offset monitor_start
    mov ecx, offset monitor_loaded_bytes
    rep movsb
    mov edx, offset monitor_here
    jmp edx
monitor_here:
    mov esp, offset monitor_stack_top
    mov edx, eax
    # What was loaded is nobody's any more; what begins with zeros.
    xor eax, eax
    mov edi, offset monitor_loaded
    mov ecx, offset monitor_loaded_bytes
    rep stosb
    mov edi, offset monitor_start
    add edi, offset monitor_loaded_bytes
    mov ecx, offset monitor_bytes
    sub ecx, offset monitor_loaded_bytes
    rep stosb
    mov eax, edx
    mov edi, eax
    mov esi, ebx
    # 4 GiB in pages of 2 MiB, at their own addresses.
    mov ebx, offset monitor_pages
    mov eax, 0x83
    mov ecx, 2048
2:  mov [ebx], eax
    mov dword ptr [ebx + 4], 0
    add eax, 0x200000
    add ebx, 8
    dec ecx
    jnz 2b
    mov ebx, offset monitor_low
    mov eax, offset monitor_pages + 3
    mov ecx, 4
3:  mov [ebx], eax
    add eax, 4096
    add ebx, 8
    dec ecx
    jnz 3b
    mov eax, offset monitor_low + 3
    mov dword ptr [monitor_top], eax
    mov eax, cr4
    or eax, 0x20
    mov cr4, eax
    mov eax, offset monitor_top
    mov cr3, eax
    mov ecx, 0xC0000080
    rdmsr
    or eax, 0x100
    wrmsr
    mov eax, cr0
    or eax, 0x80000001
    mov cr0, eax
    lgdt [monitor_gdt_pointer]
    push 8
    mov eax, offset monitor_long
    push eax
    retf
.code64
monitor_long:
    mov ax, 0x10
    mov ds, ax
    mov es, ax
    mov ss, ax
    mov rsp, offset monitor_stack_top
    mov edi, edi
    mov esi, esi
    call monitor_main

# Another core begins here, copied to page 8, in 16-bit real mode.
.code16
.global monitor_ap
monitor_ap:
    cli
    cld
    xor ax, ax
    mov ds, ax
    lgdt [monitor_ap_pointer_at]
    mov eax, cr0
    or al, 1
    mov cr0, eax
    .byte 0x66, 0xea
    .long monitor_ap_protected
    .short 0x18
    .align 8
monitor_ap_gdt:
    .quad 0
    .quad 0x00af9a000000ffff
    .quad 0x00cf92000000ffff
    .quad 0x00cf9a000000ffff
monitor_ap_pointer:
    .short 31
    .long 0x8000 + (monitor_ap_gdt - monitor_ap)
.set monitor_ap_pointer_at, 0x8000 + (monitor_ap_pointer - monitor_ap)
.global monitor_ap_end
monitor_ap_end:

.code32
monitor_ap_protected:
    mov ax, 0x10
    mov ds, ax
    mov es, ax
    mov ss, ax
    mov eax, cr4
    or eax, 0x20
    mov cr4, eax
    mov eax, offset monitor_top
    mov cr3, eax
    mov ecx, 0xC0000080
    rdmsr
    or eax, 0x100
    wrmsr
    mov eax, cr0
    or eax, 0x80000001
    mov cr0, eax
    lgdt [monitor_gdt_pointer]
    mov esp, offset monitor_ap_stack
    push 8
    mov eax, offset monitor_ap_long
    push eax
    retf
.code64
monitor_ap_long:
    mov ax, 0x10
    mov ds, ax
    mov es, ax
    mov ss, ax
    mov rsp, [AP_STACK]
    call core_main
"#
);

/// Where another core is copied what it begins with.
pub const START_PAGE: u64 = 0x8000;

extern "C" {
    static monitor_ap: u8;
    static monitor_ap_end: u8;
}

/// Puts what other cores begin with into its place.
pub fn place_start_code() {
    let start = &raw const monitor_ap;
    let bytes = &raw const monitor_ap_end as usize - start as usize;
    // SAFETY: the code lies between the two symbols; the page lies below the monitor, and nobody else uses it.
    unsafe { core::ptr::copy_nonoverlapping(start, START_PAGE as usize as *mut u8, bytes) }
}

/// The first module that the loader passed: its physical address.
pub fn module(info: u32) -> Option<u64> {
    const MAGIC: u32 = 0x336e_c578;
    let info = info as usize as *const u32;
    // SAFETY: as in `entry_of_kernel`.
    let (magic, count, list) = unsafe { (info.read(), info.add(3).read(), info.add(4).cast::<u64>().read_unaligned()) };
    if magic != MAGIC || count == 0 || list == 0 || list >= 1 << 32 {
        return None;
    }
    // SAFETY: the list has an element, whose first word is the module's address.
    let module = unsafe { (list as usize as *const u64).read_unaligned() };
    (module != 0 && module < 1 << 32).then_some(module)
}

/// The longest command line that is read: `0x` and an address.
const LONGEST: usize = 18;

/// Where the kernel begins, which the loader was told as the command line of the monitor: an address in hexadecimal.
pub fn entry_of_kernel(info: u32) -> Option<u64> {
    const MAGIC: u32 = 0x336e_c578;
    let info = info as usize as *const u32;
    // SAFETY: the loader's block; all memory below 4 GiB is mapped at its own address. Words of it are aligned.
    let (magic, line) = unsafe { (info.read(), info.add(6).cast::<u64>().read_unaligned()) };
    if magic != MAGIC || line == 0 || line >= 1 << 32 {
        return None;
    }
    let mut address = None;
    for place in 0..LONGEST {
        // SAFETY: the loader's line ends with a zero; no more of it is read.
        let byte = unsafe { (line as usize as *const u8).add(place).read() };
        match (place, byte) {
            (0, b'0') | (1, b'x') => {}
            (2.., b) => match char::from(b).to_digit(16) {
                Some(digit) => address = Some(address.unwrap_or(0_u64) << 4 | u64::from(digit)),
                None => return address,
            },
            _ => return None,
        }
    }
    address
}
