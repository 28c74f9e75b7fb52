/* SPDX-License-Identifier: BSD-3-Clause */
/* The actions of its signals as a program sees them, and the effect of its own.
       actions look | own | ignore | recover | stack | chain | die | abort | waits | old
   stack: handlers from before MPI_Init, where there is an alternate stack; waits: for each real-time signal; old:
   functions that only old programs call */
#include "truth.h"

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Headers have it for old standards only. */
void (*bsd_signal(int number, void (*handler)(int)))(int);
void (*sigset(int number, void (*handler)(int)))(int);

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

static char stack[1 << 16];
static int on_alternate[2]; /* SIGSEGV's, SIGBUS's */

static void note_stack(int number)
{
    char here;
    on_alternate[number == SIGBUS] = (uintptr_t)&here - (uintptr_t)stack < sizeof stack;
}

/* One handler asks for the alternate stack, the other does not. */
static void handle_on_stacks(void)
{
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction plain = {.sa_handler = note_stack}, other = {.sa_handler = note_stack, .sa_flags = SA_ONSTACK};
    sigaltstack(&alternate, NULL);
    sigaction(SIGSEGV, &plain, NULL);
    sigaction(SIGBUS, &other, NULL);
}

static void block(sigset_t *set, int number)
{
    sigemptyset(set);
    sigaddset(set, number);
    pthread_sigmask(SIG_BLOCK, set, NULL);
}

static int dies_of(int number)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, number);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        raise(number);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == number;
}

static void waits(void)
{
    int dead = 0, waited = 0, read_from = 0;
    const struct timespec limit = {.tv_sec = 20};
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        dead += dies_of(number);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        sigset_t set;
        int got = 0;
        block(&set, number);
        kill(getpid(), number);
        waited += sigtimedwait(&set, NULL, &limit) == number;
        kill(getpid(), number);
        sigwait(&set, &got);
        waited += got == number;
        kill(getpid(), number);
        waited += sigwaitinfo(&set, NULL) == number;
    }
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        sigset_t set;
        struct signalfd_siginfo info;
        block(&set, number);
        int file = signalfd(-1, &set, SFD_NONBLOCK);
        kill(getpid(), number);
        read_from += read(file, &info, sizeof info) == sizeof info && info.ssi_signo == (unsigned)number;
        close(file);
    }
    fprintf(lines, "%d die, %d waited for, %d read\n", dead, waited, read_from);
}

static void old(void)
{
    static const int some[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    int right = 0;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        right += sigset(some[i], SIG_IGN) == SIG_DFL;
        right += sigset(some[i], SIG_DFL) == SIG_IGN;
        right += bsd_signal(some[i], SIG_DFL) == SIG_DFL;
    }
    right += sigset(SIGRTMAX, SIG_IGN) == SIG_DFL;
    fprintf(lines, "%d of 16\n", right);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "look";
    if (strcmp(how, "ignore") == 0)
        signal(SIGFPE, SIG_IGN);
    if (strcmp(how, "stack") == 0)
        handle_on_stacks();
    /* Before MPI has threads, which would get the signals. */
    if (strcmp(how, "waits") == 0)
        for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
            sigset_t set;
            block(&set, number);
        }
    MPI_Init(&argc, &argv);
    truth_begin();
    lines = truth_open();
    look("in MPI");
    if (strcmp(how, "own") == 0)
        own();
    if (strcmp(how, "recover") == 0)
        recover();
    if (strcmp(how, "stack") == 0) {
        raise(SIGSEGV);
        raise(SIGBUS);
        fprintf(lines, "on the alternate stack: %d and %d\n", on_alternate[0], on_alternate[1]);
    }
    if (strcmp(how, "waits") == 0)
        waits();
    if (strcmp(how, "old") == 0)
        old();
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
