/* SPDX-License-Identifier: BSD-3-Clause */
/* generate FORMAT PATTERN PROCESSES RECORDS OUT [TRUTH]: writes a trace of about RECORDS records whose every number is
   known.

   FORMAT is clog2 or clog; PATTERN is pingpong (pairs), ring (each to the next), states (nested user states), wrong
   (a ring whose clocks are: each has an offset and a drift of its own, and every other one wobbles by 5 us), allreduce
   (nothing but MPI_Allreduce), halo (each exchanges with both neighbours, and then an MPI_Allreduce), or requests (the
   same, and each call records its requests, as sight record does; CLOG-2 only). TRUTH
   gets the numbers, added up here and not by any reader: per process begin, end, time in MPI, calls and time per state,
   messages and bytes per partner, as JSON with whole ns. The same arguments give the same file. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 65536, PREAMBLE = 1024, HEADER = 24, STATES = 8, ALWAYS = 4, SEND = -101, RECEIVE = -102 };
enum state {
    STATE_SEND,
    STATE_RECV,
    STATE_OUTER,
    STATE_INNER, /* those up to here are defined always, the others where they occur */
    STATE_ALLREDUCE,
    STATE_ISEND,
    STATE_IRECV,
    STATE_WAITALL
};

struct totals {
    uint64_t count;
    int64_t time_ns, entered_ns;
};
struct process {
    int64_t begin_ns, end_ns, mpi_ns;
    uint64_t events;
    struct totals states[STATES];
    int32_t to[2], from[2];              /* at most two partners each way */
    uint64_t sent[2][2], received[2][2]; /* messages, bytes */
    unsigned partners[2];
};

struct generator {
    FILE *out;
    bool clog2, wrong, has_requests;
    unsigned char block[BLOCK];
    size_t used;
    uint64_t blocks, records;
    int64_t now_ns;
    uint64_t random;
    struct process *processes;
    bool occurred[STATES];
};

/* Built-in ids of MPE-2 and MPE-1. */
static const int32_t clog2_starts[STATES] = {160, 154, 600, 602, 4, 144, 140, 212},
                     clog_starts[STATES] = {161, 155, 501, 503, 505, 507, 509, 511};
static const char *const clog2_names[STATES] = {"MPI_Send",      "MPI_Recv",  "Outer",     "Inner",
                                                "MPI_Allreduce", "MPI_Isend", "MPI_Irecv", "MPI_Waitall"};
static const char *const clog_names[STATES] = {"SEND",      "RECV",  "Outer", "Inner",
                                               "ALLREDUCE", "ISEND", "IRECV", "WAITALL"};

static void put_i32(unsigned char *at, int32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)((uint32_t)value >> (24 - 8 * i));
}

static void put_f64(unsigned char *at, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++)
        at[i] = (unsigned char)(bits >> (56 - 8 * i));
}

/* A gap as real programs have them: 50 ns to 4 us. */
static int64_t gap_ns(struct generator *generator)
{
    uint64_t x = generator->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    generator->random = x;
    return 50 + (int64_t)(x % 4000);
}

/* The time that the rank's clock shows. */
static double seconds_of(const struct generator *generator, int32_t rank)
{
    double seconds = (double)generator->now_ns / 1e9;
    if (!generator->wrong)
        return seconds;
    double wobble = rank % 2 ? 1e-5 * fabs(seconds - floor(seconds) - 0.5) : 0;
    return seconds + rank * (50e-6 + 1e-6 * seconds) + wobble;
}

static void header(struct generator *generator, unsigned char *at, int32_t rank, int32_t kind, size_t size)
{
    put_f64(at, seconds_of(generator, rank));
    if (generator->clog2) {
        put_i32(at + 12, rank);
        put_i32(at + 20, kind);
    } else {
        put_i32(at + 8, kind);
        put_i32(at + 12, (int32_t)(size / 8));
        put_i32(at + 16, rank);
    }
}

static void block_write(struct generator *generator)
{
    fwrite(generator->block, BLOCK, 1, generator->out);
    memset(generator->block, 0, BLOCK);
    generator->used = 0;
    generator->blocks++;
}

/* Room for a record of `payload` bytes after its header, which is filled; returns where the payload goes. */
static unsigned char *record(struct generator *generator, int32_t rank, int32_t kind, size_t payload)
{
    size_t size = HEADER + payload, reserve = generator->clog2 ? HEADER : 160;
    if (generator->used + size + reserve >= BLOCK) {
        header(generator, generator->block + generator->used, 0, generator->clog2 ? 1 : -1, HEADER);
        block_write(generator);
    }
    unsigned char *at = generator->block + generator->used;
    header(generator, at, rank, kind, size);
    generator->used += size;
    generator->records++;
    return at + HEADER;
}

