/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/paraver/paraver_record.h"

#include "convert/text_lines.h"
#include "core/memory.h"

/* Locations are kept by thread number: a damaged line must not make billions of them. */
enum { THREADS_MOST = 1 << 20 };

/* Below what int64 can hold, so that differences of two times can be taken without care. */
static const int64_t time_most_ns = INT64_C(9000000000000000000);

static bool take_field(const char **at, const char *end, uint64_t *value)
{
    return text_take(at, end, ':') && text_take_u64(at, end, value);
}

/* A number of one or two digits in nearly all lines. */
static inline bool take_short_field(const char **at, const char *end, uint64_t *value)
{
    const char *text = *at;
    unsigned digit[3];
    if (end - text < 4 || *text != ':')
        return take_field(at, end, value);
    for (size_t i = 0; i < 3; i++)
        digit[i] = (unsigned)(unsigned char)text[i + 1] - '0';
    if (digit[0] > 9 || (digit[1] <= 9 && digit[2] <= 9))
        return take_field(at, end, value);
    bool two = digit[1] <= 9;
    *value = two ? digit[0] * 10 + digit[1] : digit[0];
    *at = text + 2 + two;
    return true;
}

/* A number that is long in nearly all lines: its first eight digits at once. */
static inline bool take_long_field(const char **at, const char *end, uint64_t *value)
{
    const char *digit = *at + 1, *sure;
    uint64_t number;
    if (end - *at < 9 || **at != ':' || !text_eight_digits(digit, &number))
        return take_field(at, end, value);
    sure = end - digit > 18 ? digit + 18 : end; /* so many digits fit */
    digit += 8;
    for (unsigned one; digit < sure && (one = (unsigned)(unsigned char)*digit - '0') < 10; digit++)
        number = number * 10 + one;
    /* As many digits as fit: there may be more. */
    if (digit < end && *digit >= '0' && *digit <= '9')
        return take_field(at, end, value);
    *value = number;
    *at = digit;
    return true;
}

/* In ns whatever the unit of the file is. */
static bool take_time(const struct paraver_header *header, const char **at, const char *end, int64_t *time_ns)
{
    uint64_t value;
    if (!take_long_field(at, end, &value) || value > (uint64_t)time_most_ns / header->unit_ns)
        return false;
    *time_ns = (int64_t)(value * header->unit_ns);
    return true;
}

/* cpu:application:task:thread. The cpu is where the thread ran, 0 if not known: it may change, and is not used. */
static const char *take_place(const struct paraver_header *header, const char **at, const char *end,
                              struct paraver_place *place)
{
    uint64_t cpu, application, task, thread;
    if (!take_short_field(at, end, &cpu) || !take_short_field(at, end, &application) ||
        !take_short_field(at, end, &task) || !take_short_field(at, end, &thread))
        return "a record without its fields";
    if (!paraver_process(header, application, task, &place->process))
        return "a record of a task that the header does not have";
    if (thread == 0 || thread > THREADS_MOST)
        return "a record of a thread that cannot be";
    place->thread = (uint32_t)thread - 1;
    return NULL;
}

static bool take_pairs(struct paraver_record *record, const char **at, const char *end)
{
    struct paraver_pair pair;
    record->pair_count = 0;
    while (*at < end) {
        /* Types are keys of 32 bits; the largest is kept for none. Values use all 64 bits. */
        if (!take_long_field(at, end, &pair.type) || !take_field(at, end, &pair.value) || pair.type >= UINT32_MAX)
            return false;
        ARRAY_PUSH(record->pairs, record->pair_count, record->pair_capacity, pair);
    }
    return record->pair_count > 0;
}

static const char *parse_communication(struct paraver_record *record, const struct paraver_header *header,
                                       const char *at, const char *end)
{
    /* The logical receive: when the receive was posted. No event has a place for it. */
    int64_t posted_ns;
    if (!take_time(header, &at, end, &record->sent_ns) || !take_time(header, &at, end, &record->time_ns))
        return "a communication without its times";
    const char *wrong = take_place(header, &at, end, &record->to);
    if (wrong)
        return wrong;
    if (!take_time(header, &at, end, &posted_ns) || !take_time(header, &at, end, &record->received_ns) ||
        !take_field(&at, end, &record->bytes) || !take_field(&at, end, &record->tag) || at != end)
        return "a communication without its fields";
    return NULL;
}

const char *paraver_record_place(struct paraver_record *record, const struct paraver_header *header, const char *at,
                                 const char *end)
{
    uint64_t kind;
    if (!text_take_u64(&at, end, &kind))
        return "a line that is no record";
    return take_place(header, &at, end, &record->at);
}

/* 1 is a state, 2 an event with its pairs, 3 a communication: nothing else is a record. */
const char *paraver_record_parse(struct paraver_record *record, const struct paraver_header *header, const char *at,
                                 const char *end)
{
    uint64_t kind;
    if (!text_take_u64(&at, end, &kind) || kind < PARAVER_STATE || kind > PARAVER_COMMUNICATION)
        return "a line that is no record";
    record->kind = (enum paraver_kind)kind;
    const char *wrong = take_place(header, &at, end, &record->at);
    if (wrong)
        return wrong;
    if (kind == PARAVER_COMMUNICATION)
        return parse_communication(record, header, at, end);
    if (!take_time(header, &at, end, &record->time_ns))
        return "a record without its time";
    if (kind == PARAVER_EVENT)
        return take_pairs(record, &at, end) ? NULL : "an event whose time, types and values are not all whole numbers";
    if (!take_time(header, &at, end, &record->end_ns) || !take_field(&at, end, &record->state) || at != end ||
        record->state >= UINT32_MAX)
        return "a state without its fields";
    if (record->end_ns >= record->time_ns)
        return NULL;
    return "a state that ends before it begins";
}

uint64_t paraver_record_value(const struct paraver_record *record, uint64_t type)
{
    for (size_t i = 0; i < record->pair_count; i++)
        if (record->pairs[i].type == type)
            return record->pairs[i].value < UINT32_MAX ? record->pairs[i].value : 0;
    return 0;
}

void paraver_record_clear(struct paraver_record *record)
{
    free(record->pairs);
    *record = (struct paraver_record){0};
}
