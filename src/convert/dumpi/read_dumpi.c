/* SPDX-License-Identifier: BSD-3-Clause */
/* DUMPI, the traces of sst-dumpi: one file for each process, all arguments of all calls of MPI. Facts: dumpi(5). */
#include "convert/dumpi/dumpi_state.h"

#include "convert/text_lines.h"
#include "core/numbers.h"
#include "core/payload.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    FILES_MOST = 1 << 20,
    META_LINE_MOST = 1 << 12,
    META_LINES_MOST = 1000,
    FIRST_SELF = 1 << 24,
    SORT_MEMORY = 16 << 20,
    ASKING_MOST = 10000 /* calls among which a program asks how many processes there are */
};

static bool has_word(const unsigned char *data, size_t size, const char *word)
{
    return memmem(data, size, word, strlen(word)) != NULL;
}

static int dumpi_probe(const unsigned char *data, size_t size)
{
    if (size >= DUMPI_MAGIC_SIZE && memcmp(data, dumpi_magic, DUMPI_MAGIC_SIZE) == 0)
        return 100;
    /* The metafile is plain text, in any order. */
    if (has_word(data, size, "numprocs=") && has_word(data, size, "fileprefix="))
        return 90;
    return 0;
}

/* Names of the files */

/* Length of NAME in NAME-0012.bin, and the number; 0: it is no such name. */
static size_t bin_name(const char *name, uint64_t *rank)
{
    size_t length = strlen(name), digits;
    if (length < 10 || strcmp(name + length - 4, ".bin") != 0)
        return 0;
    for (digits = length - 4; digits > 0 && isdigit((unsigned char)name[digits - 1]);)
        digits--;
    /* Four digits, more of ranks above 9,999. The rank stands nowhere but in the name. */
    const char *at = name + digits;
    bool fine = length - 4 - digits >= 4 && digits > 1 && name[digits - 1] == '-' &&
                text_take_u64(&at, name + length - 4, rank) && *rank < FILES_MOST;
    if (fine)
        return digits - 1;
    return 0;
}

static char *join(const char *directory, const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", directory, name) < 0)
        return NULL;
    return path;
}

static char *dumpi_find_meta(const char *directory)
{
    DIR *open = opendir(directory);
    char *meta = NULL, *bin = NULL;
    size_t metas = 0;
    uint64_t rank;
    for (struct dirent *entry; open && (entry = readdir(open));) {
        size_t length = strlen(entry->d_name);
        bool is_meta = length > 5 && strcmp(entry->d_name + length - 5, ".meta") == 0;
        metas += is_meta;
        char **found = is_meta ? &meta : &bin;
        if ((!is_meta && bin_name(entry->d_name, &rank) == 0) || *found)
            continue;
        *found = join(directory, entry->d_name);
    }
    if (open)
        closedir(open);
    /* Two metafiles are two runs: which one is meant must be said. */
    char *chosen = NULL;
    if (bin && metas == 1)
        chosen = meta;
    else if (bin && metas == 0)
        chosen = bin;
    if (chosen != meta)
        free(meta);
    if (chosen != bin)
        free(bin);
    return chosen;
}

/* The number of processes and the files' prefix as a .meta gives them. */
static uint64_t read_meta(struct input *input, char **prefix, struct error *err)
{
    struct text_line line;
    uint64_t processes = 0;
    for (size_t i = 0; i < META_LINES_MOST && text_line_next(input, META_LINE_MOST, &line, err) == STATUS_OK; i++) {
        const char *equals = memchr(line.at, '=', (size_t)(line.end - line.at)), *value = equals ? equals + 1 : NULL;
        size_t length = equals ? (size_t)(equals - line.at) : 0;
        if (length == 8 && memcmp(line.at, "numprocs", 8) == 0 && !text_take_u64(&value, line.end, &processes))
            processes = 0;
        if (length == 10 && memcmp(line.at, "fileprefix", 10) == 0 && !*prefix)
            *prefix = strndup(value, (size_t)(line.end - value));
    }
    return processes;
}