static void event_record(struct generator *generator, uint32_t rank, int32_t id, int32_t data, const char *text)
{
    bool clog2 = generator->clog2;
    unsigned char *body = record(generator, (int32_t)rank, clog2 ? 5 : 1, clog2 ? 8 : 32);
    put_i32(body, id);
    if (!clog2) {
        put_i32(body + 4, data);
        snprintf((char *)body + 16, 16, "%s", text);
    }
}

static struct process *step(struct generator *generator, uint32_t rank)
{
    struct process *process = &generator->processes[rank];
    generator->now_ns += gap_ns(generator);
    if (process->events++ == 0)
        process->begin_ns = generator->now_ns;
    process->end_ns = generator->now_ns;
    return process;
}

static void enter(struct generator *generator, uint32_t rank, enum state state)
{
    struct process *process = step(generator, rank);
    process->states[state].entered_ns = generator->now_ns;
    generator->occurred[state] = true;
    event_record(generator, rank, (generator->clog2 ? clog2_starts : clog_starts)[state],
                 (int32_t)(process->states[state].count * 2 + 1), "");
}

/* A leave with requests: `count` from the first on. */
static void request_record(struct generator *generator, uint32_t rank, int32_t id, int32_t first, int32_t count)
{
    unsigned char *body = record(generator, (int32_t)rank, 6, 40);
    put_i32(body, id);
    put_i32(body + 8, first);
    put_i32(body + 12, count);
}

/* `count` requests from `first` on belong to the call, if they are recorded. */
static void leave_with(struct generator *generator, uint32_t rank, enum state state, int32_t first, int32_t count)
{
    struct process *process = step(generator, rank);
    struct totals *totals = &process->states[state];
    int64_t time_ns = generator->now_ns - totals->entered_ns;
    totals->count++;
    totals->time_ns += time_ns;
    if (state <= STATE_RECV || state >= STATE_ALLREDUCE)
        process->mpi_ns += time_ns;
    if (generator->has_requests && count > 0)
        request_record(generator, rank, clog2_starts[state] + 1, first, count);
    else
        event_record(generator, rank, (generator->clog2 ? clog2_starts : clog_starts)[state] + 1,
                     (int32_t)(totals->count * 2), "");
}

static void leave(struct generator *generator, uint32_t rank, enum state state)
{
    leave_with(generator, rank, state, 0, 0);
}

static void count_message(int32_t *partners, unsigned *count, uint64_t sums[2][2], uint32_t partner, uint32_t bytes)
{
    unsigned at = 0;
    while (at < *count && partners[at] != (int32_t)partner)
        at++;
    if (at == *count)
        partners[(*count)++] = (int32_t)partner;
    sums[at][0]++;
    sums[at][1] += bytes;
}

static void message(struct generator *generator, uint32_t rank, int32_t kind, uint32_t partner, int32_t tag,
                    uint32_t bytes)
{
    struct process *process = step(generator, rank);
    if (kind == SEND)
        count_message(process->to, &process->partners[0], process->sent, partner, bytes);
    else
        count_message(process->from, &process->partners[1], process->received, partner, bytes);
    if (!generator->clog2) {
        char text[32];
        snprintf(text, sizeof text, "%d %u", (int)tag, bytes);
        event_record(generator, rank, kind, (int32_t)partner, text);
        return;
    }
    unsigned char *body = record(generator, (int32_t)rank, 7, 24);
    put_i32(body, kind);
    put_i32(body + 8, (int32_t)partner);
    put_i32(body + 12, tag);
    put_i32(body + 16, (int32_t)bytes);
}

/* A message and its answer, 12 records, as MPE logs them. */
static void exchange(struct generator *generator, uint32_t a, uint32_t b, uint32_t bytes)
{
    enter(generator, a, STATE_SEND);
    message(generator, a, SEND, b, 1, bytes);
    enter(generator, b, STATE_RECV);
    leave(generator, a, STATE_SEND);
    enter(generator, a, STATE_RECV);
    message(generator, b, RECEIVE, a, 1, bytes);
    leave(generator, b, STATE_RECV);
    enter(generator, b, STATE_SEND);
    message(generator, b, SEND, a, 2, 8);
    message(generator, a, RECEIVE, b, 2, 8);
    leave(generator, a, STATE_RECV);
    leave(generator, b, STATE_SEND);
}

