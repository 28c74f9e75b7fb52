/* SPDX-License-Identifier: BSD-3-Clause */
/* A histogram of message sizes: messages above, bytes below, by powers of two. */
#include "render/charts/chart.h"

#include "core/numbers.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>

enum { GAP = 46, PANEL_LEAST = 30, COLUMN_MOST = 190, CLASSES_LEAST = 5, CLASS_LAST = 64 };

/* "512 B", "4 KiB": classes are powers of two, so binary units are the round ones. */
static char *size_text(char *buffer, int64_t class)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int64_t bits = class - 1;
    if (class <= 0)
        snprintf(buffer, TEXT_NUMBER_SIZE, "0");
    else
        /* Class n holds sizes from 2^(n-1) bytes to below 2^n; units change every ten bits. */
        snprintf(buffer, TEXT_NUMBER_SIZE, "%d %s", 1 << bits % 10, units[bits / 10]);
    return buffer;
}

/* Both ends of a message are in the table; where a trace has one only, the larger number is that of the messages. */
static double messages_of(const struct message_row *row)
{
    return (double)larger(row->sent, row->received);
}

static double bytes_of(const struct message_row *row)
{
    return (double)larger(row->bytes_sent, row->bytes_received);
}

static double sum_of(const struct metrics *metrics, double (*value)(const struct message_row *row))
{
    double sum = 0;
    for (size_t i = 0; i < metrics->size_count; i++)
        sum += value(&metrics->sizes[i]);
    return sum;
}

/* The class in which the middle one of all messages (or bytes) is. */
static int64_t middle_class(const struct metrics *metrics, double (*value)(const struct message_row *row))
{
    /* The rows are in the order of their classes. */
    double half = sum_of(metrics, value) / 2, sum = 0;
    for (size_t i = 0; i < metrics->size_count; i++) {
        sum += value(&metrics->sizes[i]);
        if (sum >= half)
            return metrics->sizes[i].key;
    }
    return 0;
}

/* The class with the most messages, and its share of them. */
static size_t largest_class(const struct metrics *metrics, double *share)
{
    size_t best = 0;
    for (size_t i = 0; i < metrics->size_count; i++)
        if (messages_of(&metrics->sizes[i]) > messages_of(&metrics->sizes[best]))
            best = i;
    /* Only asked where there are messages: the sum is not 0. */
    *share = messages_of(&metrics->sizes[best]) / sum_of(metrics, messages_of);
    return best;
}

/* "4 KiB to 8 KiB", or "4 KiB" where it follows from the sum of the bytes that none is larger. */
static void say_range(char range[2 * TEXT_NUMBER_SIZE], const struct message_row *row)
{
    char from[TEXT_NUMBER_SIZE], to[TEXT_NUMBER_SIZE];
    int shift = (int)row->key - 1;
    size_text(from, row->key);
    size_text(to, row->key + 1);
    /* No message is smaller than its class begins: where the mean is that size, all have it. */
    bool alike = row->bytes_sent >> shift == row->sent && row->bytes_received >> shift == row->received &&
                 ((row->bytes_sent | row->bytes_received) & ((UINT64_C(1) << shift) - 1)) == 0;
    snprintf(range, 2 * TEXT_NUMBER_SIZE, alike ? "%s" : "%s to %s", from, to);
}

static void say_one_class(const struct metrics *metrics, size_t class, double share, char answer[CHART_ANSWER_SIZE])
{
    char range[2 * TEXT_NUMBER_SIZE] = "", messages[TEXT_NUMBER_SIZE], bytes[TEXT_NUMBER_SIZE];
    const struct message_row *row = &metrics->sizes[class];
    if (row->key > 0)
        say_range(range, row);
    text_share(messages, share);
    text_share(bytes, bytes_of(row) / sum_of(metrics, bytes_of));
    if (row->key == 0)
        chart_say(answer, "%s of the messages are empty", messages);
    else if (share >= 1)
        chart_say(answer, "All messages carry %s", range);
    else
        chart_say(answer, "%s of the messages carry %s each; together that is %s of the bytes", messages, range, bytes);
}

void chart_messages_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    const struct metrics *metrics = input->metrics;
    char size[TEXT_NUMBER_SIZE], large[TEXT_NUMBER_SIZE];
    double share = 0;
    size_t class = 0;
    if (sum_of(metrics, messages_of) > 0)
        class = largest_class(metrics, &share);
    if (sum_of(metrics, messages_of) <= 0)
        chart_say(answer, "No messages of known size were recorded");
    else if (sum_of(metrics, bytes_of) <= 0)
        chart_say(answer, "All messages are empty");
    else if (share > 0.5)
        say_one_class(metrics, class, share, answer);
    else
        /* Two medians: many small messages and few large ones are the usual reason why they differ. */
        chart_say(
            answer, "Half of the messages are smaller than %s; half of the bytes travel in messages of %s or more",
            size_text(size, middle_class(metrics, messages_of) + 1), size_text(large, middle_class(metrics, bytes_of)));
}

/* The classes from the first with messages to the last, and empty ones around them where they are few: where one size
   stands among others says more than an empty half of the picture. */
struct classes {
    const struct message_row *row;
    size_t rows;
    size_t before, count; /* empty classes before the rows, and all */
};

