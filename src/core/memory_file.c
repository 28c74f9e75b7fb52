/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "core/memory_file.h"

#include "core/input.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/system_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <unistd.h>

/* The file is mapped once, with holes, and far larger than it will be: addresses and places in the file cost nothing.
   A block has a slot of 16 times its size, in which it grows without a copy; only what it uses has room on disk. Small
   ones, which seldom grow, are close together. */
enum {
    PIECE = 4096,    /* of disk and memory */
    SLOT_SMALL = 16, /* log2 of blocks up to which a slot has no more than the next power of two */
    SLOT_SPARE = 4,  /* log2 of 16 */
    SLOT_LARGE = 36, /* log2 of blocks from which on a slot has only twice the size */
    PLENTY = 64,     /* slots of this size that must be left if it is to be one with spare room */
    SLOT_SIZES = 64,
    MOST_LOG = 43,   /* 8 TiB: ext4's files have 16 at most */
    FEWEST_LOG = 32, /* where files or addresses are limited */
    TEXT_SIZE = PATH_MAX + 128
};

/* At the beginning of a slot; the block follows. */
struct head {
    _Alignas(64) uint64_t room; /* bytes of the slot that have room on disk, with the head */
    uint32_t slot_log;
    struct head *next; /* of a slot that is not used */
};

static struct {
    struct memory_store store;
    uint64_t limit, page;
    uint64_t usual, step;  /* when pages are given back; above what stays, if that is more */
    _Atomic uint64_t most; /* in memory before pages are given back */
    unsigned char *data;
    uint64_t size;
    void (*failed)(const char *text);
    char full[TEXT_SIZE], lost[TEXT_SIZE];
    int file, usage;      /* `usage`: /proc/self/statm */
    bool spares;          /* a full disk is no fault: memory is used instead */
    pthread_mutex_t lock; /* of what follows */
    uint64_t used;
    struct head *unused[SLOT_SIZES];
} area = {.file = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

_Noreturn static void area_failed(const char *text)
{
    area.failed(text);
    abort();
}

static uint64_t place_of(const struct head *head)
{
    return (uint64_t)((const unsigned char *)head - area.data);
}

static struct head *head_of(void *block)
{
    return (struct head *)block - 1;
}

static uint64_t room_for(size_t size)
{
    if (size > area.size)
        area_failed("out of memory");
    return (size + sizeof(struct head) + PIECE - 1) / PIECE * PIECE;
}

/* With area.lock. */
static uint32_t slot_log_for(uint64_t room)
{
    uint32_t log = (uint32_t)(64 - __builtin_clzll(room - 1)), spare = log < SLOT_LARGE ? SLOT_SPARE : 1;
    if (log <= SLOT_SMALL || log + spare > MOST_LOG || (area.size - area.used) / PLENTY < (uint64_t)1 << (log + spare))
        return log;
    return log + spare;
}

/* Takes room on disk: a full disk is met here, and not when the pages are used. False: the disk is full. */
static bool take_room(uint64_t from, uint64_t to)
{
    char text[TEXT_SIZE];
    sigset_t timer, before;
    /* tmpfs begins again whenever a signal comes */
    sigemptyset(&timer);
    sigaddset(&timer, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &timer, &before);
    int fault;
    do
        fault = posix_fallocate(area.file, (off_t)from, (off_t)(to - from));
    while (fault == EINTR);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (fault == 0)
        return true;
    if (area.spares)
        return false;
    if (fault == ENOSPC)
        area_failed(area.full);
    errno = fault;
    snprintf(text, sizeof text, "cannot write a temporary file in %s: %m", temporary_directory());
    area_failed(text);
}

/* Gives room back; what is there is 0 again. */
static bool give_room(uint64_t from, uint64_t to)
{
    int result = 0;
    if (from < to)
        do
            result = fallocate(area.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from));
        while (result != 0 && errno == EINTR);
    return result == 0;
}

/* A slot that was used before keeps one piece, with its head. With area.lock. */
static struct head *slot_used_before(uint32_t slot_log)
{
    struct head *head = area.unused[slot_log];
    if (head)
        area.unused[slot_log] = head->next;
    return head;
}

/* With area.lock. NULL: so much is not left. */
static struct head *slot_new(uint32_t slot_log)
{
    if (area.size - area.used < (uint64_t)1 << slot_log)
        return NULL;
    struct head *head = (struct head *)(void *)(area.data + area.used);
    area.used += (uint64_t)1 << slot_log;
    return head;
}

