/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_OTF2_OTF2_ARCHIVE_H
#define SIGHT_CONVERT_OTF2_OTF2_ARCHIVE_H

#include "convert/otf2/otf2_links.h"
#include "core/input.h"

#include <otf2/otf2.h>

/* The files of an OTF2 archive, and the library that reads them. Facts: otf2(5). */

struct otf2_archive {
    OTF2_Reader *library;
    char *anchor;     /* path of the anchor file for the library; owned */
    char *stem;       /* path of the other files without their endings, which directory_place() leads to; owned */
    const char *name; /* of the input; borrowed */
    int unfinished;   /* of the directory: see core/unfinished.h */
    char *directory;  /* directory of the unpacked archive, removed on closing; NULL: it was not packed */
    struct otf2_links links; /* where its files are on several hosts */
    bool guarded;            /* handlers of crashes count this archive */
    bool unpack_cut;         /* the packed archive ends early, or is damaged */
};

/* True for the first bytes of an anchor file, or of a tar file (an archive that is packed). */
bool otf2_is_anchor(const unsigned char *data, size_t size);
bool otf2_is_packed(const unsigned char *data, size_t size);

/* The anchor file in a directory, if it is the only one there; free() it. NULL: there is none. */
char *otf2_find_anchor(const char *directory);

/* (libotf2 itself exports names that begin with otf2_archive_.) Opens the archive of the anchor file, or that is
   packed, which `input` stands at the begin of. */
enum status otf2_files_open(struct otf2_archive *archive, struct input *input, struct error *err) MUST_CHECK;
void otf2_files_close(struct otf2_archive *archive);

/* The archive's name for a file of a location, or of all of them (OTF2_UNDEFINED_LOCATION), by its suffix; free() it.
 */
char *otf2_file_path(const struct otf2_archive *archive, uint64_t location, const char *suffix);

/* Before such a file is read: it is brought here from another host. STATUS_END: it cannot be had. */
enum status otf2_file_bring(const struct otf2_archive *archive, uint64_t location, const char *suffix,
                            struct error *err) MUST_CHECK;

/* Before the library opens such a file, and after it. */
void otf2_file_show(struct otf2_archive *archive, uint64_t location, const char *suffix);
void otf2_file_hide(struct otf2_archive *archive);

/* The library's last error message; "" if there was none since the last call. The archive's files have their own names
   in it; NULL: it is only dropped. */
const char *otf2_complaint(const struct otf2_archive *archive);

/* Call before the library reads data that may be damaged: if it crashes, a line names the archive and the file in it,
   and the program ends with the exit code of an unreadable input. Call with NULL afterwards. */
void otf2_guard(const struct otf2_archive *archive);

/* Which of its files the library reads from now on, by its suffix: one of a location, or of the archive as a whole
   (OTF2_UNDEFINED_LOCATION). */
void otf2_guard_file(uint64_t location, const char *suffix);

#endif
