/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_ANALYSIS_H
#define SIGHT_METRICS_ANALYSIS_H

#include "core/defs.h"
#include "metrics/course.h"

#include <stddef.h>
#include <stdint.h>

/* What the order of events across processes shows about a run: waits, the critical path, and what replays would save.
   Computed by replay/analyse.h; kept with the metrics, so that findings come from a metrics file as from the trace.
   Numbers only: what they mean for the program is said by findings (heuristics/finding.h). */

/* Wait states: one for each row of waits.def, in its order. */
enum wait_kind {
    WAIT_NONE,
#define WAIT(kind, ...) WAIT_##kind,
#include "metrics/waits.def"
    WAIT_KIND_COUNT,
    WAIT_CAUSED_COUNT = WAIT_NXN_COMPLETION /* those from here on are time that a call lasts, for nobody else */
};

/* "late-sender"; "" of WAIT_NONE. And back: WAIT_NONE if there is no such kind. */
const char *wait_kind_name(enum wait_kind kind);
enum wait_kind wait_kind_find(const char *name);

/* The name of `contention` among the kinds: it is none, since its time is a part of theirs. */
#define WAIT_CONTENTION "contention"

/* And that of `uneven`. */
#define WAIT_UNEVEN "uneven-computing"

/* One wait. Times are from the run's begin. */
struct wait_instance {
    int64_t ns, enter_ns, leave_ns, cause_enter_ns;
    uint32_t process, cause_process; /* rows */
    uint32_t state, cause_state;
};
enum { LONGEST_WAITS = 10 };

/* All waits of a kind at one place: an index into the definitions. */
struct wait_place {
    uint32_t index;
    int64_t ns;
};

/* All waits of one kind. Processes are rows of the metrics. */
struct wait_sums {
    uint64_t count; /* calls that waited */
    uint64_t calls; /* calls of the kind, waiting or not */
    int64_t ns, longest_ns;
    int64_t from_ns, to_ns;   /* first begin and last end of a wait, from the run's begin */
    int64_t saving_ns;        /* a run in which this kind never waits would be so much shorter; -1: not replayed. Of
                                 late senders: nor any of wrong order; of wrong order: none of both. */
    int64_t remains_ns;       /* the same once work is even, by the way of evening it that saves most: what this saves
                                 beside that; -1: not replayed */
    int64_t *victims_ns;      /* by process: who waited */
    int64_t *causes_ns;       /* by process: who was waited for */
    int64_t *states_ns;       /* by state (the first of its name): in which function */
    int64_t *cause_states_ns; /* by state: what was called at last by whom was waited for */
    int64_t course_ns[COURSE_BINS];   /* when; nothing where a metrics file does not tell */
    struct wait_place *sites, *comms; /* by site and communicator of the definitions, the longest first; owned */
    size_t site_count, comm_count;
    struct wait_instance longest[LONGEST_WAITS]; /* the longest first; as many as there are, of a trace only */
    size_t longest_count;
};

/* X(member, type): the numbers of the whole run. */
#define ANALYSIS_NUMBERS(X)                                                                                            \
    X(duration, TIME)             /* from the first event to the last */                                               \
    X(clock_error, TIME)          /* largest time by which a message is received before it is sent */                  \
    X(early, COUNT)               /* messages that are */                                                              \
    X(clocks_fixed, COUNT)        /* 1: the times are those of corrected clocks, and these seven are known */          \
    X(early_recorded, COUNT)      /* `early` of the recorded times */                                                  \
    X(clock_error_recorded, TIME) /* `clock_error` of the recorded times */                                            \
    X(clock_rest, TIME)           /* the largest error that offsets and drifts leave */                                \
    X(clock_shift, TIME)          /* the largest shift of an event */                                                  \
    X(clock_bent, TIME)           /* the largest that the logical clock added to offset and drift */                   \
    X(median_wait, TIME)          /* of all calls that wait, by the corrected times */                                 \
    X(calls, COUNT)               /* of MPI functions, outermost */                                                    \
    X(messages, COUNT)            /* matched */                                                                        \
    X(unmatched, COUNT)           /* ends of messages without the other */                                             \
    X(collectives, COUNT)                                                                                              \
    X(incomplete, COUNT)          /* collectives that not everyone took part in, as far as is recorded */              \
    X(rootless, COUNT)            /* calls of collectives whose root the trace does not record */                      \
    X(rootless_time, TIME)        /* in these calls */                                                                 \
    X(partnerless, COUNT)         /* calls of collectives of neighbours or two groups: who waits is not known */       \
    X(uncompleted, COUNT)         /* non-blocking collectives of which the trace does not say what completes them */   \
    X(forced, COUNT)              /* calls whose partner never came, in the replay */                                  \
    X(path, TIME)                 /* length of the critical path */                                                    \
    X(impact_activity, TIME)      /* of all processes' time along the path: doing what is on the path */               \
    X(impact_other, TIME)         /* doing what is not on the path, or longer than there */                            \
    X(impact_imbalance, TIME)     /* waiting, because something on the path takes longer: the three are all */         \
    X(impact_inter, TIME)         /* of that: because of what the process never does itself */                         \
    X(replay, TIME)               /* a replay with nothing changed: the duration */                                    \
    X(ideal, TIME)                /* the run on an ideal network: POP's T_ideal */                                     \
    X(balanced_saving, TIME)      /* saved if all processes computed as long as their mean */                          \
    X(even_steps_saving, TIME)    /* the same between any two collectives that all wait in for the last */             \
    X(even_sections_saving, TIME) /* the same before each call, of those that make it */                               \
    X(alone, TIME)             /* the most that one process computes between two while all others compute nothing */   \
    X(alone_process, COUNT)    /* row of that process */                                                               \
    X(idle_saving, TIME)       /* saved if the work were shared with processes that have none */                       \
    X(synchronisations, COUNT) /* calls of barriers, and of collectives of few bytes */                                \
    X(synchronising, TIME)     /* in them, beyond waiting for who is late */                                           \
    X(before_synchronising, TIME) /* computing right before them */                                                    \
    X(small_calls, COUNT)         /* calls of few bytes of which it is known when the last they depend on came */      \
    X(prompt_calls, COUNT)        /* of these: that end then, as any network lets them */                              \
    X(held_calls, COUNT)    /* calls of few bytes that take far longer than any network: see replay/held_calls.h */    \
    X(held, TIME)           /* in those, beyond waiting for who is late */                                             \
    X(unattributed, TIME)   /* waiting that goes back to nothing that anybody does longer */                           \
    X(own_saving, TIME)     /* saved if calls of analysis_longest_own() took no time but for waiting */                \
    X(load_balance, RATIO)  /* POP: mean / max computing */                                                            \
    X(serialisation, RATIO) /* POP: max computing / ideal, from when the last process has started */                   \
    X(transfer, RATIO) /* POP: the same ideal / from the first leave of MPI_Init to the last enter of MPI_Finalize */

