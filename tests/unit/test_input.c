/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/input.h"
#include "core/memory.h"
#include "core/output.h"
#include "unit/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DATA_SIZE = 3000000, HALF = 1400000, PATH_SIZE = 256, MEBIBYTE = 1024 * 1024, LONG_SIZE = 12 * MEBIBYTE };

static char directory[] = "/tmp/sight-test-input.XXXXXX";
static unsigned char *test_data;

static const char *path_of(char path[PATH_SIZE], const char *name)
{
    snprintf(path, PATH_SIZE, "%s/%s", directory, name);
    return path;
}

/* Neither constant nor beyond compression. */
static void make_data(void)
{
    uint32_t state = 1;
    test_data = memory_new(DATA_SIZE);
    for (size_t i = 0; i < DATA_SIZE; i++) {
        state = state * 1664525 + 1013904223;
        test_data[i] = (unsigned char)(state >> 24 & (i / 1000 % 2 ? 0x0F : 0xFF));
    }
    test_data[0] = 'S';
}

static bool write_file(const char *name, const void *data, size_t size)
{
    char path[PATH_SIZE];
    struct error err = {0};
    struct output *output = output_open(path_of(path, name), (struct output_options){.replace = true}, &err);
    if (!output)
        return false;
    output_write(output, data, size);
    return output_close(output, true, &err) == STATUS_OK;
}

/* Whole file as it is on the disk. */
static unsigned char *slurp(const char *name, size_t *size)
{
    char path[PATH_SIZE];
    FILE *file = fopen(path_of(path, name), "rb");
    unsigned char *bytes = memory_new(LONG_SIZE);
    *size = file ? fread(bytes, 1, LONG_SIZE, file) : 0;
    if (file)
        fclose(file);
    return bytes;
}

/* Reads on in uneven pieces. Returns how many bytes came that are those of the test data. */
static size_t read_same(struct input *input, struct error *err)
{
    size_t step = 1;
    for (;;) {
        enum status status = input_need(input, step, err);
        size_t have = input_available(input);
        if (status == STATUS_FAILED || (status == STATUS_OK && have < step) || input->offset + have > DATA_SIZE)
            return SIZE_MAX;
        size_t take = have < step ? have : step;
        if (memcmp(input->at, test_data + input->offset, take) != 0)
            return SIZE_MAX;
        input_consume(input, take);
        if (status == STATUS_END)
            return (size_t)input->offset;
        step = step * 3 % 300007 + 1;
    }
}

static void test_whole(struct input *input, const char *name)
{
    struct error err = {0};
    if (!tap_ok(input, "%s: opened", name))
        return;
    tap_ok(input_need(input, 10, &err) == STATUS_OK && input->offset == 0 && *input->at == 'S', "%s: peeked", name);
    tap_ok(input_keep(input, &err) == STATUS_OK, "%s: kept", name);
    tap_ok(input_skip(input, 100000, &err) == STATUS_OK && input->offset == 100000, "%s: skipped", name);
    tap_ok(input_rewind(input, &err) == STATUS_OK && input->offset == 0, "%s: rewound early", name);
    for (int round = 0; round < 3; round++) {
        tap_equal_int((long long)read_same(input, &err), DATA_SIZE, "%s: all read, %d", name, round);
        tap_ok(input->ended && !input->fault, "%s: ended well, %d", name, round);
        tap_ok(input_rewind(input, &err) == STATUS_OK, "%s: rewound, %d", name, round);
    }
    tap_ok(input_skip(input, DATA_SIZE - 5, &err) == STATUS_OK && input_need(input, 5, &err) == STATUS_OK &&
               memcmp(input->at, test_data + DATA_SIZE - 5, 5) == 0,
           "%s: skipped to near the end", name);
    tap_equal_int(input_need(input, 6, &err), STATUS_END, "%s: not beyond", name);
    tap_equal_int((long long)input_available(input), 5, "%s: what there is, is there", name);
    tap_equal_int(input_skip(input, UINT64_MAX, &err), STATUS_END, "%s: skipped beyond the end", name);
    tap_equal_int((long long)input->offset, DATA_SIZE, "%s: which is where it ends", name);
    tap_ok(input_rewind(input, &err) == STATUS_OK && input_skip(input, UINT64_MAX, &err) == STATUS_END &&
               input->offset == DATA_SIZE,
           "%s: the same at once", name);
    uint64_t done, total;
    input_progress(input, &done, &total);
    tap_ok(total == 0 || done == total, "%s: progress complete", name);
    input_close(input);
}

