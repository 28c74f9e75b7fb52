/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/python_read.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/uio.h>

/* Where the fields are, in bytes. */
struct layout {
    uint32_t version;                     /* major and minor, as in PY_VERSION_HEX */
    uint16_t thread_cframe;               /* 0: none, the thread has its frame itself */
    uint16_t thread_frame;                /* of the thread, or of its cframe */
    uint16_t cframe_previous;             /* 0: frames on the C stack separate the loops */
    uint16_t frame_code, frame_previous;  /* pointers */
    uint16_t frame_instruction;           /* pointer: being executed */
    uint16_t frame_entry, frame_owner;    /* bytes: the outermost of its loop; who has it. 0: none */
    uint16_t code_first_line, code_start; /* int; the instructions */
    uint16_t text_ascii_data, text_data;  /* where characters begin in texts of ASCII and in others */
};
static const struct layout layouts[] = {
    {0x030b, 56, 8, 16, 32, 48, 56, 68, 0, 72, 184, 48, 72},
    {0x030c, 56, 0, 0, 0, 8, 56, 0, 70, 68, 192, 40, 56},
    {0x030d, 0, 72, 0, 0, 8, 56, 0, 70, 68, 200, 40, 56},
};
/* The same in all of them. */
enum {
    OBJECT_TYPE = 8,
    OBJECT_LENGTH = 16,
    TEXT_STATE = 32,
    BYTES_DATA = 32,
    CODE_FILE = 112,
    CODE_NAME = 128,
    CODE_TABLE = 136,
    CODE_READ = 144, /* bytes */
    FRAME_READ = 72,
    OWNER_CSTACK = 3
};
/* Of PyASCIIObject.state. */
enum { TEXT_KIND = 2, TEXT_KIND_MASK = 7, TEXT_COMPACT = 0x20, TEXT_ASCII = 0x40 };

static const struct layout *layout;
static void *(*thread_state)(void);
static int (*is_finalizing)(void);
static uintptr_t code_type, text_type, bytes_type;
enum { RANGES_MAX = 4 };
static struct {
    uintptr_t begin, end;
} ranges[RANGES_MAX];
static size_t range_count;

/* Finding the interpreter */

static int note_range(struct dl_phdr_info *file, size_t size, void *context)
{
    uintptr_t inside = *(uintptr_t *)context;
    bool here = false;
    (void)size;
    for (size_t i = 0; i < file->dlpi_phnum; i++) {
        uintptr_t begin = file->dlpi_addr + file->dlpi_phdr[i].p_vaddr;
        here |= file->dlpi_phdr[i].p_type == PT_LOAD && inside >= begin && inside - begin < file->dlpi_phdr[i].p_memsz;
    }
    for (size_t i = 0; here && i < file->dlpi_phnum && range_count < RANGES_MAX; i++) {
        const ElfW(Phdr) *segment = &file->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        ranges[range_count].begin = file->dlpi_addr + segment->p_vaddr;
        ranges[range_count++].end = file->dlpi_addr + segment->p_vaddr + segment->p_memsz;
    }
    return here;
}

/* Since 3.13 the interpreter says whether it is built without the GIL: objects begin otherwise then. Before, there was
   none. The third word of _Py_DebugOffsets (pycore_runtime.h). */
static bool has_gil(uint32_t version)
{
    const uint64_t *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
    return version < 0x030d || (runtime && memcmp(runtime, "xdebugpy", 8) == 0 && runtime[2] == 0);
}

static const struct layout *find_layout(void)
{
    const unsigned long *version = dlsym(RTLD_DEFAULT, "Py_Version"); /* there since 3.11 */
    for (size_t i = 0; version && sizeof(void *) == 8 && i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].version == *version >> 16)
            return has_gil(layouts[i].version) ? &layouts[i] : NULL;
    return NULL;
}

static bool find_interpreter(void)
{
    const struct layout *found = find_layout();
    void *state = found ? dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState") : NULL;
    code_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyCode_Type");
    text_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyUnicode_Type");
    bytes_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyBytes_Type");
    void *ending = dlsym(RTLD_DEFAULT, found && found->version >= 0x030d ? "Py_IsFinalizing" : "_Py_IsFinalizing");
    if (!state || !ending || !code_type || !text_type || !bytes_type)
        return false;
    memcpy(&thread_state, &state, sizeof state);
    memcpy(&is_finalizing, &ending, sizeof ending);
    uintptr_t inside = (uintptr_t)state;
    dl_iterate_phdr(note_range, &inside);
    layout = found;
    return true;
}

