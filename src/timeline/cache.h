/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TIMELINE_CACHE_H
#define SIGHT_TIMELINE_CACHE_H

#include "core/checksum.h"
#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Internal: where files derived from a trace are stored, under names derived from its paths. */

/* The identity of a trace when something was derived from it. */
struct trace_identity {
    uint64_t size;    /* of all files */
    int64_t mtime_ns; /* of the youngest */
    uint64_t hash;    /* of sizes, times and contents: all of small files, a sample of large ones */
};

struct cache {
    char *index, *trace; /* paths: of the index, and of the trace stored as an event file; owned */
    int unfinished;      /* of the directory: see core/unfinished.h */
    char *directory;     /* removed with what is in it when the cache is closed; NULL: it stays */
    struct trace_identity identity;
    int lock; /* the index, open and locked while it is in use; 0: it is not */
};

/* The place of files derived from a trace, of one of several `kind`s ("" is the usual): in $SIGHT_CACHE, else
   $XDG_CACHE_HOME/sight, else ~/.cache/sight, which is created if missing; if that fails, or the trace is standard
   input, in a directory in TMPDIR that is removed with the cache: then cache->directory is set. */
enum status cache_open(struct cache *cache, char *const *paths, size_t count, const char *kind,
                       struct error *err) MUST_CHECK;
void cache_close(struct cache *cache);

/* The index exists, and is in use from now on until cache_close: no cache_limit removes it. */
void cache_use(struct cache *cache);

/* Removes the least recently used files until the directory of this cache has at most SIGHT_CACHE_SIZE bytes (10 GB, or
   a tenth of the file system if that is less), but neither this cache's own nor files in use. */
void cache_limit(const struct cache *cache);

/* A fault if SIGHT_CACHE_SIZE is not a size. */
enum status cache_limit_check(struct error *err) MUST_CHECK;

bool identity_equal(const struct trace_identity *a, const struct trace_identity *b);

#endif