/* Where nothing else is left, one that is larger than it needs to be. NULL: there is none. */
static struct head *slot_take(uint64_t room, uint32_t *slot_log)
{
    pthread_mutex_lock(&area.lock);
    uint32_t log = slot_log_for(room);
    struct head *head = slot_used_before(log);
    if (!head)
        head = slot_new(log);
    while (!head && log < SLOT_SIZES - 1)
        head = slot_used_before(++log);
    if (!head && !area.spares)
        area_failed("out of memory");
    pthread_mutex_unlock(&area.lock);
    *slot_log = log;
    return head;
}

/* Its head has room on disk, and nothing else. */
static void slot_give(struct head *head, uint32_t slot_log)
{
    pthread_mutex_lock(&area.lock);
    head->next = area.unused[slot_log];
    area.unused[slot_log] = head;
    pthread_mutex_unlock(&area.lock);
}

static void *block_new(size_t size)
{
    uint64_t room = room_for(size);
    uint32_t slot_log;
    struct head *head = slot_take(room, &slot_log);
    if (!head)
        return NULL;
    if (!take_room(place_of(head), place_of(head) + room)) {
        (void)give_room(place_of(head), place_of(head) + room);
        /* Where even the head has no room, the slot is lost. */
        if (take_room(place_of(head), place_of(head) + PIECE))
            slot_give(head, slot_log);
        return NULL;
    }
    memset(head, 0, PIECE);
    head->room = room;
    head->slot_log = slot_log;
    return head + 1;
}

static size_t block_size(const void *block)
{
    return (size_t)((const struct head *)block - 1)->room - sizeof(struct head);
}

static void block_free(void *block)
{
    struct head *head = head_of(block);
    /* What cannot be made 0 cannot be used again. */
    if (give_room(place_of(head) + PIECE, place_of(head) + head->room))
        slot_give(head, head->slot_log);
}

static void *block_move(void *block, size_t size)
{
    void *moved = block_new(size);
    if (!moved)
        return NULL;
    memcpy(moved, block, smaller(size, block_size(block)));
    block_free(block);
    return moved;
}

static void *block_resize(void *block, size_t size)
{
    struct head *head = head_of(block);
    uint64_t room = room_for(size);
    if (room > (uint64_t)1 << head->slot_log)
        return block_move(block, size);
    if (room > head->room) {
        if (!take_room(place_of(head) + head->room, place_of(head) + room)) {
            (void)give_room(place_of(head) + head->room, place_of(head) + room);
            return NULL;
        }
    } else if (!give_room(place_of(head) + room, place_of(head) + head->room)) {
        return block; /* it stays as large as it was */
    }
    head->room = room;
    return block;
}

/* Bytes of the process that are in memory, all and those of files, from the text of /proc/self/statm. */
struct usage {
    uint64_t all, files;
};

static uint64_t number_at(const char **text)
{
    uint64_t number = 0;
    while (**text == ' ')
        ++*text;
    for (; **text >= '0' && **text <= '9'; ++*text)
        number = number * 10 + (uint64_t)(**text - '0');
    return number;
}

static struct usage usage_of(const char *text)
{
    number_at(&text); /* of addresses, in memory or not */
    struct usage usage = {.all = number_at(&text) * area.page};
    usage.files = number_at(&text) * area.page;
    return usage;
}

/* 0: not known. In a signal handler. */
static uint64_t resident(void)
{
    char text[128];
    ssize_t length = pread(area.usage, text, sizeof text - 1, 0);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    return usage_of(text).all;
}

/* A signal: a thread would wait for its turn on a busy machine, while the others go on. It comes so often because one
   page that is read brings 64 kB from the system's cache in 1 us. All pages are given back, not only the oldest: which
   ones are in use only their use shows. */
static void on_timer(int number)
{
    (void)number;
    int error_number = errno;
    uint64_t most = atomic_load(&area.most);
    if (resident() > most) {
        madvise(area.data, area.size, MADV_DONTNEED);
        /* If the rest alone is above the limit, giving back all the time would not help. */
        atomic_store(&area.most, larger(area.usual, resident() + area.step));
    }
    errno = error_number;
}

/* The system could not read or write a page after all: not all file systems keep the room that they promised. */
static void on_bus_error(int number, siginfo_t *about, void *context)
{
    (void)context;
    bool sent = about->si_code <= 0;
    if (!sent && memory_is_stored(about->si_addr))
        area_failed(area.lost);
    signal(number, SIG_DFL); /* as without this handler: the access is tried again */
    if (sent)
        raise(number);
}

