# The dispatch that nothing stands in the way of; and the way into the kernel for whatever is not done here.

# rdi: the thread wanted, taken for this core if nobody has it; rbx: its place. Owner and state are one word here: nobody
# has an ordinary thread if both are 0. r10: its component's place.
.macro take_thread
    imul rbx, rdi, {thread_bytes}
    mov r9, gs:[{mark}]
    xor eax, eax
    lock cmpxchg [rbx + {threads} + {thread_state}], r9
    jne switch_other
    movzx r10d, word ptr [rbx + {threads} + {thread_component}]
    imul r10, r10, {component_bytes}
    cmp byte ptr [r10 + {components} + {component_special}], 0
    jne switch_stopped
.endm

# The time since the last charge goes to the caller. rdx: the time-out, then the time; r8: the time-out.
.macro charge_caller
    mov r8, rdx
    read_time
    take_time
    add [rbp + {thread_used}], rdx
.endm

# The usual dispatch: the root scheduler, in a thread of its own or in its upcall that ends with it, gives the core to an
# ordinary thread that nobody has. Whatever is different goes to `kernel_switch` and finds everything as it was.
#
# rdi: the thread wanted; rsi: flags; rdx, then r8: the time-out; rbp: the caller; rbx: the target's place; r10: its
# component's place; r12: the root's region on this core; r13: the root; rcx: where the caller goes on.
switch:
    .if {checked} == 1
    jmp switch_other
    .endif
    mov rbp, gs:[{current}]
    movzx r13d, word ptr [rbp + {thread_component}]
    cmp r13, gs:[{root}]
    jne switch_other
    mov r12, gs:[{region}]
    cmp qword ptr [r12 + {region_pending}], 0
    jne switch_other
    cmp [r12 + {region_next}], rdi
    jne switch_other
    cmp rdi, {max_threads}
    jae switch_other
    test rsi, rsi
    jnz 5f
    cmp byte ptr [rbp + {thread_counted}], 0
    jne 6f
2:  take_thread
    # Nothing can fail from here on. First the caller's time, then its registers; then it is given up.
    charge_caller
15: test rsi, rsi
    jnz 7f
    mov [rbp + {thread_rip}], rcx
    mov rcx, gs:[{scratch}]
    mov [rbp + {thread_rsp}], rcx
14: mov qword ptr [rbp + {thread_vector}], {vector_switched}
    mov dword ptr [rbp + {thread_owner}], 0
4:  mov byte ptr gs:[{deferred}], 0
    inc qword ptr [r12 + {region_dispatches}]
    lea rax, [rbx + {threads}]
    mov word ptr [rax + {thread_preempter}], 0
    mov qword ptr gs:[{levels}], 1
    mov gs:[{timeouts}], r8
    cmp r8, gs:[{tick}]
    cmova r8, gs:[{tick}]
    mov gs:[{current}], rax
    lea rcx, [rax + {registers_bytes}]
    mov gs:[{save_area}], rcx
    mov rcx, [r10 + {components} + {component_space}]
    enter_space rcx
    cmp gs:[{armed}], r8
    jne switch_timer
# Whoever was dispatched goes on: as after an interrupt, or as below.
switch_leave:
    cmp dword ptr [rax + {vector}], {vector_switched}
    jne resume_thread
# The thread's own dispatch, by which it left, succeeded.
resume_switched:
    mov rcx, [rax + {rip}]
    mov rsp, [rax + {rsp}]
    xor eax, eax
    xor edi, edi
    xor esi, esi
    xor edx, edx
    clean_and_leave

# The root's upcall, and its last act: it stays with the core, and begins anew the next time.
5:  cmp rsi, {switch_done}
    jne 13f
    cmp rbp, gs:[{upcall}]
    jne switch_other
    take_thread
    charge_caller
    add [r12 + {region_own}], rdx
    or dword ptr [rbp + {thread_state}], {state_inactive}
    jmp 4b

# Somebody whom a component called that is no brand's: goes on there, as if the call had ended.
13: cmp rsi, {switch_return}
    jne switch_other
    movzx r11d, byte ptr [rbp + {thread_depth}]
    sub r11d, 1
    jc switch_other
    lea r14, [r11 + r11 * 2]
    cmp word ptr [rbp + r14 * 8 + {thread_frames} + {frame_component} + 2], 0
    jne switch_other
    cmp byte ptr [rbp + {thread_counted}], 0
    jne 6f
    take_thread
    charge_caller
