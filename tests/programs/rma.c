/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication of all kinds: rma MODE. Prints what a recording of it must say: how often each function is
   called, and

     rma,RANK,FUNCTION,TARGET,SENT,RECEIVED   a call that moves data
     at,RANK,FUNCTION,ENTER,LEAVE             when a call that may wait was entered and left, in ns

   MODE is calls, or the wait that is planted: fence, post, early (accessing late), complete, lock, all (locks of all
   after a lock of one), shared (locks that need not wait). */
#include "truth.h"

#include <time.h>

enum { COUNT = 8, DELAY_US = 100000 };

static int memory[64], here[64], got[64];
static MPI_Win win;

/* The neighbours in the ring. */
static int left, right;

static MPI_Group group_of(int rank)
{
    MPI_Group all, one;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &rank, &one);
    MPI_Group_free(&all);
    return one;
}

static void moves(const char *function, int target, long sent, long received)
{
    FILE *file = truth_open();
    if (!file)
        return;
    fprintf(file, "rma,%d,%s,%d,%ld,%ld\n", truth.rank, function, target, sent, received);
    fflush(NULL);
}

static long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void was_at(const char *function, long long enter_ns, long long leave_ns)
{
    FILE *file = truth_open();
    if (!file)
        return;
    fprintf(file, "at,%d,%s,%lld,%lld\n", truth.rank, function, enter_ns, leave_ns);
    fflush(NULL);
}

