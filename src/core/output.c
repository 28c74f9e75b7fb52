/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "core/output.h"

#include "core/input.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/output_codec.h"
#include "core/unfinished.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned pack_threads = 1;

enum { BUFFER_SIZE = 64 * 1024, PRINT_SIZE = 4096, LINKS_MAX = 40 };

/* A regular file is written under its temporary name, `temporary`; everything else is written directly. */
struct output_target {
    char *name; /* for messages */
    int fd;
    struct output_options options;
    char *path; /* where the temporary file is moved to, with links resolved */
    char *temporary;
    bool named;     /* the file has its temporary name already */
    int unfinished; /* place in the list of temporary names, -1: none */
    const struct output_codec *codec;
    void *codec_state;
    unsigned char *encoded;
    int spool;        /* -1: none */
    bool held;        /* the codec keeps the beginning, and what it gives goes to the spool */
    uint64_t spooled; /* bytes there, if so */
    bool in_memory;   /* an output in memory: the buffer grows and is the result */
};

void output_pack_threads(unsigned threads)
{
    pack_threads = threads;
}

/* The target of a symbolic link, which need not exist; `path` itself if it is not a link. NULL: too many links. */
static char *follow_links(const char *path)
{
    /* Links are followed by hand, as renaming would replace the link and not the file that it names. */
    char *at = memory_copy_string(path), target[PATH_MAX];
    for (int i = 0; i < LINKS_MAX; i++) {
        ssize_t length = readlink(at, target, sizeof target - 1);
        if (length < 0)
            return at;
        target[length] = '\0';
        const char *slash = strrchr(at, '/');
        /* A relative target starts at the directory of the link. */
        size_t directory = *target == '/' || !slash ? 0 : (size_t)(slash - at) + 1;
        char *next = memory_new(directory + (size_t)length + 1);
        memcpy(next, at, directory);
        memcpy(next + directory, target, (size_t)length + 1);
        free(at);
        at = next;
    }
    free(at);
    errno = ELOOP;
    return NULL;
}

size_t output_plain_length(const char *path)
{
    const struct output_codec *codec = output_codec_find(path);
    return strlen(path) - (codec ? strlen(codec->suffix) : 0);
}

static mode_t mode_of_new_files(void)
{
    /* The only way to read the mask is to set it. */
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* ".NAME.XXXXXX" beside the path; NULL if the path has no last part. A long name is cut so that the added letters fit.
 */
static char *temporary_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    static const char letters[] = ".XXXXXX";
    enum { ADDED = sizeof letters }; /* the dot before it, no terminator */
    size_t length = strlen(base);
    if (!length)
        return NULL;
    /* The file's own name may be as long as the file system allows. */
    if (length + ADDED > NAME_MAX)
        length = NAME_MAX - ADDED;
    size_t size = (size_t)(base - path) + length + ADDED + 1;
    char *name = memory_new(size);
    snprintf(name, size, "%.*s.%.*s%s", (int)(base - path), path, (int)length, base, letters);
    return name;
}

static enum status open_whole(struct output_target *target, const char *path, mode_t mode, struct error *err)
{
    target->path = target->options.private ? memory_copy_string(path) : follow_links(path);
    char *temporary = target->path ? temporary_name(target->path) : NULL;
    if (target->path && !temporary)
        /* What open(2) says about "" and "directory/". */
        errno = *target->path ? EISDIR : ENOENT;
    target->fd = temporary ? unfinished_make_file(temporary, &target->unfinished, &target->named) : -1;
    if (target->fd < 0) {
        error_set_errno(err, ERROR_OUTPUT, "%s: cannot create", target->name);
        free(temporary);
        return STATUS_FAILED;
    }
    target->temporary = temporary;
    /* Some file systems have no modes: not a reason to fail. */
    (void)!fchmod(target->fd, mode);
    return STATUS_OK;
}

static enum status exists(const struct output_target *target, struct error *err)
{
    return error_set(err, ERROR_OUTPUT, "%s: exists (use -f to replace it)", target->name);
}

static enum status open_path(struct output_target *target, const char *path, struct error *err)
{
    struct stat about;
    if (target->options.private)
        /* What others could read or put there must not take part: no links, and no permissions for others. */
        return open_whole(target, path, S_IRUSR | S_IWUSR, err);
    if (stat(path, &about) < 0)
        return errno == ENOENT ? open_whole(target, path, mode_of_new_files(), err)
                               : error_set_errno(err, ERROR_OUTPUT, "%s: cannot create", target->name);
    if (S_ISDIR(about.st_mode))
        return error_set(err, ERROR_OUTPUT, "%s: is a directory", target->name);
    if (S_ISREG(about.st_mode))
        return target->options.replace ? open_whole(target, path, about.st_mode & 0777, err) : exists(target, err);
    target->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (target->fd < 0)
        return error_set_errno(err, ERROR_OUTPUT, "%s: cannot open", target->name);
    return STATUS_OK;
}

