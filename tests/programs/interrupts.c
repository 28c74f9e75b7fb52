/* SPDX-License-Identifier: BSD-3-Clause */
/* System calls that a signal ends early, called again and again by threads that use much CPU time, as samples come with
   it. Each must do what it does without: prints "CALL,0" or how often it did not. `interrupts take` takes every
   real-time signal for itself. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 400 };
static volatile unsigned long sink;
static volatile sig_atomic_t own_signals, profile_signals;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void compute(void)
{
    for (int i = 0; i < 100000; i++)
        sink = sink * 31 + (unsigned long)i;
}

static void on_own(int number)
{
    (void)number;
    own_signals++;
}

static void on_profile(int number)
{
    (void)number;
    profile_signals++;
}

static int sleeps(void)
{
    struct timespec short_time = {0, 200000};
    int bad = 0;
    for (int i = 0; i < ROUNDS; i++) {
        compute();
        double before = now();
        bad += nanosleep(&short_time, NULL) != 0;
        bad += clock_nanosleep(CLOCK_MONOTONIC, 0, &short_time, NULL) != 0;
        bad += usleep(200) != 0;
        bad += now() - before < 0.0006;
    }
    return bad;
}

/* Many with nothing to wait for: most of the CPU time is in the kernel then. */
static int waits(void)
{
    int bad = 0, queue = epoll_create1(0);
    struct epoll_event event;
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    for (int i = 0; i < 100 * ROUNDS; i++) {
        int timeout = i % 100 == 0;
        struct timeval pause = {0, 300 * timeout};
        struct timespec wait = {0, 300000 * timeout}, until;
        bad += poll(NULL, 0, timeout) != 0;
        bad += select(0, NULL, NULL, NULL, &pause) != 0;
        bad += pselect(0, NULL, NULL, NULL, &wait, NULL) != 0;
        bad += ppoll(NULL, 0, &wait, NULL) != 0;
        bad += epoll_wait(queue, &event, 1, timeout) != 0;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec = (until.tv_nsec + 300000) % 1000000000;
        if (timeout)
            bad += sem_timedwait(&semaphore, &until) == 0 || errno != ETIMEDOUT;
    }
    close(queue);
    return bad;
}

static void *writer(void *file)
{
    char byte = 1;
    for (int i = 0; i < ROUNDS; i++) {
        compute();
        if (write(*(int *)file, &byte, 1) != 1)
            return file;
    }
    return NULL;
}

static int reads(void)
{
    int ends[2], bad = pipe(ends) != 0;
    char byte;
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, writer, &ends[1]);
    for (int i = 0; i < ROUNDS; i++) {
        compute();
        bad += read(ends[0], &byte, 1) != 1;
    }
    pthread_join(thread, &result);
    close(ends[0]);
    close(ends[1]);
    return bad + (result != NULL);
}

enum { LARGE = 1 << 20 };

static void *drain(void *file)
{
    char *buffer = malloc(LARGE);
    int bad = 0;
    for (int i = 0; i < ROUNDS; i++)
        bad += recv(*(int *)file, buffer, LARGE, MSG_WAITALL) != LARGE;
    free(buffer);
    return bad ? file : NULL;
}

/* Large messages go whole, both ways. */
static int sends(void)
{
    int ends[2], bad = socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0;
    char *buffer = calloc(1, LARGE);
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, drain, &ends[1]);
    for (int i = 0; i < ROUNDS; i++)
        bad += (i % 2 ? write(ends[0], buffer, LARGE) : send(ends[0], buffer, LARGE, 0)) != LARGE;
    pthread_join(thread, &result);
    free(buffer);
    close(ends[0]);
    close(ends[1]);
    return bad + (result != NULL);
}

