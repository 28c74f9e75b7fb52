/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/wrapped.h"

#include <stdbool.h>
#include <unwind.h>

/* Bytes: of the code before the call, and of the stack from one return address to the other. The second is also how far
   a wrong distance could reach: not beyond what is above any stack's first frame. */
enum { CODE_MOST = 256, STACK_MOST = 256 };

struct search {
    uintptr_t stack; /* pointer of the calling function, when the call has returned */
    uint32_t depth;
    bool calling; /* the frame before was the calling function's */
};

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *argument)
{
    struct search *search = argument;
    uintptr_t low = _Unwind_GetCFA(context); /* the stack pointer in this function */
    if (search->calling) {
        uintptr_t depth = low - search->stack;
        const uintptr_t *place = (const uintptr_t *)(low - sizeof *place); /* NOLINT(performance-no-int-to-ptr) */
        if (depth <= STACK_MOST && depth % sizeof *place == 0 && *place == _Unwind_GetIP(context))
            search->depth = (uint32_t)depth;
        return _URC_END_OF_STACK;
    }
    if (low < search->stack)
        return _URC_NO_REASON;
    if (low > search->stack || _Unwind_GetIP(context) - _Unwind_GetRegionStart(context) > CODE_MOST)
        return _URC_END_OF_STACK;
    search->calling = true;
    return _URC_NO_REASON;
}

uint32_t wrapped_depth(const uintptr_t *stack)
{
    struct search search = {.stack = (uintptr_t)(stack + 1)};
    _Unwind_Backtrace(on_frame, &search);
    return search.depth;
}
