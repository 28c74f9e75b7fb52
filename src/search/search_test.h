/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_SEARCH_SEARCH_TEST_H
#define SIGHT_SEARCH_SEARCH_TEST_H

#include "search/cube.h"
#include "search/search.h"

/* For search.c: one test of a hypothesis in a focus, the parts of a focus along an axis, and their names. */

/* Whether it is true, its value, its reason. The node's title stays NULL. */
struct search_node search_test_node(const struct search_input *input, const struct cube *cube,
                                    const struct hypothesis *hypothesis, const struct cube_focus *focus,
                                    enum search_axis axis, const struct cube_cell *cell);

/* A part of a focus along an axis. Of processes: groups, or single ones. */
struct search_part {
    uint32_t key;
    uint32_t *set; /* of processes: rows; of iterations: these; owned */
    size_t set_count, set_capacity;
    struct cube_cell cell;
};
struct search_parts {
    struct search_part *list;
    size_t count, capacity;
    bool is_reported; /* it is worth reporting: see search.h */
};
struct search_parts search_parts_of(const struct search_input *input, const struct cube *cube,
                                    const struct hypothesis *hypothesis, const struct cube_focus *focus,
                                    enum search_axis axis, bool singles);
void search_parts_clear(struct search_parts *parts);

/* "processes 1–7", "in MPI_Recv", "at sort.c:88": free(). */
char *search_part_title(const struct search_input *input, const struct cube *cube, const struct hypothesis *hypothesis,
                        enum search_axis axis, const struct search_part *part);

#endif
