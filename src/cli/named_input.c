/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/named_input.h"

#include "core/memory.h"
#include "core/text.h"

#include <string.h>
#include <unistd.h>

char *named_input_split(char *argument, char **name)
{
    char *equals = strchr(argument, '=');
    /* "a=b.clog2" may be the name of a file: then it is one */
    if (equals && equals > argument && access(argument, F_OK) != 0) {
        *name = memory_copy_string(argument);
        (*name)[equals - argument] = '\0';
        return equals + 1;
    }
    *name = memory_copy_string(text_file_name(argument));
    return argument;
}
