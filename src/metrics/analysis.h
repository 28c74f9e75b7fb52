/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_METRICS_ANALYSIS_H
#define SIGHT_METRICS_ANALYSIS_H

#include "core/defs.h"
#include "metrics/course.h"

#include <stddef.h>
#include <stdint.h>

/* What the order of events across processes shows about a run: waits, the critical path, and what replays would save.
   Computed by replay/analyse.h; kept with the metrics, so that findings come from a metrics file as from the trace.
   Numbers only: findings (heuristics/finding.h) say what they mean for the program. */

/* Wait states: one for each row of waits.def, in its order. */
enum wait_kind {
    WAIT_NONE,
#define WAIT(kind, ...) WAIT_##kind,
#include "metrics/waits.def"
    WAIT_KIND_COUNT,
    WAIT_CAUSED_COUNT = WAIT_NXN_COMPLETION /* from here on: time in a call that no other process causes */
};

/* "late-sender"; "" of WAIT_NONE. And back: WAIT_NONE for an unknown kind. */
const char *wait_kind_name(enum wait_kind kind);
enum wait_kind wait_kind_find(const char *name);

/* The id of `contention`, which is not a kind, since its time is part of theirs. */
#define WAIT_CONTENTION "contention"

/* The id of `uneven`. */
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
    int64_t from_ns, to_ns; /* first begin and last end of a wait, from the run's begin */
    int64_t saving_ns;      /* how much shorter the run would be without waits of this kind; -1: not replayed. For late
                               senders also without those of wrong order; for wrong order with messages taken as they
                               arrive. */
    int64_t remains_ns;  /* the same after work is evened out in the way that saves most: the additional saving; -1: not
                            replayed */
    int64_t *victims_ns; /* by process: the one that waited */
    int64_t *causes_ns;  /* by process: the one waited for */
    int64_t *states_ns;  /* by state (the first of its name): in which function */
    int64_t *cause_states_ns;         /* by state: the last call of the process waited for */
    int64_t course_ns[COURSE_BINS];   /* over time; empty if a metrics file does not have it */
    struct wait_place *sites, *comms; /* by site and communicator of the definitions, the longest first; owned */
    size_t site_count, comm_count;
    struct wait_instance longest[LONGEST_WAITS]; /* the longest first; all of them, and only from a trace */
    size_t longest_count;
};

