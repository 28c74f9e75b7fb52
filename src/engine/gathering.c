/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/gathering.h"

#include "convert/reader.h"
#include "convert/record/launch_note.h"
#include "core/directory.h"
#include "core/input.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "engine/engine.h"
#include "engine/serving.h"
#include "metrics/packing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes that travel at once. Rank 0 has two of these: it asks for one while it writes the other. */
enum { PIECE = 4 << 20 };

struct list_job {
    enum job_kind kind; /* JOB_LIST; the path follows */
};

struct piece_job {
    enum job_kind kind; /* JOB_PIECE; the path follows */
    uint64_t at;
};

/* What precedes the bytes of a piece. */
struct piece_head {
    int reason; /* errno; 0: here they are */
};

struct about {
    uint64_t size, inode;
    int64_t time_ns;
};

/* A file of the directory, and who has it. */
struct file {
    char *name;
    struct about about;
    int owner;
};

struct files {
    struct file *file;
    size_t count, capacity;
};

static void files_clear(struct files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->file[i].name);
    free(files->file);
    *files = (struct files){0};
}

static char *join(const char *directory, const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", directory, name) < 0)
        memory_failed();
    return path;
}

/* The files that a trace may consist of, by name; none where there is no such directory. */
static void list(struct files *files, const char *directory, int owner)
{
    size_t count = 0;
    char **names = directory_names(directory, &count);
    for (size_t i = 0; names && i < count; i++) {
        struct stat about;
        char *path = join(directory, names[i]);
        if (reader_is_part(directory, names[i]) && stat(path, &about) == 0 && S_ISREG(about.st_mode)) {
            struct file file = {memory_copy_string(names[i]),
                                {(uint64_t)about.st_size, (uint64_t)about.st_ino,
                                 (int64_t)about.st_mtim.tv_sec * 1000000000 + about.st_mtim.tv_nsec},
                                owner};
            ARRAY_PUSH(files->file, files->count, files->capacity, file);
        }
        free(path);
    }
    if (names)
        directory_names_free(names, count);
}

/* The other processes */

void gathering_list(struct team *team, const char *data)
{
    struct files files = {0};
    char *reply = NULL;
    size_t size = 0, capacity = 0;
    struct packing packing = {&reply, &size, &capacity};
    list(&files, data + sizeof(struct list_job), team_rank(team));
    packing_put(&packing, &files.count, sizeof files.count);
    for (size_t i = 0; i < files.count; i++) {
        packing_put(&packing, &files.file[i].about, sizeof files.file[i].about);
        packing_put(&packing, files.file[i].name, strlen(files.file[i].name) + 1);
    }
    team_send(team, 0, reply, size);
    free(reply);
    files_clear(&files);
}

void gathering_piece(struct team *team, const char *data)
{
    struct piece_job job;
    struct piece_head head = {0};
    memcpy(&job, data, sizeof job);
    char *reply = memory_resize(NULL, sizeof head + PIECE);
    size_t got = 0;
    int file = open(data + sizeof job, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        head.reason = errno;
    while (file >= 0 && got < PIECE) {
        ssize_t more = pread(file, reply + sizeof head + got, PIECE - got, (off_t)(job.at + got));
        if (more < 0)
            head.reason = errno;
        if (more <= 0)
            break;
        got += (size_t)more;
    }
    if (file >= 0)
        close(file);
    memcpy(reply, &head, sizeof head);
    team_send(team, 0, reply, sizeof head + got);
    free(reply);
}

/* Rank 0 */

struct gathering {
    struct team *team;
    const char *directory;
    struct files files; /* of all hosts, by name */
    bool scattered;     /* not every process has all of them */
};

static void send_job(struct team *team, int rank, const void *job, size_t size, const char *path)
{
    size_t length = strlen(path) + 1;
    char *data = memory_new(size + length);
    memcpy(data, job, size);
    memcpy(data + size, path, length);
    team_send(team, rank, data, size + length);
    free(data);
}

/* A shared file system gives a file the same number on all hosts, or at least the same time. Not more is asked: the
   file may be growing, and seen later on one host than on another. */
static bool is_same(const struct about *one, const struct about *other)
{
    return one->inode == other->inode || (one->size == other->size && one->time_ns == other->time_ns);
}

/* Adds what a process has that nobody before it had. Names ascend on both sides. */
static enum status merge(struct gathering *gathering, struct files *theirs, struct error *err)
{
    struct files all = {0}, *ours = &gathering->files;
    size_t at = 0, common = 0;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < theirs->count; i++) {
        struct file *file = &theirs->file[i];
        int order = 1;
        while (at < ours->count && (order = strcmp(ours->file[at].name, file->name)) < 0)
            ARRAY_PUSH(all.file, all.count, all.capacity, ours->file[at++]);
        if (at == ours->count || order > 0) {
            ARRAY_PUSH(all.file, all.count, all.capacity, *file);
            file->name = NULL;
            continue;
        }
        common++;
        if (!is_same(&ours->file[at].about, &file->about) && strcmp(file->name, LAUNCH_NOTE_NAME) != 0)
            status = error_set(err, ERROR_INPUT, "%s/%s: hosts have different files of this name", gathering->directory,
                               file->name);
    }
    /* Those before this process lack one, or this one does. */
    gathering->scattered |= common < theirs->count || common < ours->count;
    for (; at < ours->count; at++)
        ARRAY_PUSH(all.file, all.count, all.capacity, ours->file[at]);
    free(ours->file);
    *ours = all;
    return status;
}

