/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_HEURISTICS_FINDING_H
#define SIGHT_HEURISTICS_FINDING_H

#include "heuristics/heuristic.h"

/* A finding is a problem that costs time: what, where, when, how much, and what to do. It is only reported if fixing it
   would save more than the noise: 1 % of the run, and the clock error of the trace. */

enum { FINDING_FUNCTIONS = 3, FINDING_SITES = 3, FINDING_EVIDENCE = 10, FINDING_CODE = 3, FINDING_CAVEAT_SIZE = 400 };

/* One for each row of findings.def, in its order. */
enum finding_kind {
#define FINDER(name, ...) FINDING_##name,
#include "heuristics/findings.def"
    FINDING_KINDS /* of none */
};

/* Sets of kinds: FINDING_BIT(late_sender) | FINDING_BIT(late_receiver). */
#define FINDING_BIT(name) (UINT64_C(1) << FINDING_##name)
_Static_assert(FINDING_KINDS <= 64, "a set of kinds has 64 bits");

struct ranks {
    uint32_t *rank; /* world ranks, ascending; owned */
    size_t count;
};

/* What the processes that are to blame compute and the others do not, by samples. */
struct finding_code {
    const char *name, *file; /* of the function, the program's own where that is known; file "" where it is not known;
                                borrowed from the definitions */
    int32_t line;            /* 0: not known */
    const char *called;      /* a library's function, called there, that takes most of it; NULL: none */
    const char *caller;      /* the function that calls it there; NULL: none, or not known */
    double excess_s;         /* mean time of a process that is to blame beyond that of the others */
    double chance;           /* that it is noise */
};

struct finding {
    enum finding_kind kind;
    const char *id;   /* its name: finding_id(kind) */
    char title[512];  /* no full stop */
    double waiting_s; /* exact, summed over processes */
    double saving_s;  /* of wall-clock time, by replay: how much shorter the run would be if nothing else changed */
    double share;     /* saving / duration */
    bool risk;        /* it saves no time, but may end the run */
    bool by_cpu;      /* judged by CPU time, which a lack of cores does not change */
    bool unresolved;  /* the saving is an upper bound that no single change reaches */
    struct ranks victims, causes;
    const char *functions[FINDING_FUNCTIONS]; /* borrowed from the definitions; NULL after the last */
    const struct site_def
        *sites[FINDING_SITES];      /* where it waits, or calls take time, most; borrowed, NULL after the last */
    double from_s, to_s;            /* from the run's begin */
    int64_t course_ns[COURSE_BINS]; /* its cost over time, of all processes; empty if not known */
    char text[2048];
    char advice[400];
    const char *pattern;       /* POP's name for the pattern, with its page; NULL: none */
    const char *best_practice; /* and for the best practice against it; NULL */
    const char *root;          /* id of the finding that causes this one; NULL: none */
    size_t depth;              /* so many findings lie on its way to the one that causes them all */
    double place_s;            /* the smallest saving among it and those: where it is in the list */
    struct detail evidence[FINDING_EVIDENCE];
    size_t evidence_count;
    struct finding_code code[FINDING_CODE]; /* the largest excess first */
    size_t code_count;
};

struct findings {
    struct finding *finding; /* the largest saving first, but none before its root */
    size_t count;
    double floor_s;                   /* what is saved at least */
    double chance_s;                  /* what those save at least that noise may explain (finding_noise) */
    bool without_start;               /* the floor is a share of the time between MPI_Init and MPI_Finalize */
    bool clock_limits;                /* the floor is the clock error */
    size_t below_clock;               /* findings that only the clock error hides */
    char caveat[FINDING_CAVEAT_SIZE]; /* what distorts the times of the run, or what no finding explains */
};

/* The finders' input: metrics with an analysis, and the results of the heuristics. */
struct finding_input {
    const struct metrics *metrics;
    const struct heuristic_result *results;
    const struct analysis *analysis;
    size_t found; /* findings before it in the table that explain what is lost */
};

/* None if the metrics have no analysis. Free with findings_clear. */
struct findings findings_of(const struct metrics *metrics, const struct heuristic_result *results);
void findings_clear(struct findings *findings);

