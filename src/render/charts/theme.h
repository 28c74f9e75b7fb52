/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_CHARTS_THEME_H
#define SIGHT_RENDER_CHARTS_THEME_H

#include "core/output.h"

#include <stdbool.h>
#include <stdint.h>

/* Colours by purpose. A theme gives each its value; charts never name a colour. */
enum theme {
    THEME_LIGHT,
    THEME_DARK,
    THEME_PAGE /* SVG inside a page: the page's style sheet (theme_write_css) decides, for light and dark */
};

/* X(name, light, dark) */
#define THEME_INKS(X)                                                                                                  \
    X(TEXT, 0x1B1F27, 0xE9ECF2)                                                                                        \
    X(BACK, 0xFFFFFF, 0x15181E)                                                                                        \
    X(MUTED, 0x5C6470, 0xA3ACB9)                                                                                       \
    X(AXIS, 0x9AA2AE, 0x6B7583)                                                                                        \
    X(GRID, 0xE6E9EE, 0x2A303A)                                                                                        \
    X(PLAIN, 0xB4BCC8, 0x59636F)   /* bars that are not the point */                                                   \
    X(ACCENT, 0xC8451B, 0xFF8A5C)  /* the one thing that matters */                                                    \
    X(COMPUTE, 0x9FC3AE, 0x4E7F66) /* computing, always the same calm tone */                                          \
    X(MPI, 0x3C6E9F, 0x6CA6DC)     /* all MPI functions together */                                                    \
    X(OTHER, 0xC9CDD3, 0x4A525D)   /* functions that have no colour of their own */

enum {
    THEME_SLOTS = 10,   /* colours of functions */
    THEME_VARIANTS = 3, /* each as it is, lighter, darker */
    THEME_LEVELS = 16   /* of the scale from little to much */
};

enum ink {
#define INK_MEMBER(name, light, dark) INK_##name,
    THEME_INKS(INK_MEMBER)
#undef INK_MEMBER
        INK_FUNCTION,                                        /* + slot * THEME_VARIANTS + variant */
    INK_LEVEL = INK_FUNCTION + THEME_SLOTS * THEME_VARIANTS, /* + level */
    INK_RGB = INK_LEVEL + THEME_LEVELS,                      /* the colour in `rgb` itself */
    INK_COUNT = INK_RGB
};

struct paint {
    uint16_t ink;
    bool hatched; /* a light tone of the colour under lines of it: waiting */
    uint32_t rgb; /* of INK_RGB: 0xRRGGBB */
    double opacity;
};

static inline struct paint paint_of(enum ink ink)
{
    return (struct paint){.ink = (uint16_t)ink, .opacity = 1};
}

static inline struct paint paint_faded(enum ink ink, double opacity)
{
    return (struct paint){.ink = (uint16_t)ink, .opacity = opacity};
}

/* The paint of a share of the most there is, in [0,1]: of the scale from little to much. */
struct paint paint_level(double share);

/* 0xRRGGBB of an ink in a theme (THEME_PAGE: as light). */
uint32_t theme_rgb(enum theme theme, unsigned ink);

/* The variables --cN of a style sheet, one for each ink. */
void theme_write_variables(struct output *output, enum theme theme);

/* The classes fN and sN, for any values of these variables. */
void theme_write_classes(struct output *output);

/* The style sheet of SVG drawn with THEME_PAGE: classes fN (fill) and sN (stroke), for light and dark pages. */
void theme_write_css(struct output *output);

#endif