static double value_at(const struct classes *classes, size_t i, double (*value)(const struct message_row *row))
{
    return i >= classes->before && i - classes->before < classes->rows ? value(&classes->row[i - classes->before]) : 0;
}

static int64_t key_at(const struct classes *classes, size_t i)
{
    if (i >= classes->before && i - classes->before < classes->rows)
        return classes->row[i - classes->before].key;
    return classes->row[0].key + (int64_t)i - (int64_t)classes->before;
}

static void surround(struct classes *classes)
{
    int64_t first = classes->row[0].key, last = classes->row[classes->rows - 1].key;
    size_t more = CLASSES_LEAST - smaller(classes->rows, (size_t)CLASSES_LEAST);
    /* Not with the class of empty messages, which is no power of two. */
    classes->before = smaller(more / 2, (size_t)larger(first - 1, (int64_t)0));
    classes->count = classes->rows + classes->before;
    classes->count += smaller(more - classes->before, (size_t)(CLASS_LAST - smaller(last, (int64_t)CLASS_LAST)));
}

static struct classes classes_of(const struct metrics *metrics)
{
    struct classes classes = {.row = metrics->sizes, .rows = metrics->size_count};
    /* Leading classes without messages (empty ones above all) would squeeze the others. */
    while (classes.rows > 1 && messages_of(classes.row) <= 0) {
        classes.row++;
        classes.rows--;
    }
    surround(&classes);
    return classes;
}

static void draw_panel(struct canvas *canvas, struct classes classes, struct area plot,
                       double (*value)(const struct message_row *row), bool bytes, struct paint paint)
{
    double most = 0, width = plot.width / (double)classes.count;
    for (size_t i = 0; i < classes.count; i++)
        most = fmax(most, value_at(&classes, i, value));
    struct text_style centred = {.align = ALIGN_CENTER};
    canvas_text(canvas, plot.x, plot.y - 26, (struct text_style){.bold = true}, bytes ? "bytes" : "messages");
    canvas_line(canvas, plot.x, plot.y + plot.height, plot.x + plot.width, plot.y + plot.height, 1, paint_of(INK_AXIS));
    for (size_t i = 0; i < classes.count; i++) {
        double height = ratio_of(value_at(&classes, i, value), most) * plot.height;
        double x = plot.x + (double)i * width;
        char number[TEXT_NUMBER_SIZE], from[TEXT_NUMBER_SIZE];
        uint64_t count = text_whole(value_at(&classes, i, value));
        if (bytes)
            text_bytes(number, count);
        else
            text_thousands(number, count);
        /* No shape and no number for an empty class; its place stays. */
        if (count == 0)
            continue;
        canvas_tip(canvas, "from %s: %s", size_text(from, key_at(&classes, i)), number);
        canvas_rect(canvas, x + width * 0.08, plot.y + plot.height - height, width * 0.84, height, paint);
        /* Numbers that do not fit are in the tip. */
        if (canvas_text_width(canvas, centred, number) + 4 <= width)
            canvas_text(canvas, x + width / 2, plot.y + plot.height - height - 9, centred, number);
    }
}

static void draw_sizes(struct canvas *canvas, struct classes classes, struct area plot)
{
    struct text_style style = {.align = ALIGN_CENTER, .ink = INK_MUTED};
    double width = plot.width / (double)classes.count, room = canvas_text_width(canvas, style, "512 KiB") + 10;
    static const size_t steps[] = {1, 2, 5, 10};
    size_t place = 0;
    /* Sizes between labels can be counted; more than ten could not. */
    while (place + 1 < sizeof steps / sizeof *steps && (double)steps[place] * width < room)
        place++;
    size_t step = steps[place];
    /* A label is under the class that begins with its size. */
    for (size_t i = 0; i < classes.count; i++) {
        char label[TEXT_NUMBER_SIZE];
        int64_t class = key_at(&classes, i);
        /* Class 0 is that of empty messages, no power of two: it is labelled where all are. */
        bool labelled = step == 1;
        if (class > 0)
            labelled = (class - 1) % (int64_t)step == 0;
        if (!labelled)
            continue;
        canvas_text(canvas, plot.x + ((double)i + 0.5) * width, plot.y + plot.height + 12, style,
                    size_text(label, class));
    }
}

void chart_messages_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    const struct metrics *metrics = input->metrics;
    double height = (area.height - 2 * GAP - 44) / 2;
    bool both = height >= PANEL_LEAST;
    /* Too low for two panels: the messages have all of the room. */
    if (!both)
        height = area.height - GAP - 20;
    struct classes classes = classes_of(metrics);
    double width = fmin(area.width, COLUMN_MOST * (double)classes.count);
    struct area above = {area.x, area.y + GAP, width, height};
    struct area below = {area.x, above.y + height + GAP + 24, width, height};
    draw_panel(canvas, classes, above, messages_of, false, paint_of(INK_MPI));
    draw_sizes(canvas, classes, above);
    if (both) {
        draw_panel(canvas, classes, below, bytes_of, true, paint_of(INK_MPI));
        draw_sizes(canvas, classes, below);
    }
    chart_note(canvas, "Size of a message: each column holds the sizes from its label up to the next power of two.");
}
