/* SPDX-License-Identifier: BSD-3-Clause */
/* A directory that is on several hosts: what is here, and what is fetched as a whole or in pieces. */
#include "core/directory.h"

#include "unit/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { SIZE = 100 };

static char directory[] = "/tmp/sight-test-directory.XXXXXX";
static int fetched, copies;

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
static int copy(void *context, const char *name, struct error *err)
{
    (void)context;
    (void)name;
    int file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    copies++;
    if (file >= 0 && ftruncate(file, SIZE) == 0)
        return file;
    (void)error_set(err, ERROR_OUTPUT, "no room");
    return -1;
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
    uint64_t size = 0;
    struct error err;
    tap_ok(strcmp(directory_place(path_of("run.otf2")), path_of("run.otf2")) == 0, "what is here stays where it is");
    tap_equal_int(directory_bring(path_of("run.otf2"), &err), STATUS_OK, "and need not be brought");
    tap_ok(directory_size(path_of("run/0.evt"), &size) && size == SIZE && copies == 0,
           "the size of a file is known before it has a copy");
    tap_ok(!directory_size(path_of("run/2.evt"), &size), "what nobody has has no size");
    directory_alone(true);
    tap_equal_int(directory_bring(path_of("run/0.evt"), &err), STATUS_END, "alone, nothing is fetched");
    tap_ok(directory_read(path_of("run/0.evt"), 0, &byte, 1) == 0, "or read");
    tap_ok(directory_missed() && !directory_missed() && copies == 0, "which is noted once");
    directory_alone(false);
    tap_ok(directory_bring(path_of("run/0.evt"), &err) == STATUS_OK &&
               directory_bring(path_of("run/0.evt"), &err) == STATUS_OK && fetched == 1 && copies == 1,
           "a file is fetched once");
    tap_ok(directory_read(path_of("run/0.evt"), SIZE - 1, &byte, 1) == 1 && byte == 'w', "as a whole");
    tap_ok(directory_read(path_of("run.def"), 1, &byte, 1) == 1 && byte == 'p', "or in pieces");
    tap_ok(directory_read(path_of("run/1.evt"), 1, &byte, 1) == 1 && byte == 'p' && copies == 2,
           "also one that has got its copy for that");
}

int main(void)
{
    struct error err;
    if (!mkdtemp(directory))
        return 99;
    directory_scatter(directory);
    directory_fetch_by(directory, (struct directory_source){.fetch = fetch, .whole = fetch_whole, .copy = copy});
    directory_add(directory, "run.otf2", -1);
    directory_add_in_pieces(directory, "run.def", copy(NULL, "", &err));
    copies = 0;
    directory_add_elsewhere(directory, "run/0.evt", SIZE);
    directory_add_elsewhere(directory, "run/1.evt", SIZE);
    test_names();
    test_places();
    rmdir(directory);
    return tap_done();
}
