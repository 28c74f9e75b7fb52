/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_NUMBERS_H
#define SIGHT_CORE_NUMBERS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Small arithmetic on numbers of any type: int, unsigned, their long forms, and double. Both numbers should have the
   same type: mixed ones are converted as by any operator. */

#define NUMBERS_PAIR(suffix, type)                                                                                     \
    static inline type larger_##suffix(type a, type b)                                                                 \
    {                                                                                                                  \
        return a > b ? a : b;                                                                                          \
    }                                                                                                                  \
    static inline type smaller_##suffix(type a, type b)                                                                \
    {                                                                                                                  \
        return a < b ? a : b;                                                                                          \
    }
NUMBERS_PAIR(int, int)
NUMBERS_PAIR(unsigned, unsigned)
NUMBERS_PAIR(long, long)
NUMBERS_PAIR(ulong, unsigned long)
NUMBERS_PAIR(llong, long long)
NUMBERS_PAIR(ullong, unsigned long long)
NUMBERS_PAIR(double, double)
#undef NUMBERS_PAIR

#define NUMBERS_CHOOSE(name, a, b)                                                                                     \
    _Generic((a) + (b), int                                                                                            \
             : name##_int, unsigned                                                                                    \
             : name##_unsigned, long                                                                                   \
             : name##_long, unsigned long                                                                              \
             : name##_ulong, long long                                                                                 \
             : name##_llong, unsigned long long                                                                        \
             : name##_ullong, double                                                                                   \
             : name##_double)(a, b)

/* The larger and the smaller of two numbers. Of NaN and a number the second: fmax and fmin give the number. */
#define larger(a, b) NUMBERS_CHOOSE(larger, a, b)
#define smaller(a, b) NUMBERS_CHOOSE(smaller, a, b)

/* For qsort: below 0 where a comes before b, above 0 where it comes after it, 0 where they are equal. */
#define order_by(a, b) (((a) > (b)) - ((a) < (b)))

/* True if a number is among `count` ascending ones. */
static inline bool is_among(uint32_t number, const uint32_t *ascending, size_t count)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ascending[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && ascending[low] == number;
}

/* The size of a number without its sign. Negated as unsigned: the least int64_t has no positive counterpart. */
static inline uint64_t magnitude_of(int64_t number)
{
    if (number < 0)
        return 0 - (uint64_t)number;
    return (uint64_t)number;
}

/* llround, inline: for each piece of computing of each replay the call would take longer than the rest. */
static inline int64_t nearest_int(double number)
{
    if (!(fabs(number) < 9e15)) /* the rest below is exact */
        return llround(number);
    int64_t whole = (int64_t)number;
    double rest = number - (double)whole;
    return whole + (rest >= 0.5) - (rest <= -0.5);
}

/* Adds to a sum of bytes. Sizes of a hostile trace may come to more than 2^64: the sum then stays at the largest number
   and does not begin again at 0. */
static inline void bytes_add(uint64_t *sum, uint64_t bytes)
{
    *sum = bytes > UINT64_MAX - *sum ? UINT64_MAX : *sum + bytes;
}

/* Part of a whole; 0 where there is no whole. */
static inline double ratio_of(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

#endif
