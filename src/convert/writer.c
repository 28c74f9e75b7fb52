/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/writer.h"

#include "core/memory.h"
#include "core/text.h"

#include <stdlib.h>
#include <string.h>

/* Asked for every event: nearly always n is 0. */
void writer_lose(struct writer *writer, const char *what, uint64_t n)
{
    if (n == 0)
        return;
    for (size_t i = 0; i < writer->loss_count; i++)
        if (strcmp(writer->losses[i].what, what) == 0) {
            writer->losses[i].count += n;
            return;
        }
    if (writer->loss_count < LOSSES_MAX)
        writer->losses[writer->loss_count++] = (struct loss){.what = what, .count = n};
}

static uint64_t question_marks(const char *text)
{
    uint64_t count = 0;
    for (; *text; text++)
        count += *text == '?';
    return count;
}

char *writer_latin1(struct writer *writer, const char *utf8)
{
    char *latin1 = text_to_latin1(utf8);
    /* Every other letter has become a question mark. */
    writer_lose(writer, "letters that are not in Latin-1", question_marks(latin1) - question_marks(utf8));
    return latin1;
}

const unsigned char *writer_event_text(struct writer *writer, const struct event *event, const unsigned char *arena,
                                       size_t *length, char **made)
{
    *made = NULL;
    *length = event->payload_length;
    if (!(event->flags & EVENT_PAYLOAD_UTF8))
        return arena + event->payload;
    char *utf8 = memory_new(*length + 1);
    memcpy(utf8, arena + event->payload, *length);
    *made = writer_latin1(writer, utf8);
    free(utf8);
    *length = strlen(*made);
    return (const unsigned char *)*made;
}

void writer_lose_properties(struct writer *writer, const char *const *kept)
{
    struct property_list list = property_list_of(writer->defs);
    for (size_t i = 0; i < list.count; i++) {
        bool has_place = false;
        for (size_t k = 0; kept[k] && !has_place; k++)
            has_place = strcmp(kept[k], list.rows[i].name) == 0;
        writer_lose(writer, "facts about the run", !has_place);
    }
    property_list_clear(&list);
}
