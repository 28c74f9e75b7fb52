/* SPDX-License-Identifier: BSD-3-Clause */
#include "phases/phases.h"

#include "core/memory.h"
#include "core/numbers.h"

#include <stdio.h>
#include <string.h>

/* A user state with this share of every process is the program itself: use the states inside. */
static const double WHOLE = 0.95;

/* Names that occur this often on average belong to a loop's body. */
enum { AGAIN = 3 };

/* A program's own parts count as phases if its states take this share of the run together, or its events cut it into
   two parts that matter. */
static const double OWN_LEAST = 0.5;

/* The minimum share of the run for phases cut by collectives. */
static const double CUT_LEAST = 0.02;

/* A phase with its own name, and its place on each process. */
struct part {
    char *name;
    uint32_t loop;
    int64_t *begins, *ends; /* by process */
};

struct parts {
    struct part *part;
    size_t count, capacity;
    size_t processes;
};

static struct part *add_part(struct parts *parts, const char *name, uint32_t loop)
{
    struct part part = {memory_copy_string(name), loop, memory_new(parts->processes * sizeof *part.begins),
                        memory_new(parts->processes * sizeof *part.ends)};
    ARRAY_PUSH(parts->part, parts->count, parts->capacity, part);
    return &parts->part[parts->count - 1];
}

static void parts_clear(struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        free(parts->part[i].name);
        free(parts->part[i].begins);
        free(parts->part[i].ends);
    }
    free(parts->part);
    parts->part = NULL;
    parts->count = parts->capacity = 0;
}

struct finder {
    const struct graph *graph;
    struct phases *phases;
    int64_t *begins_ns, *ends_ns; /* by process: first and last event of all its threads */
    struct parts parts;
};

static void find_ends(struct finder *finder)
{
    const struct common_loops *loops = &finder->phases->loops;
    finder->begins_ns = memory_new(loops->process_count * sizeof *finder->begins_ns);
    finder->ends_ns = memory_new(loops->process_count * sizeof *finder->ends_ns);
    for (size_t i = 0; i < loops->process_count; i++) {
        finder->begins_ns[i] = INT64_MAX;
        finder->ends_ns[i] = INT64_MIN;
    }
    for (size_t i = 0; i < finder->graph->location_count; i++) {
        const struct location *location = &finder->graph->locations[i];
        uint32_t process = loops->processes[i];
        if (location->begin_ns < finder->begins_ns[process])
            finder->begins_ns[process] = location->begin_ns;
        if (location->end_ns > finder->ends_ns[process])
            finder->ends_ns[process] = location->end_ns;
    }
}

/* Phases of the program's own */

/* Which of a program's lists phases are made of. */
enum user_kind { USER_OUTERMOST, USER_INSIDE, USER_EVENTS };

static const struct user_list *list_of(const struct finder *finder, const struct user_spans *spans, uint32_t process,
                                       enum user_kind kind)
{
    uint32_t rank = finder->graph->locations[finder->phases->loops.locations[process]].process;
    const struct user_process *at = user_spans_of(spans, rank);
    if (!at)
        return NULL;
    if (kind == USER_EVENTS)
        return &at->events;
    return &at->states[kind == USER_INSIDE];
}

/* Names that occur equally often on each process, as a map from name to count. False: a process has too many. */
static bool names_in_common(const struct finder *finder, const struct user_spans *spans, enum user_kind kind,
                            struct map *common)
{
    size_t processes = finder->phases->loops.process_count;
    struct map times = {0}, odd = {0};
    bool fine = processes > 0;
    for (uint32_t p = 0; p < processes && fine; p++) {
        const struct user_list *list = list_of(finder, spans, p, kind);
        fine = list && !list->overflow;
        for (size_t i = 0; fine && i < list->count; i++)
            ++*map_put(&times, map_pair(list->spans[i].name, p), 0);
    }
    const struct user_list *first = NULL;
    if (fine)
        first = list_of(finder, spans, 0, kind);
    for (size_t i = 0; first && i < first->count; i++) {
        uint32_t name = first->spans[i].name;
        uint64_t want = *map_find(&times, map_pair(name, 0));
        for (uint32_t p = 1; p < processes; p++) {
            const uint64_t *got = map_find(&times, map_pair(name, p));
            if (!got || *got != want)
                *map_put(&odd, name, 1) = 1;
        }
        if (!map_find(&odd, name))
            *map_put(common, name, want) = want;
    }
    map_clear(&times);
    map_clear(&odd);
    return fine;
}

/* The next span of the list whose name is common, from place *at on; NULL: there is none. */
static const struct user_span *next_common(const struct user_list *list, const struct map *common, size_t *at)
{
    while (*at < list->count)
        if (map_find(common, list->spans[(*at)++].name))
            return &list->spans[*at - 1];
    return NULL;
}

