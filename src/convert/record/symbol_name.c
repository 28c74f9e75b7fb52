/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "convert/record/symbol_name.h"

#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LIBIBERTY
#include <libiberty/demangle.h>
#endif

bool symbol_name_there(void)
{
#ifdef HAVE_LIBIBERTY
    return true;
#else
    return false;
#endif
}

static char *fortran_name(const char *symbol)
{
    static const char between[] = "_MOD_";
    const char *middle = strncmp(symbol, "__", 2) == 0 ? strstr(symbol, between) : NULL;
    if (!middle || middle == symbol + 2 || !middle[sizeof between - 1])
        return NULL;
    size_t size = strlen(symbol) + 1;
    char *name = memory_new(size);
    snprintf(name, size, "%.*s::%s", (int)(middle - symbol - 2), symbol + 2, middle + sizeof between - 1);
    return name;
}

char *symbol_name(const char *symbol)
{
    char *name = fortran_name(symbol);
#ifdef HAVE_LIBIBERTY
    /* Its other styles take plain C names for theirs. */
    if (!name && (strncmp(symbol, "_Z", 2) == 0 || strncmp(symbol, "_R", 2) == 0))
        name = cplus_demangle(symbol, DMGL_ANSI | DMGL_AUTO);
#endif
    return name;
}
