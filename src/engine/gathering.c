/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/gathering.h"

#include "convert/otf2/otf2_parts.h"
#include "convert/reader.h"
#include "convert/record/recordings.h"
#include "core/directory.h"
#include "core/input.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "engine/engine.h"
#include "engine/gathering_list.h"
#include "engine/serving.h"

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

struct piece_job {
    enum job_kind kind; /* JOB_PIECE; the path follows */
    uint32_t size;      /* at most PIECE */
    uint64_t at;
};

/* What precedes the bytes of a piece. */
struct piece_head {
    int reason; /* errno; 0: here they are */
};

/* The other processes */

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
    struct gathered_files files; /* of all hosts, by name */
};

/* Those that are scattered, as long as the program runs. */
static struct gathering **gatherings;
static size_t gathering_count, gathering_capacity;

static enum status check(const struct gathering *gathering, struct error *err)
{
    for (size_t i = 0; i < gathering->files.count; i++)
        if (gathering->files.file[i].differs)
            return error_set(err, ERROR_INPUT, "%s/%s: hosts have different files of this name", gathering->directory,
                             gathering->files.file[i].name);
    return STATUS_OK;
}

/* Whether a process lacks a file. */
static bool is_scattered(const struct gathering *gathering)
{
    for (size_t i = 0; i < gathering->files.count; i++)
        if (gathering->files.file[i].rank_count < (size_t)team_size(gathering->team))
            return true;
    return false;
}

/* Asks for a piece, or the file's rest. */
static void ask_for_piece(const struct gathering *gathering, const struct gathered_file *file, const char *path,
                          uint64_t at, size_t size)
{
    const struct piece_job job = {.kind = JOB_PIECE, .size = (uint32_t)size, .at = at};
    gathering_send(gathering->team, file->ranks[0], &job, sizeof job, path);
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

/* A process that waits looks for a message every 2 ms (team_mpi.c): small local files of an archive, of which there may
   be thousands, are asked for together, each as one piece. */
enum { TOGETHER = 64, SMALL = PIECE / TOGETHER };

static bool is_small_local(const struct gathered_file *file)
{
    return file->size <= SMALL && otf2_part_is_local(file->name);
}

static bool has_same_ending(const char *name, const char *other)
{
    return strcmp(strrchr(name, '.'), strrchr(other, '.')) == 0;
}

/* Those that follow the first, and have not been fetched: how many with it. */
static size_t choose_together(const struct gathering *gathering, struct gathered_file *chosen[TOGETHER])
{
    const struct gathered_file *first = chosen[0];
    struct gathered_file *end = gathering->files.file + gathering->files.count;
    size_t count = 1;
    for (struct gathered_file *file = chosen[0] + 1; is_small_local(first) && file < end && count < TOGETHER; file++)
        if (file->ranks[0] != 0 && !file->fetched && is_small_local(file) && has_same_ending(file->name, first->name))
            chosen[count++] = file;
    return count;
}

/* The first one is wanted: what is wrong with another is said when that is. */
static enum status copy_together(const struct gathering *gathering, struct gathered_file *const *files, size_t count,
                                 struct error *err)
{
    enum status status = STATUS_OK;
    char *first = directory_join(gathering->directory, files[0]->name);
    for (size_t i = 0; i < count; i++) {
        char *path = directory_join(gathering->directory, files[i]->name);
        ask_for_piece(gathering, files[i], path, 0, SMALL);
        free(path);
    }
    for (size_t i = 0; i < count; i++) {
        size_t size;
        char *data = take_piece(gathering, files[i], &size);
        files[i]->fetched =
            data && directory_give(gathering->directory, files[i]->name, 0, data + sizeof(struct piece_head), size);
        if (i == 0 && !data)
            status = error_set_errno(err, ERROR_INPUT, "%s: cannot read", first);
        else if (i == 0 && !files[i]->fetched)
            status = fault_of_copy(err);
        free(data);
    }
    free(first);
    return status;
}

static size_t fetch_piece(void *context, const char *name, uint64_t at, void *data, size_t size)
{
    const struct gathering *gathering = context;
    const struct gathered_file *file = gathered_files_find(&gathering->files, name);
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
    if (otf2_part_is_local(file->name))
        return true;
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

static int make_copy(void *context, const char *name, struct error *err)
{
    const struct gathering *gathering = context;
    return gathering_copy(gathered_files_find(&gathering->files, name), err);
}

static enum status fetch_whole(void *context, const char *name, struct error *err)
{
    const struct gathering *gathering = context;
    struct gathered_file *chosen[TOGETHER] = {gathered_files_find(&gathering->files, name)};
    size_t count = choose_together(gathering, chosen);
    if (count > 1)
        return copy_together(gathering, chosen, count, err);
    char *path = directory_join(gathering->directory, name);
    enum status status = copy_pieces(gathering, chosen[0], path, err);
    chosen[0]->fetched = status == STATUS_OK;
    free(path);
    return status;
}

static enum status fetch(struct gathering *gathering, const struct gathered_file *file, struct error *err)
{
    int copy = gathering_copy(file, err);
    if (copy < 0)
        return STATUS_FAILED;
    directory_add_in_pieces(gathering->directory, file->name, copy);
    return file->in_pieces ? STATUS_OK : fetch_whole(gathering, file->name, err);
}

/* Gets what rank 0 has not got. */
static enum status fetch_all(struct gathering *gathering, struct engine_gathered *gathered, struct error *err)
{
    const char *directory = gathering->directory;
    directory_scatter(directory);
    directory_fetch_by(
        directory,
        (struct directory_source){.fetch = fetch_piece, .whole = fetch_whole, .copy = make_copy, .context = gathering});
    for (size_t i = 0; i < gathering->files.count; i++) {
        struct gathered_file *file = &gathering->files.file[i];
        file->in_pieces = is_in_pieces(gathering, file);
        if (file->ranks[0] == 0) {
            directory_add(directory, file->name, -1);
            continue;
        }
        if (otf2_part_is_local(file->name))
            directory_add_elsewhere(directory, file->name, file->size);
        else if (fetch(gathering, file, err) != STATUS_OK)
            return STATUS_FAILED;
        gathered->files++;
        gathered->bytes += file->size;
    }
    return STATUS_OK;
}

enum status engine_gather(struct team *team, const char *directory, struct engine_gathered *gathered, struct error *err)
{
    *gathered = (struct engine_gathered){0};
    /* Their files are not known by their names alone. */
    if (reader_is_archive(directory))
        return STATUS_OK;
    struct gathering *gathering = memory_new(sizeof *gathering);
    gathering->team = team;
    gathering->directory = memory_copy_string(directory);
    gathering->files = gathering_list_all(team, directory);
    enum status status = check(gathering, err);
    if (status == STATUS_OK && is_scattered(gathering)) {
        ARRAY_PUSH(gatherings, gathering_count, gathering_capacity, gathering);
        return fetch_all(gathering, gathered, err);
    }
    gathered_files_clear(&gathering->files);
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
    for (size_t i = 0; i < gathering_count; i++) {
        size_t length = strlen(gatherings[i]->directory);
        if (strncmp(gatherings[i]->directory, path, length) == 0 && path[length] == '/')
            return gathered_files_find(&gatherings[i]->files, path + length + 1);
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
