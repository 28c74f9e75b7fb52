/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/launch.h"

#include "cli/command.h"
#include "core/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEP_MS = 50 }; /* between looks whether the program has ended */

/* Handlers have no argument for them. */
static volatile pid_t child_process;
static volatile sig_atomic_t before_child; /* a signal that came when there was no program yet */
static volatile sig_atomic_t signalled;

/* Those that are passed on to the program. */
static const int numbers[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGINT, SIGQUIT};
enum { SIGNALS = sizeof numbers / sizeof *numbers };
static struct sigaction before[SIGNALS];

/* Then the program, which is in the same process group, has got it too. */
static bool comes_from_terminal(int signal_number, const siginfo_t *info)
{
    bool may = signal_number == SIGINT || signal_number == SIGQUIT;
    return may && info->si_code != SI_USER && info->si_code != SI_QUEUE && info->si_code != SI_TKILL;
}

static void pass_on(int signal_number, siginfo_t *info, void *context)
{
    int saved = errno;
    (void)context;
    signalled = 1;
    if (comes_from_terminal(signal_number, info))
        return;
    if (child_process > 0)
        kill(child_process, signal_number);
    else
        before_child = signal_number;
    errno = saved;
}

/* Ignored signals stay ignored, in the program too: nohup. */
static void signals_take(void)
{
    for (size_t i = 0; i < SIGNALS; i++) {
        struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_RESTART | SA_SIGINFO};
        sigemptyset(&action.sa_mask);
        sigaction(numbers[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
}

/* Also in the child before exec: handlers are lost by that, but what was ignored must be ignored again. */
static void signals_give_back(void)
{
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(numbers[i], &before[i], NULL);
}

/* In the child: a failure of exec is reported through the pipe, which exec closes if it succeeds. */
static void child_run(char *const *arguments, int failure)
{
    signals_give_back();
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execvp(arguments[0], arguments);
    int reason = errno;
    if (write(failure, &reason, sizeof reason) < 0)
        _exit(127);
    _exit(127);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Ends at once when the program does, where the kernel has handles of processes (Linux 5.3). */
static void pause_watch(int program, int other, int ms)
{
    /* Negative ones are passed over. */
    struct pollfd ends[] = {{.fd = program, .events = POLLIN}, {.fd = other, .events = POLLIN}};
    poll(ends, sizeof ends / sizeof *ends, program >= 0 || ms < STEP_MS ? ms : STEP_MS);
}

static enum status wait_for(pid_t child, launch_watch *watch, void *context, struct launch_result *result,
                            struct error *err)
{
    int status;
    pid_t ended;
    int how = watch ? WNOHANG : 0, other = -1, handle = watch ? (int)syscall(SYS_pidfd_open, child, 0) : -1;
    while ((ended = waitpid(child, &status, how)) <= 0)
        if (ended == 0) {
            int ms = watch(context, child, &other);
            pause_watch(handle, other, ms);
        } else if (errno != EINTR)
            return error_set_errno(err, ERROR_INPUT, "cannot wait for the program");
    if (handle >= 0)
        close(handle);
    if (WIFSIGNALED(status))
        result->signal = WTERMSIG(status);
    result->code = 128 + result->signal; /* as a shell has it */
    if (WIFEXITED(status))
        result->code = WEXITSTATUS(status);
    return STATUS_OK;
}

enum status launch(char *const *words, size_t count, launch_watch *watch, void *context, struct launch_result *result,
                   struct error *err)
{
    char **arguments = memory_new((count + 1) * sizeof *arguments);
    memcpy(arguments, words, count * sizeof *arguments);
    int failure[2], reason = 0;
    if (pipe2(failure, O_CLOEXEC) != 0)
        return error_set_errno(err, ERROR_INPUT, "cannot create a pipe");
    int64_t begin_ns = now_ns();
    signals_take();
    child_process = fork();
    if (child_process == 0)
        child_run(arguments, failure[1]);
    if (child_process > 0 && before_child)
        kill(child_process, before_child);
    close(failure[1]);
    /* Returns with nothing at exec: the pipe is closed by it. So a fault is known before the program is waited for. */
    bool failed = child_process < 0 || read(failure[0], &reason, sizeof reason) == sizeof reason;
    close(failure[0]);
    enum status status = STATUS_OK;
    if (child_process > 0)
        status = wait_for(child_process, watch, context, result, err);
    signals_give_back();
    result->ended_ns = now_ns();
    result->ran_ns = result->ended_ns - begin_ns;
    if (failed) {
        if (child_process >= 0)
            errno = reason;
        status = error_set_errno(err, ERROR_USAGE, "cannot run '%s'", words[0]);
    }
    free(arguments);
    return status;
}

bool launch_was_signalled(void)
{
    return signalled != 0;
}

void launch_die_alike(const struct launch_result *result)
{
    if (!result->signal)
        return;
    struct rlimit no_core = {0}; /* the program has left its own */
    setrlimit(RLIMIT_CORE, &no_core);
    /* A shell that runs a script sees from the signal that it should stop, too: an exit code would not say so. */
    signal(result->signal, SIG_DFL);
    raise(result->signal);
}
