/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_PARAVER_PLACES_H
#define SIGHT_CONVERT_PARAVER_PLACES_H

#include "convert/paraver/paraver_names.h"
#include "convert/paraver/paraver_record.h"
#include "core/defs.h"

/* Places in the program's source. Extrae writes them as two values, one labelled with a function and one with a line,
   on the record of what happens there: of each level of the callers of an MPI call, and of each depth of a sampled call
   stack. Values without a label say nothing. */

struct paraver_places {
    struct map callers, frames; /* (value of the function, of the line) -> 1 + index of a site; 0: it has no label */
    struct map paths;           /* (1 + parent, site) -> index */
};

/* The name of a function from its label, which may be "short [long]": the long one. The caller frees it. */
char *paraver_label_function(const char *label);

/* The file and line of a label such as "12 (file.c, program)" or "file.c:12", whose file the caller frees. NULL: it has
   none. */
char *paraver_label_place(const char *label, int32_t *line);

/* True for the types of these values. */
bool paraver_type_is_place(uint64_t type);

/* Of a record with an MPI call: its place, as event.site: the innermost caller whose function or line has a label.
   Defines what is new. */
uint32_t paraver_caller_of(struct paraver_places *places, const struct paraver_labels *labels, struct defs *defs,
                           const struct paraver_record *record);

/* Of a record with a sample: 1 + the index of its call path, and where it ends, as event.site; 0: it has none. Defines
   what is new. */
uint32_t paraver_sample_of(struct paraver_places *places, const struct paraver_labels *labels, struct defs *defs,
                           const struct paraver_record *record, uint32_t *site);

void paraver_places_clear(struct paraver_places *places);

#endif
