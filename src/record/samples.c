/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/samples.h"

#include "record/clock.h"
#include "record/keep.h"
#include "record/python.h"
#include "record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

int samples_signal;
static int64_t interval_ns;

/* Where the recorder is linked into the program, system calls are not shielded from the signal (interrupts.c): no
   samples. */
#ifdef RECORD_STATIC
static const bool shielded = false;
#else
static const bool shielded = true;
#endif

/* The address at which the signal came. */
static uintptr_t interrupted_at(const ucontext_t *context)
{
#if defined __x86_64__
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
    return (uintptr_t)context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

/* Paths of one thread; more are cut at their callers. Slots: twice as many, so that probing soon ends. */
enum { FRAMES_MAX = 64, LEVELS_MAX = 2 * FRAMES_MAX, PATHS_MAX = 1 << 18, SLOTS = 2 * PATHS_MAX, MODULES_MAX = 1024 };
_Static_assert((int)PATHS_MAX <= (int)RECORD_SHORT_PATHS, "short records have the numbers of all paths");

/* A slot of the table of paths; `number` 0: free. */
struct path {
    uintptr_t address;
    uint32_t parent, number;
};

struct sampler {
    timer_t timer;
    bool armed;
    uint32_t random; /* never 0: xorshift would stay there */
    int64_t period;  /* the timer is set to an instant of this one, the thread's CPU time divided by interval_ns */
    int64_t due_ns;  /* that instant, of the thread's CPU time */
    uintptr_t stack_begin, stack_end; /* of the thread itself */
    bool unknown_code;                /* a sample met code that is in no known module */
    uint32_t path_count;
    struct path *paths; /* SLOTS; the kernel gives pages of it as they are touched */
};

/* Code whose file is known. Grows only: the handler may read it at any time. */
static struct {
    uintptr_t begin, end;
} modules[MODULES_MAX];
static uint32_t module_count;
static pthread_mutex_t modules_lock = PTHREAD_MUTEX_INITIALIZER;

bool samples_here(void)
{
    return location_mine && location_mine->sampler && location_mine->sampler->armed;
}

/* Unwinding */

struct walk {
    uintptr_t interrupted, frame;
    struct python_level levels[LEVELS_MAX]; /* the innermost first */
    size_t count;
};

/* What comes before the place of the interruption is the handler itself. Stacks grow down: a frame below the one that
   it called is none. */
static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *argument)
{
    struct walk *walk = argument;
    int exact = 0;
    uintptr_t address = _Unwind_GetIPInfo(context, &exact), frame = _Unwind_GetCFA(context);
    /* A broken chain of frames: what was found until here is right. */
    if (frame < walk->frame || address == 0)
        return _URC_END_OF_STACK;
    walk->frame = frame;
    if (walk->count == 0 && address != walk->interrupted)
        return _URC_NO_REASON;
    /* A return address is after its call, perhaps in the next line; the place of the interruption is exact. */
    walk->levels[walk->count++] = (struct python_level){address - !exact, frame};
    return walk->count < FRAMES_MAX ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* Paths */

static bool code_is_known(uintptr_t address)
{
    /* Acquire: pairs with the release in module_add, so that the entry is complete before it is counted. */
    uint32_t count = __atomic_load_n(&module_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        if (address >= modules[i].begin && address < modules[i].end)
            return true;
    return false;
}

static struct path *path_slot(struct sampler *sampler, uint32_t parent, uintptr_t address)
{
    size_t at = (size_t)((address ^ (uint64_t)parent << 44) * UINT64_C(0x9E3779B97F4A7C15) >> 40);
    while (sampler->paths[at & (SLOTS - 1)].number &&
           (sampler->paths[at & (SLOTS - 1)].address != address || sampler->paths[at & (SLOTS - 1)].parent != parent))
        at++;
    return &sampler->paths[at & (SLOTS - 1)];
}

/* Where a sample is kept, definitions of paths are never left out: they must leave most of the room to the sample. */
static uint64_t paths_max(const struct location *location)
{
    uint64_t max = PATHS_MAX;
    if (location->keep && keep_area_size(location->keep) / 4 / sizeof(struct record_path) < max)
        max = keep_area_size(location->keep) / 4 / sizeof(struct record_path);
    return max;
}

/* The number of a path; where there is no room for one more, the path up to there. */
static uint32_t path_number(struct location *location, uint32_t parent, uintptr_t address, int64_t ticks)
{
    struct sampler *sampler = location->sampler;
    struct path *path = path_slot(sampler, parent, address);
    /* In the handler: location_define writes into the mapped block, and takes no memory. */
    if (path->number)
        return path->number;
    if (sampler->path_count + 1 >= paths_max(location))
        return parent;
    *path = (struct path){.address = address, .parent = parent, .number = ++sampler->path_count};
    /* dl_iterate_phdr takes a lock that the interrupted code may hold: files are looked up later, by
       samples_note_unknown. */
    sampler->unknown_code |= !(address & RECORD_PYTHON_ADDRESS) && !code_is_known(address);
    struct record_path record = {
        .base = {.ticks = ticks}, .address = address, .parent = parent, .number = path->number};
    location_define(location, &record, sizeof record, RECORD_DEFINE_PATH, RECORD_WORLD);
    return path->number;
}

/* The sample */

/* In the handler, with the location's lock. The room may be gone, and a new block may be begun: only system calls that
   are safe in handlers (pwrite, pread). */
static void put(struct location *location, uint32_t path, uint32_t missed, int64_t ticks)
{
    struct record_base *record = location_room_at(location, sizeof *record, ticks);
    if (!record) {
        location->header->lost_samples++;
        return;
    }
    ticks = location_ticks(location, ticks);
    if (missed == 0) {
        uint64_t word = location_short_word(location, RECORD_SAMPLE, ticks) | (uint64_t)path << RECORD_SHORT_PATH;
        location_commit_word(location, sizeof word, ticks, word);
        return;
    }
    record->ticks = ticks;
    location_commit(location, sizeof *record, RECORD_SAMPLE, missed < UINT16_MAX ? missed : UINT16_MAX, path);
}

/* Not inline: it needs more room on the stack than the rest of the handler together. */
static __attribute__((noinline)) uint32_t path_unwound(struct location *location, uintptr_t interrupted, int64_t ticks)
{
    struct walk walk = {.interrupted = interrupted};
    _Unwind_Backtrace(on_frame, &walk);
    if (walk.count == 0)
        walk.levels[walk.count++].address = interrupted;
    walk.count = python_path(location, walk.levels, walk.count, LEVELS_MAX, ticks);
    uint32_t path = 0;
    while (walk.count > 0)
        if (walk.levels[--walk.count].address != 0)
            path = path_number(location, path, walk.levels[walk.count].address, ticks);
    return path;
}

/* The handler runs on the stack of what it interrupts. One that the program has made, for a coroutine or its own
   handlers, may be too small to unwind on. */
static bool on_own_stack(const struct sampler *sampler)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return here >= sampler->stack_begin && here < sampler->stack_end;
}

static void take(struct location *location, uintptr_t interrupted, uint32_t missed)
{
    /* Before the unwinder, so that its time is not part of the sample's. */
    int64_t ticks = clock_now();
    uint32_t path = on_own_stack(location->sampler) ? path_unwound(location, interrupted, ticks)
                                                    : path_number(location, 0, interrupted, ticks);
    put(location, path, missed, ticks);
    if (location->sampler->unknown_code)
        location->prepare_at = location->calibrate_at = INT64_MIN; /* the clock is read with the next record */
}

/* When the timer expires. One instant of each period, at random: at equal intervals, samples of a loop that keeps time
   with them would hit the same line again and again. */

static int64_t thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Marsaglia, Xorshift RNGs (2003), section 4: the triple 13, 17, 5. */
static uint32_t next_random(struct sampler *sampler)
{
    sampler->random ^= sampler->random << 13;
    sampler->random ^= sampler->random >> 17;
    sampler->random ^= sampler->random << 5;
    return sampler->random;
}

static void choose_instant(struct sampler *sampler, int64_t period)
{
    sampler->period = period;
    sampler->due_ns = period * interval_ns + (int64_t)((uint64_t)interval_ns * next_random(sampler) >> 32);
}

/* False: the kernel does not set the timer. An instant that has passed expires at once. */
static bool timer_set(const struct sampler *sampler)
{
    struct itimerspec due = {
        .it_value = {.tv_sec = sampler->due_ns / 1000000000, .tv_nsec = sampler->due_ns % 1000000000}};
    return timer_settime(sampler->timer, TIMER_ABSTIME, &due, NULL) == 0;
}

/* After the timer has expired: sets it to the next instant. Returns how many more instants have passed, since the
   kernel looks at timers of CPU time with its own ticks only, and the signal may have been blocked. */
static uint32_t instants_missed(struct sampler *sampler)
{
    int64_t now = thread_cpu_ns(), whole = now / interval_ns - sampler->period - 1, missed = 0;
    if (whole > 0)
        missed = whole;
    choose_instant(sampler, sampler->period + missed + 1);
    while (sampler->due_ns <= now) {
        missed++;
        choose_instant(sampler, sampler->period + 1);
    }
    timer_set(sampler);
    return missed < UINT32_MAX ? (uint32_t)missed : UINT32_MAX;
}

/* `inside` is set by the thread itself: its records are never half written here. Other threads only hold `lock`, which
   is tried and never waited for. */
static void sample(struct location *location, uintptr_t interrupted, uint32_t missed)
{
    location_busy(location);
    if (pthread_mutex_trylock(&location->lock) == 0) {
        location->holds_lock = true;
        take(location, interrupted, missed);
        location->holds_lock = false;
        pthread_mutex_unlock(&location->lock);
    } else {
        location->header->lost_samples++;
    }
    location_done(location, false);
}

/* UCX, which MPICH may use, has a sigaction of its own. */
extern int __sigaction(int, const struct sigaction *, struct sigaction *) __attribute__((weak));

static int own_sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    return __sigaction ? __sigaction(number, action, before) : -1;
}

