/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/dumpi/dumpi_file.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/text.h"

#include <string.h>

enum {
    TIME_CPU = 1 << 2,
    TIME_WALL = 1 << 3,
    HAS_THREAD = 1 << 6,
    HAS_COUNTERS = 1 << 7,
    FUNCTIONS_LEAST = 200, /* of the oldest versions */
    AFTER_MPI = 3,         /* function enter, function exit, end of the calls */
    SIZE_MOST = 256,
    WORDS_MOST = 7
};

const unsigned char dumpi_magic[DUMPI_MAGIC_SIZE] = {0xFF, 0xAA, 0xDD, 0x44, 0x55, 0x4D, 0x50, 0x49};
static const unsigned char foot_magic[8] = {0, 0, 0, 0, 0xF0, 0x07, 0xFE, 0xE7};

static const struct {
    const char *name, *signature;
} functions[] = {
#define DUMPI_CALL(name, signature) {name, signature},
#include "convert/dumpi/dumpi_calls.def"
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

const char *dumpi_function(uint16_t number)
{
    if (number < FUNCTIONS)
        return functions[number].name;
    return NULL;
}

size_t dumpi_function_count(void)
{
    return FUNCTIONS;
}

/* Goes to a byte and has so many there. */
static bool go_to(struct dumpi_file *file, uint64_t offset, size_t size, struct error *err)
{
    return offset + size <= input_size(file->input) && input_seek(file->input, offset, err) == STATUS_OK &&
           input_need(file->input, size, err) == STATUS_OK;
}

/* The last words are positions; older versions have fewer of them, after a magic of their own. */
static void read_index(struct dumpi_file *file, struct error *err)
{
    uint64_t size = input_size(file->input), word[WORDS_MOST];
    /* Read backwards, as the number of words depends on the version, which stands in the header that the index leads
       to. */
    for (size_t words = WORDS_MOST; words >= 4 && !file->indexed; words--) {
        if (size < 8 * (words + 2) || !go_to(file, size - 8 * (words + 1), 8 * (words + 1), err) ||
            memcmp(file->input->at, dumpi_magic, DUMPI_MAGIC_SIZE) != 0)
            continue;
        for (size_t i = 0; i < words; i++)
            word[i] = bytes_u64(file->input->at + 8 * (i + 1), true);
        const uint64_t *last = word + words - 4;
        file->indexed = last[0] > 10 && last[0] + 11 <= size && last[1] >= 8 && last[1] < last[0] && last[2] < size;
        file->header = last[0];
        file->body = last[1];
        file->footer = last[2];
        file->sizes = words == WORDS_MOST && word[0] < size ? word[0] : 0;
    }
}

static void read_header(struct dumpi_file *file, struct error *err)
{
    if (!go_to(file, file->header - 2, 15, err))
        return;
    const unsigned char *at = file->input->at;
    /* The header begins where the stream ends: the two bytes before it are the number of the end mark, which comes
       after those of all functions. So the list that the writer had is known. */
    int count = (at[0] << 8 | at[1]) - AFTER_MPI;
    file->indexed = count >= FUNCTIONS_LEAST && count <= FUNCTIONS;
    if (!file->indexed)
        return;
    file->functions = (uint16_t)count;
    memcpy(file->version, at + 2, sizeof file->version);
    file->started_s = bytes_u64(at + 5, true);
    size_t length = (size_t)(at[13] << 8 | at[14]);
    if (length > 0 && input_need(file->input, 15 + length, err) == STATUS_OK)
        file->host = text_from_bytes((const char *)file->input->at + 15, length);
}

static void read_footer(struct dumpi_file *file, struct error *err)
{
    size_t counts = (size_t)file->functions + 1;
    if (file->footer == 0 || !go_to(file, file->footer, 8 + 8 * counts, err) ||
        memcmp(file->input->at, foot_magic, sizeof foot_magic) != 0)
        return;
    file->counted = true;
    for (size_t i = 0; i + 1 < counts; i++) { /* the last is their sum */
        file->calls += bytes_u32(file->input->at + 8 + 4 * i, true);
        file->ignored += bytes_u32(file->input->at + 8 + 4 * (counts + i), true);
    }
    /* Calls are counted whether they are recorded or not: libdumpi_disable_profiling, or dumpi.conf. */
    file->calls -= smaller(file->ignored, file->calls);
}

size_t dumpi_file_sizes(struct dumpi_file *file, int32_t *sizes, size_t most, struct error *err)
{
    /* Sizes of the predefined datatypes of MPI in the order of DUMPI's numbers, as on any machine of 64 bits. */
    static const int8_t usual[] = {0, 0,  1, 1, 1, 1, 4, 2, 2, 4,  4,  8, 8, 4,
                                   8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20};
    uint64_t at = file->input->offset;
    size_t count = 0;
    if (file->sizes > 0 && go_to(file, file->sizes, 4, err)) {
        count = bytes_u32(file->input->at, true);
        if (count > most)
            count = most;
        if (input_need(file->input, 4 + 4 * count, err) != STATUS_OK)
            count = 0;
        for (size_t i = 0; i < count; i++) {
            sizes[i] = bytes_i32(file->input->at + 4 + 4 * i, true);
            if (sizes[i] < 0 || sizes[i] > SIZE_MOST)
                count = 0; /* it is none of sizes */
        }
    }
    for (; count < sizeof usual && count < most; count++)
        sizes[count] = (unsigned char)usual[count];
    if (file->sizes == 0 || input_seek(file->input, at, err) == STATUS_OK)
        return count;
    return 0;
}

static bool begin_body(struct dumpi_file *file, struct error *err)
{
    bool there;
    if (input_can_seek(file->input))
        there = go_to(file, file->body, 8, err);
    else /* a pipe: the calls begin after the magic, and the index at the end cannot be asked */
        there =
            input_skip(file->input, DUMPI_MAGIC_SIZE, err) == STATUS_OK && input_need(file->input, 8, err) == STATUS_OK;
    if (!there)
        return false;
    /* Times of calls have 16 bits of seconds, on top of these. */
    file->cpu_ns = (int64_t)bytes_i32(file->input->at, true) * 1000000000;
    file->wall_ns = (int64_t)bytes_i32(file->input->at + 4, true) * 1000000000;
    file->last_ns = INT64_MIN;
    input_consume(file->input, 8);
    return true;
}

/* A killed run has neither index nor footer: its calls begin after the magic and are read until they end. */
struct dumpi_file *dumpi_file_borrow(struct input *input, struct error *err)
{
    struct dumpi_file *file = memory_new(sizeof *file);
    *file = (struct dumpi_file){
        .input = input, .borrowed = true, .functions = FUNCTIONS, .body = DUMPI_MAGIC_SIZE, .version = {255, 255, 255}};
    if (input_need(input, DUMPI_MAGIC_SIZE, err) == STATUS_OK &&
        memcmp(input->at, dumpi_magic, DUMPI_MAGIC_SIZE) == 0) {
        if (input_can_seek(input))
            read_index(file, err);
        if (file->indexed)
            read_header(file, err);
        if (file->indexed)
            read_footer(file, err);
        else
            file->body = DUMPI_MAGIC_SIZE;
        if (begin_body(file, err))
            return file;
        error_set(err, ERROR_INPUT, "%s: byte %d: the file ends before its calls", input->name, DUMPI_MAGIC_SIZE);
    } else {
        error_set(err, ERROR_INPUT, "%s: byte 0: no file of a DUMPI trace", input->name);
    }
    dumpi_file_close(file);
    return NULL;
}

struct dumpi_file *dumpi_file_open(const char *path, struct error *err)
{
    struct input *input = input_open_found(path, err);
    struct dumpi_file *file = input ? dumpi_file_borrow(input, err) : NULL;
    if (file)
        file->borrowed = false;
    else
        input_close(input);
    return file;
}

void dumpi_file_close(struct dumpi_file *file)
{
    if (!file)
        return;
    if (!file->borrowed)
        input_close(file->input);
    free(file->host);
    free(file);
}

/* Seconds of 16 bits that go back by half their range have begun anew. */
static int64_t unwrap(struct dumpi_file *file, int64_t time_ns)
{
    const int64_t range_ns = INT64_C(65536) * 1000000000;
    time_ns += file->wrapped_ns;
    if (file->last_ns != INT64_MIN && time_ns < file->last_ns - range_ns / 2) {
        file->wrapped_ns += range_ns;
        time_ns += range_ns;
    }
    if (time_ns > file->last_ns)
        file->last_ns = time_ns;
    return time_ns;
}

static int64_t take_time(struct dumpi_cursor *cursor, struct error *err)
{
    int64_t seconds = (int64_t)dumpi_take(cursor, 2, err);
    return seconds * 1000000000 + (int64_t)dumpi_take(cursor, 4, err);
}

static bool take_times(struct dumpi_file *file, struct dumpi_cursor *cursor, struct dumpi_call *call, struct error *err)
{
    /* In the order of the file. Wall time replaces CPU time where there are both. */
    static const uint8_t clocks[] = {TIME_CPU, TIME_WALL};
    for (size_t i = 0; i < sizeof clocks; i++) {
        if (!(call->mask & clocks[i]))
            continue;
        call->enter_ns = take_time(cursor, err) + (clocks[i] == TIME_WALL ? file->wall_ns : file->cpu_ns);
        call->leave_ns = take_time(cursor, err) + (clocks[i] == TIME_WALL ? file->wall_ns : file->cpu_ns);
    }
    call->enter_ns = unwrap(file, call->enter_ns);
    call->leave_ns = unwrap(file, call->leave_ns);
    return (call->mask & (TIME_CPU | TIME_WALL)) != 0;
}

static const char *signature_of(const struct dumpi_file *file, uint16_t function)
{
    if (function < file->functions)
        return function < FUNCTIONS ? functions[function].signature : NULL;
    return function < file->functions + 2 ? "l" : NULL; /* a function of the program: its address */
}

/* NULL, or what is wrong. Calls have no length of their own: after a wrong one the next cannot be found. */
static const char *wrong_call(const struct dumpi_file *file, const struct dumpi_call *call,
                              const struct dumpi_cursor *cursor, const char *signature, bool timed)
{
    if (cursor->cut)
        return file->indexed ? "the file ends inside a call" : "the file ends without its index";
    if (!signature)
        return "a call of a function whose number is none";
    if (!timed)
        return "a call without times";
    if (cursor->damaged)
        return "a call whose arguments have no sensible length";
    if (file->indexed && call->byte + cursor->used > file->header - 2)
        return "a call that goes beyond the last one";
    return NULL;
}

enum dumpi_step dumpi_file_next(struct dumpi_file *file, struct dumpi_call *call, const char **wrong, struct error *err)
{
    struct dumpi_cursor cursor = {.input = file->input};
    memcpy(cursor.version, file->version, sizeof cursor.version);
    memset(call, 0, sizeof *call);
    call->byte = file->input->offset;
    if (file->indexed && call->byte + 2 >= file->header)
        return DUMPI_ENDED;
    call->function = (uint16_t)dumpi_take(&cursor, 2, err);
    const char *signature = signature_of(file, call->function);
    if (!file->indexed && call->function == file->functions + AFTER_MPI && !cursor.cut)
        return DUMPI_ENDED;
    call->mask = (uint8_t)dumpi_take(&cursor, 1, err);
    call->thread = call->mask & HAS_THREAD ? (uint16_t)dumpi_take(&cursor, 2, err) : 0;
    bool timed = take_times(file, &cursor, call, err);
    if (call->mask & HAS_COUNTERS) {
        /* Values at the begin and at the end of the call, whose names are in a part of the file that is not read. */
        size_t size = 16 * (size_t)dumpi_take(&cursor, 1, err);
        for (size_t i = 0; i < size; i += 8)
            dumpi_take(&cursor, 8, err);
    }
    if (signature && timed)
        dumpi_arguments(&cursor, signature, call, err);
    if (cursor.failed)
        return DUMPI_FAILED;
    *wrong = wrong_call(file, call, &cursor, signature, timed);
    if (*wrong)
        return DUMPI_DAMAGED;
    call->data = file->input->at;
    call->length = cursor.used;
    input_consume(file->input, cursor.used);
    file->read++;
    return DUMPI_READ;
}
