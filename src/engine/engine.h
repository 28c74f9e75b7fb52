/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_ENGINE_H
#define SIGHT_ENGINE_ENGINE_H

#include "clocks/clocks.h"
#include "convert/stream.h"
#include "graph/graph.h"
#include "heuristics/finding.h"
#include "metrics/metrics.h"
#include "profile/counters.h"
#include "stuck/left_over.h"
#include "stuck/may_hang.h"
#include "stuck/stuck.h"
#include "team/team.h"
#include "timeline/timeline.h"

/* The one place that knows how a file becomes metrics, an analysis, phases, a search and a diagnosis. A request names
   the trace and the wanted results; the result has numbers and findings. Nothing here prints, reads options or ends the
   program, and there is no state between calls: several threads may call the engine at once, each with its own request.

       struct error err = {0};
       char *inputs[] = {"app.clog2"};
       struct engine_result *result = engine_run(
           &(struct engine_request){.inputs = inputs, .input_count = 1, .wants = ENGINE_FINDINGS}, &err);
       if (!result)
           return fail(err.text);
       for (size_t i = 0; i < result->findings->count; i++)
           use(&result->findings->finding[i]);
       engine_free(result);
*/

/* The wanted results besides metrics, which are always computed: any of these. Each includes its dependencies. */
enum engine_want {
    ENGINE_ANALYSIS = 1 << 0, /* metrics->analysis: waits, critical path, replays */
    ENGINE_PHASES = 1 << 1,   /* metrics->phases: phases, loops, iterations */
    ENGINE_SEARCH = 1 << 2,   /* metrics->search: hypotheses tested one by one */
    ENGINE_GRAPH = 1 << 3,    /* the graph that these are made from is kept: about 33 bytes a call */
    ENGINE_HEURISTICS = 1 << 4 /* results of the heuristics, also about the analysis if that is wanted */,
    ENGINE_FINDINGS = 1 << 5,     /* with phases, heuristics, and as much of the analysis as findings are made of; who
                                     shows other numbers of it wants ENGINE_ANALYSIS as well */
    ENGINE_PROFILE = 1 << 6,      /* metrics->profile: samples of what is computed; comes with an analysis */
    ENGINE_SAMPLES = 1 << 7,      /* with each sample, if the profile is made, and its phase, if phases are */
    ENGINE_COUNTERS = 1 << 8,     /* metrics->counters, with phases and iterations if phases are made */
    ENGINE_COUNTER_SUMS = 1 << 9, /* what counters have on each process: in the rows of the metrics */
    ENGINE_BEFORE_HANG = 1 << 10  /* all of these of the time before the run hung, if it did, as findings are in any
                                     case */
};

/* An end of a window: ns after the run's first event, or a share of its duration (0.1: a tenth after it). All
   zero: the run's own begin or end. */
struct engine_time {
    enum { ENGINE_TIME_OPEN, ENGINE_TIME_NS, ENGINE_TIME_SHARE } kind;
    int64_t ns;
    double share;
};

/* [from, to) of the run; all zero: the whole run. */
struct engine_window {
    struct engine_time from, to;
};

/* The passes over a trace. */
enum engine_step {
    ENGINE_STEP_CLOCKS, /* how the clocks differ; only with fix_clocks */
    ENGINE_STEP_SPAN,   /* where the run begins and ends; only with a window */
    ENGINE_STEP_STUCK,  /* why it hangs; only where `early` is to be called */
    ENGINE_STEP_EVENTS, /* what is wanted */
    ENGINE_STEP_INDEX   /* the timeline's index */
};

/* Called now and then while a trace is read, maybe in another thread than the caller's, but never in two at once:
   bytes read and bytes of the whole (0: not known). False stops the work: the call returns NULL or STATUS_FAILED, and
   leaves the error as it was. */
typedef bool engine_watch(void *context, enum engine_step step, uint64_t done, uint64_t total);

/* Called once, before most of the work is done, if the run hangs and its trace can be read twice: why, and metrics
   without an analysis. Both are valid during the call only. STATUS_FAILED ends the work, with this fault. */
typedef enum status engine_early(void *context, const struct metrics *metrics, const struct stuck *stuck,
                                 struct error *err);

