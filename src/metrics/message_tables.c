/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/message_tables.h"

#include "core/memory.h"

#include <string.h>

enum { TAGS_IN_MEMORY = 1 << 16, TAG_SORT_MEMORY = 4 << 20 };

static void row_count(struct message_row *row, bool received, uint64_t bytes)
{
    *(received ? &row->received : &row->sent) += 1;
    *(received ? &row->bytes_received : &row->bytes_sent) += bytes;
}

static void row_add(struct message_row *row, const struct message_row *more)
{
    row->sent += more->sent;
    row->received += more->received;
    row->bytes_sent += more->bytes_sent;
    row->bytes_received += more->bytes_received;
}

static bool row_is_empty(const struct message_row *row)
{
    return row->sent + row->received == 0;
}

static struct partner_cell *tables_cell(struct message_tables *tables, uint32_t process, int32_t partner,
                                        uint32_t *hint)
{
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
    size_t index = comm == EVENT_UNKNOWN ? 0 : (size_t)comm + 1;
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
    cell->bytes[received] += bytes;
    if (event->partner == PARTNER_NONE)
        return;
    row_count(tables_communicator(tables, event->comm), received, bytes);
    row_count(tables_tag(tables, event->tag), received, bytes);
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
            cell->bytes[direction] += more->bytes[direction];
        }
    }
    for (size_t i = 0; i < from->communicator_count; i++)
        row_add(tables_communicator(tables, i == 0 ? EVENT_UNKNOWN : (int32_t)i - 1), &from->communicators[i]);
    for (size_t i = 0; i < SIZE_CLASSES; i++)
        row_add(&tables->sizes[i], &from->sizes[i]);
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

static int row_by_key(const void *a, const void *b)
{
    const struct message_row *left = a, *right = b;
    if (left->is_rest != right->is_rest)
        return left->is_rest ? 1 : -1;
    return left->key < right->key ? -1 : left->key > right->key;
}

/* Larger: more bytes, then more messages, then the smaller tag, so that the choice does not depend on the order of
   tags. */
static int row_by_weight(const void *a, const void *b)
{
    const struct message_row *left = a, *right = b;
    uint64_t bytes_left = left->bytes_sent + left->bytes_received,
             bytes_right = right->bytes_sent + right->bytes_received;
    if (bytes_left != bytes_right)
        return bytes_left > bytes_right ? -1 : 1;
    uint64_t ends_left = left->sent + left->received, ends_right = right->sent + right->received;
    if (ends_left != ends_right)
        return ends_left > ends_right ? -1 : 1;
    return row_by_key(a, b);
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
        row->key = i == 0 ? EVENT_UNKNOWN : defs->comms[i - 1].id;
    }
    qsort(metrics->communicators, metrics->communicator_count, sizeof *metrics->communicators, row_by_key);
}

static void result_sizes(const struct message_tables *tables, struct metrics *metrics)
{
    metrics->sizes = memory_new(sizeof tables->sizes);
    for (size_t i = 0; i < SIZE_CLASSES; i++) {
        metrics->sizes[i] = tables->sizes[i];
        metrics->sizes[i].key = (int64_t)i;
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
