# The way in for interrupts and faults, and the time-outs and ticks that nothing stands in the way of.

# An interrupt or fault: vector and error code are pushed.
trap_common:
    # Nothing that a thread did to its flags is left: neither direction nor leave to touch user memory.
    push 2
    popfq
    test byte ptr [rsp + 24], 3
    jz trap_in_kernel
    push_general
    swapgs
    mov rsp, gs:[{kernel_stack}]
    call kernel_trap
    jmp resume

# The timer: nearly always the time-out is the root's, and its upcall begins. Whatever is different goes to `kernel_trap`, and
# finds everything as it was.
trap_timer:
    trap_begins 2f 1f
    read_time
    # Set for the time-out and nothing else: so it is not where cores take turns.
    cmp rax, gs:[{armed}]
    jb 1f
    cmp qword ptr gs:[{levels}], 1
    jne 1f
    cmp qword ptr gs:[{tick}], {no_timeout}
    jne 5f
    mov rbx, gs:[{upcall}]
    cmp dword ptr [rbx + {thread_state}], {state_upcall}
    jne 1f
    find_running 1f
    mov r12, gs:[{region}]
    give_up_running
# The timer's event is posted, and the root's upcall begins.
# rbx: the root's upcall; r8: the root; r12: its region.
timer_to_root:
    end_interrupt rcx
    mov rcx, {no_timeout}
    mov gs:[{timeouts}], rcx
    mov gs:[{expiry}], rcx
    mov gs:[{armed}], rcx
    or qword ptr [r12 + {region_events}], {event_timer}
# An event was posted to the root, whose upcall begins. As above.
upcall_begins:
    mov qword ptr [r12 + {region_pending}], 1
    inc qword ptr [r12 + {region_entries}]
    mov dword ptr [rbx + {thread_state}], {state_scheduler}
    mov word ptr [rbx + {thread_preempter}], 0
    mov byte ptr [rbx + {thread_depth}], 0
    mov [rbx + {thread_component}], r8w
    mov gs:[{current}], rbx
    lea rcx, [rbx + {registers_bytes}]
    mov gs:[{save_area}], rcx
    imul r8, r8, {component_bytes}
    mov rcx, [r8 + {components} + {component_space}]
    enter_space rcx
    mov rcx, [r8 + {components} + {component_entry}]
    mov rsp, [rbx + {thread_fresh_stack}]
    mov rsi, [rbx + {thread_argument}]
    movzx edx, word ptr [rbx + {thread_id}]
    mov edi, {reason_scheduler}
    xor eax, eax
    jmp leave_clean
1:  call kernel_trap
    jmp resume
# The core's tick is due, and no time-out.
# kernel_tick(now)
5:  cmp rax, gs:[{tick}]
    jb 1b
    cmp rax, gs:[{timeouts}]
    jae 1b
    cmp byte ptr [{plain_timer}], 0
    je 1b
    mov rdi, rax
    call kernel_tick
    jmp resume
# The idle core, which has no state; or a fault in the kernel.
2:  .if {checked} == 1
    jmp trap_in_kernel
    .endif
    cmp qword ptr gs:[{current}], 0
    jne trap_in_kernel
    read_time
    cmp rax, gs:[{armed}]
    jb trap_in_kernel
    cmp qword ptr gs:[{levels}], 1
    jne trap_in_kernel
    mov rbx, gs:[{upcall}]
    cmp dword ptr [rbx + {thread_state}], {state_upcall}
    jne trap_in_kernel
    cmp qword ptr gs:[{tick}], {no_timeout}
    jne trap_in_kernel
    idle_ends
    count_idle timer_to_root
