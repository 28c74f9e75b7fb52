/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows, tiles, statistics and searches against a slow oracle, on random traces. */
#include "timeline/index_format.h"
#include "timeline/scan.h"
#include "timeline_oracle.h"

#include "tap.h"

#include <math.h>
#include <stddef.h>
#include <unistd.h>

static char directory[] = "/tmp/sight-timeline-XXXXXX", trace[64];
static struct timeline *timeline;
static const struct timeline_info *info;

/* A row's own process and thread. */
static bool is_row(uint32_t row, uint32_t process, uint32_t thread)
{
    return row < info->row_count && info->rows[row].process == process && info->rows[row].thread == thread;
}

static int64_t random_time(void)
{
    int64_t time_ns = oracle_count ? oracle_events[oracle_random((uint32_t)oracle_count)].time_ns : 0;
    return time_ns + (int64_t)oracle_random(3) - 1;
}

/* A window with borders at events or next to them, and some of the rows, in any order. */
static struct timeline_view random_view(uint32_t rows[ORACLE_ROWS])
{
    struct timeline_view view = {.from_ns = random_time(), .to_ns = random_time(), .rows = rows};
    if (view.to_ns < view.from_ns) {
        int64_t swap = view.from_ns;
        view.from_ns = view.to_ns;
        view.to_ns = swap;
    }
    bool all = oracle_random(2);
    for (uint32_t row = 0; row < info->row_count; row++)
        if (all || oracle_random(3))
            rows[view.row_count++] = row;
    for (size_t i = view.row_count; !all && i > 1; i--) {
        size_t other = oracle_random((uint32_t)i);
        uint32_t swap = rows[i - 1];
        rows[i - 1] = rows[other];
        rows[other] = swap;
    }
    return view;
}

static bool viewed(const struct timeline_view *view, uint32_t process, uint32_t thread)
{
    for (size_t i = 0; i < view->row_count; i++)
        if (is_row(view->rows[i], process, thread))
            return true;
    return false;
}

static bool state_shown(const struct timeline_view *view, const struct oracle_state *state)
{
    bool point = state->enter_ns == state->leave_ns;
    return viewed(view, state->process, state->thread) && state->enter_ns < view->to_ns &&
           (state->leave_ns > view->from_ns || (point && state->enter_ns >= view->from_ns));
}

static bool has_state(const struct timeline_window *window, const struct oracle_state *state)
{
    for (size_t i = 0; i < window->state_count; i++) {
        const struct timeline_state *got = &window->states[i];
        if (got->enter_ns == state->enter_ns && got->leave_ns == state->leave_ns && got->state == state->state &&
            got->depth == state->depth && got->open == state->open && is_row(got->row, state->process, state->thread))
            return true;
    }
    return false;
}

static bool has_message(const struct timeline_window *window, const struct event *send, const struct event *receive,
                        const struct event *any)
{
    for (size_t i = 0; i < window->message_count; i++) {
        const struct timeline_message *got = &window->messages[i];
        bool ends = send ? is_row(got->send_row, send->process, send->thread) : got->send_row == TIMELINE_NONE;
        ends = ends && (receive ? is_row(got->receive_row, receive->process, receive->thread)
                                : got->receive_row == TIMELINE_NONE);
        int64_t bytes = send ? send->bytes_sent : receive->bytes_received;
        if (ends && got->tag == any->tag && got->send_ns == (send ? send : any)->time_ns && got->bytes == bytes &&
            got->receive_ns == (receive ? receive : any)->time_ns)
            return true;
    }
    return false;
}

