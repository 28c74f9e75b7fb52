/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_RECORD_FORMAT_H
#define SIGHT_CORE_RECORD_FORMAT_H

#include <stddef.h>
#include <stdint.h>

/* What the recording library writes and the merge reads: one file per thread, named NAME RECORD_SUFFIX, in the order
   and byte order of the machine. A header of RECORD_HEADER_SIZE bytes, then blocks of header.block_size bytes, each
   with its number (8 bytes, from 0) and records one after the other; a record never crosses blocks, and a first word of
   kind 0 ends a block. A process may be killed at any instruction: the first word of a record, which has the kind, is
   stored last, so that every record in the file is complete.

   The first block of the file is the one being filled, in memory that stays mapped. When it is full it is written to
   the end of the file; header.blocks counts these. Until the first block has that number it is empty. Positions, as in
   definitions, refer to a file with all blocks in order.

   Most records are short ones: RECORD_SHORT in the kind, and one word in place of struct record_base, with the time
   since the previous record. Times are ticks of the clock named in the header, and never go back; the struct
   record_calibration of all files of the host convert them to ns. */

#define RECORD_MAGIC "SIGHTREC"
#define RECORD_SUFFIX ".record"
#define RECORD_REQUESTS_SUFFIX ".requests"
#define RECORD_FAILED_SUFFIX ".failed-" /* and errno: an empty file of a process or thread that could not record */
#define RECORD_LINKED "sight: the recorder is linked into this program"

enum {
    RECORD_VERSION = 14,
    RECORD_VERSION_READ = 13, /* since then only the layout of struct record_kept has changed */
    RECORD_HEADER_SIZE = 4096,
    RECORD_PENDING_AT = 2560, /* of struct record_pending, in the file */
    RECORD_BLOCK_HEAD = 8,    /* bytes: the number of a block */
    RECORD_FUNCTIONS_MAX = 2048,
    RECORD_NAME_SIZE = 64,
    RECORD_BLOCK_MIN = 16 << 10, /* bytes; blocks are powers of two */
    RECORD_BLOCK_MAX = 64 << 20,
    RECORD_THREADS_MAX = 1 << 16
};
#define RECORD_TIME_MAX                                                                                                \
    INT64_C(2000000000000000000)                /* ns: 63 years, or ticks; anything beyond is damage                   \
                                                 */
#define RECORD_OFFSET_MAX (RECORD_TIME_MAX / 8) /* of the clocks of two hosts */

enum record_kind {
    RECORD_NONE,          /* no more records in this block */
    RECORD_ENTER,         /* state begins: struct record_base */
    RECORD_ENTER_AT,      /* the same, called from a known place: struct record_enter */
    RECORD_LEAVE,         /* state ends */
    RECORD_SEND,          /* struct record_message */
    RECORD_RECEIVE,       /* struct record_message */
    RECORD_VOID,          /* a message that was not sent: a cancelled or failed send */
    RECORD_COLLECTIVE,    /* struct record_collective */
    RECORD_USER_EVENT,    /* of the MPE API: comm is the event's id; words beyond the base are its payload */
    RECORD_ENDED,         /* recording ended or paused here; state is enum record_reason */
    RECORD_COMM,          /* struct record_comm: comm is created */
    RECORD_COMM_FREED,    /* struct record_base: comm is freed */
    RECORD_CLOCK,         /* struct record_clock */
    RECORD_CALIBRATION,   /* struct record_calibration */
    RECORD_DEFINE_STATE,  /* struct record_definition */
    RECORD_DEFINE_MARK,   /* struct record_definition */
    RECORD_DEFINE_SITE,   /* struct record_site */
    RECORD_REQUESTS,      /* struct record_base: the call posts, prepares, starts or completes the requests from `comm`
                             on, `state` of them; at the time of the record before */
    RECORD_NEIGHBOURS,    /* struct record_neighbours */
    RECORD_RANKS,         /* struct record_ranks: the other processes of a call on a window */
    RECORD_SAMPLE,        /* struct record_base: the thread computes in the call path number `comm`, and has done so for
                             1 + `state` times header.sample_ns */
    RECORD_DEFINE_PATH,   /* struct record_path */
    RECORD_DEFINE_MODULE, /* struct record_module */
    RECORD_RESOURCES,     /* struct record_resources */
    RECORD_MACHINE,       /* struct record_machine */
    RECORD_DEFINE_PROPERTY, /* struct record_property */
    RECORD_PIECE,           /* struct record_piece: only where a sample is kept */
    RECORD_CHANNEL,         /* struct record_channel: the same */
    RECORD_DEFINE_COUNTER,  /* struct record_counter_name */
    RECORD_COUNTER,         /* struct record_counter: `state` is its number */
    RECORD_DEFINE_PYTHON,   /* struct record_python */
    RECORD_TALLY,           /* struct record_tally */
    RECORD_DEFINE_OUTER     /* struct record_outer */
};

