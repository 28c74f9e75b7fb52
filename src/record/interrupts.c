/* SPDX-License-Identifier: BSD-3-Clause */
/* System calls that a signal handler ends early even with SA_RESTART (signal(7), "Interruption of system calls and
   library functions by signal handlers"): in threads that are sampled they run with the signal of the samples blocked;
   one that came meanwhile is delivered after them. So the program sees what it would see without. Others need nothing.
   Calls that wait for signals never see this one, and a program that wants it for itself gets it. */
#include "record/ending.h"
#include "record/real.h"
#include "record/recorder.h"
#include "record/samples.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* The function that ours wraps. */
#define NEXT(name)                                                                                                     \
    (*(__extension__({                                                                                                 \
        static __typeof__(name) *next;                                                                                 \
        if (__builtin_expect(!next, 0))                                                                                \
            next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name);                                                        \
        next;                                                                                                          \
    })))

/* Blocks the signal. True: it was not blocked before. */
static bool hold(void)
{
    sigset_t samples, before;
    /* Threads that are not sampled pay for one test. */
    if (!samples_here())
        return false;
    sigemptyset(&samples);
    sigaddset(&samples, samples_signal);
    /* False if the program has blocked it itself: then it stays blocked. */
    return pthread_sigmask(SIG_BLOCK, &samples, &before) == 0 && !sigismember(&before, samples_signal);
}

/* Lets it come again; errno stays. */
static void let_go(bool held)
{
    sigset_t samples;
    if (!held)
        return;
    /* One that came meanwhile is delivered by this call. pthread_sigmask returns its error and leaves errno as it
       is. */
    sigemptyset(&samples);
    sigaddset(&samples, samples_signal);
    pthread_sigmask(SIG_UNBLOCK, &samples, NULL);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The thread slept since then: inside MPI that is MPI's. errno stays: clock_gettime does not fail. */
static void note_sleep(int64_t begin_ns)
{
    struct location *location = location_mine;
    if (location && !location->inside)
        location->asleep_ns += now_ns() - begin_ns;
}

/* A function whose result is of `type`, called with the signal blocked where `when` holds. */
#define QUIET_WHEN(when, type, name, parameters, arguments)                                                            \
    EXPORT type name parameters                                                                                        \
    {                                                                                                                  \
        bool held = (when) && hold();                                                                                  \
        type result = NEXT(name) arguments;                                                                            \
        let_go(held);                                                                                                  \
        return result;                                                                                                 \
    }
#define QUIET(type, name, parameters, arguments) QUIET_WHEN(true, type, name, parameters, arguments)

/* Sleeping: where `when` holds, the call does nothing else. */
#define NAP(when, type, name, parameters, arguments)                                                                   \
    EXPORT type name parameters                                                                                        \
    {                                                                                                                  \
        bool naps = (when), held = hold();                                                                             \
        int64_t begin_ns = naps ? now_ns() : 0;                                                                        \
        type result = NEXT(name) arguments;                                                                            \
        if (naps)                                                                                                      \
            note_sleep(begin_ns);                                                                                      \
        let_go(held);                                                                                                  \
        return result;                                                                                                 \
    }

NAP(true, unsigned, sleep, (unsigned seconds), (seconds))
NAP(true, int, usleep, (useconds_t us), (us))
NAP(true, int, nanosleep, (const struct timespec *wanted, struct timespec *rest), (wanted, rest))
NAP(true, int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *wanted, struct timespec *rest),
    (clock, flags, wanted, rest))
NAP(count == 0, int, poll, (struct pollfd * files, nfds_t count, int timeout), (files, count, timeout))
NAP(count == 0, int, select, (int count, fd_set *in, fd_set *out, fd_set *errors, struct timeval *timeout),
    (count, in, out, errors, timeout))

/* Waiting */

QUIET(int, epoll_wait, (int file, struct epoll_event *events, int count, int timeout), (file, events, count, timeout))
QUIET(int, sem_timedwait, (sem_t *restrict semaphore, const struct timespec *restrict until), (semaphore, until))
QUIET(int, sem_clockwait, (sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until),
      (semaphore, clock, until))