/* Findings are made without delays if the run would be shorter by no more than this without any kind of waits: those of
   waits alone name their root. Likewise without call sites if that is so of the calls themselves. 0: both are needed
   whatever that saves. */
int64_t findings_detail_from_ns(const struct metrics *metrics);

/* "No finding above 530 µs (1 % of the run), or 1.08 ms where chance may explain it.", if there are no findings. */
enum { FINDINGS_NONE_SIZE = 160 };
char *findings_none(const struct findings *findings, char line[FINDINGS_NONE_SIZE]);

/* The place of the finding that causes the one at `place`, always an earlier one; `place` itself: none does. */
size_t finding_root_place(const struct findings *findings, size_t place);

/* Causes are only reported if at most 0.1 % of the messages are received before they are sent. */
bool finding_roots_known(const struct analysis *analysis);

/* True if the clock correction, beyond offsets and drifts, exceeds a tenth of the median wait. */
bool finding_waits_uncertain(const struct analysis *analysis);

/* "late-sender", and back: FINDING_KINDS if there is no such id. */
const char *finding_id(enum finding_kind kind);
enum finding_kind finding_find(const char *id);

/* The wait state whose calls cause it; WAIT_NONE. */
enum wait_kind finding_wait(enum finding_kind kind);

/* All waits that cause it, summed over several wait states; NULL: it is not about waits. Free with wait_sums_free. */
struct wait_sums *finding_waits(enum finding_kind kind, const struct analysis *analysis);

/* The part of what a finding costs, from 0 to 1, that the lack of cores (finding oversubscription) explains at most.
   Where the kernel's counters are not recorded, 0 for what is about files, else 1. */
double finding_machine_part(const struct finding_input *input, const struct finding *finding);

/* True if the excess of one piece of computing is most of what is uneven, and the piece yet not nearly all that its
   process computes: it is done once, as reading input is, or a slow first iteration (finding_work.c). */
bool finding_is_once(const struct finding_input *input);

/* True if the transfers of a finding of transfer delay each other: without them the run would be much shorter than what
   any process spends on them (finding_transfer.c). */
bool finding_transfers_in_turn(const struct finding_input *input, const struct finding *finding);

/* The state of the collective with a root whose calls take longest, waits excluded, where these may be waiting for the
   root all the same: they give it something, or the root is not known. UINT32_MAX: none. *own_s: how long, in all. */
uint32_t finding_hides_waits(const struct finding_input *input, double *own_s);

/* The same of accesses to windows, which may wait until their target calls MPI. */
uint32_t finding_needs_target(const struct finding_input *input, double *own_s);

/* A process that leaves MPI_Init long after all others, which wait for it: false if there is none. */
struct late_start {
    size_t row;
    int64_t from_ns, others_ns; /* when the first, and the last of the others, have left it, from the run's begin */
    int64_t later_ns;           /* how much later than that */
    int64_t saving_ns;          /* as long as that is waited for */
    bool by_cores;              /* it had no core for half of it */
};
bool finding_leaves_start_late(const struct finding_input *input, struct late_start *late);

/* True if the processes have different roles: much of their time is waiting for activities that take longer on the
   critical path (*lost_share), mostly ones that the waiting process never performs (*inter_share of that). */
bool finding_roles_differ(const struct analysis *analysis, double *lost_share, double *inter_share);

/* True if calls take so much longer than any network explains that processes must be waiting for cores. */
bool finding_shares_cores(const struct metrics *metrics);

/* What the kernel counted of the main thread of each process, by row of the metrics; `process` NULL: nothing. To be
   freed. */
struct finding_use {
    const struct process_resources *process;
    double outside_s, off_s, delay_s; /* outside MPI; of that without a core and not ready for one, at least; ready */
    double outside_delay_s;           /* ready outside MPI: as in all of the run, where MPI's calls do not sleep */
};
struct finding_use *finding_uses(const struct metrics *metrics);

/* The findings that name a resource: they are no result of a lack of cores. */
bool finding_is_shortage(enum finding_kind kind);

/* For findings_of: says where the processes to blame sleep or wait outside MPI instead of computing, as the kernel
   counted. */
void finding_idle_fit(const struct metrics *metrics, struct finding *finding);

