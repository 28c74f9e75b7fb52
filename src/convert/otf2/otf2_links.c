/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/otf2/otf2_links.h"

#include "core/directory.h"
#include "core/input.h"
#include "core/memory.h"
#include "core/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the temporary directory is: it takes no room, and one in memory is made a hundred times as fast. */
static const char *links_place(void)
{
    static const char memory[] = "/dev/shm";
    return access(memory, W_OK | X_OK) == 0 ? memory : temporary_directory();
}

/* The part of the path that is below the directory. */
static const char *name_of(const struct otf2_links *links, const char *path)
{
    return path + strlen(links->directory) + 1;
}

char *otf2_links_path(const struct otf2_links *links, const char *path)
{
    if (!links->directory)
        return memory_copy_string(path);
    return directory_join(links->name, name_of(links, path));
}

enum status otf2_links_begin(struct otf2_links *links, const char *path, struct error *err)
{
    const char *slash = strrchr(path, '/');
    char *directory = memory_copy_string(path);
    directory[slash ? slash - path : 0] = '\0';
    if (!directory_is_scattered(directory)) {
        free(directory);
        return STATUS_OK;
    }
    links->directory = directory;
    /* A number that each temporary directory will have. */
    links->fd = open(links_place(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (links->fd < 0)
        return error_set_errno(err, ERROR_OUTPUT, "%s: cannot open", links_place());
    if (asprintf(&links->name, "/proc/self/fd/%d", links->fd) < 0)
        memory_failed();
    return STATUS_OK;
}

static bool make_temporary(struct otf2_links *links)
{
    links->temporary = directory_join(links_place(), "sight-otf2.XXXXXX");
    if (!unfinished_make_directory(links->temporary, &links->unfinished)) {
        free(links->temporary);
        links->temporary = NULL;
        return false;
    }
    int fd = open(links->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && dup3(fd, links->fd, O_CLOEXEC) >= 0;
    if (fd >= 0)
        close(fd);
    return good;
}

/* The directory that the file is in below the temporary one; NULL: it is in that itself. free() it. */
static char *below_of(const char *shown)
{
    const char *slash = strchr(shown, '/');
    return slash ? strndup(shown, (size_t)(slash - shown)) : NULL;
}

static bool make_link(struct otf2_links *links, const char *target)
{
    char *below = below_of(links->shown);
    bool made = make_temporary(links) && (!below || mkdirat(links->fd, below, 0700) == 0) &&
                symlinkat(target, links->fd, links->shown) == 0;
    int reason = errno;
    free(below);
    errno = reason;
    return made;
}

void otf2_links_show(struct otf2_links *links, const char *path)
{
    if (!links->directory)
        return;
    const char *place = directory_place(path);
    /* The place of a copy is itself a link of the system's, which must stay one. */
    char *target = strcmp(place, path) != 0 ? memory_copy_string(place) : realpath(path, NULL);
    links->shown = memory_copy_string(name_of(links, path));
    /* What no host has the library will not find. */
    if (target && !make_link(links, target))
        (void)error_set_errno(&links->fault, ERROR_OUTPUT, "cannot write a temporary file in %s", links_place());
    free(target);
}

void otf2_links_hide(struct otf2_links *links)
{
    if (!links->directory)
        return;
    if (links->temporary) {
        char *below = below_of(links->shown);
        unlinkat(links->fd, links->shown, 0);
        if (below)
            unlinkat(links->fd, below, AT_REMOVEDIR);
        free(below);
        rmdir(links->temporary);
        unfinished_drop(links->unfinished);
    }
    free(links->temporary);
    free(links->shown);
    links->temporary = links->shown = NULL;
}

void otf2_links_end(struct otf2_links *links)
{
    if (links->directory && links->fd >= 0)
        close(links->fd);
    free(links->directory);
    free(links->name);
}
