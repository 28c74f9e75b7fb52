/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/ending.h"

#include "record/clock.h"
#include "record/recorder.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { CRASHES = sizeof crashes / sizeof *crashes };
static struct sigaction before[CRASHES];
static struct location *first; /* of the process */
static pid_t process;

/* UCX, which MPICH may use, has a sigaction of its own that keeps others from the signals that it handles. */
extern int __sigaction(int, const struct sigaction *, struct sigaction *) __attribute__((weak));

static int own_sigaction(int signal_number, const struct sigaction *action, struct sigaction *old)
{
    return __sigaction ? __sigaction(signal_number, action, old) : sigaction(signal_number, action, old);
}

void ending_note_in(struct location *location)
{
    first = location;
}

/* Runs in a signal handler. Only memory that is mapped is written: the header is a page of the file, which the kernel
   writes when the process is gone. clock_now() is RDTSCP or clock_gettime(), both safe in handlers. */
static void note_in(struct location *location, int signal_number, uint32_t error)
{
    struct record_header *header = location ? location->header : NULL;
    /* After a fork without exec the child has the parent's mapping: its death is not the parent's. */
    if (!header || getpid() != process)
        return;
    header->died_ticks = clock_now();
    header->died_at = location_position(location);
    header->signal = signal_number;
    header->error = error;
}

static void note(int signal_number, uint32_t error)
{
    /* The thread that ends may never have called MPI: then the process's first location takes the note. */
    struct location *mine = location_mine ? location_mine : first;
    note_in(mine, signal_number, error);
    if (mine != first)
        note_in(first, signal_number, error);
}

/* The previous handler is restored and the instruction is tried again, or the signal sent again: the process dies as it
   would have. */
static void die_as_before(const struct sigaction *action, int signal_number, const siginfo_t *info)
{
    /* A fault of the program itself (si_code above 0) happens again when the handler returns; one sent by kill()
       does not, and must be sent once more. */
    own_sigaction(signal_number, action, NULL);
    if (info->si_code <= 0)
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal_number);
}

static void on_crash(int signal_number, siginfo_t *info, void *context)
{
    /* The loop ends with the last signal at the latest: only these five are sent here. */
    size_t i = 0;
    while (i + 1 < CRASHES && crashes[i] != signal_number)
        i++;
    note(signal_number, 0);
    /* Whoever was there before is called as if we were not: a program may recover from its own faults. */
    if (before[i].sa_flags & SA_SIGINFO)
        before[i].sa_sigaction(signal_number, info, context);
    else if (before[i].sa_handler == SIG_DFL)
        die_as_before(&before[i], signal_number, info);
    else
        before[i].sa_handler(signal_number);
}

static _Atomic bool errors_handled; /* by the program */

void ending_errors_handled(void)
{
    errors_handled = true;
}

void ending_note_error(uint32_t error)
{
    const struct open_call *open = location_mine ? &location_mine->open : NULL;
    /* A thread of Open MPI does so in each process when the launcher has gone: that is no error of a call. */
    if (!open || !open->frame || errors_handled)
        return;
    /* MPI_Abort says itself what it does, and in MPI_Finalize the recording has come to its end. */
    if (open->function != FUNCTION_MPI_Abort && open->function != FUNCTION_MPI_Finalize)
        note(0, error);
}

/* Registered by on_exit, so that the exit code is known; runs before destructors close the files. */
static void on_exit_of_process(int code, void *unused)
{
    (void)unused;
    struct record_header *header = first ? first->header : NULL;
    /* RECORD_RUNNING: MPI was not finalised, so that this exit is an early one. */
    if (!header || header->end != RECORD_RUNNING || getpid() != process)
        return;
    uint64_t position = location_position(first);
    /* An error that was handled has nothing to do with this exit. */
    if (header->died_at != position)
        header->error = 0;
    header->died_ticks = clock_now();
    header->died_at = position;
    header->exit_code = code;
    header->end = RECORD_EXITED;
}

/* Where the recorder is linked into the program, it does not see what the program asks of signals (interrupts.c), and
   could not hide that it handles them. */
#ifdef RECORD_STATIC
static const bool hidden = false;
#else
static const bool hidden = true;
#endif

static void watch(size_t i, const struct sigaction *found)
{
    before[i] = *found;
    struct sigaction action = *found;
    bool handled = (found->sa_flags & SA_SIGINFO) || found->sa_handler != SIG_DFL;
    action.sa_flags |= SA_SIGINFO;
    /* An overflow of the stack can only be handled on another one, if the program has set one up. A handler of its own
       runs where the program wants it: it may need more room than that stack has. */
    if (!handled)
        action.sa_flags |= SA_ONSTACK;
    action.sa_sigaction = on_crash;
    own_sigaction(crashes[i], &action, NULL);
}

static bool is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_crash;
}

void ending_hide(int signal_number, struct sigaction *seen)
{
    /* Of signal() only the handler is known. */
    for (size_t i = 0; i < CRASHES; i++)
        if (crashes[i] == signal_number && seen->sa_sigaction == on_crash)
            *seen = before[i];
}

void ending_watch_again(int signal_number)
{
    struct sigaction found;
    /* Only if the program has put back the default: then a crash would leave no note. */
    for (size_t i = 0; i < CRASHES && process == getpid(); i++)
        if (crashes[i] == signal_number && own_sigaction(signal_number, NULL, &found) == 0 && !is_ours(&found) &&
            !(found.sa_flags & SA_SIGINFO) && found.sa_handler == SIG_DFL)
            watch(i, &found);
}

void ending_watch(void)
{
    struct sigaction found;
    process = getpid();
    on_exit(on_exit_of_process, NULL);
    for (size_t i = 0; i < CRASHES && hidden; i++)
        if (own_sigaction(crashes[i], NULL, &found) == 0 && !is_ours(&found) &&
            /* A signal that is ignored kills nobody: there is nothing to note. */
            ((found.sa_flags & SA_SIGINFO) || found.sa_handler != SIG_IGN))
            watch(i, &found);
}
