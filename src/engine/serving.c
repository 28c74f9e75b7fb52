/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/serving.h"

#include "core/memory.h"
#include "engine/assisting.h"
#include "engine/counting.h"
#include "engine/engine.h"
#include "engine/gathering.h"
#include "engine/sharing.h"

#include <stdlib.h>
#include <string.h>

struct end {
    enum job_kind kind; /* JOB_END */
    int code;
};

/* `data`: a message of rank 0. */
static void job_do(struct team *team, enum job_kind kind, char *data, struct assisting_result *result)
{
    if (kind == JOB_SHARE)
        sharing_do(team, data);
    else if (kind == JOB_COUNT)
        counting_do(team, data);
    else if (kind == JOB_ASSIST)
        assisting_do(team, data, result);
    else if (kind == JOB_COLLECT)
        assisting_send(team, result);
    else if (kind == JOB_LIST)
        gathering_list(team, data);
    else if (kind == JOB_PIECE)
        gathering_piece(team, data);
}

int engine_serve(struct team *team)
{
    struct assisting_result result = {0};
    struct end end = {.kind = JOB_SHARE};
    while (end.kind != JOB_END) {
        size_t size;
        char *data = team_receive(team, 0, &size);
        memcpy(&end.kind, data, sizeof end.kind);
        if (end.kind == JOB_END)
            memcpy(&end, data, sizeof end);
        else
            job_do(team, end.kind, data, &result);
        free(data);
    }
    assisting_result_clear(&result);
    return end.code;
}

void engine_serve_end(struct team *team, int code)
{
    struct end end = {JOB_END, code};
    for (int rank = 1; rank < team_size(team); rank++)
        team_send(team, rank, &end, sizeof end);
}