typedef int64_t analysis_TIME; /* ns */
typedef uint64_t analysis_COUNT;
typedef double analysis_RATIO;

/* X(member): times by process, in ns. */
#define ANALYSIS_BY_PROCESS(X)                                                                                         \
    X(path_compute_ns) /* the critical path: computing on it */                                                        \
    X(path_mpi_ns)     /* in MPI */                                                                                    \
    X(impact_ns)       /* waiting of all because of what it has on the path */                                         \
    X(clock_shift_ns)  /* largest shift of an event, where clocks were corrected */                                    \
    X(polled_ns)       /* between looks for a message that are one wait: naps, no computing (graph/polls.h) */         \
    X(delay_ns)        /* waiting that goes back to what it does longer than others */

/* X(member): times by state (the first of its name), in ns. "before": computing before calls of it. */
#define ANALYSIS_BY_STATE(X)                                                                                           \
    X(path_states_ns)   /* the critical path: in calls of it */                                                        \
    X(path_before_ns)   /* and before them; what is missing to its computing is at the ends of processes */            \
    X(excess_states_ns) /* what the path has more of it than processes have on average, without waits */               \
    X(excess_before_ns)                                                                                                \
    X(impact_states_ns) /* waiting of all because of it on the path; the rest of impact_imbalance is at ends */        \
    X(impact_before_ns)                                                                                                \
    X(delay_states_ns) /* waiting that goes back to calls of it */                                                     \
    X(delay_before_ns)

struct analysis {
    size_t process_count, state_count;
#define ANALYSIS_MEMBER(member, type) analysis_##type member;
    ANALYSIS_NUMBERS(ANALYSIS_MEMBER)
#undef ANALYSIS_MEMBER
    struct wait_sums waits[WAIT_KIND_COUNT];
    struct wait_sums uneven;     /* computing beyond the mean, of the process that computes most (`causes_ns`), by what
                                    is called after it; no waits: see waits/uneven.h */
    struct wait_sums contention; /* a part of the waits for messages: see waits/endpoints.h; `calls` are all of them */
    int64_t synchronising_course_ns[COURSE_BINS]; /* of `synchronising` */
    int64_t **own_course_ns; /* by state (the first of its name): when its calls do not wait; NULL: they never do */
#define ANALYSIS_ARRAY(member) int64_t *member;
    ANALYSIS_BY_PROCESS(ANALYSIS_ARRAY)
    ANALYSIS_BY_STATE(ANALYSIS_ARRAY)
#undef ANALYSIS_ARRAY
};

/* The MPI function whose calls themselves, excluding waiting, take most of the critical path, excluding what starts and
   ends MPI: index into the definitions; UINT32_MAX where none does. */
uint32_t analysis_longest_own(const struct analysis *analysis, const struct defs *defs);

/* All waiting for other processes by when it is: COURSE_BINS. */
void analysis_waiting_course(const struct analysis *analysis, int64_t *course_ns);

/* Time of a state beyond waits by when it is, made where there is none. */
int64_t *analysis_own_course(struct analysis *analysis, size_t state);

/* The sums of two kinds; the saving is the larger one. Free with wait_sums_free. */
struct wait_sums *wait_sums_merged(const struct analysis *analysis, const struct wait_sums *a,
                                   const struct wait_sums *b);
void wait_sums_free(struct wait_sums *sums);

/* All waits for senders, those of wrong order among them. Free with wait_sums_free. */
struct wait_sums *wait_sums_for_senders(const struct analysis *analysis);

/* Everything 0, the arrays of these sizes. */
struct analysis *analysis_new(size_t processes, size_t states);
void analysis_free(struct analysis *analysis);

#endif
