/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_CACHE_H
#define SIGHT_TIMELINE_CACHE_H

#include "core/checksum.h"
#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Internal: where what is made of a trace is kept, under names that its paths give. */

/* What a trace was when something was made of it. */
struct trace_identity {
    uint64_t size;    /* of all files */
    int64_t mtime_ns; /* of the youngest */
    uint64_t hash;    /* of sizes, times and pieces of the contents: of small files all, of large ones a sample */
};

struct cache {
    char *index, *trace; /* paths: of the index, and of the trace stored as an event file; owned */
    int unfinished;      /* of the directory: see core/unfinished.h */
    char *directory;     /* removed with what is in it when the cache is closed; NULL: it stays */
    struct trace_identity identity;
    int lock; /* the index, open and locked while it is in use; 0: it is not */
};

/* The place of what is made of a trace, of its `kind` of several ("" is the usual): in $SIGHT_CACHE, else
   $XDG_CACHE_HOME/sight, else ~/.cache/sight, which is made where it is missing; where that cannot be, or the trace is
   standard input, in a directory in TMPDIR that goes with the cache: then cache->directory is set. */
enum status cache_open(struct cache *cache, char *const *paths, size_t count, const char *kind,
                       struct error *err) MUST_CHECK;
void cache_close(struct cache *cache);

/* The index is there, and is being looked at from now on until cache_close: cache_limit of nobody removes it. */
void cache_use(struct cache *cache);

/* Removes what was used longest ago until all that is kept in the directory of this cache takes at most
   SIGHT_CACHE_SIZE bytes (10 GB, or a tenth of the file system where that is less), but neither this cache's own nor
   what is in use. */
void cache_limit(const struct cache *cache);

/* A fault where SIGHT_CACHE_SIZE is no size. */
enum status cache_limit_check(struct error *err) MUST_CHECK;

bool identity_equal(const struct trace_identity *a, const struct trace_identity *b);

#endif
