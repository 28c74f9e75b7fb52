/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/source_report.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "core/property.h"
#include "core/text.h"
#include "render/reports/page.h"
#include "render/terminal_text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { AROUND = 3, TEXT_COLUMNS = 52, PAGE_COLUMNS = 110, LINES_MOST = 1 << 20, LINE_BYTES_MOST = 1 << 16 };

/* What a line costs, over all functions that have it. */
struct cost {
    uint64_t samples;
    int64_t self_ns, total_ns;
};

/* The lines of a file, from 1; costs of all, texts where the file could be read. */
struct source {
    struct cost *costs;
    char **texts;
    size_t count, cost_capacity;
    bool found;
    int64_t self_ns;
};

static bool ends_with(const char *file, const char *wanted)
{
    size_t length = strlen(file), tail = strlen(wanted);
    /* At a slash only: "heat.c" must not find "preheat.c". */
    return tail <= length && strcmp(file + length - tail, wanted) == 0 &&
           (tail == length || file[length - tail - 1] == '/' || *wanted == '/');
}

/* `length`: of the directory. */
static FILE *open_in(const char *directory, size_t length, const char *name)
{
    char path[PATH_MAX];
    int written = snprintf(path, sizeof path, "%.*s/%s", (int)length, directory, name);
    if (written > 0 && (size_t)written < sizeof path)
        return fopen(path, "re");
    return NULL;
}

/* Where it was compiled, from here, and beside the trace. */
static FILE *source_open(const struct profile *profile, const char *trace, const char *name)
{
    const struct property_list *properties = &profile->defs->properties;
    const char *last = strrchr(name, '/'), *slash = strrchr(trace, '/'), *folder = slash ? trace : ".";
    size_t length = slash ? (size_t)(slash - trace) : 1;
    FILE *file = NULL;
    for (size_t i = 0; !file && *name != '/' && i < properties->count; i++)
        if (strcmp(properties->rows[i].name, PROPERTY_COMPILED) == 0)
            file = open_in(properties->rows[i].value, strlen(properties->rows[i].value), name);
    if (!file)
        file = fopen(name, "re");
    /* The whole path below the trace's folder, or the file alone there. */
    if (!file)
        file = open_in(folder, length, name);
    if (!file)
        file = open_in(folder, length, last ? last + 1 : name);
    return file;
}

/* The file with the costliest line of those that are here: a library's are not, though much may be computed in them. */
static const char *costliest(const struct profile *profile, const struct profile_rows *lines, const char *trace)
{
    const char *first = NULL, *before = NULL;
    for (size_t i = 0; i < lines->count; i++) {
        const char *name = lines->row[i].file;
        if (!*name || (before && strcmp(before, name) == 0))
            continue;
        FILE *file = source_open(profile, trace, name);
        if (file) {
            fclose(file);
            return name;
        }
        first = first ? first : name;
        before = name;
    }
    return first;
}

const char *source_file_find(const struct profile *profile, const struct profile_rows *lines, const char *wanted,
                             const char *trace)
{
    const char *found = NULL;
    if (!wanted)
        return costliest(profile, lines, trace);
    for (size_t i = 0; i < lines->count; i++) {
        const char *file = lines->row[i].file;
        if (!*file || !ends_with(file, wanted))
            continue;
        if (strcmp(file, wanted) == 0)
            return file;
        /* Two files end alike: which one was meant is not known. */
        if (found && strcmp(found, file) != 0)
            return NULL;
        found = file;
    }
    return found;
}

static void need_lines(struct source *source, size_t count)
{
    if (count <= source->count)
        return;
    /* Both arrays grow together; what is new must be 0. */
    size_t capacity = source->cost_capacity;
    ARRAY_RESERVE(source->costs, source->cost_capacity, count);
    source->texts = memory_resize(source->texts, source->cost_capacity * sizeof *source->texts);
    memset(&source->costs[capacity], 0, (source->cost_capacity - capacity) * sizeof *source->costs);
    memset(&source->texts[capacity], 0, (source->cost_capacity - capacity) * sizeof *source->texts);
    source->count = count;
}

