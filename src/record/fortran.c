/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry points of MPI's Fortran libraries, to find the place in the program from which they are called: they in
   turn call our PMPI_X, which only sees the library. Each notes its return address and jumps to the library's own
   function, with all arguments unchanged. PMPI_X have entries, too: programs and their tools may call them. */
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

__attribute__((used)) void *fortran_profiled(struct fortran_entry *entry, const void *caller);
void *fortran_profiled(struct fortran_entry *entry, const void *caller)
{
    /* Some functions of the library call PMPI_X themselves: where the program called those is noted. */
    if (!real_called_from_fortran(caller))
        real_fortran_caller = caller;
    void *function = __atomic_load_n(&entry->function, __ATOMIC_ACQUIRE);
    return function ? function : fortran_resolve(entry);
}

/* r11 has the entry: gets its function with the registers of arguments kept, and goes there. */
#define WAY(label, function)                                                                                           \
    __asm__(".pushsection .text\n"                                                                                     \
            ".type " label ", @function\n" label ":\n"                                                                 \
            "    push %rdi\n    push %rsi\n    push %rdx\n    push %rcx\n    push %r8\n    push %r9\n    push %r10\n"  \
            "    mov %r11, %rdi\n"                                                                                     \
            "    mov 56(%rsp), %rsi\n" /* the return address, above the seven registers */                             \
            "    call " function "\n"                                                                                  \
            "    mov %rax, %r11\n"                                                                                     \
            "    pop %r10\n    pop %r9\n    pop %r8\n    pop %rcx\n    pop %rdx\n    pop %rsi\n    pop %rdi\n"         \
            "    jmp *%r11\n"                                                                                          \
            ".size " label ", . - " label "\n"                                                                         \
            ".popsection\n")
WAY("fortran_first", "fortran_resolve");
WAY("fortran_profiling", "fortran_profiled");

#define NAMED(symbol)                                                                                                  \
    ".pushsection .rodata\nname_" symbol ": .asciz \"" symbol "\"\n.popsection\n"                                      \
    ".pushsection .data.rel, \"aw\"\n.balign 8\nentry_" symbol ": .quad 0, name_" symbol "\n.popsection\n"             \
    ".pushsection .text\n.balign 16\n.globl " symbol "\n.type " symbol ", @function\n" symbol ":\n"

#define PROFILED(symbol)                                                                                               \
    __asm__(NAMED(symbol) "    endbr64\n"                                                                              \
                          "    lea entry_" symbol "(%rip), %r11\n"                                                     \
                          "    jmp fortran_profiling\n"                                                                \
                          ".size " symbol ", . - " symbol "\n.popsection\n");

#define ENTRY(symbol)                                                                                                  \
    __asm__(NAMED(symbol) "    endbr64\n"                                                                              \
                          "    mov (%rsp), %r11\n"                                                                     \
                          "    mov real_fortran_caller@gottpoff(%rip), %rax\n"                                         \
                          "    mov %r11, %fs:(%rax)\n"                                                                 \
                          "    mov entry_" symbol "(%rip), %rax\n"                                                     \
                          "    lea entry_" symbol "(%rip), %r11\n"                                                     \
                          "    test %rax, %rax\n"                                                                      \
                          "    je fortran_first\n"                                                                     \
                          "    jmp *%rax\n"                                                                            \
                          ".size " symbol ", . - " symbol "\n.popsection\n");

/* mpif.h and `use mpi`; `use mpi_f08`, of which MPICH has variants for any type of buffer (f08ts) and large counts, and
   its PMPI_X with another beginning. */
#define FORTRAN_FUNCTION(name, profiling)                                                                              \
    ENTRY(#name "_")                                                                                                   \
    ENTRY(#name "__")                                                                                                  \
    ENTRY(#name "_f08_")                                                                                               \
    ENTRY(#name "_f08ts_")                                                                                             \
    ENTRY(#name "_f08_large_")                                                                                         \
    ENTRY(#name "_f08ts_large_")                                                                                       \
    PROFILED("p" #name "_")                                                                                            \
    PROFILED("p" #name "__")                                                                                           \
    PROFILED("p" #name "_f08_")                                                                                        \
    PROFILED(#profiling "_f08_")                                                                                       \
    PROFILED(#profiling "_f08ts_")                                                                                     \
    PROFILED(#profiling "_f08_large_")                                                                                 \
    PROFILED(#profiling "_f08ts_large_")
#include "fortran.def"

#endif