static enum status open_codec(struct output_target *target, struct error *err)
{
    if (!target->codec->open)
        return error_set(err, ERROR_OUTPUT, "%s: this build cannot compress with %s", target->name,
                         target->codec->name);
    target->held = target->options.patchable && target->codec->patch;
    target->codec_state = target->codec->open(pack_threads, target->held);
    if (!target->codec_state)
        return error_set(err, ERROR_OUTPUT, "%s: not enough memory to compress", target->name);
    target->encoded = memory_resize(NULL, BUFFER_SIZE);
    return STATUS_OK;
}

static void close_target(struct output_target *target)
{
    if (target->temporary && target->named)
        unlink(target->temporary);
    unfinished_drop(target->unfinished);
    /* Standard output was open before us and stays open. */
    if (target->fd >= 0 && target->fd != STDOUT_FILENO)
        close(target->fd);
    if (target->spool >= 0)
        close(target->spool);
    if (target->codec_state)
        target->codec->close(target->codec_state);
    free(target->encoded);
    free(target->temporary);
    free(target->path);
    free(target->name);
    free(target);
}

static enum status open_target(struct output_target *target, const char *path, bool standard, struct error *err)
{
    target->codec = standard ? NULL : output_codec_find(path);
    /* Before the target is touched, so that a fault leaves no files. */
    if (target->codec && open_codec(target, err) != STATUS_OK)
        return STATUS_FAILED;
    if (standard)
        target->fd = STDOUT_FILENO;
    else if (open_path(target, path, err) != STATUS_OK)
        return STATUS_FAILED;
    /* Standard output may be a file, but one that was opened for appending cannot be patched. */
    if (target->options.patchable && (target->codec || !target->temporary)) {
        target->spool = temporary_file(err);
        if (target->spool < 0)
            return STATUS_FAILED;
        return STATUS_OK;
    }
    return STATUS_OK;
}

struct output *output_open(const char *path, struct output_options options, struct error *err)
{
    /* /dev/stdout may be a regular file, which must not be replaced by renaming. */
    bool standard = strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
    struct output_target *target = memory_new(sizeof *target);
    target->name = input_escape_name(standard ? "standard output" : path);
    target->options = options;
    target->fd = target->spool = target->unfinished = -1;
    if (open_target(target, path, standard, err) != STATUS_OK) {
        close_target(target);
        return NULL;
    }
    struct output *output = memory_new(sizeof *output);
    output->target = target;
    output->at = output->buffer = memory_resize(NULL, BUFFER_SIZE);
    output->end = output->buffer + BUFFER_SIZE;
    return output;
}

struct output *output_open_memory(void)
{
    struct output *output = memory_new(sizeof *output);
    output->target = memory_new(sizeof *output->target);
    output->target->in_memory = true;
    output->target->fd = output->target->spool = output->target->unfinished = -1;
    output->at = output->buffer = memory_resize(NULL, BUFFER_SIZE);
    output->end = output->buffer + BUFFER_SIZE;
    return output;
}

char *output_take(struct output *output, size_t *length)
{
    assert(output->target->in_memory);
    *length = (size_t)(output->at - output->buffer);
    *output_room(output, 1) = '\0';
    char *bytes = (char *)output->buffer;
    close_target(output->target);
    free(output);
    return bytes;
}

void output_fail(struct output *output, const struct error *err)
{
    if (output->fault.kind == ERROR_NONE)
        output->fault = *err;
}

/* Keeps the first fault, which is the cause of the others. */
static void fail(struct output *output)
{
    if (output->fault.kind == ERROR_NONE)
        error_set_errno(&output->fault, ERROR_OUTPUT, "%s: cannot write", output->target->name);
}

static void fail_spool(struct output *output, const char *what)
{
    if (output->fault.kind == ERROR_NONE)
        error_set_errno(&output->fault, ERROR_OUTPUT, "cannot %s temporary file in %s", what, temporary_directory());
}

