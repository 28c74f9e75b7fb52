/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/browser.h"

#include "core/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool has_screen(void)
{
    const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    /* Without a screen xdg-open would start a text browser in this terminal. */
    return (x11 && *x11) || (wayland && *wayland);
}

/* A page that redirects to the address, readable only by its owner: the address has a secret in it, and the arguments
   of a browser can be read by every user of the machine. */
static char *write_door(const char *url)
{
    const char *directory = getenv("XDG_RUNTIME_DIR");
    if (!directory || !*directory)
        directory = getenv("TMPDIR");
    if (!directory || !*directory)
        directory = "/tmp";
    static const char name[] = "/sight-view-XXXXXX.html";
    size_t size = strlen(directory) + sizeof name;
    char *path = memory_new(size);
    snprintf(path, size, "%s%s", directory, name);
    /* mkstemps() makes it readable by its owner alone. */
    int fd = mkstemps(path, (int)strlen(".html"));
    if (fd >= 0 && dprintf(fd, "<!DOCTYPE html><meta http-equiv=\"refresh\" content=\"0;url=%s\">\n", url) > 0 &&
        close(fd) == 0)
        return path;
    free(path);
    return NULL;
}

/* The browser is a grandchild: we do not wait for it, and discard its output. */
static bool start(const char *path)
{
    pid_t child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_RDWR);
        /* The child ends at once, so that the grandchild is init's: no zombie is left for the server to wait for. */
        if (fork() != 0 || nothing < 0 || setsid() < 0)
            _exit(0);
        for (int fd = 0; fd <= 2; fd++)
            dup2(nothing, fd);
        /* The desktop knows which browser the user has chosen. */
        execlp("xdg-open", "xdg-open", path, (char *)NULL);
        _exit(127);
    }
    return child > 0 && waitpid(child, NULL, 0) == child;
}

char *browser_open(const char *url)
{
    if (!has_screen())
        return NULL;
    char *path = write_door(url);
    if (!path || start(path))
        return path;
    browser_forget(path);
    return NULL;
}

void browser_forget(char *path)
{
    if (path)
        unlink(path);
    free(path);
}
