/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/charts/palette.h"

#include <pango/pango.h>
#include <stdio.h>
#include <string.h>

/* Slots of theme.c: functions that often stand side by side are far apart in hue and lightness. */
static const struct {
    const char *name;
    uint8_t slot, variant;
} fixed[] = {
    {"MPI_Recv", 0, 0},      {"MPI_Send", 1, 0},           {"MPI_Isend", 2, 0},
    {"MPI_Allreduce", 3, 0}, {"MPI_Reduce", 4, 0},         {"MPI_Bcast", 5, 0},
    {"MPI_Barrier", 6, 0},   {"MPI_Waitall", 7, 0},        {"MPI_Probe", 8, 0},
    {"MPI_Alltoall", 9, 0},  {"MPI_Irecv", 0, 1},          {"MPI_Ssend", 2, 2},
    {"MPI_Wait", 7, 1},      {"MPI_Waitany", 7, 2},        {"MPI_Iprobe", 8, 1},
    {"MPI_Test", 6, 1},      {"MPI_Gather", 4, 1},         {"MPI_Scatter", 5, 2},
    {"MPI_Allgather", 3, 1}, {"MPI_Sendrecv", 9, 2},       {"MPI_Alltoallv", 9, 1},
    {"MPI_Bsend", 1, 1},     {"MPI_Reduce_scatter", 4, 2}, {"MPI_Waitsome", 6, 2},
    {"MPI_Init", 5, 1},      {"MPI_Finalize", 3, 2},       {"MPI_Put", 1, 2},
    {"MPI_Get", 8, 2},       {"MPI_Init_thread", 5, 1},    {"MPI_Comm_size", 0, 2},
    {"MPI_Comm_rank", 2, 1},
};

static unsigned by_hash(const char *name)
{
    /* FNV-1a: the same name has the same colour in all traces, whatever order its states are defined in. */
    uint32_t hash = 2166136261u;
    for (const char *at = name; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    /* The remainder depends most on the low bits: folding the high ones in spreads similar names. */
    hash ^= hash >> 15;
    /* The first variant of each slot belongs to the functions above, which stand in most charts. */
    return hash % THEME_SLOTS * THEME_VARIANTS + 1 + hash / THEME_SLOTS % (THEME_VARIANTS - 1);
}

static unsigned function_ink(const char *name)
{
    /* Some thirty names: searching them in order is fast enough. */
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (strcmp(fixed[i].name, name) == 0)
            return (unsigned)(INK_FUNCTION + fixed[i].slot * THEME_VARIANTS + fixed[i].variant);
    return INK_FUNCTION + by_hash(name);
}

/* "ForestGreen", "#22AA33", or "34 170 51", as traces have them. */
static bool own_rgb(const char *colour, uint32_t *rgb)
{
    PangoColor parsed;
    unsigned red, green, blue;
    if (!colour)
        return false;
    /* CLOG-1 and ALOG may have numbers instead of names. */
    if (sscanf(colour, "%u %u %u", &red, &green, &blue) == 3 && red < 256 && green < 256 && blue < 256) {
        *rgb = red << 16 | green << 8 | blue;
        return true;
    }
    char name[64];
    /* MPE writes "red:vlines3": the part after the colon is a pattern for print. */
    snprintf(name, sizeof name, "%.*s", (int)strcspn(colour, ":"), colour);
    if (!pango_color_parse(&parsed, name))
        return false;
    /* Pango's colours have 16 bits, pictures 8. */
    *rgb = (uint32_t)(parsed.red >> 8) << 16 | (uint32_t)(parsed.green >> 8) << 8 | (uint32_t)(parsed.blue >> 8);
    return true;
}

struct paint palette_paint(const struct state_def *state, bool own)
{
    struct paint paint = {.opacity = 1};
    if (own && own_rgb(state->colour, &paint.rgb)) {
        paint.ink = INK_RGB;
        return paint;
    }
    paint.ink = (uint16_t)function_ink(state->name);
    return paint;
}