static size_t count_messages(const struct timeline_view *view, const struct timeline_window *window, bool *all)
{
    size_t count = 0;
    for (size_t i = 0; i < oracle_count; i++) {
        const struct event *end = &oracle_events[i];
        if (end->kind != EVENT_SEND && end->kind != EVENT_RECEIVE)
            continue;
        size_t at = oracle_other_end(i);
        const struct event *other = at == i ? NULL : &oracle_events[at];
        if (other && end->kind == EVENT_RECEIVE)
            continue; /* counted at its send */
        int64_t first_ns = other && other->time_ns < end->time_ns ? other->time_ns : end->time_ns;
        int64_t last_ns = other && other->time_ns > end->time_ns ? other->time_ns : end->time_ns;
        if (first_ns >= view->to_ns || last_ns < view->from_ns || view->to_ns <= view->from_ns ||
            !(viewed(view, end->process, end->thread) || (other && viewed(view, other->process, other->thread))))
            continue;
        const struct event *send = end->kind == EVENT_SEND ? end : NULL;
        *all = *all && has_message(window, send, send ? other : end, end);
        count++;
    }
    return count;
}

static bool window_right(const struct timeline_view *view)
{
    struct error err = {0};
    struct timeline_window window;
    if (timeline_window(timeline, view, 100000, &window, &err) != STATUS_OK)
        return false;
    bool all = true;
    size_t states = 0, marks = 0;
    for (size_t i = 0; i < oracle_state_count; i++)
        if (view->to_ns > view->from_ns && state_shown(view, &oracle_states[i])) {
            all = all && has_state(&window, &oracle_states[i]);
            states++;
        }
    for (size_t i = 0; i < oracle_count; i++) {
        const struct event *event = &oracle_events[i];
        marks += event->kind == EVENT_MARK && event->time_ns >= view->from_ns && event->time_ns < view->to_ns &&
                 viewed(view, event->process, event->thread);
    }
    size_t messages = count_messages(view, &window, &all);
    bool right = all && window.state_count == states && window.message_count == messages && window.mark_count == marks;
    if (!right)
        printf("# window %lld %lld: all %d, states %zu/%zu, messages %zu/%zu, marks %zu/%zu\n",
               (long long)view->from_ns, (long long)view->to_ns, all, window.state_count, states, window.message_count,
               messages, window.mark_count, marks);
    timeline_window_clear(&window);
    return right;
}

static int64_t overlap(int64_t from_ns, int64_t to_ns, const struct timeline_view *view)
{
    int64_t low = from_ns > view->from_ns ? from_ns : view->from_ns, high = to_ns < view->to_ns ? to_ns : view->to_ns;
    return high > low ? high - low : 0;
}

static bool statistics_right(const struct timeline_view *view)
{
    struct error err = {0};
    struct timeline_statistics got;
    struct timeline_state_sums want[ORACLE_STATES] = {0};
    int64_t outside = 0, span = 0;
    if (timeline_statistics(timeline, view, &got, &err) != STATUS_OK)
        return false;
    for (size_t i = 0; i < view->row_count; i++) {
        const struct timeline_row *row = &info->rows[view->rows[i]];
        int64_t ns[ORACLE_STATES + 1], begin_ns, end_ns;
        oracle_exclusive(row->process, row->thread, view->from_ns, view->to_ns, ns);
        for (size_t state = 0; state < ORACLE_STATES; state++)
            want[state].exclusive_ns += ns[state];
        outside += ns[ORACLE_STATES];
        if (oracle_row_span(row->process, row->thread, &begin_ns, &end_ns))
            span += overlap(begin_ns, end_ns, view);
    }
    for (size_t i = 0; i < oracle_state_count; i++) {
        const struct oracle_state *state = &oracle_states[i];
        if (!viewed(view, state->process, state->thread))
            continue;
        struct timeline_state_sums *sums = &want[state->state];
        int64_t ns = state->leave_ns - state->enter_ns;
        sums->inclusive_ns += overlap(state->enter_ns, state->leave_ns, view);
        if (state->enter_ns < view->from_ns || state->enter_ns >= view->to_ns)
            continue;
        sums->open += state->open;
        if (state->open)
            continue;
        sums->min_ns = sums->count == 0 || ns < sums->min_ns ? ns : sums->min_ns;
        sums->max_ns = ns > sums->max_ns ? ns : sums->max_ns;
        sums->count++;
        unsigned bin = 0;
        while (bin < 63 && ns >= (int64_t)1 << bin)
            bin++;
        sums->durations[bin]++;
    }
    bool right = got.outside_ns == outside && got.span_ns == span;
    for (size_t state = 0; right && state < ORACLE_STATES; state++) {
        uint32_t index = (uint32_t)defs_find_state(info->defs, oracle_defs->states[state].name);
        right = memcmp(&got.states[index], &want[state], sizeof want[state]) == 0;
    }
    timeline_statistics_clear(&got);
    return right;
}

