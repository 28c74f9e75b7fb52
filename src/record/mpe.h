/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_MPE_H
#define SIGHT_MPE_H

/* The MPE logging interface, for programs that define their own states and events. Programs written for MPE compile and
   link unchanged, with the recording library instead of MPE's. Their events are in the trace when they run under `sight
   record`; otherwise the functions do nothing. */

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Results. */
#define MPE_LOG_OK 0
#define MPE_LOG_LOCKED_OUT 1
#define MPE_LOG_NO_MEMORY 2
#define MPE_LOG_FILE_PROB 3
#define MPE_LOG_NOT_INITIALIZED 4
#define MPE_LOG_PACK_FAIL 5
#define MPE_Log_OK MPE_LOG_OK
#define MPE_Log_LOCKED_OUT MPE_LOG_LOCKED_OUT
#define MPE_Log_NO_MEMORY MPE_LOG_NO_MEMORY
#define MPE_Log_FILE_PROB MPE_LOG_FILE_PROB
#define MPE_Log_NOT_INITIALIZED MPE_LOG_NOT_INITIALIZED
#define MPE_Log_PACK_FAIL MPE_LOG_PACK_FAIL

/* Data that travel with an event: filled by MPE_Log_pack. */
#define MPE_LOG_BYTESIZE 32
typedef char MPE_LOG_BYTES[MPE_LOG_BYTESIZE];

/* Begin and end. MPI_Init and MPI_Finalize do all that is needed; the name of a log file is not used. */
int MPE_Init_log(void);
int MPE_Finish_log(const char *filename);
int MPE_Initialized_logging(void); /* 0 not begun, 1 begun, 2 finished */

/* Switches recording on and off, that of MPI functions as well. */
int MPE_Start_log(void);
int MPE_Stop_log(void);

/* Numbers for the program's own events. All processes must ask for them in the same order. */
int MPE_Log_get_event_number(void);
int MPE_Log_get_state_eventIDs(int *start, int *end);
int MPE_Log_get_solo_eventID(int *event);

/* What the numbers stand for: a name (31 characters), a colour of X11 (23), a format of the data (39), such as
   "n=%d at %E". One process is enough. */
int MPE_Describe_state(int start, int end, const char *name, const char *color);
int MPE_Describe_info_state(int start, int end, const char *name, const char *color, const char *format);
int MPE_Describe_event(int event, const char *name, const char *color);
int MPE_Describe_info_event(int event, const char *name, const char *color, const char *format);

/* The same for states and events of a communicator: they are those of all. */
int MPE_Describe_comm_state(MPI_Comm comm, int start, int end, const char *name, const char *color, const char *format);
int MPE_Describe_comm_event(MPI_Comm comm, int event, const char *name, const char *color, const char *format);

/* An event now: alone, with data, or as of old with a number (not recorded) and data that may be NULL. */
int MPE_Log_bare_event(int event);
int MPE_Log_info_event(int event, const char *bytes);
int MPE_Log_event(int event, int data, const char *bytes);

/* The same on a communicator, which is not recorded; data may be NULL. */
int MPE_Log_comm_event(MPI_Comm comm, int event, const char *bytes);

/* Puts `count` values (of a text: characters) at *position of the data and moves it: s text, h 2 bytes, d and x 4, l
   and X 8, e float, E double. */
int MPE_Log_pack(MPE_LOG_BYTES bytes, int *position, char type, int count, const void *data);

/* Messages that MPI does not see; partners are ranks in MPI_COMM_WORLD. */
int MPE_Log_send(int other, int tag, int size);
int MPE_Log_receive(int other, int tag, int size);

/* The same with ranks in a communicator. */
int MPE_Log_comm_send(MPI_Comm comm, int other, int tag, int size);
int MPE_Log_comm_receive(MPI_Comm comm, int other, int tag, int size);

/* Measures the clocks once more; all processes must call it. */
int MPE_Log_sync_clocks(void);

/* How many threads log, which the recorder sees itself; and the name that MPE_Finish_log was given, "" before. */
void MPE_Log_thread_sync(int threads);
const char *MPE_Log_merged_logfilename(void);

#ifdef __cplusplus
}
#endif

#endif
