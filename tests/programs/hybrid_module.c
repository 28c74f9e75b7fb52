/* SPDX-License-Identifier: BSD-3-Clause */
/* For plugin.c: a module with a parallel region. */
int module_threads(void);
int module_threads(void)
{
    int threads = 0;
#pragma omp parallel num_threads(2)
    __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);
    return threads;
}
