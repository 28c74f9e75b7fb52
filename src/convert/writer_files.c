/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a writer: one, or several with one name and different suffixes. */
#include "convert/writer.h"

#include "core/memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Standard output, a device or a pipe has no name beside which others could stand. */
static bool is_named_file(const char *path)
{
    struct stat about;
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return false;
    return stat(path, &about) != 0 || S_ISREG(about.st_mode);
}

static size_t without(const char *path, size_t length, const char *suffix)
{
    size_t size = strlen(suffix);
    if (length > size && memcmp(path + length - size, suffix, size) == 0)
        return length - size;
    return length;
}

/* NAME.prv.gz, .pcf -> NAME.pcf. A compressed .prv has its .pcf and .row uncompressed, which is how Paraver wants
   them. */
static char *path_beside(const struct writer_format *format, const char *path, const char *suffix)
{
    size_t length = without(path, without(path, strlen(path), ".gz"), ".zst");
    length = without(path, length, format->suffix);
    size_t size = length + strlen(suffix) + 1;
    char *beside = memory_new(size);
    snprintf(beside, size, "%.*s%s", (int)length, path, suffix);
    return beside;
}

/* Closes what is open. The first fault stands. */
static enum status close_all(struct writer *writer, bool commit, struct error *err)
{
    struct error fault = {0};
    enum status status = STATUS_OK;
    for (size_t i = 0; i <= WRITER_BESIDE_MOST; i++) {
        struct output **output = i == 0 ? &writer->output : &writer->beside[i - 1];
        if (*output && output_close(*output, commit, &fault) != STATUS_OK && status == STATUS_OK) {
            *err = fault;
            status = STATUS_FAILED;
            /* What was not written whole must not be put in place. */
            commit = false;
        }
        *output = NULL;
    }
    return status;
}

/* All outputs are opened before the first event: that one of them exists shows at once, not after an hour. */
enum status writer_open(struct writer *writer, const char *path, bool replace, struct error *err)
{
    const struct writer_format *format = writer->format;
    struct output_options how = {.replace = replace, .patchable = format->patchable};
    writer->path = path;
    writer->replace = replace;
    if (format->directory)
        return STATUS_OK;
    writer->output = output_open(path, how, err);
    if (!writer->output)
        return STATUS_FAILED;
    for (size_t i = 0; i < WRITER_BESIDE_MOST && format->beside[i] && is_named_file(path); i++) {
        char *beside = path_beside(format, path, format->beside[i]);
        writer->beside[i] = output_open(beside, (struct output_options){.replace = replace}, err);
        free(beside);
        if (!writer->beside[i]) {
            struct error ignored = {0};
            (void)close_all(writer, false, &ignored);
            return STATUS_FAILED;
        }
    }
    return STATUS_OK;
}

enum status writer_close(struct writer *writer, bool commit, struct error *err)
{
    /* What cannot be written shows before the first is put in place. */
    for (size_t i = 0; commit && i < WRITER_BESIDE_MOST; i++)
        if (writer->beside[i]) {
            output_flush(writer->beside[i]);
            if (writer->beside[i]->fault.kind != ERROR_NONE) {
                *err = writer->beside[i]->fault;
                struct error ignored = {0};
                (void)close_all(writer, false, &ignored);
                return STATUS_FAILED;
            }
        }
    return close_all(writer, commit, err);
}