/* accept with a time limit, which ends with EAGAIN and nothing else. */
static int accepts(void)
{
    struct sockaddr_in any = {.sin_family = AF_INET};
    struct timeval limit = {0, 2000};
    int file = socket(AF_INET, SOCK_STREAM, 0), bad = bind(file, (struct sockaddr *)&any, sizeof any) != 0;
    bad += listen(file, 1) != 0 || setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0;
    for (int i = 0; i < ROUNDS / 4; i++) {
        compute();
        bad += accept(file, NULL, NULL) >= 0 || errno != EAGAIN;
    }
    close(file);
    return bad;
}

static int signals_of(const sigset_t *set)
{
    int count = 0;
    for (int number = 1; number <= SIGRTMAX; number++)
        count += sigismember(set, number) == 1;
    return count;
}

/* All signals are blocked: those pending are those that were sent. */
static int pending(void)
{
    struct timespec no_time = {0, 0};
    sigset_t all, before, some;
    int bad = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        for (int i = 0; i < 100; i++)
            compute();
        bad += sigpending(&some) != 0 || signals_of(&some) != 0;
        pthread_kill(pthread_self(), number);
        for (int i = 0; i < 100; i++)
            compute();
        bad += sigpending(&some) != 0 || signals_of(&some) != 1 || !sigismember(&some, number);
        bad += sigtimedwait(&all, NULL, &no_time) != number;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return bad;
}

/* All signals are blocked; only the one that was sent is got. */
static int signals(void)
{
    sigset_t all, before;
    struct timespec no_time = {0, 100000};
    int bad = 0, number;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    for (int i = 0; i < ROUNDS; i++) {
        compute();
        bad += sigtimedwait(&all, NULL, &no_time) != -1 || errno != EAGAIN;
        pthread_kill(pthread_self(), SIGUSR1);
        bad += sigwait(&all, &number) != 0 || number != SIGUSR1;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    struct sigaction action = {.sa_handler = on_own}, old;
    sigaction(SIGALRM, &action, &old);
    for (int i = 0; i < ROUNDS / 4; i++) {
        struct itimerval timer = {.it_value = {0, 2000}};
        int had = own_signals;
        setitimer(ITIMER_REAL, &timer, NULL);
        compute();
        if (own_signals == had)
            pause();
        bad += own_signals != had + 1;
    }
    sigaction(SIGALRM, &old, NULL);
    return bad;
}

/* The program's own profiling continues, on an alternate stack. */
static int profile(void)
{
    static char stack[1 << 16];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_profile, .sa_flags = SA_ONSTACK | SA_RESTART};
    struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
    sigaltstack(&alternate, NULL);
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &often, NULL);
    for (int i = 0; i < 3 * ROUNDS; i++)
        compute();
    setitimer(ITIMER_PROF, &never, NULL);
    return profile_signals < 10;
}

/* Children that compute and run another program. */
static int children(void)
{
    int bad = 0;
    for (int i = 0; i < 20; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            for (int k = 0; k < 20; k++)
                compute();
            execl("/bin/true", "true", (char *)NULL);
            _exit(1);
        }
        compute();
        bad += waitpid(child, &status, 0) != child || status != 0;
    }
    return bad + (system("exit 0") != 0);
}

static int takes(void)
{
    int bad = 0;
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        struct sigaction action = {.sa_handler = on_own}, before;
        bad += sigaction(number, &action, &before) != 0 || before.sa_handler != SIG_DFL;
        int had = own_signals;
        for (int i = 0; i < 20; i++)
            compute();
        raise(number);
        bad += own_signals != had + 1;
    }
    return bad;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } calls[] = {{"sleeps", sleeps},   {"waits", waits},       {"reads", reads},
                 {"sends", sends},     {"accepts", accepts},   {"signals", signals},
                 {"pending", pending}, {"children", children}, {"profile", profile}};
    MPI_Init(&argc, &argv);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        printf("%s,%d\n", calls[i].name, calls[i].run());
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (argc > 1 && strcmp(argv[1], "take") == 0)
        printf("takes,%d\n", takes());
    MPI_Finalize();
    return 0;
}
