/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands before and after the events of a Pajé trace: definitions of events, types, values and containers. */
#include "convert/paje/write_paje.h"

#include "core/text.h"

#include <string.h>

char *paje_put_time(char *at, int64_t ns)
{
    uint64_t fraction = (uint64_t)ns % 1000000000;
    at = text_put_u64(at, (uint64_t)ns / 1000000000);
    *at = '.';
    for (int i = 9; i > 0; i--, fraction /= 10)
        at[i] = (char)('0' + fraction % 10);
    return at + 10;
}

/* Definitions of events, by their numbers. */
static const char *const definitions[] = {
    [PAJE_DEFINES_CONTAINER] = "PajeDefineContainerType\n% Alias string\n% Type string\n% Name string",
    [PAJE_DEFINES_STATE] = "PajeDefineStateType\n% Alias string\n% Type string\n% Name string",
    [PAJE_DEFINES_EVENT] = "PajeDefineEventType\n% Alias string\n% Type string\n% Name string",
    [PAJE_DEFINES_VARIABLE] = "PajeDefineVariableType\n% Alias string\n% Type string\n% Name string\n% Color color",
    [PAJE_DEFINES_LINK] = "PajeDefineLinkType\n% Alias string\n% Type string\n% StartContainerType string\n"
                          "% EndContainerType string\n% Name string",
    [PAJE_DEFINES_VALUE] = "PajeDefineEntityValue\n% Alias string\n% Type string\n% Name string\n% Color color",
    [PAJE_CREATES] = "PajeCreateContainer\n% Time date\n% Alias string\n% Type string\n% Container string\n"
                     "% Name string",
    [PAJE_DESTROYS] = "PajeDestroyContainer\n% Time date\n% Type string\n% Name string",
    [PAJE_PUSHES] = "PajePushState\n% Time date\n% Type string\n% Container string\n% Value string",
    [PAJE_POPS] = "PajePopState\n% Time date\n% Type string\n% Container string",
    [PAJE_STARTS] = "PajeStartLink\n% Time date\n% Type string\n% Container string\n% Value string\n"
                    "% StartContainer string\n% Key string\n% Size int",
    [PAJE_STARTS_UNKNOWN] = "PajeStartLink\n% Time date\n% Type string\n% Container string\n% Value string\n"
                            "% StartContainer string\n% Key string",
    [PAJE_ENDS] = "PajeEndLink\n% Time date\n% Type string\n% Container string\n% Value string\n"
                  "% EndContainer string\n% Key string",
    [PAJE_SETS] = "PajeSetVariable\n% Time date\n% Type string\n% Container string\n% Value double",
    [PAJE_HAPPENS] = "PajeNewEvent\n% Time date\n% Type string\n% Container string\n% Value string",
};

/* Colours of states by the class of their function. */
static const char *colour_of(const struct state_def *state)
{
    switch (state->class) {
    case CLASS_P2P:
        return "0.20 0.45 0.80";
    case CLASS_PROBE:
    case CLASS_WAIT:
        return "0.85 0.25 0.20";
    case CLASS_COLLECTIVE:
        return "0.95 0.60 0.10";
    case CLASS_SYNC:
        return "0.70 0.10 0.30";
    case CLASS_RMA:
        return "0.45 0.30 0.70";
    case CLASS_IO:
        return "0.60 0.55 0.15";
    case CLASS_USER:
        return "0.25 0.65 0.35";
    default:
        return "0.60 0.60 0.60";
    }
}

/* In quotation marks, which it cannot have itself; on one line. pj_dump refuses a file with an empty text. */
static void put_quoted(struct paje_writer *paje, const char *text)
{
    struct output *output = paje->writer.output;
    output_text(output, *text ? " \"" : " \"(no name)");
    writer_lose(&paje->writer, "quotation marks and ends of lines in names", strpbrk(text, "\"\n\r") != NULL);
    for (; *text; text++) {
        char c = *text;
        if (c == '"')
            c = '\'';
        else if (c == '\n' || c == '\r')
            c = ' ';
        output_write(output, &c, 1);
    }
    output_text(output, "\"");
}

static void write_value(struct paje_writer *paje, char letter, uint32_t number, char type_letter, int type,
                        const char *name, const char *colour)
{
    output_print(paje->writer.output, "%d %c%u %c%d", PAJE_DEFINES_VALUE, letter, (unsigned)number, type_letter, type);
    put_quoted(paje, name);
    output_print(paje->writer.output, " \"%s\"\n", colour);
}

