/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/output_check.h"

#include "convert/clog2/clog2_parts.h"
#include "core/directory.h"
#include "core/input.h"
#include "core/memory.h"
#include "core/record_format.h"
#include "core/text.h"

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

/* Files of traces that consist of several, whose names no report or picture has: of OTF2, DUMPI, Paraver, TAU and
 * recordings.
 */
static bool is_of_several(const char *path)
{
    static const char *const suffixes[] = {".otf2", ".def",    ".evt",     ".bin", ".meta", ".pcf",       ".row",
                                           ".prv",  ".prv.gz", ".prv.zst", ".trc", ".edf",  RECORD_SUFFIX};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (text_ends_with(path, strlen(path), suffixes[i]))
            return true;
    return false;
}

/* The directory of the trace: the input, or that which the input is in. free() it; NULL: there is none. */
static char *directory_of(const char *input, bool is_directory)
{
    char *path = realpath(input, NULL), *slash = path && !is_directory ? strrchr(path, '/') : NULL;
    if (slash)
        *slash = '\0';
    return path;
}

static bool is_below(const char *directory, const char *output)
{
    char *place = realpath(output, NULL);
    size_t length = strlen(directory);
    bool below = place && strncmp(place, directory, length) == 0 && place[length] == '/';
    free(place);
    return below;
}

static bool has_anchor(const char *directory)
{
    size_t count = 0, found = 0;
    char **names = directory_names(directory, &count);
    for (size_t i = 0; i < count; i++)
        found += text_ends_with(names[i], strlen(names[i]), ".otf2");
    directory_names_free(names, count);
    return found > 0;
}

/* An OTF2 archive is replaced as a whole, and of a trace of several files each is the input. */
static bool is_rest_of(const char *input, bool is_directory, const char *path, const struct stat *output)
{
    char *directory = directory_of(input, is_directory);
    bool is_rest = false;
    if (directory && S_ISDIR(output->st_mode))
        is_rest = is_same(directory, output) &&
                  (is_directory ? has_anchor(directory) : text_ends_with(input, strlen(input), ".otf2"));
    else if (directory)
        is_rest = (is_directory || is_of_several(input)) && is_of_several(path) && is_below(directory, path);
    free(directory);
    return is_rest;
}

static bool is_input(char *input, const char *path, const struct stat *output)
{
    struct stat about;
    char *equals = strchr(input, '=');
    /* a file whose name has a "=" in it goes first, as in named_input.c */
    if (stat(input, &about) != 0) {
        input = equals ? equals + 1 : input;
        if (!equals || stat(input, &about) != 0)
            return false;
    }
    bool is_directory = S_ISDIR(about.st_mode);
    if (is_rest_of(input, is_directory, path, output))
        return true;
    if (is_directory)
        return S_ISREG(output->st_mode) && is_part_of(input, output);
    return is_same(input, output);
}

bool output_check(const char *path, const struct common_options *common, struct error *err)
{
    struct stat output;
    if (!path || strcmp(path, "-") == 0 || stat(path, &output) != 0 ||
        (!S_ISREG(output.st_mode) && !S_ISDIR(output.st_mode)))
        return true;
    for (size_t i = 0; i < common->input_count; i++)
        /* what is no file (/dev/null, a pipe) was let through above: nothing of it can be lost */
        if (is_input(common->inputs[i], path, &output)) {
            char *name = input_escape_name(path);
            error_set(err, ERROR_USAGE, "%s: is the input as well: give another output", name);
            free(name);
            return false;
        }
    return true;
}
