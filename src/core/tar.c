/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/tar.h"

#include "core/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Offsets of the fields of a header: POSIX, ustar interchange format. */
enum {
    BLOCK = 512,
    NAME = 0,
    NAME_SIZE = 100,
    SIZE = 124,
    CHECKSUM = 148,
    TYPE = 156,
    MAGIC = 257,
    PREFIX = 345,
    PREFIX_SIZE = 155,
    LONG_NAME_MAX = 64 * 1024
};

static uint64_t octal(const unsigned char *at, size_t size)
{
    uint64_t value = 0;
    /* Sizes of 8 GiB and more do not fit into 11 octal digits. */
    if (*at & 0x80) { /* GNU: binary */
        for (size_t i = size - 8; i < size; i++)
            value = value << 8 | at[i];
        return value;
    }
    for (size_t i = 0; i < size && (at[i] == ' ' || (at[i] >= '0' && at[i] <= '7')); i++)
        value = at[i] == ' ' ? value : value * 8 + (uint64_t)(at[i] - '0');
    return value;
}

static bool checksum_fits(const unsigned char *header)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        /* The sum is made with blanks in the place where it is stored (POSIX, pax, "ustar Header Block"). */
        sum += i >= CHECKSUM && i < CHECKSUM + 8 ? ' ' : header[i];
    return sum == octal(header + CHECKSUM, 8);
}

bool tar_is_file(const unsigned char *data, size_t size)
{
    return size >= BLOCK && memcmp(data + MAGIC, "ustar", 5) == 0 && checksum_fits(data);
}

struct unpacking {
    struct input *input;
    const char *directory;
    char *long_name; /* name for the next entry; NULL */
    bool cut;
};

/* False for names that lead out of the directory. */
static bool name_is_safe(const char *name)
{
    if (*name == '/' || !*name)
        return false;
    for (const char *at = name; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || !at[2]))
            return false;
    return true;
}

static void make_directories(char *path)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        (void)mkdir(path, 0700);
        *at = '/';
    }
}

/* Consumes `size` bytes and the padding of their last block; writes them to `file` unless that is below 0. */
static enum status take_data(struct unpacking *unpacking, uint64_t size, int file, struct error *err)
{
    struct input *input = unpacking->input;
    /* Data are padded to whole blocks. */
    uint64_t left = (size + BLOCK - 1) / BLOCK * BLOCK;
    while (left > 0) {
        enum status status = input_need(input, 1, err);
        if (status != STATUS_OK) {
            unpacking->cut |= status == STATUS_END;
            return status;
        }
        size_t have = input_available(input) < left ? input_available(input) : (size_t)left;
        size_t data = have < size ? have : (size_t)size;
        for (size_t done = 0; file >= 0 && done < data;) {
            ssize_t wrote = write(file, input->at + done, data - done);
            if (wrote < 0 && errno != EINTR)
                return error_set_errno(err, ERROR_OUTPUT, "%s: cannot write", unpacking->directory);
            done += wrote > 0 ? (size_t)wrote : 0;
        }
        input_consume(input, have);
        size -= data;
        left -= have;
    }
    return STATUS_OK;
}

static enum status take_file(struct unpacking *unpacking, const char *name, uint64_t size, struct error *err)
{
    char path[PATH_MAX];
    bool fits = snprintf(path, sizeof path, "%s/%s", unpacking->directory, name) < (int)sizeof path;
    int file = -1;
    if (fits && name_is_safe(name)) {
        make_directories(path);
        /* O_EXCL: the second file of a name must not replace the first; O_NOFOLLOW: a link may lead elsewhere. We
           make no links. */
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (file < 0 && errno != EEXIST && errno != EISDIR && errno != ENOTDIR)
            return error_set_errno(err, ERROR_OUTPUT, "%s: cannot write", path);
    }
    enum status status = take_data(unpacking, size, file, err);
    if (file >= 0)
        close(file);
    return status;
}

