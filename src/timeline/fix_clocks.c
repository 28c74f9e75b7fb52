/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/fix_clocks.h"

#include "core/directory.h"

#include <string.h>
#include <sys/stat.h>

/* A single input can be rewound, even a pipe, which is kept while it is read; the files of one run are opened again,
   which costs nothing to keep. */
static bool is_one_input(char *const *paths, size_t count)
{
    struct stat about;
    return count == 1 && (strcmp(paths[0], "-") == 0 || (!directory_is(paths[0]) && stat(paths[0], &about) == 0));
}

struct reader *reader_open_twice(char *const *paths, size_t count, struct error *err)
{
    if (!is_one_input(paths, count))
        return reader_open(paths, count, err);
    struct input *input = input_open(paths[0], err);
    if (input && input_keep(input, err) == STATUS_OK)
        return reader_open_input(input, err);
    input_close(input);
    return NULL;
}

struct reader *reader_again(struct reader *reader, char *const *paths, size_t count, struct error *err)
{
    if (is_one_input(paths, count)) {
        if (reader_restart(reader, err) == STATUS_OK)
            return reader;
        reader_close(reader);
        return NULL;
    }
    /* The correction moves to the new reader: closing the old one must not free it. */
    struct correction correction = reader->correction;
    reader->correction = (struct correction){0};
    reader_close(reader);
    reader = reader_open(paths, count, err);
    if (correction.apply && reader)
        correction.rewind(correction.context);
    else if (correction.apply)
        correction.dispose(correction.context);
    if (reader)
        reader->correction = correction;
    return reader;
}

static void correct_batch(void *clocks, struct batch *batch)
{
    clocks_correct(clocks, batch);
}

static void correct_anew(void *clocks)
{
    clocks_rewind(clocks);
}

static void correct_free(void *clocks)
{
    clocks_free(clocks);
}

struct reader *reader_fix_clocks(struct reader *reader, char *const *paths, size_t count, stream_watch *watch,
                                 void *watch_context, struct error *err)
{
    /* Clocks are known only after all messages: one pass to compute them, and the caller's passes to apply them. */
    struct causality_builder *builder = causality_builder_new();
    struct sink *sinks[] = {causality_builder_sink(builder)};
    enum status status = stream_run(reader, sinks, 1, watch, watch_context, err);
    struct causality *causality = causality_builder_end(builder);
    if (status == STATUS_OK && causality->too_large)
        status = error_set(err, ERROR_INPUT, "%s: too large for --fix-clocks (more than 2^30 messages or collectives)",
                           reader->input->name);
    if (status != STATUS_OK) {
        causality_free(causality);
        reader_close(reader);
        return NULL;
    }
    reader->correction = (struct correction){correct_batch, correct_anew, correct_free, clocks_of(causality)};
    return reader_again(reader, paths, count, err);
}

const struct clocks *reader_clocks(const struct reader *reader)
{
    return reader->correction.context;
}
