/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_SAMPLES_H
#define SIGHT_RECORD_SAMPLES_H

#include "record/location.h"

#include <signal.h>

/* What threads compute between the calls: each that calls MPI, or is created after MPI is initialised, has a timer of
   its CPU time, whose signal takes a sample at one random instant of each period: the call path, as GCC's unwinder
   finds it. The handler tries the lock of its location, never waits for it, allocates nothing, and does nothing while
   its thread is in MPI or in the recorder (location_busy). Whatever cannot be recorded is counted.

   The signal is the highest real-time signal that is free when MPI is initialised. SA_RESTART lets most system calls
   go on; those that never do are in interrupts.c. A program that takes the signal for itself gets it: samples end. */

/* What the environment asks for: samples per second of CPU time; 0: none. Called once, before the first thread. */
void samples_choose(uint32_t per_second);

/* This thread, with its location, is sampled from now on; nothing happens where it is already, or none are wanted. */
void samples_start(struct location *location);

/* True where a new thread is to be sampled though it may never call MPI: the first 256 of a process. */
bool samples_want_thread(void);

/* Ends it, from any thread; the location goes on. samples_forget: after fork(), the timer is the parent's. */
void samples_stop(struct location *location);
void samples_forget(struct location *location);

/* Defines the files of code that have been loaded since the last time. The location is this thread's. */
void samples_note_modules(struct location *location);

/* From location_prepare: the same, where a sample met code that is not known. */
void samples_note_unknown(struct location *location);

/* The signal; 0: no samples are taken. */
extern int samples_signal;

/* True if what came, in a thread that waits for signals, is a sample and not the program's; sets the timer again. */
bool samples_came(const siginfo_t *info);

/* True if one has been sent to this thread and not come yet. */
bool samples_pending(void);

/* Replaces the action of our handler, as a program would see it, by the default one. */
void samples_hide(struct sigaction *seen);

/* True if this thread may be interrupted by it. */
bool samples_here(void);

#endif