static void write_file(struct output *output, const unsigned char *data, size_t length)
{
    int fd = output->target->fd;
    while (length && output->fault.kind == ERROR_NONE) {
        ssize_t wrote = write(fd, data, length);
        if (wrote >= 0) {
            data += wrote;
            length -= (size_t)wrote;
        } else if (errno == EAGAIN) {
            /* A process that shares the pipe with us has made it non-blocking: wait for it all the same. */
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        } else if (errno != EINTR) {
            fail(output);
        }
    }
}

static bool write_at(int fd, const unsigned char *data, size_t length, uint64_t offset)
{
    while (length) {
        ssize_t wrote = pwrite(fd, data, length, (off_t)offset);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return false;
        data += wrote;
        length -= (size_t)wrote;
        offset += (uint64_t)wrote;
    }
    return true;
}

/* What the codec gives: to the file, or behind what it holds. */
static void put_encoded(struct output *output, size_t length)
{
    struct output_target *target = output->target;
    if (!target->held) {
        write_file(output, target->encoded, length);
        return;
    }
    if (output->fault.kind == ERROR_NONE && !write_at(target->spool, target->encoded, length, target->spooled))
        fail_spool(output, "write");
    target->spooled += length;
}

/* Writes data through the codec to the file. */
static void write_encoded(struct output *output, const unsigned char *data, size_t length, bool last)
{
    struct output_target *target = output->target;
    if (!target->codec) {
        write_file(output, data, length);
        return;
    }
    enum encoded result = ENCODED_MORE;
    struct output_flow flow = {.in = data, .in_end = data + length, .last = last};
    while (output->fault.kind == ERROR_NONE && result == ENCODED_MORE && (last || flow.in < flow.in_end)) {
        flow.out = target->encoded;
        flow.out_end = flow.out + BUFFER_SIZE;
        result = target->codec->encode(target->codec_state, &flow);
        put_encoded(output, (size_t)(flow.out - target->encoded));
    }
    if (result == ENCODED_FAILED && output->fault.kind == ERROR_NONE)
        error_set(&output->fault, ERROR_OUTPUT, "%s: cannot compress", target->name);
}

/* Twice the room. */
static void grow(struct output *output)
{
    size_t length = (size_t)(output->at - output->buffer), size = (size_t)(output->end - output->buffer) * 2;
    output->buffer = memory_resize(output->buffer, size);
    output->at = output->buffer + length;
    output->end = output->buffer + size;
}

void output_flush(struct output *output)
{
    if (output->target->in_memory) {
        grow(output);
        return;
    }
    size_t length = (size_t)(output->at - output->buffer);
    if (output->fault.kind == ERROR_NONE && output->target->spool >= 0 && !output->target->held) {
        if (!write_at(output->target->spool, output->buffer, length, output->written))
            fail_spool(output, "write");
    } else if (output->fault.kind == ERROR_NONE) {
        write_encoded(output, output->buffer, length, false);
    }
    output->written += length;
    output->at = output->buffer;
}

void output_write(struct output *output, const void *data, size_t length)
{
    const unsigned char *from = data;
    while (length) {
        size_t room = (size_t)(output->end - output->at);
        size_t part = smaller(length, room);
        memcpy(output->at, from, part);
        output->at += part;
        from += part;
        length -= part;
        if (output->at == output->end)
            output_flush(output);
    }
}

void output_text(struct output *output, const char *text)
{
    output_write(output, text, strlen(text));
}

void output_print(struct output *output, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    char *at = (char *)output_room(output, PRINT_SIZE);
    size_t room = (size_t)(output->end - output->at);
    int length = vsnprintf(at, room, format, args);
    if (length > 0 && (size_t)length < room) {
        output->at += length;
    } else if (length > 0) {
        char *text = memory_new((size_t)length + 1);
        vsnprintf(text, (size_t)length + 1, format, again);
        output_write(output, text, (size_t)length);
        free(text);
    }
    va_end(again);
    va_end(args);
}

/* Bytes that have left the buffer. */
static void patch_written(struct output *output, uint64_t offset, const unsigned char *data, size_t length)
{
    struct output_target *target = output->target;
    if (output->fault.kind != ERROR_NONE)
        return;
    if (target->held)
        target->codec->patch(target->codec_state, offset, data, length);
    else if (target->spool >= 0 && !write_at(target->spool, data, length, offset))
        fail_spool(output, "write");
    else if (target->spool < 0 && !write_at(target->fd, data, length, offset))
        fail(output);
}

void output_patch(struct output *output, uint64_t offset, const void *data, size_t length)
{
    assert(output->target->options.patchable && offset + length <= output_position(output) &&
           offset + length <= OUTPUT_PATCH_MOST);
    const unsigned char *from = data;
    if (offset < output->written) {
        size_t gone = (size_t)smaller(output->written - offset, (uint64_t)length);
        patch_written(output, offset, from, gone);
        offset += gone;
        from += gone;
        length -= gone;
    }
    if (length)
        memcpy(output->buffer + (offset - output->written), from, length);
}

