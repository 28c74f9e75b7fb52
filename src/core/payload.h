/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_PAYLOAD_H
#define SIGHT_CORE_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Values in the payload of an event, by the format of its definition (MPE's printf-like formats: "root=%d, sent=%l"):
   after each % one letter, values packed big-endian in the same order: %h 2 bytes, %d and %x 4, %l and %X 8, %e 4, %E
   8, %s a length of 2 bytes and that many characters. */

/* Bytes of a value by its letter; for %s one per character; 0 for an unknown letter. */
static inline size_t payload_size(char letter)
{
    switch (letter) {
    case 's':
        return 1;
    case 'h':
        return 2;
    case 'd':
    case 'x':
    case 'e':
        return 4;
    case 'l':
    case 'X':
    case 'E':
        return 8;
    default:
        return 0;
    }
}

/* The payload that recordings put on the leave of a collective: its root (a rank in the communicator, -1: none, below
   that enum event_root), and the bytes that the process gave and got. Readers move it into the event's own fields (tag,
   bytes_sent, bytes_received), and CLOG-2's writer back: no other code parses it. */
#define PAYLOAD_MOVED_FORMAT "root=%d, sent=%l, received=%l"
enum { PAYLOAD_MOVED_SIZE = 20 };

/* The same for calls that move data of a window, with the target (a rank in the window's communicator). */
#define PAYLOAD_TARGET_FORMAT "target=%d, sent=%l, received=%l"

/* True for the formats of these payloads. */
bool payload_gives_moved(const char *format);

/* The integer and the text that an event of ALOG or CLOG has, as payload of CLOG-2: either, or both in this order.
   Readers move them into event.value and a payload of text, CLOG-2's writer back. */
enum payload_words { PAYLOAD_HAS_VALUE = 1, PAYLOAD_HAS_TEXT = 2 };

/* The format for some of them, and which of them a format has: 0 if it is none of these. */
const char *payload_words_format(unsigned words);
unsigned payload_words_of(const char *format);

/* Bytes of text that fit into a payload of `size` bytes. */
static inline size_t payload_words_room(unsigned words, size_t size)
{
    return words & PAYLOAD_HAS_TEXT ? size - 2 - (words & PAYLOAD_HAS_VALUE ? 8 : 0) : 0;
}

/* The payload that recordings put on the leave of a call that posts, prepares, starts or completes requests: `requests`
   of them from `request` on. A process gives a number to one request at a time: until that completes or is freed.
   Requests that do not fit on the leave are recorded as marks inside the call, in the order of the requests; those on
   the leave are the last. Readers move it into event.request and event.requests, CLOG-2's writer back. Older recordings
   have only marks, without a count, and only of requests of collectives. */
#define PAYLOAD_REQUESTS_FORMAT "request=%d, count=%d"
#define PAYLOAD_REQUEST_FORMAT "request=%d"
#define REQUEST_MARK_NAME "MPI request"
/* Marks of ours that say when a thread or the program begins and ends, where a trace has events of that. */
#define BEGIN_MARK_NAME "MPI location begins"
#define END_MARK_NAME "MPI location ends"
enum { PAYLOAD_REQUESTS_SIZE = 8, REQUESTS_AT_ONCE_MAX = 1024 /* in one payload */ };

/* A mark inside calls on windows that names the other processes: the ranks first, first + step, ... last in the
   window's communicator. In MPI_Win_post and MPI_Win_start they are the group, in as many marks as needed; in
   MPI_Win_lock, MPI_Win_unlock, MPI_Win_flush and MPI_Win_flush_local the target; in MPI_Win_lock_all all processes. */
#define RANKS_MARK_NAME "MPI ranks"
#define RANKS_MARK_FORMAT "first=%d, last=%d, step=%d, lock=%d"
enum { RANKS_MARK_SIZE = 16 };
enum window_lock {
    WINDOW_UNLOCKED,
    WINDOW_SHARED,
    WINDOW_EXCLUSIVE,
    WINDOW_UNCHECKED /* MPI_MODE_NOCHECK: the program asserts that no other process wants the lock */
};

/* Marks at the end of a process that did not reach MPI_Finalize, at the last time when it is known to have lived.
   The first one of a thread says how it ended (pending_ends), the others what its open
   call waits for, what its last test tested, and which requests were still active. Their communicator is the one that
   they refer to. */
#define PENDING_MARK_NAME "MPI pending"
#define PENDING_MARK_FORMAT                                                                                            \
    "what=%d, partner=%d, tag=%d, how=%d, request=%d, "                                                                \
    "partitions=%d, ready=%d"