bool python_there(void)
{
    /* 0: not yet looked for; the first call is made in MPI_Init, before any other thread's. */
    static int known;
    if (known == 0)
        known = find_interpreter() ? 1 : -1;
    return known > 0;
}

bool python_is_ending(void)
{
    return is_finalizing() != 0;
}

bool python_is_interpreter(uintptr_t address)
{
    for (size_t i = 0; i < range_count; i++)
        if (address >= ranges[i].begin && address < ranges[i].end)
            return true;
    return false;
}

/* Reading */

enum { PAGE = 4096 };

static bool read_by_kernel(pid_t process, const struct iovec *to, const struct iovec *from, size_t count, size_t all)
{
    return process_vm_readv(process, to, count, from, count, 0) == (ssize_t)all;
}

/* `size` bytes, through one of the windows: FRAME_READ at most. */
static bool read_memory(struct python_memory *memory, int window, void *to, uintptr_t from, size_t size)
{
    if (memory->process == 0) {
        memcpy(to, (const void *)from, size);
        return true;
    }
    if (from + size < from)
        return false;
    if (from < memory->windows[window].begin || from + size > memory->windows[window].end) {
        uintptr_t begin = from / PAGE * PAGE;
        /* By page: what cannot be read may begin with the second one. */
        struct iovec here = {memory->windows[window].bytes, PYTHON_WINDOW};
        struct iovec there[PYTHON_WINDOW / PAGE] = {{(void *)begin, PAGE}, {(void *)(begin + PAGE), PAGE}};
        ssize_t got = process_vm_readv(memory->process, &here, 1, there, PYTHON_WINDOW / PAGE, 0);
        memory->windows[window].begin = memory->windows[window].end = begin;
        if (got > 0)
            memory->windows[window].end += (uintptr_t)got;
    }
    if (from + size > memory->windows[window].end)
        return false;
    memcpy(to, memory->windows[window].bytes + (from - memory->windows[window].begin), size);
    return true;
}

/* `least` bytes of an object, and as many more as are in its page, at most PYTHON_SEEN. */
static size_t seen_of(uintptr_t object, size_t least)
{
    size_t size = PAGE - object % PAGE;
    size = size < least ? least : size;
    return size < PYTHON_SEEN ? size : PYTHON_SEEN;
}

/* Many objects at once: `least` bytes of each, and as many more as are in its page, at most PYTHON_SEEN. */
static bool read_objects(const struct python_memory *memory, unsigned char (*to)[PYTHON_SEEN], const uintptr_t *from,
                         size_t count, size_t least)
{
    enum { AT_ONCE = 32 };
    struct iovec here[AT_ONCE], there[AT_ONCE];
    for (size_t done = 0; done < count;) {
        size_t n = 0, all = 0;
        for (; n < AT_ONCE && done < count; n++, done++) {
            size_t size = seen_of(from[done], least);
            memset(to[done] + size, 0, PYTHON_SEEN - size);
            here[n] = (struct iovec){to[done], size};
            there[n] = (struct iovec){(void *)from[done], size};
            all += size;
            if (memory->process == 0)
                memcpy(to[done], (const void *)from[done], size);
        }
        if (memory->process != 0 && !read_by_kernel(memory->process, here, there, n, all))
            return false;
    }
    return true;
}

static uintptr_t pointer_at(const unsigned char *bytes, size_t offset)
{
    uintptr_t pointer;
    memcpy(&pointer, bytes + offset, sizeof pointer);
    return pointer;
}

/* Frames */

static void frame_take(struct python_frame *frame, const unsigned char *bytes)
{
    *frame = (struct python_frame){.code = pointer_at(bytes, layout->frame_code),
                                   .instruction = pointer_at(bytes, layout->frame_instruction),
                                   .stack = UINTPTR_MAX};
}

/* The frames from `at` on to the outermost of its loop, which is the last one that is taken; or, where frames on the C
   stack separate the loops, of all loops. `loop` is an address in the loop's C frame. */
