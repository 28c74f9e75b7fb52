/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/output_check.h"

#include "convert/clog2/clog2_parts.h"
#include "core/input.h"
#include "core/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* By device and number: one file may have several names, and paths to it. */
static bool is_same(const char *path, const struct stat *output)
{
    struct stat about;
    return stat(path, &about) == 0 && about.st_dev == output->st_dev && about.st_ino == output->st_ino;
}

/* True if the trace that this directory is has the output among its files. */
static bool is_part_of(char *directory, const struct stat *output)
{
    struct path_list list = {0};
    struct error ignored = {0};
    bool found = false;
    if (clog2_parts_list(&list, &directory, 1, &ignored) == STATUS_OK)
        for (size_t i = 0; i < list.count; i++)
            found |= is_same(list.paths[i], output);
    path_list_clear(&list);
    return found;
}

static bool is_input(char *input, const struct stat *output)
{
    struct stat about;
    char *equals = strchr(input, '=');
    /* a file whose name has a "=" in it goes first, as in named_input.c */
    if (stat(input, &about) != 0)
        return equals && is_same(equals + 1, output);
    if (S_ISDIR(about.st_mode))
        return is_part_of(input, output);
    return is_same(input, output);
}

bool output_check(const char *path, const struct common_options *common, struct error *err)
{
    struct stat output;
    if (!path || strcmp(path, "-") == 0 || stat(path, &output) != 0 || !S_ISREG(output.st_mode))
        return true;
    for (size_t i = 0; i < common->input_count; i++)
        /* what is no file (/dev/null, a pipe) was let through above: nothing of it can be lost */
        if (is_input(common->inputs[i], &output)) {
            char *name = input_escape_name(path);
            error_set(err, ERROR_USAGE, "%s: is the input as well: give another output", name);
            free(name);
            return false;
        }
    return true;
}
