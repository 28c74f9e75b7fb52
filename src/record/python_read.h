/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RECORD_PYTHON_READ_H
#define SIGHT_RECORD_PYTHON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What the Python interpreter executes in this thread, read from its own structures: nothing of the interpreter is
   called but PyGILState_GetThisThreadState, no reference is taken and no lock. The offsets are those of CPython 3.11 to
   3.13 for 64-bit machines (Include/internal/pycore_frame.h, cpython/pystate.h, cpython/code.h, cpython/unicodeobject.h
   of these versions); of any other version, or one built without the GIL, nothing is read.

   While a thread is in a function of MPI, its frames do not change, and are read directly. A signal may come while the
   interpreter changes them: then every read is one of the kernel (process_vm_readv of the process itself), which fails
   where there is no memory, and what was read counts only if it is a code object with its texts. */

enum {
    PYTHON_FRAMES_MOST = 64,
    PYTHON_SEEN = 160,   /* bytes of each object that are looked at */
    PYTHON_WINDOW = 8192 /* bytes that are read at once: frames follow each other */
};

/* Memory of the interpreter as it is read. */
struct python_memory {
    pid_t process; /* 0: reads directly */
    struct {
        uintptr_t begin, end;
        unsigned char bytes[PYTHON_WINDOW];
    } windows[2];
};

/* A frame, and the code that it executes. */
struct python_frame {
    uintptr_t code, instruction;
    uintptr_t stack; /* an address in the C frame of the interpreter's loop that executes it; UINTPTR_MAX: not known */
    uintptr_t file, name, table;
    uint64_t identity; /* the same for the same file, function, first line and beginning of the table of lines */
    uint64_t table_size;
    int32_t first_line;
};

/* What reading takes besides; too much for the stack of a signal's handler. */
struct python_work {
    struct python_memory memory;
    unsigned char code[PYTHON_FRAMES_MOST][PYTHON_SEEN], texts[3 * PYTHON_FRAMES_MOST][PYTHON_SEEN];
    uintptr_t objects[3 * PYTHON_FRAMES_MOST];
    unsigned char table[4096];
};

/* True if this process has an interpreter that is known; looked for at the first call. */
bool python_there(void);

/* True from when the interpreter begins to end. */
bool python_is_ending(void);

/* Frames of this thread, the innermost first, at most `most`. 0: there are none, or they cannot be read now. */
size_t python_read_frames(struct python_work *work, struct python_frame *frames, size_t most);

/* The line that a frame executes; 0: not known. */
int32_t python_read_line(struct python_work *work, const struct python_frame *frame);

/* True of the import system, which is between a program and the modules that it imports. */
bool python_is_importing(struct python_work *work, const struct python_frame *frame);

/* A text of the interpreter in UTF-8 (bytes of file names that are no UTF-8 as they are), ended by NUL: its length. */
size_t python_read_text(struct python_work *work, uintptr_t text, char *to, size_t size);

/* True of an address in the code of the interpreter itself. */
bool python_is_interpreter(uintptr_t address);

#endif