static bool take_frames(struct python_memory *memory, uintptr_t *at, uintptr_t loop, struct python_frame *frames,
                        size_t most, size_t *count)
{
    unsigned char bytes[FRAME_READ];
    size_t first = *count;
    while (*at && *count < most) {
        if (!read_memory(memory, 0, bytes, *at, sizeof bytes))
            return false;
        uintptr_t here = *at;
        *at = pointer_at(bytes, layout->frame_previous);
        if (layout->frame_owner && bytes[layout->frame_owner] == OWNER_CSTACK) {
            while (first < *count)
                frames[first++].stack = here;
            continue;
        }
        frame_take(&frames[*count], bytes);
        frames[(*count)++].stack = loop;
        if (layout->frame_entry && bytes[layout->frame_entry])
            break;
    }
    return true;
}

/* 3.11: each loop has a struct on the C stack with its innermost frame. */
static size_t frames_by_loop(struct python_memory *memory, uintptr_t loop, struct python_frame *frames, size_t most)
{
    unsigned char bytes[24];
    uintptr_t outer = 0;
    size_t count = 0;
    while (loop && count < most) {
        if (!read_memory(memory, 1, bytes, loop, sizeof bytes))
            return 0;
        uintptr_t frame = pointer_at(bytes, layout->thread_frame);
        /* A frame's caller is the innermost one of the loop outside its own. */
        if (count > 0 && frame != outer)
            return 0;
        if (!take_frames(memory, &frame, loop, frames, most, &count))
            return 0;
        outer = frame;
        loop = pointer_at(bytes, layout->cframe_previous);
    }
    return count;
}

static size_t frames_of_thread(struct python_memory *memory, const unsigned char *thread, struct python_frame *frames,
                               size_t most)
{
    uintptr_t frame = 0;
    size_t count = 0;
    if (layout->cframe_previous)
        return frames_by_loop(memory, pointer_at(thread, layout->thread_cframe), frames, most);
    if (!layout->thread_cframe)
        frame = pointer_at(thread, layout->thread_frame);
    else if (!read_memory(memory, 1, &frame, pointer_at(thread, layout->thread_cframe) + layout->thread_frame,
                          sizeof frame))
        return 0;
    return take_frames(memory, &frame, UINTPTR_MAX, frames, most, &count) ? count : 0;
}

/* Codes */

