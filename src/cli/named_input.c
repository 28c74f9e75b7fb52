/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/named_input.h"

#include "core/memory.h"

#include <string.h>
#include <unistd.h>

char *named_input_split(char *argument, char **name)
{
    char *equals = strchr(argument, '=');
    if (equals && equals > argument && access(argument, F_OK) != 0) {
        *name = memory_copy_string(argument);
        (*name)[equals - argument] = '\0';
        return equals + 1;
    }
    const char *slash = strrchr(argument, '/');
    *name = memory_copy_string(slash && slash[1] ? slash + 1 : argument);
    return argument;
}
