/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/stuck_report.h"

#include "core/payload.h"
#include "core/text.h"
#include "heuristics/finding.h"
#include "render/terminal_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Lists are there even if they are empty, so that programs need not ask. */
static void write_ranks(struct json *json, const char *name, const uint32_t *ranks, size_t count)
{
    json_open(json, name, '[');
    for (size_t i = 0; i < count; i++)
        json_value(json, NULL, value_count(ranks[i]));
    json_close(json, ']');
}

static struct value since(const struct stuck *stuck, int64_t ns)
{
    return value_time(time_since(stuck->begin_ns, ns));
}

static struct value known(int32_t number)
{
    return number == EVENT_UNKNOWN || number == PENDING_ANYBODY ? value_null() : value_integer(number);
}

/* Of a process that stopped: a function, a place or a communicator that is not known is null, never a guess. */
static void write_call(struct json *json, const struct stuck *stuck, const struct stuck_call *call)
{
    char site[SITE_TEXT_SIZE];
    bool in_call = call->state < stuck->defs->state_count;
    bool placed = call->site > 0 && call->site <= stuck->defs->site_count;
    bool on_comm = call->comm >= 0 && (size_t)call->comm < stuck->defs->comm_count;
    json_open(json, NULL, '{');
    json_value(json, "rank", value_count(call->rank));
    json_value(json, "function", value_text(in_call ? stuck->defs->states[call->state].name : NULL));
    json_value(json, "site", value_text(placed ? site_text(site, &stuck->defs->sites[call->site - 1]) : NULL));
    json_value(json, "partner", known(call->partner));
    json_value(json, "tag", known(call->tag));
    json_value(json, "communicator", on_comm ? value_integer(stuck->defs->comms[call->comm].id) : value_null());
    json_value(json, "since_s", since(stuck, call->since_ns));
    json_close(json, '}');
}

void stuck_write_json(struct json *json, const struct stuck *stuck, bool slow)
{
    /* A run that only became slow is of interest where it was asked for, not in every diagnosis. */
    if (!stuck || stuck->kind == STUCK_NOT || (stuck->kind == STUCK_SLOW && !slow)) {
        json_value(json, "stuck", value_null());
        return;
    }
    json_open(json, "stuck", '{');
    json_value(json, "kind", value_text(stuck_kind_name(stuck->kind)));
    json_value(json, "text", value_text(stuck->text));
    json_value(json, "since_s", since(stuck, stuck->since_ns));
    write_ranks(json, "processes", stuck->processes, stuck->process_count);
    write_ranks(json, "cycle", stuck->cycle, stuck->cycle_count);
    json_open(json, "calls", '[');
    for (size_t i = 0; i < stuck->call_count; i++)
        write_call(json, stuck, &stuck->calls[i]);
    json_close(json, ']');
    json_close(json, '}');
}

static void write_rank_list(struct output *output, const char *name, const uint32_t *ranks, size_t count)
{
    if (count == 0)
        return;
    output_print(output, " %s=\"", name);
    for (size_t i = 0; i < count; i++)
        output_print(output, "%s%" PRIu32, i > 0 ? " " : "", ranks[i]);
    output_text(output, "\"");
}

static struct value known_or_any(int32_t number)
{
    return number == PENDING_ANYBODY ? value_text("any") : known(number);
}

static void write_pending(struct output *output, const struct stuck *stuck, const struct stuck_call *call)
{
    const struct defs *defs = stuck->defs;
    output_text(output, "<pending");
    xml_attribute(output, "rank", value_count(call->rank));
    if (call->state < defs->state_count)
        xml_attribute(output, "name", value_text(defs->states[call->state].name));
    else if (call->last < defs->state_count)
        xml_attribute(output, "after", value_text(defs->states[call->last].name));
    if (call->site > 0 && call->site <= defs->site_count) {
        const struct site_def *site = &defs->sites[call->site - 1];
        xml_attribute(output, "file", value_text(site->file));
        xml_attribute(output, "line", value_if(site->line > 0, value_integer(site->line)));
        xml_attribute(output, "function", value_text(site->function));
    }
    xml_attribute(output, "partner", known_or_any(call->partner));
    xml_attribute(output, "tag", known_or_any(call->tag));
    if (call->comm >= 0 && (size_t)call->comm < defs->comm_count)
        xml_attribute(output, "communicator", value_integer(defs->comms[call->comm].id));
    xml_attribute(output, "since_s", since(stuck, call->since_ns));
    if (call->loops)
        xml_attribute(output, "loops", value_bool(true));
    if (call->died)
        xml_attribute(output, "died_s", since(stuck, call->died_ns));
    output_text(output, "/>\n");
}