/* As much as files and addresses allow. */
static enum status area_map(struct error *err)
{
    for (unsigned log = MOST_LOG; log >= FEWEST_LOG; log--) {
        area.size = (uint64_t)1 << log;
        if (ftruncate(area.file, (off_t)area.size) != 0)
            continue;
        void *data = mmap(NULL, area.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, area.file, 0);
        if (data == MAP_FAILED)
            continue;
        area.data = data;
        /* Small pages, one by one: with larger ones, or those read ahead of use, one place in each of 64 processes
           would take 128 MB. */
        madvise(data, area.size, MADV_NOHUGEPAGE);
        madvise(data, area.size, MADV_RANDOM);
        return STATUS_OK;
    }
    return error_set_errno(err, ERROR_OUTPUT, "cannot map a temporary file in %s", temporary_directory());
}

static enum status watch_begin(struct error *err)
{
    const struct timeval often = {.tv_usec = 300};
    struct sigaction bus = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO},
                     timer = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
    sigemptyset(&bus.sa_mask);
    sigemptyset(&timer.sa_mask);
    atomic_store(&area.most, area.usual);
    if (sigaction(SIGBUS, &bus, NULL) == 0 && sigaction(SIGALRM, &timer, NULL) == 0 &&
        setitimer(ITIMER_REAL, &(struct itimerval){often, often}, NULL) == 0)
        return STATUS_OK;
    return error_set_errno(err, ERROR_OUTPUT, "cannot limit the memory");
}

static const char usage_path[] = "/proc/self/statm";

enum status memory_file_begin(uint64_t limit, void (*failed)(const char *text), struct error *err)
{
    /* Small blocks stay in memory: each large one takes a call of the system. The smaller the limit, the more go. */
    const size_t least_least = 4096, most_least = 16384; /* less than 1,024 calls of a graph */
    area.limit = limit;
    /* Another thread uses pages while they are given back: there must be room for these. */
    area.usual = limit / 8 * 5;
    /* Less would come back at once, again and again. */
    area.step = larger(limit / 8, (uint64_t)1 << 20);
    area.failed = failed;
    area.page = (uint64_t)sysconf(_SC_PAGESIZE);
    area.usage = open(usage_path, O_RDONLY | O_CLOEXEC);
    if (area.usage < 0)
        return error_set_errno(err, ERROR_INPUT, "%s: cannot limit the memory", usage_path);
    area.file = temporary_file(err);
    if (area.file < 0 || area_map(err) != STATUS_OK)
        return STATUS_FAILED;
    snprintf(area.full, sizeof area.full, "cannot write a temporary file in %s: no space left", temporary_directory());
    snprintf(area.lost, sizeof area.lost, "cannot use a temporary file in %s: it has lost its room, or cannot be read",
             temporary_directory());
    area.store = (struct memory_store){.begin = (uintptr_t)area.data,
                                       .end = (uintptr_t)area.data + area.size,
                                       .least = larger(least_least, smaller(most_least, (size_t)(limit / 1024))),
                                       .get = block_new,
                                       .resize = block_resize,
                                       .size = block_size,
                                       .give = block_free};
    if (watch_begin(err) != STATUS_OK)
        return STATUS_FAILED;
    memory_set_store(&area.store);
    return STATUS_OK;
}

static struct {
    uint64_t room;
    void (*failed)(const char *text);
    void (*begins)(const char *directory);
    atomic_flag taken; /* one thread is enough */
} growth = {.taken = ATOMIC_FLAG_INIT};

/* A file in memory would take what it is to save. */
static bool disk_has_room(uint64_t room)
{
    struct statvfs about;
    return !temporary_is_memory() && statvfs(temporary_directory(), &about) == 0 &&
           (uint64_t)about.f_bavail * about.f_frsize > room;
}

static void look_at_growth(void)
{
    char text[128];
    /* Opened each time: a file that stays open could be one too many for others. */
    if (!system_text_read(usage_path, text, sizeof text))
        return;
    struct usage usage = usage_of(text);
    if (usage.all <= usage.files + growth.room / 2 || atomic_flag_test_and_set(&growth.taken))
        return;
    struct error err = {0};
    memory_set_watch(NULL);
    if (!disk_has_room(growth.room))
        return;
    area.spares = true;
    /* Without the file the program goes on as it would have without a watch. */
    if (memory_file_begin(growth.room / 8 * 7, growth.failed, &err) == STATUS_OK)
        growth.begins(temporary_directory());
}

void memory_file_watch(uint64_t room, void (*failed)(const char *text), void (*begins)(const char *directory))
{
    area.page = (uint64_t)sysconf(_SC_PAGESIZE);
    growth.room = room;
    growth.failed = failed;
    growth.begins = begins;
    if (room > 0)
        memory_set_watch(look_at_growth);
}
