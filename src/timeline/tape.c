/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/tape.h"

#include "core/input.h"
#include "core/memory.h"
#include "core/numbers.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 1 << 16 };

static enum status fault(struct error *err, const char *what)
{
    return error_set_errno(err, ERROR_OUTPUT, "cannot %s a temporary file in %s", what, temporary_directory());
}

/* What is in the buffer goes to the file. */
static void write_out(struct tape *tape)
{
    if (tape->file == 0) {
        int file = temporary_file(&tape->fault);
        if (file < 0)
            return;
        tape->file = file;
    }
    for (size_t done = 0; done < tape->used;) {
        ssize_t wrote = pwrite(tape->file, tape->buffer + done, tape->used - done, (off_t)tape->written);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0) {
            (void)fault(&tape->fault, "write");
            return;
        }
        done += (size_t)wrote;
        tape->written += (uint64_t)wrote;
    }
    tape->used = 0;
}

void tape_add(struct tape *tape, const void *data, size_t size)
{
    const unsigned char *from = data;
    if (!tape->buffer)
        tape->buffer = memory_resize(NULL, BUFFER);
    tape->size += size;
    while (size > 0 && tape->fault.kind == ERROR_NONE) {
        size_t some = smaller(size, BUFFER - tape->used);
        memcpy(tape->buffer + tape->used, from, some);
        tape->used += some;
        from += some;
        size -= some;
        if (tape->used == BUFFER)
            write_out(tape);
    }
}

enum status tape_check(const struct tape *tape, struct error *err)
{
    if (tape->fault.kind == ERROR_NONE)
        return STATUS_OK;
    *err = tape->fault;
    return STATUS_FAILED;
}

/* The end of the data is still in the buffer: what is in the file comes first. */
enum status tape_read(struct tape *tape, void *data, size_t size, size_t *got, struct error *err)
{
    unsigned char *to = data;
    *got = 0;
    if (tape_check(tape, err) != STATUS_OK)
        return STATUS_FAILED;
    while (*got < size && tape->read < tape->written) {
        size_t some = (size_t)smaller((uint64_t)(size - *got), tape->written - tape->read);
        ssize_t now = pread(tape->file, to + *got, some, (off_t)tape->read);
        if (now < 0 && errno == EINTR)
            continue;
        /* An end of file here is a fault: its length is known, and nobody else has the file. */
        if (now <= 0) {
            errno = now < 0 ? errno : EIO;
            return fault(err, "read");
        }
        *got += (size_t)now;
        tape->read += (uint64_t)now;
    }
    size_t rest = smaller(size - *got, tape->used - tape->at);
    if (rest > 0)
        memcpy(to + *got, tape->buffer + tape->at, rest);
    tape->at += rest;
    *got += rest;
    return STATUS_OK;
}

enum status tape_append(struct tape *tape, struct tape *other, struct error *err)
{
    unsigned char *piece = memory_resize(NULL, BUFFER);
    enum status status;
    size_t got;
    while ((status = tape_read(other, piece, BUFFER, &got, err)) == STATUS_OK && got > 0)
        tape_add(tape, piece, got);
    free(piece);
    tape_clear(other);
    return status;
}

void tape_clear(struct tape *tape)
{
    free(tape->buffer);
    if (tape->file > 0)
        close(tape->file);
    *tape = (struct tape){0};
}
