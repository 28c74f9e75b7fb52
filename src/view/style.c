/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/page.h"
#include "view/assets.h"
#include "view/view.h"

static void write_theme(struct output *output, const char *open, enum theme theme, const char *close)
{
    output_text(output, open);
    theme_write_variables(output, theme);
    page_write_colours(output, theme);
    output_text(output, close);
}

void view_write_style(struct output *output)
{
    theme_write_classes(output);
    write_theme(output, ":root{", THEME_LIGHT, "}\n");
    write_theme(output, "@media (prefers-color-scheme:dark){:root:not([data-theme]){", THEME_DARK, "}}\n");
    write_theme(output, ":root[data-theme=dark]{", THEME_DARK, "}\n");
    output_text(output, asset_timeline_css);
    output_text(output, asset_page_css);
}
