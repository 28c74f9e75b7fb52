/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/totals.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/property.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct metrics *metrics;
    struct process_row *row;
    size_t function_capacity, sent_capacity, received_capacity, thread_capacity;
    size_t communicator_capacity, tag_capacity;
    struct map tag_index; /* tag -> index of its row */
};

bool totals_known(const struct defs *defs)
{
    return property_find(&defs->properties, PROPERTY_TOTALS) != NULL;
}

static void read_thread(struct reading *reading, const char *line)
{
    struct process_row *row = reading->row;
    struct thread_row thread;
    uint64_t events;
    if (sscanf(line, "t %" SCNu32 " %" SCNu64 " %" SCNd64 " %" SCNd64 " %" SCNd64, &thread.thread, &events,
               &thread.begin_ns, &thread.end_ns, &thread.communication_ns) != 5)
        return;
    if (row->thread_count == 0 || thread.begin_ns < row->begin_ns)
        row->begin_ns = thread.begin_ns;
    if (row->thread_count == 0 || thread.end_ns > row->end_ns)
        row->end_ns = thread.end_ns;
    row->events += events;
    /* Of several threads it is not known when two were inside at once: at least as long as the longest. */
    if (thread.communication_ns > row->communication_ns)
        row->communication_ns = thread.communication_ns;
    ARRAY_PUSH(row->threads, row->thread_count, reading->thread_capacity, thread);
}

static struct function_row *function_of(struct reading *reading, const char *name)
{
    struct process_row *row = reading->row;
    int32_t state = defs_find_state(reading->metrics->defs, name);
    if (state < 0)
        return NULL;
    for (size_t i = 0; i < row->function_count; i++)
        if (row->functions[i].state == (uint32_t)state)
            return &row->functions[i];
    ARRAY_PUSH(row->functions, row->function_count, reading->function_capacity,
               (struct function_row){.state = (uint32_t)state, .min_ns = INT64_MAX});
    return &row->functions[row->function_count - 1];
}

static void add_function(struct reading *reading, const char *name, const struct function_row *more)
{
    struct function_row *row = function_of(reading, name);
    if (!row)
        return;
    row->count += more->count;
    time_add(&row->time_ns, more->time_ns);
    time_add(&row->exclusive_ns, more->exclusive_ns);
    if (more->count > 0 && more->min_ns < row->min_ns)
        row->min_ns = more->min_ns;
    if (more->max_ns > row->max_ns)
        row->max_ns = more->max_ns;
    row->open += more->open;
    time_add(&row->open_ns, more->open_ns);
    row->stray += more->stray;
}

static void read_function(struct reading *reading, const char *line)
{
    char name[80];
    struct function_row row = {0};
    int fields =
        sscanf(line, "f %79s %" SCNu64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNu64 " %" SCNd64 " %" SCNd64, name,
               &row.count, &row.time_ns, &row.min_ns, &row.max_ns, &row.open, &row.open_ns, &row.exclusive_ns);
    if (fields < 7)
        return;
    /* Of recorders that counted only the outermost call. */
    if (fields == 7)
        row.exclusive_ns = row.time_ns;
    add_function(reading, name, &row);
}

static void read_user(struct reading *reading, const char *line)
{
    int at = 0;
    struct function_row row = {0};
    if (sscanf(line,
               "u %" SCNu64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNu64 " %" SCNd64 " %" SCNd64 " %" SCNu64 "%n",
               &row.count, &row.time_ns, &row.min_ns, &row.max_ns, &row.open, &row.open_ns, &row.exclusive_ns,
               &row.stray, &at) == 8 &&
        line[at] == ' ')
        add_function(reading, line + at + 1, &row);
}

static struct message_row *message_row_of(struct message_row **rows, size_t *count, size_t *capacity, int64_t key)
{
    /* Communicators are few: no index. */
    for (size_t i = 0; i < *count; i++)
        if ((*rows)[i].key == key)
            return &(*rows)[i];
    ARRAY_PUSH(*rows, *count, *capacity, (struct message_row){.key = key});
    return &(*rows)[*count - 1];
}

