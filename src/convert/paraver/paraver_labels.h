/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_PARAVER_LABELS_H
#define SIGHT_CONVERT_PARAVER_LABELS_H

#include "core/error.h"
#include "core/map.h"

/* The files beside a .prv: labels of states, event types and their values (.pcf), names of nodes and threads (.row).
   Missing entries have no label. */

struct paraver_labels {
    char **texts; /* UTF-8 */
    size_t text_count, text_capacity;
    struct map states; /* number -> text */
    struct map types;  /* event type -> text */
    struct map groups; /* event type -> the group of types that shares its values */
    struct map values; /* (group, value) -> text */
    size_t group_count;
    size_t first_node, node_count; /* names of nodes among the texts */
    bool has_pcf;
};

/* Reads NAME.pcf and NAME.row of NAME.prv (also NAME.prv.gz); the path may be NULL. A missing file is not a fault; one
   that cannot be read is. */
enum status paraver_labels_read(struct paraver_labels *labels, const char *path, struct error *err) MUST_CHECK;
void paraver_labels_clear(struct paraver_labels *labels);

/* Borrowed, or NULL. */
const char *paraver_state_label(const struct paraver_labels *labels, uint64_t number);
const char *paraver_type_label(const struct paraver_labels *labels, uint64_t type);
const char *paraver_value_label(const struct paraver_labels *labels, uint64_t type, uint64_t value);
const char *paraver_node(const struct paraver_labels *labels, uint32_t node); /* from 1 */

#endif