/* The program may send itself the same signal; this marks ours. */
static bool is_ours(const siginfo_t *info)
{
    return info->si_code == SI_TIMER && info->si_value.sival_ptr == &samples_signal;
}

/* The signal's handler, in the thread whose timer sent it. */
static void on_sample(int number, siginfo_t *info, void *context)
{
    struct location *location = location_mine;
    if (!is_ours(info)) {
        /* It has no action but the default one, which ends the process: as soon as this handler returns. */
        own_sigaction(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
        return;
    }
    if (!location || !location->sampler || !location->sampler->armed)
        return;
    /* The interrupted code may be between a system call and its look at errno. */
    int before = errno;
    uint32_t missed = instants_missed(location->sampler);
    if (!location->inside && recorder.on && recorder_started() && location->block)
        sample(location, interrupted_at(context), missed);
    errno = before;
}

bool samples_came(const siginfo_t *info)
{
    if (!is_ours(info))
        return false;
    if (samples_here())
        instants_missed(location_mine->sampler);
    return true;
}

bool samples_pending(void)
{
    struct itimerspec rest = {.it_value = {.tv_sec = 1}};
    /* The handler sets the timer again: one that has expired has a signal that waits. */
    return samples_here() && timer_gettime(location_mine->sampler->timer, &rest) == 0 && rest.it_value.tv_sec == 0 &&
           rest.it_value.tv_nsec == 0;
}

void samples_hide(struct sigaction *seen)
{
    if (seen->sa_sigaction == on_sample)
        *seen = (struct sigaction){.sa_handler = SIG_DFL};
}

/* Modules */

static bool module_add(uintptr_t begin, uintptr_t end)
{
    if (code_is_known(begin) || module_count == MODULES_MAX)
        return false;
    modules[module_count].begin = begin;
    modules[module_count].end = end;
    /* The entry first, then the count: a handler may read at any moment. */
    __atomic_store_n(&module_count, module_count + 1, __ATOMIC_RELEASE);
    return true;
}

static void module_define(struct location *location, const struct dl_phdr_info *file, uintptr_t begin, uintptr_t end)
{
    char path[PATH_MAX];
    const char *name = *file->dlpi_name ? file->dlpi_name : "/proc/self/exe";
    struct record_module record = {.base = {.ticks = clock_now()}, .begin = begin, .end = end, .load = file->dlpi_addr};
    /* A file that was deleted has no real path: its name as loaded is better than nothing. */
    if (!realpath(name, path))
        strncpy(path, name, sizeof path - 1)[sizeof path - 1] = '\0';
    size_t length = strnlen(path, sizeof record.path - 1);
    memcpy(record.path, path, length);
    /* Records are whole words; the path ends with at least one zero. */
    location_define(location, &record, (offsetof(struct record_module, path) + length + 8) / 8 * 8,
                    RECORD_DEFINE_MODULE, RECORD_WORLD);
}

static int on_module(struct dl_phdr_info *file, size_t size, void *location)
{
    (void)size;
    for (size_t i = 0; i < file->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &file->dlpi_phdr[i];
        uintptr_t begin = file->dlpi_addr + segment->p_vaddr, end = begin + segment->p_memsz;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) && module_add(begin, end))
            module_define(location, file, begin, end);
    }
    return 0;
}

