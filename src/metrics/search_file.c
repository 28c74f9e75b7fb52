/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what metrics files contain about the search for bottlenecks. */
#include "core/memory.h"
#include "metrics/file_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Deeper than a search goes, and shallow enough for recursion. */
enum { DEPTH_MOST = 24 };

/* A copy; NULL if absent. */
static char *file_copy(struct metrics_file *file, enum file_attribute attribute)
{
    if (!xml_sax_has(&file->sax, attribute))
        return NULL;
    return memory_copy_string(file_text(file, attribute));
}

void read_search(struct metrics_file *file)
{
    if (file->metrics->search)
        return;
    struct search *search = file->metrics->search = search_new();
    search->source = file_copy(file, ATTRIBUTE_source);
    search->tests = file_count(file, ATTRIBUTE_tests, UINT64_MAX);
    search->threshold = file_ratio(file, ATTRIBUTE_threshold);
    search->least_calls = file_count(file, ATTRIBUTE_least_calls, UINT64_MAX);
    search->least_ns = file_time(file, ATTRIBUTE_least_time_s);
}

/* "1 0 -1": powers of seconds, bytes, counts. */
static struct search_unit read_unit(struct metrics_file *file)
{
    int8_t powers[3] = {0};
    const char *at = file_text(file, ATTRIBUTE_unit);
    for (size_t i = 0; i < 3 && *at; i++) {
        char *end;
        long power = strtol(at, &end, 10);
        if (end == at || power < -100 || power > 100) {
            file_damage(file, "invalid attribute unit");
            break;
        }
        powers[i] = (int8_t)power;
        at = end;
    }
    return (struct search_unit){powers[0], powers[1], powers[2]};
}

/* The parent of a node is the previous node or one of that node's ancestors. */
static bool is_in_order(const struct search *search, uint32_t parent)
{
    if (parent == SEARCH_ROOT)
        return true;
    uint32_t at = search->count > 0 ? (uint32_t)search->count - 1 : SEARCH_ROOT;
    while (at != SEARCH_ROOT && at != parent)
        at = search->nodes[at].parent;
    return at != SEARCH_ROOT && search_depth(search, at) + 1 < DEPTH_MOST;
}

void read_test(struct metrics_file *file)
{
    struct search *search = file->metrics->search;
    if (!search || search->count >= SEARCH_ROOT - 1)
        return;
    const char *text = file_text(file, ATTRIBUTE_state);
    enum search_state state = search_state_find(text, strlen(text));
    text = file_text(file, ATTRIBUTE_axis);
    enum search_axis axis = search_axis_find(text, strlen(text));
    uint32_t parent = SEARCH_ROOT;
    if (xml_sax_has(&file->sax, ATTRIBUTE_parent))
        parent = (uint32_t)file_count(file, ATTRIBUTE_parent, SEARCH_ROOT - 1);
    if (state == SEARCH_STATE_COUNT || axis == SEARCH_AXIS_COUNT || !is_in_order(search, parent) ||
        (axis != AXIS_WHY && parent == SEARCH_ROOT)) {
        file_damage(file, "invalid test %zu of the search", search->count);
        return;
    }
    struct search_node node = {.parent = parent,
                               .state = state,
                               .axis = axis,
                               .unit = read_unit(file),
                               .threshold = file_ratio(file, ATTRIBUTE_threshold),
                               .calls = file_count(file, ATTRIBUTE_calls, UINT64_MAX),
                               .more_true = file_count(file, ATTRIBUTE_more_true, UINT64_MAX),
                               .more_false = file_count(file, ATTRIBUTE_more_false, UINT64_MAX),
                               .more_unknown = file_count(file, ATTRIBUTE_more_unknown, UINT64_MAX)};
    node.cut = strcmp(file_text(file, ATTRIBUTE_cut), "true") == 0;
    node.has_value = xml_sax_has(&file->sax, ATTRIBUTE_value);
    node.value = node.has_value ? file_ratio(file, ATTRIBUTE_value) : 0;
    node.has_time = xml_sax_has(&file->sax, ATTRIBUTE_time_s);
    node.ns = file_time(file, ATTRIBUTE_time_s);
    node.hypothesis = memory_copy_string(file_text(file, ATTRIBUTE_hypothesis));
    node.title = memory_copy_string(file_text(file, ATTRIBUTE_title));
    node.also_explains = file_copy(file, ATTRIBUTE_also_explains);
    node.reason = file_copy(file, ATTRIBUTE_reason);
    node.advice = file_copy(file, ATTRIBUTE_advice);
    search_add(search, node);
}
