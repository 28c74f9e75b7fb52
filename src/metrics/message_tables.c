/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/message_tables.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <string.h>

/* Programs use tags as counters: up to 2^31 of them. More than the first number go to a sorter, which goes to disk. */
enum { TAGS_IN_MEMORY = 1 << 16, TAG_SORT_MEMORY = 4 << 20 };

static void row_count(struct message_row *row, bool received, uint64_t bytes)
{
    if (received) {
        row->received++;
        bytes_add(&row->bytes_received, bytes);
    } else {
        row->sent++;
        bytes_add(&row->bytes_sent, bytes);
    }
}

static void row_add(struct message_row *row, const struct message_row *more)
{
    row->sent += more->sent;
    row->received += more->received;
    bytes_add(&row->bytes_sent, more->bytes_sent);
    bytes_add(&row->bytes_received, more->bytes_received);
}

static bool row_is_empty(const struct message_row *row)
{
    return row->sent + row->received == 0;
}

static struct partner_cell *tables_cell(struct message_tables *tables, uint32_t process, int32_t partner,
                                        uint32_t *hint)
{
    /* A process mostly talks to the same partner several times: its last cell saves a look into the map. */
    if (*hint < tables->cell_count && tables->cells[*hint].process == process &&
        tables->cells[*hint].partner == partner)
        return &tables->cells[*hint];
    uint64_t pair = map_pair(process, (uint32_t)partner);
    uint64_t *index = map_find(&tables->pairs, pair);
    if (!index) {
        index = map_put(&tables->pairs, pair, tables->cell_count);
        ARRAY_PUSH(tables->cells, tables->cell_count, tables->cell_capacity,
                   (struct partner_cell){.process = process, .partner = partner});
    }
    *hint = (uint32_t)*index;
    return &tables->cells[*index];
}

static struct message_row *tables_communicator(struct message_tables *tables, int32_t comm)
{
    /* Index 0 is for messages whose communicator the trace does not record. */
    size_t index = 0;
    if (comm != EVENT_UNKNOWN)
        index = (size_t)comm + 1;
    if (index >= tables->communicator_count) {
        ARRAY_RESERVE(tables->communicators, tables->communicator_capacity, index + 1);
        memset(&tables->communicators[tables->communicator_count], 0,
               (index + 1 - tables->communicator_count) * sizeof *tables->communicators);
        tables->communicator_count = index + 1;
    }
    return &tables->communicators[index];
}

static struct message_row *tables_tag(struct message_tables *tables, int64_t tag)
{
    if (tables->last_tag < tables->tag_count && tables->tags[tables->last_tag].key == tag)
        return &tables->tags[tables->last_tag];
    uint64_t *index = map_put(&tables->tag_index, (uint32_t)tag, UINT64_MAX);
    if (*index == UINT64_MAX) {
        *index = tables->tag_count;
        ARRAY_PUSH(tables->tags, tables->tag_count, tables->tag_capacity, (struct message_row){.key = tag});
    }
    tables->last_tag = *index;
    return &tables->tags[*index];
}

/* Class n has sizes of n bits: [2^(n-1), 2^n); 0 bytes are class 0. */
static size_t size_class(uint64_t bytes)
{
    return bytes ? 64 - (size_t)__builtin_clzll(bytes) : 0;
}

void message_tables_add(struct message_tables *tables, const struct event *event, uint32_t *hint)
{
    bool received = event->kind == EVENT_RECEIVE;
    uint64_t bytes = event_message_bytes(event);
    struct partner_cell *cell = tables_cell(tables, event->process, event->partner, hint);
    cell->messages[received]++;
    bytes_add(&cell->bytes[received], bytes);
    if (event->partner == PARTNER_NONE)
        return;
    row_count(tables_communicator(tables, event->comm), received, bytes);
    row_count(tables_tag(tables, event->tag), received, bytes);
    /* An unknown size is in no class: 0 bytes would be an answer. */
    if ((received ? event->bytes_received : event->bytes_sent) != BYTES_UNKNOWN)
        row_count(&tables->sizes[size_class(bytes)], received, bytes);
}

