/* SPDX-License-Identifier: BSD-3-Clause */
/* A directory that is on several hosts: what is here, what is fetched as a whole, and what only others have. */
#include "core/directory.h"

#include "unit/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 100 };

static char directory[] = "/tmp/sight-test-directory.XXXXXX";
static int fetched;

static size_t fetch(void *context, const char *name, uint64_t at, void *data, size_t size)
{
    (void)context;
    (void)name;
    (void)at;
    memset(data, 'p', size);
    return size;
}

static enum status fetch_whole(void *context, const char *name, struct error *err)
{
    char data[SIZE];
    (void)context;
    memset(data, 'w', sizeof data);
    fetched++;
    if (directory_give(directory, name, 0, data, sizeof data))
        return STATUS_OK;
    return error_set(err, ERROR_OUTPUT, "no room");
}

static char *path_of(const char *name)
{
    static char path[100];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

/* A copy of 100 bytes that has only holes. */
static int holes(void)
{
    int copy = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    if (copy >= 0 && ftruncate(copy, SIZE) != 0)
        return -1;
    return copy;
}

static void test_names(void)
{
    size_t count = 0;
    char **names = directory_names(directory, &count);
    tap_ok(count == 3 && strcmp(names[0], "run") == 0 && strcmp(names[1], "run.def") == 0 &&
               strcmp(names[2], "run.otf2") == 0,
           "a directory below is one name");
    directory_names_free(names, count);
    names = directory_names(path_of("run"), &count);
    tap_ok(count == 2 && strcmp(names[0], "0.evt") == 0 && strcmp(names[1], "1.evt") == 0, "and has its own names");
    directory_names_free(names, count);
    tap_ok(directory_is(directory) && directory_is(path_of("run")), "both are directories");
    tap_ok(!directory_is(path_of("run.def")) && !directory_is(path_of("run/0.evt")) && !directory_is(path_of("ru")),
           "files are none, nor are names that are not there");
}

static void test_places(void)
{
    char byte = 0;
    struct stat about;
    struct error err;
    tap_ok(strcmp(directory_place(path_of("run.otf2")), path_of("run.otf2")) == 0, "what is here stays where it is");
    tap_ok(stat(directory_place(path_of("run/0.evt")), &about) == 0 && about.st_size == SIZE,
           "the size of a file is known before it is fetched");
    tap_equal_int(directory_bring(path_of("run.otf2"), &err), STATUS_OK, "what is here need not be brought");
    directory_alone(true);
    tap_equal_int(directory_bring(path_of("run/0.evt"), &err), STATUS_END, "alone, nothing is fetched");
    tap_ok(directory_missed() && !directory_missed(), "which is noted once");
    directory_alone(false);
    tap_ok(directory_bring(path_of("run/0.evt"), &err) == STATUS_OK &&
               directory_bring(path_of("run/0.evt"), &err) == STATUS_OK && fetched == 1,
           "a file is fetched once");
    tap_ok(directory_read(path_of("run/0.evt"), SIZE - 1, &byte, 1) == 1 && byte == 'w', "as a whole");
    tap_ok(directory_read(path_of("run.def"), 1, &byte, 1) == 1 && byte == 'p', "or in pieces");
    tap_ok(directory_read(path_of("run/1.evt"), 0, &byte, 1) == 0 && directory_missed(),
           "nothing is read of a file that only others have, and that is noted");
}

int main(void)
{
    if (!mkdtemp(directory))
        return 99;
    directory_scatter(directory);
    directory_fetch_by(directory, fetch, fetch_whole, NULL);
    directory_add(directory, "run.otf2", -1);
    directory_add_in_pieces(directory, "run.def", holes());
    directory_add_in_pieces(directory, "run/0.evt", holes());
    directory_add_elsewhere(directory, "run/1.evt");
    test_names();
    test_places();
    rmdir(directory);
    return tap_done();
}