/* By how many of 255 a share of all the cell may be off: in the index times are rounded to these. */
static double slack;

/* The oracle's number of a state that a cell shows, outside all after the last; one more: none. */
static size_t oracle_state(uint16_t shown)
{
    if (shown == TIMELINE_OUTSIDE)
        return ORACLE_STATES;
    for (size_t state = 0; state < ORACLE_STATES; state++)
        if (defs_find_state(info->defs, oracle_defs->states[state].name) == shown)
            return state;
    return ORACLE_STATES + 1;
}

/* The states with most time after the first: not yet listed, by time, each with its share; none only if there are no
   more. */
static bool next_right(const struct timeline_cell *cell, const int64_t sum[ORACLE_STATES + 1], size_t first, double all,
                       double off)
{
    bool done[ORACLE_STATES + 1] = {0};
    done[first] = true;
    for (size_t i = 0; i < TIMELINE_NEXT; i++) {
        size_t shown = cell->next[i] == TIMELINE_ABSENT ? SIZE_MAX : oracle_state(cell->next[i]);
        double most = 0, share = 0;
        for (size_t state = 0; state <= ORACLE_STATES; state++)
            most = done[state] ? most : fmax(most, 255.0 * (double)sum[state] / all);
        if (shown != SIZE_MAX && (shown > ORACLE_STATES || done[shown]))
            return false;
        if (shown != SIZE_MAX) {
            share = 255.0 * (double)sum[shown] / all;
            done[shown] = true;
        }
        if (fabs(cell->next_share[i] - share) > off || share < most - 2 * off)
            return false;
    }
    return true;
}

/* One cell against times added up by hand. */
static bool cell_right(const struct timeline_tile *tile, const struct timeline_view *view, uint32_t row, uint32_t bin)
{
    const struct timeline_cell *cell = &tile->cells[row * (size_t)tile->bins + bin];
    int64_t from_ns = tile->from_ns + bin * tile->bin_ns, sum[ORACLE_STATES + 1] = {0}, all = 0;
    uint32_t messages = 0;
    for (size_t i = (size_t)row * tile->fold; i < view->row_count && i < ((size_t)row + 1) * tile->fold; i++) {
        const struct timeline_row *about = &info->rows[view->rows[i]];
        int64_t ns[ORACLE_STATES + 1];
        oracle_exclusive(about->process, about->thread, from_ns, from_ns + tile->bin_ns, ns);
        for (size_t state = 0; state <= ORACLE_STATES; state++) {
            sum[state] += ns[state];
            all += ns[state];
        }
        for (size_t k = 0; k < oracle_count; k++)
            messages += (oracle_events[k].kind == EVENT_SEND || oracle_events[k].kind == EVENT_RECEIVE) &&
                        is_row(view->rows[i], oracle_events[k].process, oracle_events[k].thread) &&
                        oracle_events[k].time_ns >= from_ns && oracle_events[k].time_ns < from_ns + tile->bin_ns;
    }
    if (cell->messages != messages)
        return false;
    if (all == 0 || cell->state == TIMELINE_ABSENT)
        return cell->state == TIMELINE_ABSENT && (double)all <= slack / 255 * (double)tile->fold * (double)tile->bin_ns;
    size_t shown = oracle_state(cell->state);
    if (shown > ORACLE_STATES)
        return false;
    for (size_t state = 0; state <= ORACLE_STATES; state++)
        if ((double)sum[state] > (double)sum[shown] + slack / 255 * (double)tile->fold * (double)tile->bin_ns)
            return false;
    /* Of rows that are there for part of the time only, the same time is a larger share. */
    double off = 0.5 + slack * (double)tile->fold * (double)tile->bin_ns / (double)all;
    double share = 255.0 * (double)sum[shown] / (double)all;
    double waiting = 255.0 * (double)(sum[2] + sum[3]) / (double)all; /* MPI_Barrier, MPI_Wait */
    return fabs(cell->share - share) <= off && fabs(cell->waiting - waiting) <= off &&
           next_right(cell, sum, shown, (double)all, off);
}

