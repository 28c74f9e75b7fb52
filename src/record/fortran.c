/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry points of MPI's Fortran libraries, to find the place in the program from which they are called: they in
   turn call our PMPI_X, which only sees the library. Each notes its return address and jumps to the library's own
   function, with all arguments unchanged. */
#include "record/real.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __x86_64__

/* One entry point: its function in the library, looked up when it is first called. */
struct fortran_entry {
    void *function;
    const char *name;
};

/* Called by the assembly below. */
__attribute__((used)) void *fortran_resolve(struct fortran_entry *entry);
void *fortran_resolve(struct fortran_entry *entry)
{
    void *function = real_find_fortran(entry->name);
    /* Two threads may look it up at once: both store the same address, and the release orders it after what dlsym
       wrote. */
    __atomic_store_n(&entry->function, function, __ATOMIC_RELEASE);
    return function;
}

/* r11 has the entry: gets its function with the registers of arguments kept, and goes there. */
__asm__(".pushsection .text\n"
        ".type fortran_first, @function\n"
        "fortran_first:\n"
        "    push %rdi\n    push %rsi\n    push %rdx\n    push %rcx\n    push %r8\n    push %r9\n    push %r10\n"
        "    mov %r11, %rdi\n"
        "    call fortran_resolve\n"
        "    mov %rax, %r11\n"
        "    pop %r10\n    pop %r9\n    pop %r8\n    pop %rcx\n    pop %rdx\n    pop %rsi\n    pop %rdi\n"
        "    jmp *%r11\n"
        ".size fortran_first, . - fortran_first\n"
        ".popsection\n");

#define ENTRY(symbol)                                                                                                  \
    __asm__(".pushsection .rodata\nname_" symbol ": .asciz \"" symbol "\"\n.popsection\n"                              \
            ".pushsection .data.rel, \"aw\"\n.balign 8\nentry_" symbol ": .quad 0, name_" symbol "\n.popsection\n"     \
            ".pushsection .text\n.balign 16\n.globl " symbol "\n.type " symbol ", @function\n" symbol ":\n"            \
            "    endbr64\n"                                                                                            \
            "    mov (%rsp), %r11\n"                                                                                   \
            "    mov real_fortran_caller@gottpoff(%rip), %rax\n"                                                       \
            "    mov %r11, %fs:(%rax)\n"                                                                               \
            "    mov entry_" symbol "(%rip), %rax\n"                                                                   \
            "    lea entry_" symbol "(%rip), %r11\n"                                                                   \
            "    test %rax, %rax\n"                                                                                    \
            "    je fortran_first\n"                                                                                   \
            "    jmp *%rax\n"                                                                                          \
            ".size " symbol ", . - " symbol "\n.popsection\n");

/* mpif.h and `use mpi`; `use mpi_f08`, of which MPICH has variants for any type of buffer (f08ts) and large counts. */
#define FORTRAN_FUNCTION(name)                                                                                         \
    ENTRY(#name "_")                                                                                                   \
    ENTRY(#name "__")                                                                                                  \
    ENTRY(#name "_f08_")                                                                                               \
    ENTRY(#name "_f08ts_")                                                                                             \
    ENTRY(#name "_f08_large_")                                                                                         \
    ENTRY(#name "_f08ts_large_")
#include "fortran.def"

#endif
