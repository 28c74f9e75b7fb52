/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "convert/record/source_lines.h"

#include "convert/record/symbol_name.h"
#include "core/map.h"
#include "core/memory.h"

#include <stddef.h>

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct source_lines {
    Dwfl *session;
    Dwfl_Module *module;
    Dwarf_Addr bias;  /* of the session's addresses to the file's */
    struct map names; /* by the address of a symbol's text: the name; owned. 0: the symbol is the name */
};

bool source_lines_there(void)
{
    return true;
}

struct source_lines *source_lines_open(const char *path)
{
    static char *no_path = NULL;
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo,
                                             .section_address = dwfl_offline_section_address,
                                             .debuginfo_path = &no_path};
    struct stat about;
    /* Devices and pipes may block when they are opened. */
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return NULL;
    unsetenv("DEBUGINFOD_URLS"); /* nothing is fetched from the network */
    struct source_lines *lines = memory_new(sizeof *lines);
    lines->session = dwfl_begin(&callbacks);
    if (lines->session) {
        dwfl_report_begin(lines->session);
        /* Offline: the file is looked at, not a process that runs it. */
        lines->module = dwfl_report_offline(lines->session, path, path, -1);
        dwfl_report_end(lines->session, NULL, NULL);
    }
    if (lines->module && dwfl_module_getelf(lines->module, &lines->bias))
        return lines;
    source_lines_close(lines);
    return NULL;
}

void source_lines_close(struct source_lines *lines)
{
    if (lines && lines->session)
        dwfl_end(lines->session);
    for (size_t i = 0; lines && i < lines->names.capacity; i++)
        if (lines->names.entries[i].key != 0)
            free((char *)(uintptr_t)lines->names.entries[i].value);
    if (lines)
        map_clear(&lines->names);
    free(lines);
}

/* Texts of symbols stay where they are while the file is open. */
static const char *name_of(struct source_lines *lines, const char *symbol)
{
    uint64_t key = (uint64_t)(uintptr_t)symbol, *known = map_find(&lines->names, key);
    if (!known)
        known = map_put(&lines->names, key, (uint64_t)(uintptr_t)symbol_name(symbol));
    return *known ? (const char *)(uintptr_t)*known : symbol;
}

/* Without the directory of compilation, which does not describe the program. */
static void take_file(struct source_place *place, const char *directory, const char *file)
{
    size_t length = directory ? strlen(directory) : 0;
    if (file && length > 0 && strncmp(file, directory, length) == 0 && file[length] == '/')
        file += length + 1;
    /* Compilers are called with ./file.c as often as with file.c. */
    while (file && strncmp(file, "./", 2) == 0)
        file += 2;
    place->file = file;
    place->directory = file && *file != '/' ? directory : NULL;
}

static bool is_function(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_entry_point;
}

/* A symbol says which class or namespace a function is in, its name in the debug information does not. Where the symbol
   says no more than that name, it may have underscores of the compiler's. */
static const char *die_name(struct source_lines *lines, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *symbol = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
    const char *name = symbol ? name_of(lines, symbol) : NULL;
    return name && name != symbol ? name : dwarf_diename(die);
}

/* The unit of an address, or NULL. Clang leaves out the table that says which unit an address is in: each is asked.
   With -gsplit-dwarf functions are in another file, and the program's has only the skeleton of the unit. */
static Dwarf_Die *unit_of(struct source_lines *lines, Dwarf_Addr address, Dwarf_Addr *bias, Dwarf_Die *split)
{
    Dwarf_Die *unit = dwfl_module_addrdie(lines->module, address, bias);
    uint8_t type;
    if (!unit)
        while ((unit = dwfl_module_nextcu(lines->module, unit, bias)))
            if (dwarf_haspc(unit, address - *bias) > 0)
                break;
    if (unit && dwarf_cu_info(unit->cu, NULL, &type, NULL, split, NULL, NULL, NULL) == 0 && type == DW_UT_skeleton &&
        dwarf_tag(split) != DW_TAG_invalid)
        return split;
    return unit;
}

/* The functions that the code of an address is in, the innermost last: inlined ones lie in the one around them. libdw
   has dwarf_getscopes, but that finds nothing where what an inlined function was made from is in another unit, as in
   programs that are optimised as a whole (-flto). */
enum { FUNCTIONS_MOST = 64, DEPTH_MOST = 200 };
struct functions {
    Dwarf_Addr address;
    bool aside; /* also in functions that do not have the address: what is nested in them has code of its own */
    Dwarf_Die die[FUNCTIONS_MOST];
    size_t count;
};

/* What has addresses of its own, and what has only parts that do. */
static bool has_code(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return is_function(die) || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block ||
           tag == DW_TAG_with_stmt;
}

