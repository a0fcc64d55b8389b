# The way in for the interrupt of a line that releases jobs, which nothing stands in the way of: whoever has the core gives it up, and
# the root's upcall begins. Whatever is different goes to `kernel_trap` or `kernel_trap_inside`, and finds everything as it was.

# rbx: the root's upcall, which is not active; rdi: the line, which has no brand and releases jobs, on a machine whose cores take no
# turns; rsi: what silences it. Else to the label. rdi, before: the vector.
.macro find_line otherwise
    mov rbx, gs:[{upcall}]
    cmp dword ptr [rbx + {thread_state}], {state_upcall}
    jne \otherwise
    sub edi, {vector_lines}
    cmp word ptr [rdi * 2 + {line_brands}], 0
    jne \otherwise
    mov rsi, [rdi * 8 + {line_silencing}]
    test rsi, rsi
    jz \otherwise
.endm

trap_line:
    trap_begins 2f 1f
    find_running 1f
    mov rdi, [rbp + {thread_vector}]
    find_line 1f
    mov r12, gs:[{region}]
    read_time
    mov r9, rax
    give_up_running
# The line is silent until somebody acknowledges it; the root is told when it interrupted.
# As in `find_line`; r8: the root; r9: the time-stamp counter; r12: the root's region.
line_to_root:
    mov eax, -1
    btr eax, edi
    lock and [{open_lines}], eax
    movabs rax, {direct}
    add rax, [{line_controller}]
    mov [rax], esi
    shr rsi, 32
    mov [rax + {line_controller_value}], esi
    end_interrupt rax
    mov [r12 + rdi * 8 + {region_line_times}], r9
    mov rax, [r12 + {region_lines}]
    bts rax, rdi
    mov [r12 + {region_lines}], rax
    or qword ptr [r12 + {region_events}], {event_line}
    jmp upcall_begins
1:  call kernel_trap
    jmp resume

# The idle core, which has no state.
2:  .if {checked} == 1
    jmp trap_in_kernel
    .endif
    cmp qword ptr gs:[{current}], 0
    jne trap_in_kernel
    mov rdi, [rsp]
    find_line trap_in_kernel
    idle_ends
    read_time
    mov r9, rax
    count_idle line_to_root