/* Why a thread's recording ended before its program did. */
enum record_reason {
    RECORD_GOES_ON,
    RECORD_DISK_FULL,
    RECORD_LIMIT,
    RECORD_SWITCHED_OFF,
    RECORD_FILE_LOST,  /* the program closed it, and it cannot be opened again */
    RECORD_FILE_LIMIT, /* the process may not have larger files */
    RECORD_REASONS
};

/* How the process ended. */
enum record_end { RECORD_RUNNING, RECORD_FINALIZED, RECORD_EXITED /* with MPI not finalised */ };

#define RECORD_ERROR_OTHER UINT32_MAX

/* What ticks are. */
enum record_clock_source { RECORD_CLOCK_MONOTONIC, RECORD_CLOCK_TSC }; /* ns of CLOCK_MONOTONIC; of the processor */

/* Communicators as one process numbers them. */
enum { RECORD_WORLD = 0, RECORD_SELF = 1, RECORD_COMM_FIRST = 2 };
#define RECORD_COMM_NONE UINT32_MAX

struct record_header {
    char magic[8];
    uint32_t version, block_size;
    uint32_t function_count; /* rows of the table of MPI functions: with a different table the numbers differ */
    uint32_t thread;
    int32_t rank, size; /* in and of MPI_COMM_WORLD */
    uint64_t world; /* of this MPI program: the same in all its processes, different for other programs; 0: not known */
    uint64_t host;  /* the same if the clocks are the same clock */
    uint32_t pid;
    uint32_t end;              /* enum record_end */
    uint32_t reason;           /* enum record_reason */
    uint32_t clock;            /* enum record_clock_source */
    uint16_t spawned;          /* 1: the process has a parent (MPI_Comm_spawn) */
    uint8_t user_events;       /* 1: there are records of the MPE API */
    uint8_t linked;            /* 1: there are communicators with another program */
    int64_t began_ticks;       /* when the thread was first met */
    int64_t ended_ticks;       /* time of the reason */
    int32_t signal;            /* the last fatal signal that arrived; 0: none */
    int32_t exit_code;         /* of a process with RECORD_EXITED */
    int64_t died_ticks;        /* when the signal came or the process exited */
    uint64_t died_at;          /* position then: a process that continues has survived the signal */
    uint64_t first_definition; /* offset of the first record that carries a `next`; 0: none */
    uint64_t blocks;           /* full ones, after the first of the file */
    uint32_t lost_threads;     /* of this process, that could not be recorded; only thread 0 has it */
    uint32_t lost_reason;      /* errno of the last of them */
    uint64_t sample_ns;        /* CPU time of the thread from one sample to the next; 0: there are none */
    uint64_t lost_samples;     /* that could not be recorded */
    uint64_t kept; /* bytes that recording and trace may have: totals and a sample are kept (struct record_kept);
                      0: everything is kept */
    char host_name[RECORD_NAME_SIZE];
    uint8_t used[RECORD_FUNCTIONS_MAX]; /* 1: the function was called */
    uint32_t voided;                    /* 1: a send has become RECORD_VOID, which tallies may have counted */
    uint32_t error; /* MPI was about to end the process for an error, at `died_at`: 1 + the row of its class in
                       core/mpi_errors.def, or RECORD_ERROR_OTHER; 0: none. Recordings before it have 0 here. */
    uint64_t self;  /* the thread as others of its process name it (pthread_t); 0: not known */
};

