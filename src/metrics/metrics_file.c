/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/file_parts.h"

#include "core/memory.h"
#include "metrics/metrics_file.h"

#include <inttypes.h>
#include <stdio.h>

/* False: the parser has stopped, and the root's other attributes are no longer available. */
static bool read_version(struct metrics_file *file)
{
    const char *version = file_text(file, ATTRIBUTE_version);
    char *end;
    /* Minor versions add attributes, which older programs ignore; a new major one changes what old ones mean. */
    unsigned long major = strtoul(version, &end, 10);
    if (end != version && major == METRICS_FILE_VERSION && (*end == '\0' || *end == '.'))
        return true;
    /* Numbers of another version may mean something else: nothing is read rather than something wrong. */
    error_set(file->err, ERROR_INPUT, "%s: metrics file of version \"%.20s\"; this program reads version %d",
              file->sax.input->name, version, METRICS_FILE_VERSION);
    file->failed = true;
    xml_sax_stop(&file->sax);
    return false;
}

static void read_root(void *owner, const char *name)
{
    struct metrics_file *file = owner;
    struct metrics *metrics = file->metrics;
    if (strcmp(name, "metrics") != 0) {
        error_set(file->err, ERROR_INPUT, "%s: not a metrics file: its root element is <%.40s>", file->sax.input->name,
                  name);
        file->failed = true;
        xml_sax_stop(&file->sax);
        return;
    }
    if (!read_version(file))
        return;
    metrics->own_format = memory_copy_string(file_text(file, ATTRIBUTE_format));
    metrics->format = metrics->own_format;
    metrics->processes = (uint32_t)file_count(file, ATTRIBUTE_processes, PROCESS_LIMIT);
    metrics->messages = file_count(file, ATTRIBUTE_message_ends, UINT64_MAX);
    struct trace_end *end = &metrics->end;
    end->complete = strcmp(file_text(file, ATTRIBUTE_complete), "true") == 0;
    end->damage.count = file_count(file, ATTRIBUTE_damages, UINT64_MAX);
    snprintf(end->damage.first, sizeof end->damage.first, "%s", file_text(file, ATTRIBUTE_damage));
    end->used = file_count(file, ATTRIBUTE_used_bytes, UINT64_MAX);
    end->total = file_count(file, ATTRIBUTE_total_bytes, UINT64_MAX);
}

static void read_state(struct metrics_file *file)
{
    /* The text is valid until the next attribute is asked for, so the name is copied. */
    char *name = memory_copy_string(file_text(file, ATTRIBUTE_name));
    const char *colour = file_text(file, ATTRIBUTE_colour);
    file_state_named(file, name, *colour ? colour : NULL);
    free(name);
}

static void read_process(struct metrics_file *file)
{
    struct metrics *metrics = file->metrics;
    uint64_t rank = file_count(file, ATTRIBUTE_rank, PROCESS_LIMIT - 1);
    file->row = NULL;
    file->got = NULL;
    /* In order of rank, so that rows can be found by bisection; a second row of a rank would be lost. */
    if (metrics->process_count && rank <= metrics->process[metrics->process_count - 1].rank) {
        file_damage(file, "process %" PRIu64 " does not follow process %" PRIu32, rank,
                    metrics->process[metrics->process_count - 1].rank);
        return;
    }
    ARRAY_PUSH(metrics->process, metrics->process_count, file->process_capacity,
               (struct process_row){.rank = (uint32_t)rank,
                                    .begin_ns = file_time(file, ATTRIBUTE_begin_s),
                                    .end_ns = file_time(file, ATTRIBUTE_end_s),
                                    .communication_ns = file_time(file, ATTRIBUTE_communication_s),
                                    .events = file_count(file, ATTRIBUTE_events, UINT64_MAX),
                                    .messages_sent = file_count(file, ATTRIBUTE_messages_sent, UINT64_MAX),
                                    .messages_received = file_count(file, ATTRIBUTE_messages_received, UINT64_MAX),
                                    .bytes_sent = file_count(file, ATTRIBUTE_bytes_sent, UINT64_MAX),
                                    .bytes_received = file_count(file, ATTRIBUTE_bytes_received, UINT64_MAX),
                                    .time_back = file_count(file, ATTRIBUTE_time_back, UINT64_MAX)});
    file->row = &metrics->process[metrics->process_count - 1];
    /* The arrays are of the new row: their capacities start anew. Those before belong to the row before. */
    file->function_capacity = file->sent_capacity = file->received_capacity = 0;
    file->mark_capacity = file->thread_capacity = file->counted_capacity = 0;
}