static void add_user_parts(struct finder *finder, const struct user_spans *spans, enum user_kind kind,
                           const struct map *common)
{
    size_t processes = finder->phases->loops.process_count;
    for (uint32_t p = 0; p < processes; p++) {
        const struct user_list *list = list_of(finder, spans, p, kind);
        const struct user_span *span;
        size_t at = 0, place = 0;
        for (; (span = next_common(list, common, &at)); place++) {
            const char *name; /* by number, of marks or of states: there may be more of the one than of the other */
            if (kind == USER_EVENTS)
                name = spans->defs->marks[span->name].name;
            else
                name = spans->defs->states[span->name].name;
            /* All processes have the same parts in the same order (same_order): the first process makes them. */
            if (p == 0)
                add_part(&finder->parts, name, PHASE_NONE);
            struct part *part = &finder->parts.part[place];
            part->begins[p] = span->begin_ns;
            /* An event begins a part that extends to the next event. */
            size_t next = at;
            const struct user_span *after = next_common(list, common, &next);
            part->ends[p] = span->end_ns;
            if (kind == USER_EVENTS)
                part->ends[p] = after ? after->begin_ns : finder->ends_ns[p];
        }
    }
}

/* True if all processes have the same common names in the same order, not too many and not repeated: a repeated part
   belongs to a loop, which is the phase. */
static bool same_order(const struct finder *finder, const struct user_spans *spans, enum user_kind kind,
                       const struct map *common)
{
    const struct user_list *first = list_of(finder, spans, 0, kind);
    for (uint32_t p = 1; p < finder->phases->loops.process_count; p++) {
        const struct user_list *list = list_of(finder, spans, p, kind);
        size_t at = 0, first_at = 0;
        const struct user_span *span, *model;
        do {
            span = next_common(list, common, &at);
            model = next_common(first, common, &first_at);
            if ((span == NULL) != (model == NULL) || (span && span->name != model->name))
                return false;
        } while (span);
    }
    size_t at = 0, parts = 0;
    while (next_common(first, common, &at))
        parts++;
    return parts > 0 && 2 * parts + 1 <= PHASES_MOST && parts < AGAIN * common->count;
}

/* True if the outermost state is the program itself, on all processes. */
static bool is_whole(const struct finder *finder, const struct user_spans *spans)
{
    for (uint32_t p = 0; p < finder->phases->loops.process_count; p++) {
        const struct user_list *list = list_of(finder, spans, p, USER_OUTERMOST);
        double all = (double)time_since(finder->begins_ns[p], finder->ends_ns[p]);
        if (!list || list->count != 1 || list->spans[0].count != 1 ||
            (double)time_since(list->spans[0].begin_ns, list->spans[0].end_ns) < WHOLE * all)
            return false;
    }
    return true;
}

/* The average time of a process between the end and the begin. */
static double mean_gap(const struct finder *finder, const int64_t *ends, const int64_t *begins)
{
    size_t processes = finder->parts.processes;
    double sum = 0;
    for (size_t p = 0; p < processes; p++)
        if (ends[p] != INT64_MIN && begins[p] != INT64_MIN)
            sum += (double)time_since(ends[p], begins[p]);
    return sum / (double)processes;
}

static bool parts_matter(const struct finder *finder, bool events)
{
    double all = mean_gap(finder, finder->begins_ns, finder->ends_ns), sum = 0;
    size_t long_ones = 0;
    for (size_t i = 0; i < finder->parts.count; i++) {
        const struct part *part = &finder->parts.part[i];
        double time = mean_gap(finder, part->begins, part->ends);
        sum += time;
        long_ones += time > PHASES_GAP * all;
    }
    if (finder->parts.count > 0)
        long_ones += mean_gap(finder, finder->begins_ns, finder->parts.part[0].begins) > PHASES_GAP * all;
    if (events)
        return long_ones > 1;
    return sum >= OWN_LEAST * all;
}

static bool find_user_phases(struct finder *finder, const struct user_spans *spans)
{
    enum user_kind kinds[] = {USER_OUTERMOST, USER_EVENTS};
    if (is_whole(finder, spans))
        kinds[0] = USER_INSIDE;
    /* States before events: they say where a part ends, too. */
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && finder->parts.count == 0; i++) {
        struct map common = {0};
        if (names_in_common(finder, spans, kinds[i], &common) && same_order(finder, spans, kinds[i], &common))
            add_user_parts(finder, spans, kinds[i], &common);
        map_clear(&common);
        if (!parts_matter(finder, kinds[i] == USER_EVENTS))
            parts_clear(&finder->parts);
    }
    return finder->parts.count > 0;
}

/* Phases that are loops */

