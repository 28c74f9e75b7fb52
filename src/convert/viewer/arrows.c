/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/viewer/arrows.h"

#include "core/memory.h"
#include "core/sorter.h"

#include <string.h>

enum { SORT_MEMORY = 16 << 20 };

/* What a point is sorted by, and told from others of the same hash by. */
struct stored {
    uint64_t other_hash;
    struct arrow_point point;
};

struct arrows {
    struct sorter *sorted;
    bool reads, ended;
    /* The points of the text at hand: those that arrows have begun at and that none has reached yet, first in first
       out. */
    uint64_t hash, other_hash, seen;
    struct arrow_point *open;
    size_t first, count, capacity;
    bool stepped;             /* the first of them has been reached by a step, so that it may be the last point */
    bool mixed;               /* they were of several processes: which of them is reached is not known */
    struct arrow_point early; /* an end before all begins, if it is the first point: clocks may differ */
    bool has_early;
    uint64_t lost, uncertain;
};

struct arrows *arrows_new(void)
{
    struct arrows *arrows = memory_new(sizeof *arrows);
    arrows->sorted = sorter_new(SORT_MEMORY);
    return arrows;
}

void arrows_free(struct arrows *arrows)
{
    if (!arrows)
        return;
    sorter_free(arrows->sorted);
    free(arrows->open);
    free(arrows);
}

/* FNV-1a, from one of two starts: both at once do not agree by chance. */
static uint64_t hash_of(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

enum status arrows_add(struct arrows *arrows, const char *text, const struct arrow_point *point, struct error *err)
{
    struct stored stored = {.other_hash = hash_of(UINT64_C(0x6C62272E07BB0142), text), .point = *point};
    struct sort_key key = {.major = hash_of(UINT64_C(14695981039346656037), text),
                           .minor = sort_key_signed(point->time_ns)};
    return sorter_add(arrows->sorted, key, &stored, sizeof stored, err);
}

static void begin(struct arrows *arrows, const struct arrow_point *point)
{
    /* Writers that end arrows by steps use a number again. */
    if (arrows->stepped && arrows->count == 1) {
        arrows->count = 0;
        arrows->stepped = false;
    }
    if (arrows->count == 0) {
        arrows->first = 0;
        arrows->mixed = false;
    } else {
        arrows->mixed |= arrows->open[arrows->first].process != point->process;
    }
    ARRAY_RESERVE(arrows->open, arrows->capacity, arrows->first + arrows->count + 1);
    arrows->open[arrows->first + arrows->count++] = *point;
}

/* The arrow that leads to a point. False: none is known to. */
static bool reach(struct arrows *arrows, const struct arrow_point *point, struct arrow *arrow)
{
    bool ends = point->kind == ARROW_ENDS;
    if (arrows->count == 0) {
        arrows->lost++;
        return false;
    }
    struct arrow_point *open = &arrows->open[arrows->first];
    *arrow = (struct arrow){*open, *point};
    if (ends) {
        arrows->first++;
        arrows->count--;
    } else {
        *open = *point;
    }
    arrows->stepped = !ends;
    arrows->uncertain += arrows->mixed;
    return !arrows->mixed;
}

/* Begins the points of another text, of which this is the first; what is left of those before leads nowhere. True: an
   arrow whose end was recorded before its begin. */
static bool change_text(struct arrows *arrows, const struct sort_key *key, const struct stored *stored,
                        struct arrow *arrow)
{
    bool turned = arrows->seen == 2 && arrows->has_early && arrows->count == 1 && !arrows->stepped;
    if (turned) {
        *arrow = (struct arrow){arrows->open[arrows->first], arrows->early};
        arrows->lost--;
    } else {
        arrows->lost += arrows->count - (arrows->stepped && arrows->count > 0);
    }
    arrows->seen = arrows->count = arrows->first = 0;
    arrows->stepped = arrows->mixed = arrows->has_early = false;
    if (stored) {
        arrows->hash = key->major;
        arrows->other_hash = stored->other_hash;
    }
    return turned;
}

static bool take(struct arrows *arrows, const struct arrow_point *point, struct arrow *arrow)
{
    bool begins = point->kind == ARROW_BEGINS || (point->kind == ARROW_GOES_ON && arrows->count == 0);
    if (arrows->seen++ == 0 && point->kind == ARROW_ENDS) {
        arrows->early = *point;
        arrows->has_early = true;
    }
    if (begins) {
        begin(arrows, point);
        return false;
    }
    return reach(arrows, point, arrow);
}

enum status arrows_next(struct arrows *arrows, struct arrow *arrow, struct error *err)
{
    if (!arrows->reads && sorter_rewind(arrows->sorted, err) != STATUS_OK)
        return STATUS_FAILED;
    arrows->reads = true;
    while (!arrows->ended) {
        struct sort_key key;
        struct stored stored;
        const void *data;
        size_t length;
        enum status status = sorter_next(arrows->sorted, &key, &data, &length, err);
        if (status == STATUS_FAILED)
            return status;
        arrows->ended = status == STATUS_END;
        if (arrows->ended)
            return change_text(arrows, NULL, NULL, arrow) ? STATUS_OK : STATUS_END;
        memcpy(&stored, data, sizeof stored);
        bool other = key.major != arrows->hash || stored.other_hash != arrows->other_hash;
        bool found = other && change_text(arrows, &key, &stored, arrow);
        /* The first point of a text leads to no arrow, so that there is never more than one. */
        found |= take(arrows, &stored.point, arrow);
        if (found)
            return STATUS_OK;
    }
    return STATUS_END;
}

uint64_t arrows_lost(const struct arrows *arrows)
{
    return arrows->lost;
}

uint64_t arrows_uncertain(const struct arrows *arrows)
{
    return arrows->uncertain;
}
