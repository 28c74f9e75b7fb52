/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_EVENT_H
#define SIGHT_CORE_EVENT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The one event of all formats. Readers translate into it, and no later code knows a format. What a format does not
   record is UNKNOWN (or 0 where the field says so), never a made-up value. */

enum event_kind {
    EVENT_ENTER,      /* state begins */
    EVENT_LEAVE,      /* state ends */
    EVENT_SEND,       /* message leaves: partner, comm, partner_comm, tag, bytes_sent */
    EVENT_RECEIVE,    /* message arrives: partner, comm, partner_comm, tag, bytes_received */
    EVENT_COLLECTIVE, /* collective operation: tag is the root, comm, bytes_sent and bytes_received where known */
    EVENT_MARK,       /* solo event; state is the index of a mark definition */
    EVENT_COUNTER,    /* value of a counter; state is the index of a mark definition, whose `counter` has the type: the
                         value is in `value`, of a double its bits (event_set_double) */
    EVENT_RMA,    /* step of a one-sided operation: value is enum rma_step, comm the window, partner the other process,
                     bytes_sent and bytes_received the bytes that go there and come back, request the number that the steps
                     of one operation share */
    EVENT_IO,     /* step of an operation on a file: value is enum io_step, state the index of an I/O handle,
                     bytes_sent the bytes written, bytes_received the bytes read (requested, at a begin), request the number
                     that the steps of one operation share */
    EVENT_SAMPLE, /* a sample: state is the index of a call path (defs->paths); value is the time in ns that the sample
                     represents, 0: not known */
    /* From here on: records about the trace. They are not events of the program: not counted, in no metric. */
    EVENT_COMM_MADE,  /* partner_comm was made from comm; tag is the process's rank in it (or -1); value is enum
                         comm_step */
    EVENT_COMM_FREED, /* comm is freed */
    EVENT_SHIFT,      /* clock shift: value is the shift in ns that the trace states */
    EVENT_DEFINITION, /* the source has a definition here: value is enum definition_kind, state its index */
    EVENT_NEIGHBOURS  /* some of the process's neighbours in the topology of comm: the payload is described in
                         core/payload.h; state is the index of the mark definition of that name */
};

/* X(name, word): steps of one-sided operations, and the words that output prints. */
#define RMA_STEPS(X)                                                                                                   \
    X(PUT, "put")                                                                                                      \
    X(GET, "get")                                                                                                      \
    X(ATOMIC, "atomic")                                                                                                \
    X(COPY, "copy")         /* between host and accelerator */                                                         \
    X(COMPLETE, "complete") /* at this process */                                                                      \
    X(REMOTE, "remote")     /* at the other one */                                                                     \
    X(SYNC, "sync")         /* of one process, of a group, or of all: as partner and comm say */                       \
    X(REQUEST_LOCK, "request-lock")                                                                                    \
    X(LOCK, "lock")                                                                                                    \
    X(UNLOCK, "unlock")                                                                                                \
    X(WAIT, "wait") /* for a change of memory */                                                                       \
    X(WINDOW_MADE, "window-made")                                                                                      \
    X(WINDOW_FREED, "window-freed")
enum rma_step {
#define RMA_STEP_MEMBER(name, word) RMA_##name,
    RMA_STEPS(RMA_STEP_MEMBER)
#undef RMA_STEP_MEMBER
        RMA_STEP_COUNT
};

/* X(name, word): the same for operations on files. */
#define IO_STEPS(X)                                                                                                    \
    X(OPEN, "open")                                                                                                    \
    X(CLOSE, "close")                                                                                                  \
    X(SEEK, "seek")                                                                                                    \
    X(BEGIN_READ, "begin-read")                                                                                        \
    X(BEGIN_WRITE, "begin-write")                                                                                      \
    X(BEGIN_FLUSH, "begin-flush")                                                                                      \
    X(READ, "read") /* the operation has ended, as in the next two */                                                  \
    X(WRITE, "write")                                                                                                  \
    X(FLUSH, "flush")                                                                                                  \
    X(CANCEL, "cancel")                                                                                                \
    X(OTHER, "other")
enum io_step {
#define IO_STEP_MEMBER(name, word) IO_##name,
    IO_STEPS(IO_STEP_MEMBER)
#undef IO_STEP_MEMBER
        IO_STEP_COUNT
};

/* The words; NULL for an unknown step. And back: -1 for an unknown word. */
const char *rma_step_name(int64_t step);
const char *io_step_name(int64_t step);
int rma_step_find(const char *word);
int io_step_find(const char *word);

enum definition_kind { DEFINITION_STATE, DEFINITION_MARK, DEFINITION_CONSTANT, DEFINITION_SITE };

/* The tag of a collective on an inter-communicator, in the group of the root: whether this process is the root. */
enum event_root {
    ROOT_SELF = -2,  /* MPI_ROOT: the process itself */
    ROOT_BESIDE = -3 /* MPI_PROC_NULL: another process of the group is the root; this one takes no part */
};

enum {
    EVENT_UNKNOWN = INT32_MIN, /* partner, tag, comm, partner_comm */
    PARTNER_NONE = -1,         /* MPI_PROC_NULL */
    PROCESS_LIMIT = 1 << 24,   /* world ranks are below this; more is damage */
    DEPTH_LIMIT = 10000        /* states open at once on one thread; more is damage */
};
#define BYTES_UNKNOWN INT64_MIN