/* A type of states for each lane, of processes and of threads. */
static void write_states(struct paje_writer *paje)
{
    struct output *output = paje->writer.output;
    const struct defs *defs = paje->writer.defs;
    /* Types belong to a type of container: processes and threads need one each. A lane for each group of states that
       do not cross, since a pop names no state. */
    for (int lane = 0; lane < by_location_lanes(paje->by); lane++) {
        const char *name = lane > 0 ? defs->states[by_location_lane_state(paje->by, lane)].name : "state";
        output_print(output, "%d S%d P", PAJE_DEFINES_STATE, lane);
        put_quoted(paje, name);
        output_print(output, "\n%d T%d T", PAJE_DEFINES_STATE, lane);
        put_quoted(paje, name);
        output_text(output, "\n");
    }
    for (uint32_t i = 0; i < defs->state_count; i++) {
        const struct state_def *state = &defs->states[i];
        int lane = by_location_lane(paje->by, i);
        if (paje->states_used[i] & PAJE_IN_PROCESS)
            write_value(paje, 'V', i, 'S', lane, state->name, colour_of(state));
        if (paje->states_used[i] & PAJE_IN_THREAD)
            write_value(paje, 'W', i, 'T', lane, state->name, colour_of(state));
    }
}

static void write_variable(struct paje_writer *paje, char letter, uint32_t mark, char container)
{
    output_print(paje->writer.output, "%d %c%u %c", PAJE_DEFINES_VARIABLE, letter, (unsigned)mark, container);
    put_quoted(paje, paje->writer.defs->marks[mark].name);
    output_text(paje->writer.output, " \"0.30 0.30 0.30\"\n");
}

static void write_marks(struct paje_writer *paje)
{
    static const char grey[] = "0.10 0.10 0.10";
    output_print(paje->writer.output, "%d E0 P \"event\"\n%d F0 T \"event\"\n", PAJE_DEFINES_EVENT, PAJE_DEFINES_EVENT);
    for (uint32_t i = 0; i < paje->writer.defs->mark_count; i++) {
        const char *name = paje->writer.defs->marks[i].name;
        if (paje->marks_used[i] & PAJE_IN_PROCESS)
            write_value(paje, 'M', i, 'E', 0, name, grey);
        if (paje->marks_used[i] & PAJE_IN_THREAD)
            write_value(paje, 'N', i, 'F', 0, name, grey);
        if (paje->marks_used[i] >> 2 & PAJE_IN_PROCESS)
            write_variable(paje, 'C', i, 'P');
        if (paje->marks_used[i] >> 2 & PAJE_IN_THREAD)
            write_variable(paje, 'D', i, 'T');
    }
}

static void write_containers(struct paje_writer *paje)
{
    struct output *output = paje->writer.output;
    for (uint32_t process = 0; process < by_location_processes(paje->by); process++) {
        output_print(output, "%d 0.000000000 p%u P 0 \"rank-%u\"\n", PAJE_CREATES, (unsigned)process,
                     (unsigned)process);
        for (uint32_t thread = 1; thread < paje->threads[process]; thread++)
            output_print(output, "%d 0.000000000 p%ut%u T p%u \"rank-%u thread-%u\"\n", PAJE_CREATES, (unsigned)process,
                         (unsigned)thread, (unsigned)process, (unsigned)process, (unsigned)thread);
    }
}

void paje_write_head(struct paje_writer *paje)
{
    struct output *output = paje->writer.output;
    output_text(output, PAJE_CREATOR "\n");
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) {
        const char *fields = strchr(definitions[i], '\n');
        output_print(output, "%%EventDef %.*s %zu%s\n%%EndEventDef\n", (int)(fields - definitions[i]), definitions[i],
                     i, fields);
    }
    output_print(output, "%d P 0 \"Process\"\n%d T P \"Thread\"\n", PAJE_DEFINES_CONTAINER, PAJE_DEFINES_CONTAINER);
    output_print(output, "%d L 0 P P \"message\"\n%d m L \"message\" \"0.10 0.10 0.10\"\n", PAJE_DEFINES_LINK,
                 PAJE_DEFINES_VALUE);
    write_states(paje);
    write_marks(paje);
    write_containers(paje);
}

void paje_write_tail(struct paje_writer *paje)
{
    struct output *output = paje->writer.output;
    char time[32];
    *paje_put_time(time, by_location_duration_ns(paje->by)) = '\0';
    /* In reverse: a container ends before the one it is in. pj_dump wants the type to be the container's. */
    for (uint32_t process = by_location_processes(paje->by); process > 0; process--) {
        for (uint32_t thread = paje->threads[process - 1]; thread > 1; thread--)
            output_print(output, "%d %s T p%ut%u\n", PAJE_DESTROYS, time, (unsigned)process - 1, (unsigned)thread - 1);
        output_print(output, "%d %s P p%u\n", PAJE_DESTROYS, time, (unsigned)process - 1);
    }
}
