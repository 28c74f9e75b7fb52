/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/word_file.h"

#include "core/memory.h"

#include <ctype.h>
#include <libxml/xmlstring.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum status word_file_fault(struct word_file *file, const char *what, const char *value)
{
    return error_set(file->err, ERROR_USAGE, "%s: %s '%.60s'", file->where, what, value);
}

static enum status take_line(struct word_file *file, char *line, word_file_take *take)
{
    line += strspn(line, " \t");
    /* Files of other systems end their lines with a carriage return. */
    for (size_t length = strlen(line); length > 0 && isspace((unsigned char)line[length - 1]); length--)
        line[length - 1] = '\0';
    /* Empty lines and comments. */
    if (!*line || *line == '#')
        return STATUS_OK;
    char *value = line + strcspn(line, " \t");
    if (*value)
        *value++ = '\0';
    value += strspn(value, " \t");
    return take(file, line, value);
}

enum status word_file_parse(struct word_file *file, const char *text, size_t length, word_file_take *take)
{
    const char *end = text + length;
    char line[WORD_LINE_MOST + 1];
    /* A wrong file, such as a trace, ends here and not in a million messages. */
    if (length > WORD_FILE_MOST)
        return error_set(file->err, ERROR_USAGE, "%s: more than %d bytes", file->name, WORD_FILE_MOST);
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t size = (size_t)(end - text);
        if (stop)
            size = (size_t)(stop - text);
        file->line++;
        snprintf(file->where, sizeof file->where, "%.150s:%u", file->name, file->line);
        if (size > WORD_LINE_MOST)
            return error_set(file->err, ERROR_USAGE, "%s: a line of more than %d bytes", file->where, WORD_LINE_MOST);
        memcpy(line, text, size);
        line[size] = '\0';
        /* Titles go into reports and JSON as they are. */
        if (strlen(line) < size || !xmlCheckUTF8((const unsigned char *)line))
            return error_set(file->err, ERROR_USAGE, "%s: not UTF-8 text", file->where);
        if (take_line(file, line, take) != STATUS_OK)
            return STATUS_FAILED;
        text += size + (stop != NULL);
    }
    return STATUS_OK;
}

char *word_file_read(const char *path, const char *what, size_t *length, struct error *err)
{
    FILE *file = fopen(path, "rb");
    /* One byte more than is allowed shows that the file is too long. */
    char *text = memory_new(WORD_FILE_MOST + 1);
    *length = 0;
    if (file)
        *length = fread(text, 1, WORD_FILE_MOST + 1, file);
    if (!file || ferror(file)) {
        (void)error_set_errno(err, ERROR_USAGE, "%s: cannot read %s", path, what);
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}