/* Bits of event.flags. */
enum {
    EVENT_PAYLOAD_TEXT = 1, /* payload is text (ALOG, CLOG), not packed binary values (CLOG-2 cargo): in Latin-1 */
    EVENT_PAYLOAD_UTF8 = 2  /* with EVENT_PAYLOAD_TEXT: the text has letters beyond Latin-1, and is in UTF-8 */
};

struct event {
    int64_t time_ns;                    /* on the trace's own clock, not shifted to start at 0; may be negative */
    int64_t bytes_sent, bytes_received; /* BYTES_UNKNOWN if unknown */
    int64_t value;           /* ALOG and CLOG: the event's integer (0: none); a counter's value; see enum event_kind */
    uint64_t request;        /* the first request that the call posts, starts or completes (core/payload.h); 0: none */
    uint32_t process;        /* world rank */
    uint32_t thread;         /* 0: the main thread */
    uint32_t state;          /* index into defs->states; of marks and counters into defs->marks, of EVENT_IO into
                                defs->handles, of EVENT_SAMPLE into defs->paths */
    int32_t comm;            /* index into defs->comms: the communicator of the call, at this process's side */
    int32_t partner_comm;    /* messages: the communicator that contains the partner; equals comm except for
                                inter-communicators */
    int32_t partner;         /* messages: world rank, PARTNER_NONE or EVENT_UNKNOWN */
    int32_t tag;             /* messages: tag; collectives: root, a rank in comm, or in the remote group of an
                                inter-communicator, or enum event_root */
    uint32_t site;           /* 1 + index into defs->sites; 0: not known */
    uint32_t payload;        /* offset in the batch's arena */
    uint32_t payload_length; /* 0: none */
    uint8_t kind;            /* enum event_kind */
    uint8_t flags;           /* EVENT_PAYLOAD_TEXT, EVENT_PAYLOAD_UTF8 */
    uint32_t requests;       /* how many requests, numbered consecutively; 0 if there is none */
};

/* An event with every field unknown: start from it, then set what the format records. */
#define EVENT_NOTHING                                                                                                  \
    ((struct event){.bytes_sent = BYTES_UNKNOWN,                                                                       \
                    .bytes_received = BYTES_UNKNOWN,                                                                   \
                    .comm = EVENT_UNKNOWN,                                                                             \
                    .partner_comm = EVENT_UNKNOWN,                                                                     \
                    .partner = EVENT_UNKNOWN,                                                                          \
                    .tag = EVENT_UNKNOWN})

/* True for events of the program: these count for `events`, begin and end. */
static inline bool event_counts(const struct event *event)
{
    return event->kind <= EVENT_SAMPLE;
}

/* Bytes of a message event; 0 if not known. */
static inline uint64_t event_message_bytes(const struct event *event)
{
    int64_t bytes = event->kind == EVENT_SEND ? event->bytes_sent : event->bytes_received;
    return bytes > 0 ? (uint64_t)bytes : 0;
}

/* The processes of a message with a known partner, from either of its ends. */
static inline uint32_t event_sender(const struct event *event)
{
    return event->kind == EVENT_RECEIVE ? (uint32_t)event->partner : event->process;
}
static inline uint32_t event_receiver(const struct event *event)
{
    return event->kind == EVENT_RECEIVE ? event->process : (uint32_t)event->partner;
}

/* The value of a counter whose definition says double. */
static inline double event_double(const struct event *event)
{
    double number;
    memcpy(&number, &event->value, sizeof number);
    return number;
}

static inline void event_set_double(struct event *event, double number)
{
    memcpy(&event->value, &number, sizeof number);
}

/* Events that travel together. The reader fills, the sinks read; valid until the reader's next call. */
enum { BATCH_EVENTS = 512 };
struct batch {
    size_t count;
    struct event events[BATCH_EVENTS];
    unsigned char *arena; /* payloads */
    size_t arena_length, arena_capacity;
};

/* Empties the batch, keeping its memory. */
static inline void batch_clear(struct batch *batch)
{
    batch->count = 0;
    batch->arena_length = 0;
}

/* Copies a payload into the arena and sets its place in `event`. */
void batch_set_payload(struct batch *batch, struct event *event, const void *payload, size_t length);

void batch_free(struct batch *batch); /* frees the arena, not the struct */

/* Time from then to now, never negative. The range of times is so large that the difference may overflow: then
   INT64_MAX. */
static inline int64_t time_since(int64_t then_ns, int64_t now_ns)
{
    int64_t passed;
    if (__builtin_sub_overflow(now_ns, then_ns, &passed))
        return now_ns > then_ns ? INT64_MAX : 0;
    return passed > 0 ? passed : 0;
}

/* Adds; wraps around if a damaged trace has absurd times, which keeps merging exact. */
static inline void time_add(int64_t *sum, int64_t ns)
{
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)ns);
}

static inline void time_subtract(int64_t *sum, int64_t ns)
{
    *sum = (int64_t)((uint64_t)*sum - (uint64_t)ns);
}

/* True if the time between the two, summed over so many processes, fits into 64 bits of ns (285 years). */
static inline bool time_span_fits(int64_t begin_ns, int64_t end_ns, size_t processes)
{
    return ((double)end_ns - (double)begin_ns) * (double)(processes ? processes : 1) <= 9e18;
}

/* Seconds as whole ns: llrint(seconds * 1e9). False for NaN and beyond +-9e9 s, which is damage. */
static inline bool time_from_seconds(double seconds, int64_t *ns)
{
    if (!(seconds >= -9e9 && seconds <= 9e9))
        return false;
    *ns = llrint(seconds * 1e9);
    return true;
}

#endif
