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