static struct source source_read(const struct source_report *report)
{
    struct source source = {0};
    FILE *file = source_open(report->profile, report->trace, report->file);
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    source.found = file != NULL;
    /* The file may be anything that has this name now: its size is limited. */
    while (file && source.count < LINES_MOST && (length = getline(&line, &size, file)) >= 0) {
        need_lines(&source, source.count + 1);
        /* Files of other systems end their lines with both. */
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
            length--;
        line[smaller(length, LINE_BYTES_MOST)] = '\0';
        source.texts[source.count - 1] = memory_copy_string(line);
    }
    free(line);
    if (file)
        fclose(file);
    for (size_t i = 0; i < report->lines->count; i++) {
        const struct profile_row *row = &report->lines->row[i];
        if (strcmp(row->file, report->file) != 0 || row->line <= 0 || row->line > LINES_MOST)
            continue;
        need_lines(&source, (size_t)row->line);
        struct cost *cost = &source.costs[row->line - 1];
        cost->samples += row->samples;
        time_add(&cost->self_ns, row->self_ns);
        /* Functions of a line call each other: their totals overlap and must not be added up. */
        cost->total_ns = larger(row->total_ns, cost->total_ns);
        time_add(&source.self_ns, row->self_ns);
    }
    return source;
}

/* Lines beyond the text have none: free() takes NULL. */
static void source_clear(struct source *source)
{
    for (size_t i = 0; i < source->count; i++)
        free(source->texts[i]);
    free(source->texts);
    free(source->costs);
}

/* Whether a line that costs so much is among those around it. */
static bool is_near(const struct source *source, size_t line, int64_t least_ns)
{
    size_t from = 0, to = line + AROUND;
    if (line > AROUND)
        from = line - AROUND;
    for (size_t i = from; i <= to && i < source->count; i++)
        if (least_ns > 0 ? source->costs[i].self_ns >= least_ns
                         : source->costs[i].total_ns > 0 || source->costs[i].samples > 0)
            return true;
    return false;
}

/* Tabs become blanks. */
static void shown_text(char *shown, size_t size, const char *text, size_t columns)
{
    char blanks[4 * PAGE_COLUMNS];
    size_t used = 0;
    for (; *text && used + 8 < sizeof blanks; text++) {
        /* Every eighth column, as terminals and editors have it. */
        size_t width = 1;
        if (*text == '\t')
            width = 8 - used % 8;
        memset(blanks + used, *text == '\t' ? ' ' : *text, width);
        used += width;
    }
    blanks[used] = '\0';
    text_for_terminal(shown, size, blanks, columns);
}

enum heat { COLD, WARM, HOT, HOTTEST, HEATS };

/* Of a line with this share of the computing. */
static enum heat heat_of(double share)
{
    if (share >= 0.2)
        return HOTTEST;
    if (share >= 0.05)
        return HOT;
    return share > 0 ? WARM : COLD;
}

/* The hotter, the redder: colours of the 256 that terminals have. */
static const char *const terminal_heats[HEATS] = {
    [COLD] = "", [WARM] = "\033[38;5;178m", [HOT] = "\033[38;5;208m", [HOTTEST] = "\033[1;38;5;196m"};

static void write_line(struct output *output, const struct source_report *report, const struct source *source,
                       size_t line)
{
    char self[TEXT_NUMBER_SIZE] = "", total[TEXT_NUMBER_SIZE] = "", shown[VALUE_TEXT_SIZE] = "";
    const struct cost *cost = &source->costs[line];
    double share = ratio_of((double)cost->self_ns, (double)report->profile->ns);
    const char *heat = "";
    if (report->colour)
        heat = terminal_heats[heat_of(share)];
    if (cost->self_ns > 0)
        text_share(self, share);
    /* A total that is only the line's own time would be the same number twice. */
    if (cost->total_ns > cost->self_ns)
        text_share(total, (double)cost->total_ns / (double)report->profile->ns);
    if (source->texts[line])
        shown_text(shown, sizeof shown, source->texts[line], TEXT_COLUMNS);
    output_print(output, "%s%8s %8s %7zu  %s%s\n", heat, self, total, line + 1, shown, *heat ? "\033[0m" : "");
}

void source_write_text(struct output *output, const struct source_report *report)
{
    struct source source = source_read(report);
    char share[TEXT_NUMBER_SIZE], head[600];
    bool gap = false;
    snprintf(head, sizeof head, "%s — %s: %s of the computing", report->title, report->file,
             text_share(share, ratio_of((double)source.self_ns, (double)report->profile->ns)));
    paragraph_write(output, "", "  ", head);
    if (!source.found)
        paragraph_write(output, "", "  ", "The file is not where it was compiled, nor here, nor beside the trace.");
    output_text(output, "\n    self    total    line\n");
    for (size_t line = 0; line < source.count; line++) {
        bool costs = source.costs[line].samples > 0 || source.costs[line].total_ns > 0;
        /* Without the file's text only lines that cost something have anything to show. */
        bool shown = costs;
        if (source.found)
            shown = report->all || is_near(&source, line, 0);
        if (shown && gap)
            output_text(output, "                         ⋮\n");
        gap = !shown;
        if (shown)
            write_line(output, report, &source, line);
    }
    source_clear(&source);
}