/* The same view from events or from cells. */
static bool tile_right(const struct timeline_view *view, bool cells)
{
    struct error err = {0};
    struct timeline_tile tile;
    struct timeline_tile_options options = {.bins = 1 + oracle_random(20), .fold = 1 + oracle_random(cells ? 40 : 3)};
    slack = cells ? 1.5 : 0;
    timeline->exact_events = cells ? 0 : UINT64_MAX;
    if (timeline_tile(timeline, view, options, &tile, &err) != STATUS_OK)
        return false;
    bool right = tile.bins <= options.bins + 1;
    if (tile.bins > 0)
        right = right && (tile.from_ns <= view->from_ns || tile.from_ns == info->begin_ns) &&
                (tile.from_ns + tile.bins * tile.bin_ns >= view->to_ns ||
                 tile.from_ns + tile.bins * tile.bin_ns > info->end_ns);
    for (uint32_t row = 0; right && row < tile.rows; row++)
        for (uint32_t bin = 0; right && bin < tile.bins; bin++)
            right = cell_right(&tile, view, row, bin);
    timeline_tile_clear(&tile);
    return right;
}

static bool query_fits(const struct timeline_query *query, const struct oracle_state *state)
{
    return (query->state == EVENT_UNKNOWN ||
            query->state == defs_find_state(info->defs, oracle_defs->states[state->state].name)) &&
           state->leave_ns - state->enter_ns >= query->least_ns;
}

/* Where a state is found, looked for by its enter or by a message in it. */
static bool event_fits(const struct timeline_query *query, const struct event *event)
{
    bool message = event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE;
    if (query->partner == EVENT_UNKNOWN && query->tag == EVENT_UNKNOWN)
        return event->kind == EVENT_ENTER;
    return message && (query->partner == EVENT_UNKNOWN || query->partner == event->partner) &&
           (query->tag == EVENT_UNKNOWN || query->tag == event->tag);
}

static bool find_right(void)
{
    struct error err = {0};
    uint32_t rows[ORACLE_ROWS];
    struct timeline_view view = random_view(rows);
    struct timeline_query query = {.rows = rows,
                                   .row_count = view.row_count,
                                   .state = oracle_random(2) ? EVENT_UNKNOWN : (int32_t)oracle_random(ORACLE_STATES),
                                   .partner = oracle_random(2) ? EVENT_UNKNOWN : (int32_t)oracle_random(8),
                                   .tag = oracle_random(2) ? EVENT_UNKNOWN : (int32_t)oracle_random(2),
                                   .least_ns = oracle_random(2) ? 0 : oracle_random(300)};
    if (query.state != EVENT_UNKNOWN)
        query.state = defs_find_state(info->defs, oracle_defs->states[query.state].name);
    bool backward = oracle_random(2), any = false;
    int64_t from_ns = random_time(), best_ns = 0;
    for (size_t i = 0; i < oracle_count; i++) {
        const struct event *event = &oracle_events[i];
        const struct oracle_state *state = oracle_state_at[i];
        if ((backward ? event->time_ns >= from_ns : event->time_ns <= from_ns) || !event_fits(&query, event) ||
            !state || !query_fits(&query, state) || !viewed(&view, event->process, event->thread) ||
            (any && (backward ? event->time_ns <= best_ns : event->time_ns >= best_ns)))
            continue;
        best_ns = event->time_ns;
        any = true;
    }
    struct timeline_found found;
    enum status status = timeline_find(timeline, &query, from_ns, backward, &found, &err);
    if (!any)
        return status == STATUS_END;
    return status == STATUS_OK && found.time_ns == best_ns && found.state.enter_ns <= best_ns &&
           found.state.leave_ns >= best_ns;
}