/* For findings_of: what distorts the times of a run, or "". */
void finding_caveat(const struct finding_input *input, char caveat[FINDING_CAVEAT_SIZE]);

/* Calls of a class of functions by all processes; of only the one with this name, or of all: NULL. */
double finding_calls(const struct metrics *metrics, enum function_class class, const char *name);

/* Adds to it, where there is no finding, that the processes do not compute for much of the time outside MPI. */
void finding_caveat_idle(const struct metrics *metrics, char caveat[FINDING_CAVEAT_SIZE]);

/* Processes that others have spawned, and what that takes; all 0: there are none. */
struct spawning {
    size_t parents, children;
    int64_t least_ns, sum_ns; /* in MPI_Comm_spawn: the parent that is there for the shortest time, and all */
    int64_t init_ns;          /* in MPI_Init: the child with most of it, but not more than the parents take */
    int64_t saving_ns;        /* by which the run would be shorter at most */
};
struct spawning finding_spawning(const struct finding_input *input);

/* The finders. */
#define FINDER(name, ...) bool find_##name(const struct finding_input *input, struct finding *finding);
#include "heuristics/findings.def"

/* Less than this share of the run, without MPI_Init and MPI_Finalize, is noise. */
#define FINDING_NOISE 0.01

/* Transfers, files and turns: every run has some of them. Those that save less than this share of it are no finding. */
#define FINDING_COSTS 0.05

/* For finders: the cost for a run, in ns, of noise of 1 % in each process's computing if all wait for the last of N:
   the largest of N normal numbers is about sqrt(2 ln N) deviations above their mean. */
double finding_noise(const struct analysis *analysis);

/* For finders: ranks of the processes that hold `part` of the sum, and of those with as much as the last of them: equal
   ones are named together or not at all. */
struct ranks ranks_with_most(const struct metrics *metrics, const int64_t *sums_ns, double part);

/* Ranks of the processes to blame: they have 0.8 of the sum, excluding those that have next to nothing compared with
   the largest. With many processes, small delays of each add up to more than the fault of one. */
struct ranks ranks_to_blame(const struct metrics *metrics, const int64_t *sums_ns);

/* The processes to blame for computing beyond the mean (finding_work.c). */
struct ranks ranks_above_mean(const struct metrics *metrics);

/* "process 3", "processes 0–7,12", "all processes" */
enum { WHO_SIZE = RANKS_TEXT_SIZE + 16 };
char *who_text(char buffer[WHO_SIZE], const struct ranks *ranks, size_t all);

/* "sort.c:88": a place in the source with the last part of its file's name; without a file its function. */
enum { SITE_TEXT_SIZE = 128 };
char *site_text(char buffer[SITE_TEXT_SIZE], const struct site_def *site);

/* The same behind its preposition: "at sort.c:88", "in main"; "at save.c:7 by way of H5Dwrite". */
enum { SITE_WHERE_SIZE = SITE_TEXT_SIZE + 80 };
char *site_where(char buffer[SITE_WHERE_SIZE], const struct site_def *site);

/* For finders whose seconds are the waiting they cause: all waiting for others over time, except for late starts. */
void finding_takes_waits(struct finding *finding, const struct analysis *analysis);

/* Removes the parts before from_s and after to_s. */
void finding_keeps_window(struct finding *finding, const struct analysis *analysis);

/* For finders: whether a finding is about these calls. The last argument is that of finding_say_sites. */
typedef bool finding_counts_calls(const struct defs *defs, const struct call_site *calls, uint32_t state);

/* All calls of one function: `state` is the first of its name. */
finding_counts_calls finding_counts_state;

/* For finders: fills in the places in the source from where the calls are made that count, those with most time
   excluding waiting first, and says where that is. Nothing where places are not recorded. */
void finding_say_sites(const struct finding_input *input, finding_counts_calls *counts, uint32_t state,
                       struct finding *finding);

/* For finders whose seconds are a state's calls, excluding waits; several states add up. */
void finding_takes_calls(struct finding *finding, const struct analysis *analysis, size_t state);

void finding_evidence(struct finding *finding, const char *name, double value, bool is_time);

#endif
