/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cli/view_side.h"

#ifdef HAVE_MICROHTTPD

#include "core/memory.h"
#include "core/output.h"

#include <stdio.h>
#include <stdlib.h>

/* Everything that requires reading the whole trace; the page polls until it is available. */
static void *judge(void *context)
{
    struct side *side = context;
    const struct trace_options *trace = &side->options.trace;
    struct common_options quiet = side->options.common;
    struct error err = {0};
    /* The page shows that the run is being judged; progress on the terminal would stand below its address. */
    quiet.progress = (struct choice){"never"};
    side->run = ask(&quiet, trace, ENGINE_ANALYSIS | ENGINE_FINDINGS | ENGINE_SEARCH | ENGINE_COUNTERS, &err);
    if (side->run) {
        /* Waits and the critical path have a timeline of their own: the page's is in use while they are read. */
        bool looks = ask_look(&side->options.common, trace, true, &side->overlays, &err) == STATUS_OK;
        side->judged.judgement =
            (struct view_judgement){.metrics = side->run->metrics,
                                    .trace = side->options.common.inputs[0],
                                    .results = side->run->results,
                                    .findings = side->run->findings,
                                    .stuck = side->run->stuck,
                                    .overlay = looks ? timeline_overlay(side->overlays.timeline, &err) : NULL};
        struct output *output = output_open_memory();
        view_write_judgement(output, &side->site.pictures.view, &side->judged.judgement);
        side->judged.text = output_take(output, &side->judged.length);
        /* Published when it is complete: requests in other threads see all of it, or nothing. */
        atomic_store(&side->site.judged, &side->judged);
    }
    if (err.kind != ERROR_NONE)
        fprintf(stderr, "sight: %s\n", err.text);
    atomic_store(&side->done, true);
    return NULL;
}

void side_clear(struct side *side)
{
    /* The judge reads what is freed below. */
    if (side->judging)
        pthread_join(side->judge, NULL);
    view_clear(&side->site.pictures.view);
    view_clear(&side->site.questions.view);
    engine_free(side->run);
    free(side->judged.text);
    engine_look_close(&side->pictures);
    engine_look_close(&side->questions);
    engine_look_close(&side->overlays);
}

enum status side_open(struct side *side, const char *title, bool silent, struct error *err)
{
    const struct common_options *common = &side->options.common;
    const struct trace_options *trace = &side->options.trace;
    if (ask_look(common, trace, silent, &side->pictures, err) != STATUS_OK)
        return STATUS_FAILED;
    /* Two timelines, each with a lock: a question that reads many events does not hold up pictures. */
    if (ask_look(common, trace, true, &side->questions, err) != STATUS_OK) {
        engine_look_close(&side->pictures);
        return STATUS_FAILED;
    }
    pthread_mutex_init(&side->site.pictures.lock, NULL);
    pthread_mutex_init(&side->site.questions.lock, NULL);
    view_begin(&side->site.pictures.view, side->pictures.timeline, title);
    view_begin(&side->site.questions.view, side->questions.timeline, title);
    return STATUS_OK;
}

void side_judge(struct side *side)
{
    side->judging = pthread_create(&side->judge, NULL, judge, side) == 0;
}

bool side_is_judging(struct side *side)
{
    return side->judging && !atomic_load(&side->done);
}

#endif
