/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_SLOG2_STATE_H
#define SIGHT_CONVERT_SLOG2_STATE_H

#include "convert/reader.h"
#include "core/sorter.h"

/* Categories and lines stand after the tree and are read first; then the tree, whose drawables are sorted by time. */

enum { SLOG2_INFO_MOST = 4096, SLOG2_HEADER = 108, SLOG2_NODE_HEAD = 34 };

enum slog2_topology { SLOG2_EVENT, SLOG2_STATE, SLOG2_ARROW };

/* One end of a drawable, as the sorter has it; `info` follows. */
struct slog2_end {
    int64_t time_ns, other_ns; /* of the other end */
    int32_t category, line, other_line;
    uint8_t kind; /* enum event_kind */
    uint16_t info_length;
};

struct slog2_category {
    enum slog2_topology topology;
    uint32_t index; /* of the definition of a state or a mark */
    bool known;     /* has one */
};

/* A line: a process, or one of its threads, in a communicator. */
struct slog2_line {
    int64_t process, thread, comm, rank; /* -1: not given; comm: the trace's number */
    bool is_member;                      /* that the process is in the communicator */
};

struct slog2_state {
    struct sorter *sorted;
    uint64_t categories, lines, directory; /* where they are; 0: nowhere, or they cannot be read */
    struct map category_ids;               /* index in the file -> category */
    struct slog2_category *category;
    size_t category_count, category_capacity;
    struct map line_ids; /* id -> line */
    struct slog2_line *line;
    size_t line_count, line_capacity;
    bool has_processes; /* some view says which process a line is */
    bool cut;           /* the file ends inside what is being read */
    uint64_t nodes, drawables, homeless;
};

/* Numbers of the file at the input, which are consumed. Where it ends before, `cut` is set and they are 0. */
int64_t slog2_int(struct reader *reader, size_t bytes, struct error *err);
double slog2_double(struct reader *reader, struct error *err);

/* A text as UTF-8; free() it. */
char *slog2_text(struct reader *reader, struct error *err);

/* Reads the parts after the tree, the input being at or before the first of them. */
enum status slog2_read_categories(struct reader *reader, struct error *err) MUST_CHECK;
enum status slog2_read_lines(struct reader *reader, struct error *err) MUST_CHECK;

/* The category of a drawable with such a topology, made where the file does not have it. */
const struct slog2_category *slog2_category_of(struct reader *reader, int32_t index, enum slog2_topology topology);

/* A line of which there is no view. */
void slog2_add_line(struct slog2_state *state, int32_t id);

/* Defines processes and communicators. */
void slog2_define_lines(struct reader *reader);

/* The line; NULL: it is no process. */
struct slog2_line *slog2_line_of(struct slog2_state *state, int32_t id);

#endif
