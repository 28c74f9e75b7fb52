/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that begin, end and switch the recording; their wrappers are written by hand. */
#include "record/call.h"
#include "record/clock.h"
#include "record/real.h"
#include "record/settings.h"

/* How often MPI was initialised and not finalised yet: by MPI_Init, and by each session. Recording continues as long as
   this is above 0. */
static int users;

/* A call that initialises MPI. The first one begins the recording, others are ordinary calls. */
struct beginning {
    struct call call;
    enum function function;
    const uintptr_t *caller;
    int64_t begin_ticks;
    bool first;
};

static void beginning_enter(struct beginning *beginning, enum function function, const uintptr_t *caller)
{
    *beginning =
        (struct beginning){.function = function, .caller = caller, .begin_ticks = clock_start(settings_clock())};
    beginning->first = !call_of(&beginning->call, function, caller);
}

/* `has_world`: MPI_COMM_WORLD came with it, so that all processes are here. */
static void beginning_leave(struct beginning *beginning, int result, bool has_world, bool threaded)
{
    if (result == MPI_SUCCESS)
        __atomic_add_fetch(&users, 1, __ATOMIC_RELAXED);
    if (!beginning->first) {
        recorder.threaded |= threaded;
        if (result == MPI_SUCCESS && has_world)
            recorder_look_at_hosts(MPI_COMM_WORLD);
        call_leave(&beginning->call);
    } else if (result == MPI_SUCCESS) {
        recorder_start(beginning->function, real_caller((const void *)*beginning->caller), beginning->begin_ticks,
                       threaded);
    }
}

/* Before a call that finalises MPI: true if it is the last one. */
static bool ends(void)
{
    bool last = __atomic_sub_fetch(&users, 1, __ATOMIC_RELAXED) == 0;
    if (last)
        recorder_finish();
    return last;
}

EXPORT int MPI_Init(int *argc, char ***argv)
{
    struct beginning beginning;
    beginning_enter(&beginning, FUNCTION_MPI_Init, CALLER);
    int result = PLAIN(MPI_Init)(argc, argv);
    beginning_leave(&beginning, result, true, false);
    return result;
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    struct beginning beginning;
    beginning_enter(&beginning, FUNCTION_MPI_Init_thread, CALLER);
    int result = PLAIN(MPI_Init_thread)(argc, argv, required, provided);
    beginning_leave(&beginning, result, true, result == MPI_SUCCESS && *provided == MPI_THREAD_MULTIPLE);
    return result;
}

EXPORT int MPI_Finalize(void)
{
    struct call call;
    if (!call_of(&call, FUNCTION_MPI_Finalize, CALLER))
        return PLAIN(MPI_Finalize)();
    recorder_sync(MPI_COMM_WORLD);
    bool last = ends();
    int result = PLAIN(MPI_Finalize)();
    call_leave(&call);
    if (last)
        recorder_close();
    return result;
}

#ifdef MPI_SESSION_NULL
EXPORT int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session)
{
    struct beginning beginning;
    beginning_enter(&beginning, FUNCTION_MPI_Session_init, CALLER);
    int result = PLAIN(MPI_Session_init)(info, handler, session);
    beginning_leave(&beginning, result, false, true);
    return result;
}

EXPORT int MPI_Session_finalize(MPI_Session *session)
{
    struct call call;
    if (!call_of(&call, FUNCTION_MPI_Session_finalize, CALLER))
        return PLAIN(MPI_Session_finalize)(session);
    bool last = ends();
    int result = PLAIN(MPI_Session_finalize)(session);
    call_leave(&call);
    if (last)
        recorder_close();
    return result;
}
#endif

/* Arguments after the level are for other tools. */
EXPORT int MPI_Pcontrol(const int level, ...)
{
    recorder_switch(level != 0);
    return MPI_SUCCESS;
}

#ifdef RECORD_STATIC
/* `sight record` recognises a program that contains the recorder by this. */
__attribute__((used)) static const char linked[] = RECORD_LINKED;
#else
DECLARE_OWN(MPI_Init);
EXPORT int PMPI_Init(int *argc, char ***argv)
{
    return CALLED_BY_PROGRAM(MPI_Init) ? OWN(MPI_Init)(argc, argv) : REAL(MPI_Init)(argc, argv);
}

DECLARE_OWN(MPI_Init_thread);
EXPORT int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return CALLED_BY_PROGRAM(MPI_Init_thread) ? OWN(MPI_Init_thread)(argc, argv, required, provided)
                                              : REAL(MPI_Init_thread)(argc, argv, required, provided);
}

#ifdef MPI_SESSION_NULL
DECLARE_OWN(MPI_Session_init);
EXPORT int PMPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session)
{
    return CALLED_BY_PROGRAM(MPI_Session_init) ? OWN(MPI_Session_init)(info, handler, session)
                                               : REAL(MPI_Session_init)(info, handler, session);
}

DECLARE_OWN(MPI_Session_finalize);
EXPORT int PMPI_Session_finalize(MPI_Session *session)
{
    return CALLED_BY_PROGRAM(MPI_Session_finalize) ? OWN(MPI_Session_finalize)(session)
                                                   : REAL(MPI_Session_finalize)(session);
}
#endif

DECLARE_OWN(MPI_Finalize);
EXPORT int PMPI_Finalize(void)
{
    return CALLED_BY_PROGRAM(MPI_Finalize) ? OWN(MPI_Finalize)() : REAL(MPI_Finalize)();
}

EXPORT int PMPI_Pcontrol(const int level, ...)
{
    if (CALLED_FROM_FORTRAN || real_is_program(__builtin_return_address(0)))
        recorder_switch(level != 0);
    return MPI_SUCCESS;
}
#endif
