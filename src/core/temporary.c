/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "core/input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

static bool is_memory(const char *directory)
{
    struct statfs about;
    return statfs(directory, &about) == 0 && (about.f_type == TMPFS_MAGIC || about.f_type == RAMFS_MAGIC);
}

const char *temporary_directory(void)
{
    static const char usual[] = "/tmp", large[] = "/var/tmp";
    const char *directory = getenv("TMPDIR");
    if (directory && *directory)
        return directory;
    bool moves = is_memory(usual) && !is_memory(large) && access(large, W_OK | X_OK) == 0;
    return moves ? large : usual;
}

bool temporary_is_memory(void)
{
    return is_memory(temporary_directory());
}

int temporary_file(struct error *err)
{
    const char *directory = temporary_directory();
#ifdef O_TMPFILE
    int nameless = open(directory, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (nameless >= 0)
        return nameless;
#endif
    /* Not all file systems support files without a name. */
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/sight.XXXXXX", directory);
    int fd = -1;
    if (length < 0 || (size_t)length >= sizeof path)
        errno = ENAMETOOLONG;
    else
        fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) {
        error_set_errno(err, ERROR_OUTPUT, "cannot create a temporary file in %s", directory);
        return -1;
    }
    unlink(path);
    return fd;
}
