/* SPDX-License-Identifier: BSD-3-Clause */
/* The actions of its signals as a program sees them, and the effect of its own.
       actions look | own | ignore | recover | chain | die | abort */
#include "truth.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM, SIGUSR1};
enum { SIGNALS = sizeof signals / sizeof *signals };
static sigjmp_buf again;
static FILE *lines;
static struct sigaction saved;

static void say(const char *what, int number, const struct sigaction *action)
{
    const char *kind = action->sa_handler == SIG_DFL   ? "default"
                       : action->sa_handler == SIG_IGN ? "ignored"
                                                       : "handler";
    int masked = 0;
    for (int i = 1; i < 32; i++)
        masked += sigismember(&action->sa_mask, i) == 1;
    fprintf(lines, "%s %d: %s, flags %x, %d masked\n", what, number, kind, (unsigned)action->sa_flags, masked);
}

static void look(const char *what)
{
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction action;
        sigaction(signals[i], NULL, &action);
        say(what, signals[i], &action);
    }
}

static void on_signal(int number)
{
    (void)number;
    siglongjmp(again, 1);
}

static void on_chained(int number, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    static const char text[] = "chained\n";
    if (write(2, text, sizeof text - 1) < 0)
        _exit(9);
    sigaction(number, &saved, NULL);
    raise(number);
}

static void crash(void)
{
    volatile int *volatile nowhere = NULL;
    *nowhere = 1;
}

/* Each way to set an action gives back the one before. */
static void own(void)
{
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;
        sigaddset(&action.sa_mask, SIGUSR2);
        sigaction(signals[i], &action, &old);
        say("before", signals[i], &old);
        sigaction(signals[i], &old, &action);
        say("own", signals[i], &action);
        fprintf(lines, "own %d: %s\n", signals[i], action.sa_handler == on_signal ? "mine" : "another");
        void (*handler)(int) = signal(signals[i], SIG_IGN);
        fprintf(lines, "signal %d: %s\n", signals[i],
                handler == SIG_DFL   ? "default"
                : handler == SIG_IGN ? "ignored"
                                     : "handler");
        handler = signal(signals[i], SIG_DFL);
        fprintf(lines, "signal %d: %s\n", signals[i],
                handler == SIG_DFL   ? "default"
                : handler == SIG_IGN ? "ignored"
                                     : "handler");
    }
    look("after");
}

static void recover(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER};
    sigaction(SIGSEGV, &action, &saved);
    for (volatile int i = 0; i < 3; i++)
        if (sigsetjmp(again, 1) == 0)
            crash();
        else
            fprintf(lines, "recovered %d\n", (int)i);
    sigaction(SIGSEGV, &saved, NULL);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "look";
    if (strcmp(how, "ignore") == 0)
        signal(SIGFPE, SIG_IGN);
    MPI_Init(&argc, &argv);
    truth_begin();
    lines = truth_open();
    look("in MPI");
    if (strcmp(how, "own") == 0)
        own();
    if (strcmp(how, "recover") == 0)
        recover();
    fflush(lines);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "chain") == 0) {
        struct sigaction action = {.sa_sigaction = on_chained, .sa_flags = SA_SIGINFO};
        sigaction(SIGSEGV, &action, &saved);
        saved.sa_handler = SIG_DFL;
        saved.sa_flags = 0;
    }
    if (strcmp(how, "die") == 0)
        signal(SIGSEGV, SIG_DFL);
    if (strcmp(how, "die") == 0 || strcmp(how, "chain") == 0)
        crash();
    if (strcmp(how, "abort") == 0)
        abort();
    MPI_Finalize();
    look("after MPI");
    fflush(lines);
    return 0;
}