QUIET(int, semop, (int set, struct sembuf *operations, size_t count), (set, operations, count))
QUIET(int, semtimedop, (int set, struct sembuf *operations, size_t count, const struct timespec *timeout),
      (set, operations, count, timeout))
QUIET(int, msgsnd, (int queue, const void *message, size_t size, int flags), (queue, message, size, flags))
QUIET(ssize_t, msgrcv, (int queue, void *message, size_t size, long type, int flags),
      (queue, message, size, type, flags))
QUIET(int, pause, (void), ())

/* What glibc's headers make of calls under _FORTIFY_SOURCE. */
int __poll_chk(struct pollfd *files, nfds_t count, int timeout, size_t size);
ssize_t __recv_chk(int file, void *buffer, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int file, void *buffer, size_t size, size_t room, int flags, struct sockaddr *address,
                       socklen_t *length);
ssize_t __read_chk(int file, void *buffer, size_t size, size_t room);
int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t size);

QUIET(int, __poll_chk, (struct pollfd * files, nfds_t count, int timeout, size_t size), (files, count, timeout, size))

/* With a mask of their own, to which the signal is added. */

struct mask {
    sigset_t set;
    const sigset_t *use;
    bool held;
};

static struct mask mask_with(const sigset_t *given)
{
    struct mask mask = {.use = given};
    if (!samples_here())
        return mask;
    if (!given) {
        mask.held = hold();
        return mask;
    }
    mask.set = *given;
    sigaddset(&mask.set, samples_signal);
    /* Copied with the signal added; `use` NULL says so. */
    mask.use = NULL;
    return mask;
}

static const sigset_t *mask_of(const struct mask *mask, const sigset_t *given)
{
    return mask->use || !given ? given : &mask->set;
}

#define MASKED(name, parameters, arguments)                                                                            \
    EXPORT int name parameters                                                                                         \
    {                                                                                                                  \
        struct mask mask = mask_with(given);                                                                           \
        int result = NEXT(name) arguments;                                                                             \
        let_go(mask.held);                                                                                             \
        return result;                                                                                                 \
    }

MASKED(ppoll, (struct pollfd * files, nfds_t count, const struct timespec *timeout, const sigset_t *given),
       (files, count, timeout, mask_of(&mask, given)))
MASKED(__ppoll_chk,
       (struct pollfd * files, nfds_t count, const struct timespec *timeout, const sigset_t *given, size_t size),
       (files, count, timeout, mask_of(&mask, given), size))
MASKED(pselect,
       (int count, fd_set *in, fd_set *out, fd_set *errors, const struct timespec *timeout, const sigset_t *given),
       (count, in, out, errors, timeout, mask_of(&mask, given)))
MASKED(epoll_pwait, (int file, struct epoll_event *events, int count, int timeout, const sigset_t *given),
       (file, events, count, timeout, mask_of(&mask, given)))
MASKED(sigsuspend, (const sigset_t *given), (mask_of(&mask, given)))

/* Waiting for signals: a sample that was due while its signal was blocked is none of the program's. */

static int wait_for(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    siginfo_t own;
    struct timespec rest;
    int64_t begin_ns = timeout ? now_ns() : 0;
    if (!info)
        info = &own;
    bool held = hold();
    int result = NEXT(sigtimedwait)(set, info, timeout);
    while (result > 0 && result == samples_signal && samples_came(info)) {
        if (timeout) {
            int64_t rest_ns = (int64_t)timeout->tv_sec * 1000000000 + timeout->tv_nsec - (now_ns() - begin_ns);
            rest_ns = rest_ns > 0 ? rest_ns : 0;
            rest = (struct timespec){.tv_sec = rest_ns / 1000000000, .tv_nsec = rest_ns % 1000000000};
        }
        result = NEXT(sigtimedwait)(set, info, timeout ? &rest : NULL);
    }
    let_go(held);
    return result;
}

EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info, const struct timespec *restrict timeout)
{
    return wait_for(set, info, timeout);
}

EXPORT int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
    return wait_for(set, info, NULL);
}