static struct files receive_list(struct team *team, int rank)
{
    struct files files = {0};
    size_t size, count = 0;
    char *data = team_receive(team, rank, &size);
    struct unpacking unpacking = {.data = data, .left = size};
    unpacking_take(&unpacking, &count, sizeof count);
    for (size_t i = 0; i < count; i++) {
        struct file file = {.owner = rank};
        unpacking_take(&unpacking, &file.about, sizeof file.about);
        file.name = memory_copy_string(unpacking.data);
        unpacking.data += strlen(file.name) + 1;
        unpacking.left -= strlen(file.name) + 1;
        ARRAY_PUSH(files.file, files.count, files.capacity, file);
    }
    free(data);
    return files;
}

/* Everybody looks at the same time. */
static enum status list_all(struct gathering *gathering, struct error *err)
{
    struct team *team = gathering->team;
    const struct list_job job = {JOB_LIST};
    enum status status = STATUS_OK;
    for (int rank = 1; rank < team_size(team); rank++)
        send_job(team, rank, &job, sizeof job, gathering->directory);
    list(&gathering->files, gathering->directory, 0);
    for (int rank = 1; rank < team_size(team); rank++) {
        struct files theirs = receive_list(team, rank);
        if (status == STATUS_OK)
            status = merge(gathering, &theirs, err);
        files_clear(&theirs);
    }
    return status;
}

static enum status write_all(int copy, const char *data, size_t size, uint64_t at, struct error *err)
{
    while (size > 0) {
        ssize_t done = pwrite(copy, data, size, (off_t)at);
        if (done <= 0)
            return error_set_errno(err, ERROR_OUTPUT, "cannot write a temporary file in %s", temporary_directory());
        data += done;
        at += (uint64_t)done;
        size -= (size_t)done;
    }
    return STATUS_OK;
}

/* One piece is on its way while the one before it is written, also where that fails: it has to be taken. */
static enum status copy_pieces(struct gathering *gathering, const struct file *file, const char *path, int copy,
                               struct error *err)
{
    struct team *team = gathering->team;
    struct piece_job job = {.kind = JOB_PIECE};
    enum status status = STATUS_OK;
    uint64_t at = 0;
    if (file->about.size > 0)
        send_job(team, file->owner, &job, sizeof job, path);
    for (bool more = file->about.size > 0; more; at += PIECE) {
        size_t size;
        struct piece_head head;
        char *data = team_receive(team, file->owner, &size);
        memcpy(&head, data, sizeof head);
        size -= sizeof head;
        more = status == STATUS_OK && !head.reason && size == PIECE && at + PIECE < file->about.size;
        job.at = at + PIECE;
        if (more)
            send_job(team, file->owner, &job, sizeof job, path);
        errno = head.reason;
        if (head.reason)
            status = error_set_errno(err, ERROR_INPUT, "%s: cannot read", path);
        else if (status == STATUS_OK)
            status = write_all(copy, data + sizeof head, size, at, err);
        free(data);
    }
    return status;
}

/* The time is a part of what the cache knows a trace by. */
static void set_time(int copy, int64_t time_ns)
{
    struct timespec time = {.tv_sec = time_ns / 1000000000, .tv_nsec = time_ns % 1000000000}, times[2] = {time, time};
    if (futimens(copy, times) != 0)
        return; /* then the trace is indexed again */
}

static enum status fetch(struct gathering *gathering, const struct file *file, struct error *err)
{
    int copy = temporary_file(err);
    if (copy < 0)
        return STATUS_FAILED;
    char *path = join(gathering->directory, file->name);
    enum status status = copy_pieces(gathering, file, path, copy, err);
    free(path);
    if (status != STATUS_OK) {
        close(copy);
        return status;
    }
    set_time(copy, file->about.time_ns);
    directory_add(gathering->directory, file->name, copy);
    return STATUS_OK;
}

/* One open file for each copy. */
static void allow_open_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

enum status engine_gather(struct team *team, const char *directory, struct engine_gathered *gathered, struct error *err)
{
    struct gathering gathering = {.team = team, .directory = directory};
    *gathered = (struct engine_gathered){0};
    /* Archives can have thousands of files, and are not gathered: all hosts must share them. */
    if (reader_is_archive(directory))
        return STATUS_OK;
    enum status status = list_all(&gathering, err);
    if (status == STATUS_OK && gathering.scattered) {
        directory_scatter(directory);
        allow_open_files();
    }
    for (size_t i = 0; gathering.scattered && i < gathering.files.count && status == STATUS_OK; i++) {
        const struct file *file = &gathering.files.file[i];
        if (file->owner == 0) {
            directory_add(directory, file->name, -1);
            continue;
        }
        status = fetch(&gathering, file, err);
        gathered->files++;
        gathered->bytes += file->about.size;
    }
    files_clear(&gathering.files);
    return status;
}
