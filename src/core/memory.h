/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_MEMORY_H
#define SIGHT_CORE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Allocation that does not fail: every size that comes from a file is checked against a bound first, so that no input
   can exhaust memory. If memory runs out all the same, the handler is called; it must not return. Without a handler the
   process aborts. All results are freed with free(). */
void memory_set_handler(void (*out_of_memory)(void));
/* Ends the process as if memory had run out, through the handler; also called from signal handlers. Does not return. */
_Noreturn void memory_failed(void);

void *memory_new(size_t size);                 /* zeroed; size 0 gives a valid pointer */
void *memory_resize(void *block, size_t size); /* as realloc */
char *memory_copy_string(const char *text);    /* NULL gives NULL */

/* Makes room for one more element, doubling the capacity. Use through ARRAY_PUSH. */
void *memory_grow(void *block, size_t *capacity, size_t element_size, size_t wanted);

/* Makes `array` (of `capacity` elements) hold at least `wanted` elements. */
#define ARRAY_RESERVE(array, capacity, wanted)                                                                         \
    ((size_t)(wanted) > (capacity)                                                                                     \
         ? (void)((array) = memory_grow((array), &(capacity), sizeof *(array), (size_t)(wanted)))                      \
         : (void)0)

/* Appends a value to an array with its count and capacity (size_t lvalues). */
#define ARRAY_PUSH(array, count, capacity, ...)                                                                        \
    do {                                                                                                               \
        ARRAY_RESERVE(array, capacity, (count) + 1);                                                                   \
        (array)[(count)++] = __VA_ARGS__;                                                                              \
    } while (0)

#endif