static uint64_t hash_bytes(uint64_t hash, const unsigned char *bytes, size_t size)
{
    for (; size > 0; bytes += 8, size -= size < 8 ? size : 8) {
        uint64_t word = 0;
        memcpy(&word, bytes, size < 8 ? size : 8);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    return hash;
}

static uint32_t text_state(const unsigned char *text)
{
    uint32_t state;
    memcpy(&state, text + TEXT_STATE, sizeof state);
    return state;
}

/* Where its characters begin; how many bytes each has. */
static size_t text_begin(uint32_t state)
{
    return state & TEXT_ASCII ? layout->text_ascii_data : layout->text_data;
}

static size_t text_width(uint32_t state)
{
    return state >> TEXT_KIND & TEXT_KIND_MASK;
}

static bool is_text(const unsigned char *text)
{
    uint32_t state = text_state(text);
    size_t width = text_width(state);
    return pointer_at(text, OBJECT_TYPE) == text_type && (state & TEXT_COMPACT) &&
           (width == 1 || width == 2 || width == 4);
}

enum { HASHED = 80 };
_Static_assert(HASHED + 72 <= PYTHON_SEEN, "what is hashed is read");

/* Of an object with `size` bytes from `begin` on: the first ones. */
static uint64_t hash_first(uint64_t hash, const unsigned char *object, size_t begin, uint64_t size)
{
    hash = hash_bytes(hash, (const unsigned char *)&size, sizeof size);
    return hash_bytes(hash, object + begin, size < HASHED ? (size_t)size : HASHED);
}

static uint64_t text_bytes(const unsigned char *text)
{
    return pointer_at(text, OBJECT_LENGTH) * text_width(text_state(text));
}

/* Of long names the end; more of it may differ, and so they count as the same only if they are one object. */
static uint64_t hash_text(uint64_t hash, const unsigned char *text, uintptr_t object)
{
    uint64_t bytes = text_bytes(text);
    return hash_first(bytes > HASHED ? hash ^ object : hash, text, text_begin(text_state(text)), bytes);
}

static bool code_take(struct python_frame *frame, const unsigned char *code)
{
    frame->file = pointer_at(code, CODE_FILE);
    frame->name = pointer_at(code, CODE_NAME);
    frame->table = pointer_at(code, CODE_TABLE);
    memcpy(&frame->first_line, code + layout->code_first_line, sizeof frame->first_line);
    return pointer_at(code, OBJECT_TYPE) == code_type;
}

static bool texts_take(struct python_frame *frame, const unsigned char (*texts)[PYTHON_SEEN])
{
    const unsigned char *file = texts[0], *name = texts[1], *table = texts[2];
    if (!is_text(file) || !is_text(name) || pointer_at(table, OBJECT_TYPE) != bytes_type)
        return false;
    frame->table_size = pointer_at(table, OBJECT_LENGTH);
    frame->identity = hash_text((uint64_t)(uint32_t)frame->first_line + 1, file, frame->file);
    frame->identity = hash_text(frame->identity, name, frame->name);
    frame->identity = hash_first(frame->identity, table, BYTES_DATA, frame->table_size);
    return true;
}

static bool read_directly(const struct python_memory *memory, void *to, uintptr_t from, size_t size)
{
    struct iovec here = {to, size}, there = {(void *)from, size};
    if (memory->process != 0)
        return read_by_kernel(memory->process, &here, &there, 1, size);
    memcpy(to, (const void *)from, size);
    return true;
}

/* What is hashed of an object may go on in the next page; names differ at their ends. */
static bool read_hashed(const struct python_memory *memory, unsigned char *object, uintptr_t from, size_t begin,
                        uint64_t size, bool name)
{
    size_t seen = seen_of(from, layout->text_ascii_data), wanted = begin + (size < HASHED ? (size_t)size : HASHED);
    if (name && size > HASHED)
        return read_directly(memory, object + begin, from + begin + size - HASHED, HASHED);
    return wanted <= seen || read_directly(memory, object + seen, from + seen, wanted - seen);
}

static bool read_texts(const struct python_memory *memory, const struct python_frame *frame,
                       unsigned char (*texts)[PYTHON_SEEN])
{
    const uintptr_t from[] = {frame->file, frame->name};
    for (size_t i = 0; i < 2; i++) {
        uint32_t state = text_state(texts[i]);
        if (!is_text(texts[i]) ||
            !read_hashed(memory, texts[i], from[i], text_begin(state), text_bytes(texts[i]), true))
            return false;
    }
    return read_hashed(memory, texts[2], frame->table, BYTES_DATA, pointer_at(texts[2], OBJECT_LENGTH), false);
}

/* Fills in the codes of frames. */
static bool read_codes(struct python_work *work, struct python_frame *frames, size_t count)
{
    uintptr_t *from = work->objects;
    for (size_t i = 0; i < count; i++)
        from[i] = frames[i].code;
    if (!read_objects(&work->memory, work->code, from, count, CODE_READ))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!code_take(&frames[i], work->code[i]))
            return false;
        from[3 * i] = frames[i].file;
        from[3 * i + 1] = frames[i].name;
        from[3 * i + 2] = frames[i].table;
    }
    if (!read_objects(&work->memory, work->texts, from, 3 * count, layout->text_ascii_data))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!read_texts(&work->memory, &frames[i], &work->texts[3 * i]) ||
            !texts_take(&frames[i], (const unsigned char(*)[PYTHON_SEEN]) & work->texts[3 * i]))
            return false;
    return true;
}

size_t python_read_frames(struct python_work *work, struct python_frame *frames, size_t most)
{
    const unsigned char *thread = layout ? thread_state() : NULL;
    if (!thread)
        return 0;
    for (int i = 0; i < 2; i++)
        work->memory.windows[i].begin = work->memory.windows[i].end = 0;
    size_t count = frames_of_thread(&work->memory, thread, frames, most);
    return count > 0 && read_codes(work, frames, count) ? count : 0;
}

/* Lines */

/* A table of lines as it is read. */
struct table {
    struct python_work *work;
    uintptr_t next, end; /* addresses of what is not yet in the buffer */
    size_t at, filled;
};

/* At least the longest entry, if there is that much. */
static bool table_fill(struct table *table)
{
    enum { ENTRY_MOST = 64 };
    unsigned char *buffer = table->work->table;
    size_t left = table->filled - table->at, more = (size_t)(table->end - table->next);
    if (left >= ENTRY_MOST || more == 0)
        return left > 0;
    memmove(buffer, buffer + table->at, left);
    if (more > sizeof table->work->table - left)
        more = sizeof table->work->table - left;
    struct iovec here = {buffer + left, more}, there = {(void *)table->next, more};
    if (table->work->memory.process == 0)
        memcpy(buffer + left, (const void *)table->next, more);
    else if (!read_by_kernel(table->work->memory.process, &here, &there, 1, more))
        return false;
    table->next += more;
    table->at = 0;
    table->filled = left + more;
    return true;
}

