/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/record_plan.h"

#include "core/event.h"
#include "core/map.h"
#include "core/memory.h"
#include "core/record_digest.h"

#include <stdlib.h>
#include <string.h>

/* A piece of a file. */
struct entry {
    struct record_segment segment;
    uint32_t file;
    size_t piece;
};

/* One end of a message. */
struct end {
    uint64_t channel, number;
    bool receive;
    uint32_t file;
    size_t at;
};

struct planning {
    struct record_run *run;
    const struct defs *defs;
    struct record_plan *plan;
    struct entry *entries;
    size_t count, capacity;
    int64_t end_ns, shift_ns; /* of what is selected so far */
    struct end *ends;
    size_t end_count, end_capacity;
    struct map sent, received; /* channel -> messages of the whole run */
    bool uncounted;            /* numbers of channels are not known: those of each piece begin with 0 */
};

static int compare_segments(const struct record_segment *left, const struct record_segment *right)
{
    if (left->anchor != right->anchor)
        return left->anchor < right->anchor ? -1 : 1;
    return left->slice < right->slice ? -1 : left->slice > right->slice;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    int order = compare_segments(&left->segment, &right->segment);
    if (order != 0)
        return order;
    return left->file < right->file ? -1 : left->file > right->file;
}

static struct record_kept_piece *piece_of(const struct planning *planning, const struct entry *entry)
{
    return &planning->run->files[entry->file].kept->pieces[entry->piece];
}

/* The first thread of a process, which has its collective calls. */
static bool counts(const struct record_file *file)
{
    return file->kept && file->header.thread == 0;
}

static bool clock_known(const struct record_run *run, size_t file)
{
    return run->clocks.maps[run->processes[run->process_of[file]].clock_map].knot_count > 0;
}

static int64_t time_of(const struct record_run *run, size_t file, int64_t ticks)
{
    const struct record_process *process = &run->processes[run->process_of[file]];
    size_t knot = 0;
    int64_t here_ns = record_clock_ns(&run->clocks.maps[process->clock_map], &knot, ticks);
    return here_ns + record_run_offset(run, process, here_ns);
}

static void list_pieces(struct planning *planning)
{
    for (size_t i = 0; i < planning->run->file_count; i++) {
        const struct record_file *file = &planning->run->files[i];
        for (size_t k = 0; counts(file) && k < file->kept->piece_count; k++)
            if (file->kept->pieces[k].whole && clock_known(planning->run, i))
                ARRAY_PUSH(planning->entries, planning->count, planning->capacity,
                           (struct entry){file->kept->pieces[k].segment, (uint32_t)i, k});
    }
    if (planning->count > 0)
        qsort(planning->entries, planning->count, sizeof *planning->entries, compare_entries);
}

/* Files that take part in a segment: all but those that ended before. */
static size_t expected(const struct planning *planning, const struct record_segment *segment)
{
    size_t count = 0;
    for (size_t i = 0; i < planning->run->file_count; i++) {
        const struct record_file *file = &planning->run->files[i];
        if (counts(file) && compare_segments(&file->kept->totals->segment, segment) >= 0)
            count++;
    }
    return count;
}

/* Events between a piece and the one that is selected before it. */
static uint64_t left_out_before(const struct record_kept_stream *kept, size_t piece)
{
    size_t i = piece;
    while (i > 0 && !kept->pieces[i - 1].selected)
        i--;
    uint64_t before = i > 0 ? kept->pieces[i - 1].before + kept->pieces[i - 1].events : 0;
    return kept->pieces[piece].before > before ? kept->pieces[piece].before - before : 0;
}

