/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/launch_note.h"

#include "core/directory.h"
#include "core/memory.h"
#include "core/shell_text.h"
#include "core/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    COMMAND_SIZE = 4000,
    DEATH_SIZE = 80,
    NOTE_SIZE = COMMAND_SIZE + 100 + LAUNCH_DEATHS_MAX * DEATH_SIZE,
    ZONE_MAX_S = 26 * 3600
};
static const int64_t ms_of_year_10000 = INT64_C(253402300800000);

/* Of a length that does not change: it is overwritten while the command runs. */
#define ALIVE "alive=%019" PRId64 "%c"

static char *path_of(const char *directory)
{
    char *path;
    if (asprintf(&path, "%s/" LAUNCH_NOTE_NAME, directory) < 0)
        return NULL;
    return path;
}

enum status launch_note_write(const char *directory, char *const *command, size_t count, struct error *err)
{
    static const char cut[] = " ...";
    char text[COMMAND_SIZE] = "";
    bool whole = true;
    /* Words are quoted as a shell takes them, so that the command can be repeated. */
    for (size_t i = 0; i < count && whole; i++)
        whole = shell_text_add(text, sizeof text - sizeof cut, command[i]);
    /* A command that is cut says so: it must not be repeated as it stands. */
    if (!whole)
        strcat(text, cut);
    time_t now = time(NULL);
    /* The zone is that of the launch: the trace may be read elsewhere. */
    struct tm local = {0};
    localtime_r(&now, &local);
    char *path = path_of(directory);
    FILE *file = path ? fopen(path, "we") : NULL;
    /* Fields end with a zero byte, which no argument can have. */
    bool fine = file && fprintf(file, "command=%s%czone=%ld%c" ALIVE, text, 0, local.tm_gmtoff, 0, INT64_C(0), 0) > 0;
    if (file && fclose(file) != 0)
        fine = false;
    enum status status = fine ? STATUS_OK : error_set_errno(err, ERROR_OUTPUT, "%s: cannot write", path);
    free(path);
    return status;
}

enum status launch_note_end(const char *directory, int64_t ended_ns, struct error *err)
{
    char *path = path_of(directory);
    FILE *file = path ? fopen(path, "ae") : NULL;
    bool fine = file && fprintf(file, "ended=%" PRId64 "%c", ended_ns, 0) > 0;
    if (file && fclose(file) != 0)
        fine = false;
    enum status status = fine ? STATUS_OK : error_set_errno(err, ERROR_OUTPUT, "%s: cannot write", path);
    free(path);
    return status;
}

static void take_death(struct launch_note *note, const char *line)
{
    struct launch_death death;
    if (note->death_count < LAUNCH_DEATHS_MAX &&
        sscanf(line, "died=%" SCNx64 " %" SCNu32 " %" SCNd32 " %" SCNd64, &death.host, &death.pid, &death.how,
               &death.at_ns) == 4 &&
        death.at_ns > 0)
        note->deaths[note->death_count++] = death;
}

static void take(struct launch_note *note, const char *line)
{
    int64_t zone_s, ended_ns, alive_ns;
    /* The first one counts: a command may have "command=" in it. */
    if (strncmp(line, "command=", 8) == 0 && line[8] && !note->command)
        note->command = text_from_bytes(line + 8, strlen(line + 8));
    if (strncmp(line, "zone=", 5) == 0 && text_parse_i64(line + 5, -ZONE_MAX_S, ZONE_MAX_S, &zone_s)) {
        note->has_zone = true;
        note->zone_s = (int)zone_s;
    }
    if (strncmp(line, "ended=", 6) == 0 && text_parse_i64(line + 6, 1, INT64_MAX, &ended_ns))
        note->ended_ns = ended_ns;
    if (strncmp(line, "alive=", 6) == 0 && text_parse_i64(line + 6, 1, INT64_MAX, &alive_ns))
        note->alive_ns = alive_ns;
    take_death(note, line);
}

/* The place of the field; 0: there is none. The command comes first, and may have these words in it. */
static long place_of_alive(FILE *file)
{
    char text[NOTE_SIZE + 1];
    size_t length = fread(text, 1, NOTE_SIZE, file);
    text[length] = '\0';
    for (const char *at = text; at < text + length; at += strlen(at) + 1)
        if (strncmp(at, "alive=", 6) == 0)
            return (long)(at - text);
    return 0;
}

void launch_note_alive(const char *directory, int64_t alive_ns)
{
    char *path = path_of(directory);
    FILE *file = path ? fopen(path, "r+e") : NULL;
    long place = file ? place_of_alive(file) : 0;
    if (place > 0 && fseek(file, place, SEEK_SET) == 0)
        fprintf(file, ALIVE, alive_ns, 0);
    if (file)
        fclose(file);
    free(path);
}

void launch_note_death(const char *directory, const struct launch_death *death)
{
    char *path = path_of(directory);
    FILE *file = path ? fopen(path, "r+e") : NULL;
    if (file && fseek(file, 0, SEEK_END) == 0)
        fprintf(file, "died=%" PRIx64 " %" PRIu32 " %" PRId32 " %" PRId64 "%c", death->host, death->pid, death->how,
                death->at_ns, 0);
    if (file)
        fclose(file);
    free(path);
}

void launch_note_read(struct launch_note *note, const char *directory)
{
    char text[NOTE_SIZE + 1], *path = path_of(directory);
    FILE *file = path ? fopen(directory_place(path), "re") : NULL;
    /* A note is missing in recordings of older versions: nothing is known then. */
    size_t length = file ? fread(text, 1, NOTE_SIZE, file) : 0;
    text[length] = '\0';
    for (const char *at = text; at < text + length; at += strlen(at) + 1)
        take(note, at);
    if (file)
        fclose(file);
    free(path);
}

void launch_note_clear(struct launch_note *note)
{
    free(note->command);
    *note = (struct launch_note){0};
}

bool launch_note_date(const struct launch_note *note, int64_t ms, char *text, size_t size)
{
    struct tm date;
    if (ms < 0 || ms >= ms_of_year_10000)
        return false;
    time_t seconds = (time_t)(ms / 1000) + (note->has_zone ? note->zone_s : 0);
    if (!gmtime_r(&seconds, &date))
        return false;
    size_t length = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &date);
    length += (size_t)snprintf(text + length, size - length, ".%03d", (int)(ms % 1000));
    /* Zones differ from UTC by whole minutes. */
    int minutes = abs(note->zone_s) / 60;
    if (note->has_zone && note->zone_s != 0)
        snprintf(text + length, size - length, "%c%02d:%02d", note->zone_s < 0 ? '-' : '+', minutes / 60, minutes % 60);
    else
        snprintf(text + length, size - length, "Z");
    return true;
}
