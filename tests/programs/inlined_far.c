/* SPDX-License-Identifier: BSD-3-Clause */
/* See inlined.c. */
double inlined_cpu(void);
void far_loop(double seconds);

void far_loop(double seconds)
{
    static volatile double sink;
    for (double until = inlined_cpu() + seconds; inlined_cpu() < until;)
        for (int i = 0; i < 10000; i++)
            sink = sink * 0.25 + i;
}