static enum status tags_spill(struct message_tables *tables, struct error *err)
{
    if (!tables->spilled_tags)
        tables->spilled_tags = sorter_new(TAG_SORT_MEMORY);
    for (size_t i = 0; i < tables->tag_count; i++) {
        struct sort_key key = {.major = sort_key_signed(tables->tags[i].key)};
        if (sorter_add(tables->spilled_tags, key, &tables->tags[i], sizeof tables->tags[i], err) != STATUS_OK)
            return STATUS_FAILED;
    }
    /* The same tag may come again, also in the sorter: its parts are added when it is read back. */
    tables->tag_count = 0;
    map_clear(&tables->tag_index);
    return STATUS_OK;
}

enum status message_tables_bound(struct message_tables *tables, struct error *err)
{
    return tables->tag_count > TAGS_IN_MEMORY ? tags_spill(tables, err) : STATUS_OK;
}

enum status message_tables_merge(struct message_tables *tables, struct message_tables *from, struct error *err)
{
    uint32_t hint = 0;
    for (size_t i = 0; i < from->cell_count; i++) {
        const struct partner_cell *more = &from->cells[i];
        struct partner_cell *cell = tables_cell(tables, more->process, more->partner, &hint);
        for (int direction = 0; direction < 2; direction++) {
            cell->messages[direction] += more->messages[direction];
            bytes_add(&cell->bytes[direction], more->bytes[direction]);
        }
    }
    for (size_t i = 0; i < from->communicator_count; i++)
        row_add(tables_communicator(tables, i == 0 ? EVENT_UNKNOWN : (int32_t)i - 1), &from->communicators[i]);
    for (size_t i = 0; i < SIZE_CLASSES; i++)
        row_add(&tables->sizes[i], &from->sizes[i]);
    /* The last tags in memory go to the sorter, too, which then gives all of them in order. */
    if (from->spilled_tags &&
        (tags_spill(from, err) != STATUS_OK || sorter_rewind(from->spilled_tags, err) != STATUS_OK))
        return STATUS_FAILED;
    enum status status = from->spilled_tags ? STATUS_OK : STATUS_END;
    while (status == STATUS_OK) {
        struct sort_key key;
        const void *data;
        size_t length;
        struct message_row row;
        status = sorter_next(from->spilled_tags, &key, &data, &length, err);
        if (status == STATUS_OK) {
            memcpy(&row, data, sizeof row);
            row_add(tables_tag(tables, row.key), &row);
            status = message_tables_bound(tables, err);
        }
    }
    for (size_t i = 0; i < from->tag_count; i++)
        row_add(tables_tag(tables, from->tags[i].key), &from->tags[i]);
    return status == STATUS_FAILED ? status : message_tables_bound(tables, err);
}

void message_tables_clear(struct message_tables *tables)
{
    map_clear(&tables->pairs);
    map_clear(&tables->tag_index);
    free(tables->cells);
    free(tables->communicators);
    free(tables->tags);
    sorter_free(tables->spilled_tags);
}

/* The rest comes last, whatever its key. */
static int row_by_key(const void *a, const void *b)
{
    const struct message_row *left = a, *right = b;
    int order = left->is_rest - right->is_rest;
    return order ? order : order_by(left->key, right->key);
}

/* Larger: more bytes, then more messages, then the smaller tag, so that the choice does not depend on the order of
   tags. */
static int row_by_weight(const void *a, const void *b)
{
    const struct message_row *left = a, *right = b;
    int order = order_by(message_row_bytes(right), message_row_bytes(left));
    if (order == 0)
        order = order_by(right->sent + right->received, left->sent + left->received);
    return order ? order : row_by_key(a, b);
}

/* The largest tags, kept as a list that is cut when it is twice too long; the tags cut off are summed up as the rest.
 */
struct largest {
    struct message_row rows[2 * METRICS_TAGS];
    size_t count;
    struct message_row rest;
};

static void largest_cut(struct largest *largest)
{
    if (largest->count <= METRICS_TAGS)
        return;
    qsort(largest->rows, largest->count, sizeof *largest->rows, row_by_weight);
    for (size_t i = METRICS_TAGS; i < largest->count; i++)
        row_add(&largest->rest, &largest->rows[i]);
    largest->count = METRICS_TAGS;
}

static void largest_add(struct largest *largest, const struct message_row *row)
{
    if (row_is_empty(row))
        return;
    if (largest->count == 2 * METRICS_TAGS)
        largest_cut(largest);
    largest->rows[largest->count++] = *row;
}