/* X(member, type): the numbers of the whole run. */
#define ANALYSIS_NUMBERS(X)                                                                                            \
    X(duration, TIME)             /* from the first event to the last */                                               \
    X(clock_error, TIME)          /* largest time by which a message is received before it is sent */                  \
    X(early, COUNT)               /* messages received before they are sent */                                         \
    X(clocks_fixed, COUNT)        /* 1: the times are those of corrected clocks, and these seven are known */          \
    X(early_recorded, COUNT)      /* `early`, by the recorded times */                                                 \
    X(clock_error_recorded, TIME) /* `clock_error`, by the recorded times */                                           \
    X(clock_rest, TIME)           /* the largest error after correcting offset and drift */                            \
    X(clock_shift, TIME)          /* the largest shift of an event */                                                  \
    X(clock_bent, TIME)           /* the largest shift by the logical clock, beyond offset and drift */                \
    X(median_wait, TIME)          /* of all calls that wait, by the corrected times */                                 \
    X(calls, COUNT)               /* of MPI functions, outermost */                                                    \
    X(messages, COUNT)            /* matched */                                                                        \
    X(unmatched, COUNT)           /* ends of messages without the other */                                             \
    X(collectives, COUNT)                                                                                              \
    X(incomplete, COUNT)   /* collectives in which, as recorded, not every process took part */                        \
    X(rootless, COUNT)     /* calls of collectives whose root is not recorded */                                       \
    X(rootless_time, TIME) /* in these calls */                                                                        \
    X(partnerless, COUNT)  /* calls of neighbourhood and inter-communicator collectives: their waits are not known */  \
    X(uncompleted, COUNT)  /* non-blocking collectives whose completing call is not recorded */                        \
    X(forced, COUNT)       /* calls whose partner never came, in the replay */                                         \
    X(path, TIME)          /* length of the critical path */                                                           \
    X(impact_activity, TIME)   /* of all processes' time: doing what the path does */                                  \
    X(impact_other, TIME)      /* doing something else than the path, or for longer */                                 \
    X(impact_imbalance, TIME)  /* waiting, because something on the path takes longer: the three add up to all time */ \
    X(impact_inter, TIME)      /* of that: because of something that the waiting process never does */                 \
    X(replay, TIME)            /* duration of a replay without changes */                                              \
    X(ideal, TIME)             /* the run on an ideal network: POP's T_ideal */                                        \
    X(balanced_saving, TIME)   /* saved if all processes computed as long as their mean */                             \
    X(even_steps_saving, TIME) /* the same between any two collectives that synchronise all processes */               \
    X(even_sections_saving, TIME) /* the same before each call, among the processes that make it */                    \
    X(alone,                                                                                                           \
      TIME) /* the most that one process computes between two such collectives while all others do not compute */      \
    X(alone_process, COUNT)    /* row of this process */                                                               \
    X(hub_messages, COUNT)     /* of the process with most messages */                                                 \
    X(hub_turns, COUNT)        /* how often that changes between sending and receiving: see replay/hub.h */            \
    X(once, TIME)              /* a piece of computing of the process that computes most, whose excess no other has */ \
    X(once_from, TIME)         /* when that begins, counted from the run's begin */                                    \
    X(once_excess, TIME)       /* how much longer it is than the mean of the processes before the same call */         \
    X(idle_saving, TIME)       /* saved if the work were shared with the processes without work */                     \
    X(synchronisations, COUNT) /* calls of barriers, and of collectives of few bytes */                                \
    X(synchronising, TIME)     /* in them, beyond waiting for late processes */                                        \
    X(before_synchronising, TIME) /* computing right before them */                                                    \
    X(small_calls, COUNT)         /* calls of few bytes with a known last arrival of those they depend on */           \
    X(prompt_calls, COUNT)        /* of these: calls that end then, as on any network */                               \
    X(held_calls, COUNT)  /* calls of few bytes that take far longer than on any network: see replay/held_calls.h */   \
    X(held, TIME)         /* in those, beyond waiting for late processes */                                            \
    X(unattributed, TIME) /* waiting that is not caused by any process doing something longer */                       \
    X(own_saving, TIME)   /* saved if calls of analysis_longest_own() took no time except for waiting; and those at    \
                             the other ends of their messages, if that more than doubles it */                         \
    X(small_combined, COUNT)     /* small messages that others could carry as well: see replay/small_messages.h */     \
    X(small_saving, TIME)        /* saved if they did */                                                               \
    X(handed_over, COUNT)        /* messages and collectives that only move data between those that do file I/O for    \
                                    others and these: see replay/handed_over.h */                                      \
    X(slow_link, COUNT)          /* 1: messages between two processes are slow, 2: those of one, 3: those between two  \
                                    hosts, 4: those of one; 0: none: see replay/slow_link.h */                         \
    X(slow_link_way, COUNT)      /* 1: only from the first to the other or all others, 2: only back; 0: both ways */   \
    X(slow_link_one, COUNT)      /* row of the first process, or of one on the first host */                           \
    X(slow_link_other, COUNT)    /* the same of the other; of one with all others: the first again */                  \
    X(slow_links, COUNT)         /* 2: another pair is slow alike, and that is counted with it; 0: none */             \
    X(slow_link_next_one, COUNT) /* rows of its processes, or of one on each of its hosts */                           \
    X(slow_link_next_other, COUNT)                                                                                     \
    X(slow_link_from, COUNT)     /* only messages of so many bytes or more are slow; 0: all */                         \
    X(slow_link_messages, COUNT) /* on the slow way */                                                                 \
    X(slow_link_bytes, COUNT)                                                                                          \
    X(slow_link_time, TIME)   /* the median of their transfers, of the kind that loses most */                         \
    X(slow_link_usual, TIME)  /* the same elsewhere */                                                                 \
    X(slow_link_lost, TIME)   /* calls take so much longer for that, of all processes */                               \
    X(slow_link_saving, TIME) /* saved if they took as long as elsewhere */                                            \
    X(load_balance, RATIO)    /* POP: mean / max computing */                                                          \
    X(serialisation, RATIO)   /* POP: max computing / ideal, from when the last process has started */                 \
    X(transfer, RATIO) /* POP: the same ideal / from the first leave of MPI_Init to the last enter of MPI_Finalize */

typedef int64_t analysis_TIME; /* ns */
typedef uint64_t analysis_COUNT;
typedef double analysis_RATIO;