static void add_messages(struct message_row *row, bool received, uint64_t messages, uint64_t bytes)
{
    *(received ? &row->received : &row->sent) += messages;
    bytes_add(received ? &row->bytes_received : &row->bytes_sent, bytes);
}

static void add_partner(struct reading *reading, bool received, struct partner_row partner)
{
    struct process_row *row = reading->row;
    struct partner_row *rows = received ? row->received : row->sent;
    size_t count = received ? row->received_count : row->sent_count;
    for (size_t i = 0; i < count; i++)
        if (rows[i].partner == partner.partner) {
            rows[i].messages += partner.messages;
            bytes_add(&rows[i].bytes, partner.bytes);
            return;
        }
    if (received)
        ARRAY_PUSH(row->received, row->received_count, reading->received_capacity, partner);
    else
        ARRAY_PUSH(row->sent, row->sent_count, reading->sent_capacity, partner);
}

static void read_channel(struct reading *reading, const char *line)
{
    struct metrics *metrics = reading->metrics;
    struct partner_row partner;
    int32_t comm, tag;
    bool received = *line == 'r';
    if (sscanf(line + 1, " %" SCNd32 " %" SCNd32 " %" SCNd32 " %" SCNu64 " %" SCNu64, &partner.partner, &comm, &tag,
               &partner.messages, &partner.bytes) != 5)
        return;
    add_partner(reading, received, partner);
    /* MPI_PROC_NULL: the call is counted with its partner, but no message was on its way. */
    if (partner.partner == PARTNER_NONE)
        return;
    *(received ? &reading->row->messages_received : &reading->row->messages_sent) += partner.messages;
    bytes_add(received ? &reading->row->bytes_received : &reading->row->bytes_sent, partner.bytes);
    add_messages(
        message_row_of(&metrics->communicators, &metrics->communicator_count, &reading->communicator_capacity, comm),
        received, partner.messages, partner.bytes);
    uint64_t *index = map_put(&reading->tag_index, (uint32_t)tag, metrics->tag_count);
    if (*index == metrics->tag_count)
        ARRAY_PUSH(metrics->tags, metrics->tag_count, reading->tag_capacity, (struct message_row){.key = tag});
    struct message_row *row = &metrics->tags[*index];
    /* Where the recorder's table was full, tags were added together. */
    row->is_rest = tag == EVENT_UNKNOWN;
    add_messages(row, received, partner.messages, partner.bytes);
}

static void read_size(struct reading *reading, const char *line)
{
    struct metrics *metrics = reading->metrics;
    unsigned class;
    struct message_row more;
    if (sscanf(line, "z %u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &class, &more.sent, &more.received,
               &more.bytes_sent, &more.bytes_received) != 5 ||
        class > 64)
        return;
    add_messages(&metrics->sizes[class], false, more.sent, more.bytes_sent);
    add_messages(&metrics->sizes[class], true, more.received, more.bytes_received);
    if (class >= metrics->size_count)
        metrics->size_count = class + 1;
}

static int by_name(const void *a, const void *b, void *definitions)
{
    const struct defs *defs = definitions;
    const struct function_row *left = a, *right = b;
    return strcmp(defs->states[left->state].name, defs->states[right->state].name);
}

static int by_partner(const void *a, const void *b)
{
    return order_by(((const struct partner_row *)a)->partner, ((const struct partner_row *)b)->partner);
}

static int by_key(const void *a, const void *b)
{
    const struct message_row *left = a, *right = b;
    return left->is_rest != right->is_rest ? left->is_rest - right->is_rest : order_by(left->key, right->key);
}

static void sort_rows(void *rows, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    if (count > 1)
        qsort(rows, count, size, compare);
}