/* Notes the files in the directory that begin so. */
static void find_files(struct dumpi_state *state, const char *directory, const char *prefix, size_t *capacity)
{
    DIR *open = opendir(directory);
    uint64_t rank;
    for (struct dirent *entry; open && (entry = readdir(open));) {
        size_t length = bin_name(entry->d_name, &rank);
        if (length == 0 || length != strlen(prefix) || memcmp(entry->d_name, prefix, length) != 0)
            continue;
        size_t before = *capacity;
        ARRAY_RESERVE(state->path, *capacity, rank + 1);
        memset(state->path + before, 0, (*capacity - before) * sizeof *state->path);
        free(state->path[rank]);
        state->path[rank] = join(directory, entry->d_name);
        if (rank >= state->processes)
            state->processes = (uint32_t)rank + 1;
    }
    if (open)
        closedir(open);
}

/* How many processes there are, as MPI_Comm_size said to the program; 0: it did not ask. Of another communicator than
   MPI_COMM_WORLD, such as a copy of it, there may be more. */
static uint64_t size_asked(const char *path)
{
    struct dumpi_call call;
    struct error ignored = {0};
    struct dumpi_file *file = dumpi_file_open(path, &ignored);
    const char *wrong, *name;
    int64_t size = 0;
    bool world = false;
    for (int i = 0; file && i < ASKING_MOST && !world; i++) {
        if (dumpi_file_next(file, &call, &wrong, &ignored) != DUMPI_READ)
            break;
        name = dumpi_function(call.function);
        if (!name || strcmp(name, "MPI_Comm_size") != 0 || !dumpi_has(&call, 'c') || !dumpi_has(&call, 'i'))
            continue;
        world = dumpi_number(&call, 'c') == DUMPI_COMM_WORLD;
        size = larger(size, dumpi_number(&call, 'i'));
    }
    dumpi_file_close(file);
    return (uint64_t)size;
}

/* Files that are missing are reported: there are as many processes as the metafile says or, without one, as
   MPI_Comm_size returned to the program. */
static void add_missing(struct dumpi_state *state, uint64_t declared, size_t *capacity)
{
    uint32_t found = state->processes, first = 0;
    while (first + 1 < found && !state->path[first])
        first++;
    if (declared == 0)
        declared = size_asked(state->path[first]);
    if (declared <= found || declared >= FILES_MOST)
        return;
    ARRAY_RESERVE(state->path, *capacity, declared);
    memset(state->path + found, 0, (*capacity - found) * sizeof *state->path);
    state->processes = (uint32_t)declared;
}

/* Finds the files of all processes, by the path of one of them or of the .meta. */
static enum status find_all(struct reader *reader, struct error *err)
{
    struct dumpi_state *state = reader->state;
    const char *path = reader->input->path, *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, (size_t)(slash - path) + (slash == path)) : strdup(".");
    char *name = strdup(slash ? slash + 1 : path), *prefix = NULL, *beside = NULL;
    size_t capacity = 0, length;
    uint64_t rank, declared = 0;
    bool is_bin = has_word(reader->input->at, DUMPI_MAGIC_SIZE, "DUMPI");
    if ((length = bin_name(name, &rank)) > 0)
        name[length] = '\0';
    else if ((length = strlen(name)) > 5 && strcmp(name + length - 5, ".meta") == 0)
        name[length - 5] = '\0';
    if (!is_bin) {
        declared = read_meta(reader->input, &prefix, err);
    } else if (asprintf(&beside, "%s/%s.meta", directory, name) > 0) {
        struct error ignored;
        struct input *meta = input_open_found(beside, &ignored);
        declared = meta ? read_meta(meta, &prefix, err) : 0;
        input_close(meta);
        free(beside);
    }
    /* By the name that was given first: traces are moved and renamed, and the prefix in the metafile is that of the
       run. */
    find_files(state, directory, name, &capacity);
    if (state->processes == 0 && prefix)
        find_files(state, directory, prefix, &capacity);
    free(directory);
    free(name);
    free(prefix);
    if (state->processes == 0 && !is_bin)
        return error_set(err, ERROR_INPUT, "%s: the .meta file of a DUMPI trace without its .bin files beside it",
                         reader->input->name);
    if (state->processes == 0) { /* a file by another name: of the first process */
        ARRAY_RESERVE(state->path, capacity, 1);
        state->path[0] = strdup(path);
        state->processes = 1;
    }
    add_missing(state, declared, &capacity);
    return STATUS_OK;
}

