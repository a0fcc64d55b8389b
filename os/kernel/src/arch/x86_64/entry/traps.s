# The vectors.

.macro trap_entry vector, has_error
trap_\vector:
    .if \has_error == 0
    push 0
    .endif
    push \vector
    .if \vector == 2 || \vector == 8 || \vector == 18
    jmp trap_fatal
    .elseif \vector == 64
    jmp trap_timer
    .elseif \vector >= {vector_lines} && \vector < {vector_lines} + {lines}
    jmp trap_line
    .else
    jmp trap_common
    .endif
.endm
trap_entry 0, 0
trap_entry 1, 0
trap_entry 2, 0
trap_entry 3, 0
trap_entry 4, 0
trap_entry 5, 0
trap_entry 6, 0
trap_entry 7, 0
trap_entry 8, 1
trap_entry 9, 0
trap_entry 10, 1
trap_entry 11, 1
trap_entry 12, 1
trap_entry 13, 1
trap_entry 14, 1
trap_entry 15, 0
trap_entry 16, 0
trap_entry 17, 1
trap_entry 18, 0
trap_entry 19, 0
trap_entry 20, 0
trap_entry 21, 1
trap_entry 22, 0
trap_entry 23, 0
trap_entry 24, 0
trap_entry 25, 0
trap_entry 26, 0
trap_entry 27, 0
trap_entry 28, 0
trap_entry 29, 1
trap_entry 30, 1
trap_entry 31, 0
trap_entry 64, 0
trap_entry 65, 0
trap_entry 66, 0
trap_entry 67, 0
.altmacro
.set line, 80
.rept 24
    trap_entry %line, 0
    .set line, line + 1
.endr
.noaltmacro
trap_entry 255, 0

.section .rodata
.global trap_table
    .align 8
trap_table:
    .quad trap_0, trap_1, trap_2, trap_3, trap_4, trap_5, trap_6, trap_7
    .quad trap_8, trap_9, trap_10, trap_11, trap_12, trap_13, trap_14, trap_15
    .quad trap_16, trap_17, trap_18, trap_19, trap_20, trap_21, trap_22, trap_23
    .quad trap_24, trap_25, trap_26, trap_27, trap_28, trap_29, trap_30, trap_31
    .quad trap_64, trap_65, trap_66, trap_67, trap_255
    .quad trap_80, trap_81, trap_82, trap_83, trap_84, trap_85, trap_86, trap_87
    .quad trap_88, trap_89, trap_90, trap_91, trap_92, trap_93, trap_94, trap_95
    .quad trap_96, trap_97, trap_98, trap_99, trap_100, trap_101, trap_102, trap_103
.text
