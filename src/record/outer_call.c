/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/outer_call.h"

#include <errno.h>
#include <stdlib.h>

struct outer_call {
    struct open_call open;
    void *scratch; /* its own: an inner call needs another one */
    size_t scratch_size;
    struct freed_handle freeing;
    struct outer_call *outer;
};

bool outer_call_keep(struct location *location)
{
    int before = errno;
    struct outer_call *outer = malloc(sizeof *outer);
    errno = before;
    if (!outer)
        return false;
    *outer = (struct outer_call){.open = location->open,
                                 .scratch = location->scratch,
                                 .scratch_size = location->scratch_size,
                                 .freeing = location->freeing,
                                 .outer = location->outer};
    location->scratch = NULL;
    location->scratch_size = 0;
    location->open.frame = NULL;
    location->outer = outer;
    return true;
}

void outer_call_resume(struct location *location)
{
    struct outer_call *outer = location->outer;
    free(location->scratch);
    location->scratch = outer->scratch;
    location->scratch_size = outer->scratch_size;
    location->open = outer->open;
    location->freeing = outer->freeing;
    location->outer = outer->outer;
    free(outer);
}
