/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/recordings.h"

#include "convert/record/recording_links.h"
#include "core/directory.h"
#include "core/map.h"
#include "core/memory.h"
#include "core/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool has_suffix(const char *name, const char *suffix)
{
    size_t length = strlen(name), tail = strlen(suffix);
    /* A name that is only the suffix belongs to no process. */
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

bool recordings_name(const char *name)
{
    return has_suffix(name, RECORD_SUFFIX) || has_suffix(name, RECORD_REQUESTS_SUFFIX) ||
           strstr(name, RECORD_SUFFIX RECORD_FAILED_SUFFIX) || strcmp(name, LAUNCH_NOTE_NAME) == 0;
}

bool recordings_in_pieces(const void *head, size_t size)
{
    struct record_header header;
    if (size < sizeof header)
        return false;
    memcpy(&header, head, sizeof header);
    /* A sample is read as a whole. */
    return memcmp(header.magic, RECORD_MAGIC, sizeof header.magic) == 0 && !header.kept;
}

/* When the process began: its first definition has the clock at that time. */
static int64_t first_time(const struct record_file *file)
{
    struct record_calibration first;
    uint64_t offset = 0;
    bool found = record_file_definition(file, &offset, &first, sizeof first) && first.base.kind == RECORD_CALIBRATION;
    if (found)
        return first.ns;
    return INT64_MAX;
}

/* A file without magic is passed over: its process was killed before it recorded anything. */
static enum status add_file(struct recordings *recordings, char *path, struct error *err)
{
    struct record_file file = {0};
    enum status status = record_file_open(&file, path, err);
    if (status != STATUS_OK) {
        record_file_close(&file);
        if (status == STATUS_END)
            return STATUS_OK;
        return status;
    }
    file.begin_ns = first_time(&file);
    ARRAY_PUSH(recordings->files, recordings->file_count, recordings->file_capacity, file);
    return STATUS_OK;
}

/* The name of an empty file says why the process could not record. */
static void note_failed(struct recordings *recordings, const char *name)
{
    const char *suffix = strstr(name, RECORD_SUFFIX RECORD_FAILED_SUFFIX);
    int64_t reason;
    if (!suffix || !text_parse_i64(suffix + strlen(RECORD_SUFFIX RECORD_FAILED_SUFFIX), 1, 4095, &reason))
        return;
    recordings->failed++;
    recordings->failed_reason = (int)reason;
}

/* The notes of two commands are about two runs, and which files belong to which is not known: none is used. */
static void read_note(struct recordings *recordings, const char *directory)
{
    struct launch_note note = {0};
    launch_note_read(&note, directory);
    if (!note.command && !note.has_zone)
        return;
    if (recordings->noted++ == 0) {
        recordings->note = note;
        return;
    }
    launch_note_clear(&note);
    launch_note_clear(&recordings->note);
}

/* Any order: they are sorted by what their headers say. */
static enum status list_files(struct recordings *recordings, const char *directory, struct error *err)
{
    size_t count;
    char **names = directory_names(directory, &count);
    if (!names)
        return error_set_errno(err, ERROR_INPUT, "%s: cannot open", directory);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        char *path;
        note_failed(recordings, names[i]);
        if (has_suffix(names[i], RECORD_SUFFIX) && asprintf(&path, "%s/%s", directory, names[i]) >= 0)
            status = add_file(recordings, path, err);
    }
    directory_names_free(names, count);
    read_note(recordings, directory);
    return status;
}

/* By process: a program that ran earlier in the same directory first. */
static int compare_by_rank(const void *a, const void *b)
{
    const struct record_file *left = a, *right = b;
    if (left->header.rank != right->header.rank)
        return left->header.rank < right->header.rank ? -1 : 1;
    /* Two processes of one rank: two runs in one directory. */
    if (left->header.pid != right->header.pid || left->header.host != right->header.host) {
        if (left->begin_ns != right->begin_ns)
            return left->begin_ns < right->begin_ns ? -1 : 1;
        if (left->header.pid != right->header.pid)
            return left->header.pid < right->header.pid ? -1 : 1;
        if (left->header.host < right->header.host)
            return -1;
        return 1;
    }
    if (left->program_ticks != right->program_ticks)
        return left->program_ticks < right->program_ticks ? -1 : 1;
    if (left->header.thread != right->header.thread)
        return left->header.thread < right->header.thread ? -1 : 1;
    if (left->begin_ns < right->begin_ns)
        return -1;
    return left->begin_ns > right->begin_ns;
}

static bool same_pid(const struct record_file *left, const struct record_file *right)
{
    return left->header.rank == right->header.rank && left->header.pid == right->header.pid &&
           left->header.host == right->header.host;
}

