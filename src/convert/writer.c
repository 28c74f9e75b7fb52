/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/writer.h"

#include <string.h>

/* Asked for every event: nearly always n is 0. */
void writer_lose(struct writer *writer, const char *what, uint64_t n)
{
    if (n == 0)
        return;
    for (size_t i = 0; i < writer->loss_count; i++)
        if (strcmp(writer->losses[i].what, what) == 0) {
            writer->losses[i].count += n;
            return;
        }
    if (writer->loss_count < LOSSES_MAX)
        writer->losses[writer->loss_count++] = (struct loss){.what = what, .count = n};
}