_Static_assert(sizeof(struct record_header) <= RECORD_PENDING_AT, "the slot is after the header");

/* What a call waits for, known when it is entered: a slot of the thread, overwritten by the next such call. It belongs
   to the call whose entry ends at `position`, which is stored last and is 0 while the slot changes. For sends the
   message is recorded on entry, for calls on windows the ranks. */
enum record_wait {
    RECORD_WAIT_NONE,
    RECORD_WAIT_RECEIVE, /* partner (a rank in the communicator, or RECORD_ANY) and tag of a message */
    RECORD_WAIT_PROBE,
    RECORD_WAIT_ROOT,   /* partner is the root of a collective, as of struct record_collective */
    RECORD_WAIT_ALL,    /* the requests, all of them */
    RECORD_WAIT_ANY,    /* any of them */
    RECORD_WAIT_ABORT,  /* MPI_Abort: tag is the error code */
    RECORD_WAIT_THREAD, /* pthread_join, outside MPI: the first request is the thread, as its header has it; of no call,
                           `position` is any but 0 */
    RECORD_WAIT_COUNT
};
enum { RECORD_ANY = -2, RECORD_NOT_KNOWN = INT32_MIN, RECORD_PENDING_REQUESTS = 160 };
struct record_pending {
    uint64_t position;
    uint32_t wait; /* enum record_wait */
    int32_t partner, tag;
    uint32_t count; /* of the requests; those beyond RECORD_PENDING_REQUESTS are not listed */
    uint64_t requests[RECORD_PENDING_REQUESTS]; /* handles */
};
_Static_assert(RECORD_PENDING_AT + sizeof(struct record_pending) <= RECORD_HEADER_SIZE,
               "the slot is in the header's page");

/* A request as the process tracks it: the file of the same name with RECORD_REQUESTS_SUFFIX is a table of them. */
struct record_request {
    uint64_t handle;
    uint64_t location, send_at; /* internal: a send's location, and the place of its record; 0: nowhere */
    uint64_t bytes;             /* of a persistent send; requested by an exchange */
    uint32_t comm;
    int32_t partner, tag; /* rank in comm, RECORD_ANY, RECORD_NOT_KNOWN */
    uint32_t number;      /* its place in the table, from 1 */
    uint16_t function;    /* the call that created it: index in the table of MPI functions */
    uint8_t collective, receive, persistent, active, cancelled;
    uint8_t is_recorded; /* the call that created it is recorded, with its number */
    uint8_t exchange;    /* internal: a receive that also sends */
    uint8_t held;        /* internal: by a call that may complete it, after which another thread may get the handle */
    uint8_t message;     /* none, but a message that MPI_Mprobe has taken for a call that names it */
    uint8_t threads;     /* of a partitioned send: any thread may mark its partitions ready */
    uint16_t partitions; /* of a partitioned send; 0: another request, or too many to count */
    uint16_t ready;      /* of these, since its last start */
};
_Static_assert(sizeof(struct record_request) == 64, "requests do not cross pages");
enum { RECORD_REQUESTS_BLOCK = 64 }; /* requests by which the table grows: one page */

/* Every record begins with it. */
struct record_base {
    uint8_t kind;   /* enum record_kind; with the rest of this word stored last */
    uint8_t words;  /* length of the record in words of 8 bytes */
    uint16_t state; /* index in the table of MPI functions */
    uint32_t comm;
    int64_t ticks; /* of header.clock */
};

/* Ids of events that MPE's functions give out: of states below, of marks from here to RECORD_SOLO_LAST. */
enum { RECORD_SOLO_FIRST = 5000, RECORD_SOLO_LAST = 9999 };

