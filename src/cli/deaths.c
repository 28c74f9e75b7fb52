/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/deaths.h"

#include "cli/about_process.h"
#include "convert/record/launch_note.h"
#include "core/memory.h"
#include "core/payload.h"
#include "core/record_format.h"
#include "record/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PARENTS = 8, TRIES = 250, TRY_MS = 20, EVENTS = 64 };

/* A process of the program. */
struct death {
    char *path; /* of its first file; owned */
    uint64_t host;
    uint64_t world; /* 0: not known yet */
    uint32_t pid;
    bool spawned;
    int handle;             /* of the process; -1: it has ended */
    bool alone;             /* it has ended by itself, as far as was seen before */
    bool doomed;            /* it ends because others have ended, or with them */
    pid_t parents[PARENTS]; /* up to the command; 0: no more */
};

struct death_name {
    char *path; /* owned */
    int tries;
};

/* Of Linux 6.13 on; the exit status, of 6.15 on: struct pidfd_info of <linux/pidfd.h> as it was at first. */
struct process_info {
    uint64_t mask, group;
    uint32_t numbers[11];
    int32_t exit_status;
};
#define PROCESS_INFO _IOWR(0xff, 11, struct process_info)
enum { PROCESS_INFO_EXIT = 8 };
_Static_assert(sizeof(struct process_info) == 64, "as the kernel has it");

static uint64_t mask_of(const char *status, const char *name)
{
    const char *at = strstr(status, name);
    return at ? strtoull(at + strlen(name), NULL, 16) : 0;
}

/* True if the process lives, and no signal is about to end it. Without memory of its own it is about to have ended. */
static bool is_well(pid_t pid)
{
    static const int fatal[] = {SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGKILL, SIGTERM};
    char status[ABOUT_PROCESS_SIZE];
    if (!about_process(pid, "status", status))
        return false;
    uint64_t pending = mask_of(status, "\nSigPnd:") | mask_of(status, "\nShdPnd:"), ends = 0;
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        ends |= UINT64_C(1) << (fatal[i] - 1);
    return strstr(status, "\nVmSize:") && !(pending & ends);
}

/* A process is a zombie until its parent has asked for it. */
static int zombie_status(const struct death *process)
{
    char stat[ABOUT_PROCESS_SIZE];
    int parent, at = 0;
    if (!about_process((pid_t)process->pid, "stat", stat))
        return -1;
    /* The name may have any characters. */
    const char *name_end = strrchr(stat, ')'), *last = strrchr(stat, ' ');
    if (!name_end || sscanf(name_end, ") Z %d %n", &parent, &at) != 1 || at == 0 || parent != process->parents[0])
        return -1;
    return (int)strtol(last, NULL, 10);
}

/* As wait() has it; -1: not known. The handle knows it only when the process is no zombie any more. */
static int exit_status(const struct death *process)
{
    struct process_info info = {.mask = PROCESS_INFO_EXIT};
    int status = zombie_status(process);
    if (status == -1 && ioctl(process->handle, PROCESS_INFO, &info) == 0 && info.mask & PROCESS_INFO_EXIT)
        status = info.exit_status;
    return status;
}

/* The launcher's processes between the command and the process; of one that another service has started, only its
   parent. */
static void find_parents(struct death *process, pid_t command)
{
    pid_t pid = (pid_t)process->pid;
    size_t count = 0;
    while (pid != command && count < PARENTS && (pid = about_process_parent(pid)) > 1)
        process->parents[count++] = pid;
    for (size_t i = 1; i < count && pid != command; i++)
        process->parents[i] = 0;
}

static bool read_header(const char *path, struct record_header *header)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool whole = file >= 0 && read(file, header, sizeof *header) == sizeof *header;
    if (file >= 0)
        close(file);
    return whole && memcmp(header->magic, RECORD_MAGIC, sizeof header->magic) == 0;
}

static void give_up(struct deaths *deaths)
{
    for (size_t i = 0; i < deaths->count; i++) {
        if (deaths->processes[i].handle >= 0)
            close(deaths->processes[i].handle);
        free(deaths->processes[i].path);
    }
    for (size_t i = 0; i < deaths->name_count; i++)
        free(deaths->names[i].path);
    free(deaths->processes);
    free(deaths->names);
    if (deaths->changes >= 0)
        close(deaths->changes);
    if (deaths->handle >= 0)
        close(deaths->handle);
    *deaths = (struct deaths){.handle = -1, .changes = -1};
}

