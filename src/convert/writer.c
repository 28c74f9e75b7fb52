/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/writer.h"

#include <string.h>

#define WRITER(x) extern const struct writer_format writer_format_##x;
#include "convert/formats.def"

static const struct writer_format *const writer_formats[] = {
#define WRITER(x) &writer_format_##x,
#include "convert/formats.def"
};

size_t writer_format_count(void)
{
    return sizeof writer_formats / sizeof *writer_formats;
}

const struct writer_format *writer_format_at(size_t index)
{
    return writer_formats[index];
}

const struct writer_format *writer_format_find(const char *name)
{
    for (size_t i = 0; i < writer_format_count(); i++)
        if (strcmp(writer_formats[i]->name, name) == 0)
            return writer_formats[i];
    return NULL;
}

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
