/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/stuck_pass.h"

#include "engine/opening.h"
#include "stuck/stuck.h"

#include <string.h>
#include <sys/stat.h>

bool stuck_pass_can(const struct engine_request *request)
{
    struct stat about;
    /* What comes through a pipe would have to be kept, and times are corrected in a pass before. */
    return request->input_count == 1 && !request->fix_clocks && strcmp(request->inputs[0], "-") != 0 &&
           stat(request->inputs[0], &about) == 0 && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
}

struct stuck *stuck_pass_read(const struct engine_request *request, const struct defs *defs, struct error *err)
{
    struct reader *reader = opening_inputs(request, NULL, err);
    if (!reader)
        return NULL;
    struct watching watching = {.request = request, .step = ENGINE_STEP_STUCK};
    struct stuck_builder *builder = stuck_builder_new();
    struct sink *sink = stuck_builder_sink(builder);
    enum status status = stream_run(reader, &sink, 1, opening_watch, &watching, err);
    struct stuck *stuck = stuck_builder_end(builder);
    reader_close(reader);
    if (status != STATUS_OK) {
        stuck_free(stuck);
        return NULL;
    }
    stuck->defs = defs;
    return stuck;
}