/* One state, by what lies between its enter and its leave on its row. */
static bool detail_right(void)
{
    struct error err = {0};
    if (oracle_state_count == 0)
        return true;
    const struct oracle_state *state = &oracle_states[oracle_random((uint32_t)oracle_state_count)];
    uint32_t row = timeline_row_find(timeline, state->process, state->thread);
    struct timeline_detail detail;
    uint64_t messages = 0;
    bool only = true;
    for (size_t i = 0; i < oracle_state_count; i++)
        only = only && (&oracle_states[i] == state || oracle_states[i].process != state->process ||
                        oracle_states[i].thread != state->thread || oracle_states[i].enter_ns != state->enter_ns ||
                        oracle_states[i].depth != state->depth);
    for (size_t i = 0; i < oracle_count; i++) {
        const struct event *event = &oracle_events[i];
        size_t other = oracle_other_end(i);
        bool inside = event->process == state->process && event->thread == state->thread &&
                      event->time_ns >= state->enter_ns && event->time_ns <= state->leave_ns;
        bool twice = inside && other < i && same_row(event, &oracle_events[other]) &&
                     oracle_events[other].time_ns >= state->enter_ns;
        messages += inside && !twice && (event->kind == EVENT_SEND || event->kind == EVENT_RECEIVE);
    }
    return timeline_detail(timeline, row, state->enter_ns, state->depth, &detail, &err) == STATUS_OK &&
           (!only || (detail.state.leave_ns == state->leave_ns && detail.state.state == state->state &&
                      detail.messages_found == messages)) &&
           timeline_detail(timeline, row, state->enter_ns, 5000, &detail, &err) == STATUS_END;
}

/* Checkpoints as often as can be. */
static const struct index_tuning dense = {.least_bytes = 1, .cells = 20};

static void test_random(uint32_t processes, uint32_t threads, size_t count, int rounds)
{
    struct error err = {0};
    oracle_make(processes, threads, count);
    oracle_pair();
    oracle_write(trace);
    timeline = timeline_open_tuned((char *[]){trace}, 1, NULL, dense, &err);
    if (!tap_ok(timeline != NULL, "%u processes, %u threads, %zu events: opened %s", processes, threads, count,
                err.text))
        return;
    info = timeline_info(timeline);
    tap_equal_int((long long)info->events, (long long)count, "all events");
    bool windows = true, statistics = true, tiles = true, cells = true, finds = true, details = true;
    for (int i = 0; i < rounds; i++) {
        uint32_t rows[ORACLE_ROWS];
        struct timeline_view view = random_view(rows);
        windows = windows && window_right(&view);
        statistics = statistics && statistics_right(&view);
        tiles = tiles && tile_right(&view, false);
        cells = cells && tile_right(&view, true);
        finds = finds && find_right();
        details = details && detail_right();
    }
    tap_ok(windows, "windows");
    tap_ok(statistics, "statistics");
    tap_ok(tiles, "tiles of events");
    tap_ok(cells, "tiles of the index");
    tap_ok(finds, "searches");
    tap_ok(details, "details");
    timeline_close(timeline);
    defs_free(oracle_defs);
}

/* The file's bytes; changed and written back. */
static unsigned char *read_index(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    unsigned char *data = memory_new(1 << 22);
    *size = file ? fread(data, 1, 1 << 22, file) : 0;
    if (file)
        fclose(file);
    return data;
}

/* The index is the same with any number of threads. */
static void test_threads(uint32_t processes, uint32_t threads, size_t count)
{
    static const unsigned numbers[] = {1, 2, 3, 7};
    struct error err = {0};
    struct cache cache;
    unsigned char *first = NULL;
    size_t size = 0;
    bool same = true;
    oracle_make(processes, threads, count);
    oracle_pair();
    oracle_write(trace);
    if (cache_open(&cache, (char *[]){trace}, 1, "", &err) != STATUS_OK)
        return;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const struct timeline_open_options options = {.threads = numbers[i]};
        unlink(cache.index);
        timeline_close(timeline_open_tuned((char *[]){trace}, 1, &options, dense, &err));
        size_t length;
        unsigned char *index = read_index(cache.index, &length);
        if (i == 0) {
            first = index;
            size = length;
            continue;
        }
        same = same && length == size && memcmp(index, first, size) == 0;
        free(index);
    }
    tap_ok(same && size > 0, "%u processes, %u threads, %zu events: the same index with 1, 2, 3 and 7 threads",
           processes, threads, count);
    free(first);
    cache_close(&cache);
    defs_free(oracle_defs);
}

