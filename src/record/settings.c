/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/settings.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 1 << 20, SAMPLES = 100, SAMPLES_MAX = 10000 };

static const char *const names[] = {
#define MPI_FUNCTION(name, ...) #name,
#include "core/mpi_function.def"
};

/* They only look at a clock or add two numbers: two records each would measure the recorder rather than the program.
 */
static const char never[] = "MPI_Wtime,MPI_Wtick,MPI_Aint_add,MPI_Aint_diff";

/* The environment as the program began: some clear it before they initialise MPI. */
static struct setting {
    const char *name;
    char *value;
} at_start[] = {{"SIGHT_RECORD_DIR", NULL},      {"SIGHT_RECORD_BUFFER", NULL},     {"SIGHT_RECORD_ONLY", NULL},
                {"SIGHT_RECORD_SKIP", NULL},     {"SIGHT_RECORD_MAX_EVENTS", NULL}, {"SIGHT_RECORD_CLOCK", NULL},
                {"SIGHT_RECORD_SOURCE", NULL},   {"SIGHT_RECORD_SAMPLES", NULL},    {"SIGHT_RECORD_RESOURCES", NULL},
                {"SIGHT_RECORD_METADATA", NULL}, {"SIGHT_RECORD_KEEP", NULL},       {"SIGHT_RECORD_COUNTERS", NULL}};
enum { SETTINGS = sizeof at_start / sizeof *at_start };

__attribute__((constructor)) static void settings_keep(void)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        const char *value = getenv(at_start[i].name);
        at_start[i].value = value ? strdup(value) : NULL;
    }
}

const char *settings_text(const char *name)
{
    const char *value = getenv(name);
    for (size_t i = 0; i < SETTINGS && !value; i++)
        if (strcmp(at_start[i].name, name) == 0)
            value = at_start[i].value;
    return value;
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = settings_text(name);
    if (!text || *text < '0' || *text > '9')
        return otherwise;
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (*end == 'k' || *end == 'K')
        value <<= 10;
    else if (*end == 'M')
        value <<= 20;
    else if (*end == 'G')
        value <<= 30;
    return value;
}

bool settings_read(struct location_settings *settings)
{
    settings->directory = settings_text("SIGHT_RECORD_DIR");
    if (!settings->directory || !*settings->directory)
        return false;
    uint64_t wanted = number_of("SIGHT_RECORD_BUFFER", BLOCK_SIZE);
    uint32_t size = RECORD_BLOCK_MIN;
    while (size < wanted && size < RECORD_BLOCK_MAX)
        size *= 2;
    settings->block_size = size;
    settings->max_events = number_of("SIGHT_RECORD_MAX_EVENTS", 0);
    if (settings->max_events == 0)
        settings->max_events = UINT64_MAX;
    settings->keep_bytes = number_of("SIGHT_RECORD_KEEP", 0);
    return true;
}

enum clock_choice settings_clock(void)
{
    return clock_choice_of(settings_text("SIGHT_RECORD_CLOCK"));
}

bool settings_want_sites(void)
{
    return number_of("SIGHT_RECORD_SOURCE", 1) != 0;
}

bool settings_want_resources(void)
{
    return number_of("SIGHT_RECORD_RESOURCES", 1) != 0;
}

bool settings_want_metadata(void)
{
    return number_of("SIGHT_RECORD_METADATA", 1) != 0;
}

uint32_t settings_samples(void)
{
    uint64_t samples = number_of("SIGHT_RECORD_SAMPLES", SAMPLES);
    return samples < SAMPLES_MAX ? (uint32_t)samples : SAMPLES_MAX;
}

/* True if a name of the list, which may leave out "MPI_", matches the function. */
static bool listed(const char *list, const char *function)
{
    char pattern[128];
    for (const char *at = list; at && *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        const char *prefix = strncmp(at, "MPI_", 4) == 0 ? "" : "MPI_";
        snprintf(pattern, sizeof pattern, "%s%.*s", prefix, (int)length, at);
        if (length > 0 && fnmatch(pattern, function, 0) == 0)
            return true;
        at += length;
    }
    return false;
}

void settings_skip(uint8_t *skip)
{
    const char *only = settings_text("SIGHT_RECORD_ONLY"), *without = settings_text("SIGHT_RECORD_SKIP");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool wanted = only && *only ? listed(only, names[i]) : !listed(never, names[i]);
        skip[i] = !wanted || listed(without, names[i]);
    }
}