/* Opens the file of the process at hand; NULL: it cannot be. */
static struct dumpi_file *open_file(struct reader *reader, struct error *err)
{
    struct dumpi_state *state = reader->state;
    /* Standard input: there are no files beside it. */
    if (!state->path) {
        if (input_rewind(reader->input, err) != STATUS_OK)
            return NULL;
        return dumpi_file_borrow(reader->input, err);
    }
    if (state->path[state->process])
        return dumpi_file_open(state->path[state->process], err);
    error_set(err, ERROR_INPUT, "%s: the file of process %" PRIu32 " is missing", reader->input->name, state->process);
    return NULL;
}

/* The first pass */

/* Only those that occur: the format has 300. */
static void define_function(struct reader *reader, uint16_t function)
{
    struct dumpi_state *state = reader->state;
    const char *name = dumpi_function(function);
    if (!name || state->states[function] != EVENT_UNKNOWN)
        return;
    int32_t known = defs_find_state(reader->defs, name);
    if (known == EVENT_UNKNOWN)
        known = (int32_t)defs_add_state(reader->defs, &(struct state_def){.name = (char *)(uintptr_t)name,
                                                                          .id = EVENT_UNKNOWN,
                                                                          .start = EVENT_UNKNOWN,
                                                                          .end = EVENT_UNKNOWN,
                                                                          .paradigm = PARADIGM_MPI});
    state->states[function] = known;
}

static void define_self(struct reader *reader)
{
    struct dumpi_state *state = reader->state;
    if (state->selfs[state->process] != EVENT_UNKNOWN)
        return;
    int32_t comm = defs_comm(reader->defs, FIRST_SELF + (int32_t)state->process);
    reader->defs->comms[comm].self = true;
    defs_set_member(reader->defs, comm, 0, state->process);
    state->selfs[state->process] = comm;
}

static void define_locations(struct reader *reader, const char *host)
{
    struct dumpi_state *state = reader->state;
    if (state->thread_count > reader->defs->threads)
        reader->defs->threads = state->thread_count;
    for (uint32_t i = 0; i < state->thread_count && (host || state->thread_count > 1); i++)
        defs_add_location(reader->defs, &(struct location_def){.process = state->process,
                                                               .thread = i,
                                                               .kind = LOCATION_THREAD,
                                                               .id = state->thread[i],
                                                               .host = (char *)(uintptr_t)host});
}

/* Which communicators there are, and their members, follows only from what all processes did to them: no event of
   the first process could be given without having read the last one's file. */
static enum status scan_file(struct reader *reader, struct error *err)
{
    struct dumpi_state *state = reader->state;
    struct dumpi_call call;
    struct error ignored = {0};
    const char *wrong;
    enum dumpi_step step;
    struct dumpi_file *file = open_file(reader, &ignored);
    state->thread_count = 0;
    if (!file)
        return STATUS_OK; /* damage, noted by the second pass */
    while ((step = dumpi_file_next(file, &call, &wrong, err)) == DUMPI_READ) {
        define_function(reader, call.function);
        dumpi_thread(state, call.thread);
        dumpi_comms_note(&state->comms, state->process, &call);
        if (dumpi_has(&call, 'c') && dumpi_number(&call, 'c') == DUMPI_COMM_SELF)
            define_self(reader);
    }
    state->threads[state->process] = state->thread_count;
    define_locations(reader, file->host);
    if (state->process == 0)
        property_add_date(&reader->defs->properties, (int64_t)file->started_s);
    dumpi_file_close(file);
    if (step == DUMPI_FAILED)
        return STATUS_FAILED;
    return STATUS_OK;
}

