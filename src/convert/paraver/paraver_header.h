/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_PARAVER_HEADER_H
#define SIGHT_CONVERT_PARAVER_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first line of a .prv: unit of the times, and the applications with their tasks, threads and nodes. */

struct paraver_task {
    uint32_t threads, node; /* node from 1; 0: not recorded */
};

struct paraver_header {
    char date[64];              /* ISO 8601, without a time zone; "": not known */
    uint64_t unit_ns;           /* what a time is counted in */
    uint64_t duration;          /* in that unit */
    struct paraver_task *tasks; /* of all applications, one after the other: a task's index is its process */
    size_t task_count, task_capacity;
    uint32_t *first; /* of each application: its first task; one more at the end */
    size_t application_count, first_count, first_capacity;
    uint64_t communicators; /* number of lines that follow */
};

/* NULL, or what is wrong at *at. */
const char *paraver_header_parse(struct paraver_header *header, const char **at, const char *end);
void paraver_header_clear(struct paraver_header *header);

/* The process of a task, both counted from 1 in the file. False: not in the header. */
static inline bool paraver_process(const struct paraver_header *header, uint64_t application, uint64_t task,
                                   uint32_t *process)
{
    if (application == 0 || application > header->application_count || task == 0 ||
        task > header->first[application] - header->first[application - 1])
        return false;
    *process = header->first[application - 1] + (uint32_t)task - 1;
    return true;
}

/* The application that a process belongs to, from 1. */
static inline uint64_t paraver_application(const struct paraver_header *header, uint32_t process)
{
    size_t low = 1, high = header->application_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (process < header->first[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

#endif
