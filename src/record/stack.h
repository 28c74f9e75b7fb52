/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_STACK_H
#define SIGHT_RECORD_STACK_H

/* A call begins while another one is open: the stack says why. */
enum stack_answer {
    STACK_UNKNOWN,  /* MPI calls itself; or the stack cannot be followed */
    STACK_LEFT,     /* the open call's frame is gone: it never returned */
    STACK_CALLBACK, /* MPI has called the program (attributes, errors, requests, operations), which calls MPI */
};

/* `open` is somewhere in the frame of the open call's wrapper, `current` in that of the call that begins. */
enum stack_answer stack_look(const void *open, const void *current);

#endif
