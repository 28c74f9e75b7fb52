/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_VIEW_VIEW_H
#define SIGHT_VIEW_VIEW_H

#include "core/output.h"
#include "heuristics/finding.h"
#include "timeline/curves.h"
#include "timeline/overlay.h"
#include "timeline/timeline.h"
#include "view/hosts.h"

/* The data of a trace for the page in the browser, as JSON or, for tiles, bytes. The same for the server of `sight
   view` and for embedding in a report; page/source.js reads it.

   Times are ns since the run's begin. A row is an index into timeline_info.rows; a line is a place in an order of rows.
   A slot is a place in the page's table of states: 0 to VIEW_SLOTS - 1. */

enum {
    VIEW_SLOTS = 253,  /* states with a slot of their own; the others share the next */
    VIEW_OTHERS = 253, /* all other states */
    VIEW_COMPUTING = 254 /* outside all states */,
    VIEW_ABSENT = 255 /* no row is there */
};
enum { VIEW_TILE_BINS = 256, VIEW_TILE_LINES = 64, VIEW_CELL_BYTES = 8, VIEW_SHIFT_MOST = 55, VIEW_FOLD_MOST = 24 };

/* How lines are ordered: as rows of the timeline, by host, or for a line to each host. */
enum view_order {
    VIEW_BY_RANK = TIMELINE_BY_RANK,
    VIEW_BY_COMPUTE = TIMELINE_BY_COMPUTE,
    VIEW_BY_LIKENESS = TIMELINE_BY_LIKENESS,
    VIEW_BY_HOST, /* the rows of a host together */
    VIEW_HOSTS,   /* the same, and each host has as many lines, a power of two: see view_hosts_lines */
    VIEW_ORDERS
};

struct view_lines {
    uint32_t *rows; /* of each line; TIMELINE_NONE: it has none */
    size_t count;
};

struct view {
    const char *title; /* borrowed */
    struct timeline *timeline;
    const struct timeline_info *info;
    uint8_t *slot_of_state;  /* by state of the definitions */
    uint32_t *state_of_slot; /* VIEW_SLOTS at most */
    size_t slot_count;
    struct view_hosts hosts;
    struct view_lines lines[VIEW_ORDERS]; /* without rows: not asked for yet */
};

/* Begins a view of a timeline, which stays the caller's, as does the title. */
void view_begin(struct view *view, struct timeline *timeline, const char *title);
void view_clear(struct view *view);

/* "rank", "compute", "likeness", "host" or "hosts"; -1: none of these. */
int view_order_find(const char *name);

/* Rows by line in an order. NULL and a fault: of kind ERROR_USAGE if the trace names no hosts to order by. */
const struct view_lines *view_lines(struct view *view, enum view_order order, struct error *err);

/* A time of the trace as ns since its begin. */
static inline int64_t view_time(const struct view *view, int64_t time_ns)
{
    return time_since(view->info->begin_ns, time_ns);
}

/* Everything the page must know first: {"title", "facts", "damage", "clocks", "corrected", "duration", "rows",
   "processes", "ranks" (by row; null: row = rank), "threads" (by row; null: one each), "lives" (by row [begin, end],
   null without events), "hosts" {"names" [], "of" (by row its host), "fold" (null: too many lines)} or null, "states"
   [{"name", "ink", "mpi"}], "marks" [], "counters" [{"mark", "name", "unit", "sum", "resource", "rows"}], "waitKinds"
   [], "inks" {}}. Counters of a recording's resources that are the same everywhere
   and always are left out. */
void view_write_meta(struct output *output, const struct view *view);

/* The place of a tile: bins of 1 << shift ns, VIEW_TILE_BINS of them from index * VIEW_TILE_BINS on; 1 << fold lines to
   a row of cells, VIEW_TILE_LINES rows of cells from block * VIEW_TILE_LINES on. */
struct view_tile {
    unsigned shift, fold;
    uint64_t index, block;
    enum view_order order;
};

/* Bytes: bins and rows (16 bits each, little endian), then for each cell, row by row, eight: the slot that takes most
   of the time, its share, the share of waiting (255 is all), messages m as min(255, round(16 log2(1 + m))), and the
   slots and shares of the two that take most after it (VIEW_ABSENT: none). Waiting is that of the overlay; without one
   (NULL) it is the time in functions that wait. */
enum status view_write_tile(struct output *output, struct view *view, struct view_tile tile,
                            const struct timeline_overlay *overlay, struct error *err) MUST_CHECK;

/* The first wait of a row that ends after a time: its place in the overlay, the row's later ones follow. */
size_t view_first_wait(const struct timeline_overlay *overlay, uint32_t row, int64_t time_ns);

