/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/python.h"

#include "record/keep.h"
#include "record/python_read.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Functions of one thread; slots: twice as many. */
enum { FUNCTIONS_MAX = 1 << 14, SLOTS = 2 * FUNCTIONS_MAX, LINES = 1 << 12 };
enum { FILE_SIZE = 1400, NAME_SIZE = 500 };
_Static_assert(FILE_SIZE + NAME_SIZE <= RECORD_PATH_SIZE, "both have room in a record");

struct python {
    struct python_work work;
    struct python_frame frames[PYTHON_FRAMES_MOST];
    uint32_t function_count;
    size_t defined; /* bytes of their definitions */
    struct {
        uint64_t identity;
        uint32_t number; /* 0: free */
    } functions[SLOTS];
    struct {
        uint64_t instruction; /* and code, by its identity */
        int32_t line;
    } lines[LINES];
};

/* Pages of it are taken as they are touched. */
static struct python *python_of(struct location *location)
{
    if (location->python || !python_there())
        return location->python;
    void *made =
        mmap(NULL, sizeof(struct python), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    location->python = made == MAP_FAILED ? NULL : made;
    return location->python;
}

void python_start(struct location *location)
{
    python_of(location);
}

void python_end(struct location *location)
{
    if (location->python)
        munmap(location->python, sizeof *location->python);
    location->python = NULL;
}

/* Functions */

/* Where a sample is kept, definitions are never left out. */
static bool has_room(const struct location *location)
{
    const struct python *python = location->python;
    return python->function_count < FUNCTIONS_MAX &&
           (!location->keep || python->defined + sizeof(struct record_python) <= keep_area_size(location->keep) / 8);
}

static void define(struct location *location, const struct python_frame *frame, uint32_t number, int64_t ticks)
{
    struct record_python record = {.base = {.ticks = ticks}, .number = number};
    struct python_work *work = &location->python->work;
    size_t used = python_read_text(work, frame->file, record.texts, FILE_SIZE) + 1;
    used += python_read_text(work, frame->name, record.texts + used, NAME_SIZE);
    /* Records are whole words; the name ends with at least one zero. */
    size_t size = (offsetof(struct record_python, texts) + used + 8) / 8 * 8;
    location->python->defined += size;
    location_define(location, &record, size, RECORD_DEFINE_PYTHON, RECORD_WORLD);
}

/* 0: there is no room for one more. */
static uint32_t function_of(struct location *location, const struct python_frame *frame, int64_t ticks)
{
    struct python *python = location->python;
    size_t at = frame->identity >> 32;
    while (python->functions[at & (SLOTS - 1)].number &&
           python->functions[at & (SLOTS - 1)].identity != frame->identity)
        at++;
    at &= SLOTS - 1;
    if (python->functions[at].number)
        return python->functions[at].number;
    if (!has_room(location))
        return 0;
    python->functions[at].identity = frame->identity;
    python->functions[at].number = ++python->function_count;
    define(location, frame, python->function_count, ticks);
    return python->function_count;
}

static int32_t line_of(struct python *python, const struct python_frame *frame)
{
    uint64_t instruction = frame->identity ^ (frame->instruction - frame->code) * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = instruction >> 40 & (LINES - 1);
    if (python->lines[at].instruction != instruction) {
        python->lines[at].line = python_read_line(&python->work, frame);
        python->lines[at].instruction = instruction;
    }
    return python->lines[at].line;
}

static uintptr_t place_of(struct location *location, const struct python_frame *frame, int64_t ticks)
{
    uint64_t number = function_of(location, frame, ticks);
    if (number == 0)
        return 0;
    return RECORD_PYTHON_ADDRESS | number << RECORD_PYTHON_NUMBER | (uint32_t)line_of(location->python, frame);
}

/* Call sites */

/* Code of extension modules, as far as it has been met. Grows only. */
enum { MODULES_MAX = 32 };
static struct {
    uintptr_t begin, end;
} modules[MODULES_MAX];
static uint32_t module_count;

/* Names of extension modules (PEP 3149); libffi calls for ctypes and cffi. */
static bool is_extension(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return strstr(name, ".cpython-") || strstr(name, ".abi3.") || strncmp(name, "libffi.", 7) == 0;
}

struct code {
    uintptr_t address;
    bool extension;
};

static int look_at(struct dl_phdr_info *file, size_t size, void *context)
{
    struct code *code = context;
    (void)size;
    for (size_t i = 0; i < file->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &file->dlpi_phdr[i];
        uintptr_t begin = file->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD || code->address < begin || code->address - begin >= segment->p_memsz)
            continue;
        code->extension = is_extension(file->dlpi_name);
        /* Threads may add the same module twice, or one may overwrite another's: then it is looked for again. */
        uint32_t count = __atomic_load_n(&module_count, __ATOMIC_ACQUIRE);
        if (code->extension && count < MODULES_MAX) {
            modules[count].begin = begin;
            modules[count].end = begin + segment->p_memsz;
            __atomic_store_n(&module_count, count + 1, __ATOMIC_RELEASE);
        }
        return 1;
    }
    return 0;
}

