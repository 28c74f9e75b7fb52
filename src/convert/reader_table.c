/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of formats, and opening a trace: the format is chosen by content. */
#include "convert/reader.h"

#include "convert/clog2/clog2_parts.h"
#include "convert/foreign.h"
#include "convert/record/read_record.h"
#include "core/directory.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define READER(x) extern const struct format format_##x;
#include "convert/formats.def"

static const struct format *const formats[] = {
#define READER(x) &format_##x,
#include "convert/formats.def"
};

size_t format_count(void)
{
    return sizeof formats / sizeof *formats;
}

const struct format *format_at(size_t index)
{
    return formats[index];
}

bool format_is_read(const char *name)
{
    for (size_t i = 0; i < format_count(); i++)
        if (strcmp(format_at(i)->name, name) == 0)
            return true;
    return false;
}

char *format_titles(char buffer[FORMAT_TITLES_SIZE], const char *last)
{
    buffer[0] = '\0';
    for (size_t i = 0; i < format_count(); i++) {
        if (i > 0 && i + 1 == format_count())
            text_append(buffer, FORMAT_TITLES_SIZE, " %s ", last);
        else if (i > 0)
            text_append(buffer, FORMAT_TITLES_SIZE, ", ");
        text_append(buffer, FORMAT_TITLES_SIZE, "%s", formats[i]->title);
    }
    return buffer;
}

/* Scores, not an order: a format without a magic must not win over one that is sure. */
static const struct format *format_choose(const unsigned char *data, size_t size)
{
    const struct format *best = NULL;
    int best_score = 0;
    for (size_t i = 0; i < format_count(); i++) {
        int score = formats[i]->probe(data, size);
        if (score > best_score) {
            best_score = score;
            best = formats[i];
        }
    }
    return best;
}

/* The first bytes of a file in readable form, for the message that it is not a trace. */
static void quote_first_bytes(char *at, size_t room, const unsigned char *data, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < size && i < 8 && used + 5 < room; i++)
        used +=
            (size_t)snprintf(at + used, room - used, isprint(data[i]) && data[i] != '"' ? "%c" : "\\x%02x", data[i]);
}

/* Whoever has a trace of another tool should learn what it is and how to convert it. */
static enum status not_a_trace(const struct input *input, struct error *err)
{
    if (input_available(input) == 0 && input->fault)
        return error_set(err, ERROR_INPUT, "%s: not a trace: the file is empty, %s", input->name, input->fault);
    if (input_available(input) == 0)
        return error_set(err, ERROR_INPUT, "%s: not a trace: the file is empty", input->name);
    size_t size = smaller(input_available(input), PROBE_SIZE);
    const struct foreign *foreign = foreign_find(input->at, size, input->path ? input->path : "");
    if (foreign)
        return error_set(err, ERROR_INPUT, "%s: %s, which is not read: %s", input->name, foreign->title,
                         foreign->advice);
    char first[64] = "";
    quote_first_bytes(first, sizeof first, input->at, input_available(input));
    char titles[FORMAT_TITLES_SIZE];
    return error_set(err, ERROR_INPUT, "%s: not a trace: neither %s (first bytes \"%s\")", input->name,
                     format_titles(titles, "nor"), first);
}

static enum status reader_start(struct reader *reader, struct error *err)
{
    struct input *input = reader->input;
    /* Fewer bytes are no fault: a whole trace may be that short. */
    enum status status = input_need(input, PROBE_SIZE, err);
    if (status == STATUS_FAILED)
        return status;
    size_t size = smaller(input_available(input), PROBE_SIZE);
    if (!reader->format)
        reader->format = format_choose(input->at, size);
    if (!reader->format)
        return not_a_trace(input, err);
    /* A pipe or a compressed file is kept in an unlinked file while it is read for the first time. */
    if (reader->format->two_passes && input_keep(input, err) != STATUS_OK)
        return STATUS_FAILED;
    reader->state = memory_new(reader->format->state_size);
    return reader->format->open(reader, err);
}

struct reader *reader_open_input(struct input *input, struct error *err)
{
    return reader_open_format(input, NULL, err);
}

struct reader *reader_open_format(struct input *input, const struct format *format, struct error *err)
{
    struct reader *reader = memory_new(sizeof *reader);
    reader->input = input;
    reader->format = format;
    reader->defs = defs_new();
    if (reader_start(reader, err) == STATUS_OK)
        return reader;
    reader_close(reader);
    return NULL;
}

/* The file that represents the trace in a directory. NULL: not a trace of a format with directories. `format` is set
   where the content of the file does not say it. */
static char *find_in(const char *directory, const struct format **format)
{
    char *found = NULL;
    if (!directory_is(directory))
        return NULL;
    for (size_t i = 0; i < format_count() && !found; i++)
        if (formats[i]->find_in)
            found = formats[i]->find_in(directory);
    if (!found && (found = format_record.find_in(directory)))
        *format = &format_record;
    return found;
}

bool reader_is_part(const char *directory, const char *name)
{
    char *path;
    if (recordings_name(name))
        return true;
    if (asprintf(&path, "%s/%s", directory, name) < 0)
        memory_failed();
    bool is = clog2_is_part(path);
    free(path);
    return is;
}

bool reader_is_archive(const char *directory)
{
    char *found = NULL;
    size_t at = 0;
    for (; at < format_count() && !found && directory_is(directory); at++)
        if (formats[at]->find_in)
            found = formats[at]->find_in(directory);
    free(found);
    return found && !formats[at - 1]->scatters;
}

/* A directory may be a trace (OTF2, DUMPI, an unmerged recording), or hold the local files of one (CLOG-2): asked in
   this order. */
struct reader *reader_open(char *const *paths, size_t count, struct error *err)
{
    struct path_list list = {0};
    const struct format *format = NULL;
    char *found = count == 1 ? find_in(paths[0], &format) : NULL;
    if (found) {
        struct input *input = input_open_found(found, err);
        free(found);
        if (input)
            return reader_open_format(input, format, err);
        return NULL;
    }
    if (clog2_parts_list(&list, paths, count, err) != STATUS_OK) {
        path_list_clear(&list);
        return NULL;
    }
    struct reader *reader = NULL;
    if (list.parts) {
        reader = clog2_parts_open(&list, err);
    } else {
        struct input *input = input_open(list.paths[0], err);
        reader = input ? reader_open_input(input, err) : NULL;
    }
    path_list_clear(&list);
    return reader;
}

/* Some callers need a trace twice: the second time with its clocks corrected. */
enum status reader_restart(struct reader *reader, struct error *err)
{
    reader_clear(reader);
    /* Definitions, damage and counts are made anew; the clock's correction is why the trace is read again. */
    *reader = (struct reader){
        .format = reader->format, .input = reader->input, .defs = defs_new(), .correction = reader->correction};
    if (reader->correction.apply)
        reader->correction.rewind(reader->correction.context);
    if (input_rewind(reader->input, err) != STATUS_OK)
        return STATUS_FAILED;
    return reader_start(reader, err);
}