/* Of the records "LENGTH KEYWORD=VALUE" and a line end each that of the path, which may have line ends of its own. Its
   value, ended in place; NULL: there is none. */
static char *pax_path(char *text, size_t size)
{
    for (char *at = text, *end = text + size; at < end;) {
        char *word;
        unsigned long length = strtoul(at, &word, 10);
        if (length > (size_t)(end - at) || word + strlen(" =") >= at + length)
            return NULL;
        char *last = at + length - 1;
        if (strncmp(word, " path=", strlen(" path=")) == 0 && word + strlen(" path=") <= last) {
            *last = '\0';
            return word + strlen(" path=");
        }
        at += length;
    }
    return NULL;
}

/* The name of the next entry: for GNU the data themselves, for pax a record in them. */
static enum status take_long_name(struct unpacking *unpacking, uint64_t size, bool pax, struct error *err)
{
    struct input *input = unpacking->input;
    /* A name of this length is damage or an attack; its memory would be asked for at once. */
    if (size > LONG_NAME_MAX) {
        unpacking->cut = true;
        return STATUS_END;
    }
    enum status status = input_need(input, (size_t)size, err);
    if (status != STATUS_OK) {
        unpacking->cut |= status == STATUS_END;
        return status;
    }
    char *text = memory_new((size_t)size + 1);
    memcpy(text, input->at, (size_t)size);
    const char *name = pax ? pax_path(text, (size_t)size) : text;
    if (name) {
        free(unpacking->long_name);
        unpacking->long_name = memory_copy_string(name);
    }
    free(text);
    return take_data(unpacking, size, -1, err);
}

static enum status take_entry(struct unpacking *unpacking, const unsigned char *header, struct error *err)
{
    char name[NAME_SIZE + PREFIX_SIZE + 2] = "";
    uint64_t size = octal(header + SIZE, 12);
    char type = (char)header[TYPE];
    if (type == 'L' || type == 'x')
        return take_long_name(unpacking, size, type == 'x', err);
    bool posix = memcmp(header + MAGIC, "ustar\0", 6) == 0;
    /* GNU's magic is "ustar  ": it has other fields in the prefix's place. */
    if (posix && header[PREFIX])
        snprintf(name, sizeof name, "%.*s/", (int)PREFIX_SIZE, (const char *)header + PREFIX);
    snprintf(name + strlen(name), sizeof name - strlen(name), "%.*s", (int)NAME_SIZE, (const char *)header + NAME);
    char *wanted = unpacking->long_name ? unpacking->long_name : name;
    /* Directories are made when a file in them is; links, devices and others are skipped. A directory has no data,
       whatever its size says. */
    enum status status;
    if (type == '0' || type == '\0')
        status = take_file(unpacking, wanted, size, err);
    else
        status = take_data(unpacking, type == '5' ? 0 : size, -1, err);
    free(unpacking->long_name);
    unpacking->long_name = NULL;
    return status;
}

enum status tar_unpack(struct input *input, const char *directory, bool *cut, struct error *err)
{
    struct unpacking unpacking = {.input = input, .directory = directory};
    enum status status;
    while ((status = input_need(input, BLOCK, err)) == STATUS_OK) {
        unsigned char header[BLOCK];
        /* Two such blocks end the archive (POSIX); one is enough to know. */
        static const unsigned char end[BLOCK];
        memcpy(header, input->at, BLOCK);
        if (memcmp(header, end, BLOCK) == 0)
            break;
        if (!checksum_fits(header)) {
            unpacking.cut = true;
            break;
        }
        input_consume(input, BLOCK);
        status = take_entry(&unpacking, header, err);
        if (status != STATUS_OK)
            break;
    }
    unpacking.cut |= status == STATUS_END;
    free(unpacking.long_name);
    *cut = unpacking.cut || input->fault;
    if (status == STATUS_FAILED)
        return status;
    return STATUS_OK;
}
