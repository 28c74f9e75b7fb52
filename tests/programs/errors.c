/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls with wrong, empty and no arguments, and messages that are too long: prints what each returns, how often an
   error handler was called, and with what. A recorded run must print the same as a plain one. errors return | handler
 */
#include "truth.h"

static FILE *lines;
static int rank, size, raised;
static char raised_classes[256];

static void on_error(MPI_Comm *comm, int *error, ...)
{
    int class = -1;
    (void)comm;
    MPI_Error_class(*error, &class);
    raised++;
    snprintf(raised_classes + strlen(raised_classes), sizeof raised_classes - strlen(raised_classes), " %d", class);
}

static void on_window_error(MPI_Win *win, int *error, ...)
{
    (void)win;
    on_error(NULL, error);
}

static void say(const char *what, int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    fprintf(lines, "%d %s: class %d, raised %d%s\n", rank, what, class, raised, raised_classes);
    raised = 0;
    raised_classes[0] = '\0';
}

static void say_status(const char *what, const MPI_Status *status)
{
    int class = -1, count = -1;
    MPI_Error_class(status->MPI_ERROR, &class);
    MPI_Get_count(status, MPI_BYTE, &count);
    fprintf(lines, "%d %s: source %d, tag %d, error class %d, bytes %d\n", rank, what, status->MPI_SOURCE,
            status->MPI_TAG, class, count);
}

#define TRY(call) say(#call, call)

static MPI_Datatype no_type = MPI_DATATYPE_NULL;
static char bytes[64];

