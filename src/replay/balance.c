/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/balance.h"

#include "core/memory.h"
#include "core/numbers.h"

static double mean_of(const double *value, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += value[i];
    return ratio_of(sum, (double)count);
}

/* A location with less than this has no work; 0: all have work, or most do not. */
static double limit_of(const double *compute, size_t locations, size_t *idle)
{
    double limit = BALANCE_IDLE * mean_of(compute, locations);
    *idle = 0;
    for (size_t i = 0; i < locations; i++)
        *idle += compute[i] < limit;
    /* If most have none, that is how the program works, and no exception. */
    if (2 * *idle > locations)
        *idle = 0;
    return *idle > 0 ? limit : 0;
}

double balance_limit(const double *compute, size_t locations)
{
    size_t idle;
    return limit_of(compute, locations, &idle);
}

double *balance_factors(const double *compute, size_t locations)
{
    size_t idle;
    double limit = limit_of(compute, locations, &idle), sum = 0, *factors = memory_new(locations * sizeof *factors);
    for (size_t i = 0; i < locations; i++)
        if (compute[i] >= limit)
            sum += compute[i];
    double mean = ratio_of(sum, (double)(locations - idle));
    for (size_t i = 0; i < locations; i++) {
        factors[i] = 1;
        if (compute[i] > 0 && compute[i] >= limit)
            factors[i] = mean / compute[i];
    }
    return factors;
}

double *balance_shared(const double *compute, size_t locations)
{
    size_t idle;
    double limit = limit_of(compute, locations, &idle);
    if (idle == 0)
        return NULL;
    double *factors = memory_new(locations * sizeof *factors);
    for (size_t i = 0; i < locations; i++) {
        factors[i] = 1;
        if (compute[i] >= limit)
            factors[i] = (double)(locations - idle) / (double)locations;
    }
    return factors;
}