static void read_process(struct reading *reading, const char *text)
{
    struct process_row *row = reading->row;
    for (size_t length; *text; text += length, text += *text == '\n') {
        /* A copy: sscanf looks for the end of all of the text. */
        char line[300];
        length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        switch (*line) {
        case 't':
            read_thread(reading, line);
            break;
        case 'f':
            read_function(reading, line);
            break;
        case 'u':
            read_user(reading, line);
            break;
        case 's':
        case 'r':
            read_channel(reading, line);
            break;
        case 'z':
            read_size(reading, line);
            break;
        default:
            break;
        }
    }
    for (size_t i = 0; i < row->function_count; i++)
        if (row->functions[i].count == 0)
            row->functions[i].min_ns = 0;
    if (row->function_count > 1)
        qsort_r(row->functions, row->function_count, sizeof *row->functions, by_name,
                (void *)(uintptr_t)reading->metrics->defs);
    sort_rows(row->sent, row->sent_count, sizeof *row->sent, by_partner);
    sort_rows(row->received, row->received_count, sizeof *row->received, by_partner);
    /* One thread has the numbers of its process. */
    if (row->thread_count == 1)
        row->thread_count = 0;
}

static const char *totals_of(const struct defs *defs, uint32_t rank)
{
    for (size_t i = 0; i < defs->properties.count; i++)
        if (strcmp(defs->properties.rows[i].name, PROPERTY_TOTALS) == 0 &&
            property_has_rank(&defs->properties.rows[i], rank))
            return defs->properties.rows[i].value;
    return NULL;
}

static void forget_tables(struct metrics *metrics)
{
    free(metrics->communicators);
    free(metrics->tags);
    free(metrics->sizes);
    metrics->communicators = metrics->tags = NULL;
    metrics->communicator_count = metrics->tag_count = metrics->size_count = 0;
    metrics->sizes = memory_new(65 * sizeof *metrics->sizes);
    for (int i = 0; i < 65; i++)
        metrics->sizes[i].key = i;
}

/* Only the largest tags have rows of their own. */
static int by_weight(const void *a, const void *b)
{
    const struct message_row *left = a, *right = b;
    int order = left->is_rest - right->is_rest;
    if (order == 0)
        order = order_by(message_row_bytes(right), message_row_bytes(left));
    if (order == 0)
        order = order_by(right->sent + right->received, left->sent + left->received);
    return order ? order : by_key(a, b);
}

static void limit_tags(struct metrics *metrics)
{
    sort_rows(metrics->tags, metrics->tag_count, sizeof *metrics->tags, by_weight);
    if (metrics->tag_count > METRICS_TAGS) {
        metrics->tags[METRICS_TAGS].is_rest = true;
        metrics->tags[METRICS_TAGS].key = EVENT_UNKNOWN;
    }
    while (metrics->tag_count > METRICS_TAGS + 1) {
        struct message_row *last = &metrics->tags[--metrics->tag_count], *rest = &metrics->tags[METRICS_TAGS];
        add_messages(rest, false, last->sent, last->bytes_sent);
        add_messages(rest, true, last->received, last->bytes_received);
    }
    sort_rows(metrics->tags, metrics->tag_count, sizeof *metrics->tags, by_key);
}

void totals_use(struct metrics *metrics)
{
    struct reading reading = {.metrics = metrics};
    forget_tables(metrics);
    for (size_t i = 0; i < metrics->process_count; i++) {
        struct process_row *row = &metrics->process[i];
        const char *text = totals_of(metrics->defs, row->rank);
        /* Each begins with the times of a thread. */
        if (!text || strncmp(text, "t ", 2) != 0)
            continue;
        process_row_clear(row);
        *row = (struct process_row){.rank = row->rank};
        reading.row = row;
        reading.function_capacity = reading.sent_capacity = reading.received_capacity = reading.thread_capacity = 0;
        read_process(&reading, text);
    }
    sort_rows(metrics->communicators, metrics->communicator_count, sizeof *metrics->communicators, by_key);
    limit_tags(metrics);
    map_clear(&reading.tag_index);
    metrics->messages = 0;
    for (size_t i = 0; i < metrics->process_count; i++)
        metrics->messages += metrics->process[i].messages_sent + metrics->process[i].messages_received;
    metrics_totals(metrics);
}