EXPORT int sigwait(const sigset_t *restrict set, int *restrict number)
{
    int result;
    do
        result = wait_for(set, NULL, NULL);
    while (result < 0 && errno == EINTR);
    if (result < 0)
        return errno;
    *number = result;
    return 0;
}

/* Takes a sample that is due while its signal is blocked. False: there is none. */
static bool take_pending(void)
{
    const struct timespec no_time = {.tv_sec = 0};
    siginfo_t info;
    sigset_t samples;
    sigemptyset(&samples);
    sigaddset(&samples, samples_signal);
    if (!samples_pending() || NEXT(sigtimedwait)(&samples, &info, &no_time) <= 0)
        return false;
    if (samples_came(&info))
        return true;
    /* Before it came one that the program has sent to this thread: it is as it was again. */
    syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), samples_signal, &info);
    return false;
}

EXPORT int sigpending(sigset_t *set)
{
    int result = NEXT(sigpending)(set), before = errno;
    while (result == 0 && samples_here() && sigismember(set, samples_signal) == 1 && take_pending())
        result = NEXT(sigpending)(set);
    if (result == 0)
        errno = before;
    return result;
}

/* Sockets with a time limit are not restarted; reading all of a message, and writing more than fits into a pipe, end
   with a part of it. */

static bool have_limits;

EXPORT int setsockopt(int file, int level, int option, const void *value, socklen_t length)
{
    if (level == SOL_SOCKET && (option == SO_RCVTIMEO || option == SO_SNDTIMEO))
        /* Never reset: one socket with a limit makes reads of all files a little slower, and nothing wrong. */
        __atomic_store_n(&have_limits, true, __ATOMIC_RELAXED);
    return NEXT(setsockopt)(file, level, option, value, length);
}

enum { WHOLE = 512 }; /* bytes; what is shorter is written at once or not at all */
#define LIMITS __atomic_load_n(&have_limits, __ATOMIC_RELAXED)
#define ALL_OF(flags) (LIMITS || ((flags)&MSG_WAITALL))

QUIET_WHEN(LIMITS, ssize_t, read, (int file, void *buffer, size_t size), (file, buffer, size))
QUIET_WHEN(LIMITS, ssize_t, __read_chk, (int file, void *buffer, size_t size, size_t room), (file, buffer, size, room))
QUIET_WHEN(LIMITS, ssize_t, readv, (int file, const struct iovec *parts, int count), (file, parts, count))
QUIET_WHEN(LIMITS || size > WHOLE, ssize_t, write, (int file, const void *buffer, size_t size), (file, buffer, size))
QUIET(ssize_t, writev, (int file, const struct iovec *parts, int count), (file, parts, count))
QUIET_WHEN(ALL_OF(flags), ssize_t, recv, (int file, void *buffer, size_t size, int flags), (file, buffer, size, flags))
QUIET_WHEN(ALL_OF(flags), ssize_t, __recv_chk, (int file, void *buffer, size_t size, size_t room, int flags),
           (file, buffer, size, room, flags))
QUIET_WHEN(ALL_OF(flags), ssize_t, recvfrom,
           (int file, void *buffer, size_t size, int flags, __SOCKADDR_ARG address, socklen_t *length),
           (file, buffer, size, flags, address, length))
QUIET_WHEN(ALL_OF(flags), ssize_t, __recvfrom_chk,
           (int file, void *buffer, size_t size, size_t room, int flags, struct sockaddr *address, socklen_t *length),
           (file, buffer, size, room, flags, address, length))
QUIET_WHEN(ALL_OF(flags), ssize_t, recvmsg, (int file, struct msghdr *message, int flags), (file, message, flags))
QUIET_WHEN(LIMITS || size > WHOLE, ssize_t, send, (int file, const void *buffer, size_t size, int flags),
           (file, buffer, size, flags))
QUIET_WHEN(LIMITS || size > WHOLE, ssize_t, sendto,
           (int file, const void *buffer, size_t size, int flags, __CONST_SOCKADDR_ARG address, socklen_t length),
           (file, buffer, size, flags, address, length))
