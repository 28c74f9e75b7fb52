/* SPDX-License-Identifier: BSD-3-Clause */
#include "stuck/call_text.h"

#include "core/text.h"

#include <inttypes.h>

void call_text_append(char *text, size_t size, const struct defs *defs, uint32_t state, uint32_t site)
{
    text_append(text, size, "%s", defs->states[state].name);
    if (site > 0 && site <= defs->site_count && defs->sites[site - 1].line > 0)
        text_append(text, size, " (%s:%" PRId32 ")", text_file_name(defs->sites[site - 1].file),
                    defs->sites[site - 1].line);
}