# r11: the place of the caller's last frame; r14: three times that.
8:  mov [rbp + {thread_depth}], r11b
    mov ecx, [rbp + r14 * 8 + {thread_frames} + {frame_component}]
    mov [rbp + {thread_component}], cx
    mov rcx, [rbp + r14 * 8 + {thread_frames} + {frame_rip}]
    mov [rbp + {thread_rip}], rcx
    mov rcx, [rbp + r14 * 8 + {thread_frames} + {frame_rsp}]
    mov [rbp + {thread_rsp}], rcx
    jmp 14b
7:  movzx r11d, byte ptr [rbp + {thread_depth}]
    sub r11d, 1
    lea r14, [r11 + r11 * 2]
    jmp 8b

# Threads whose time is counted in slots: here if the root alone counts it.
# r14: the path, then the slot's number; rax: its place; rdx: the time, then three times the list's end.
6:  cmp rbp, gs:[{upcall}]
    je switch_other
    mov r14, [rbp + {thread_path}]
    cmp qword ptr [r14 + 8], 0
    jne switch_other
    take_thread
    charge_caller
    # A path's slots are less than there are; 0 is none.
    movzx r14d, word ptr [r14 + 4]
    test r14d, r14d
    jz 15b
    lea rax, [r14 + r14 * 2]
    lea rax, [r12 + rax * 8 + {region_slots}]
    add [rax + {slot_cycles}], rdx
    jc 10f
9:  test word ptr [rax + {slot_flags}], 1
    jnz 15b
    movzx r11d, word ptr gs:[r13 * 2 + {tails}]
    mov gs:[r13 * 2 + {tails}], r14w
    lea rdx, [r11 + r11 * 2]
    # The list's end as the kernel knows it; one that was taken since is the end of nothing. Looked at before this slot is
    # marked: it may have been the end itself.
    test word ptr [r12 + rdx * 8 + {region_slots} + {slot_flags}], 1
    mov word ptr [rax + {slot_next}], 0
    jnz 12f
    or word ptr [rax + {slot_flags}], 1
    mov [r12 + {region_slots} + {slot_next}], r14w
    jmp 15b
12: or word ptr [rax + {slot_flags}], 1
    mov [r12 + rdx * 8 + {region_slots} + {slot_next}], r14w
    jmp 15b
10: mov qword ptr [rax + {slot_cycles}], -1
    jmp 9b

# The timer has to be set. Here if it counts as the time-stamp counter does and is set for nothing but time-outs; the
# smallest of 1 and what the timer can count at once is what it gets if the time-out is past or far.
switch_timer:
    cmp byte ptr [{plain_timer}], 0
    je 2f
    mov gs:[{expiry}], r8
    mov gs:[{armed}], r8
    mov rbx, rax
    xor ecx, ecx
    cmp r8, {no_timeout}
    je 1f
    read_time
    mov ecx, 1
    sub r8, rax
    cmova rcx, r8
    mov eax, {longest_count}
    cmp rcx, rax
    cmova rcx, rax
1:
    .if {has_registers} == 1
    mov eax, ecx
    xor edx, edx
    mov ecx, {apic_registers} + {apic_initial_count} / 16
    wrmsr
    .else
    movabs rdx, {apic}
    mov [rdx + {apic_initial_count}], ecx
    .endif
    mov rax, rbx
    jmp switch_leave
# kernel_set_timer(time-out)
2:  mov rsp, gs:[{kernel_stack}]
    mov rax, gs:[{charged}]
    mov gs:[{entered}], rax
    mov rdi, r8
    call kernel_set_timer
    jmp resume

switch_stopped:
    mov dword ptr [rbx + {threads} + {thread_owner}], 0
# kernel_switch(thread, flags, time-out)
switch_other:
    save_call
    call kernel_switch
    jmp resume

# A call that is not done here: where the caller goes on is saved.
# kernel_call(a0, a1, a2, a3, a4): the number of the call is saved in rax.
call_other:
    save_call
    cmp rax, {call_trigger}
    je 1f
    cmp rax, {call_upcall_done}
    je 2f
    mov [rbp + {thread_rax}], rax
    mov rcx, r10
    call kernel_call
    jmp resume
1:  call kernel_trigger
    jmp resume
2:  call kernel_upcall_done
    jmp resume

# An invocation that is not done here: its words are saved as well, since a monitor may watch it.
call_with_words:
    save_call
    mov [rbp + {thread_rax}], rax
    mov [rbp + {thread_r9}], r9
    save_words
    call kernel_call
    jmp resume