static void bad_types(int other)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype types[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
    int none[8] = {0};
    TRY(MPI_Send(bytes, 1, no_type, other, 1, MPI_COMM_WORLD));
    TRY(MPI_Ssend(bytes, 1, no_type, other, 1, MPI_COMM_WORLD));
    TRY(MPI_Isend(bytes, 1, no_type, other, 1, MPI_COMM_WORLD, &request));
    TRY(MPI_Recv(bytes, 1, no_type, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    TRY(MPI_Sendrecv(bytes, 1, no_type, other, 1, bytes, 1, no_type, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    TRY(MPI_Send_init(bytes, 1, no_type, other, 1, MPI_COMM_WORLD, &request));
    TRY(MPI_Bcast(bytes, 1, no_type, 0, MPI_COMM_SELF));
    TRY(MPI_Allreduce(bytes, bytes + 8, 1, no_type, MPI_SUM, MPI_COMM_SELF));
    TRY(MPI_Gather(bytes, 1, no_type, bytes, 1, no_type, 0, MPI_COMM_SELF));
    TRY(MPI_Alltoallv(bytes, none, none, no_type, bytes, none, none, no_type, MPI_COMM_SELF));
    TRY(MPI_Alltoallw(bytes, none, none, types, bytes, none, none, types, MPI_COMM_SELF));
}

static void bad_arguments(int other)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int flag = 0;
    TRY(MPI_Send(bytes, -1, MPI_BYTE, other, 1, MPI_COMM_WORLD));
    TRY(MPI_Send(bytes, 1, MPI_BYTE, 99, 1, MPI_COMM_WORLD));
    TRY(MPI_Send(bytes, 1, MPI_BYTE, other, -5, MPI_COMM_WORLD));
    TRY(MPI_Isend(bytes, -1, MPI_BYTE, other, 1, MPI_COMM_WORLD, &request));
    TRY(MPI_Irecv(bytes, -1, MPI_BYTE, other, 1, MPI_COMM_WORLD, &request));
    TRY(MPI_Recv(bytes, 1, MPI_BYTE, 99, 1, MPI_COMM_WORLD, &status));
    TRY(MPI_Probe(99, 1, MPI_COMM_WORLD, &status));
    TRY(MPI_Bcast(bytes, -1, MPI_BYTE, 0, MPI_COMM_SELF));
    TRY(MPI_Bcast(bytes, 1, MPI_BYTE, 7, MPI_COMM_SELF));
    TRY(MPI_Reduce(bytes, bytes + 8, 1, MPI_INT, MPI_OP_NULL, 0, MPI_COMM_SELF));
    TRY(MPI_Wait(&request, &status));
    TRY(MPI_Test(&request, &flag, &status));
    TRY(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    TRY(MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE));
}

/* Communicators, groups and windows that there are not. */
static void bad_handles(int other)
{
    MPI_Comm comm, freed;
    MPI_Win win;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int value = 0;
    TRY(MPI_Send(bytes, 1, MPI_BYTE, other, 1, MPI_COMM_NULL));
    TRY(MPI_Barrier(MPI_COMM_NULL));
    TRY(MPI_Comm_dup(MPI_COMM_NULL, &comm));
    comm = MPI_COMM_NULL;
    TRY(MPI_Comm_free(&comm));
    TRY(MPI_Request_free(&request));
    TRY(MPI_Cancel(&request));
    TRY(MPI_Start(&request));
#ifdef MPICH_VERSION
    /* Open MPI's handles are addresses, which it cannot check. */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    freed = comm;
    MPI_Comm_free(&comm);
    for (int i = 0; i < 3; i++) {
        TRY(MPI_Send(bytes, 1, MPI_BYTE, other, 1, freed));
        TRY(MPI_Barrier(freed));
        TRY(MPI_Comm_size(freed, &value));
        TRY(MPI_Comm_rank((MPI_Comm)0x0badc0de, &value));
    }
    TRY(MPI_Send(bytes, 1, (MPI_Datatype)0x0badc0de, other, 1, MPI_COMM_WORLD));
    TRY(MPI_Wait(NULL, MPI_STATUS_IGNORE));
    TRY(MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE));
    TRY(MPI_Startall(2, NULL));
    TRY(MPI_Comm_free(NULL));
    TRY(MPI_Win_free(NULL));
    TRY(MPI_Request_free(NULL));
    TRY(MPI_Mrecv(bytes, 1, MPI_BYTE, NULL, MPI_STATUS_IGNORE));
    TRY(MPI_Test(&request, NULL, MPI_STATUS_IGNORE));
    TRY(MPI_Testall(1, &request, NULL, MPI_STATUSES_IGNORE));
    TRY(MPI_Waitsome(1, &request, NULL, NULL, MPI_STATUSES_IGNORE));
#endif
    (void)freed;
    MPI_Win_create(bytes, sizeof bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    MPI_Errhandler own = MPI_ERRORS_RETURN;
    if (handler != MPI_ERRORS_RETURN)
        MPI_Win_create_errhandler(on_window_error, &own);
    MPI_Win_set_errhandler(win, own);
    TRY(MPI_Win_start(group, 0, win));
    TRY(MPI_Win_post(group, 0, win));
    TRY(MPI_Win_lock(MPI_LOCK_SHARED, 99, 0, win));
    TRY(MPI_Put(bytes, 1, no_type, other, 0, 1, MPI_BYTE, win));
    TRY(MPI_Win_lock_all(0, MPI_WIN_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

/* No elements, of no type. */
static void nothing(int other)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;
    TRY(MPI_Sendrecv(bytes, 0, MPI_BYTE, other, 2, bytes, 0, MPI_BYTE, other, 2, MPI_COMM_WORLD, &status));
    say_status("nothing", &status);
    TRY(MPI_Send(bytes, 0, no_type, MPI_PROC_NULL, 2, MPI_COMM_WORLD));
    TRY(MPI_Isend(bytes, 0, no_type, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &requests[0]));
    TRY(MPI_Wait(&requests[0], &status));
#if defined MPICH_VERSION
    TRY(MPI_Psend_init(NULL, 0, 0, no_type, other, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    TRY(MPI_Precv_init(NULL, 0, 0, no_type, other, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    TRY(MPI_Startall(2, requests));
    TRY(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
#endif
}

/* Messages of 16 bytes for buffers of 4. */
static void too_long(int other)
{
    MPI_Request requests[3];
    MPI_Status status, statuses[3];
    int index = -1, flag = 0, done = 0, indices[3] = {-1, -1, -1};
    char small[4];
    MPI_Message message;
    for (int way = 0; way < 10; way++) {
        memset(&status, 0, sizeof status);
        memset(statuses, 0, sizeof statuses);
        MPI_Irecv(bytes + 32, 16, MPI_BYTE, other, 50, MPI_COMM_WORLD, &requests[0]);
        if (way >= 2)
            MPI_Irecv(small, 4, MPI_BYTE, other, 51, MPI_COMM_WORLD, &requests[1]);
        MPI_Irecv(bytes + 48, 16, MPI_BYTE, other, 52, MPI_COMM_WORLD, &requests[2]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Send(bytes, 8, MPI_BYTE, other, 50, MPI_COMM_WORLD);
        if (way != 1)
            MPI_Send(bytes, 16, MPI_BYTE, other, 51, MPI_COMM_WORLD);
        MPI_Send(bytes, 8, MPI_BYTE, other, 52, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        switch (way) {
        case 0:
            TRY(MPI_Recv(small, 4, MPI_BYTE, other, 51, MPI_COMM_WORLD, &status));
            break;
        case 1:
            TRY(MPI_Sendrecv(bytes, 16, MPI_BYTE, other, 51, small, 4, MPI_BYTE, other, 51, MPI_COMM_WORLD, &status));
            break;
        case 2:
            TRY(MPI_Wait(&requests[1], &status));
            break;
        case 3:
            TRY(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
            break;
        case 4:
            while (!flag)
                TRY(MPI_Test(&requests[1], &flag, &status));
            break;
        case 5:
            TRY(MPI_Waitany(1, &requests[1], &index, &status));
            break;
        case 6:
            TRY(MPI_Waitall(3, requests, statuses));
            for (int i = 0; i < 3; i++)
                say_status("of all", &statuses[i]);
            break;
        case 7:
            TRY(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
            break;
        case 8:
            TRY(MPI_Waitsome(1, &requests[1], &done, indices, statuses));
            say_status("of some", &statuses[0]);
            break;
        case 9:
            TRY(MPI_Testall(3, requests, &flag, statuses));
            fprintf(lines, "%d flag %d\n", rank, flag);
            break;
        }
        fprintf(lines, "%d way %d: left %d %d %d\n", rank, way, requests[0] != MPI_REQUEST_NULL,
                way < 2 || requests[1] != MPI_REQUEST_NULL, requests[2] != MPI_REQUEST_NULL);
        say_status("too long", &status);
        if (requests[0] != MPI_REQUEST_NULL)
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        if (way >= 2 && requests[1] != MPI_REQUEST_NULL)
            MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        if (requests[2] != MPI_REQUEST_NULL)
            MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
        say("rest", MPI_SUCCESS);
    }
    MPI_Send(bytes, 16, MPI_BYTE, other, 53, MPI_COMM_WORLD);
    MPI_Mprobe(other, 53, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    memset(&status, 0, sizeof status);
    TRY(MPI_Mrecv(small, 4, MPI_BYTE, &message, &status));
    say_status("too long", &status);
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return -77;
}

static int free_state(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

/* An error that only the program knows, of a request that is completed together with one that MPI's error has. */
static void own_code(int other)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    char small[4];
    MPI_Irecv(small, 4, MPI_BYTE, other, 54, MPI_COMM_WORLD, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(bytes, 16, MPI_BYTE, other, 54, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Grequest_start(query, free_state, cancel, NULL, &requests[1]);
    MPI_Grequest_complete(requests[1]);
    memset(statuses, 0, sizeof statuses);
    TRY(MPI_Waitall(2, requests, statuses));
    say_status("own code", &statuses[0]);
    fprintf(lines, "%d own code: %d\n", rank, statuses[1].MPI_ERROR);
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    lines = truth_open();
    if (argc > 1 && strcmp(argv[1], "handler") == 0)
        MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    int other = size - 1 - rank;
    bad_types(other);
    bad_arguments(other);
    bad_handles(other);
    nothing(other);
    too_long(other);
    own_code(other);
    MPI_Barrier(MPI_COMM_WORLD);
    fclose(lines);
    MPI_Finalize();
    return 0;
}