static bool find_loop_phases(struct finder *finder)
{
    const struct common_loops *loops = &finder->phases->loops;
    /* Room for the gaps before, between and after the loops: each loop adds two phases. */
    for (uint32_t i = 0; i < loops->count && 2 * finder->parts.count + 3 <= PHASES_MOST; i++) {
        char name[32];
        if (!loops->rows[i].matched)
            continue;
        snprintf(name, sizeof name, "loop %zu", finder->parts.count + 1);
        struct part *part = add_part(&finder->parts, name, i);
        for (uint32_t p = 0; p < loops->process_count; p++) {
            part->begins[p] = common_loops_start(loops, i, p, 0);
            part->ends[p] = common_loops_start(loops, i, p, loops->rows[i].matched);
        }
    }
    /* One loop needs no number. */
    if (finder->parts.count == 1)
        finder->parts.part[0].name[strlen("loop")] = '\0';
    return finder->parts.count > 0;
}

/* Phases between collectives of the whole run */

/* Chooses the world's collectives that end a phase: so that none is short, and a long one is separate. Returns their
   number.
 */
static size_t choose_cuts(const struct location_reading *reading, const struct location *location, uint32_t *cuts)
{
    size_t count = 0;
    int64_t least_ns = (int64_t)(CUT_LEAST * (double)time_since(location->begin_ns, location->end_ns));
    int64_t begin_ns = location->begin_ns, before_ns = location->begin_ns;
    for (uint32_t i = 0; i < reading->count && count + 3 <= PHASES_MOST; i++) {
        int64_t leave_ns = reading->leave_ns[i];
        /* A long stretch before this collective becomes a phase of its own, cut off by the one before. */
        if (time_since(before_ns, leave_ns) >= least_ns && time_since(begin_ns, before_ns) >= least_ns && i > 0 &&
            (count == 0 || cuts[count - 1] != i - 1)) {
            cuts[count++] = i - 1;
            begin_ns = before_ns;
        }
        if (time_since(begin_ns, leave_ns) >= least_ns) {
            cuts[count++] = i;
            begin_ns = leave_ns;
        }
        before_ns = leave_ns;
    }
    /* There is nothing after the last. */
    while (count > 0 && time_since(reading->leave_ns[cuts[count - 1]], location->end_ns) < least_ns)
        count--;
    return count;
}

static bool find_synchronised_phases(struct finder *finder)
{
    const struct common_loops *loops = &finder->phases->loops;
    size_t processes = loops->process_count, count = 0;
    uint32_t cuts[PHASES_MOST];
    struct location_reading reading = {0};
    bool fine = true;
    for (uint32_t p = 0; p < processes && fine; p++) {
        location_read(finder->graph, loops->locations[p], LOCATION_WORLD, LOCATION_TIMES, &reading);
        if (p == 0)
            count = choose_cuts(&reading, &finder->graph->locations[loops->locations[0]], cuts);
        fine = count > 0 && cuts[count - 1] < reading.count;
        for (size_t i = 0; fine && i <= count; i++) {
            char name[32];
            snprintf(name, sizeof name, "phase %zu", i + 1);
            struct part *part = p == 0 ? add_part(&finder->parts, name, PHASE_NONE) : &finder->parts.part[i];
            part->begins[p] = i == 0 ? finder->begins_ns[p] : reading.leave_ns[cuts[i - 1]];
            part->ends[p] = i == count ? finder->ends_ns[p] : reading.leave_ns[cuts[i]];
        }
    }
    location_reading_clear(&reading);
    if (!fine)
        parts_clear(&finder->parts);
    return finder->parts.count > 0;
}

/* Tiles */

struct tiler {
    struct finder *finder;
    double least; /* of a part without a name of its own */
    size_t capacity;
};

/* Adds a phase that begins at these times. */
static void add_phase(struct tiler *tiler, const char *format, const char *name, uint32_t loop, const int64_t *begins)
{
    struct phases *phases = tiler->finder->phases;
    char text[256];
    snprintf(text, sizeof text, format, name);
    ARRAY_RESERVE(phases->phase, tiler->capacity, phases->count + 1);
    phases->phase[phases->count] = (struct phase){.name = memory_copy_string(text), .loop = loop};
    for (size_t p = 0; p < tiler->finder->parts.processes; p++)
        phases->begins[p * (2 * tiler->finder->parts.count + 2) + phases->count] = begins[p];
    phases->count++;
}