/* Files by process, which after exec has several programs, each with a first thread: their other threads are of the one
   that began last before them. */
static void sort_by_rank(struct recordings *recordings)
{
    struct record_file *files = recordings->files;
    qsort(files, recordings->file_count, sizeof *files, compare_by_rank);
    for (size_t begin = 0, end; begin < recordings->file_count; begin = end) {
        size_t firsts = begin;
        for (end = begin + 1; end < recordings->file_count && same_pid(&files[begin], &files[end]); end++)
            ;
        while (firsts < end && files[firsts].header.thread == 0) {
            files[firsts].program_ticks = files[firsts].header.began_ticks;
            firsts++;
        }
        for (size_t i = firsts; i < end; i++) {
            size_t program = firsts > begin ? firsts - 1 : begin;
            while (program > begin && files[program].header.began_ticks > files[i].header.began_ticks)
                program--;
            files[i].program_ticks = files[program].header.began_ticks;
        }
    }
    qsort(files, recordings->file_count, sizeof *files, compare_by_rank);
}

static uint64_t key_of(uint64_t number, int32_t size, uint16_t spawned, uint32_t third)
{
    uint64_t key = map_hash(number + UINT64_C(0x632BE59BD9B4E019));
    key = map_hash(key ^ map_pair((uint32_t)size, spawned));
    return map_hash(key ^ third) >> 1;
}

/* The program of a process, as the `repeated`-th of its kind. */
static size_t program_of(struct recordings *recordings, struct map *known, const struct record_file *file,
                         uint32_t repeated)
{
    const struct record_header *header = &file->header;
    uint64_t key = key_of(header->world, header->size, header->spawned, repeated);
    uint64_t *index = map_put(known, key, recordings->program_count);
    if (*index == recordings->program_count)
        ARRAY_PUSH(recordings->programs, recordings->program_count, recordings->program_capacity,
                   (struct recording_program){.number = header->world,
                                              .size = header->size,
                                              .spawned = header->spawned,
                                              .repeated = repeated,
                                              .begin_ns = INT64_MAX,
                                              .base = SIZE_MAX});
    return (size_t)*index;
}

/* Files are in the order of ranks: the number of earlier processes with the same rank and program number identifies the
   program. */
static void find_programs(struct recordings *recordings)
{
    struct map known = {0}, of_rank = {0};
    for (size_t i = 0; i < recordings->file_count; i++) {
        struct record_file *file = &recordings->files[i];
        const struct record_header *header = &file->header;
        if (i > 0 && record_file_same_process(&file[-1], file)) {
            file->program = file[-1].program;
        } else {
            /* Files are by rank: with another rank the counting begins anew. */
            if (i > 0 && file[-1].header.rank != header->rank)
                map_clear(&of_rank);
            uint64_t *before = map_put(&of_rank, key_of(header->world, header->size, header->spawned, 0), 0);
            file->program = program_of(recordings, &known, file, (uint32_t)(*before)++);
        }
        struct recording_program *program = &recordings->programs[file->program];
        /* A program begins with the first of its processes. */
        if (file->begin_ns < program->begin_ns)
            program->begin_ns = file->begin_ns;
        /* The host of rank 0 names the program where several are in one trace. */
        if (header->rank == 0)
            program->host = header->host;
    }
    map_clear(&known);
    map_clear(&of_rank);
}

/* Orders programs: joined ones come after the one that the first of them is joined to. */
struct place {
    int64_t begin_ns, own_begin_ns; /* of the trace's first program, of this one */
    size_t root, depth, program;
};

/* Ties by number, so that the result is the same on every machine. */
static int compare_places(const void *a, const void *b)
{
    const struct place *left = a, *right = b;
    if (left->begin_ns != right->begin_ns)
        return left->begin_ns < right->begin_ns ? -1 : 1;
    if (left->root != right->root)
        return left->root < right->root ? -1 : 1;
    if (left->depth != right->depth)
        return left->depth < right->depth ? -1 : 1;
    if (left->own_begin_ns != right->own_begin_ns)
        return left->own_begin_ns < right->own_begin_ns ? -1 : 1;
    if (left->program < right->program)
        return -1;
    return 1;
}

static struct place place_of(const struct recordings *recordings, size_t program)
{
    struct place place = {.own_begin_ns = recordings->programs[program].begin_ns, .root = program, .program = program};
    /* Up to the program that was started first; links have no circle. */
    for (; recordings->programs[place.root].base != SIZE_MAX; place.depth++)
        place.root = recordings->programs[place.root].base;
    place.begin_ns = recordings->programs[place.root].begin_ns;
    return place;
}