/* CALL of one that may wait. */
#define CALL_AT(function, arguments)                                                                                   \
    do {                                                                                                               \
        long long enter_ns = now_ns();                                                                                 \
        CALL(function, arguments);                                                                                     \
        was_at(#function, enter_ns, now_ns());                                                                         \
    } while (0)

static void puts_and_gets(void)
{
    const long bytes = COUNT * sizeof(int), one = sizeof(int);
    CALL(MPI_Put, (here, COUNT, MPI_INT, right, 0, COUNT, MPI_INT, win));
    moves("MPI_Put", right, bytes, 0);
    CALL(MPI_Get, (got, COUNT, MPI_INT, right, COUNT, COUNT, MPI_INT, win));
    moves("MPI_Get", right, 0, bytes);
    CALL(MPI_Accumulate, (here, COUNT, MPI_INT, right, 2 * COUNT, COUNT, MPI_INT, MPI_SUM, win));
    moves("MPI_Accumulate", right, bytes, 0);
    CALL(MPI_Get_accumulate,
         (here, COUNT, MPI_INT, got + COUNT, COUNT, MPI_INT, right, 3 * COUNT, COUNT, MPI_INT, MPI_SUM, win));
    moves("MPI_Get_accumulate", right, bytes, bytes);
    CALL(MPI_Get_accumulate,
         (NULL, 0, MPI_INT, got + 2 * COUNT, COUNT, MPI_INT, right, 4 * COUNT, COUNT, MPI_INT, MPI_NO_OP, win));
    moves("MPI_Get_accumulate", right, 0, bytes);
    CALL(MPI_Fetch_and_op, (here, got + 3 * COUNT, MPI_INT, right, 5 * COUNT, MPI_SUM, win));
    moves("MPI_Fetch_and_op", right, one, one);
    CALL(MPI_Compare_and_swap, (here, here + 1, got + 4 * COUNT, MPI_INT, right, 6 * COUNT, win));
    moves("MPI_Compare_and_swap", right, one, one);
}

static void with_requests(void)
{
    const long bytes = COUNT * sizeof(int);
    MPI_Request request;
    CALL(MPI_Rput, (here, COUNT, MPI_INT, right, 0, COUNT, MPI_INT, win, &request));
    CALL(MPI_Wait, (&request, MPI_STATUS_IGNORE));
    moves("MPI_Rput", right, bytes, 0);
    CALL(MPI_Rget, (got, COUNT, MPI_INT, right, COUNT, COUNT, MPI_INT, win, &request));
    CALL(MPI_Wait, (&request, MPI_STATUS_IGNORE));
    moves("MPI_Rget", right, 0, bytes);
    CALL(MPI_Raccumulate, (here, COUNT, MPI_INT, right, 0, COUNT, MPI_INT, MPI_SUM, win, &request));
    CALL(MPI_Wait, (&request, MPI_STATUS_IGNORE));
    moves("MPI_Raccumulate", right, bytes, 0);
    CALL(MPI_Rget_accumulate,
         (here, COUNT, MPI_INT, got + COUNT, COUNT, MPI_INT, right, 3 * COUNT, COUNT, MPI_INT, MPI_SUM, win, &request));
    CALL(MPI_Wait, (&request, MPI_STATUS_IGNORE));
    moves("MPI_Rget_accumulate", right, bytes, bytes);
}

/* The late one of a wait that is planted sleeps; what a sleep makes too long, the recording must say. */
static void late(int rank)
{
    if (truth.rank == rank)
        usleep(DELAY_US);
}

static void fences(void)
{
    CALL(MPI_Win_fence, (0, win));
    puts_and_gets();
    CALL(MPI_Win_fence, (0, win));
}

/* Each exposes its window to the left neighbour, and accesses the right one's. */
static void post_start(int post_late, int access_late, int complete_late)
{
    MPI_Group to = group_of(right), from = group_of(left);
    late(post_late);
    CALL_AT(MPI_Win_post, (from, 0, win));
    CALL_AT(MPI_Win_start, (to, 0, win));
    late(access_late);
    CALL_AT(MPI_Put, (here, COUNT, MPI_INT, right, 0, COUNT, MPI_INT, win));
    moves("MPI_Put", right, COUNT * sizeof(int), 0);
    late(complete_late);
    CALL_AT(MPI_Win_complete, (win));
    CALL_AT(MPI_Win_wait, (win));
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

/* One to all: groups of several ranks. Process 0 accesses all others. */
static void one_to_all(void)
{
    MPI_Group all, others, first = group_of(0);
    int zero = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_excl(all, 1, &zero, &others);
    if (truth.rank == 0) {
        CALL(MPI_Win_start, (others, 0, win));
        CALL(MPI_Win_complete, (win));
    } else {
        CALL(MPI_Win_post, (first, 0, win));
        int flag = 0;
        while (!flag && truth.rank == 1)
            MPI_Win_test(win, &flag);
        if (truth.rank > 1)
            CALL(MPI_Win_wait, (win));
    }
    MPI_Group_free(&all);
    MPI_Group_free(&others);
    MPI_Group_free(&first);
}

static void locks(int type, int holder)
{
    CALL_AT(MPI_Win_lock, (type, 0, 0, win));
    CALL(MPI_Put, (here, 1, MPI_INT, 0, truth.rank, 1, MPI_INT, win));
    moves("MPI_Put", 0, sizeof(int), 0);
    CALL_AT(MPI_Win_flush, (0, win));
    late(holder);
    CALL_AT(MPI_Win_unlock, (0, win));
}

/* The same for all, after one that holds it alone. */
static void locks_of_all(void)
{
    CALL_AT(MPI_Win_lock_all, (0, win));
    CALL(MPI_Put, (here, 1, MPI_INT, 0, truth.rank, 1, MPI_INT, win));
    moves("MPI_Put", 0, sizeof(int), 0);
    CALL_AT(MPI_Win_flush_all, (win));
    CALL_AT(MPI_Win_unlock_all, (win));
}

static void lock_all(void)
{
    CALL(MPI_Win_lock_all, (0, win));
    puts_and_gets();
    CALL(MPI_Win_flush_all, (win));
    with_requests();
    CALL(MPI_Win_flush_local_all, (win));
    CALL(MPI_Win_flush_local, (right, win));
    CALL(MPI_Win_unlock_all, (win));
    CALL(MPI_Win_lock_all, (MPI_MODE_NOCHECK, win));
    CALL(MPI_Win_unlock_all, (win));
}

static void barrier(void)
{
    CALL(MPI_Barrier, (MPI_COMM_WORLD));
}

static void all_calls(void)
{
    fences();
    post_start(-1, -1, -1);
    one_to_all();
    barrier();
    locks(MPI_LOCK_EXCLUSIVE, -1);
    barrier();
    locks(MPI_LOCK_SHARED, -1);
    barrier();
    lock_all();
    barrier();
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "calls";
    MPI_Init(&argc, &argv);
    truth_begin();
    left = (truth.rank + truth.size - 1) % truth.size;
    right = (truth.rank + 1) % truth.size;
    CALL(MPI_Win_create, (memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    barrier();
    if (strcmp(mode, "calls") == 0) {
        all_calls();
    } else if (strcmp(mode, "fence") == 0) {
        late(1);
        CALL_AT(MPI_Win_fence, (0, win));
    } else if (strcmp(mode, "post") == 0) {
        post_start(1, -1, -1);
    } else if (strcmp(mode, "complete") == 0) {
        post_start(-1, -1, 1);
    } else if (strcmp(mode, "early") == 0) {
        post_start(-1, 1, -1);
    } else if (strcmp(mode, "lock") == 0 || strcmp(mode, "all") == 0 || strcmp(mode, "shared") == 0) {
        /* Process 1 has it first; process 0, whose window it is, is in MPI all the time, so that all can continue. */
        if (truth.rank > 1)
            usleep(DELAY_US / 4);
        if (truth.rank > 1 && mode[0] == 'a')
            locks_of_all();
        else if (truth.rank > 0)
            locks(mode[0] == 's' ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 1);
    }
    barrier();
    CALL(MPI_Win_free, (&win));
    truth_print();
    MPI_Finalize();
    return 0;
}