enum { PENDING_MARK_SIZE = 28 };
enum pending_what {
    PENDING_ALIVE,      /* it was killed, or is still running; tag 1: since when it is dead is not known, and the mark
                           is where the last record of all is */
    PENDING_SIGNAL,     /* it crashed: tag is the signal */
    PENDING_EXIT,       /* it exited: tag is the code */
    PENDING_RECEIVE,    /* of a message */
    PENDING_PROBE,      /* the same */
    PENDING_SEND,       /* a request; for blocking sends the message is recorded */
    PENDING_COLLECTIVE, /* a request */
    PENDING_ROOT,       /* of the collective: partner */
    PENDING_ABORT,      /* MPI_Abort: tag is the code */
    PENDING_UNKNOWN,    /* not known */
    PENDING_ERROR,      /* MPI ended it for an error: tag is the class, as of mpi_error_class(); 0: another one */
    PENDING_TAKEN,      /* no wait: a message that MPI_Mprobe has taken, which only MPI_Mrecv can receive */
    PENDING_THREAD,     /* outside MPI: for the end of a thread of its own process: tag is its number */
    PENDING_DIED /* it ended without a note, as whoever started it has seen: tag is the signal, death_by_exit(), or
                    0: how is not known; that was `partitions` seconds and `ready` ns before the mark */
};
enum pending_how {
    PENDING_WAITED = 1, /* the open call waits for it; otherwise it is an active request */
    PENDING_ANY = 2,    /* together with others, one of which is enough */
    PENDING_TESTED = 4, /* the last call, which has returned, tested it */
    PENDING_THREADS = 8 /* any thread may make partitions of it ready */
};
enum { PENDING_ANYBODY = -2 /* partner, tag: any; EVENT_UNKNOWN: not known */ };
struct pending {
    int32_t what;         /* enum pending_what */
    int32_t partner, tag; /* partner: world rank */
    int32_t how;          /* enum pending_how */
    int32_t request;      /* its number, from 1; 0: none */
    int32_t partitions;   /* of a partitioned send; 0: another one; or of PENDING_DIED */
    int32_t ready;        /* of these */
};

/* How a process died that has ended with this exit code: below 0, where signals are above. The same turns it back. */
static inline int32_t death_by_exit(int32_t code)
{
    return -1 - code;
}

/* True for what says how a thread ended. */
static inline bool pending_ends(int32_t what)
{
    return (what >= PENDING_ALIVE && what <= PENDING_EXIT) || what == PENDING_ERROR || what == PENDING_DIED;
}

/* Bytes after the end of a shorter payload are 0. */
void payload_get_pending(const unsigned char *payload, size_t length, struct pending *pending);
void payload_put_pending(unsigned char payload[PENDING_MARK_SIZE], const struct pending *pending);

/* A mark that stands for EVENT_NEIGHBOURS: the processes that send to this one (sources) and receive from it
   (destinations) in neighbourhood collectives on its communicator. Ranks in the communicator, in the order of the MPI
   standard, without MPI_PROC_NULL; as many marks as needed, one for a process without neighbours. */
#define NEIGHBOURS_MARK_NAME "MPI neighbours"
#define NEIGHBOURS_MARK_FORMAT "way=%d, ranks=%d %d %d %d %d %d %d"
enum { NEIGHBOURS_RANKS = 7, NEIGHBOURS_MARK_SIZE = 32 };
enum neighbours_way { NEIGHBOURS_SOURCES = 1, NEIGHBOURS_DESTINATIONS = 2, NEIGHBOURS_BOTH = 3 };
struct neighbours {
    int32_t way;                     /* enum neighbours_way */
    int32_t ranks[NEIGHBOURS_RANKS]; /* -1: no more */
};

/* Bytes after the end of a shorter payload are 0. */
void payload_get_neighbours(const unsigned char *payload, size_t length, struct neighbours *neighbours);
void payload_put_neighbours(unsigned char payload[NEIGHBOURS_MARK_SIZE], const struct neighbours *neighbours);

/* A mark where events are left out of a recording that keeps a sample: how many, and from when to when. */
#define GAP_MARK_NAME "left out"
#define GAP_MARK_FORMAT "events=%l, from=%E, to=%E"
enum { GAP_MARK_SIZE = 24 };

/* A mark that stands for samples of a thread (EVENT_SAMPLE): the time in ns that each stands for, and up to three, the
   earlier ones first, with how many ns before the mark they were taken and the number of the call path (0: no more). */
#define SAMPLES_MARK_NAME "MPI samples"
#define SAMPLES_MARK_FORMAT "ns=%d: -%d %d, -%d %d, -%d %d"
enum { SAMPLES_AT_ONCE = 3, SAMPLES_MARK_SIZE = 28 };
struct samples {
    uint32_t ns, count;
    uint32_t before_ns[SAMPLES_AT_ONCE], path[SAMPLES_AT_ONCE];
};

/* Bytes after the end of a shorter payload are 0. */
void payload_get_samples(const unsigned char *payload, size_t length, struct samples *samples);
void payload_put_samples(unsigned char payload[SAMPLES_MARK_SIZE], const struct samples *samples);

struct event;

/* True for the format of a payload that lists requests. */
bool payload_gives_requests(const char *format);

/* `length` bytes; missing bytes are 0, which means one request. */
void payload_get_requests(const unsigned char *payload, size_t length, struct event *event);
void payload_put_requests(unsigned char payload[PAYLOAD_REQUESTS_SIZE], const struct event *event);

void payload_get_moved(const unsigned char payload[PAYLOAD_MOVED_SIZE], struct event *event);

/* Unknown values become -1. */
void payload_put_moved(unsigned char payload[PAYLOAD_MOVED_SIZE], const struct event *event);

/* True for the names of marks in which recordings store facts: they are not events of the program, whose own marks may
   begin with "MPI " too. */
bool payload_mark_is_ours(const char *name);

/* The payload as readable UTF-8, with labels and values as MPE's tools print them ("root=0, sent=4"); `format` NULL: it
   is Latin-1 text. What does not fit is cut off; an unknown letter ends it. Returns the buffer. */
char *payload_text(char *buffer, size_t size, const char *format, const unsigned char *payload, size_t length);

/* The same for an event's payload in `arena`: one that is text needs no format; `format` is that of the event's state
   or mark, and may be NULL. */
char *payload_event_text(char *buffer, size_t size, const char *format, const struct event *event,
                         const unsigned char *arena);

#endif
