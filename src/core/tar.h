/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_TAR_H
#define SIGHT_CORE_TAR_H

#include "core/input.h"

/* Traces that are several files may come packed with tar (POSIX ustar and pax, GNU long names). */

bool tar_is_file(const unsigned char *data, size_t size);

/* Unpacks regular files and directories below `directory`, which is empty. Names that lead out of it, links and devices
   are skipped. *cut: the file ends early or is damaged; what came before is unpacked. */
enum status tar_unpack(struct input *input, const char *directory, bool *cut, struct error *err) MUST_CHECK;

#endif