static void read_function(struct metrics_file *file)
{
    /* A row that was refused has no functions either. */
    if (file->row)
        ARRAY_PUSH(file->row->functions, file->row->function_count, file->function_capacity,
                   (struct function_row){.state = file_state_named(file, file_text(file, ATTRIBUTE_name), NULL),
                                         .count = file_count(file, ATTRIBUTE_count, UINT64_MAX),
                                         .time_ns = file_time(file, ATTRIBUTE_time_s),
                                         .exclusive_ns = file_time(file, ATTRIBUTE_exclusive_s),
                                         .min_ns = file_time(file, ATTRIBUTE_min_s),
                                         .max_ns = file_time(file, ATTRIBUTE_max_s),
                                         .open = file_count(file, ATTRIBUTE_open, UINT64_MAX),
                                         .open_ns = file_time(file, ATTRIBUTE_open_s),
                                         .stray = file_count(file, ATTRIBUTE_stray, UINT64_MAX)});
}

static struct partner_row read_partner(struct metrics_file *file, enum file_attribute partner)
{
    return (struct partner_row){.partner = (int32_t)file_number(file, partner),
                                .messages = file_count(file, ATTRIBUTE_messages, UINT64_MAX),
                                .bytes = file_count(file, ATTRIBUTE_bytes, UINT64_MAX)};
}

static void read_sent(struct metrics_file *file)
{
    if (file->row)
        ARRAY_PUSH(file->row->sent, file->row->sent_count, file->sent_capacity, read_partner(file, ATTRIBUTE_to));
}

static void read_received(struct metrics_file *file)
{
    if (file->row)
        ARRAY_PUSH(file->row->received, file->row->received_count, file->received_capacity,
                   read_partner(file, ATTRIBUTE_from));
}

static void read_property(struct metrics_file *file)
{
    char *name = memory_copy_string(file_text(file, ATTRIBUTE_name));
    char *value = memory_copy_string(file_text(file, ATTRIBUTE_value));
    const char *ranks = xml_sax_has(&file->sax, ATTRIBUTE_processes) ? file_text(file, ATTRIBUTE_processes) : NULL;
    if (!property_add_text(&file->metrics->own_defs->properties, name, value, ranks))
        file_damage(file, "processes of a property are no list of ranks");
    free(name);
    free(value);
}

static uint32_t mark_named(struct metrics_file *file, const char *name)
{
    /* FNV-1a; `>> 1` because a key of the map cannot be UINT64_MAX, and other names with the same hash go on by one. */
    struct defs *defs = file->metrics->own_defs;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *at = name; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    for (;; hash += 2) {
        uint64_t *index = map_put(&file->marks, hash >> 1, UINT64_MAX);
        if (*index == UINT64_MAX)
            *index = defs_add_mark(defs, &(struct mark_def){.name = (char *)name, .id = EVENT_UNKNOWN});
        if (strcmp(defs->marks[*index].name, name) == 0)
            return (uint32_t)*index;
    }
}

static void read_mark(struct metrics_file *file)
{
    if (file->row)
        ARRAY_PUSH(file->row->marks, file->row->mark_count, file->mark_capacity,
                   (struct mark_row){.mark = mark_named(file, file_text(file, ATTRIBUTE_name)),
                                     .count = file_count(file, ATTRIBUTE_count, UINT64_MAX)});
}

