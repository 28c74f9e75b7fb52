/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the fuzzing target over the files (or directories of files) given, where there is no libFuzzer: the corpus as a
 * test. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file_count;

/* Exactly as much memory as there is data, so that a sanitizer sees the first byte read too far. */
static int run_file(const char *path)
{
    struct stat about;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &about) != 0) {
        perror(path);
        if (file)
            fclose(file);
        return 1;
    }
    size_t size = (size_t)about.st_size;
    unsigned char *data = malloc(size ? size : 1);
    int failed = !data || fread(data, 1, size, file) != size;
    fclose(file);
    if (failed)
        perror(path);
    else
        LLVMFuzzerTestOneInput(data, size);
    free(data);
    printf("%s %d - %s\n", failed ? "not ok" : "ok", ++file_count, path);
    fflush(stdout);
    return failed;
}

static int run_path(const char *path)
{
    DIR *directory = opendir(path);
    if (!directory)
        return run_file(path);
    int failed = 0;
    struct dirent *entry;
    while ((entry = readdir(directory))) {
        char *name;
        if (entry->d_name[0] == '.' || asprintf(&name, "%s/%s", path, entry->d_name) < 0)
            continue;
        failed |= run_path(name);
        free(name);
    }
    closedir(directory);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed |= run_path(argv[i]);
    /* `make check` gives no arguments: the corpus beside the source. */
    const char *srcdir = getenv("srcdir");
    char *corpus;
    if (argc < 2 && asprintf(&corpus, "%s/tests/fuzz/corpus", srcdir ? srcdir : ".") >= 0) {
        failed |= run_path(corpus);
        free(corpus);
    }
    printf("1..%d\n", file_count);
    return failed;
}