static void nested(struct generator *generator, uint32_t rank)
{
    enter(generator, rank, STATE_OUTER);
    enter(generator, rank, STATE_INNER);
    leave(generator, rank, STATE_INNER);
    enter(generator, rank, STATE_INNER);
    leave(generator, rank, STATE_INNER);
    leave(generator, rank, STATE_OUTER);
}

/* All enter, each time another first, then all leave. */
static void allreduce(struct generator *generator, uint32_t processes, uint64_t round)
{
    for (uint32_t i = 0; i < processes; i++)
        enter(generator, (uint32_t)((i + round * 7) % processes), STATE_ALLREDUCE);
    for (uint32_t i = 0; i < processes; i++)
        leave(generator, i, STATE_ALLREDUCE);
}

/* Everyone's messages to both neighbours, and the receives of theirs. */
static void halo(struct generator *generator, uint32_t processes, uint64_t round)
{
    for (uint32_t i = 0; i < processes; i++) {
        uint32_t rank = (uint32_t)((i + round * 5) % processes),
                 others[2] = {(rank + 1) % processes, (rank + processes - 1) % processes};
        for (int side = 0; side < 2; side++) {
            enter(generator, rank, STATE_ISEND);
            message(generator, rank, SEND, others[side], side, 4096);
            leave_with(generator, rank, STATE_ISEND, 2 * side + 1, 1);
            enter(generator, rank, STATE_IRECV);
            leave_with(generator, rank, STATE_IRECV, 2 * side + 2, 1);
        }
        enter(generator, rank, STATE_WAITALL);
    }
    for (uint32_t rank = 0; rank < processes; rank++) {
        message(generator, rank, RECEIVE, (rank + processes - 1) % processes, 0, 4096);
        message(generator, rank, RECEIVE, (rank + 1) % processes, 1, 4096);
        leave_with(generator, rank, STATE_WAITALL, 1, 4);
    }
    allreduce(generator, processes, round);
}

static void begin_clog2(struct generator *generator, uint32_t processes)
{
    unsigned char preamble[PREAMBLE] = {0};
    fwrite(preamble, PREAMBLE, 1, generator->out);
    for (uint32_t rank = 0; rank < processes; rank++) {
        generator->now_ns += 100;
        record(generator, (int32_t)rank, 11, 8);
        unsigned char *body = record(generator, (int32_t)rank, 9, 48);
        put_i32(body + 8, (int32_t)rank);
        put_i32(body + 12, (int32_t)rank);
        put_i32(body + 16, 7);
    }
}

static void define_states(struct generator *generator)
{
    generator->now_ns += 1000;
    for (int i = 0; i < STATES; i++) {
        if (i >= ALWAYS && !generator->occurred[i])
            continue;
        unsigned char *body = record(generator, 0, generator->clog2 ? 2 : 6, generator->clog2 ? 112 : 56);
        const int32_t start = (generator->clog2 ? clog2_starts : clog_starts)[i];
        put_i32(body, generator->clog2 ? start / 2 : 200 + i);
        put_i32(body + 4, start);
        put_i32(body + 8, start + 1);
        strcpy((char *)body + 16, generator->clog2 ? "blue" : "blue:gray3");
        strcpy((char *)body + 40, (generator->clog2 ? clog2_names : clog_names)[i]);
        if (generator->has_requests)
            strcpy((char *)body + 72, "request=%d, count=%d");
    }
}

static void end_clog2(struct generator *generator, uint32_t processes)
{
    uint64_t table_at = PREAMBLE + generator->blocks * BLOCK;
    unsigned char table[44] = {0};
    put_i32(table, 1);
    put_i32(table + 4, 7);
    put_i32(table + 40, 1);
    fwrite(table, sizeof table, 1, generator->out);
    char text[PREAMBLE];
    int length =
        snprintf(text, sizeof text,
                 "CLOG-02.44|is_big_endian=|TRUE |is_finalzed=|TRUE |block_size=|%d|num_buffered_blocks=|128|"
                 "max_comm_world_size=|%u|max_thread_count=|1|known_eventID_start=|0|user_eventID_start=|600|"
                 "known_solo_eventID_start=|-10|user_solo_eventID_start=|5000|known_stateID_count=|300|"
                 "user_stateID_count=|2|known_solo_eventID_count=|2|user_solo_eventID_count=|0|commtable_fptr=|"
                 "%" PRIu64 "|1073741824|%" PRIu64 "|",
                 BLOCK, processes, table_at / 1073741824, table_at % 1073741824);
    for (int i = 0; i < length; i++)
        text[i] = text[i] == '|' ? '\0' : text[i];
    rewind(generator->out);
    fwrite(text, (size_t)length, 1, generator->out);
}