static bool in_extension(uintptr_t address)
{
    uint32_t count = __atomic_load_n(&module_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        if (address >= modules[i].begin && address < modules[i].end)
            return true;
    struct code code = {.address = address};
    dl_iterate_phdr(look_at, &code);
    return code.extension;
}

/* The innermost frame of the program: MPI is initialised while its module is imported. */
static const struct python_frame *calling_frame(struct python *python)
{
    enum { ENOUGH = 16 };
    size_t count = python_read_frames(&python->work, python->frames, 1);
    if (count == 0 || !python_is_importing(&python->work, &python->frames[0]))
        return count ? &python->frames[0] : NULL;
    count = python_read_frames(&python->work, python->frames, ENOUGH);
    for (size_t i = 0; i < count; i++)
        if (!python_is_importing(&python->work, &python->frames[i]))
            return &python->frames[i];
    return NULL;
}

uintptr_t python_caller(struct location *location, uintptr_t caller, int64_t ticks)
{
    /* The structures are looked at with care until they have once been as they should. */
    static bool trusted;
    struct python *python = location->header && python_there() && in_extension(caller) ? python_of(location) : NULL;
    if (!python)
        return caller;
    /* When the interpreter ends, it frees the frames of threads that still run. */
    python->work.memory.process = trusted && !python_is_ending() ? 0 : (pid_t)location->header->pid;
    const struct python_frame *frame = calling_frame(python);
    uintptr_t place = frame ? place_of(location, frame, ticks) : 0;
    trusted |= place != 0;
    return place ? place : caller | PYTHON_NO_PLACE;
}

/* Samples */

size_t python_path(struct location *location, struct python_level *levels, size_t count, size_t most, int64_t ticks)
{
    struct python *python = location->python;
    struct python_level native[PYTHON_FRAMES_MOST];
    if (!python || count > PYTHON_FRAMES_MOST)
        return count;
    python->work.memory.process = (pid_t)location->header->pid;
    size_t frames = python_read_frames(&python->work, python->frames, PYTHON_FRAMES_MOST), frame = 0, used = 0;
    if (frames == 0)
        return count;
    memcpy(native, levels, count * sizeof *native);
    for (size_t i = 0; i <= count; i++) {
        /* The interpreter's loops whose frames on the C stack are below this one. */
        uintptr_t below = i < count ? native[i].low : UINTPTR_MAX;
        for (; frame < frames && used < most && (i == count || python->frames[frame].stack < below); frame++)
            levels[used++] = (struct python_level){place_of(location, &python->frames[frame], ticks), 0};
        if (i < count && used < most && !python_is_interpreter(native[i].address))
            levels[used++] = native[i];
    }
    return used;
}
