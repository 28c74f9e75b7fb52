/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_ENDING_H
#define SIGHT_RECORD_ENDING_H

#include "record/location.h"

#include <signal.h>
#include <stdint.h>

/* How a process ends that does not reach MPI_Finalize: by which signal, or with which exit code. */

/* From now on the signals of crashes (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) are noted on their way: then the usual
   action follows, be it a handler of the program or of MPI, or death at the fault. Exits are noted, too. */
void ending_watch(void);

/* What the program sees of a signal's action: where it is ours, that which it would see if it were not recorded. */
void ending_hide(int signal_number, struct sigaction *seen);

/* The program has set an action: where it is death, it is noted again on its way. A handler of the program stays alone:
   what it does is up to it, and if it ends in death, it has set that action first. */
void ending_watch_again(int signal_number);

/* MPI handles an error, and is about to end the process unless the program wants errors returned: then recording goes
   on, and the note counts for nothing (struct record_header). `error`: as in there. Nothing is noted once the program
   has made handlers of its own: what they do is not known. */
void ending_note_error(uint32_t error);
void ending_errors_handled(void);

/* The location of the process that records the end; NULL: none any more. */
void ending_note_in(struct location *location);

#endif
