/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/gathering.h"

#include "convert/reader.h"
#include "convert/record/launch_note.h"
#include "convert/record/recordings.h"
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
    uint32_t size;      /* at most PIECE */
    uint64_t at;
};

/* What precedes the bytes of a piece. */
struct piece_head {
    int reason; /* errno; 0: here they are */
};

struct files {
    struct gathered_file *file;
    size_t count, capacity;
};

static void files_clear(struct files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->file[i].name);
        free(files->file[i].ranks);
    }
    free(files->file);
    *files = (struct files){0};
}

static void add_rank(struct gathered_file *file, int rank)
{
    ARRAY_PUSH(file->ranks, file->rank_count, file->rank_capacity, rank);
}

/* The files that a trace may consist of, by name; none where there is no such directory. */
static void list(struct files *files, const char *directory, int rank)
{
    size_t count = 0;
    char **names = directory_names(directory, &count);
    for (size_t i = 0; names && i < count; i++) {
        struct stat about;
        char *path = directory_join(directory, names[i]);
        if (reader_is_part(directory, names[i]) && stat(path, &about) == 0 && S_ISREG(about.st_mode)) {
            struct gathered_file file = {.name = memory_copy_string(names[i]),
                                         .size = (uint64_t)about.st_size,
                                         .inode = (uint64_t)about.st_ino,
                                         .time_ns = (int64_t)about.st_mtim.tv_sec * 1000000000 + about.st_mtim.tv_nsec};
            add_rank(&file, rank);
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
        packing_put(&packing, &files.file[i], sizeof files.file[i]);
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
    char *reply = memory_resize(NULL, sizeof head + job.size);
    size_t got = 0;
    int file = open(data + sizeof job, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        head.reason = errno;
    while (file >= 0 && got < job.size) {
        ssize_t more = pread(file, reply + sizeof head + got, job.size - got, (off_t)(job.at + got));
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
    char *directory;
    struct files files; /* of all hosts, by name */
    bool scattered;     /* not every process has all of them */
};

/* Those that are scattered, as long as the program runs. */
static struct gathering **gatherings;
static size_t gathering_count, gathering_capacity;

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
static bool is_same(const struct gathered_file *one, const struct gathered_file *other)
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
        struct gathered_file *file = &theirs->file[i];
        int order = 1;
        while (at < ours->count && (order = strcmp(ours->file[at].name, file->name)) < 0)
            ARRAY_PUSH(all.file, all.count, all.capacity, ours->file[at++]);
        if (at == ours->count || order > 0) {
            ARRAY_PUSH(all.file, all.count, all.capacity, *file);
            file->name = NULL;
            file->ranks = NULL;
            continue;
        }
        common++;
        add_rank(&ours->file[at], file->ranks[0]);
        if (!is_same(&ours->file[at], file) && strcmp(file->name, LAUNCH_NOTE_NAME) != 0)
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
        struct gathered_file file;
        unpacking_take(&unpacking, &file, sizeof file);
        file.name = memory_copy_string(unpacking.data);
        file.ranks = NULL;
        file.rank_count = file.rank_capacity = 0;
        add_rank(&file, rank);
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

/* Asks for a piece, or the file's rest. */
static void ask_for_piece(const struct gathering *gathering, const struct gathered_file *file, const char *path,
                          uint64_t at, size_t size)
{
    const struct piece_job job = {.kind = JOB_PIECE, .size = (uint32_t)size, .at = at};
    send_job(gathering->team, file->ranks[0], &job, sizeof job, path);
}

/* What was asked for, behind a struct piece_head; free() it. NULL and errno: it cannot be read there. */
static char *take_piece(const struct gathering *gathering, const struct gathered_file *file, size_t *size)
{
    struct piece_head head;
    char *data = team_receive(gathering->team, file->ranks[0], size);
    memcpy(&head, data, sizeof head);
    *size -= sizeof head;
    if (!head.reason)
        return data;
    free(data);
    errno = head.reason;
    return NULL;
}

static enum status fault_of_copy(struct error *err)
{
    return error_set_errno(err, ERROR_OUTPUT, "cannot write a temporary file in %s", temporary_directory());
}

/* One piece is on its way while the one before it is written, also where that fails: it has to be taken. */
static enum status copy_pieces(const struct gathering *gathering, const struct gathered_file *file, const char *path,
                               struct error *err)
{
    enum status status = STATUS_OK;
    uint64_t at = 0;
    if (file->size > 0)
        ask_for_piece(gathering, file, path, at, PIECE);
    for (bool more = file->size > 0; more; at += PIECE) {
        size_t size;
        char *data = take_piece(gathering, file, &size);
        int reason = errno;
        more = status == STATUS_OK && data && size == PIECE && at + PIECE < file->size;
        if (more)
            ask_for_piece(gathering, file, path, at + PIECE, PIECE);
        errno = reason;
        if (!data)
            status = error_set_errno(err, ERROR_INPUT, "%s: cannot read", path);
        else if (status == STATUS_OK &&
                 !directory_give(gathering->directory, file->name, at, data + sizeof(struct piece_head), size))
            status = fault_of_copy(err);
        free(data);
    }
    return status;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct gathered_file *)a)->name, ((const struct gathered_file *)b)->name);
}

static struct gathered_file *find_file(const struct gathering *gathering, const char *name)
{
    const struct gathered_file key = {.name = (char *)(uintptr_t)name};
    return bsearch(&key, gathering->files.file, gathering->files.count, sizeof key, compare_names);
}

/* A directory_fetch. */
static size_t fetch_piece(void *context, const char *name, uint64_t at, void *data, size_t size)
{
    const struct gathering *gathering = context;
    const struct gathered_file *file = find_file(gathering, name);
    char *path = directory_join(gathering->directory, name);
    size_t got = 0;
    for (bool more = size > 0; more;) {
        size_t some, wanted = smaller(size - got, (size_t)PIECE);
        ask_for_piece(gathering, file, path, at + got, wanted);
        char *piece = take_piece(gathering, file, &some);
        more = piece && some == wanted && got + some < size;
        if (!piece)
            break; /* as where a file of this host cannot be read: its readers see that it ends */
        memcpy((char *)data + got, piece + sizeof(struct piece_head), some);
        got += some;
        free(piece);
    }
    free(path);
    return got;
}

/* The time is a part of what the cache knows a trace by. */
static void set_time(int copy, int64_t time_ns)
{
    struct timespec time = {.tv_sec = time_ns / 1000000000, .tv_nsec = time_ns % 1000000000}, times[2] = {time, time};
    if (futimens(copy, times) != 0)
        return; /* then the trace is indexed again */
}

/* Files that are small are copied at once: asking for their pieces would take as long. */
enum { PIECES_FROM = 256 << 10 };

static bool is_in_pieces(struct gathering *gathering, const struct gathered_file *file)
{
    struct record_header header;
    size_t got = 0;
    if (file->size < PIECES_FROM)
        return false;
    if (file->ranks[0] == 0) {
        char *path = directory_join(gathering->directory, file->name);
        got = directory_read(path, 0, &header, sizeof header);
        free(path);
    } else {
        got = fetch_piece(gathering, file->name, 0, &header, sizeof header);
    }
    return recordings_in_pieces(&header, got);
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

int gathering_copy(const struct gathered_file *file, struct error *err)
{
    static bool allowed;
    if (!allowed)
        allow_open_files();
    allowed = true;
    int copy = temporary_file(err);
    if (copy >= 0 && ftruncate(copy, (off_t)file->size) != 0) {
        (void)fault_of_copy(err);
        close(copy);
        return -1;
    }
    if (copy >= 0)
        set_time(copy, file->time_ns);
    return copy;
}

static enum status fetch(struct gathering *gathering, const struct gathered_file *file, struct error *err)
{
    int copy = gathering_copy(file, err);
    if (copy < 0)
        return STATUS_FAILED;
    directory_add_in_pieces(gathering->directory, file->name, copy);
    if (file->in_pieces)
        return STATUS_OK;
    char *path = directory_join(gathering->directory, file->name);
    enum status status = copy_pieces(gathering, file, path, err);
    free(path);
    return status;
}

/* Gets what rank 0 has not got. */
static enum status fetch_all(struct gathering *gathering, struct engine_gathered *gathered, struct error *err)
{
    const char *directory = gathering->directory;
    directory_scatter(directory);
    directory_fetch_by(directory, fetch_piece, gathering);
    for (size_t i = 0; i < gathering->files.count; i++) {
        struct gathered_file *file = &gathering->files.file[i];
        file->in_pieces = is_in_pieces(gathering, file);
        if (file->ranks[0] == 0) {
            directory_add(directory, file->name, -1);
            continue;
        }
        if (fetch(gathering, file, err) != STATUS_OK)
            return STATUS_FAILED;
        gathered->files++;
        gathered->bytes += file->size;
    }
    return STATUS_OK;
}

enum status engine_gather(struct team *team, const char *directory, struct engine_gathered *gathered, struct error *err)
{
    *gathered = (struct engine_gathered){0};
    /* Archives can have thousands of files, and are not gathered: all hosts must share them. */
    if (reader_is_archive(directory))
        return STATUS_OK;
    struct gathering *gathering = memory_new(sizeof *gathering);
    gathering->team = team;
    gathering->directory = memory_copy_string(directory);
    enum status status = list_all(gathering, err);
    if (status == STATUS_OK && gathering->scattered) {
        ARRAY_PUSH(gatherings, gathering_count, gathering_capacity, gathering);
        return fetch_all(gathering, gathered, err);
    }
    files_clear(&gathering->files);
    free(gathering->directory);
    free(gathering);
    return status;
}

const struct gathered_file *gathering_files(const char *directory, size_t *count)
{
    for (size_t i = 0; i < gathering_count; i++)
        if (strcmp(gatherings[i]->directory, directory) == 0) {
            *count = gatherings[i]->files.count;
            return gatherings[i]->files.file;
        }
    *count = 0;
    return NULL;
}

const struct gathered_file *gathering_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; slash && i < gathering_count; i++) {
        const char *directory = gatherings[i]->directory;
        if (strncmp(directory, path, (size_t)(slash - path)) == 0 && directory[slash - path] == '\0')
            return find_file(gatherings[i], slash + 1);
    }
    return NULL;
}

bool gathering_has(const struct gathered_file *file, int rank)
{
    for (size_t i = 0; i < file->rank_count; i++)
        if (file->ranks[i] == rank)
            return true;
    return false;
}

bool gathering_in_pieces(const char *directory)
{
    size_t count;
    const struct gathered_file *files = gathering_files(directory, &count);
    for (size_t i = 0; i < count; i++)
        if (files[i].in_pieces)
            return true;
    return false;
}
