/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_VIEW_ASSETS_H
#define SIGHT_VIEW_ASSETS_H

#include <stddef.h>

/* The files of src/view/page as embedded in the program (Makefile.am makes assets.c of them, without comments and
   indentation): UTF-8 texts, ended by a 0. */
extern const char asset_page_html[], asset_page_css[], asset_timeline_css[], asset_timeline_js[];

#endif