/* The entries of one segment, of all files that take part. */
static void select_segment(struct planning *planning, const struct entry *entries, size_t count)
{
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
    bool gap = false;
    uint32_t why = 0;
    for (size_t i = 0; i < count; i++) {
        struct record_kept_piece *piece = piece_of(planning, &entries[i]);
        int64_t from_ns = time_of(planning->run, entries[i].file, piece->begin_ticks);
        int64_t to_ns = time_of(planning->run, entries[i].file, piece->end_ticks);
        /* The first piece of a run begins with its first record. */
        if (piece->before > 0 && from_ns < begin_ns)
            begin_ns = from_ns;
        if (to_ns > end_ns)
            end_ns = to_ns;
        piece->selected = true;
        piece->after_gap = left_out_before(planning->run->files[entries[i].file].kept, entries[i].piece) > 0;
        gap |= piece->after_gap;
        why |= piece->why;
    }
    if (gap && planning->end_ns != INT64_MIN && begin_ns != INT64_MAX && begin_ns > planning->end_ns)
        planning->shift_ns += begin_ns - planning->end_ns;
    for (size_t i = 0; i < count; i++)
        piece_of(planning, &entries[i])->shift_ns = planning->shift_ns;
    if (end_ns > planning->end_ns)
        planning->end_ns = end_ns;
    planning->plan->selected++;
    planning->plan->head += (why & RECORD_KEPT_HEAD) != 0;
    planning->plan->worst += (why & (RECORD_KEPT_HEAD | RECORD_KEPT_WORST)) == RECORD_KEPT_WORST;
}

static void select_segments(struct planning *planning)
{
    for (size_t i = 0, next; i < planning->count; i = next) {
        const struct record_segment *segment = &planning->entries[i].segment;
        for (next = i + 1; next < planning->count; next++)
            if (compare_segments(segment, &planning->entries[next].segment) != 0)
                break;
        if (next - i >= expected(planning, segment))
            select_segment(planning, planning->entries + i, next - i);
    }
}

/* Other threads have no collective calls to go by: of theirs what lies within a segment of their process is selected.
 */
static void select_of_thread(struct planning *planning, const struct record_kept_stream *main, struct record_file *file)
{
    size_t k = 0;
    for (size_t i = 0; i < file->kept->piece_count; i++) {
        struct record_kept_piece *piece = &file->kept->pieces[i];
        while (k < main->piece_count && (!main->pieces[k].selected || main->pieces[k].end_ticks < piece->end_ticks))
            k++;
        bool last = k == main->piece_count && main->piece_count > 0 && main->pieces[k - 1].selected;
        const struct record_kept_piece *around = last ? &main->pieces[k - 1] : &main->pieces[k];
        if ((!last && k == main->piece_count) || around->begin_ticks > piece->begin_ticks || !piece->whole)
            continue;
        piece->selected = true;
        piece->shift_ns = around->shift_ns;
        piece->after_gap = left_out_before(file->kept, i) > 0;
    }
    (void)planning;
}

static void select_threads(struct planning *planning)
{
    struct record_run *run = planning->run;
    const struct record_kept_stream *main = NULL;
    for (size_t i = 0; i < run->file_count; i++) {
        if (run->files[i].header.thread == 0)
            main = run->files[i].kept;
        else if (run->files[i].kept && main && i > 0 && record_file_same_process(&run->files[i - 1], &run->files[i]))
            select_of_thread(planning, main, &run->files[i]);
    }
}

/* Messages. */

static uint64_t key_of(uint64_t kind, uint64_t comm, int32_t partner, int32_t tag)
{
    return map_hash(map_hash(kind << 32 ^ comm) ^ map_pair((uint32_t)partner, (uint32_t)tag)) >> 1;
}

/* The channel as both ends know it; false: the message has no other end. */
static bool channel_of(const struct planning *planning, size_t file, uint32_t comm, int32_t partner, int32_t tag,
                       bool receive, uint64_t *channel)
{
    const struct record_process *process = &planning->run->processes[planning->run->process_of[file]];
    const struct record_comm_place *place = record_run_comm(process, comm);
    if (!place || place->foreign || partner < 0)
        return false;
    int32_t other = place->partner == 0 ? partner : defs_world_rank(planning->defs, place->partner, partner);
    int32_t own = (int32_t)process->rank;
    int32_t both = place->inter == EVENT_UNKNOWN ? place->comm : place->inter;
    *channel =
        map_hash(key_of((uint64_t)(uint32_t)both, (uint32_t)(receive ? other : own), receive ? own : other, tag));
    *channel >>= 1;
    return true;
}

struct scanned {
    uint32_t kind; /* enum record_channel_kind, of a message */
    uint32_t comm;
    int32_t partner, tag;
};

