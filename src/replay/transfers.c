/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/transfers.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "replay/small_messages.h"

/* How many calls before and after a call are looked at: longer rows of messages all count as equally long. */
enum { ROW_CALLS = 32, SENDER_CALLS = 256 };

/* Fields of a kind. */
enum { ROW_BITS = 4, SENT_SHIFT = 0, RECEIVED_SHIFT = ROW_BITS, SIZE_SHIFT = 2 * ROW_BITS, SIZE_BITS = 7 };
enum { HOSTS_SHIFT = SIZE_SHIFT + SIZE_BITS };

static uint32_t field_of(uint32_t kind, int shift, int bits)
{
    return kind >> shift & ((1u << bits) - 1);
}

bool transfer_kind_covers(uint32_t kind, uint32_t other)
{
    return kind >> HOSTS_SHIFT == other >> HOSTS_SHIFT &&
           field_of(kind, SIZE_SHIFT, SIZE_BITS) >= field_of(other, SIZE_SHIFT, SIZE_BITS) &&
           field_of(kind, SENT_SHIFT, ROW_BITS) >= field_of(other, SENT_SHIFT, ROW_BITS) &&
           field_of(kind, RECEIVED_SHIFT, ROW_BITS) >= field_of(other, RECEIVED_SHIFT, ROW_BITS);
}

/* The largest power of two up to the number: its exponent. */
static uint32_t magnitude(uint64_t number)
{
    uint32_t exponent = 0;
    while (number >>= 1)
        exponent++;
    return exponent;
}

uint64_t transfer_kind_bytes(uint32_t kind)
{
    uint32_t size = field_of(kind, SIZE_SHIFT, SIZE_BITS);
    return size > magnitude(SMALL_BYTES) ? UINT64_C(1) << size : 0;
}

static uint32_t count_sent(const struct graph *graph, const struct call *call)
{
    uint32_t count = 0;
    for (uint32_t m = call->sent; m && count < ROW_CALLS; m = graph_next_sent(graph, m - 1))
        count++;
    return count;
}

static uint32_t count_received(const struct graph *graph, const struct call *call)
{
    uint32_t count = 0;
    for (uint32_t m = call->received; m && count < ROW_CALLS; m = graph_next_received(graph, m - 1))
        count++;
    return count;
}

/* True if a row of sends goes on in the call: it sends or posts something, and waits for nobody else. */
static bool goes_on_sending(const struct graph *graph, const struct call *call)
{
    return graph_state(graph, call)->class == CLASS_P2P && !call->received && !call->completed;
}

static bool goes_on_receiving(const struct graph *graph, const struct call *call)
{
    enum function_class class = graph_state(graph, call)->class;
    return (class == CLASS_P2P || class == CLASS_WAIT) && !call->sent;
}

/* Messages in the row of calls around this one. */
static uint32_t count_row(const struct graph *graph, uint32_t location, uint32_t index,
                          bool (*goes_on)(const struct graph *, const struct call *),
                          uint32_t (*count_in)(const struct graph *, const struct call *))
{
    struct call call = graph_call(graph, location, index);
    uint32_t count = count_in(graph, &call), calls = (uint32_t)graph->locations[location].count;
    if (!goes_on(graph, &call))
        return count;
    for (uint32_t i = index; i > 0 && count < ROW_CALLS && index - i < ROW_CALLS; i--) {
        call = graph_call(graph, location, i - 1);
        if (!goes_on(graph, &call))
            break;
        count += count_in(graph, &call);
    }
    for (uint32_t i = index + 1; i < calls && count < ROW_CALLS && i - index < ROW_CALLS; i++) {
        call = graph_call(graph, location, i);
        if (!goes_on(graph, &call))
            break;
        count += count_in(graph, &call);
    }
    return smaller(count, (uint32_t)ROW_CALLS);
}

/* How long the sender computes in this time after the call. */
static int64_t computed_ns(const struct graph *graph, uint32_t location, uint32_t index, int64_t from_ns, int64_t to_ns)
{
    int64_t ns = 0, left_ns = graph_call(graph, location, index).leave_ns;
    uint32_t calls = (uint32_t)graph->locations[location].count;
    for (uint32_t i = index + 1; i - index < SENDER_CALLS && left_ns < to_ns; i++) {
        struct call call = {.enter_ns = INT64_MAX, .leave_ns = INT64_MAX};
        if (i < calls)
            call = graph_call(graph, location, i);
        ns += time_since(larger(left_ns, from_ns), smaller(call.enter_ns, to_ns));
        left_ns = call.leave_ns;
    }
    /* What comes after so many calls is not looked at. */
    return ns + time_since(larger(left_ns, from_ns), to_ns);
}

