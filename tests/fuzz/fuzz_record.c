/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzing of the merge: any buffer files must end in a trace that can be diagnosed, or in a message.

   The input is one file after the other, each shorter than it is on disk: the header up to the table of functions, of
   which all count as called; the number of words of 8 bytes that follow (4 bytes, little-endian); these, which are the
   blocks. The fields that every file needs to be read at all are filled in. */
#include "convert/record/read_record.h"
#include "core/input.h"
#include "core/mpi_function.h"
#include "fuzz/whole_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = offsetof(struct record_header, used), FILES_MOST = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/tmp/sight-fuzz-XXXXXX";

static void remove_directory(void)
{
    rmdir(directory);
}

static void name_of(char path[64], int number)
{
    snprintf(path, 64, "%s/%d" RECORD_SUFFIX, directory, number);
}

static void write_file(int number, const uint8_t *head, const uint8_t *words, size_t size)
{
    static struct {
        struct record_header header;
        char rest[RECORD_HEADER_SIZE - sizeof(struct record_header)];
    } first;
    memset(&first, 0, sizeof first);
    memcpy(&first.header, head, HEAD);
    memcpy(first.header.magic, RECORD_MAGIC, sizeof first.header.magic);
    first.header.version = RECORD_VERSION;
    first.header.function_count = (uint32_t)mpi_function_count();
    memset(first.header.used, 1, sizeof first.header.used);
    char path[64];
    name_of(path, number);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(&first, sizeof first, 1, file) != 1 || fwrite(words, 1, size, file) != size ||
        fclose(file) != 0)
        abort();
}

static int write_files(const uint8_t *data, size_t size)
{
    int count = 0;
    while (count < FILES_MOST && size >= HEAD + sizeof(uint32_t)) {
        uint32_t words;
        memcpy(&words, data + HEAD, sizeof words);
        const uint8_t *blocks = data + HEAD + sizeof words;
        size -= HEAD + sizeof words;
        size_t length = words < size / 8 ? words * (size_t)8 : size;
        write_file(count++, data, blocks, length);
        data = blocks + length;
        size -= length;
    }
    return count;
}

static void merge(void)
{
    struct error err = {0};
    struct recordings recordings = {0};
    char *paths[] = {directory};
    if (recordings_open(&recordings, paths, 1, &err) == STATUS_OK)
        for (size_t i = 0; i < recordings.trace_count; i++) {
            struct reader *reader = record_reader_open(&recordings, i, &err);
            if (reader)
                whole_run(reader);
            reader_close(reader);
        }
    recordings_close(&recordings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int made;
    if (!made++) {
        if (!mkdtemp(directory))
            abort();
        atexit(remove_directory);
    }
    int count = write_files(data, size);
    merge();
    for (int i = 0; i < count; i++) {
        char path[64];
        name_of(path, i);
        unlink(path);
    }
    return 0;
}
