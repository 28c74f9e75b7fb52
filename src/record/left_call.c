/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/left_call.h"

#include "record/messages.h"
#include "record/outer_call.h"
#include "record/requests.h"
#include "record/stack.h"

static void left_call_end(struct location *location)
{
    const struct open_call open = location->open;
    struct call call = {.location = location,
                        .function = open.function,
                        .comm = open.comm,
                        .write = open.write,
                        .send_at = open.send_at,
                        .requests = location->scratch,
                        .request_count = open.held,
                        .starts = location->scratch,
                        .start_count = open.started};
    requests_release(&call);
    requests_not_started(&call);
    message_void(&call);
    call_leave(&call);
}

/* What MPI itself calls by its own name, not PMPI_X: MPICH's ROMIO does, within MPI_File_set_view and the like. Where
   MPI is in the program's file, such a call cannot be told from one of a callback. */
static bool may_be_of_mpi(enum function function)
{
#ifdef RECORD_STATIC
    return function == FUNCTION_MPI_Type_create_resized || function == FUNCTION_MPI_Type_free_keyval ||
           function == FUNCTION_MPI_Pack_external || function == FUNCTION_MPI_Pack_external_size ||
           function == FUNCTION_MPI_Unpack_external;
#else
    (void)function;
    return false;
#endif
}

bool inner_call_begin(struct location *location, enum function function, const void *frame)
{
    enum stack_answer answer = STACK_UNKNOWN;
    while (location->open.frame && (answer = stack_look(location->open.frame, frame)) == STACK_LEFT)
        left_call_end(location);
    return !location->inside || (answer == STACK_CALLBACK && !may_be_of_mpi(function) && outer_call_keep(location));
}
