/* SPDX-License-Identifier: BSD-3-Clause */
#include "phases/rhythm.h"

#include "core/event.h"

static const double LEAST = 0.5, AS_LARGE = 0.9;

void rhythm_add(struct rhythm *rhythm, int64_t begin_ns, int64_t end_ns)
{
    begin_ns = begin_ns > rhythm->begin_ns ? begin_ns : rhythm->begin_ns;
    end_ns = end_ns < rhythm->end_ns ? end_ns : rhythm->end_ns;
    if (begin_ns >= end_ns)
        return;
    double width = (double)time_since(rhythm->begin_ns, rhythm->end_ns) / RHYTHM_BINS;
    double begin = (double)time_since(rhythm->begin_ns, begin_ns) / width,
           end = (double)time_since(rhythm->begin_ns, end_ns) / width;
    size_t first = (size_t)begin, last = (size_t)end;
    first = first < RHYTHM_BINS ? first : RHYTHM_BINS - 1;
    last = last < RHYTHM_BINS ? last : RHYTHM_BINS - 1;
    for (size_t bin = first; bin <= last; bin++) {
        double from = begin > (double)bin ? begin : (double)bin, to = end < (double)bin + 1 ? end : (double)bin + 1;
        rhythm->bins[bin] += to > from ? to - from : 0;
    }
}

int64_t rhythm_period_ns(const struct rhythm *rhythm)
{
    double values[RHYTHM_BINS], alike[RHYTHM_LAGS + 1], mean = 0, largest = 0;
    for (size_t i = 0; i < RHYTHM_BINS; i++)
        mean += rhythm->bins[i] / RHYTHM_BINS;
    for (size_t i = 0; i < RHYTHM_BINS; i++)
        values[i] = rhythm->bins[i] - mean;
    /* Divide each lag by its number of pairs, so that long ones are comparable. */
    for (size_t lag = 0; lag <= RHYTHM_LAGS; lag++) {
        alike[lag] = 0;
        for (size_t i = 0; i + lag < RHYTHM_BINS; i++)
            alike[lag] += values[i] * values[i + lag];
        alike[lag] /= (double)(RHYTHM_BINS - lag);
    }
    if (alike[0] <= 1e-12)
        return 0;
    for (size_t lag = 1; lag < RHYTHM_LAGS; lag++)
        if (alike[lag] >= LEAST * alike[0] && alike[lag] > alike[lag - 1] && alike[lag] >= alike[lag + 1] &&
            alike[lag] > largest)
            largest = alike[lag];
    double width = (double)time_since(rhythm->begin_ns, rhythm->end_ns) / RHYTHM_BINS;
    for (size_t lag = 1; lag < RHYTHM_LAGS && largest > 0; lag++)
        if (alike[lag] >= AS_LARGE * largest && alike[lag] > alike[lag - 1] && alike[lag] >= alike[lag + 1])
            return (int64_t)((double)lag * width);
    return 0;
}
