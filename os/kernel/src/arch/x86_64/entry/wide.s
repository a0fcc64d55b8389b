# Invocation and return with ten words, which leave few registers to work with.

# As `invoke`, but rbx and r12 to r15 are words as well: what is left is rax, r11, rdi and rsp, which is saved and no
# stack. rbp: thread; r11: the caller's number; rsp: the grant's place; rax: the target's place.
invoke_wide:
    mov rbp, gs:[{current}]
    cmp rdi, {max_grants}
    jae 2f
    movzx r11d, word ptr [rbp + {thread_component}]
    imul rax, r11, {component_bytes}
    cmp byte ptr [rax + {components} + {component_special}], 0
    jne 3f
    mov rsp, rdi
    shl rsp, {grant_shift}
    add rsp, rax
    cmp qword ptr [rsp + {components} + {component_grants} + {grant_entry}], 0
    je 2f
    movzx eax, word ptr [rsp + {components} + {component_grants} + {grant_component}]
    imul rax, rax, {component_bytes}
    cmp byte ptr [rax + {components} + {component_special}], 0
    jne 3f
    cmp byte ptr [rbp + {thread_depth}], {max_invocations}
    jae 2f
    # Nothing can fail from here on.
    movzx edi, byte ptr [rbp + {thread_depth}]
    inc byte ptr [rbp + {thread_depth}]
    lea edi, [rdi + rdi * 2]
    mov [rbp + rdi * 8 + {thread_frames} + {frame_rip}], rcx
    mov rcx, gs:[{scratch}]
    mov [rbp + rdi * 8 + {thread_frames} + {frame_rsp}], rcx
    mov [rbp + rdi * 8 + {thread_frames} + {frame_component}], r11d
    mov rcx, [rsp + {components} + {component_grants} + {grant_entry}]
    movzx edi, word ptr [rsp + {components} + {component_grants} + {grant_component}]
    mov [rbp + {thread_component}], di
    mov rdi, [rbp + {thread_caller}]
    or rdi, gs:[{core_caller}]
    or rdi, r11
    mov rsp, [rbp + {thread_fresh_stack}]
    mov rax, [rax + {components} + {component_space}]
    enter_space rax
    mov r11d, {user_flags}
    xor eax, eax
    xor ebp, ebp
    leave_kernel_half ebp
    sysretq
# One of the two is stopped or has floating point: as `invoke_other`.
3:  mov [rbp + {thread_rsi}], rsi
    mov [rbp + {thread_rdx}], rdx
    mov [rbp + {thread_r10}], r10
    mov [rbp + {thread_r8}], r8
    mov [rbp + {thread_r9}], r9
    mov [rbp + {thread_rbx}], rbx
    mov [rbp + {thread_r12}], r12
    mov [rbp + {thread_r13}], r13
    mov [rbp + {thread_r14}], r14
    mov [rbp + {thread_r15}], r15
2:  mov eax, {call_invoke_wide}
    jmp call_with_words

# As `give_back`. Left are rax, rcx (saved in rsp), r9 and r11. rbp: thread; rax: its depth after the return; rcx, r11: the
# caller's number and place.
give_back_wide:
    mov rbp, gs:[{current}]
    mov rsp, rcx
    movzx eax, word ptr [rbp + {thread_component}]
    imul r11, rax, {component_bytes}
    cmp byte ptr [r11 + {components} + {component_special}], 0
    jne 2f
    mov r9, gs:[rax * 8 + {regions}]
    cmp qword ptr [r9 + {region_pending}], 0
    jne 2f
    movzx eax, byte ptr [rbp + {thread_depth}]
    sub eax, 1
    jc 2f
    lea r9d, [rax + rax * 2]
    # A frame that a brand recorded, which its upper half tells, is no caller's: it takes two words.
    mov ecx, [rbp + r9 * 8 + {thread_frames} + {frame_component}]
    cmp ecx, 0xffff
    ja 3f
    imul r11, rcx, {component_bytes}
    cmp byte ptr [r11 + {components} + {component_special}], 0
    jne 2f
    # Nothing can fail from here on.
    mov [rbp + {thread_depth}], al
    mov [rbp + {thread_component}], cx
    mov rcx, [rbp + r9 * 8 + {thread_frames} + {frame_rip}]
    mov rsp, [rbp + r9 * 8 + {thread_frames} + {frame_rsp}]
    mov rax, [r11 + {components} + {component_space}]
    enter_space rax
    mov r11d, {user_flags}
    xor eax, eax
    xor ebp, ebp
    xor r9d, r9d
    leave_kernel_half r9d
    sysretq
# The words are saved: whoever the thread comes back to gets them later.
2:  mov rcx, rsp
    save_words
    mov eax, {call_return_wide}
    jmp call_other
# A return that a monitor watches.
3:  cmp ecx, {last_recorded}
    jbe 2b
    mov rcx, rsp
    save_words
    save_call
    mov edx, 1
    call kernel_watched_return
    jmp resume