static void read_thread(struct metrics_file *file)
{
    if (file->row)
        ARRAY_PUSH(file->row->threads, file->row->thread_count, file->thread_capacity,
                   (struct thread_row){.thread = (uint32_t)file_count(file, ATTRIBUTE_thread, UINT32_MAX),
                                       .begin_ns = file_time(file, ATTRIBUTE_begin_s),
                                       .end_ns = file_time(file, ATTRIBUTE_end_s),
                                       .communication_ns = file_time(file, ATTRIBUTE_communication_s),
                                       .regions = file_count(file, ATTRIBUTE_regions, UINT64_MAX),
                                       .parallel_ns = file_time(file, ATTRIBUTE_parallel_s),
                                       .waiting_ns = file_time(file, ATTRIBUTE_waiting_s),
                                       .short_ns = file_time(file, ATTRIBUTE_short_s),
                                       .short_waiting_ns = file_time(file, ATTRIBUTE_short_waiting_s),
                                       .parallel_mpi_ns = file_time(file, ATTRIBUTE_parallel_mpi_s)});
}

/* What a process got of the machine by one counter; the name of one that this version does not know is no damage. */
static void read_resource(struct metrics_file *file)
{
    struct metrics *metrics = file->metrics;
    enum resource_counter counter = resource_counter_named(file_text(file, ATTRIBUTE_name));
    if (!file->row || counter == RESOURCE_COUNTERS)
        return;
    if (!metrics->own_resources)
        metrics->resources = metrics->own_resources = memory_new(sizeof *metrics->own_resources);
    struct resources *resources = metrics->own_resources;
    if (!file->got) {
        ARRAY_PUSH(resources->process, resources->count, file->resource_capacity,
                   process_resources_none(file->row->rank));
        file->got = &resources->process[resources->count - 1];
    }
    file->got->wall_ns = file_time(file, ATTRIBUTE_time_s);
    file->got->first[counter] = (int64_t)file_count(file, ATTRIBUTE_first, INT64_MAX);
    file->got->last[counter] = (int64_t)file_count(file, ATTRIBUTE_value, INT64_MAX);
}

static struct message_row read_messages(struct metrics_file *file, int64_t key)
{
    return (struct message_row){.key = key,
                                .is_rest = strcmp(file_text(file, ATTRIBUTE_rest), "true") == 0,
                                .sent = file_count(file, ATTRIBUTE_messages_sent, UINT64_MAX),
                                .received = file_count(file, ATTRIBUTE_messages_received, UINT64_MAX),
                                .bytes_sent = file_count(file, ATTRIBUTE_bytes_sent, UINT64_MAX),
                                .bytes_received = file_count(file, ATTRIBUTE_bytes_received, UINT64_MAX)};
}

static void read_communicator(struct metrics_file *file)
{
    struct metrics *metrics = file->metrics;
    ARRAY_PUSH(metrics->communicators, metrics->communicator_count, file->communicator_capacity,
               read_messages(file, file_number(file, ATTRIBUTE_communicator)));
}

static void read_tag(struct metrics_file *file)
{
    struct metrics *metrics = file->metrics;
    ARRAY_PUSH(metrics->tags, metrics->tag_count, file->tag_capacity,
               read_messages(file, file_number(file, ATTRIBUTE_tag)));
}

/* A size class is identified by its largest size, which has as many bits as the class's number. */
static void read_size(struct metrics_file *file)
{
    struct metrics *metrics = file->metrics;
    uint64_t largest = file_count(file, ATTRIBUTE_to_bytes, UINT64_MAX);
    int64_t bits = 0;
    for (; largest; largest >>= 1)
        bits++;
    ARRAY_PUSH(metrics->sizes, metrics->size_count, file->size_capacity, read_messages(file, bits));
}

static void read_element(void *owner, unsigned element)
{
    static void (*const read[])(struct metrics_file *) = {
#define ELEMENT_FUNCTION(name) read_##name,
        FILE_ELEMENTS(ELEMENT_FUNCTION)
#undef ELEMENT_FUNCTION
    };
    read[element](owner);
}

static void read_fault(void *owner, uint64_t byte, const char *text)
{
    struct metrics_file *file = owner;
    damage_note(&file->damage, file->sax.input->name, byte, "%s", text);
}