static enum status dumpi_open(struct reader *reader, struct error *err)
{
    struct dumpi_state *state = reader->state;
    if (reader->input->path && find_all(reader, err) != STATUS_OK)
        return STATUS_FAILED;
    if (!reader->input->path && memcmp(reader->input->at, dumpi_magic, DUMPI_MAGIC_SIZE) != 0)
        return error_set(err, ERROR_INPUT, "%s: the .meta file of a DUMPI trace: give its path", reader->input->name);
    if (state->processes == 0)
        state->processes = 1;
    reader->defs->processes = state->processes;
    state->threads = memory_new(state->processes * sizeof *state->threads);
    state->selfs = memory_new(state->processes * sizeof *state->selfs);
    state->states = memory_new(dumpi_function_count() * sizeof *state->states);
    for (uint32_t i = 0; i < state->processes; i++)
        state->selfs[i] = EVENT_UNKNOWN;
    for (size_t i = 0; i < dumpi_function_count(); i++)
        state->states[i] = EVENT_UNKNOWN;
    state->comms.processes = state->processes;
    state->comms.process = memory_new(state->processes * sizeof *state->comms.process);
    for (; state->process < state->processes; state->process++)
        if (scan_file(reader, err) != STATUS_OK)
            return STATUS_FAILED;
    state->process = 0;
    dumpi_comms_define(&state->comms, reader->defs);
    state->request_mark =
        defs_add_mark(reader->defs, &(struct mark_def){.name = (char *)(uintptr_t)REQUEST_MARK_NAME,
                                                       .format = (char *)(uintptr_t)PAYLOAD_REQUESTS_FORMAT,
                                                       .id = EVENT_UNKNOWN,
                                                       .defined = true});
    return STATUS_OK;
}

/* The second pass */

/* Opens the file of the process at hand. STATUS_END: it cannot be read, which is damage. */
static enum status begin_process(struct reader *reader)
{
    struct dumpi_state *state = reader->state;
    struct error wrong = {0};
    state->file = open_file(reader, &wrong);
    if (!state->file) {
        if (reader->damage.count++ == 0)
            snprintf(reader->damage.first, sizeof reader->damage.first, "%s", wrong.text);
        state->process++;
        return STATUS_END;
    }
    dumpi_emit_begin(state, &wrong);
    /* A call is recorded when it is left, so that those of several threads overlap in the file. */
    if (state->threads[state->process] > 1)
        state->sorted = sorter_new(SORT_MEMORY);
    return STATUS_OK;
}

static void end_process(struct reader *reader, const char *wrong, uint64_t byte)
{
    struct dumpi_state *state = reader->state;
    const struct dumpi_file *file = state->file;
    const char *name = file->input->name;
    if (wrong)
        damage_note(&reader->damage, name, byte, "%s", wrong);
    else if (!file->indexed && input_can_seek(file->input))
        damage_note(&reader->damage, name, input_size(file->input), "the index at its end cannot be read");
    else if (file->indexed && !file->counted)
        damage_note(&reader->damage, name, file->footer, "its footer cannot be read");
    /* The footer counts calls by function when the process ends: nothing else shows that some were lost. */
    else if (file->counted && file->read != file->calls)
        damage_note(&reader->damage, name, byte, "%" PRIu64 " calls, where its end says %" PRIu64, file->read,
                    file->calls);
    state->ignored += file->ignored;
    reader_count(reader, "call", file->read);
    dumpi_file_close(state->file);
    state->file = NULL;
    sorter_free(state->sorted);
    state->sorted = NULL;
    state->sorting_ended = false;
    state->process++;
}

/* A record stands where its call is left, so that the enters of other threads come earlier in time than what
   precedes them. */
static enum status sort_queue(struct dumpi_state *state, struct error *err)
{
    for (size_t i = 0; i < state->queue_count; i++) {
        struct sort_key key = {.major = sort_key_signed(state->queue[i].time_ns)};
        if (sorter_add(state->sorted, key, &state->queue[i], sizeof *state->queue, err) != STATUS_OK)
            return STATUS_FAILED;
    }
    state->queue_count = 0;
    return STATUS_OK;
}