void source_write_json(struct output *output, const struct source_report *report)
{
    struct source source = source_read(report);
    struct json json = {.output = output};
    json_open(&json, NULL, '{');
    json_value(&json, "schema", value_text("sight-source/1"));
    json_value(&json, "file", value_text(report->file));
    json_value(&json, "found", value_bool(source.found));
    json_value(&json, "self_s", value_time(source.self_ns));
    json_open(&json, "lines", '[');
    for (size_t line = 0; line < source.count; line++) {
        const struct cost *cost = &source.costs[line];
        if (!report->all && cost->samples == 0 && cost->total_ns == 0)
            continue;
        json_open(&json, NULL, '{');
        json_value(&json, "line", value_count(line + 1));
        json_value(&json, "samples", value_count(cost->samples));
        json_value(&json, "self_s", value_time(cost->self_ns));
        json_value(&json, "total_s", value_time(cost->total_ns));
        json_value(&json, "text", value_text(source.texts[line]));
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    source_clear(&source);
}

/* A page shows the hottest lines of at most so many files. A line has at least this share of the computing, so that
   there are 100 of them at most; the lines around them are shown, too. */
enum { PAGE_FILES = 3, PAGE_LINES = 100 * (2 * AROUND + 1) };
static const double PAGE_SHARE = 0.01;

/* A trace may name any file of whoever makes a report. */
static bool is_called_source(const char *file)
{
    static const char *const suffixes[] = {"c",   "cc",  "cpp", "cxx", "h",   "hh",  "hpp", "hxx", "f",  "for",
                                           "f77", "f90", "f95", "f03", "f08", "inc", "cu",  "jl",  "py", "rs"};
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot && i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcasecmp(dot + 1, suffixes[i]) == 0)
            return true;
    return false;
}

/* A file of the page, with the lines that are shown of it. */
struct page_file {
    struct source_report report;
    struct source source;
    size_t shown[PAGE_LINES], count;
};

static void page_file_read(struct page_file *file)
{
    int64_t least_ns = larger((int64_t)(PAGE_SHARE * (double)file->report.profile->ns), 1);
    file->source = source_read(&file->report);
    for (size_t line = 0; line < file->source.count && file->count < PAGE_LINES; line++)
        if (file->source.found ? is_near(&file->source, line, least_ns) : file->source.costs[line].self_ns >= least_ns)
            file->shown[file->count++] = line;
}

static void page_file_clear(struct page_file *file)
{
    source_clear(&file->source);
    free(file);
}

/* Files in the order of their hottest lines. NULL: there are no more, or too little is computed in them. */
static struct page_file *page_file_next(const struct profile_rows *lines, const struct profile *profile,
                                        const char *trace, size_t *next)
{
    for (size_t i = *next; i < lines->count; i++) {
        const struct profile_row *row = &lines->row[i];
        bool seen = !is_called_source(row->file) || row->line <= 0;
        for (size_t j = 0; j < i && !seen; j++)
            seen = lines->row[j].line > 0 && strcmp(lines->row[j].file, row->file) == 0;
        if ((double)row->self_ns < PAGE_SHARE * (double)profile->ns)
            return NULL;
        if (seen)
            continue;
        struct page_file *file = memory_new(sizeof *file);
        file->report = (struct source_report){.profile = profile, .lines = lines, .file = row->file, .trace = trace};
        page_file_read(file);
        *next = i + 1;
        return file;
    }
    return NULL;
}

static double self_share(const struct page_file *file, size_t line)
{
    return ratio_of((double)file->source.costs[line].self_ns, (double)file->report.profile->ns);
}

/* The colours of verdicts. */
static const char *const page_heats[HEATS] = {
    [COLD] = " class=\"muted\"", [WARM] = "", [HOT] = " class=\"fair\"", [HOTTEST] = " class=\"poor\""};

