/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "record/metadata.h"

#include "core/property.h"
#include "core/shell_text.h"
#include "record/clock.h"
#include "record/recorder.h"
#include "record/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef RECORD_STATIC
/* A program with its own MPI may have one without it: MPI 2, or a part of the library. */
#pragma weak PMPI_Get_library_version
#endif

enum { VALUE_SIZE = RECORD_PATH_SIZE - 100 };
static const char cut[] = " ...";

static void put(struct location *location, const char *name, const char *value)
{
    struct record_property record = {.base = {.ticks = clock_now()}};
    if (!*value)
        return;
    int length = snprintf(record.text, sizeof record.text, "%s=%s", name, value);
    if (length > 0 && (size_t)length < sizeof record.text)
        location_define(location, &record, (offsetof(struct record_property, text) + (size_t)length + 8) / 8 * 8,
                        RECORD_DEFINE_PROPERTY, RECORD_WORLD);
}

/* The arguments of this process; `value` is empty where they are not known. */
static void command_line(char value[VALUE_SIZE])
{
    char arguments[VALUE_SIZE];
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, arguments, sizeof arguments - 1) : -1;
    if (file >= 0)
        close(file);
    if (got <= 0)
        return;
    bool whole = (size_t)got < sizeof arguments - 1;
    arguments[got] = '\0';
    for (const char *at = arguments; at < arguments + got && whole; at += strlen(at) + 1)
        whole = shell_text_add(value, VALUE_SIZE - sizeof cut, at);
    if (!whole)
        strcat(value, cut);
}

/* When recording began, in ms since 1970: a program's time zone is not asked for, since that would set it. */
static void date(char value[VALUE_SIZE])
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t since_ns = clock_kernel() - recorder_clock.begin.ns;
    int64_t begin_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - since_ns;
    snprintf(value, VALUE_SIZE, "%" PRId64, begin_ns / 1000000);
}

/* The first line of what the library says of itself; MPICH's goes on with how it was configured. */
static void library(char value[VALUE_SIZE])
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING]; /* too large for the stack of a small thread */
    int length = 0;
#ifdef RECORD_STATIC
    if (!PMPI_Get_library_version)
        return;
#endif
    if (PMPI_Get_library_version(version, &length) != MPI_SUCCESS)
        return;
    version[strcspn(version, "\r\n")] = '\0';
    size_t used = 0;
    for (const char *at = version; *at && used + 1 < VALUE_SIZE; at++) {
        char byte = *at == '\t' ? ' ' : *at;
        if (byte != ' ' || (used > 0 && value[used - 1] != ' '))
            value[used++] = byte;
    }
    value[used] = '\0';
}

/* The settings that differ from the usual ones, by the names of the options. */
static void options(char value[VALUE_SIZE])
{
    static const struct {
        const char *variable, *option;
    } settings[] = {{"SIGHT_RECORD_SAMPLES", "samples"},   {"SIGHT_RECORD_CLOCK", "clock"},
                    {"SIGHT_RECORD_BUFFER", "buffer"},     {"SIGHT_RECORD_MAX_EVENTS", "max-events"},
                    {"SIGHT_RECORD_SOURCE", "source"},     {"SIGHT_RECORD_RESOURCES", "resources"},
                    {"SIGHT_RECORD_COUNTERS", "counters"}, {"SIGHT_RECORD_ONLY", "only"},
                    {"SIGHT_RECORD_SKIP", "skip"}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        char text[VALUE_SIZE / 4];
        const char *set = settings_text(settings[i].variable);
        if (!set || !*set)
            continue;
        snprintf(text, sizeof text, "%s=%s", settings[i].option, set);
        (void)shell_text_add(value, VALUE_SIZE, text);
    }
}

void metadata_put(struct location *location)
{
    static const struct {
        const char *name;
        void (*of)(char value[VALUE_SIZE]);
    } facts[] = {{PROPERTY_DATE, date}, {PROPERTY_MPI, library}, {PROPERTY_OPTIONS, options}};
    int before = errno;
    char value[VALUE_SIZE] = "";
    if (!settings_want_metadata())
        return;
    command_line(value);
    put(location, PROPERTY_PROGRAM, value);
    if (recorder.rank == 0) {
        for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
            memset(value, 0, sizeof value);
            facts[i].of(value);
            put(location, facts[i].name, value);
        }
        if (getcwd(value, sizeof value))
            put(location, PROPERTY_DIRECTORY, value);
        put(location, PROPERTY_RECORDER, "SIGHT " PACKAGE_VERSION);
        put(location, PROPERTY_CLOCK, recorder_clock.tsc ? "time stamp counter" : "CLOCK_MONOTONIC");
    }
    errno = before;
}

void metadata_put_pause(struct location *location)
{
    if (settings_want_metadata())
        put(location, PROPERTY_PAUSED, "by the program, for a time");
}

int metadata_any_noted;

void metadata_put_any(struct location *location, int any)
{
    int before = __atomic_fetch_or(&metadata_any_noted, any, __ATOMIC_RELAXED);
    if (!settings_want_metadata())
        return;
    if (any & ~before & METADATA_ANY_SOURCE)
        put(location, PROPERTY_WILDCARDS, "MPI_ANY_SOURCE");
    if (any & ~before & METADATA_ANY_TAG)
        put(location, PROPERTY_WILDCARDS, "MPI_ANY_TAG");
}
