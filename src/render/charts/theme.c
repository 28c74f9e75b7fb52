/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/charts/theme.h"

#include <math.h>

/* Ten hues that people with any colour vision can distinguish and that differ in lightness, after Paul Tol's "muted"
   scheme (https://personal.sron.nl/~pault/, 2021); for dark pages each is as far from the background as on light ones.
 */
static const uint32_t slots[2][THEME_SLOTS] = {
    {0x332288, 0x88CCEE, 0x44AA99, 0x117733, 0x999933, 0xDDCC77, 0xCC6677, 0x882255, 0xAA4499, 0xE2864B},
    {0x7C6FE0, 0x88CCEE, 0x44AA99, 0x2E9C58, 0xA3A33C, 0xDDCC77, 0xDB7C8B, 0xB54A7C, 0xC065B2, 0xE2864B},
};

/* The scale's anchors, evenly spaced: lightness changes steadily, one hue. */
enum { ANCHORS = 4 };
static const uint32_t scale[2][ANCHORS] = {{0xE3EDF7, 0x97C0E4, 0x2F74B5, 0x0A2754},
                                           {0x1D2B3D, 0x245A8F, 0x55A3E6, 0xDDF0FF}};

static uint32_t mix(uint32_t from, uint32_t to, double share)
{
    uint32_t mixed = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        double a = (from >> shift) & 255, b = (to >> shift) & 255;
        /* Rounded for each of red, green and blue. */
        mixed |= (uint32_t)(a + (b - a) * share + 0.5) << shift;
    }
    return mixed;
}

static uint32_t function_rgb(int dark, unsigned index)
{
    static const struct {
        uint32_t towards;
        double share;
        /* As it is, lighter, darker: thirty colours from ten hues. */
    } variants[THEME_VARIANTS] = {{0, 0}, {0xFFFFFF, 0.45}, {0x000000, 0.35}};
    unsigned variant = index % THEME_VARIANTS;
    return mix(slots[dark][index / THEME_VARIANTS], variants[variant].towards, variants[variant].share);
}

static uint32_t level_rgb(int dark, unsigned level)
{
    double at = (double)level / (THEME_LEVELS - 1) * (ANCHORS - 1);
    /* The last level is the end of the last piece, not the beginning of another one. */
    int anchor = (int)at;
    if (at >= ANCHORS - 1)
        anchor = ANCHORS - 2;
    return mix(scale[dark][anchor], scale[dark][anchor + 1], at - anchor);
}

uint32_t theme_rgb(enum theme theme, unsigned ink)
{
    static const uint32_t inks[][2] = {
#define INK_VALUE(name, light, dark) {light, dark},
        THEME_INKS(INK_VALUE)
#undef INK_VALUE
    };
    int dark = theme == THEME_DARK;
    if (ink >= INK_LEVEL)
        return level_rgb(dark, ink - INK_LEVEL);
    if (ink >= INK_FUNCTION)
        return function_rgb(dark, ink - INK_FUNCTION);
    return inks[ink][dark];
}

struct paint paint_level(double share)
{
    /* Rounded to the nearest level; kept inside, as callers' shares may exceed 1 by rounding. */
    double level = share * (THEME_LEVELS - 1) + 0.5;
    int whole = (int)fmin(fmax(level, 0), THEME_LEVELS - 1);
    return (struct paint){.ink = (uint16_t)(INK_LEVEL + whole), .opacity = 1};
}

void theme_write_variables(struct output *output, enum theme theme)
{
    for (unsigned ink = 0; ink < INK_COUNT; ink++)
        output_print(output, "--c%u:#%06X;", ink, (unsigned)theme_rgb(theme, ink));
}

/* SVG inside a page names its colours by these classes, f to fill and s to stroke. */
void theme_write_classes(struct output *output)
{
    for (unsigned ink = 0; ink < INK_COUNT; ink++)
        output_print(output, ".f%u{fill:var(--c%u)}.s%u{stroke:var(--c%u)}", ink, ink, ink, ink);
    output_text(output, "\n");
}

void theme_write_css(struct output *output)
{
    output_text(output, ":root{");
    theme_write_variables(output, THEME_LIGHT);
    /* Colours are variables, so that one picture serves light, dark and printed pages. */
    output_text(output, "}\n@media (prefers-color-scheme:dark){:root{");
    theme_write_variables(output, THEME_DARK);
    output_text(output, "}}\n@media print{:root{");
    theme_write_variables(output, THEME_LIGHT);
    output_text(output, "}}\n");
    theme_write_classes(output);
}
