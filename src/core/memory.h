/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_MEMORY_H
#define SIGHT_CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Allocation that does not fail: every size that comes from a file is checked against a bound first, so that no input
   can exhaust memory. If memory runs out all the same, the handler is called; it must not return. Without a handler the
   process aborts. All results are freed with free(), which is memory_free wherever this header is included. */
void memory_set_handler(void (*out_of_memory)(void));
/* Ends the process as if memory had run out, through the handler; also called from signal handlers. Does not return. */
_Noreturn void memory_failed(void);

/* Large arrays (1 MB) are mapped separately: they grow without a copy, take only the memory they use, and return it
   when freed. Otherwise the C library would take them from its heap after a while, which keeps the holes. Those of
   4 MB have pages of 2 MB where the system allows that (transparent huge pages): page faults are slow on virtual
   machines. This is the choice of a program, not of a library: a program calls it when it begins. */
void memory_map_large(void);
/* While `keep` is true, blocks of up to 8 MB come from the heap, which keeps up to 16 MB of what is freed: for
   libraries that allocate and free megabytes again and again, each time as pages that the system must make. Without
   memory_map_large() this does nothing. Calls may nest. */
void memory_keep_freed(bool keep);

/* Another place than the heap for large blocks (memory_file.h). */
struct memory_store {
    uintptr_t begin, end;                      /* its blocks lie between these addresses, and nothing else does */
    size_t least;                              /* blocks of so many bytes go there */
    void *(*get)(size_t size);                 /* zeroed; NULL: the heap has to do */
    void *(*resize)(void *block, size_t size); /* NULL: the same, and the block is as it was */
    size_t (*size)(const void *block);         /* bytes that it has, at least those that were asked for */
    void (*give)(void *block);
};

/* From now on, for the rest of the program: blocks of the heap stay there until they grow. Not copied. */
void memory_set_store(const struct memory_store *store);

/* As long as there is no store, `watch` is called before a block of 1 MB or more is made or grows, in whichever thread
   that happens. It may set a store. NULL: no longer. */
void memory_set_watch(void (*watch)(void));

/* True if there is a store. */
bool memory_has_store(void);

/* True if the address lies in a block of the store. A signal handler may ask. */
bool memory_is_stored(const void *address);

void memory_free(void *block);
/* Blocks of a store are none of the C library's. Whoever frees a block of this file's includes it
 * (tests/cli/rooms.test).
 */
#define free(block) memory_free(block)

void *memory_new(size_t size);                 /* zeroed; size 0 gives a valid pointer */
void *memory_resize(void *block, size_t size); /* as realloc */
void *memory_copy(const void *from, size_t size);
char *memory_copy_string(const char *text); /* NULL gives NULL */

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
