/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_TESTS_RANDOM_H
#define SIGHT_TESTS_RANDOM_H

#include <math.h>
#include <stdint.h>

/* Random numbers that are the same on every machine, so that a failing test fails again: xorshift with 64 bits
   (Marsaglia 2003). A test sets the state where its results depend on the series; it must not be 0. */
static uint64_t random_state = 20261123;

static inline uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* The lowest bits of xorshift are its weakest: they are left out. */
static inline uint32_t random_below(uint32_t limit)
{
    return (uint32_t)((random_number() >> 16) % limit);
}

/* Above 0 and below 1. */
static inline double random_uniform(void)
{
    return ((double)(random_number() >> 11) + 0.5) / 9007199254740992.0;
}

/* Normal with mean 0 and deviation 1, by Box and Muller. */
static inline double random_normal(void)
{
    return sqrt(-2 * log(random_uniform())) * cos(6.283185307179586 * random_uniform());
}

#endif
