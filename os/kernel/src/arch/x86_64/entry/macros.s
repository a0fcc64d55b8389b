# What the pieces of the entry code share.

.text
.macro push_general
    push rax
    push rcx
    push rdx
    push rbx
    push rbp
    push rsi
    push rdi
    push r8
    push r9
    push r10
    push r11
    push r12
    push r13
    push r14
    push r15
.endm
.macro pop_general
    pop r15
    pop r14
    pop r13
    pop r12
    pop r11
    pop r10
    pop r9
    pop r8
    pop rdi
    pop rsi
    pop rbp
    pop rbx
    pop rdx
    pop rcx
    pop rax
.endm

# Saves where the caller goes on.
.macro save_call
    mov rbp, gs:[{current}]
    mov [rbp + {thread_rip}], rcx
    mov rcx, gs:[{scratch}]
    mov [rbp + {thread_rsp}], rcx
    mov qword ptr [rbp + {thread_vector}], {vector_call}
    mov rsp, gs:[{kernel_stack}]
.endm

# The words of a call with ten of them, into the thread at rbp.
.macro save_words
    mov [rbp + {thread_rdi}], rdi
    mov [rbp + {thread_rsi}], rsi
    mov [rbp + {thread_rdx}], rdx
    mov [rbp + {thread_r10}], r10
    mov [rbp + {thread_r8}], r8
    mov [rbp + {thread_rbx}], rbx
    mov [rbp + {thread_r12}], r12
    mov [rbp + {thread_r13}], r13
    mov [rbp + {thread_r14}], r14
    mov [rbp + {thread_r15}], r15
.endm

# The base of GS is the component's again, and its selector is cleared: the register must be zero. Any component can load selectors,
# and none may pass from one to another; of the other segments they are cleared where the address space changes.
.macro leave_kernel_half zero
    swapgs
    mov gs, \zero
.endm

# The way out, with nothing but rax, rdi, rsi and rdx passed on. rcx: where to; rsp: the stack there.
.macro clean_and_leave
    mov r11d, {user_flags}
    xor ebx, ebx
    xor ebp, ebp
    xor r8d, r8d
    xor r9d, r9d
    xor r10d, r10d
    xor r12d, r12d
    xor r13d, r13d
    xor r14d, r14d
    xor r15d, r15d
    leave_kernel_half r15d
    sysretq
.endm

# The address space in the register is loaded unless it is the one loaded.
.macro enter_space space
    cmp gs:[{space}], \space
    je .Lentered\@
    mov gs:[{space}], \space
    mov cr3, \space
    mov ds, gs:[{no_selector}]
    mov es, gs:[{no_selector}]
    mov fs, gs:[{no_selector}]
    cmp byte ptr [{barriers}], 0
    je .Lentered\@
    # The branch predictor forgets.
    mov gs:[{aside}], rax
    mov gs:[{aside} + 8], rcx
    mov gs:[{aside} + 16], rdx
    mov ecx, {prediction_command}
    mov eax, 1
    xor edx, edx
    wrmsr
    mov rax, gs:[{aside}]
    mov rcx, gs:[{aside} + 8]
    mov rdx, gs:[{aside} + 16]
.Lentered\@:
.endm

# The time-stamp counter in rax.
.macro read_time
    rdtsc
    shl rdx, 32
    or rax, rdx
.endm

# An interrupt has been handled. rax, rcx, rdx are free.
.macro end_interrupt through
    .if {has_registers} == 1
    xor eax, eax
    xor edx, edx
    mov ecx, {apic_registers} + {apic_end} / 16
    wrmsr
    .else
    movabs \through, {apic}
    mov dword ptr [\through + {apic_end}], 0
    .endif
.endm

# rdx: the time since the last charge, which is charged now. rax: the time-stamp counter.
.macro take_time
    mov rdx, rax
    sub rdx, gs:[{charged}]
    mov gs:[{charged}], rax
.endm

# A trap of a vector that has a short way, from a thread of a component: to `idle` if it comes from the kernel; to `otherwise` if everything is
# to go to `kernel_trap`, which finds all as it was.
.macro trap_begins idle otherwise
    push 2
    popfq
    test byte ptr [rsp + 24], 3
    jz \idle
    push_general
    swapgs
    mov rsp, gs:[{kernel_stack}]
    .if {checked} == 1
    jmp \otherwise
    .endif
.endm

# rbp: the thread that has the core; r8: the root. Its time is not counted in slots, so that it is no upcall; nor is it inside the root,
# or in a sequence. Else to the label.
.macro find_running otherwise
    mov rbp, gs:[{current}]
    cmp byte ptr [rbp + {thread_counted}], 0
    jne \otherwise
    movzx ecx, word ptr [rbp + {thread_component}]
    mov r8, gs:[{root}]
    cmp rcx, r8
    je \otherwise
    imul rcx, rcx, {component_bytes}
    cmp byte ptr [rcx + {components} + {component_special_inside}], 0
    jne \otherwise
.endm

# It is charged, and given up.
.macro give_up_running
    take_time
    add [rbp + {thread_used}], rdx
    mov dword ptr [rbp + {thread_owner}], 0
.endm

# The idle core is awake. r8: the root; r12: its region.
.macro idle_ends
    lock inc qword ptr [{awake}]
    mov qword ptr [{clock_keeper}], 0
    mov r8, gs:[{root}]
    mov r12, gs:[{region}]
.endm

# How long it was idle is counted; then to the label.
.macro count_idle then
    take_time
    add gs:[{idle}], rdx
    add [r12 + {region_idle}], rdx
    jnc \then
    mov qword ptr [r12 + {region_idle}], -1
    jmp \then
.endm