static uint32_t table_number(const struct table *table, size_t at)
{
    uint32_t value = 0;
    for (unsigned shift = 0; at < table->filled && shift < 30; shift += 6, at++) {
        value |= (uint32_t)(table->work->table[at] & 0x3F) << shift;
        if (!(table->work->table[at] & 0x40))
            break;
    }
    return value;
}

/* How many lines further the next entry is. An entry begins with a byte that has the highest bit: Objects/locations.md
   of CPython. */
static int32_t table_step(struct table *table, uint32_t *units, bool *lineless)
{
    enum { ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
    unsigned char first = table->work->table[table->at++];
    uint32_t kind = first >> 3 & 0xF, number = table_number(table, table->at);
    *units = (first & 7U) + 1;
    *lineless = kind == NONE;
    while (table->at < table->filled && !(table->work->table[table->at] & 0x80))
        table->at++;
    if (kind == NO_COLUMNS || kind == LONG)
        return number & 1 ? -(int32_t)(number >> 1) : (int32_t)(number >> 1);
    return kind >= ONE_LINE_0 && kind <= ONE_LINE_2 ? (int32_t)(kind - ONE_LINE_0) : 0;
}

int32_t python_read_line(struct python_work *work, const struct python_frame *frame)
{
    uintptr_t begin = frame->table + BYTES_DATA, start = frame->code + layout->code_start;
    struct table table = {.work = work, .next = begin, .end = begin + frame->table_size};
    /* A frame that has not begun is before its first instruction. */
    if (frame->instruction < start)
        return frame->first_line;
    uint64_t wanted = (frame->instruction - start) / 2, at = 0;
    int64_t line = frame->first_line;
    while (table_fill(&table)) {
        uint32_t units;
        bool lineless;
        line += table_step(&table, &units, &lineless);
        at += units;
        if (wanted < at)
            return !lineless && line > 0 && line <= INT32_MAX ? (int32_t)line : 0;
    }
    return 0;
}

/* Texts */

static size_t put_utf8(char *to, uint32_t character)
{
    /* How Python keeps bytes that are no UTF-8 (PEP 383). */
    if (character < 0x80 || (character >= 0xDC80 && character <= 0xDCFF)) {
        to[0] = (char)(character & 0xFF);
        return 1;
    }
    if (character < 0x800) {
        to[0] = (char)(0xC0 | character >> 6);
        to[1] = (char)(0x80 | (character & 0x3F));
        return 2;
    }
    if (character < 0x10000) {
        to[0] = (char)(0xE0 | character >> 12);
        to[1] = (char)(0x80 | (character >> 6 & 0x3F));
        to[2] = (char)(0x80 | (character & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | character >> 18);
    to[1] = (char)(0x80 | (character >> 12 & 0x3F));
    to[2] = (char)(0x80 | (character >> 6 & 0x3F));
    to[3] = (char)(0x80 | (character & 0x3F));
    return 4;
}

bool python_is_importing(struct python_work *work, const struct python_frame *frame)
{
    static const char importlib[] = "<frozen importlib";
    uint64_t length;
    char begin[sizeof importlib - 1];
    return read_memory(&work->memory, 0, &length, frame->file + OBJECT_LENGTH, sizeof length) &&
           length > sizeof begin &&
           read_memory(&work->memory, 0, begin, frame->file + layout->text_ascii_data, sizeof begin) &&
           memcmp(begin, importlib, sizeof begin) == 0;
}

size_t python_read_text(struct python_work *work, uintptr_t text, char *to, size_t size)
{
    unsigned char object[1][PYTHON_SEEN];
    size_t used = 0;
    to[0] = '\0';
    if (!read_objects(&work->memory, object, &text, 1, layout->text_ascii_data) || !is_text(object[0]))
        return 0;
    uint32_t state = text_state(object[0]);
    uint64_t length = pointer_at(object[0], OBJECT_LENGTH);
    size_t width = text_width(state);
    for (uint64_t i = 0; i < length && used + 5 < size; i++) {
        uint32_t character = 0;
        if (!read_memory(&work->memory, 0, &character, text + text_begin(state) + i * width, width))
            break;
        used += put_utf8(to + used, character & 0x1FFFFF);
    }
    to[used] = '\0';
    return used;
}