static void note(void *context, const char *text)
{
    *(bool *)context = strstr(text, "rebuilt the index") != NULL;
}

static void write_index(const char *path, const unsigned char *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

/* Checksums that fit whatever the tables say: what is left to find are numbers that cannot be. */
static void forge(unsigned char *data, size_t size)
{
    struct index_header *header = (struct index_header *)(void *)data;
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        uint64_t at = header->section[i].at, length;
        if (!__builtin_mul_overflow(header->section[i].count, index_sizes[i], &length) && at <= size &&
            length <= size - at)
            header->section[i].checksum = checksum_add(CHECKSUM_START, data + at, length);
    }
    header->checksum = checksum_add(CHECKSUM_START, header, offsetof(struct index_header, checksum));
}

/* Any damage is found and repaired; if matching checksums hide it, nothing crashes. */
static void test_damage(int rounds)
{
    struct error err = {0};
    struct cache cache;
    size_t size, repaired = 0, right = 0, opened = 0;
    oracle_make(4, 2, 3000);
    oracle_pair();
    oracle_write(trace);
    timeline_close(timeline_open_tuned((char *[]){trace}, 1, NULL, dense, &err));
    if (cache_open(&cache, (char *[]){trace}, 1, "", &err) != STATUS_OK)
        return;
    unsigned char *sound = read_index(cache.index, &size), *data = memory_new(size);
    for (int i = 0; i < 2 * rounds; i++) {
        bool made = false, forged = i % 2;
        struct timeline_open_options options = {.note = note, .note_context = &made};
        memcpy(data, sound, size);
        for (uint32_t k = 0; k <= oracle_random(3); k++)
            data[oracle_random((uint32_t)size)] ^= (unsigned char)(1 + oracle_random(255));
        if (forged)
            forge(data, size);
        write_index(cache.index, data, oracle_random(8) || forged ? size : oracle_random((uint32_t)size));
        timeline = timeline_open_tuned((char *[]){trace}, 1, &options, dense, &err);
        opened += timeline != NULL;
        if (!timeline)
            continue;
        info = timeline_info(timeline);
        uint32_t rows[ORACLE_ROWS];
        struct timeline_view view = random_view(rows);
        view.row_count = view.row_count < ORACLE_ROWS ? view.row_count : ORACLE_ROWS;
        bool all = window_right(&view);
        all = tile_right(&view, i % 4 < 2) && all;
        repaired += made && !forged;
        right += all && !forged;
        timeline_close(timeline);
    }
    tap_equal_int((long long)repaired, rounds, "every damage is found");
    tap_equal_int((long long)right, rounds, "and what is shown is right");
    tap_equal_int((long long)opened, 2 * rounds, "opened with any index");
    free(sound);
    free(data);
    cache_close(&cache);
    defs_free(oracle_defs);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : !a && !b;
}

static bool same_names(const struct defs *a, const struct defs *b)
{
    bool same = a->state_count == b->state_count && a->mark_count == b->mark_count && a->site_count == b->site_count;
    for (size_t i = 0; same && i < a->state_count; i++) {
        const struct state_def *left = &a->states[i], *right = &b->states[i];
        same = same_text(left->name, right->name) && same_text(left->format, right->format) &&
               same_text(left->colour, right->colour) && left->id == right->id && left->start == right->start &&
               left->end == right->end && left->first_of_name == right->first_of_name;
    }
    for (size_t i = 0; same && i < a->mark_count; i++)
        same = same_text(a->marks[i].name, b->marks[i].name) && same_text(a->marks[i].format, b->marks[i].format) &&
               a->marks[i].id == b->marks[i].id;
    for (size_t i = 0; same && i < a->site_count; i++)
        same = same_text(a->sites[i].file, b->sites[i].file) && same_text(a->sites[i].function, b->sites[i].function) &&
               a->sites[i].line == b->sites[i].line && a->sites[i].id == b->sites[i].id;
    return same;
}