static bool has_parts(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
           tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

static bool search(struct functions *functions, Dwarf_Die *scope, int depth)
{
    Dwarf_Die child;
    if (depth > DEPTH_MOST || dwarf_child(scope, &child) != 0)
        return false;
    do {
        if (has_code(&child) && dwarf_haspc(&child, functions->address) > 0) {
            if (is_function(&child) && functions->count < FUNCTIONS_MOST)
                functions->die[functions->count++] = child;
            search(functions, &child, depth + 1);
            return true;
        }
        if ((has_parts(&child) || (functions->aside && has_code(&child))) && search(functions, &child, depth + 1))
            return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

static void functions_of(struct functions *functions, Dwarf_Die *unit, Dwarf_Addr address)
{
    functions->address = address;
    functions->aside = false;
    functions->count = 0;
    if (search(functions, unit, 0))
        return;
    functions->aside = true;
    search(functions, unit, 0);
}

/* Debug information knows inlined functions; without it the table of symbols knows the one whose code it is. */
static const char *function_of(struct source_lines *lines, Dwarf_Addr address)
{
    Dwarf_Addr bias;
    Dwarf_Die split, *unit = unit_of(lines, address, &bias, &split);
    struct functions functions = {0};
    if (unit)
        functions_of(&functions, unit, address - bias);
    for (size_t i = functions.count; i-- > 0;) {
        const char *name = die_name(lines, &functions.die[i]);
        if (name)
            return name;
    }
    const char *symbol = dwfl_module_addrname(lines->module, address);
    return symbol ? name_of(lines, symbol) : NULL;
}

/* Clang leaves out the table that says which unit an address is in: each is asked. */
static void find_in_units(struct source_lines *lines, Dwarf_Addr address, struct source_place *place)
{
    Dwarf_Addr bias;
    Dwarf_Attribute directory;
    int number = 0;
    for (Dwarf_Die *unit = NULL; (unit = dwfl_module_nextcu(lines->module, unit, &bias));) {
        Dwarf_Line *line = dwarf_haspc(unit, address - bias) > 0 ? dwarf_getsrc_die(unit, address - bias) : NULL;
        if (!line)
            continue;
        const char *compiled_in = dwarf_attr(unit, DW_AT_comp_dir, &directory) ? dwarf_formstring(&directory) : NULL;
        take_file(place, compiled_in, dwarf_linesrc(line, NULL, NULL));
        place->line = dwarf_lineno(line, &number) == 0 ? number : 0;
        return;
    }
}

bool source_lines_find(struct source_lines *lines, uint64_t address, struct source_place *place)
{
    *place = (struct source_place){0};
    /* Addresses in the recording are those of the file, the session's may be moved. */
    address += lines->bias;
    int number = 0;
    Dwfl_Line *line = dwfl_module_getsrc(lines->module, address);
    if (line)
        take_file(place, dwfl_line_comp_dir(line), dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL));
    place->line = number;
    if (!line)
        find_in_units(lines, address, place);
    place->function = function_of(lines, address);
    return place->file || place->function;
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    if (dwarf_formudata(dwarf_attr(die, name, &attribute), &number) == 0)
        return number;
    return 0;
}

/* Where an inlined function is called from, but for the function. */
static struct source_place call_of(Dwarf_Die *unit, Dwarf_Die *inlined)
{
    Dwarf_Files *files;
    Dwarf_Attribute attribute;
    size_t count;
    struct source_place place = {.line = (int32_t)number_of(inlined, DW_AT_call_line)};
    Dwarf_Word file = number_of(inlined, DW_AT_call_file);
    if (dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count)
        take_file(&place, dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute)),
                  dwarf_filesrc(files, file, NULL, NULL));
    return place;
}

size_t source_lines_inlined(struct source_lines *lines, uint64_t address, struct source_place *places, size_t most)
{
    Dwarf_Addr bias;
    Dwarf_Die split, *unit = unit_of(lines, address + lines->bias, &bias, &split);
    struct functions functions = {0};
    size_t found = 0;
    if (unit)
        functions_of(&functions, unit, address + lines->bias - bias);
    for (size_t i = functions.count; i-- > 0;) {
        /* The function around an inlined one is known when the next scope is met. */
        if (found > 0)
            places[found - 1].function = die_name(lines, &functions.die[i]);
        if (found == most || dwarf_tag(&functions.die[i]) != DW_TAG_inlined_subroutine)
            break;
        places[found++] = call_of(unit, &functions.die[i]);
    }
    return found;
}
#else
bool source_lines_there(void)
{
    return false;
}

struct source_lines *source_lines_open(const char *path)
{
    (void)path;
    return NULL;
}

void source_lines_close(struct source_lines *lines)
{
    (void)lines;
}

bool source_lines_find(struct source_lines *lines, uint64_t address, struct source_place *place)
{
    (void)lines;
    (void)address;
    (void)place;
    return false;
}

size_t source_lines_inlined(struct source_lines *lines, uint64_t address, struct source_place *places, size_t most)
{
    (void)lines;
    (void)address;
    (void)places;
    (void)most;
    return 0;
}
#endif