/* States of OpenMP, beyond the MPI functions. The master of a team is in REGION from before its threads start until all
   have ended; in it, WORK ends where the master begins to wait for the others. The other threads record their WORK. The
   field of the communicator is the number of the team, the same in all its threads: of the master, modulo
   RECORD_TEAMS. */
enum {
    RECORD_OPENMP_REGION = RECORD_FUNCTIONS_MAX - 2,
    RECORD_OPENMP_WORK = RECORD_FUNCTIONS_MAX - 1,
    RECORD_TEAMS = 1 << 8
};

/* The word of a short record: kind (8 bits), state (12), comm (8), time (36). RECORD_ENTER_AT has the number of its
   site (20 bits) in place of state and comm, which are those of the site. */
enum {
    RECORD_SHORT = 0x80,
    RECORD_SHORT_STATE = 8,
    RECORD_SHORT_COMM = 20,
    RECORD_SHORT_TIME = 28,
    RECORD_SHORT_STATES = 1 << 12,
    RECORD_SHORT_COMMS = 1 << 8,
    RECORD_SHORT_SITES = 1 << 20
};
#define RECORD_SHORT_TIMES (UINT64_C(1) << 36)

/* The word of a short RECORD_SAMPLE: kind (8 bits), number of the path (20), time (36). */
enum { RECORD_SHORT_PATH = 8, RECORD_SHORT_PATHS = 1 << 20 };

/* The word of a short RECORD_REQUESTS: kind (8 bits), how many (24), the first one's number (32). */
enum { RECORD_SHORT_REQUESTS = 8, RECORD_SHORT_REQUEST = 32 };

struct record_enter {
    struct record_base base;
    uint64_t site; /* number of a struct record_site of this file */
};

struct record_message {
    struct record_base base;
    int32_t partner; /* rank in comm; in the remote group of an inter-communicator */
    int32_t tag;
    uint64_t bytes;
};

/* Before the leave of a collective call, or of one that moves data of a window. */
struct record_collective {
    struct record_base base;
    int32_t root; /* or target, a rank in comm, -1: none; of an inter-communicator in the remote group, or enum
                     event_root */
    int32_t unused;
    uint64_t sent, received;
};

/* After the entry of a call on a window: the ranks first, first + step, ... last in comm of its group, or that it
   locks. A group may need several records. */
struct record_ranks {
    struct record_base base;
    int32_t first, last, step;
    uint32_t lock; /* enum window_lock of core/payload.h */
};

/* Where the members of a communicator come from. No process knows the ranks of another program's processes there: the
   merge finds out which program it is, for the inter-communicators by which programs first meet; for communicators made
   of these, the key identifies the members as members of the parent, as both sides see it. */
enum record_kin {
    RECORD_OWN,       /* of this program only */
    RECORD_SPAWNED,   /* MPI_Comm_spawn gave it: this is the parents' side */
    RECORD_PARENT,    /* MPI_Comm_get_parent: this is the children's side */
    RECORD_ACCEPTED,  /* MPI_Comm_accept */
    RECORD_CONNECTED, /* MPI_Comm_connect */
    RECORD_OF_PARENT, /* made of one of these */
    RECORD_STRANGE    /* other programs, origin not known */
};

/* Definitions are linked, so that a reader finds them without reading the whole file: `next` is the offset of the next
   one in this file, 0 where there is none. */
struct record_comm {
    struct record_base base;
    uint64_t next;
    uint64_t key; /* the same in all members, and different for any other communicator of the run */
    uint32_t parent;
    uint32_t size, remote_size; /* remote_size 0: an intra-communicator */
    int32_t rank;               /* of this process; in its local group */
    uint16_t side;              /* of an inter-communicator, 0 or 1: the same in all members */
    uint16_t window;            /* 1: a window, with the members of its communicator */
    uint32_t kin;               /* enum record_kin */
    int64_t since_ns,
        until_ns; /* the call that created it, on CLOCK_MONOTONIC; only of those that lead to another program */
};

/* Some of the process's neighbours in the topology of a communicator, after the definition of the communicator: as in
   core/payload.h. */