/* Programs that are joined are one trace, others one each; traces are in the order in which they began. */
static void find_traces(struct recordings *recordings)
{
    size_t count = recordings->program_count;
    struct place *places = memory_new(count * sizeof *places);
    /* One more: the end of the last trace's files. */
    recordings->traces = memory_new((count + 1) * sizeof *recordings->traces);
    for (size_t i = 0; i < count; i++)
        places[i] = place_of(recordings, i);
    qsort(places, count, sizeof *places, compare_places);
    for (size_t i = 0; i < count; i++) {
        struct recording_program *program = &recordings->programs[places[i].program];
        if (i == 0 || places[i].root != places[i - 1].root)
            recordings->trace_count++;
        struct recording_trace *trace = &recordings->traces[recordings->trace_count - 1];
        program->trace = recordings->trace_count - 1;
        program->first_process = trace->processes;
        trace->processes += (uint32_t)program->size;
        trace->program_count++;
    }
    free(places);
}

static int compare_by_trace(const void *a, const void *b)
{
    const struct record_file *left = a, *right = b;
    if (left->trace != right->trace)
        return left->trace < right->trace ? -1 : 1;
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    if (left->header.thread < right->header.thread)
        return -1;
    return left->header.thread > right->header.thread;
}

static void sort_by_trace(struct recordings *recordings)
{
    for (size_t i = 0; i < recordings->file_count; i++) {
        struct record_file *file = &recordings->files[i];
        const struct recording_program *program = &recordings->programs[file->program];
        file->trace = program->trace;
        file->process = program->first_process + (uint32_t)file->header.rank;
    }
    qsort(recordings->files, recordings->file_count, sizeof *recordings->files, compare_by_trace);
    /* Backwards, so that the first file of each trace is what remains. */
    for (size_t i = recordings->file_count; i > 0; i--)
        recordings->traces[recordings->files[i - 1].trace].first_file = i - 1;
    recordings->traces[recordings->trace_count].first_file = recordings->file_count;
}

/* True if all processes of the file's trace were on this host, and no death was left out for lack of room. */
static bool all_are_known(const struct recordings *recordings, const struct record_file *file)
{
    bool known = recordings->note.death_count < LAUNCH_DEATHS_MAX;
    for (size_t i = 0; i < recordings->file_count && known; i++)
        known = recordings->files[i].trace != file->trace || recordings->files[i].header.host == file->header.host;
    return known;
}

/* What the launch note tells of processes. A number may have been used before, by a process that ended. That one has
   exited says nothing if all others may have done the same. */
static void find_deaths(struct recordings *recordings)
{
    const struct launch_note *note = &recordings->note;
    for (size_t i = 0; i < recordings->file_count && note->death_count > 0; i++) {
        struct record_file *file = &recordings->files[i];
        for (size_t k = 0; k < note->death_count && file->header.end == RECORD_RUNNING; k++) {
            const struct launch_death *death = &note->deaths[k];
            if (death->host != file->header.host || death->pid != file->header.pid || death->at_ns < file->begin_ns ||
                death->at_ns > RECORD_TIME_MAX || (death->how <= 0 && !all_are_known(recordings, file)))
                continue;
            file->died_ns = death->at_ns;
            file->died_how = death->how;
        }
    }
}

enum status recordings_open(struct recordings *recordings, char *const *directories, size_t count, struct error *err)
{
    *recordings = (struct recordings){0};
    for (size_t i = 0; i < count; i++)
        if (list_files(recordings, directories[i], err) != STATUS_OK)
            return STATUS_FAILED;
    if (recordings->file_count == 0 && recordings->failed > 0) {
        /* The recorder of that process put it into the file's name, having no other way. */
        errno = recordings->failed_reason;
        return error_set_errno(err, ERROR_OUTPUT, "%s: nothing could be recorded", directories[0]);
    }
    if (recordings->file_count == 0)
        return error_set(err, ERROR_INPUT, "%s: contains no recording", directories[0]);
    sort_by_rank(recordings);
    find_programs(recordings);
    recording_links_find(recordings);
    find_traces(recordings);
    sort_by_trace(recordings);
    find_deaths(recordings);
    return STATUS_OK;
}

void recordings_close(struct recordings *recordings)
{
    for (size_t i = 0; i < recordings->file_count; i++)
        record_file_close(&recordings->files[i]);
    free(recordings->files);
    free(recordings->programs);
    free(recordings->links);
    map_clear(&recordings->link_of);
    free(recordings->traces);
    launch_note_clear(&recordings->note);
}

void recordings_freeze(struct recordings *recordings)
{
    for (size_t i = 0; i < recordings->file_count; i++)
        /* Only what still grows needs an end that stays. */
        if (recordings->files[i].header.end == RECORD_RUNNING)
            record_file_freeze(&recordings->files[i]);
}