/* Zero is a good value of every member but the inputs. Everything it points to is borrowed until the call returns. */
struct engine_request {
    char *const *inputs; /* a trace in any format ("-": standard input), the local files of one unmerged run, a
                            directory of them, or a metrics file, which has no events */
    size_t input_count;
    struct engine_window window;
    const uint32_t *ranks; /* only these processes, ascending; NULL: all */
    size_t rank_count;
    unsigned wants;   /* of enum engine_want */
    bool events_only; /* of looks: their tiles are not asked for (struct timeline_open_options) */
    bool totals; /* where the trace is a sample of its run: metrics of all of it, and nothing of what is made of events;
                    not for a window */
    bool fix_clocks;                       /* correct clocks where messages are received before they are sent */
    const char *hypotheses;                /* file of those to test; NULL: sight's own */
    const struct counter_choice *counters; /* what is known of counters besides the trace */
    size_t counter_count;
    bool has_threshold; /* `threshold`, a share, is used for hypotheses without their own */
    double threshold;
    unsigned threads;  /* at most, for each process of the team on this machine; 0: as many as there are processors */
    struct team *team; /* processes that help (team.h), in engine_serve; NULL: none */
    engine_watch *watch;
    void *watch_context;
    engine_early *early; /* only where the graph of the whole run is wanted; NULL: nobody is waiting for it */
    void *early_context;
};

/* Why there is no analysis though it was wanted (nor phases, search, graph, findings). */
enum engine_lack {
    ENGINE_LACKS_NOTHING,
    ENGINE_LACKS_EVENTS, /* a metrics file that was written without it */
    ENGINE_LACKS_WHOLE,  /* waits in a window or on some processes have their cause elsewhere */
    ENGINE_LACKS_ROOM    /* more calls than the graph can hold */
};

/* Owned by the engine: valid until engine_free. */
struct engine_result {
    const struct metrics *metrics;          /* with analysis, phases and search where wanted and possible */
    const struct graph *graph;              /* NULL: not wanted, or not possible */
    const struct heuristic_result *results; /* heuristic_count() of them; NULL: not wanted */
    const struct findings *findings;        /* none without an analysis; NULL: not wanted */
    const struct stuck *stuck;              /* why the run hangs; NULL: no analysis of events */
    const struct may_hang *may_hang;        /* of a run that does not: NULL: not looked for; only with findings */
    const struct left_over *left_over;      /* the same */
    const struct clocks *clocks;            /* the correction; NULL: not requested, or a metrics file */
    enum engine_lack lack;
    unsigned slices;     /* in which the trace was read, each by a thread or process; 0: in one pass */
    unsigned assistants; /* other processes that computed parts of the analysis */
};

/* NULL and a fault. Damage of the trace is not a fault: metrics->end says what could be read. */
struct engine_result *engine_run(const struct engine_request *request, struct error *err);
void engine_free(struct engine_result *result); /* NULL: nothing */

/* Files of a directory that this process could not see and others of its team could. */
struct engine_gathered {
    size_t files;
    uint64_t bytes;
};

/* Rank 0, before anything is asked about a directory, or something that is not there: whatever files of it other hosts
   have and this one has not can be read here afterwards. */
enum status engine_gather(struct team *team, const char *directory, struct engine_gathered *gathered,
                          struct error *err) MUST_CHECK;

/* What the other processes of a team do: their share of what rank 0 asks engine_run for, until rank 0 says it is done.
   The exit code that it gives. */
int engine_serve(struct team *team);
void engine_serve_end(struct team *team, int code); /* rank 0: nothing more will be asked */

/* The events one by one: a reader at the first event, with corrected times if that is asked for. `window`, `ranks` and
   `wants` do not count. NULL and a fault, also of a metrics file. Close with reader_close. */
struct reader *engine_open(const struct engine_request *request, struct error *err);

/* Hands all events of a reader of engine_open to the sinks, and watches. */
enum status engine_stream(const struct engine_request *request, struct reader *reader, struct sink *const *sinks,
                          size_t count, struct error *err) MUST_CHECK;

/* A trace to look at, event by event or as tiles: the timeline, and as view the request's window and processes. `wants`
   do not count. */
struct engine_look {
    struct timeline *timeline;
    struct timeline_view view;
    uint32_t *rows; /* of the view; NULL: all */
};

/* `note` gets messages for the user, such as that the trace was stored in the cache; NULL: none. STATUS_FAILED and a
   fault, also of a metrics file; then there is nothing to close. */
enum status engine_look_open(struct engine_look *look, const struct engine_request *request, timeline_note *note,
                             void *note_context, struct error *err) MUST_CHECK;
void engine_look_close(struct engine_look *look); /* all zero: nothing */

/* A fault where the request selects a process that a run of `processes` does not have. engine_run and engine_look_open
   look for themselves; who reads with engine_open knows the number for certain at the end: the reader's definitions. */
enum status engine_check_ranks(const struct engine_request *request, uint32_t processes, struct error *err) MUST_CHECK;

/* A fault where the request has no inputs, or a metrics file. */
enum status engine_check_trace(const struct engine_request *request, struct error *err) MUST_CHECK;

#endif