bool metrics_file_probe(const unsigned char *data, size_t size)
{
    size_t at = 0;
    if (size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0)
        at = 3; /* a byte order mark */
    while (at < size && (data[at] == ' ' || data[at] == '\t' || data[at] == '\r' || data[at] == '\n'))
        at++;
    /* The root may be far down, after a long comment, so that its name or its DTD decides. */
    return at < size && data[at] == '<' &&
           (memmem(data, size, "<metrics", 8) || memmem(data, size, "sight-metrics.dtd", 17));
}

/* Damage in the file itself takes precedence over damage of the trace that the file reports. */
static void file_end(struct metrics_file *file, uint64_t used, bool whole)
{
    struct trace_end *end = &file->metrics->end;
    if (file->sax.input->fault)
        damage_note(&file->damage, file->sax.input->name, file->sax.input->offset, "%s", file->sax.input->fault);
    if (whole && file->damage.count == 0)
        return;
    file->damage.count += end->damage.count;
    *end = (struct trace_end){.damage = file->damage, .used = used, .total = input_size(file->sax.input)};
}

static enum status file_parse(struct metrics_file *file, struct error *err)
{
    static const char *const element_names[] = {
#define ELEMENT_NAME(name) #name,
        FILE_ELEMENTS(ELEMENT_NAME)
#undef ELEMENT_NAME
    };
    static const struct xml_words words = {element_names, sizeof element_names / sizeof *element_names,
                                           file_attribute_names, ATTRIBUTE_COUNT};
    file->sax.words = &words;
    file->sax.owner = file;
    file->sax.root = read_root;
    file->sax.element = read_element;
    file->sax.fault = read_fault;
    enum status status = xml_sax_open(&file->sax, err);
    while (status == STATUS_OK)
        status = xml_sax_next(&file->sax, err);
    if (status == STATUS_FAILED || file->failed)
        return STATUS_FAILED;
    uint64_t used = xml_sax_consumed(&file->sax);
    file_end(file, used, xml_sax_finish(&file->sax));
    return STATUS_OK;
}

struct metrics *metrics_file_read(struct input *input, struct error *err)
{
    struct metrics_file *file = memory_new(sizeof *file);
    file->sax.input = input;
    file->err = err;
    file->metrics = memory_new(sizeof *file->metrics);
    /* The definitions belong to the metrics, which the caller frees. */
    file->metrics->own_defs = defs_new();
    file->metrics->defs = file->metrics->own_defs;
    enum status status = file_parse(file, err);
    struct metrics *metrics = file->metrics;
    if (status == STATUS_OK) {
        phases_finish(file);
        metrics->own_defs->processes = metrics->processes;
        metrics_totals(metrics);
    } else {
        metrics_free(metrics);
        metrics = NULL;
    }
    xml_sax_close(&file->sax);
    map_clear(&file->marks);
    map_clear(&file->sites);
    free(file->text.text);
    free(file);
    return metrics;
}

void metrics_select(struct metrics *metrics, const uint32_t *ranks, size_t count)
{
    /* `ranks` is sorted, as are the rows: one pass through both. */
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < metrics->process_count; i++) {
        while (at < count && ranks[at] < metrics->process[i].rank)
            at++;
        if (at < count && ranks[at] == metrics->process[i].rank)
            metrics->process[kept++] = metrics->process[i];
        else
            process_row_clear(&metrics->process[i]);
    }
    metrics->process_count = kept;
    /* Analyses of the whole run say nothing about some of its processes alone; and tables of messages do not know
       whose they are. */
    analysis_free(metrics->analysis);
    metrics->analysis = NULL;
    phase_metrics_free(metrics->phases);
    metrics->phases = NULL;
    search_free(metrics->search);
    metrics->search = NULL;
    stuck_free(metrics->own_stuck);
    metrics->stuck = metrics->own_stuck = NULL;
    metrics->communicator_count = metrics->tag_count = metrics->size_count = 0;
    metrics->tables_unknown = true;
    metrics_totals(metrics);
}
