/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of an OTF2 archive are known by their names, on each host. */
#include "convert/otf2/otf2_parts.h"

#include "core/directory.h"
#include "unit/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const files[] = {"run.otf2",  "run.def",   "run/0.def",   "run/12.evt",
                                    "run/x.evt", "run/3.txt", "other/4.evt", "notes.txt"};
enum { FILES = sizeof files / sizeof *files };

static void test_kinds(void)
{
    tap_ok(otf2_part_is_anchor("run.otf2") && !otf2_part_is_anchor("run/0.otf2") && !otf2_part_is_anchor("run.def"),
           "an anchor is in the directory itself");
    tap_ok(otf2_part_is_local("run/12.evt") && otf2_part_is_local("run/0.def") && !otf2_part_is_local("12.evt") &&
               !otf2_part_is_local("run/.evt") && !otf2_part_is_local("run/1.evt.gz") &&
               !otf2_part_is_local("a/b/1.evt"),
           "local files have numbers, in a directory below");
    tap_ok(otf2_part_belongs("run.otf2", "run.otf2") && otf2_part_belongs("run.def", "run.otf2") &&
               otf2_part_belongs("run/0.def", "run.otf2"),
           "parts have the name of their anchor");
    tap_ok(!otf2_part_belongs("other/4.evt", "run.otf2") && !otf2_part_belongs("runs.def", "run.otf2") &&
               !otf2_part_belongs("run/x.evt", "run.otf2") && !otf2_part_belongs("ru", "run.otf2"),
           "others have another name");
}

static void test_directory(const char *directory)
{
    size_t count = 0;
    char **names = otf2_part_names(directory, &count);
    tap_ok(count == 5 && strcmp(names[0], "other/4.evt") == 0 && strcmp(names[1], "run.def") == 0 &&
               strcmp(names[2], "run.otf2") == 0 && strcmp(names[3], "run/0.def") == 0 &&
               strcmp(names[4], "run/12.evt") == 0,
           "parts of any archive, in order");
    directory_names_free(names, count);
    char *local = otf2_local_directory(directory);
    tap_ok(local && strcmp(local + strlen(directory), "/run") == 0, "the anchor says where local files are");
    free(local);
    close(open("second.otf2", O_CREAT | O_WRONLY, 0600));
    local = otf2_local_directory(directory);
    tap_ok(!local, "of two anchors none does");
    free(local);
    names = otf2_part_names("/nowhere", &count);
    tap_equal_int((int)count, 0, "a directory that is not there has none");
    directory_names_free(names, count);
}

int main(void)
{
    char directory[] = "/tmp/sight-test-parts.XXXXXX";
    if (!mkdtemp(directory) || chdir(directory) != 0 || mkdir("run", 0700) != 0 || mkdir("other", 0700) != 0)
        return 99;
    for (size_t i = 0; i < FILES; i++)
        close(open(files[i], O_CREAT | O_WRONLY, 0600));
    test_kinds();
    test_directory(directory);
    for (size_t i = 0; i < FILES; i++)
        unlink(files[i]);
    unlink("second.otf2");
    if (rmdir("run") == 0 && rmdir("other") == 0 && chdir("/") == 0)
        rmdir(directory);
    return tap_done();
}
