/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_OTF2_OTF2_LINKS_H
#define SIGHT_CONVERT_OTF2_OTF2_LINKS_H

#include "core/error.h"

/* Files of a directory that is on several hosts (core/directory.h), for a library that opens files by their names below
   one directory: this host's files are somewhere else than the copies of others, which have no names. So it gets links,
   in a temporary directory that is there while a file is opened, and no longer: if the program is killed, hardly ever
   anything stays. */

struct otf2_links {
    int fd;             /* of the directory, also when that is gone */
    char *directory;    /* the directory of the files; NULL: all are where their names say, and there are no links */
    char *name;         /* by which the library knows it: the same for all temporary directories */
    char *temporary;    /* path; NULL: it is not there */
    char *shown;        /* name of the file in it */
    int unfinished;     /* of it: see core/unfinished.h */
    struct error fault; /* of a link that could not be made; ERROR_NONE: of none */
};

/* For the directory that `path` is in, if its files are on several hosts. */
enum status otf2_links_begin(struct otf2_links *links, const char *path, struct error *err) MUST_CHECK;
void otf2_links_end(struct otf2_links *links);

/* The library's path of one of the files; free() it. */
char *otf2_links_path(const struct otf2_links *links, const char *path);

/* Before the library opens a file, and after it. What it cannot open it complains of: `fault` says whether that was for
   want of a link. */
void otf2_links_show(struct otf2_links *links, const char *path);
void otf2_links_hide(struct otf2_links *links);

#endif