enum { RECORD_NEIGHBOUR_RANKS = 7 };
struct record_neighbours {
    struct record_base base;
    int32_t way;                           /* enum neighbours_way */
    int32_t ranks[RECORD_NEIGHBOUR_RANKS]; /* in comm; -1: no more */
};

struct record_clock {
    struct record_base base;
    uint64_t next;
    int64_t time_ns;   /* of this process, on CLOCK_MONOTONIC */
    int64_t offset_ns; /* to add then for the time of process 0 */
    int64_t delay_ns;  /* width of the bounds within which it was found */
};

/* What CLOCK_MONOTONIC showed at some moment. The first record of every file, and of every block that has short ones.
 */
struct record_calibration {
    struct record_base base;
    uint64_t next;
    int64_t ticks, ns;
    int64_t width; /* ticks within which the ns were read */
};

enum { RECORD_COLOUR_SIZE = 24, RECORD_FORMAT_SIZE = 40 };
struct record_definition {
    struct record_base base;
    uint64_t next;
    int32_t start, end; /* event ids; of a mark both are its id */
    char name[RECORD_NAME_SIZE];
    char colour[RECORD_COLOUR_SIZE];
    char format[RECORD_FORMAT_SIZE];
};

/* A node of the tree of call paths: an address in the path `parent` (0: none), inside the instruction that is executed,
   or that has called the one below it. */
struct record_path {
    struct record_base base;
    uint64_t next;
    uint64_t address;
    uint32_t parent, number; /* from 1 */
};

/* A place in the program that calls a function; one with several communicators has a site for each. */
enum { RECORD_PATH_SIZE = 2000 };
struct record_site {
    struct record_base base; /* comm: of the calls; RECORD_COMM_NONE: any, as there are too many for short records */
    uint64_t next;
    uint64_t offset; /* of the return address from where the file of code is loaded */
    uint32_t number; /* from 1 */
    uint32_t function;
    char path[RECORD_PATH_SIZE]; /* of the file of code; the record ends with the word that has the NUL */
};

/* Where the function that a site is in was called: it may only call MPI for others. After the site; the fields are
   those of struct record_site. */
struct record_outer {
    struct record_base base;
    uint64_t next;
    uint64_t offset;
    uint32_t number; /* of the site */
    uint32_t unused;
    char path[RECORD_PATH_SIZE];
};

/* A function of Python. Its lines are places like addresses of machine code: those of a path, and of a site, whose path
   is empty then, are RECORD_PYTHON_ADDRESS, with its number (31 bits) and the line (32; 0: not known). */
#define RECORD_PYTHON_ADDRESS (UINT64_C(1) << 63)
enum { RECORD_PYTHON_NUMBER = 32 };
struct record_python {
    struct record_base base;
    uint64_t next;
    uint32_t number; /* from 1 */
    uint32_t unused;
    char texts[RECORD_PATH_SIZE]; /* its file and its name, each ended by NUL; the record ends with the word that has
                                    the last one */
};

/* What the thread got of the machine, since it began. */
struct record_resources {
    struct record_base base;
    int64_t cpu_ns, delay_ns;       /* computing; waiting for a core, -1: not known */
    int64_t voluntary, involuntary; /* context switches */
    int64_t faults, disk_faults;    /* of pages */
    int64_t peak_bytes;             /* resident memory of the process */
    /* From here on of the process, in its first thread only; -1: not known. */
    int64_t read, written; /* bytes from disks, and for them, but for the recorder's own */
    int64_t sync_ns;       /* in fsync and the like, of this thread */
    int64_t blocked_ns;    /* waiting for disks, of this thread, where the kernel accounts for delays */
    int64_t stalled_ns;    /* for which anything on the host waited for disks */
    int64_t energy_uj;     /* of the host's processors */
    int64_t loop_ns;       /* the same loop on every processor, the fastest until now */
    /* Of any thread; recordings before this was added end here. */
    int64_t asleep_ns; /* in sleep, usleep, nanosleep and the like, outside MPI; -1: not known */
};

