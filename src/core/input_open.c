/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/input_source.h"

#include "core/directory.h"
#include "core/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned unpack_threads = 1;

void input_unpack_threads(unsigned threads)
{
    unpack_threads = threads;
}

unsigned input_lookers(const struct input *input)
{
    const struct input_source *source = input->source;
    return source->frames || !input_source_is_plain(source) ? input_threads(input) : unpack_threads;
}

static struct input *new_input(const char *name)
{
    struct input *input = memory_new(sizeof *input);
    struct input_source *source = input->source = memory_new(sizeof *source);
    source->fd = source->spool = -1;
    input->name = source->name = input_escape_name(name);
    return input;
}

void input_close(struct input *input)
{
    if (!input)
        return;
    struct input_source *source = input->source;
    if (source->codec_state)
        source->codec->close(source->codec_state);
    frames_free(source->frames);
    seek_table_free(source->table);
    /* Standard input is not ours to close. */
    if (source->fd > STDIN_FILENO)
        close(source->fd);
    if (source->spool >= 0)
        close(source->spool);
    free(source->raw_buffer);
    free(source->name);
    free(source->path);
    free(source);
    free(input->buffer);
    free(input);
}

/* Somebody else may be able to write where this file is: it must be what this user put there. */
static bool is_private(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
           !(about.st_mode & (S_IWGRP | S_IWOTH));
}

int private_open(const char *path)
{
    /* O_NONBLOCK: a pipe put in place of the file must not hold us; it fails the test after it. O_NOFOLLOW: a link
       may lead to another user's file. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || is_private(fd))
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

/* A file that is not there, by the name that is: the files of git-annex are links to what it has got. */
static enum status cannot_open(const struct input *input, const char *path, struct error *err)
{
    char target[4096];
    ssize_t length = errno == ENOENT ? readlink(path, target, sizeof target - 1) : -1;
    if (length <= 0)
        return error_set_errno(err, ERROR_INPUT, "%s: cannot open", input->name);
    target[length] = '\0';
    char *shown = input_escape_name(target);
    error_set(err, ERROR_INPUT, "%s: cannot open: a link to %s, which is not there%s", input->name, shown,
              strstr(target, "annex/objects/") ? ": get it with git annex get" : "");
    free(shown);
    return STATUS_FAILED;
}

static enum status open_file(struct input *input, const char *path, bool private, struct error *err)
{
    struct input_source *source = input->source;
    bool standard = !private && strcmp(path, "-") == 0;
    if (standard)
        source->fd = STDIN_FILENO;
    else
        source->fd = private ? private_open(path) : open(directory_place(path), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat about;
    if (source->fd < 0 || fstat(source->fd, &about) < 0)
        return cannot_open(input, path, err);
    if (S_ISDIR(about.st_mode))
        return error_set(err, ERROR_INPUT, "%s: is a directory", input->name);
    source->device = about.st_dev;
    source->number = about.st_ino;
    source->changed = about.st_mtim;
    /* A shell may have read the first lines of a file that it hands to us: we begin where it stopped. */
    off_t start = S_ISREG(about.st_mode) ? lseek(source->fd, 0, SEEK_CUR) : -1;
    if (start >= 0) {
        source->seekable = true;
        source->start = (uint64_t)start;
        source->size = about.st_size > start ? (uint64_t)(about.st_size - start) : 0;
        /* The kernel reads further ahead. */
        posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    source->raw_buffer = memory_resize(NULL, INPUT_RAW_SIZE);
    source->raw = source->raw_end = source->raw_buffer;
    return STATUS_OK;
}

/* Chooses the codec by the first bytes. */
static enum status open_codec(struct input *input, struct error *err)
{
    struct input_source *source = input->source;
    if (input_fill_raw(input, INPUT_MAGIC_MAX, err) != STATUS_OK)
        return STATUS_FAILED;
    source->codec = input_codec_find(source->raw, (size_t)(source->raw_end - source->raw));
    if (input_source_is_plain(source))
        return STATUS_OK;
    if (!source->codec->open)
        return error_set(err, ERROR_INPUT, "%s: compressed with %s, which this build cannot read", input->name,
                         source->codec->name);
    source->codec_state = source->codec->open();
    if (!source->codec_state)
        return error_set(err, ERROR_INPUT, "%s: not enough memory to decompress", input->name);
    if (source->codec->restart && source->seekable && source->start == 0)
        source->table = seek_table_read(source->fd, source->size);
    if (source->table)
        source->frames = frames_new(source->fd, source->table, source->codec, unpack_threads);
    return source->frames ? input_begin_at(input, 0, 0, err) : STATUS_OK;
}

bool input_is_same_file(const struct input *left, const struct input *right)
{
    const struct input_source *a = left->source, *b = right->source;
    return a->seekable && b->seekable && a->device == b->device && a->number == b->number && a->size == b->size;
}

struct input_identity input_identity(const struct input *input)
{
    const struct input_source *source = input->source;
    return (struct input_identity){source->number, source->size, source->changed.tv_sec, source->changed.tv_nsec};
}

bool input_identity_is(const struct input_identity *identity, const struct input *input)
{
    struct input_identity other = input_identity(input);
    return identity->size == other.size &&
           (identity->number == other.number ||
            (identity->changed_s == other.changed_s && identity->changed_ns == other.changed_ns));
}

static struct input *open_input(const char *path, bool private, struct error *err)
{
    bool standard = !private && strcmp(path, "-") == 0;
    struct input *input = new_input(standard ? "standard input" : path);
    input->path = input->source->path = standard ? NULL : memory_copy_string(path);
    if (open_file(input, path, private, err) != STATUS_OK || open_codec(input, err) != STATUS_OK) {
        input_close(input);
        return NULL;
    }
    return input;
}

bool input_is_once(const char *path)
{
    struct stat about;
    if (strcmp(path, "-") == 0)
        return true;
    return stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

struct input *input_open(const char *path, struct error *err)
{
    return open_input(path, false, err);
}

struct input *input_open_found(const char *path, struct error *err)
{
    if (!input_is_once(path))
        return input_open(path, err);
    char *name = input_escape_name(path);
    error_set(err, ERROR_INPUT, "%s: not a regular file", name);
    free(name);
    return NULL;
}

struct input *input_open_private(const char *path, struct error *err)
{
    return open_input(path, true, err);
}

struct input *input_open_memory(const void *data, size_t size, const char *name)
{
    struct input *input = new_input(name);
    struct input_source *source = input->source;
    struct error ignored;
    source->size = size;
    source->raw = size ? data : "";
    source->raw_end = source->raw + size;
    /* Memory has no error to return: what this build cannot decompress stays as it is. */
    if (open_codec(input, &ignored) != STATUS_OK)
        source->codec = input_codec_find((const unsigned char *)"", 0);
    if (input_source_is_plain(source)) {
        input->at = source->raw;
        input->end = source->raw_end;
        input->ended = source->ended = true;
    }
    return input;
}