static bool same_comms(const struct defs *a, const struct defs *b)
{
    bool same = a->comm_count == b->comm_count && a->comm_row_count == b->comm_row_count;
    for (size_t i = 0; same && i < a->comm_count; i++) {
        same = a->comms[i].id == b->comms[i].id && a->comms[i].world == b->comms[i].world &&
               a->comms[i].self == b->comms[i].self;
        for (int32_t rank = 0; same && rank < 16; rank++)
            same = defs_world_rank(a, (int32_t)i, rank) == defs_world_rank(b, (int32_t)i, rank);
    }
    for (size_t i = 0; same && i < a->comm_row_count; i++)
        same = a->comm_rows[i].id == b->comm_rows[i].id && a->comm_rows[i].kind == b->comm_rows[i].kind;
    return same;
}

/* A timeline that finds its index reads only where definitions stand: it must find them all. */
static void test_definitions(const char *name)
{
    struct error err = {0};
    char path[600];
    const char *source = getenv("srcdir");
    snprintf(path, sizeof path, "%s/samples/%s", source ? source : ".", name);
    char *paths[] = {path};
    timeline_close(timeline_open(paths, 1, NULL, &err));
    struct timeline *again = timeline_open(paths, 1, NULL, &err);
    struct reader *reader = reader_open(paths, 1, &err);
    if (!again || !reader) {
        tap_ok(false, "%s: %s", name, err.text);
        return;
    }
    const struct defs *known = timeline_info(again)->defs;
    struct timeline_view all = timeline_whole(again);
    struct timeline_window window;
    tap_ok(same_names(known, reader->defs) && known->processes == reader->defs->processes &&
               known->threads == reader->defs->threads && same_text(known->version, reader->defs->version),
           "%s: states, solo events and places as in the whole trace", name);
    tap_ok(same_comms(known, reader->defs), "%s: communicators and their members, too", name);
    tap_ok(timeline_window(again, &all, SIZE_MAX, &window, &err) == STATUS_OK && window.state_count > 0,
           "%s: and its events can be read", name);
    timeline_window_clear(&window);
    timeline_close(again);
    reader_close(reader);
    struct cache cache;
    if (cache_open(&cache, paths, 1, "", &err) == STATUS_OK) {
        unlink(cache.index);
        cache_close(&cache);
    }
}

int main(void)
{
    if (!mkdtemp(directory))
        return 1;
    snprintf(trace, sizeof trace, "%s/trace.clog2", directory);
    setenv("SIGHT_CACHE", directory, 1);
    test_random(1, 1, 0, 2);
    test_random(1, 1, 1, 5);
    test_random(2, 1, 40, 60);
    test_random(3, 2, 200, 60);
    test_random(8, 1, 1500, 30);
    test_random(5, 3, 1500, 30);
    test_random(6, 2, 6000, 25);
    test_random(300, 1, 6000, 10);
    /* Longer than 2^32 ns, without an event for most of the time. */
    oracle_pause_ns = 30000000000;
    test_random(6, 2, 3000, 25);
    oracle_pause_ns = 0;
    test_threads(1, 1, 1);
    test_threads(2, 3, 300);
    test_threads(20, 2, 6000);
    test_threads(300, 1, 6000);
    test_damage(60);
    test_definitions("features_5.clog2");
    test_definitions("sort_bad_8.clog2");
    test_definitions("serial_1.clog2");
    /* The cache's contents belong to the test. */
    struct cache cache;
    struct error err = {0};
    if (cache_open(&cache, (char *[]){trace}, 1, "", &err) == STATUS_OK) {
        unlink(cache.index);
        unlink(cache.trace);
        cache_close(&cache);
    }
    unlink(trace);
    rmdir(directory);
    return tap_done();
}