/* Begins never go back: a phase that a process lacks, or has in another order, is empty there. */
static void finish_begins(struct finder *finder, size_t stride)
{
    struct phases *phases = finder->phases;
    size_t processes = finder->parts.processes, count = phases->count;
    int64_t *begins = memory_new(processes * (count + 1) * sizeof *begins);
    for (size_t p = 0; p < processes; p++) {
        int64_t now = finder->begins_ns[p];
        for (size_t i = 0; i <= count; i++) {
            /* The first phase begins with the process, and the end of the last one is that of the process. */
            int64_t wanted = now;
            if (i == count)
                wanted = finder->ends_ns[p];
            else if (i > 0)
                wanted = phases->begins[p * stride + i];
            now = smaller(larger(wanted, now), finder->ends_ns[p]);
            begins[p * (count + 1) + i] = now;
        }
    }
    free(phases->begins);
    phases->begins = begins;
    for (size_t i = 0; i < count; i++) {
        double begin = 0, end = 0;
        for (uint32_t p = 0; p < processes; p++) {
            begin += (double)phases_begin(phases, p, i) / (double)processes;
            end += (double)phases_begin(phases, p, i + 1) / (double)processes;
        }
        phases->phase[i].begin_ns = (int64_t)begin;
        phases->phase[i].end_ns = (int64_t)end;
    }
}

/* Phases for the parts, and for the gaps before, between and after them. */
static void tile(struct finder *finder)
{
    struct parts *parts = &finder->parts;
    size_t stride = 2 * parts->count + 2;
    struct tiler tiler = {.finder = finder};
    tiler.least = PHASES_GAP * mean_gap(finder, finder->begins_ns, finder->ends_ns);
    finder->phases->begins = memory_new(parts->processes * stride * sizeof *finder->phases->begins);
    if (parts->count == 0)
        add_phase(&tiler, "%s", "the whole run", PHASE_NONE, finder->begins_ns);
    else if (mean_gap(finder, finder->begins_ns, parts->part[0].begins) > tiler.least)
        add_phase(&tiler, "before %s", parts->part[0].name, PHASE_NONE, finder->begins_ns);
    for (size_t i = 0; i < parts->count; i++) {
        const struct part *part = &parts->part[i];
        const int64_t *next = i + 1 < parts->count ? part[1].begins : finder->ends_ns;
        add_phase(&tiler, "%s", part->name, part->loop, part->begins);
        if (mean_gap(finder, part->ends, next) > tiler.least)
            add_phase(&tiler, "after %s", part->name, PHASE_NONE, part->ends);
    }
    finish_begins(finder, stride);
}

static uint32_t longest_loop(const struct common_loops *loops)
{
    uint32_t longest = PHASE_NONE;
    for (uint32_t i = 0; i < loops->count; i++)
        if (loops->rows[i].matched && (longest == PHASE_NONE || loops->rows[i].time_ns > loops->rows[longest].time_ns))
            longest = i;
    return longest;
}

struct phases *phases_in_threads(const struct graph *graph, const struct user_spans *spans, unsigned threads)
{
    struct phases *phases = memory_new(sizeof *phases);
    struct finder finder = {.graph = graph, .phases = phases};
    phases->loops = common_loops_of(graph, threads);
    phases->main_loop = longest_loop(&phases->loops);
    finder.parts.processes = phases->loops.process_count;
    find_ends(&finder);
    if (spans && find_user_phases(&finder, spans))
        phases->source = PHASES_FROM_USER;
    else if (find_loop_phases(&finder))
        phases->source = PHASES_FROM_LOOPS;
    else if (find_synchronised_phases(&finder))
        phases->source = PHASES_FROM_SYNCHRONISATIONS;
    if (finder.parts.processes > 0)
        tile(&finder);
    parts_clear(&finder.parts);
    free(finder.begins_ns);
    free(finder.ends_ns);
    return phases;
}

struct phases *phases_of(const struct graph *graph, const struct user_spans *spans)
{
    return phases_in_threads(graph, spans, 1);
}

void phases_free(struct phases *phases)
{
    if (!phases)
        return;
    for (size_t i = 0; i < phases->count; i++)
        free(phases->phase[i].name);
    free(phases->phase);
    free(phases->begins);
    common_loops_clear(&phases->loops);
    free(phases);
}

uint32_t phases_last_begun(const int64_t *begins_ns, uint32_t count, int64_t time_ns)
{
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (begins_ns[middle] <= time_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t phases_at(const struct phases *phases, uint32_t process, int64_t time_ns)
{
    return phases_last_begun(phases->begins + process * (phases->count + 1), (uint32_t)phases->count, time_ns);
}

uint32_t phases_iteration_at(const struct phases *phases, uint32_t loop, uint32_t process, int64_t time_ns)
{
    const struct loop_row *row = &phases->loops.rows[loop];
    const int64_t *starts = phases->loops.starts[loop] + (size_t)process * (row->matched + (size_t)1);
    if (starts[0] == INT64_MIN || time_ns < starts[0] || time_ns >= starts[row->matched])
        return PHASE_NONE;
    return phases_last_begun(starts, row->matched, time_ns);
}