/* True if the record is one end of a message. */
static bool scan(const unsigned char *at, struct scanned *message)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    uint8_t kind = (uint8_t)(word & 0x7F);
    if (kind != RECORD_SEND && kind != RECORD_RECEIVE)
        return false;
    bool brief = (word & RECORD_SHORT) != 0;
    const unsigned char *body = at + (brief ? sizeof word : sizeof(struct record_base));
    message->kind = kind == RECORD_SEND ? RECORD_CHANNEL_SENT : RECORD_CHANNEL_RECEIVED;
    message->comm = (uint32_t)(brief ? word >> RECORD_SHORT_COMM & (RECORD_SHORT_COMMS - 1) : word >> 32);
    memcpy(&message->partner, body, sizeof message->partner);
    memcpy(&message->tag, body + 4, sizeof message->tag);
    return true;
}

/* Counts the messages of records by channel. */
static void count_messages(const struct record_kept_stream *kept, size_t begin, size_t end, struct map *numbers)
{
    struct scanned message;
    for (size_t at = begin, length; at < end && (length = record_length(kept->bytes + at, end - at)) > 0; at += length)
        if (scan(kept->bytes + at, &message))
            ++*map_put(numbers, key_of(message.kind, message.comm, message.partner, message.tag), 0);
}

/* From the count of messages in a piece to the number of its first, by what the recorder counted up to its end. */
static void numbers_of_piece(const struct record_kept_stream *kept, const struct record_kept_piece *piece,
                             struct map *numbers)
{
    count_messages(kept, piece->begin, piece->end, numbers);
    for (size_t at = piece->end; at + sizeof(struct record_channel) <= piece->after;
         at += sizeof(struct record_channel)) {
        struct record_channel channel;
        memcpy(&channel, kept->bytes + at, sizeof channel);
        uint64_t *number =
            map_find(numbers, key_of(channel.base.state, channel.base.comm, channel.partner, channel.tag));
        if (number)
            *number = channel.count - *number;
    }
}

static void numbers_of_end(const struct record_kept_stream *kept, size_t begin, struct map *numbers)
{
    count_messages(kept, begin, kept->size, numbers);
    for (uint32_t i = 0; i < kept->totals->channel_count; i++) {
        const struct record_totals_channel *channel = &kept->totals->channels[i];
        uint64_t *number = NULL;
        if (channel->kind == RECORD_CHANNEL_SENT || channel->kind == RECORD_CHANNEL_RECEIVED)
            number = map_find(numbers, key_of(channel->kind, channel->comm, channel->partner, channel->tag));
        if (number)
            *number = channel->count - *number;
    }
}

/* Notes the ends of messages in a piece. */
static void note_messages(struct planning *planning, size_t file, const struct record_kept_piece *piece,
                          struct map *numbers)
{
    const struct record_kept_stream *kept = planning->run->files[file].kept;
    struct scanned message;
    for (size_t at = piece->begin, length;
         at < piece->end && (length = record_length(kept->bytes + at, piece->end - at)) > 0; at += length) {
        if (!scan(kept->bytes + at, &message))
            continue;
        struct end end = {.receive = message.kind == RECORD_CHANNEL_RECEIVED, .file = (uint32_t)file, .at = at};
        end.number = (*map_put(numbers, key_of(message.kind, message.comm, message.partner, message.tag), 0))++;
        if (!piece->selected ||
            !channel_of(planning, file, message.comm, message.partner, message.tag, end.receive, &end.channel))
            continue;
        if (planning->uncounted)
            end.number += map_hash(piece->segment.anchor ^ map_hash(piece->segment.slice)) << 20;
        ARRAY_PUSH(planning->ends, planning->end_count, planning->end_capacity, end);
    }
}

static void number_messages(struct planning *planning, size_t file)
{
    const struct record_kept_stream *kept = planning->run->files[file].kept;
    struct map numbers = {0};
    bool at_end = false;
    for (size_t i = 0; i < kept->piece_count; i++) {
        const struct record_kept_piece *piece = &kept->pieces[i];
        if (planning->uncounted || !at_end)
            map_clear(&numbers);
        if (!planning->uncounted && piece->why)
            numbers_of_piece(kept, piece, &numbers);
        else if (!planning->uncounted && !at_end)
            numbers_of_end(kept, piece->begin, &numbers);
        at_end = !piece->why;
        note_messages(planning, file, piece, &numbers);
    }
    map_clear(&numbers);
}

