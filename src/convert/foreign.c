/* SPDX-License-Identifier: BSD-3-Clause */
/* The first bytes of files that SIGHT does not read. A format without characteristic bytes is recognised by its name.
 */
#include "convert/foreign.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct head {
    const unsigned char *at, *end;
};

static bool begins(struct head head, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(head.end - head.at) >= length && memcmp(head.at, word, length) == 0;
}

static bool has(struct head head, const char *word)
{
    return memmem(head.at, (size_t)(head.end - head.at), word, strlen(word)) != NULL;
}

static bool never(struct head head)
{
    (void)head;
    return false;
}

static struct head skip_blanks(struct head head)
{
    while (head.at < head.end && isspace(*head.at))
        head.at++;
    return head;
}

/* A bare array of events is legal, too. */
static bool is_chrome(struct head head)
{
    head = skip_blanks(head);
    return (begins(head, "{") || begins(head, "[")) &&
           (has(head, "\"traceEvents\"") || (has(head, "\"ph\"") && has(head, "\"ts\"")));
}

static bool is_sqlite(struct head head)
{
    return begins(head, "SQLite format 3");
}

static bool is_mpits(struct head head)
{
    return has(head, ".mpit named ") || has(head, ".mpit on ");
}

static bool is_sddf(struct head head)
{
    return begins(head, "SDDFA") || begins(head, "SDDFB");
}

static bool is_edf(struct head head)
{
    return isdigit(head.at < head.end ? *head.at : 0) && has(head, "dynamic_trace_events");
}

static bool is_epilog(struct head head)
{
    return begins(head, "EPILOG");
}

static bool is_hpctoolkit(struct head head)
{
    return begins(head, "HPCTOOLKIT") || has(head, "<HPCToolkitExperiment");
}

static bool is_projections(struct head head)
{
    return begins(head, "PROJECTIONS-RECORD") || begins(head, "PROJECTIONS_ID");
}

static bool is_ctf(struct head head)
{
    return begins(head, "/* CTF 1") || begins(head, "\xC1\x1F\xFC\xC1") || begins(head, "\xC1\xFC\x1F\xC1");
}

/* Lines of "rank action ...", the first of them init. */
static bool is_smpi_ti(struct head head)
{
    head = skip_blanks(head);
    const unsigned char *digits = head.at;
    while (head.at < head.end && isdigit(*head.at))
        head.at++;
    return head.at > digits && (begins(head, " init\n") || begins(head, " init "));
}

/* Lines of numbers, the first one of which is a kind of record: -2 mark, -3 entry, -4 exit. */
static bool is_picl(struct head head)
{
    unsigned lines = 0;
    while (head.at < head.end && lines < 8) {
        const unsigned char *stop = memchr(head.at, '\n', (size_t)(head.end - head.at));
        if (!stop)
            break;
        if (!begins(head, "-2 ") && !begins(head, "-3 ") && !begins(head, "-4 "))
            return false;
        for (const unsigned char *at = head.at; at < stop; at++)
            if (!isdigit(*at) && !strchr(" .-+e\t\r", *at))
                return false;
        head.at = stop + 1;
        lines++;
    }
    return lines > 1;
}

static bool is_lfs_pointer(struct head head)
{
    return begins(head, "version https://git-lfs.github.com/spec/");
}

static bool is_annex_pointer(struct head head)
{
    return begins(head, "/annex/objects/");
}

static bool is_elf(struct head head)
{
    return begins(head, "\x7F"
                        "ELF");
}

/* The head of a chunk in either byte order. */
static bool is_otf2_part(struct head head)
{
    return begins(head, "\x03"
                        "B\x01") ||
           begins(head, "\x03#\x01");
}

static bool is_paraver_labels(struct head head)
{
    return begins(head, "DEFAULT_OPTIONS") || begins(head, "LEVEL CPU SIZE ");
}

static bool is_tau_profile(struct head head)
{
    return isdigit(head.at < head.end ? *head.at : 0) && has(head, " templated_functions");
}

static bool is_profile(struct head head)
{
    return begins(head, "gmon") || begins(head, "PERFILE2") || begins(head, "# callgrind format");
}

static bool is_html(struct head head)
{
    static const char *const words[] = {"<!doctype html", "<html"};
    head = skip_blanks(head);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((size_t)(head.end - head.at) >= strlen(words[i]) &&
            strncasecmp((const char *)head.at, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

static bool is_packed(struct head head)
{
    return begins(head, "\xFD"
                        "7zXZ") ||
           begins(head, "BZh") || begins(head, "PK\x03\x04") || begins(head, "7z\xBC\xAF");
}

static const struct {
    bool (*looks)(struct head head);
    struct foreign foreign;
} formats[] = {
#define FOREIGN(looks, title, names, advice) {looks, {title, advice, names}},
#include "convert/foreign.def"
};

size_t foreign_count(void)
{
    return sizeof formats / sizeof *formats;
}

const struct foreign *foreign_at(size_t index)
{
    return &formats[index].foreign;
}

static bool fits(const char *name, const char *patterns)
{
    char pattern[64];
    for (size_t length; *patterns; patterns += length) {
        patterns += strspn(patterns, " ");
        length = strcspn(patterns, " ");
        snprintf(pattern, sizeof pattern, "%.*s", (int)length, patterns);
        if (fnmatch(pattern, name, 0) == 0)
            return true;
    }
    return false;
}

/* Names only after the contents: they are what users can change. */
const struct foreign *foreign_find(const unsigned char *data, size_t size, const char *name)
{
    const char *slash = strrchr(name, '/');
    for (size_t i = 0; i < foreign_count(); i++)
        if (formats[i].looks((struct head){data, data + size}))
            return &formats[i].foreign;
    for (size_t i = 0; i < foreign_count(); i++)
        if (fits(slash ? slash + 1 : name, formats[i].foreign.names))
            return &formats[i].foreign;
    return NULL;
}