/* A counter of the thread, by its number (`comm` of the base), and its value since the thread began to count. */
enum { RECORD_COUNTERS_MOST = 16 };
struct record_counter_name {
    struct record_base base;
    uint64_t next;
    char name[RECORD_NAME_SIZE];
};
struct record_counter {
    struct record_base base;
    int64_t value;
};

/* What the thread has recorded up to here, counted: after the begin of a block, not of every one. `state` is an enum
   record_kind. The first, of RECORD_NONE, has the number of the rows that follow it, and function and site of the last
   entry: of RECORD_SEND and RECORD_RECEIVE the messages on a communicator, by partner and tag, with the function and
   site of the last; of RECORD_ENTER_AT the calls of a site; of RECORD_ENTER those of a function on a communicator,
   without a site (tag 0) or of one with any communicator (tag 1); of RECORD_COMM the communicators; of RECORD_REQUESTS
   the records of requests. */
struct record_tally {
    struct record_base base;
    int32_t partner, tag;
    uint64_t count;
    uint32_t function, site;
};

/* The host, and what of it the process may use. */
struct record_machine {
    struct record_base base;
    uint32_t cores, usable; /* usable 0: not known */
    uint32_t quota;         /* of the control group, in thousandths of a core; 0: none */
    uint32_t first;         /* usable core */
    uint64_t memory;        /* bytes */
    uint64_t limit;         /* of memory, by the control group; 0: none, or not known */
};

/* A fact about the run (core/property.h), or about the process if it is its command line. */
struct record_property {
    struct record_base base;
    uint64_t next;
    char text[RECORD_PATH_SIZE]; /* NAME=VALUE, a date in ms since 1970; the record ends with the word that has the NUL
                                  */
};

/* A file of code, and where its instructions are in the process. */
struct record_module {
    struct record_base base;
    uint64_t next;
    uint64_t begin, end;         /* addresses */
    uint64_t load;               /* the address that counts as 0 in the file */
    char path[RECORD_PATH_SIZE]; /* as in struct record_site */
};

/* A recording that keeps exact totals and a sample of the records (SIGHT_RECORD_KEEP). After the header's page comes
   another one with this struct, then two blocks that are filled in turn, two tables of totals, and two areas for what
   is kept. When a block is full, the one before it is digested: its records are added to the totals, and what is kept
   of them to the area. Block n of the run is in place n % 2; those from `generation` on are not digested yet.
   Generation g has its totals in place g % 2; they say which area belongs to them and how much of it. */
struct record_kept {
    uint64_t generation; /* stored last */
    uint64_t writing;    /* generation that is being made; the same as `generation`: none */
    uint64_t totals_size, area_size;
    uint32_t channels; /* entries of the totals' table */
    uint32_t unused;
};

/* Number of a segment: see core/record_digest.h. */
struct record_segment {
    uint64_t anchor; /* how many anchors were before it */
    uint64_t slice;  /* of time, if the anchor was long ago; 0: the one after the anchor */
};

/* A segment that is kept; its records follow, then the numbers of its messages. Of one that is not, RECORD_KEPT_NOT,
   only the definitions count: it stays until the area is tidied. */
enum record_why { RECORD_KEPT_NOT = 0, RECORD_KEPT_HEAD = 1, RECORD_KEPT_WORST = 2, RECORD_KEPT_SAMPLE = 4 };
struct record_piece {
    struct record_base base; /* time of the record before; state: enum record_why, when it was kept */
    struct record_segment segment;
    uint64_t bytes; /* of all, from this record on; 0: it goes on in the blocks */
    int64_t end_ticks;
    uint64_t before, events; /* before it in the run; in it */
};