QUIET(ssize_t, sendmsg, (int file, const struct msghdr *message, int flags), (file, message, flags))
QUIET(int, accept, (int file, __SOCKADDR_ARG address, socklen_t *restrict length), (file, address, length))
QUIET(int, accept4, (int file, __SOCKADDR_ARG address, socklen_t *restrict length, int flags),
      (file, address, length, flags))
QUIET(int, connect, (int file, __CONST_SOCKADDR_ARG address, socklen_t length), (file, address, length))

/* Threads that may never call MPI (those of OpenMP, for example) */

struct beginning_thread {
    void *(*run)(void *argument);
    void *argument;
};

static void *begin_thread(void *beginning)
{
    struct beginning_thread thread = *(struct beginning_thread *)beginning;
    free(beginning);
    /* Recording may have ended, or begun, between the creation and now. */
    if (!location_mine && recorder_started())
        recorder_attach();
    return thread.run(thread.argument);
}

EXPORT int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*run)(void *),
                          void *restrict argument)
{
    struct beginning_thread *beginning = samples_want_thread() ? malloc(sizeof *beginning) : NULL;
    if (!beginning)
        return NEXT(pthread_create)(thread, attributes, run, argument);
    *beginning = (struct beginning_thread){run, argument};
    int result = NEXT(pthread_create)(thread, attributes, begin_thread, beginning);
    /* begin_thread frees it; if there is no thread, nobody does. */
    if (result != 0)
        free(beginning);
    return result;
}

/* Who waits for a thread that waits in MPI: noted where a call notes what it waits for. MPI's own threads are its own
   affair. */
EXPORT int pthread_join(pthread_t thread, void **result)
{
    struct location *location = recorder_started() ? location_mine : NULL;
    if (!location || !location->header || location->inside)
        return NEXT(pthread_join)(thread, result);
    struct record_pending *slot = location->pending;
    __atomic_store_n(&slot->position, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    slot->wait = RECORD_WAIT_THREAD;
    slot->requests[0] = (uint64_t)thread;
    __atomic_store_n(&slot->position, location_position(location), __ATOMIC_RELEASE);
    int joined = NEXT(pthread_join)(thread, result);
    if (location->header)
        __atomic_store_n(&slot->position, 0, __ATOMIC_RELAXED);
    return joined;
}

/* A program that takes the signal for itself, or looks at what a crash would do */

static void give_up(int number)
{
    if (number != samples_signal || number == 0)
        return;
    recorder_stop_samples();
    samples_signal = 0;
}

/* What is read from such a file cannot be sorted out. */
EXPORT int signalfd(int file, const sigset_t *given, int flags)
{
    if (samples_signal && sigismember(given, samples_signal) == 1)
        give_up(samples_signal);
    return NEXT(signalfd)(file, given, flags);
}

EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    if (action)
        give_up(number);
    int result = NEXT(sigaction)(number, action, before);
    /* The program never saw our handlers: it must not get them back as "the one before". */
    if (before && result == 0) {
        samples_hide(before);
        ending_hide(number, before);
    }
    if (action && result == 0)
        ending_watch_again(number);
    return result;
}

/* A function that sets a handler and returns the one before. */
#define HANDLER(name)                                                                                                  \
    EXPORT __sighandler_t name(int number, __sighandler_t handler)                                                     \
    {                                                                                                                  \
        give_up(number);                                                                                               \
        struct sigaction before = {.sa_handler = NEXT(name)(number, handler)};                                         \
        samples_hide(&before);                                                                                         \
        ending_hide(number, &before);                                                                                  \
        ending_watch_again(number);                                                                                    \
        return before.sa_handler;                                                                                      \
    }

/* What glibc's headers make of signal() in programs of the strict C standard, and names from before. */
__sighandler_t __sysv_signal(int number, __sighandler_t handler);
__sighandler_t bsd_signal(int number, __sighandler_t handler);
__sighandler_t sigset(int number, __sighandler_t handler);

HANDLER(signal)
HANDLER(__sysv_signal)
HANDLER(ssignal)
HANDLER(bsd_signal)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
HANDLER(sigset)
#pragma GCC diagnostic pop
