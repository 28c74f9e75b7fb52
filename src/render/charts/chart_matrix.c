/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/charts/chart.h"

#include "core/memory.h"
#include "core/text.h"
#include "render/charts/matrix.h"

enum { SIDE_WIDTH = 250, GAP = 40 };

/* The sentence is about one process if it sends or receives this share of everything. */
static const double STANDS_OUT = 0.4;

struct side {
    size_t row;
    double share;
};

/* Messages or bytes, whichever the chart is about. */
static uint64_t total_of(const struct chart_input *input, const struct traffic *traffic)
{
    if (input->by_bytes)
        return traffic->bytes;
    return traffic->messages;
}

/* The process with the largest share of what is sent (or received). */
static struct side busiest(const struct chart_input *input, const struct traffic *traffic, bool sender)
{
    size_t rows = input->metrics->process_count;
    uint64_t *sums = memory_new(rows * sizeof *sums), total = total_of(input, traffic);
    struct side side = {0};
    for (size_t i = 0; i < traffic->count; i++) {
        const struct traffic_pair *pair = &traffic->pairs[i];
        size_t row = pair->to;
        if (sender)
            row = pair->from;
        sums[row] += pair_weight(pair, input->by_bytes);
    }
    for (size_t i = 0; i < rows; i++)
        if (total > 0 && (double)sums[i] / (double)total > side.share)
            side = (struct side){i, (double)sums[i] / (double)total};
    free(sums);
    return side;
}

static void say_pairs(const struct chart_input *input, struct traffic *traffic, char answer[CHART_ANSWER_SIZE])
{
    char count[TEXT_NUMBER_SIZE], share[TEXT_NUMBER_SIZE];
    const char *what = input->by_bytes ? "bytes" : "messages";
    traffic_rank(traffic, input->by_bytes);
    double total = (double)total_of(input, traffic);
    double most = (double)pair_weight(&traffic->pairs[0], input->by_bytes) / total;
    /* One and two pairs first: shares of so few say nothing. */
    if (traffic->count == 1)
        chart_say(answer, "Only process %s sends, to process %s",
                  text_number(input->metrics->process[traffic->pairs[0].from].rank).text,
                  text_number(input->metrics->process[traffic->pairs[0].to].rank).text);
    else if (traffic->count == 2 && traffic->pairs[0].from == traffic->pairs[1].to &&
             traffic->pairs[1].from == traffic->pairs[0].to)
        chart_say(answer, "Both processes send each other messages, %s in total",
                  text_thousands(count, traffic->messages));
    else if (most > 2.0 / (double)traffic->count)
        chart_say(answer, "%s pairs of processes exchange messages; process %s sends process %s most: %s of the %s",
                  text_thousands(count, traffic->count),
                  text_number(input->metrics->process[traffic->pairs[0].from].rank).text,
                  text_number(input->metrics->process[traffic->pairs[0].to].rank).text, text_share(share, most), what);
    else
        chart_say(answer, "The %s are spread over %s pairs of processes, none with much more than its share", what,
                  text_thousands(count, traffic->count));
}

void chart_matrix_answer(const struct chart_input *input, char answer[CHART_ANSWER_SIZE])
{
    struct traffic traffic = traffic_of(input->metrics);
    const char *what = input->by_bytes ? "bytes" : "messages";
    struct side from = busiest(input, &traffic, true), to = busiest(input, &traffic, false);
    char sent[TEXT_NUMBER_SIZE], received[TEXT_NUMBER_SIZE];
    uint32_t from_rank = input->metrics->process[from.row].rank, to_rank = input->metrics->process[to.row].rank;
    /* Of two processes one always sends and receives half or more. */
    bool some = input->metrics->process_count > 2;
    if (traffic.messages == 0)
        chart_say(answer, "No messages between processes were recorded");
    else if (input->by_bytes && traffic.bytes == 0)
        chart_say(answer, "The messages carry no bytes, or the trace does not record their sizes");
    else if (traffic.count == 1 && traffic.pairs[0].from == traffic.pairs[0].to)
        chart_say(answer, "Process %s sends messages to itself only", text_number(from_rank).text);
    else if (some && from.share >= STANDS_OUT && to.share >= STANDS_OUT && from_rank == to_rank)
        chart_say(answer, "Process %s sends %s and receives %s of the %s", text_number(from_rank).text,
                  text_share(sent, from.share), text_share(received, to.share), what);
    else if (some && from.share >= STANDS_OUT)
        chart_say(answer, "Process %s sends %s of the %s", text_number(from_rank).text, text_share(sent, from.share),
                  what);
    else if (some && to.share >= STANDS_OUT)
        chart_say(answer, "Process %s receives %s of the %s", text_number(to_rank).text, text_share(received, to.share),
                  what);
    else
        say_pairs(input, &traffic, answer);
    traffic_clear(&traffic);
}

void chart_matrix_draw(struct canvas *canvas, const struct chart_input *input, struct area area)
{
    struct traffic traffic = traffic_of(input->metrics);
    double left = area.width;
    if (area.width > 2 * SIDE_WIDTH + GAP)
        left -= SIDE_WIDTH + GAP;
    struct heat heat = matrix_draw(canvas, input, (struct area){area.x, area.y, left, area.height}, &traffic);
    if (left < area.width) {
        double x = area.x + left + GAP, top = heat.grid.y + 8;
        matrix_draw_scale(canvas, input, &heat, x, top, SIDE_WIDTH);
        matrix_draw_pairs(canvas, input, (struct area){x, top + 76, SIDE_WIDTH, area.y + area.height - top - 76 - 20},
                          &traffic);
    }
    matrix_note(canvas, &traffic);
    heat_clear(&heat);
    traffic_clear(&traffic);
}
