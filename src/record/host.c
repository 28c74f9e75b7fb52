/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/host.h"

#include "record/clock.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void host_name(char *name, size_t size)
{
    if (gethostname(name, size) != 0)
        snprintf(name, size, "host");
    name[size - 1] = '\0';
    /* The name becomes part of file names. */
    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '.' && *at != '-')
            *at = '_';
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
    return hash;
}

uint64_t host_of_clock(int rank)
{
    const char *wrong = getenv("SIGHT_RECORD_TEST_CLOCK");
    char text[64] = "";
    uint64_t host = UINT64_C(0xCBF29CE484222325);
    host_name(text, sizeof text);
    host = hash_text(host, text);
    /* Two computers may have the same name; each boot has its own id. */
    FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (boot && fgets(text, sizeof text, boot))
        host = hash_text(host, text);
    if (boot)
        fclose(boot);
    /* For tests: a clock that is wrong by `offset` ns and `drift` for each rank, as if every process had a computer
       of its own. */
    if (wrong && rank > 0) {
        char *drift;
        int64_t offset_ns = rank * strtoll(wrong, &drift, 10);
        clock_set_error(offset_ns, rank * strtod(drift, NULL));
        host += (uint64_t)rank;
    }
    return host;
}
