/* SPDX-License-Identifier: BSD-3-Clause */
/* Recordings made by hand, of processes that are in a receive for ever, or were in a send: what a directory says that
   was left when all of them had been killed. */
#include "convert/record/launch_note.h"
#include "convert/record/read_record.h"
#include "convert/stream.h"
#include "core/mpi_function.h"
#include "core/record_format.h"
#include "stuck/stuck.h"
#include "unit/hand_recording.h"
#include "unit/tap.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROCESSES = 64, TAG = 7 };
#define TICKS INT64_C(2000000000)
#define SECOND INT64_C(1000000000)

static char directory[] = "/tmp/sight-test.XXXXXX";

/* What the processes did: each calls the function once, with its left neighbour as source, or its right one as
   destination. */
struct scene {
    const char *function;
    bool sends;    /* the entry has a message, and there is no slot */
    bool receives; /* the message of the first is recorded, but not the leave: it was killed in between */
};

static char *path_of(int rank)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/%d" RECORD_SUFFIX, directory, rank);
    return path;
}

static struct record_base base(enum record_kind kind, size_t size, uint16_t state)
{
    return (struct record_base){.kind = (uint8_t)kind, .words = (uint8_t)(size / 8), .state = state, .ticks = TICKS};
}

static uint16_t number_of(const char *function)
{
    for (size_t i = 0; i < mpi_function_count(); i++)
        if (strcmp(mpi_function_at(i)->name, function) == 0)
            return (uint16_t)i;
    abort();
}

/* The definitions: one reading of the clock and MPI_COMM_WORLD. */
static void write_definitions(FILE *file, int rank)
{
    const uint64_t at = RECORD_HEADER_SIZE + RECORD_BLOCK_HEAD;
    struct record_calibration clocks[2];
    for (size_t i = 0; i < 2; i++)
        clocks[i] = (struct record_calibration){.base = base(RECORD_CALIBRATION, sizeof clocks[i], 0),
                                                .next = at + (i + 1) * sizeof clocks[i],
                                                .ticks = TICKS - (int64_t)(1 - i) * SECOND,
                                                .ns = TICKS - (int64_t)(1 - i) * SECOND,
                                                .width = 50};
    struct record_comm world = {.base = base(RECORD_COMM, sizeof world, 0), .key = 1, .size = PROCESSES, .rank = rank};
    fseek(file, (long)at, SEEK_SET);
    fwrite(clocks, sizeof clocks, 1, file);
    fwrite(&world, sizeof world, 1, file);
}

static void write_message(FILE *file, enum record_kind kind, uint16_t state, int partner)
{
    struct record_message message = {.base = base(kind, sizeof message, state), .partner = partner, .tag = TAG};
    fwrite(&message, sizeof message, 1, file);
}

static void write_file(int rank, const struct scene *scene)
{
    uint16_t function = number_of(scene->function);
    struct record_header header = hand_header(rank, PROCESSES);
    header.used[function] = 1;
    FILE *file = fopen(path_of(rank), "wb");
    fwrite(&header, sizeof header, 1, file);
    write_definitions(file, rank);
    struct record_base enter = base(RECORD_ENTER, sizeof enter, function);
    fwrite(&enter, sizeof enter, 1, file);
    struct record_pending slot = {.position = (uint64_t)ftell(file),
                                  .wait = RECORD_WAIT_RECEIVE,
                                  .partner = (rank + PROCESSES - 1) % PROCESSES,
                                  .tag = TAG};
    if (scene->sends)
        write_message(file, RECORD_SEND, function, (rank + 1) % PROCESSES);
    else if (scene->receives && rank == 0)
        write_message(file, RECORD_RECEIVE, function, PROCESSES - 1);
    if (!scene->sends) {
        fseek(file, RECORD_PENDING_AT, SEEK_SET);
        fwrite(&slot, sizeof slot, 1, file);
    }
    fclose(file);
    if (truncate(path_of(rank), RECORD_HEADER_SIZE + RECORD_BLOCK_MIN) != 0)
        abort();
}

