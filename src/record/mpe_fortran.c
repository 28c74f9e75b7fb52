/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPE logging interface as Fortran calls it: everything by reference, lengths of texts after all arguments, texts
   padded with blanks. Names end with one underscore or two, depending on the compiler's options.
 */
#include "record/mpe.h"
#include "record/real.h"

#include <stddef.h>
#include <string.h>

enum { TEXT_SIZE = 256 };
struct text {
    char text[TEXT_SIZE];
};

static struct text text_of(const char *fortran, size_t length)
{
    struct text text;
    while (length > 0 && fortran[length - 1] == ' ')
        length--;
    length = length < TEXT_SIZE ? length : TEXT_SIZE - 1;
    memcpy(text.text, fortran, length);
    text.text[length] = '\0';
    return text;
}

/* Data of an event: none if the text is one blank or empty. */
static const char *data_of(const char *fortran, size_t length)
{
    return length == 0 || (length == 1 && *fortran == ' ') ? NULL : fortran;
}

#define FORTRAN(name, parameters, body)                                                                                \
    EXPORT int name##_ parameters;                                                                                     \
    EXPORT int name##__ parameters;                                                                                    \
    int name##_ parameters body int name##__ parameters body

FORTRAN(mpe_init_log, (void), { return MPE_Init_log(); })
FORTRAN(mpe_initialized_logging, (void), { return MPE_Initialized_logging(); })
FORTRAN(mpe_start_log, (void), { return MPE_Start_log(); })
FORTRAN(mpe_stop_log, (void), { return MPE_Stop_log(); })
FORTRAN(mpe_log_sync_clocks, (void), { return MPE_Log_sync_clocks(); })
FORTRAN(mpe_log_get_event_number, (void), { return MPE_Log_get_event_number(); })
FORTRAN(mpe_log_get_state_eventids, (int *start, int *end), { return MPE_Log_get_state_eventIDs(start, end); })
FORTRAN(mpe_log_get_solo_eventid, (int *event), { return MPE_Log_get_solo_eventID(event); })
FORTRAN(mpe_log_bare_event, (const int *event), { return MPE_Log_bare_event(*event); })
FORTRAN(mpe_log_send, (const int *other, const int *tag, const int *size),
        { return MPE_Log_send(*other, *tag, *size); })
FORTRAN(mpe_log_receive, (const int *other, const int *tag, const int *size),
        { return MPE_Log_receive(*other, *tag, *size); })

FORTRAN(mpe_finish_log, (const char *name, size_t length), { return MPE_Finish_log(text_of(name, length).text); })

FORTRAN(
    mpe_describe_state,
    (const int *start, const int *end, const char *name, const char *colour, size_t name_length, size_t colour_length),
    { return MPE_Describe_state(*start, *end, text_of(name, name_length).text, text_of(colour, colour_length).text); })

FORTRAN(mpe_describe_info_state,
        (const int *start, const int *end, const char *name, const char *colour, const char *format, size_t name_length,
         size_t colour_length, size_t format_length),
        {
            return MPE_Describe_info_state(*start, *end, text_of(name, name_length).text,
                                           text_of(colour, colour_length).text, text_of(format, format_length).text);
        })

FORTRAN(mpe_describe_event,
        (const int *event, const char *name, const char *colour, size_t name_length, size_t colour_length),
        { return MPE_Describe_event(*event, text_of(name, name_length).text, text_of(colour, colour_length).text); })

FORTRAN(mpe_describe_info_event,
        (const int *event, const char *name, const char *colour, const char *format, size_t name_length,
         size_t colour_length, size_t format_length),
        {
            return MPE_Describe_info_event(*event, text_of(name, name_length).text, text_of(colour, colour_length).text,
                                           text_of(format, format_length).text);
        })

FORTRAN(mpe_log_event, (const int *event, const int *data, const char *bytes, size_t length),
        { return MPE_Log_event(*event, *data, data_of(bytes, length)); })

FORTRAN(mpe_log_info_event, (const int *event, const char *bytes, size_t length),
        { return MPE_Log_event(*event, 0, data_of(bytes, length)); })

FORTRAN(mpe_log_pack, (char *bytes, int *position, const char *type, const int *count, const void *data),
        { return MPE_Log_pack(bytes, position, *type, *count, data); })