/* X(member): times by process, in ns. */
#define ANALYSIS_BY_PROCESS(X)                                                                                         \
    X(path_compute_ns) /* the critical path: computing on it */                                                        \
    X(path_mpi_ns)     /* in MPI */                                                                                    \
    X(impact_ns)       /* waiting of all processes because of what it does on the path */                              \
    X(clock_shift_ns)  /* largest shift of an event, where clocks were corrected */                                    \
    X(concurrency_ns)  /* not of a process: [n - 1] is how long n processes compute at once */                         \
    X(polled_ns)       /* between looks for a message that are one wait: naps, no computing (graph/polls.h) */         \
    X(waited_for_ns)   /* while any other waits for it, however many: see replay/waited_for.h */                       \
    X(delay_ns)        /* waiting caused by what it does longer than others */

/* X(member): times by state (the first of its name), in ns. "before": computing before calls of it. */
#define ANALYSIS_BY_STATE(X)                                                                                           \
    X(path_states_ns)   /* the critical path: in calls of it */                                                        \
    X(path_before_ns)   /* and before them; the rest of its computing is at the ends of processes */                   \
    X(excess_states_ns) /* how much more of it the path has than processes on average, without waits */                \
    X(excess_before_ns)                                                                                                \
    X(impact_states_ns) /* waiting of all processes because of it on the path; the rest of impact_imbalance is at the  \
                           ends */                                                                                     \
    X(impact_before_ns)                                                                                                \
    X(delay_states_ns) /* waiting caused by calls of it */                                                             \
    X(delay_before_ns)

/* Collectives with so few bytes only synchronise the processes: a flag, a sum or a maximum of a few numbers. */
enum { SYNCHRONISATION_BYTES = 64 };

/* Calls of an MPI function from a place in the source, of all processes. */
struct call_site {
    uint32_t state, site;  /* of the definitions: the first of its name; 1 + index, 0: not recorded */
    uint32_t locations;    /* so many have such calls */
    uint64_t calls, bytes; /* bytes: sent, and moved in collectives */
    int64_t ns, waiting_ns, longest_ns;
};

struct analysis {
    size_t process_count, state_count;
    struct call_site *call_sites; /* those with most time first; owned */
    size_t call_site_count;
#define ANALYSIS_MEMBER(member, type) analysis_##type member;
    ANALYSIS_NUMBERS(ANALYSIS_MEMBER)
#undef ANALYSIS_MEMBER
    struct wait_sums waits[WAIT_KIND_COUNT];
    struct wait_sums uneven; /* computing beyond the mean, of the process that computes most (`causes_ns`), by the call
                                after it; not waits: see waits/uneven.h */
    struct wait_sums contention; /* a part of the waits for messages: see waits/endpoints.h; `calls` are all of them */
    int64_t synchronising_course_ns[COURSE_BINS]; /* of `synchronising` */
    int64_t computing_course_ns[COURSE_BINS];     /* computing of all processes, as `concurrency_ns` counts it */
    int64_t *
        *own_course_ns; /* by state (the first of its name): time of its calls over time, excluding waits; NULL: none */
#define ANALYSIS_ARRAY(member) int64_t *member;
    ANALYSIS_BY_PROCESS(ANALYSIS_ARRAY)
    ANALYSIS_BY_STATE(ANALYSIS_ARRAY)
#undef ANALYSIS_ARRAY
};

/* The MPI function whose calls themselves, excluding waiting, take most of the critical path, except those that start
   and end MPI: index into the definitions; UINT32_MAX if none does. */
uint32_t analysis_longest_own(const struct analysis *analysis, const struct defs *defs);

/* All waiting for other processes over time: COURSE_BINS. */
void analysis_waiting_course(const struct analysis *analysis, int64_t *course_ns);

/* Time of a state over time, excluding waits; created if needed. */
int64_t *analysis_own_course(struct analysis *analysis, size_t state);

/* The sums of two kinds; the saving is the larger one. Free with wait_sums_free. */
struct wait_sums *wait_sums_merged(const struct analysis *analysis, const struct wait_sums *a,
                                   const struct wait_sums *b);
void wait_sums_free(struct wait_sums *sums);

/* All waits for senders, including those of wrong order. Free with wait_sums_free. */
struct wait_sums *wait_sums_for_senders(const struct analysis *analysis);

/* An analysis with everything 0 and arrays of these sizes. */
struct analysis *analysis_new(size_t processes, size_t states);
void analysis_free(struct analysis *analysis);

#endif
