/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_REPLAY_PATH_LINKS_H
#define SIGHT_REPLAY_PATH_LINKS_H

#include "waits/critical_path.h"

/* What messages travel over: between two processes or hosts, or between one of them and all others. */

enum link_kind { LINK_PROCESSES, LINK_PROCESS, LINK_HOSTS, LINK_HOST, LINK_KINDS };

struct link {
    enum link_kind kind;
    uint32_t one, other; /* rows of processes, or numbers of hosts; of one with all others: the same */
    int64_t path_ns;     /* of the critical path, in calls with its messages, excluding waiting */
};

/* Hosts of the processes, numbered; NULL if there is only one, or a process is on none that is known. To be freed.
   `rows`: by location, of `processes`. */
uint32_t *link_hosts(const struct graph *graph, const uint32_t *rows, size_t processes);

/* True if messages between the processes of these rows travel over the link. `hosts`: by row; NULL. */
bool link_has(const struct link *link, const uint32_t *hosts, uint32_t row, uint32_t other);

/* Links that are slow together. */
enum { LINK_SET_MOST = 2 };
struct link_set {
    struct link link[LINK_SET_MOST];
    size_t count;
};
bool link_set_has(const struct link_set *set, const uint32_t *hosts, uint32_t row, uint32_t other);

/* True if such a message travels away from link->one. */
bool link_leaves(const struct link *link, const uint32_t *hosts, uint32_t sender, uint32_t receiver);

/* The links on which the critical path spends most, of each kind up to LINKS_MOST, and at least this long: faster
   messages there can save no more. Those with most come first. */
enum { LINKS_MOST = 4 };
struct path_links {
    struct link links[LINK_KINDS][LINKS_MOST];
    size_t count[LINK_KINDS];
};
struct path_links path_links_of(const struct graph *graph, const struct critical_path *path, const uint32_t *rows,
                                size_t processes, int64_t least_ns);

#endif