void samples_note_modules(struct location *location)
{
    if (!samples_signal)
        return;
    bool before = location_busy(location);
    /* Else location_prepare would come here once more, for what a sample has met, and wait for this lock forever. */
    if (location->sampler)
        location->sampler->unknown_code = false;
    /* The lock of modules is only taken by threads outside the handler: nobody waits for a thread that a sample has
       stopped. */
    pthread_mutex_lock(&modules_lock);
    /* Before dl_iterate_phdr, whose lock should not be held while a block is written to disk. */
    location_prepare(location, sizeof(struct record_module), clock_now());
    dl_iterate_phdr(on_module, location);
    pthread_mutex_unlock(&modules_lock);
    location_done(location, before);
}

void samples_note_unknown(struct location *location)
{
    if (!location->sampler || !location->sampler->unknown_code || location->holds_lock)
        return;
    samples_note_modules(location);
}

/* Timers */

static bool signal_take(int number)
{
    struct sigaction before, action = {.sa_sigaction = on_sample, .sa_flags = SA_SIGINFO | SA_RESTART};
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    /* Somebody wants this signal. */
    if (own_sigaction(number, NULL, &before) != 0 || (before.sa_flags & SA_SIGINFO) || before.sa_handler != SIG_DFL)
        return false;
    /* No other handler comes in between: it might call MPI, of which nothing would be recorded. */
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&action.sa_mask, faults[i]);
    return own_sigaction(number, &action, NULL) == 0;
}