static int64_t signed_since(int64_t from_ns, int64_t to_ns)
{
    return time_since(from_ns, to_ns) - time_since(to_ns, from_ns);
}

/* Both calls have one message, and block until it has left or come. */
static int64_t both_ns_of(const struct graph *graph, const struct call *send, const struct call *receive)
{
    bool only_sends = !send->received && !send->completed && !graph_next_sent(graph, send->sent - 1),
         only_receives = !receive->sent && !receive->completed && !graph_next_received(graph, receive->received - 1);
    if (!only_sends || !only_receives)
        return 0;
    return smaller(time_since(send->enter_ns, send->leave_ns), time_since(receive->enter_ns, receive->leave_ns));
}

static void find_bounds(const struct graph *graph, const struct message *message, struct transfer *transfer)
{
    struct call send = graph_call(graph, message->send_location, message->send_call),
                receive = graph_call(graph, message->receive_location, message->receive_call);
    bool only_started = graph_completes_later(graph, transfer->message);
    int64_t from_ns = larger(send.enter_ns, receive.enter_ns);
    transfer->least_ns = signed_since(from_ns, receive.leave_ns);
    if (only_started && transfer->least_ns > 0)
        transfer->least_ns -= computed_ns(graph, message->send_location, message->send_call, from_ns, receive.leave_ns);
    transfer->most_ns = time_since(send.enter_ns, receive.leave_ns);
    struct post post = graph_post(graph, transfer->message, message);
    if (transfer->most_ns / 2 > transfer->least_ns && !only_started && post.location != GRAPH_NONE) {
        int64_t posted_ns = graph_call(graph, post.location, post.call).enter_ns;
        if (posted_ns > send.enter_ns && posted_ns < send.leave_ns)
            transfer->most_ns = time_since(posted_ns, receive.leave_ns);
    }
    transfer->known = transfer->least_ns >= 0 && transfer->most_ns / 2 <= transfer->least_ns;
    if (!only_started)
        transfer->both_ns = both_ns_of(graph, &send, &receive);
    transfer->shares_calls =
        receive.completed || (receive.received && graph_next_received(graph, receive.received - 1));
}

void transfer_without_clocks(struct transfer *transfer)
{
    transfer->least_ns = smaller(transfer->least_ns, transfer->both_ns);
}

bool transfer_measure(const struct transfer_meter *meter, uint32_t index, struct transfer *transfer)
{
    const struct graph *graph = meter->graph;
    struct message message = graph_message(graph, index);
    if (message.send_location == GRAPH_NONE || message.receive_location == GRAPH_NONE || message.bytes < 0)
        return false;
    *transfer = (struct transfer){.message = index,
                                  .sender = meter->rows[message.send_location],
                                  .receiver = meter->rows[message.receive_location]};
    if (transfer->sender == transfer->receiver)
        return false;
    find_bounds(graph, &message, transfer);
    uint32_t size = magnitude(larger((uint64_t)message.bytes, (uint64_t)SMALL_BYTES)),
             sent = magnitude(count_row(graph, message.send_location, message.send_call, goes_on_sending, count_sent)),
             received = magnitude(
                 count_row(graph, message.receive_location, message.receive_call, goes_on_receiving, count_received));
    bool inside = meter->hosts && meter->hosts[transfer->sender] == meter->hosts[transfer->receiver];
    transfer->kind =
        (uint32_t)inside << HOSTS_SHIFT | size << SIZE_SHIFT | received << RECEIVED_SHIFT | sent << SENT_SHIFT;
    return true;
}

struct transfer *transfers_sample(const struct transfer_meter *meter, size_t most, size_t *count)
{
    size_t messages = meter->graph->message_count, taken = smaller(messages, most);
    struct transfer *sample = memory_new(taken * sizeof *sample);
    *count = 0;
    for (size_t i = 0; i < taken; i++) {
        /* One of each of equally long stretches, at a place that changes: programs repeat themselves. */
        size_t from = messages / taken * i, length = messages / taken;
        size_t at = from + (size_t)(map_hash(i) >> 16) % length;
        if (transfer_measure(meter, (uint32_t)at, &sample[*count]))
            ++*count;
    }
    return sample;
}