static void test_file(const char *name)
{
    char path[PATH_SIZE];
    struct error err = {0};
    struct input *input = input_open(path_of(path, name), &err);
    bool known = strcmp(name, "plain") == 0 || strcmp(name, "plain.zst") == 0;
    if (input)
        tap_equal_int((long long)input_size(input), known ? DATA_SIZE : 0, "%s: size", name);
    test_whole(input, name);
}

static void test_pipe(const char *name)
{
    char path[PATH_SIZE], label[PATH_SIZE];
    int ends[2];
    struct error err = {0};
    if (pipe(ends) < 0)
        return;
    pid_t writer = fork();
    if (writer == 0) {
        close(ends[0]);
        dup2(ends[1], STDOUT_FILENO);
        execlp("cat", "cat", path_of(path, name), (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    int saved = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    snprintf(label, sizeof label, "%s through a pipe", name);
    struct input *input = input_open("-", &err);
    tap_equal_string(input ? input->name : NULL, "standard input", "name of standard input");
    test_whole(input, label);
    dup2(saved, STDIN_FILENO);
    close(saved);
    waitpid(writer, NULL, 0);
}

/* A redirected file that another program has begun to read: "the start" is where it was handed over. */
static void test_standard_file(void)
{
    char path[PATH_SIZE];
    struct error err = {0};
    unsigned char *shifted = memory_new(DATA_SIZE + 7);
    memcpy(shifted + 7, test_data, DATA_SIZE);
    write_file("shifted", shifted, DATA_SIZE + 7);
    free(shifted);
    int saved = dup(STDIN_FILENO), fd = open(path_of(path, "shifted"), O_RDONLY);
    dup2(fd, STDIN_FILENO);
    close(fd);
    lseek(STDIN_FILENO, 7, SEEK_SET);
    test_whole(input_open("-", &err), "standard input from a file");
    dup2(saved, STDIN_FILENO);
    close(saved);
}

static void test_memory(void)
{
    test_whole(input_open_memory(test_data, DATA_SIZE, "memory"), "memory");
    struct error err = {0};
    struct input *input = input_open_memory(NULL, 0, "nothing");
    tap_equal_int(input_need(input, 1, &err), STATUS_END, "no memory: end at once");
    input_close(input);
}

static void test_members(const char *suffix)
{
    char first[32], second[32], both[32];
    snprintf(first, sizeof first, "first%s", suffix);
    snprintf(second, sizeof second, "second%s", suffix);
    snprintf(both, sizeof both, "both%s.bin", suffix);
    size_t first_size, second_size;
    write_file(first, test_data, HALF);
    write_file(second, test_data + HALF, DATA_SIZE - HALF);
    unsigned char *bytes = slurp(first, &first_size), *more = slurp(second, &second_size);
    memcpy(bytes + first_size, more, second_size);
    write_file(both, bytes, first_size + second_size);
    test_file(both);
    free(bytes);
    free(more);
}

/* Reads compressed data that are not as they should be, from memory. */
static void test_fault(const char *what, const unsigned char *bytes, size_t size, const char *fault, size_t at_least)
{
    struct error err = {0};
    for (int round = 0; round < 2; round++) {
        struct input *input = input_open_memory(bytes, size, "damaged");
        bool kept = round == 0 || input_keep(input, &err) == STATUS_OK;
        size_t got = read_same(input, &err);
        tap_ok(kept && got != SIZE_MAX && got >= at_least, "%s: %zu bytes before the fault", what, got);
        bool right = fault ? input->fault && strncmp(input->fault, fault, strlen(fault)) == 0 : !input->fault;
        tap_ok(right && (!fault || strstr(input->fault, ", at byte ")), "%s: fault", what);
        if (round == 1)
            tap_ok(input_rewind(input, &err) == STATUS_OK && read_same(input, &err) == got, "%s: again", what);
        input_close(input);
    }
}

static void test_damaged(const char *suffix)
{
    static const char early[] = "compressed data end early", damaged[] = "compressed data are damaged";
    char name[32];
    snprintf(name, sizeof name, "plain%s", suffix);
    size_t size;
    unsigned char *bytes = slurp(name, &size);
    test_fault("whole", bytes, size, NULL, DATA_SIZE);
    test_fault("cut in the middle", bytes, size / 2, early, DATA_SIZE / 4);
    test_fault("cut before the last byte", bytes, size - 1, early, DATA_SIZE * 9 / 10);
    test_fault("cut in the header", bytes, 5, early, 0);
    memset(bytes + size, 0x55, 100);
    test_fault("with garbage behind", bytes, size + 100, damaged, DATA_SIZE);
    memset(bytes + 20, 0xFF, 200);
    test_fault("damaged near the begin", bytes, size, damaged, 0);
    free(bytes);
    if (strcmp(suffix, ".gz") != 0)
        return;
    bytes = slurp(name, &size);
    test_fault("with zeros behind", bytes, size + 1000, NULL, DATA_SIZE);
    bytes[size - 6] ^= 1;
    test_fault("wrong checksum", bytes, size, damaged, DATA_SIZE);
    free(bytes);
}

/* Random places, also past the end, forwards and backwards. */
static void test_seeks(const char *name)
{
    char path[PATH_SIZE];
    struct error err = {0};
    struct input *input = input_open(path_of(path, name), &err);
    if (!tap_ok(input && input_can_seek(input) && input_size(input) == DATA_SIZE, "%s: can be read from the middle",
                name)) {
        input_close(input);
        return;
    }
    uint32_t state = 7, wrong = 0;
    for (int i = 0; i < 300; i++) {
        state = state * 1664525 + 1013904223;
        uint64_t place = (state >> 4) % (DATA_SIZE + DATA_SIZE / 20);
        uint64_t left = place < DATA_SIZE ? DATA_SIZE - place : 0;
        size_t want = left < 1000 ? (size_t)left : 1000;
        if (input_seek(input, place, &err) != STATUS_OK || input_need(input, want, &err) == STATUS_FAILED ||
            input_available(input) < want || (want && memcmp(input->at, test_data + place, want) != 0))
            wrong++;
    }
    tap_equal_int(wrong, 0, "%s: 300 places", name);
    tap_ok(input_seek(input, 0, &err) == STATUS_OK && read_same(input, &err) == DATA_SIZE && !input->fault,
           "%s: all of it after them", name);
    input_close(input);
}

/* Reads all data, from the start or after a seek to their last bytes. */
static bool reads_all(const char *name, bool seek, const char **fault)
{
    char path[PATH_SIZE];
    struct error err = {0};
    struct input *input = input_open(path_of(path, name), &err);
    bool seeks = input && seek && input_can_seek(input) && input_seek(input, DATA_SIZE - 9, &err) == STATUS_OK &&
                 input_seek(input, 0, &err) == STATUS_OK;
    bool all = input && read_same(input, &err) == DATA_SIZE;
    *fault = NULL;
    if (input && input->fault)
        *fault = "fault";
    input_close(input);
    return all && seeks == seek;
}

/* Tables that are wrong: data are as good as without one, and wrong places never go unnoticed. */
static void test_wrong_tables(void)
{
    size_t size;
    const char *fault;
    unsigned char *bytes = slurp("plain.zst", &size);
    char path[PATH_SIZE];
    /* Of 3 frames: the last 9 bytes are the footer, 24 before it the entries. The written file is not packed again. */
    for (size_t at = size - 33; at < size; at++) {
        bytes[at] ^= 0x40;
        FILE *file = fopen(path_of(path, "wrong"), "wb");
        tap_ok(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "byte %zu of the table",
               at + 33 - size);
        tap_ok(reads_all("wrong", false, &fault) && !fault, "read in one pass");
        struct error err = {0};
        struct input *input = input_open(path, &err);
        bool noticed = !input_can_seek(input) || input_seek(input, DATA_SIZE / 2, &err) != STATUS_OK ||
                       input_check_end(input, &err) != STATUS_OK || input->fault;
        /* Flags without a meaning may be set. */
        tap_ok(noticed || at == size - 5, "a place that is wrong is noticed");
        input_close(input);
        bytes[at] ^= 0x40;
    }
    free(bytes);
}

/* What reading a file to its end gives: a sum over the data and their places, how many there are, and the fault. */
struct outcome {
    uint64_t sum, size;
    char fault[128];
};

static struct outcome outcome_of(const char *path, bool again)
{
    struct outcome outcome = {0};
    struct error err = {0};
    struct input *input = input_open(path, &err);
    /* The first time it stops in the middle, where other threads may be at work ahead. */
    if (!input || input_keep(input, &err) != STATUS_OK ||
        (again && (input_skip(input, LONG_SIZE / 3, &err) == STATUS_FAILED || input_rewind(input, &err) != STATUS_OK)))
        snprintf(outcome.fault, sizeof outcome.fault, "%.120s", err.text);
    while (input && input_need(input, 1, &err) == STATUS_OK) {
        for (; input_available(input) > 0; outcome.size++) {
            outcome.sum = outcome.sum * 31 + *input->at;
            input_consume(input, 1);
        }
    }
    if (input && input->fault)
        snprintf(outcome.fault, sizeof outcome.fault, "%.120s", input->fault);
    input_close(input);
    return outcome;
}

/* The same with any number of threads. */
static struct outcome test_threads(const char *name, const unsigned char *bytes, size_t size)
{
    char path[PATH_SIZE];
    FILE *file = fopen(path_of(path, "threads"), "wb");
    tap_ok(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "%s: written", name);
    struct outcome one = outcome_of(path, false);
    for (unsigned threads = 1; threads <= 4; threads++) {
        input_unpack_threads(threads);
        for (int again = 0; again < 2; again++) {
            struct outcome other = outcome_of(path, again);
            tap_ok(other.sum == one.sum && other.size == one.size, "%s: the same data, %u threads", name, threads);
            tap_equal_string(other.fault, one.fault, "%s: the same fault, %u threads", name, threads);
        }
    }
    input_unpack_threads(1);
    return one;
}

/* Where frame `index` of a file with a table of so many frames begins. */
static size_t frame_at(const unsigned char *bytes, size_t size, size_t count, size_t index)
{
    const unsigned char *entry = bytes + size - 9 - 8 * count;
    size_t at = 0;
    for (size_t i = 0; i < index; i++, entry += 8)
        at += entry[0] + 256U * entry[1] + 65536U * entry[2];
    return at;
}

/* Frames that are unpacked ahead: good ones, and each way in which they can be wrong. */
static void test_frames(void)
{
    enum { FRAMES = LONG_SIZE / MEBIBYTE };
    unsigned char *data = memory_new(LONG_SIZE);
    for (size_t i = 0; i < LONG_SIZE; i++)
        data[i] = (unsigned char)(test_data[i % DATA_SIZE] + i / DATA_SIZE);
    write_file("long.zst", data, LONG_SIZE);
    size_t size;
    unsigned char *bytes = slurp("long.zst", &size), *wrong = memory_new(size);
    struct outcome good = test_threads("frames", bytes, size);
    uint64_t sum = 0;
    for (size_t i = 0; i < LONG_SIZE; i++)
        sum = sum * 31 + data[i];
    tap_ok(good.sum == sum && good.size == LONG_SIZE && !good.fault[0], "frames: the data");
    size_t fifth = frame_at(bytes, size, FRAMES, 5), sixth = frame_at(bytes, size, FRAMES, 6);
    size_t seventh = frame_at(bytes, size, FRAMES, 7);
    memcpy(wrong, bytes, size);
    wrong[(fifth + sixth) / 2] ^= 0x55;
    struct outcome other = test_threads("a damaged frame", wrong, size);
    tap_ok(strstr(other.fault, "are damaged") && other.size >= 5 * MEBIBYTE && other.size < 6 * MEBIBYTE + 1,
           "a damaged frame: what comes before it is used");
    memcpy(wrong, bytes, size);
    memcpy(wrong + fifth, bytes + sixth, seventh - sixth);
    memcpy(wrong + fifth + seventh - sixth, bytes + fifth, sixth - fifth);
    other = test_threads("frames in another order", wrong, size);
    tap_ok(other.size == LONG_SIZE && other.sum != good.sum && !other.fault[0],
           "frames in another order: all data, as zstd would unpack them");
    memcpy(wrong, bytes, size);
    memset(wrong + fifth, 0, 4);
    other = test_threads("something else than a frame", wrong, size);
    tap_ok(strstr(other.fault, "are damaged") && other.size == 5 * MEBIBYTE, "something else than a frame");
    other = test_threads("cut within a frame", bytes, (fifth + sixth) / 2);
    tap_ok(strstr(other.fault, "end early") && other.size >= 5 * MEBIBYTE, "cut within a frame");
    other = test_threads("cut after a frame", bytes, sixth);
    tap_ok(!other.fault[0] && other.size == 6 * MEBIBYTE, "cut after a frame");
    /* The table says that there is less in a frame than there is. */
    memcpy(wrong, bytes, size);
    wrong[size - 9 - 8 * (FRAMES - 5)] -= 1;
    wrong[size - 9 - 8 * (FRAMES - 6)] += 1;
    other = test_threads("a table that is wrong", wrong, size);
    tap_ok(other.sum == good.sum && !other.fault[0], "a table that is wrong: the data");
    free(data);
    free(bytes);
    free(wrong);
}

static void test_refused(const char *path, const char *text)
{
    struct error err = {0};
    struct input *input = input_open(path, &err);
    tap_ok(!input, "refused");
    tap_equal_string(err.text, text, "why");
    tap_equal_int(err.kind, ERROR_INPUT, "kind");
    input_close(input);
}

static void test_faults(void)
{
    char path[PATH_SIZE], text[2 * PATH_SIZE];
    path_of(path, "missing");
    snprintf(text, sizeof text, "%s: cannot open: No such file or directory", path);
    test_refused(path, text);
    test_refused("no\nsuch\x1b\x7f", "no\\x0asuch\\x1b\\x7f: cannot open: No such file or directory");
    snprintf(text, sizeof text, "%s: is a directory", directory);
    test_refused(directory, text);
    struct error err = {0};
    struct input *input = input_open(path_of(path, "plain"), &err);
    tap_equal_int(input_rewind(input, &err), STATUS_FAILED, "no rewind without keep");
    input_close(input);
    test_refused("/proc/self/mem", "/proc/self/mem: byte 0: cannot read: Input/output error");
}

static void test_fill(void)
{
    char path[PATH_SIZE];
    struct error err = {0};
    struct input *input = input_open(path_of(path, "plain"), &err);
    tap_equal_int(input_need(input, 1024 * (size_t)MEBIBYTE, &err), STATUS_END, "1 GiB wanted of a small file");
    tap_equal_int((long long)input_available(input), DATA_SIZE, "all of it is there");
    tap_ok(memcmp(input->at, test_data, DATA_SIZE) == 0, "and is right");
    tap_ok(input->capacity <= 2 * DATA_SIZE + MEBIBYTE, "without much memory: %zu", input->capacity);
    input_close(input);
    input = input_open(path, &err);
    tap_equal_int((long long)read_same(input, &err), DATA_SIZE, "read in pieces");
    tap_ok(input->capacity <= 2 * MEBIBYTE, "the buffer stays small: %zu", input->capacity);
    input_close(input);
    write_file("empty", "", 0);
    input = input_open(path_of(path, "empty"), &err);
    tap_ok(input && input_need(input, 1, &err) == STATUS_END && input->ended, "an empty file ends at once");
    input_close(input);
}

/* Files of pzstd begin with a frame to be skipped. */
static void test_skipped(void)
{
    char path[PATH_SIZE];
    size_t size;
    unsigned char *bytes = slurp("plain.zst", &size), *all = memory_new(size + 12);
    memcpy(all + 12, bytes, size);
    for (unsigned char kind = 0; kind < 16; kind += 15) {
        struct error err = {0};
        const unsigned char skipped[12] = {0x50 | kind, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4};
        memcpy(all, skipped, sizeof skipped);
        FILE *file = fopen(path_of(path, "skipped"), "wb");
        tap_ok(file && fwrite(all, 1, size + 12, file) == size + 12 && fclose(file) == 0, "written");
        struct input *input = input_open(path, &err);
        tap_equal_int(input ? (long long)read_same(input, &err) : -1, DATA_SIZE, "after skippable frame %d", kind);
        input_close(input);
    }
    free(bytes);
    free(all);
}

/* Whole and sound, but with a window of 2 GiB (RFC 8878, section 3.1.1.1.2). */
static void test_window(void)
{
    static const unsigned char frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x09, 0, 0, 'x'};
    test_fault("a wide window", frame, sizeof frame, "compressed data need a larger window", 0);
}

int main(void)
{
    if (!mkdtemp(directory))
        return 1;
    make_data();
    write_file("plain", test_data, DATA_SIZE);
    test_file("plain");
    test_seeks("plain");
    test_pipe("plain");
    test_standard_file();
    test_memory();
    static const char *const suffixes[] = {".gz", ".zst"};
    for (int i = 0; i < 2; i++) {
        if (!(i ? input_has_zstd() : input_has_gzip())) {
            tap_skip("a library for compressed files is not in this build");
            continue;
        }
        char name[32];
        snprintf(name, sizeof name, "plain%s", suffixes[i]);
        write_file(name, test_data, DATA_SIZE);
        test_file(name);
        test_pipe(name);
        test_members(suffixes[i]);
        test_damaged(suffixes[i]);
        if (i) {
            test_seeks(name);
            test_wrong_tables();
            test_frames();
            test_skipped();
            test_window();
        }
    }
    test_faults();
    test_fill();
    free(test_data);
    char command[PATH_SIZE];
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    return system(command) != 0 || tap_done();
}