/* A handle takes a descriptor: this process, whose command runs already, may have as many as it is allowed to. */
static int handle_open(uint32_t pid)
{
    int handle = (int)syscall(SYS_pidfd_open, pid, 0);
    struct rlimit limit;
    if (handle >= 0 || errno != EMFILE || getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
        return handle;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

/* EPOLLET: the kernel reports processes in the order in which they end, and each once. False: without a handle of every
   process nothing is known of any. */
static bool watch(struct deaths *deaths, struct death *process)
{
    process->handle = handle_open(process->pid);
    if (process->handle < 0)
        return errno == ESRCH;
    struct epoll_event event = {.events = EPOLLIN | EPOLLET | EPOLLONESHOT, .data.u64 = deaths->count + 1};
    if (epoll_ctl(deaths->handle, EPOLL_CTL_ADD, process->handle, &event) != 0) {
        close(process->handle);
        return false;
    }
    ARRAY_PUSH(deaths->processes, deaths->count, deaths->capacity, *process);
    return true;
}

/* The file of a process: true if it need not be looked at again. A process has a file for each thread, and for each
   program that it becomes. */
static bool take_file(struct deaths *deaths, char *path, pid_t command)
{
    struct record_header header;
    char here[RECORD_NAME_SIZE] = "";
    if (!read_header(path, &header))
        return false;
    gethostname(here, sizeof here - 1);
    if (header.thread != 0 || header.end != RECORD_RUNNING || strcmp(here, header.host_name) != 0)
        return true;
    for (size_t i = 0; i < deaths->count; i++) {
        struct death *known = &deaths->processes[i];
        if (known->pid != header.pid || known->handle < 0)
            continue;
        free(known->path);
        known->path = memory_copy_string(path);
        return true;
    }
    struct death process = {
        .path = memory_copy_string(path), .host = header.host, .pid = header.pid, .spawned = header.spawned != 0};
    find_parents(&process, command);
    size_t before = deaths->count;
    deaths->lost |= !watch(deaths, &process);
    if (deaths->count == before)
        free(process.path);
    return true;
}

/* Headers are written a moment after the file is there. */
static void take_names(struct deaths *deaths, pid_t command)
{
    size_t kept = 0, count = deaths->name_count;
    for (size_t i = 0; i < count; i++) {
        struct death_name name = deaths->names[i];
        bool done = take_file(deaths, name.path, command);
        if (!done && ++name.tries < TRIES)
            deaths->names[kept++] = name;
        else
            free(name.path);
    }
    deaths->name_count = kept;
    if (deaths->lost)
        give_up(deaths);
}

/* True if one's end may bring about the other's: they are of one program, or one may have started the other. */
static bool belongs(const struct death *left, const struct death *right)
{
    return left->spawned || right->spawned || left->world == right->world;
}

/* True if others come from it as well: what has started only one process may end with it (timeout -s KILL). */
static bool is_launcher(const struct deaths *deaths, const struct death *process, pid_t parent)
{
    for (size_t i = 0; i < deaths->count; i++)
        for (size_t k = 0; k < PARENTS && &deaths->processes[i] != process; k++)
            if (deaths->processes[i].parents[k] == parent)
                return true;
    return false;
}

/* True if it ended by itself: nobody ends its launcher or the others now, of which there are some. */
static bool ended_alone(const struct deaths *deaths, const struct death *process)
{
    size_t others = 0;
    for (size_t i = 0; i < deaths->count; i++) {
        const struct death *other = &deaths->processes[i];
        if (other == process || other->handle < 0 || !belongs(process, other))
            continue;
        if (!is_well((pid_t)other->pid))
            return false;
        others++;
    }
    for (size_t i = 0; i < PARENTS && process->parents[i]; i++)
        if (is_launcher(deaths, process, process->parents[i]) && !is_well(process->parents[i]))
            return false;
    return others > 0;
}

/* The kernel closes the file of a process that is killed, like its connections to the launcher, when its memory is
   gone, and before it counts as ended: the launcher may end the others in between. */
static void note_closed(struct deaths *deaths, const char *name)
{
    for (size_t i = 0; i < deaths->count; i++) {
        struct death *process = &deaths->processes[i];
        if (process->handle < 0 || strcmp(process->path + strlen(deaths->directory) + 1, name) != 0)
            continue;
        process->alone = !is_well((pid_t)process->pid) && ended_alone(deaths, process);
        return;
    }
}

static void note_name(struct deaths *deaths, const char *name)
{
    size_t length = strlen(name), suffix = strlen(RECORD_SUFFIX);
    struct death_name file = {0};
    if (length <= suffix || strcmp(name + length - suffix, RECORD_SUFFIX) != 0)
        return;
    if (asprintf(&file.path, "%s/%s", deaths->directory, name) >= 0)
        ARRAY_PUSH(deaths->names, deaths->name_count, deaths->name_capacity, file);
}

static void read_changes(struct deaths *deaths)
{
    _Alignas(struct inotify_event) char events[8192];
    ssize_t length;
    while ((length = read(deaths->changes, events, sizeof events)) > 0)
        for (ssize_t at = 0; at < length;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)(events + at);
            if (event->len > 0 && event->mask & IN_CLOSE_WRITE)
                note_closed(deaths, event->name);
            else if (event->len > 0)
                note_name(deaths, event->name);
            at += (ssize_t)(sizeof *event + event->len);
        }
}

/* The number of a program is known only some time after its files are there. */
static void find_worlds(struct deaths *deaths)
{
    struct record_header header;
    for (; deaths->known < deaths->count; deaths->known++) {
        struct death *process = &deaths->processes[deaths->known];
        if (process->handle >= 0 && read_header(process->path, &header))
            process->world = header.world;
        if (process->world == 0 && process->handle >= 0)
            return;
    }
}

/* What launchers pass on to all processes. */
static bool is_passed_on(int signal_number)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (signal_number == numbers[i])
            return true;
    return false;
}