/* A debugger would stop at each sample. */
static bool is_traced(void)
{
    static const char line[] = "\nTracerPid:";
    char text[4096];
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    const char *tracer = strstr(text, line);
    return tracer && atoi(tracer + strlen(line)) != 0;
}

void samples_choose(uint32_t per_second)
{
    int number = SIGRTMAX;
    if (per_second == 0 || samples_signal || !shielded || is_traced())
        return;
    while (number >= SIGRTMIN && !signal_take(number))
        number--;
    if (number < SIGRTMIN)
        return;
    interval_ns = 1000000000 / (int64_t)per_second;
    samples_signal = number;
}

bool samples_want_thread(void)
{
    enum { THREADS_MOST = 256 };
    static uint32_t threads;
    return samples_signal && recorder_started() && recorder.on &&
           /* Each has a table of paths of its own, 8 MB of address space. */
           __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED) <= THREADS_MOST;
}

/* Where it is not known, all addresses are taken for the thread's. */
static void find_stack(struct sampler *sampler)
{
    pthread_attr_t attributes;
    void *begin = NULL;
    size_t size = UINTPTR_MAX;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &begin, &size);
        pthread_attr_destroy(&attributes);
    }
    sampler->stack_begin = (uintptr_t)begin;
    sampler->stack_end = (uintptr_t)begin + size;
}

static struct sampler *sampler_new(void)
{
    struct sampler *sampler = calloc(1, sizeof *sampler);
    void *paths = mmap(NULL, SLOTS * sizeof(struct path), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sampler && paths != MAP_FAILED) {
        sampler->paths = paths;
        find_stack(sampler);
        return sampler;
    }
    if (paths != MAP_FAILED)
        munmap(paths, SLOTS * sizeof(struct path));
    free(sampler);
    return NULL;
}

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* False: the kernel gives no timer. */
static bool timer_start(struct sampler *sampler)
{
    /* SIGEV_THREAD_ID: to this thread, whose CPU time the clock counts; a signal to the process would stop any of
       them. */
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = samples_signal, .sigev_value.sival_ptr = &samples_signal};
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &sampler->timer) != 0)
        return false;
    sampler->random = (uint32_t)event.sigev_notify_thread_id;
    choose_instant(sampler, thread_cpu_ns() / interval_ns + 1);
    sampler->armed = true;
    return timer_set(sampler);
}

void samples_start(struct location *location)
{
    if (!samples_signal || !location->header || (location->sampler && location->sampler->armed))
        return;
    int before = errno;
    if (!location->sampler)
        location->sampler = sampler_new();
    python_start(location);
    if (location->sampler && timer_start(location->sampler)) {
        location->header->sample_ns = (uint64_t)interval_ns;
        samples_note_modules(location);
    }
    errno = before;
}

void samples_stop(struct location *location)
{
    struct sampler *sampler = location->sampler;
    if (!sampler || !sampler->armed)
        return;
    /* First the flag, then the timer: a signal that is on its way finds nothing to do. */
    sampler->armed = false;
    timer_delete(sampler->timer);
}

void samples_forget(struct location *location)
{
    if (location->sampler)
        location->sampler->armed = false;
}