static void write_page_line(struct output *output, const struct page_file *file, size_t line)
{
    char self[TEXT_NUMBER_SIZE] = "", shown[VALUE_TEXT_SIZE] = "", number[TEXT_NUMBER_SIZE];
    double share = self_share(file, line);
    if (share > 0)
        text_share(self, share);
    if (file->source.texts[line])
        shown_text(shown, sizeof shown, file->source.texts[line], PAGE_COLUMNS);
    snprintf(number, sizeof number, "%zu", line + 1);
    output_print(output, "<tr%s>", page_heats[heat_of(share)]);
    page_element(output, "<td>", self, "</td>");
    page_element(output, "<td>", number, "</td>");
    page_element(output, "<td class=\"left\"><code>", shown, "</code></td></tr>\n");
}

static void write_page_file(struct output *output, const struct page_file *file)
{
    char share[TEXT_NUMBER_SIZE];
    page_element(output, "<h3>", file->report.file, "</h3>\n");
    page_element(output, "<p class=\"muted\">",
                 text_share(share, ratio_of((double)file->source.self_ns, (double)file->report.profile->ns)),
                 " of the computing");
    output_text(output, file->source.found ? ".</p>\n" : "; the file was not found.</p>\n");
    output_text(output, "<div class=\"wide\"><table class=\"source\">\n<thead><tr><th scope=\"col\">self</th>"
                        "<th scope=\"col\">line</th><th scope=\"col\" class=\"left\">source</th></tr></thead>\n"
                        "<tbody>\n");
    for (size_t i = 0; i < file->count; i++) {
        if (i > 0 && file->source.found && file->shown[i] != file->shown[i - 1] + 1)
            output_text(output, "<tr class=\"muted\"><td></td><td>\xe2\x8b\xae</td><td></td></tr>\n");
        write_page_line(output, file, file->shown[i]);
    }
    output_text(output, "</tbody></table></div>\n");
}

bool source_is_known(const struct profile *profile)
{
    struct profile_rows lines = {0};
    bool known = false;
    if (profile && profile->samples > 0)
        lines = profile_rows_of(profile, PROFILE_BY_LINE);
    for (size_t i = 0; i < lines.count && !known; i++)
        known = is_called_source(lines.row[i].file) && lines.row[i].line > 0 &&
                (double)lines.row[i].self_ns >= PAGE_SHARE * (double)profile->ns;
    if (profile && profile->samples > 0)
        profile_rows_clear(&lines);
    return known;
}

void source_write_html(struct output *output, const struct profile *profile, const char *trace)
{
    if (!source_is_known(profile))
        return;
    struct profile_rows lines = profile_rows_of(profile, PROFILE_BY_LINE);
    struct page_file *file;
    size_t next = 0;
    output_text(output, "<section id=\"source\">\n<h2>Source</h2>\n<p class=\"muted\">The lines that the program "
                        "computes longest in, by samples.</p>\n");
    for (size_t i = 0; i < PAGE_FILES && (file = page_file_next(&lines, profile, trace, &next)) != NULL; i++) {
        write_page_file(output, file);
        page_file_clear(file);
    }
    output_text(output, "</section>\n");
    profile_rows_clear(&lines);
}

static void write_hottest_line(struct json *json, const struct page_file *file, size_t line)
{
    char shown[VALUE_TEXT_SIZE] = "";
    if (file->source.texts[line])
        shown_text(shown, sizeof shown, file->source.texts[line], PAGE_COLUMNS);
    json_open(json, NULL, '{');
    json_value(json, "line", value_count(line + 1));
    json_value(json, "share", value_ratio(self_share(file, line)));
    json_value(json, "text", value_text(shown));
    json_close(json, '}');
}

void source_write_hottest(struct json *json, const char *name, const struct profile *profile, const char *trace)
{
    struct page_file *file;
    size_t next = 0;
    json_open(json, name, '[');
    if (source_is_known(profile)) {
        struct profile_rows lines = profile_rows_of(profile, PROFILE_BY_LINE);
        for (size_t i = 0; i < PAGE_FILES && (file = page_file_next(&lines, profile, trace, &next)) != NULL; i++) {
            json_open(json, NULL, '{');
            json_value(json, "file", value_text(file->report.file));
            json_value(json, "share", value_ratio(ratio_of((double)file->source.self_ns, (double)profile->ns)));
            json_value(json, "found", value_bool(file->source.found));
            json_open(json, "lines", '[');
            for (size_t j = 0; j < file->count; j++)
                write_hottest_line(json, file, file->shown[j]);
            json_close(json, ']');
            json_close(json, '}');
            page_file_clear(file);
        }
        profile_rows_clear(&lines);
    }
    json_close(json, ']');
}