/* How many messages the channels had in the whole run. */
static void count_channels(struct planning *planning, size_t file)
{
    const struct record_totals *totals = planning->run->files[file].kept->totals;
    for (uint32_t i = 0; i < totals->channel_count; i++) {
        const struct record_totals_channel *row = &totals->channels[i];
        uint64_t channel;
        if (row->kind != RECORD_CHANNEL_SENT && row->kind != RECORD_CHANNEL_RECEIVED)
            continue;
        bool receive = row->kind == RECORD_CHANNEL_RECEIVED;
        if (channel_of(planning, file, row->comm, row->partner, row->tag, receive, &channel))
            *map_put(receive ? &planning->received : &planning->sent, channel, 0) += row->count;
    }
}

static int compare_ends(const void *a, const void *b)
{
    const struct end *left = a, *right = b;
    if (left->channel != right->channel)
        return left->channel < right->channel ? -1 : 1;
    if (left->number != right->number)
        return left->number < right->number ? -1 : 1;
    return left->receive - right->receive;
}

/* Of one message only this end is selected. One that has no other end, as it was never received, stays. */
static void drop_alone(struct planning *planning, const struct end *end)
{
    struct record_kept_stream *kept = planning->run->files[end->file].kept;
    const uint64_t *others = map_find(end->receive ? &planning->sent : &planning->received, end->channel);
    if (!planning->uncounted && (!others || end->number >= *others))
        return;
    ARRAY_PUSH(kept->dropped, kept->dropped_count, kept->dropped_capacity, end->at);
    planning->plan->messages++;
}

static int compare_places(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return left < right ? -1 : left > right;
}

static void drop_messages(struct planning *planning)
{
    struct record_run *run = planning->run;
    for (size_t i = 0; i < run->file_count; i++)
        planning->uncounted |= run->files[i].kept && run->files[i].kept->totals->folds > 0;
    for (size_t i = 0; i < run->file_count; i++)
        if (run->files[i].kept) {
            number_messages(planning, i);
            count_channels(planning, i);
        }
    if (planning->end_count > 0)
        qsort(planning->ends, planning->end_count, sizeof *planning->ends, compare_ends);
    for (size_t i = 0; i < planning->end_count; i++) {
        const struct end *end = &planning->ends[i];
        bool pair = i + 1 < planning->end_count && end[1].channel == end->channel && end[1].number == end->number &&
                    end[1].receive != end->receive;
        if (pair)
            i++;
        else
            drop_alone(planning, end);
    }
    for (size_t i = 0; i < run->file_count; i++)
        if (run->files[i].kept && run->files[i].kept->dropped_count > 0)
            qsort(run->files[i].kept->dropped, run->files[i].kept->dropped_count, sizeof(size_t), compare_places);
}

static void sum_up(const struct planning *planning)
{
    struct record_plan *plan = planning->plan;
    for (size_t i = 0; i < planning->run->file_count; i++) {
        const struct record_kept_stream *kept = planning->run->files[i].kept;
        uint64_t selected = 0;
        for (size_t k = 0; kept && k < kept->piece_count; k++)
            selected += kept->pieces[k].selected ? kept->pieces[k].events : 0;
        if (!kept)
            continue;
        plan->events += kept->totals->events;
        plan->lost_definitions += kept->totals->lost_definitions + planning->run->files[i].lost_comms;
        plan->lost_channels += kept->totals->lost_channels;
        plan->limit_bytes = planning->run->files[i].header.kept;
        plan->bytes += planning->run->files[i].size;
        plan->left_out += kept->totals->events > selected ? kept->totals->events - selected : 0;
        if (counts(&planning->run->files[i]) && kept->totals->segments + 1 > plan->segments) {
            plan->segments = kept->totals->segments + 1;
            plan->anchors = kept->totals->anchors;
        }
    }
    plan->gap_ns = planning->shift_ns;
}

void record_plan_make(struct record_run *run, const struct defs *defs, struct record_plan *plan)
{
    struct planning planning = {.run = run, .defs = defs, .plan = plan, .end_ns = INT64_MIN};
    *plan = (struct record_plan){0};
    for (size_t i = 0; i < run->file_count; i++) {
        plan->kept |= run->files[i].kept != NULL;
        for (size_t k = 0; run->files[i].kept && k < run->files[i].kept->piece_count; k++)
            run->files[i].kept->pieces[k].selected = false;
    }
    if (!plan->kept)
        return;
    list_pieces(&planning);
    select_segments(&planning);
    select_threads(&planning);
    sum_up(&planning);
    if (plan->left_out > 0)
        drop_messages(&planning);
    free(planning.entries);
    free(planning.ends);
    map_clear(&planning.sent);
    map_clear(&planning.received);
}