static void truth_partners(FILE *out, const char *name, const int32_t *partners, unsigned count,
                           const uint64_t sums[2][2])
{
    fprintf(out, ", \"%s\": {", name);
    for (unsigned i = 0; i < count; i++)
        fprintf(out, "%s\"%d\": [%" PRIu64 ", %" PRIu64 "]", i ? ", " : "", (int)partners[i], sums[i][0], sums[i][1]);
    fputs("}", out);
}

static void write_truth(const struct generator *generator, uint32_t processes, const char *path)
{
    FILE *out = fopen(path, "w");
    if (!out)
        exit(1);
    fprintf(out, "{\"processes\": %u, \"ranks\": [", processes);
    for (uint32_t rank = 0; rank < processes; rank++) {
        const struct process *process = &generator->processes[rank];
        fprintf(out,
                "%s\n{\"rank\": %u, \"begin_ns\": %" PRId64 ", \"end_ns\": %" PRId64 ", \"events\": %" PRIu64
                ", \"mpi_ns\": %" PRId64 ", \"functions\": {",
                rank ? "," : "", rank, process->begin_ns, process->end_ns, process->events, process->mpi_ns);
        bool first = true;
        for (int i = 0; i < STATES; i++) {
            if (process->states[i].count == 0)
                continue;
            fprintf(out, "%s\"%s\": {\"count\": %" PRIu64 ", \"time_ns\": %" PRId64 "}", first ? "" : ", ",
                    clog2_names[i], process->states[i].count, process->states[i].time_ns);
            first = false;
        }
        fputs("}", out);
        truth_partners(out, "sent", process->to, process->partners[0], process->sent);
        truth_partners(out, "received", process->from, process->partners[1], process->received);
        fputs("}", out);
    }
    fputs("]}\n", out);
    fclose(out);
}

static void simulate(struct generator *generator, const char *pattern, uint32_t processes, uint64_t records)
{
    bool ring = strcmp(pattern, "ring") == 0 || generator->wrong, states = strcmp(pattern, "states") == 0;
    bool reduces = strcmp(pattern, "allreduce") == 0,
         exchanges = strcmp(pattern, "halo") == 0 || generator->has_requests;
    for (uint64_t round = 0; generator->records < records; round++) {
        uint32_t a = (uint32_t)(round % processes);
        if (states || processes == 1)
            nested(generator, a);
        else if (reduces)
            allreduce(generator, processes, round);
        else if (exchanges)
            halo(generator, processes, round);
        else if (ring)
            exchange(generator, a, (a + 1) % processes, 1000);
        else
            exchange(generator, a / 2 * 2 % (processes / 2 * 2), a / 2 * 2 % (processes / 2 * 2) + 1, 1000);
    }
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fputs("usage: generate clog2|clog pingpong|ring|states|wrong|allreduce|halo|requests PROCESSES RECORDS OUT "
              "[TRUTH]\n",
              stderr);
        return 2;
    }
    uint32_t processes = (uint32_t)strtoul(argv[3], NULL, 10);
    struct generator *generator = calloc(1, sizeof *generator);
    if (!generator || !(generator->processes = calloc(processes ? processes : 1, sizeof *generator->processes)) ||
        processes == 0 || !(generator->out = fopen(argv[5], "wb")))
        return 1;
    generator->clog2 = strcmp(argv[1], "clog2") == 0;
    generator->wrong = strcmp(argv[2], "wrong") == 0;
    generator->has_requests = generator->clog2 && strcmp(argv[2], "requests") == 0;
    generator->random = UINT64_C(88172645463325252);
    if (generator->clog2)
        begin_clog2(generator, processes);
    simulate(generator, argv[2], processes, strtoull(argv[4], NULL, 10));
    define_states(generator);
    header(generator, generator->block + generator->used, 0, generator->clog2 ? 0 : -2, HEADER);
    put_f64(generator->block + generator->used, generator->clog2 ? 1e8 : 1e6);
    block_write(generator);
    if (generator->clog2)
        end_clog2(generator, processes);
    if (argc > 6)
        write_truth(generator, processes, argv[6]);
    bool good = fclose(generator->out) == 0;
    free(generator->processes);
    free(generator);
    return good ? 0 : 1;
}