/* Messages with a partner, or calls of a collective function. */
enum record_channel_kind {
    RECORD_CHANNEL_NONE,
    RECORD_CHANNEL_SENT,
    RECORD_CHANNEL_RECEIVED,
    RECORD_CHANNEL_CALLS, /* tag is the function */
    RECORD_CHANNEL_MARKS, /* of the MPE API: comm is the id */
    RECORD_CHANNEL_KINDS
};
struct record_channel {
    struct record_base base; /* comm; state: enum record_channel_kind */
    int32_t partner, tag;
    uint64_t count; /* up to the end of the piece; RECORD_UNCOUNTED: not known */
};
#define RECORD_UNCOUNTED UINT64_MAX

struct record_totals_function {
    uint32_t function, unused;
    uint64_t calls;
    int64_t ticks, min_ticks, max_ticks;
    int64_t own_ticks; /* without the states that were entered in it */
};

/* A state of the program, by the ids of the events that begin and end it. Only the processes that describe a state know
   which: others take the next id for the end. Whoever knows all descriptions sees whether they were right. */
struct record_totals_user {
    uint32_t start, end;
    uint32_t has_end, unused; /* `end` has been seen */
    uint64_t stray;           /* ends without a begin */
    struct record_totals_function sums;
};

/* A state that has not ended. They may be in each other: callbacks of the program call MPI in MPI. */
struct record_totals_open {
    uint32_t function, unused; /* UINT32_MAX: not known; of the program RECORD_FUNCTIONS_MAX and its row */
    int64_t ticks;             /* when it was entered */
    int64_t own_ticks;
};

/* Where the table was full, entries were added together: those with the partner or tag RECORD_NOT_KNOWN. */
struct record_totals_channel {
    uint32_t comm, kind;
    int32_t partner, tag;
    uint64_t count, bytes;
};

enum {
    RECORD_TOTALS_FUNCTIONS = 160,
    RECORD_TOTALS_USERS = 128,
    RECORD_TOTALS_OPEN = 32,
    RECORD_SIGNATURES = 32,
    RECORD_SIZES = 65
};
struct record_totals {
    uint64_t area, fill; /* what is kept of the segments that have ended */
    uint64_t open_fill;  /* and of the current one; equal: nothing */
    uint64_t events;
    int64_t first_ticks, last_ticks;
    uint64_t segments, anchors, kept, too_large; /* that have ended; by an anchor; that were kept; that had no room */
    uint64_t level;                              /* of 2^level segments one is in the sample */
    uint64_t folds, lost_channels;               /* how often the table of channels was full; and was emptied */
    uint64_t lost_definitions;                   /* for which the area had no room */
    struct record_segment segment;               /* the current one */
    int64_t segment_ticks;                       /* since when */
    uint64_t segment_before;                     /* events before it */
    struct record_piece open_piece;              /* of the current segment, as far as it is known */
    /* How anchors are chosen. */
    int64_t anchor_ticks, long_ticks; /* of the last one; without one for that long, time is cut into slices */
    int64_t window_ticks;
    uint64_t window, window_left, window_anchors; /* calls */
    uint64_t anchor;                              /* signature; 0: every such call */
    struct {
        uint64_t signature, count;
    } signatures[RECORD_SIGNATURES];
    struct record_totals_open open[RECORD_TOTALS_OPEN]; /* the outermost first */
    uint32_t open_count, mpi_open;                      /* how many, and how many of them are calls of MPI */
    int64_t changed_ticks;                              /* when one was entered or left */
    int64_t mpi_since, mpi_ticks;                       /* since when it is in MPI, and time in it before */
    uint64_t too_deep;                                  /* states for which there was no room */
    uint64_t call_bytes;                                /* that the latest call sends, if it is collective */
    struct {
        uint64_t messages, bytes;
    } sizes[2][RECORD_SIZES]; /* sent, received; by size: 0: empty, k: below 2^k bytes */
    uint32_t function_count, channel_count, channel_capacity, unused;
    uint64_t lost_users; /* events of states of the program for which there was no room, or that contradict a row */
    uint32_t user_count, unused_too;
    struct record_totals_user users[RECORD_TOTALS_USERS];
    struct record_totals_function functions[RECORD_TOTALS_FUNCTIONS]; /* the last one is of all others, too */
    struct record_totals_channel channels[];                          /* channel_count of them */
};

#endif