void stuck_write_xml(struct output *output, const struct stuck *stuck)
{
    if (!stuck_is_reported(stuck))
        return;
    output_text(output, "<hang");
    xml_attribute(output, "kind", value_text(stuck_kind_name(stuck->kind)));
    xml_attribute(output, "text", value_text(stuck->text));
    xml_attribute(output, "since_s", since(stuck, stuck->since_ns));
    xml_attribute(output, "end_s", since(stuck, stuck->end_ns));
    write_rank_list(output, "processes", stuck->processes, stuck->process_count);
    write_rank_list(output, "cycle", stuck->cycle, stuck->cycle_count);
    output_text(output, ">\n");
    for (size_t i = 0; i < stuck->call_count; i++)
        write_pending(output, stuck, &stuck->calls[i]);
    output_text(output, "</hang>\n");
}

void may_hang_write_json(struct json *json, const struct may_hang *found)
{
    char site[SITE_TEXT_SIZE];
    if (!found || found->count == 0) {
        json_value(json, "may_hang", value_null());
        return;
    }
    json_open(json, "may_hang", '{');
    json_value(json, "text", value_text(found->text));
    json_open(json, "calls", '[');
    for (size_t i = 0; i < found->count; i++) {
        const struct may_hang_call *call = &found->cycle[i];
        bool placed = call->site > 0 && call->site <= found->defs->site_count;
        bool on_comm = call->comm >= 0 && (size_t)call->comm < found->defs->comm_count;
        json_open(json, NULL, '{');
        json_value(json, "rank", value_count(call->rank));
        json_value(json, "function", value_text(found->defs->states[call->state].name));
        json_value(json, "site", value_text(placed ? site_text(site, &found->defs->sites[call->site - 1]) : NULL));
        json_value(json, "partner", known(call->partner));
        json_value(json, "tag", known(call->tag));
        json_value(json, "communicator", on_comm ? value_integer(found->defs->comms[call->comm].id) : value_null());
        json_value(json, "bytes", call->bytes == BYTES_UNKNOWN ? value_null() : value_integer(call->bytes));
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

void left_over_write_json(struct json *json, const struct left_over *left)
{
    if (!left || !left->text) {
        json_value(json, "left_over", value_null());
        return;
    }
    json_open(json, "left_over", '{');
    json_value(json, "text", value_text(left->text));
    json_value(json, "messages", value_count(left->messages));
    json_value(json, "collectives", value_count(left->collectives));
    json_close(json, '}');
}

/* Our own recorder always says what a call waits for. */
static bool lacks_partner(const struct stuck *stuck, const struct stuck_call *call)
{
    if (stuck->kind != STUCK_UNEXPLAINED || call->state >= stuck->defs->state_count)
        return false;
    enum function_class class = stuck->defs->states[call->state].class;
    return class == CLASS_P2P || class == CLASS_PROBE || class == CLASS_WAIT;
}

char *stuck_call_text(char text[STUCK_LINE_SIZE], const struct stuck *stuck, const struct stuck_call *call)
{
    enum { size = STUCK_LINE_SIZE };
    char site[SITE_TEXT_SIZE], since_text[TEXT_NUMBER_SIZE];
    /* A process outside of all calls is described by the last one that it left. */
    bool in_call = call->state < stuck->defs->state_count, after = call->last < stuck->defs->state_count;
    const char *where = in_call ? "" : "after ", *name = "nothing recorded";
    if (in_call && call->loops)
        where = "loops over ";
    if (in_call || after)
        name = stuck->defs->states[in_call ? call->state : call->last].name;
    else
        where = "";
    snprintf(text, size, "process %s: %s%s", text_number(call->rank).text, where, name);
    if (call->site > 0 && call->site <= stuck->defs->site_count)
        text_append(text, size, " %s", site_text(site, &stuck->defs->sites[call->site - 1]));
    if (call->partner >= 0)
        text_append(text, size, ", with process %s", text_number((uint64_t)call->partner).text);
    else if (call->partner == PENDING_ANYBODY)
        text_append(text, size, ", with any process");
    else if (lacks_partner(stuck, call))
        text_append(text, size, ", with whom is not recorded");
    if (call->tag >= 0)
        text_append(text, size, ", tag %" PRId32, call->tag);
    text_append(text, size, ", for %s",
                text_duration(since_text, time_since(call->since_ns, call->died ? call->died_ns : stuck->end_ns)));
    if (call->died)
        text_append(text, size, ", and ended then");
    return text;
}

char *stuck_since_text(char text[STUCK_LINE_SIZE], const struct stuck *stuck)
{
    char after[TEXT_NUMBER_SIZE], quiet[TEXT_NUMBER_SIZE];
    int64_t quiet_ns = time_since(stuck->since_ns, stuck->end_ns);
    text_duration(after, time_since(stuck->begin_ns, stuck->since_ns));
    /* It is not known for how long a process has hung of which nothing else is recorded. */
    if (quiet_ns <= 0)
        snprintf(text, STUCK_LINE_SIZE, "The trace ends %s after the start.", after);
    else
        snprintf(text, STUCK_LINE_SIZE, "Since %s after the start, for %s.", after, text_duration(quiet, quiet_ns));
    return text;
}

size_t stuck_write_places(struct output *output, const struct stuck *stuck, size_t lines)
{
    char text[STUCK_LINE_SIZE];
    size_t taken = 0;
    if (stuck_is_reported(stuck)) {
        taken = paragraph_write(output, "  ", "  ", stuck->text);
        taken += paragraph_write(output, "  ", "  ", stuck_since_text(text, stuck));
    } else if (stuck->quiet) {
        taken = paragraph_write(output, "  ", "  ", stuck->text);
    }
    for (size_t i = 0; i < stuck->call_count && taken < lines; i++) {
        /* The last line that there is room for says how many there are besides. */
        if (taken + 1 == lines && i + 1 < stuck->call_count)
            snprintf(text, sizeof text, "and %s more (--format json)", text_number(stuck->call_count - i).text);
        else
            stuck_call_text(text, stuck, &stuck->calls[i]);
        taken += paragraph_write(output, "    ", "      ", text);
    }
    return taken;
}

static const char *note_of(const struct stuck *stuck)
{
    return stuck->beyond ? "The run did not finish; sight TRACE says why."
                         : "The run did not finish; sight TRACE says why. What follows is about the time before.";
}

const char *stuck_judges(const struct stuck *stuck)
{
    return stuck->beyond ? "What follows judges the whole run, the hang included"
                         : "What follows judges the time before";
}

void stuck_write_note(struct output *output, const struct stuck *stuck)
{
    if (!stuck_is_reported(stuck))
        return;
    output_text(output, "\n");
    paragraph_write(output, "  ", "  ", note_of(stuck));
}

void stuck_write_first(struct output *output, const struct stuck *stuck)
{
    if (!stuck_is_reported(stuck))
        return;
    paragraph_write(output, "", "", note_of(stuck));
    output_text(output, "\n");
}

size_t stuck_write_text(struct output *output, const struct stuck *stuck, size_t lines)
{
    /* The rest of the diagnosis is about the run as far as it went. */
    char text[100];
    size_t taken = stuck_write_places(output, stuck, lines);
    snprintf(text, sizeof text, "%s.", stuck_judges(stuck));
    return taken + paragraph_write(output, "  ", "  ", text);
}
