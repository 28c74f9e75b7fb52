/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/own_library.h"

#include "core/memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *own_program(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
    return path;
}

bool own_library_find(const char *name, char *path, size_t size)
{
    char self[PATH_MAX];
    own_program(self, sizeof self);
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    /* Where sight was built, where it was installed, and where an installation was moved to as a whole. */
    const struct {
        const char *from, *below;
    } directories[] = {{self, ""}, {SIGHT_RECORDERS, ""}, {self, "/../lib/sight"}};
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
        int used = snprintf(path, size, "%s%s/%s", directories[i].from, directories[i].below, name);
        if (used > 0 && (size_t)used < size && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

char *own_library_preload(const char *libraries)
{
    const char *before = getenv("LD_PRELOAD");
    char *list;
    if (!before)
        return memory_copy_string(libraries);
    if (asprintf(&list, "%s:%s", libraries, before) < 0)
        memory_failed();
    return list;
}

char *own_library_sanitizer_options(void)
{
    const char *before = getenv("ASAN_OPTIONS");
    char *options;
    /* The user's own settings come later and win. */
    if (asprintf(&options, "verify_asan_link_order=0%s%s", before ? ":" : "", before ? before : "") < 0)
        memory_failed();
    return options;
}