/* `alive_ns` as in struct recordings. */
static void expect(const struct scene *scene, int64_t alive_ns, enum stuck_kind kind, const char *name)
{
    struct error err = {0};
    struct recordings recordings;
    char *directories[] = {directory};
    struct reader *reader = NULL;
    for (int rank = 0; rank < PROCESSES; rank++)
        write_file(rank, scene);
    struct stuck_builder *builder = stuck_builder_new();
    struct sink *sink = stuck_builder_sink(builder);
    enum status status = recordings_open(&recordings, directories, 1, &err);
    if (status == STATUS_OK) {
        recordings_note_alive(&recordings);
        if (alive_ns)
            recordings.alive_ns = alive_ns;
        recordings.alive_least &= !alive_ns;
        reader = record_reader_open(&recordings, 0, &err);
        status = reader ? stream_run(reader, &sink, 1, NULL, NULL, &err) : STATUS_FAILED;
    }
    struct stuck *stuck = stuck_builder_end(builder);
    tap_ok(status == STATUS_OK && stuck->kind == kind, "%s: %s", name, stuck->text ? stuck->text : err.text);
    stuck_free(stuck);
    reader_close(reader);
    recordings_close(&recordings);
}

/* As sight does while the program runs. */
static char note_path[64];
static void note_alive(int64_t alive_ns)
{
    struct error err = {0};
    char *command[] = {(char *)(uintptr_t) "mpiexec", (char *)(uintptr_t) "alive=1"};
    snprintf(note_path, sizeof note_path, "%s/" LAUNCH_NOTE_NAME, directory);
    if (launch_note_write(directory, command, 2, &err) != STATUS_OK)
        abort();
    launch_note_alive(directory, SECOND / 2);
    launch_note_alive(directory, alive_ns);
}

int main(void)
{
    if (!mkdtemp(directory))
        return 1;
    const struct scene receives = {.function = "MPI_Recv"}, sends = {.function = "MPI_Send", .sends = true},
                       synchronous = {.function = "MPI_Ssend", .sends = true},
                       returned = {.function = "MPI_Recv", .receives = true};
    expect(&receives, 0, STUCK_CYCLE, "64 in MPI_Recv, killed at a time that is not known");
    expect(&receives, TICKS + SECOND, STUCK_CYCLE, "and a second later");
    expect(&receives, TICKS + SECOND / 100, STUCK_SLOW, "and known to have been killed at once");
    expect(&sends, 0, STUCK_SLOW, "64 in MPI_Send: the messages may have been buffered a moment later");
    expect(&sends, TICKS + SECOND, STUCK_CYCLE, "but not after a second");
    expect(&synchronous, 0, STUCK_CYCLE, "64 in MPI_Ssend");
    expect(&returned, 0, STUCK_SLOW, "one of them has got its message");
    note_alive(TICKS + SECOND);
    expect(&sends, 0, STUCK_CYCLE, "64 in MPI_Send, killed with sight, which has seen them a second later");
    note_alive(TICKS + SECOND / 100);
    expect(&sends, 0, STUCK_SLOW, "and which has seen them last when they had just begun to send");
    note_alive(TICKS - SECOND);
    expect(&receives, 0, STUCK_CYCLE, "64 in MPI_Recv, where they were seen last before");
    /* Of the process with this number on the host of the recording, and of none elsewhere. */
    struct record_header header = hand_header(1, PROCESSES);
    struct launch_death death = {
        .host = header.host + 1, .pid = header.pid, .how = SIGKILL, .at_ns = TICKS + SECOND / 200};
    note_alive(TICKS + SECOND / 100);
    launch_note_death(directory, &death);
    expect(&sends, 0, STUCK_SLOW, "64 in MPI_Send, one of which was killed on another host");
    death.host = header.host;
    launch_note_death(directory, &death);
    expect(&sends, 0, STUCK_ENDED, "on this one");
    for (int rank = 0; rank < PROCESSES; rank++)
        unlink(path_of(rank));
    unlink(note_path);
    rmdir(directory);
    return tap_done();
}