/* To the file, through the codec unless that has been done. */
static void copy_spool(struct output *output)
{
    bool held = output->target->held;
    uint64_t size = held ? output->target->spooled : output->written;
    for (uint64_t at = 0; at < size && output->fault.kind == ERROR_NONE;) {
        ssize_t got = pread(output->target->spool, output->buffer, BUFFER_SIZE, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got < 0 ? errno : EIO;
            fail_spool(output, "read");
            return;
        }
        if (held)
            write_file(output, output->buffer, (size_t)got);
        else
            write_encoded(output, output->buffer, (size_t)got, false);
        at += (uint64_t)got;
    }
}

/* Gives the file its name, unless it has been taken meanwhile. 0, or -1 and errno. */
static int rename_new(const char *temporary, const char *path)
{
#ifdef RENAME_NOREPLACE
    if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
#endif
    if (link(temporary, path) == 0)
        return unlink(temporary);
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK)
        return -1;
    /* Neither call is supported (FAT over FUSE): check first, then rename. */
    if (access(path, F_OK) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(temporary, path);
}

/* Waits until the file is on the disk: only then may it replace another one, or its sources be removed. Some network
   file systems cannot synchronise; that is not a fault. */
static bool sync_file(int fd)
{
    int result;
    do
        result = fsync(fd);
    while (result < 0 && errno == EINTR);
    return result == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP || errno == ENOSYS;
}

/* The new name must be on the disk as well. A directory that cannot be opened is not a fault of the disk. */
static void sync_directory(struct output *output)
{
    const char *path = output->target->path, *slash = strrchr(path, '/');
    char *directory = memory_copy_string(slash ? path : ".");
    /* The slash of "/file" is the directory. */
    if (slash)
        directory[slash == path ? 1 : slash - path] = '\0';
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && !sync_file(fd))
        fail(output);
    if (fd >= 0)
        close(fd);
    free(directory);
}

static void put_in_place(struct output *output)
{
    struct output_target *target = output->target;
    int fd = target->fd;
    target->fd = -1;
    if (!sync_file(fd))
        fail(output);
    if (output->fault.kind == ERROR_NONE && !target->named) {
        target->named = unfinished_name_file(fd, target->temporary, &target->unfinished);
        if (!target->named)
            fail(output);
    }
    /* Some file systems report a full disk only here. */
    if (close(fd) < 0 && errno != EINTR)
        fail(output);
    if (output->fault.kind != ERROR_NONE)
        return;
    int result =
        target->options.replace ? rename(target->temporary, target->path) : rename_new(target->temporary, target->path);
    if (result < 0 && errno == EEXIST && !target->options.replace) {
        exists(target, &output->fault);
    } else if (result < 0) {
        error_set_errno(&output->fault, ERROR_OUTPUT, "%s: cannot create", target->name);
    } else {
        /* Others may use the temporary name from now on: it must no longer be removed. */
        unfinished_drop(target->unfinished);
        target->unfinished = -1;
        free(target->temporary);
        target->temporary = NULL;
        sync_directory(output);
    }
}

/* A device or a pipe that we opened. */
static void close_directly(struct output *output)
{
    int fd = output->target->fd;
    output->target->fd = -1;
    if (close(fd) < 0 && errno != EINTR)
        fail(output);
}

/* What has been kept until the data are complete. */
static void write_rest(struct output *output)
{
    struct output_target *target = output->target;
    if (target->spool >= 0 && !target->held)
        copy_spool(output);
    if (target->codec)
        write_encoded(output, output->buffer, 0, true);
    if (target->held && output->fault.kind == ERROR_NONE) {
        size_t size;
        const unsigned char *first = target->codec->held(target->codec_state, &size);
        write_file(output, first, size);
        copy_spool(output);
    }
}

enum status output_close(struct output *output, bool commit, struct error *err)
{
    struct output_target *target = output->target;
    enum status status = STATUS_OK;
    if (commit) {
        output_flush(output);
        write_rest(output);
        if (target->temporary)
            put_in_place(output);
        else if (target->fd >= 0 && target->fd != STDOUT_FILENO)
            close_directly(output);
        if (output->fault.kind != ERROR_NONE) {
            *err = output->fault;
            status = STATUS_FAILED;
        }
    }
    close_target(target);
    free(output->buffer);
    free(output);
    return status;
}