static enum status sorted_events(struct dumpi_state *state, struct batch *batch, struct error *err)
{
    enum status status = STATUS_OK;
    while (batch->count < BATCH_EVENTS) {
        struct sort_key key;
        const void *data;
        size_t length;
        if ((status = sorter_next(state->sorted, &key, &data, &length, err)) != STATUS_OK)
            break;
        memcpy(&batch->events[batch->count++], data, sizeof *batch->events);
    }
    return status;
}

/* Reads a call of the process at hand, or the end of its file. */
static enum status step_file(struct reader *reader, struct batch *batch, struct error *err)
{
    struct dumpi_state *state = reader->state;
    struct dumpi_call call;
    const char *wrong = NULL;
    if (state->sorting_ended) {
        enum status status = sorted_events(state, batch, err);
        if (status == STATUS_END)
            end_process(reader, NULL, state->file->input->offset);
        if (status == STATUS_FAILED)
            return status;
        return STATUS_OK;
    }
    enum dumpi_step step = dumpi_file_next(state->file, &call, &wrong, err);
    if (step == DUMPI_FAILED)
        return STATUS_FAILED;
    if (step == DUMPI_READ) {
        dumpi_emit(state, reader->defs, &call);
        if (state->sorted)
            return sort_queue(state, err);
        return STATUS_OK;
    }
    if (!state->sorted) {
        end_process(reader, step == DUMPI_DAMAGED ? wrong : NULL, call.byte);
        return STATUS_OK;
    }
    if (step == DUMPI_DAMAGED)
        damage_note(&reader->damage, state->file->input->name, call.byte, "%s", wrong);
    state->sorting_ended = true;
    return sorter_rewind(state->sorted, err);
}

static enum status finish(struct reader *reader)
{
    struct dumpi_state *state = reader->state;
    if (state->ignored > 0)
        reader_count(reader, "call that was not recorded", state->ignored);
    if (state->other > 0)
        reader_count(reader, "call of a function of the program, not read", state->other);
    if (state->comms.unknown > 0)
        reader_count(reader, "communicator whose members are not known", state->comms.unknown);
    reader->complete = reader->damage.count == 0;
    return STATUS_END;
}

static enum status dumpi_next(struct reader *reader, struct batch *batch, struct error *err)
{
    struct dumpi_state *state = reader->state;
    while (batch->count < BATCH_EVENTS) {
        while (state->queue_at < state->queue_count && batch->count < BATCH_EVENTS)
            batch->events[batch->count++] = state->queue[state->queue_at++];
        if (state->queue_at < state->queue_count)
            break;
        state->queue_at = state->queue_count = 0;
        if (!state->file && state->process == state->processes)
            return finish(reader);
        if (!state->file && begin_process(reader) == STATUS_END)
            continue;
        if (step_file(reader, batch, err) != STATUS_OK)
            return STATUS_FAILED;
    }
    return STATUS_OK;
}

static void dumpi_close(struct reader *reader)
{
    struct dumpi_state *state = reader->state;
    for (uint32_t i = 0; i < state->processes && state->path; i++)
        free(state->path[i]);
    free(state->path);
    free(state->threads);
    free(state->selfs);
    free(state->states);
    free(state->type_bytes);
    free(state->request);
    free(state->spare);
    free(state->named);
    free(state->queue);
    map_clear(&state->requests);
    sorter_free(state->sorted);
    dumpi_file_close(state->file);
    dumpi_comms_clear(&state->comms);
}

const struct format format_dumpi = {.name = "dumpi",
                                    .title = "DUMPI",
                                    .suffix = ".meta",
                                    .probe = dumpi_probe,
                                    .two_passes = true,
                                    .state_size = sizeof(struct dumpi_state),
                                    .open = dumpi_open,
                                    .next = dumpi_next,
                                    .close = dumpi_close,
                                    .find_in = dumpi_find_meta};