static void doom(struct deaths *deaths, const struct death *process)
{
    for (size_t i = 0; i < deaths->count; i++)
        if (belongs(process, &deaths->processes[i]))
            deaths->processes[i].doomed = true;
}

/* True if nothing but itself can have ended it, or a signal that was meant for it. */
static bool ended_for_itself(const struct deaths *deaths, const struct death *process, int status)
{
    if (status != -1 && WIFEXITED(status))
        return true;
    if (status != -1 && is_passed_on(WTERMSIG(status)))
        return false;
    return process->alone || ended_alone(deaths, process);
}

static int32_t how_of(int status)
{
    if (status == -1)
        return 0;
    return WIFSIGNALED(status) ? WTERMSIG(status) : death_by_exit(WEXITSTATUS(status));
}

/* Those that have noted their ends themselves may have ended the others, too. */
static void note_end(struct deaths *deaths, struct death *process, bool ended)
{
    struct record_header header;
    int status = exit_status(process);
    struct launch_death death = {
        .host = process->host, .pid = process->pid, .how = how_of(status), .at_ns = clock_ns()};
    bool known = read_header(process->path, &header);
    bool silent = known && header.end == RECORD_RUNNING && !header.signal && !header.error;
    if (silent && !ended && !process->doomed && ended_for_itself(deaths, process, status))
        launch_note_death(deaths->directory, &death);
    else if (!known || header.end != RECORD_FINALIZED || status != 0)
        doom(deaths, process);
    close(process->handle);
    process->handle = -1;
}

void deaths_start(struct deaths *deaths, const char *directory)
{
    *deaths = (struct deaths){.directory = directory,
                              .handle = epoll_create1(EPOLL_CLOEXEC),
                              .changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    struct epoll_event event = {.events = EPOLLIN};
    if (deaths->handle < 0 || deaths->changes < 0 ||
        inotify_add_watch(deaths->changes, directory, IN_CREATE | IN_CLOSE_WRITE) < 0 ||
        epoll_ctl(deaths->handle, EPOLL_CTL_ADD, deaths->changes, &event) != 0)
        give_up(deaths);
}

int deaths_look(struct deaths *deaths, pid_t command, bool ended)
{
    struct epoll_event events[EVENTS];
    int count;
    while (deaths->handle >= 0 && (count = epoll_wait(deaths->handle, events, EVENTS, 0)) > 0) {
        bool changed = false;
        for (int i = 0; i < count; i++) {
            if (events[i].data.u64 > 0)
                note_end(deaths, &deaths->processes[events[i].data.u64 - 1], ended);
            else
                changed = true;
        }
        if (changed)
            read_changes(deaths);
    }
    if (deaths->handle >= 0 && deaths->name_count > 0)
        take_names(deaths, command);
    find_worlds(deaths);
    return deaths->name_count > 0 ? TRY_MS : 0;
}

void deaths_stop(struct deaths *deaths)
{
    give_up(deaths);
}