/* A tag's complete sum: offered to the largest tags, and kept because more may be fed later and a sorter takes no more
   records once it is read. */
static enum status take_sum(struct largest *largest, struct sorter *kept, const struct message_row *sum,
                            struct error *err)
{
    if (row_is_empty(sum))
        return STATUS_OK;
    largest_add(largest, sum);
    return sorter_add(kept, (struct sort_key){.major = sort_key_signed(sum->key)}, sum, sizeof *sum, err);
}

static enum status sum_spilled(struct sorter *spilled, struct sorter *kept, struct largest *largest, struct error *err)
{
    /* `sum` begins empty with tag 0: take_sum ignores it if no row has that tag. */
    struct message_row sum = {0}, row;
    struct sort_key key;
    const void *data;
    size_t length;
    enum status status = sorter_rewind(spilled, err);
    while (status == STATUS_OK && (status = sorter_next(spilled, &key, &data, &length, err)) == STATUS_OK) {
        memcpy(&row, data, sizeof row);
        if (row.key != sum.key) {
            status = take_sum(largest, kept, &sum, err);
            sum = (struct message_row){.key = row.key};
        }
        row_add(&sum, &row);
    }
    return status == STATUS_END ? take_sum(largest, kept, &sum, err) : status;
}

static enum status largest_from_spilled(struct message_tables *tables, struct largest *largest, struct error *err)
{
    if (tags_spill(tables, err) != STATUS_OK)
        return STATUS_FAILED;
    struct sorter *spilled = tables->spilled_tags;
    /* A new sorter: one that is read takes no more records, and the accumulator may be fed again. */
    tables->spilled_tags = sorter_new(TAG_SORT_MEMORY);
    enum status status = sum_spilled(spilled, tables->spilled_tags, largest, err);
    sorter_free(spilled);
    return status;
}

static enum status result_tags(struct message_tables *tables, struct metrics *metrics, struct error *err)
{
    struct largest *largest = memory_new(sizeof *largest);
    enum status status = STATUS_OK;
    if (tables->spilled_tags)
        status = largest_from_spilled(tables, largest, err);
    else
        /* Without a sorter all tags are in memory, each once. */
        for (size_t i = 0; i < tables->tag_count; i++)
            largest_add(largest, &tables->tags[i]);
    largest_cut(largest);
    metrics->tags = memory_new((METRICS_TAGS + 1) * sizeof *metrics->tags);
    if (largest->count > 0)
        memcpy(metrics->tags, largest->rows, largest->count * sizeof *metrics->tags);
    metrics->tag_count = largest->count;
    if (!row_is_empty(&largest->rest)) {
        largest->rest.is_rest = true;
        metrics->tags[metrics->tag_count++] = largest->rest;
    }
    qsort(metrics->tags, metrics->tag_count, sizeof *metrics->tags, row_by_key);
    free(largest);
    return status;
}

static void result_communicators(struct message_tables *tables, const struct defs *defs, struct metrics *metrics)
{
    metrics->communicators = memory_new(tables->communicator_count * sizeof *metrics->communicators);
    for (size_t i = 0; i < tables->communicator_count; i++) {
        if (row_is_empty(&tables->communicators[i]))
            continue;
        struct message_row *row = &metrics->communicators[metrics->communicator_count++];
        *row = tables->communicators[i];
        /* The id of the trace, not our index: that is what users know. */
        row->key = EVENT_UNKNOWN;
        if (i > 0)
            row->key = defs->comms[i - 1].id;
    }
    qsort(metrics->communicators, metrics->communicator_count, sizeof *metrics->communicators, row_by_key);
}

static void result_sizes(const struct message_tables *tables, struct metrics *metrics)
{
    metrics->sizes = memory_new(sizeof tables->sizes);
    for (size_t i = 0; i < SIZE_CLASSES; i++) {
        metrics->sizes[i] = tables->sizes[i];
        metrics->sizes[i].key = (int64_t)i;
        /* Up to the largest class that is used: empty ones between others are shown, as a histogram needs them. */
        if (!row_is_empty(&metrics->sizes[i]))
            metrics->size_count = i + 1;
    }
}

enum status message_tables_result(struct message_tables *tables, const struct defs *defs, struct metrics *metrics,
                                  struct error *err)
{
    result_communicators(tables, defs, metrics);
    result_sizes(tables, metrics);
    return result_tags(tables, metrics, err);
}