/* A part of the picture: a window and the lines [first, first + count) of an order. */
struct view_area {
    int64_t from_ns, to_ns; /* since the run's begin */
    enum view_order order;
    uint64_t first, count;
};

/* The area as the timeline takes it: its last ns is in it. A fault of kind ERROR_USAGE if it is not valid. */
enum status view_area_of(struct view *view, const struct view_area *area, struct timeline_view *found,
                         struct error *err) MUST_CHECK;

/* States, messages, marks and waits of an area, as columns: {"from", "to", "first", "last", "order", "complete",
   "states": {"row", "state" (its slot), "depth", "open", "from", "to"}, "messages": {"row", "sent", "to", "received",
   "tag", "bytes", "sender", "receiver"}, "marks": {"row", "mark", "time"}, "markTexts": [], "waits": {"row", "from",
   "to", "kind", "cause"}}. If there are more than `limit` of one kind, "complete" is false and the columns are empty.
   An unknown row or tag is -1 or null. `overlay` may be NULL: no waits are known. */
enum status view_write_window(struct output *output, struct view *view, struct view_area area, size_t limit,
                              const struct timeline_overlay *overlay, struct error *err) MUST_CHECK;

/* Further details of one state: {"site": text or null, "text", "exclusive"}. STATUS_END: there is no such
   state. */
enum status view_write_detail(struct output *output, struct view *view, uint32_t row, int64_t from_ns, uint32_t depth,
                              struct error *err) MUST_CHECK;

/* A counter over time, as timeline_curve has it: {"mean" [], "least" [], "most" []}, null where nothing is known. */
enum status view_write_counter(struct output *output, struct view *view, struct view_area area, uint32_t mark,
                               uint32_t bins, struct error *err) MUST_CHECK;

/* The same of all counters of the page over the whole run, as members named by their marks. */
void view_write_counters(struct output *output, struct view *view, uint32_t bins);

/* Which counters the page has; their number. free() the list. */
size_t view_counters(const struct view *view, struct timeline_counter **counters);

/* {"exact", "states": [{"state", "count", "time", "exclusive", "durations"}], "messages", "bytes"} of an area. If it is
   too large to be read event by event, `exact` is false and only times are known, to the bin. */
enum status view_write_statistics(struct output *output, struct view *view, struct view_area area,
                                  struct error *err) MUST_CHECK;

/* A search: states by a part of their name, on a process, with a message's tag, with a minimum duration. */
struct view_query {
    const char *name; /* any case; "": all */
    int64_t process;  /* -1: any */
    int32_t tag;      /* EVENT_UNKNOWN: any */
    int64_t least_ns, most_ns;
    int64_t from_ns; /* since the run's begin: where to begin */
};

/* {"found": [{"row", "state", "from", "to"}], "more"}, by time. */
enum { VIEW_FOUND = 200 };
enum status view_write_search(struct output *output, struct view *view, const struct view_query *query,
                              struct error *err) MUST_CHECK;

/* Results about the run as a whole, once it has been judged. */
struct view_judgement {
    const struct metrics *metrics;
    const struct heuristic_result *results;
    const struct findings *findings;
    const struct stuck *stuck;              /* why the run hangs; NULL: not known */
    const struct timeline_overlay *overlay; /* NULL: none */
    const char *trace;                      /* where it is: source files are looked for there, too */
};

/* {"ready": true, "stuck" (why the run hangs, or ""), "since", "duration" (that is judged), "sentence", "note",
   "clocks", "findings": [...], "charts": [...], "states": [...], "phases", "iterations":
   [{"name", "from", "to"}], "search": [{"depth", "title", "state", "value", "note"}], "waits" (whether they are known),
   "resources": [{"resource", "text"}], "path": {"row", "from", "to"} or null}. */
void view_write_judgement(struct output *output, const struct view *view, const struct view_judgement *judgement);

/* {"groups", "size", "messages", "bytes", "pairs": [[from, to, messages, bytes]], "waiting", "waits": [[cause, victim,
   ns]]}: at most VIEW_MATRIX_GROUPS groups of processes. `waits` is null without an overlay. */
enum { VIEW_MATRIX_GROUPS = 64 };
void view_write_matrix(struct output *output, const struct view *view, const struct view_judgement *judgement);

/* {"source": [...]}, the hottest lines: see source_write_hottest. */
void view_write_source(struct output *output, const struct view_judgement *judgement);

/* The style sheet of the page: colours, the timeline, the page around it. */
void view_write_style(struct output *output);

#endif
