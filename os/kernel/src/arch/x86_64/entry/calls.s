# The way in for calls; invocation and return that nothing stands in the way of.

# A call by a thread: its number in rax, arguments in rdi, rsi, rdx, r10, r8, r9; where to go on in rcx.
.global call_entry
call_entry:
    swapgs
    mov gs:[{scratch}], rsp
    cmp rax, {call_switch}
    je switch
    cmp rax, {call_invoke}
    je invoke
    cmp rax, {call_return}
    je give_back
    test rax, rax
    jnz 1f
    # The null call: rax is zero, everything else is as it was.
    swapgs
    sysretq
1:  cmp rax, {call_invoke_wide}
    je invoke_wide
    cmp rax, {call_return_wide}
    je give_back_wide
    jmp call_other

# The thread goes on in the component that the grant names.
# rbp: thread; rbx, r12: the caller's number and place; r15, r14: the target's; r13: the entry.
invoke:
    mov rbp, gs:[{current}]
    movzx ebx, word ptr [rbp + {thread_component}]
    cmp rdi, {max_grants}
    jae call_with_words
    imul r12, rbx, {component_bytes}
    cmp byte ptr [r12 + {components} + {component_special}], 0
    jne invoke_other
    mov r14, rdi
    shl r14, {grant_shift}
    mov r13, [r12 + r14 + {components} + {component_grants} + {grant_entry}]
    test r13, r13
    jz call_with_words
    movzx r15d, word ptr [r12 + r14 + {components} + {component_grants} + {grant_component}]
    imul r14, r15, {component_bytes}
    cmp byte ptr [r14 + {components} + {component_special}], 0
    jne invoke_other
    movzx r12d, byte ptr [rbp + {thread_depth}]
    cmp r12d, {max_invocations}
    jae call_with_words
    # Nothing can fail from here on.
    lea eax, [r12 + 1]
    mov [rbp + {thread_depth}], al
    lea r12, [r12 + r12 * 2]
    mov [rbp + r12 * 8 + {thread_frames} + {frame_rip}], rcx
    mov rax, gs:[{scratch}]
    mov [rbp + r12 * 8 + {thread_frames} + {frame_rsp}], rax
    mov [rbp + r12 * 8 + {thread_frames} + {frame_component}], ebx
    mov [rbp + {thread_component}], r15w
    mov rdi, [rbp + {thread_caller}]
    or rdi, gs:[{core_caller}]
    or rdi, rbx
    mov rsp, [rbp + {thread_fresh_stack}]
    mov rax, [r14 + {components} + {component_space}]
    enter_space rax
    mov rcx, r13
    mov r11d, {user_flags}
    xor eax, eax
    xor ebx, ebx
    xor ebp, ebp
    xor r12d, r12d
    xor r13d, r13d
    xor r14d, r14d
    xor r15d, r15d
    leave_kernel_half r15d
    sysretq

# Where one of the two is stopped or has floating point (`call.rs`). The words are saved; those that there are not are cleared, since
# others may stand in their places.
invoke_other:
    mov [rbp + {thread_rsi}], rsi
    mov [rbp + {thread_rdx}], rdx
    mov [rbp + {thread_r10}], r10
    mov [rbp + {thread_r8}], r8
    mov [rbp + {thread_r9}], r9
    xor eax, eax
    mov [rbp + {thread_rbx}], rax
    mov [rbp + {thread_r12}], rax
    mov [rbp + {thread_r13}], rax
    mov [rbp + {thread_r14}], rax
    mov [rbp + {thread_r15}], rax
    mov eax, {call_invoke}
    jmp call_other

# The thread goes back to the component that called.
# rbp: thread; rbx: its depth after the return; r12: place of the frame; r13, r14: the caller's number and place.
give_back:
    mov rbp, gs:[{current}]
    movzx ebx, byte ptr [rbp + {thread_depth}]
    sub ebx, 1
    jc call_other
    movzx r13d, word ptr [rbp + {thread_component}]
    imul r14, r13, {component_bytes}
    cmp byte ptr [r14 + {components} + {component_special}], 0
    jne call_other
    # Whoever leaves a scheduler while events wait for it is taken back (`call.rs`).
    mov r12, gs:[r13 * 8 + {regions}]
    cmp qword ptr [r12 + {region_pending}], 0
    jne call_other
    lea r12, [rbx + rbx * 2]
    # A frame that a brand recorded, which its upper half tells, is no caller's: the thread climbs (`call.rs`).
    mov r13d, [rbp + r12 * 8 + {thread_frames} + {frame_component}]
    cmp r13d, 0xffff
    ja 3f
    imul r14, r13, {component_bytes}
    cmp byte ptr [r14 + {components} + {component_special}], 0
    jne call_other
    # Nothing can fail from here on.
    mov [rbp + {thread_depth}], bl
    mov [rbp + {thread_component}], r13w
    mov rcx, [rbp + r12 * 8 + {thread_frames} + {frame_rip}]
    mov rsp, [rbp + r12 * 8 + {thread_frames} + {frame_rsp}]
    mov rax, [r14 + {components} + {component_space}]
    enter_space rax
    xor eax, eax
    xor edx, edx
    jmp leave_clean
# A return that a monitor watches.
# kernel_watched_return(v0, v1, is it wide)
3:  cmp r13d, {last_recorded}
    jbe call_other
    save_call
    xor edx, edx
    call kernel_watched_return
    jmp resume
