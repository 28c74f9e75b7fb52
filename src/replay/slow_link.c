/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/slow_link.h"

#include "core/memory.h"
#include "core/numbers.h"
#include "replay/clock_lead.h"

#include <stdlib.h>
#include <string.h>

/* Messages that are looked at: of the run, and of a link. */
enum { SAMPLE = 8192, SAMPLE_OF_LINK = 4096 };

/* Three in four are so many times as slow as usual; another pair is as slow from this part of the median on; it is not
   one link if this share of the other messages is. Where a clock may be ahead, both ways together count. */
static const double SLOW_QUARTILE = 2, ALIKE = 0.5, ALIKE_SHARE = 0.05, SLOW_TOGETHER = 2;

/* Another pair is judged by at least so many messages. */
enum { ALIKE_LEAST = 5 };

struct judge {
    const struct transfer_meter *meter;
    const struct transfer *sample; /* sorted */
    size_t count;
};

/* The messages over a link. */
struct traffic_of_link {
    struct transfer *transfers; /* every `stride`-th; sorted once all are there; owned */
    size_t count, stride, seen;
};

/* What transfers on one way of a link show, or on both. */
struct way {
    size_t count;            /* known transfers, of kinds whose usual time is known */
    double median, quartile; /* of transfer / usual */
    int64_t ns, usual_ns;    /* medians, of the kind that loses most */
    double excess_ns;        /* its sum */
    uint32_t kind;           /* that kind */
    uint32_t message;        /* the one that takes longest */
};

static bool is_on(const struct judge *judge, const struct link *link, const struct transfer *transfer,
                  enum slow_way way)
{
    const uint32_t *hosts = judge->meter->hosts;
    if (!link_has(link, hosts, transfer->sender, transfer->receiver))
        return false;
    return way == SLOW_BOTH_WAYS ||
           link_leaves(link, hosts, transfer->sender, transfer->receiver) == (way == SLOW_FROM_ONE);
}

static int by_size(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return order_by(*left, *right);
}

/* The element that `part` of them lie below. */
static double quantile(double *numbers, size_t count, double part)
{
    if (count == 0)
        return 0;
    qsort(numbers, count, sizeof *numbers, by_size);
    return numbers[(size_t)(part * (double)count)];
}

/* A damaged trace can have absurdly long transfers. */
static int64_t whole(double ns)
{
    return (int64_t)smaller(ns, 9e18);
}

/* The known transfers of one kind on a way, `ns` of them: keeps the kind that loses most. */
static void take_kind(struct way *way, uint32_t kind, double *ns, size_t count, int64_t usual, double sum_ns)
{
    double excess_ns = sum_ns - (double)count * (double)usual;
    if (count == 0 || (way->usual_ns > 0 && excess_ns <= way->excess_ns))
        return;
    way->kind = kind;
    way->excess_ns = excess_ns;
    way->usual_ns = usual;
    way->ns = whole(quantile(ns, count, 0.5));
}

/* `transfers` are sorted by kind. */
static struct way way_of(const struct judge *judge, const struct slow_link *slow, enum slow_way which,
                         const struct transfer *transfers, size_t count)
{
    struct way way = {0};
    double *ratios = memory_new(count * sizeof *ratios), *ns = memory_new(count * sizeof *ns), sum_ns = 0;
    size_t of_kind = 0;
    int64_t usual = 0, longest_ns = -1;
    for (size_t i = 0; i < count; i++) {
        const struct transfer *transfer = &transfers[i];
        if (i == 0 || transfer->kind != transfers[i - 1].kind) {
            usual =
                transfer_kind_bytes(transfer->kind) >= slow->from_bytes ? usual_ns(&slow->usual, transfer->kind) : -1;
            of_kind = 0;
            sum_ns = 0;
        }
        if (usual > 0 && transfer->known && is_on(judge, &slow->links.link[0], transfer, which)) {
            ratios[way.count++] = (double)transfer->least_ns / (double)usual;
            ns[of_kind++] = (double)transfer->least_ns;
            sum_ns += (double)transfer->least_ns;
            if (transfer->least_ns > longest_ns)
                way.message = transfer->message;
            longest_ns = larger(longest_ns, transfer->least_ns);
        }
        if (i + 1 == count || transfers[i + 1].kind != transfer->kind)
            take_kind(&way, transfer->kind, ns, of_kind, usual, sum_ns);
    }
    way.median = quantile(ratios, way.count, 0.5);
    way.quartile = quantile(ratios, way.count, 0.25);
    free(ratios);
    free(ns);
    return way;
}

static bool is_slow(const struct way *way)
{
    return way->count >= SLOW_LEAST && way->median >= SLOW_TIMES && way->quartile >= SLOW_QUARTILE;
}

/* A transfer of another pair, in terms of what is usual. */
struct other {
    uint64_t pair;
    double ratio;
};

static int by_pair(const void *a, const void *b)
{
    const struct other *left = a, *right = b;
    int order = order_by(left->pair, right->pair);
    return order ? order : order_by(left->ratio, right->ratio);
}

/* True if the median of the pairs' messages, or enough of all messages, are as slow as this. */
static bool others_are_alike(struct other *others, size_t count, double ratio)
{
    size_t alike = 0, first = 0;
    if (count > 0)
        qsort(others, count, sizeof *others, by_pair);
    for (size_t i = 0; i < count; i++) {
        alike += others[i].ratio >= ratio;
        if (others[i].pair != others[first].pair)
            first = i;
        bool last = i + 1 == count || others[i + 1].pair != others[i].pair;
        if (last && i - first + 1 >= ALIKE_LEAST && others[first + (i - first) / 2].ratio >= ratio)
            return true;
    }
    return (double)alike > ALIKE_SHARE * (double)count;
}

static bool is_alone(const struct judge *judge, const struct slow_link *slow)
{
    struct other *others = memory_new(judge->count * sizeof *others);
    size_t count = 0;
    for (size_t i = 0; i < judge->count; i++) {
        const struct transfer *transfer = &judge->sample[i];
        int64_t usual = usual_ns(&slow->usual, transfer->kind);
        if (usual > 0 && transfer->known && transfer_is_apart(judge->meter, transfer, &slow->links))
            others[count++] = (struct other){map_pair_unordered(transfer->sender, transfer->receiver),
                                             (double)transfer->least_ns / (double)usual};
    }
    bool alike = others_are_alike(others, count, slow->alike);
    free(others);
    return !alike;
}

static void keep(struct traffic_of_link *traffic, const struct transfer_meter *meter, uint32_t message)
{
    if (traffic->seen++ % traffic->stride)
        return;
    if (traffic->count == SAMPLE_OF_LINK) {
        for (size_t i = 0; i < SAMPLE_OF_LINK / 2; i++)
            traffic->transfers[i] = traffic->transfers[2 * i];
        traffic->count /= 2;
        traffic->stride *= 2;
        if ((traffic->seen - 1) % traffic->stride)
            return;
    }
    traffic->count += transfer_measure(meter, message, &traffic->transfers[traffic->count]);
}

static struct traffic_of_link traffic_of(const struct transfer_meter *meter, const struct link *link)
{
    struct traffic_of_link traffic = {.stride = 1};
    const struct graph *graph = meter->graph;
    struct slow_link both_ways = {.links = {.link = {*link}, .count = 1}};
    bool *channels = slow_link_channels(&both_ways, meter);
    traffic.transfers = memory_new(SAMPLE_OF_LINK * sizeof *traffic.transfers);
    for (size_t i = 0; i < graph->message_count; i++) {
        if (channels[graph->messages[i].channel])
            keep(&traffic, meter, (uint32_t)i);
    }
    free(channels);
    transfers_sort(traffic.transfers, traffic.count);
    return traffic;
}

static void count_messages(const struct transfer_meter *meter, struct slow_link *slow)
{
    const struct graph *graph = meter->graph;
    bool *slow_channels = slow_link_channels(slow, meter);
    for (size_t i = 0; i < graph->message_count; i++) {
        if (!slow_channels[graph->messages[i].channel])
            continue;
        uint64_t bytes = (uint64_t)larger(graph_message(graph, (uint32_t)i).bytes, INT64_C(0));
        if (bytes < slow->from_bytes)
            continue;
        slow->messages++;
        bytes_add(&slow->bytes, bytes);
    }
    free(slow_channels);
}

/* The median of all transfers on the way of the kind that most are of, below 0 where clocks are wrong, and what is
   usual. False: there are too few. */
static bool other_way(const struct judge *judge, const struct slow_link *slow, enum slow_way which,
                      const struct traffic_of_link *traffic, double *ns, double *usual)
{
    double *of_kind = memory_new(traffic->count * sizeof *of_kind);
    size_t count = 0, most = 0;
    for (size_t i = 0; i < traffic->count; i++) {
        const struct transfer *transfer = &traffic->transfers[i];
        if (i > 0 && transfer->kind != transfer[-1].kind)
            count = 0;
        if (transfer_kind_bytes(transfer->kind) >= slow->from_bytes &&
            is_on(judge, &slow->links.link[0], transfer, which))
            of_kind[count++] = (double)transfer->least_ns;
        bool last = i + 1 == traffic->count || transfer[1].kind != transfer->kind;
        int64_t usual_of_kind = last && count > most ? usual_ns(&slow->usual, transfer->kind) : -1;
        if (usual_of_kind > 0) {
            most = count;
            *ns = quantile(of_kind, count, 0.5);
            *usual = (double)usual_of_kind;
        }
    }
    free(of_kind);
    return most >= SLOW_LEAST;
}

/* The same way by the bounds that need no clock in common: slow if most messages keep a send and a receive waiting. */
static bool is_slow_without_clocks(const struct judge *judge, const struct traffic_of_link *traffic,
                                   struct slow_link *slow)
{
    struct transfer *transfers = memory_copy(traffic->transfers, traffic->count * sizeof *transfers);
    for (size_t i = 0; i < traffic->count; i++)
        transfer_without_clocks(&transfers[i]);
    struct way way = way_of(judge, slow, slow->way, transfers, traffic->count);
    free(transfers);
    if (!is_slow(&way))
        return false;
    slow->ns = way.ns;
    slow->usual_ns = way.usual_ns;
    slow->without_clocks = true;
    return true;
}

/* Where it is not known by how much a clock may be ahead, both ways together say how slow the link is, but not which
   way. */
static bool is_slow_together(const struct judge *judge, const struct traffic_of_link *traffic, const struct way *way,
                             struct slow_link *slow)
{
    double ns = 0, usual = 0;
    enum slow_way back = slow->way == SLOW_FROM_ONE ? SLOW_TO_ONE : SLOW_FROM_ONE;
    if (!other_way(judge, slow, back, traffic, &ns, &usual) ||
        (double)way->ns + ns < SLOW_TOGETHER * ((double)way->usual_ns + usual))
        return false;
    slow->way = SLOW_BOTH_WAYS;
    slow->ns = whole(((double)way->ns + ns) / 2);
    slow->usual_ns = whole(((double)way->usual_ns + usual) / 2);
    return true;
}

/* Only one way is slow. True if that is not a clock that is ahead. */
static bool is_no_clock(const struct judge *judge, const struct traffic_of_link *traffic, const struct way *way,
                        struct slow_link *slow)
{
    const struct graph *graph = judge->meter->graph;
    struct message worst = graph_message(graph, way->message);
    int64_t lead_ns = clock_lead_ns(graph, worst.send_location, worst.receive_location);
    return time_since(lead_ns, way->ns) / SLOW_TIMES >= way->usual_ns || is_slow_without_clocks(judge, traffic, slow) ||
           is_slow_together(judge, traffic, way, slow);
}

static bool judge_ways(const struct judge *judge, const struct traffic_of_link *traffic, struct slow_link *slow)
{
    struct way from = way_of(judge, slow, SLOW_FROM_ONE, traffic->transfers, traffic->count),
               to = way_of(judge, slow, SLOW_TO_ONE, traffic->transfers, traffic->count), way = from;
    slow->way = SLOW_FROM_ONE;
    if (is_slow(&from) && is_slow(&to)) {
        slow->way = SLOW_BOTH_WAYS;
        way = way_of(judge, slow, SLOW_BOTH_WAYS, traffic->transfers, traffic->count);
    } else if (is_slow(&to)) {
        slow->way = SLOW_TO_ONE;
        way = to;
    } else if (!is_slow(&from)) {
        return false;
    }
    slow->ns = way.ns;
    slow->usual_ns = way.usual_ns;
    if (slow->way != SLOW_BOTH_WAYS && !is_no_clock(judge, traffic, &way, slow))
        return false;
    slow->alike = ALIKE * way.median;
    return is_alone(judge, slow);
}

/* Small messages may be as fast as elsewhere, and only larger ones slow: from the size on that loses most. */
static bool judge_sizes(const struct judge *judge, const struct traffic_of_link *traffic, struct slow_link *slow)
{
    if (judge_ways(judge, traffic, slow))
        return true;
    struct way way = way_of(judge, slow, SLOW_BOTH_WAYS, traffic->transfers, traffic->count);
    slow->from_bytes = transfer_kind_bytes(way.kind);
    return slow->from_bytes > 0 && judge_ways(judge, traffic, slow);
}

/* False if the sample has enough of the link's messages to see that none of its ways is slow. */
static bool may_be_slow(const struct judge *judge, const struct slow_link *slow)
{
    for (enum slow_way which = SLOW_FROM_ONE; which <= SLOW_TO_ONE; which++) {
        struct way way = way_of(judge, slow, which, judge->sample, judge->count);
        if (way.count < 2 * SLOW_LEAST || way.median >= SLOW_QUARTILE ||
            (double)way.ns >= SLOW_QUARTILE * (double)way.usual_ns)
            return true;
    }
    return false;
}

/* Of the links, the first: the usual times are those without any of them. */
static bool judge_links(const struct judge *judge, struct link_set links, struct slow_link *slow)
{
    *slow =
        (struct slow_link){.links = links, .usual = usual_times_of(judge->meter, judge->sample, judge->count, &links)};
    bool is_it = false;
    if (slow->usual.count > 0 && may_be_slow(judge, slow)) {
        struct traffic_of_link traffic = traffic_of(judge->meter, &links.link[0]);
        is_it = judge_sizes(judge, &traffic, slow);
        free(traffic.transfers);
    }
    return is_it;
}

/* What the messages of a pair take; `pairs` are in order of the pairs, and then of the times. */
static size_t pair_length(const struct other *pairs, size_t count)
{
    size_t length = 0;
    while (length < count && pairs[length].pair == pairs[0].pair)
        length++;
    return length;
}

/* The pair of processes or hosts that is slowest beside a slow link. False: none is as slow as that, or half. */
static bool find_alike(const struct judge *judge, const struct slow_link *slow, struct link *alike)
{
    const uint32_t *hosts = slow->links.link[0].kind == LINK_HOSTS ? judge->meter->hosts : NULL;
    struct other *others = memory_new(judge->count * sizeof *others);
    size_t count = 0;
    double most = slow->alike;
    bool found = false;
    for (size_t i = 0; i < judge->count; i++) {
        const struct transfer *transfer = &judge->sample[i];
        int64_t usual = usual_ns(&slow->usual, transfer->kind);
        uint32_t one = hosts ? hosts[transfer->sender] : transfer->sender,
                 other = hosts ? hosts[transfer->receiver] : transfer->receiver;
        if (usual > 0 && transfer->known && one != other && transfer_kind_bytes(transfer->kind) >= slow->from_bytes &&
            transfer_is_apart(judge->meter, transfer, &slow->links))
            others[count++] =
                (struct other){map_pair_unordered(one, other), (double)transfer->least_ns / (double)usual};
    }
    if (count > 0)
        qsort(others, count, sizeof *others, by_pair);
    for (size_t i = 0, length; i < count; i += length) {
        length = pair_length(&others[i], count - i);
        double ratio = others[i + length * 3 / 4].ratio;
        if (length < ALIKE_LEAST || ratio < most)
            continue;
        most = ratio;
        found = true;
        *alike = slow->links.link[0];
        alike->one = (uint32_t)others[i].pair;
        alike->other = (uint32_t)(others[i].pair >> 32);
    }
    free(others);
    return found;
}

/* The processes that are near each other, as messages show that are not slow: by row, one that stands for all. */
static uint32_t nearest(uint32_t *near, uint32_t row)
{
    while (near[row] != row)
        row = near[row] = near[near[row]];
    return row;
}

static uint32_t *near_processes(const struct judge *judge, const struct slow_link *slow, size_t processes)
{
    uint32_t *near = memory_new(processes * sizeof *near);
    for (size_t i = 0; i < processes; i++)
        near[i] = (uint32_t)i;
    for (size_t i = 0; i < judge->count; i++) {
        const struct transfer *transfer = &judge->sample[i];
        if (!link_set_has(&slow->links, NULL, transfer->sender, transfer->receiver))
            near[nearest(near, transfer->sender)] = nearest(near, transfer->receiver);
    }
    return near;
}

/* True if two hosts, whose names are not known, could meet at each of the two pairs: both ends have others near them,
   and no process is near both. */
static bool may_join_hosts(const struct judge *judge, const struct slow_link *slow)
{
    if (judge->meter->hosts)
        return false;
    size_t processes = judge->meter->graph->location_count, joining = 0;
    uint32_t *near = near_processes(judge, slow, processes);
    size_t *sizes = memory_new(processes * sizeof *sizes);
    for (size_t i = 0; i < processes; i++)
        sizes[nearest(near, (uint32_t)i)]++;
    for (size_t i = 0; i < slow->links.count; i++) {
        uint32_t one = nearest(near, slow->links.link[i].one), other = nearest(near, slow->links.link[i].other);
        joining += one != other && sizes[one] > 1 && sizes[other] > 1;
    }
    free(near);
    free(sizes);
    return joining == slow->links.count;
}

static void turn(struct slow_link *slow)
{
    struct link *link = &slow->links.link[0];
    *link = (struct link){link->kind, link->other, link->one, link->path_ns};
    if (slow->way != SLOW_BOTH_WAYS)
        slow->way = slow->way == SLOW_FROM_ONE ? SLOW_TO_ONE : SLOW_FROM_ONE;
}

/* The link is slow, and so is another: takes both, if they are alike. What is said of both is that of the faster. */
static bool take_two(const struct judge *judge, struct slow_link *slow, struct slow_link *next)
{
    if (slow->way != next->way)
        turn(next);
    if (slow->way != next->way || slow->from_bytes != next->from_bytes || next->alike < ALIKE * slow->alike ||
        slow->alike < ALIKE * next->alike || may_join_hosts(judge, slow))
        return false;
    /* In order of their first ends. */
    slow->links.link[1] = next->links.link[0];
    if (slow->links.link[1].one < slow->links.link[0].one)
        slow->links = (struct link_set){{slow->links.link[1], slow->links.link[0]}, 2};
    slow->without_clocks |= next->without_clocks;
    if (next->ns < slow->ns) {
        slow->ns = next->ns;
        slow->usual_ns = next->usual_ns;
    }
    return true;
}

static bool judge_two(const struct judge *judge, struct slow_link *slow, const struct link *alike)
{
    struct link first = slow->links.link[0];
    struct slow_link next;
    slow_link_clear(slow);
    bool first_is_slow = judge_links(judge, (struct link_set){{first, *alike}, 2}, slow),
         next_is_slow = judge_links(judge, (struct link_set){{*alike, first}, 2}, &next),
         are_slow = first_is_slow && next_is_slow && take_two(judge, slow, &next);
    slow_link_clear(&next);
    return are_slow;
}

/* With `two`, the link and another pair that is slow alike. */
static bool judge_link(const struct judge *judge, const struct link *link, bool two, struct slow_link *slow)
{
    struct link alike;
    bool is_it = judge_links(judge, (struct link_set){{*link}, 1}, slow);
    if (!is_it && two && slow->alike > 0 && find_alike(judge, slow, &alike))
        is_it = judge_two(judge, slow, &alike);
    if (is_it)
        count_messages(judge->meter, slow);
    else
        slow_link_clear(slow);
    return is_it;
}

static bool is_in(const struct link_set *set, const struct link *link)
{
    for (size_t i = 0; i < set->count; i++)
        if (map_pair_unordered(set->link[i].one, set->link[i].other) == map_pair_unordered(link->one, link->other))
            return true;
    return false;
}

/* The only slow ones of a kind. If several share slow calls, none of them is: the next kind may be. */
static bool find_one(const struct judge *judge, const struct link *links, size_t count, bool two,
                     struct slow_link *slow)
{
    size_t found = 0;
    struct slow_link other;
    for (size_t i = 0; i < count && found < 2; i++) {
        if ((found > 0 && is_in(&slow->links, &links[i])) || !judge_link(judge, &links[i], two, &other))
            continue;
        if (found++ == 0)
            *slow = other;
        else
            slow_link_clear(&other);
    }
    if (found == 2)
        slow_link_clear(slow);
    return found == 1;
}

bool slow_link_find(const struct transfer_meter *meter, const struct path_links *links, struct slow_link *slow)
{
    size_t count;
    bool found = false;
    struct transfer *sample = transfers_sample(meter, SAMPLE, &count);
    transfers_sort(sample, count);
    struct judge judge = {meter, sample, count};
    for (enum link_kind kind = 0; kind < LINK_KINDS && !found; kind++)
        if (meter->hosts || kind == LINK_PROCESSES || kind == LINK_PROCESS)
            found = find_one(&judge, links->links[kind], links->count[kind], false, slow);
    /* Only now: two pairs could have one process or host in common. */
    if (!found)
        found = find_one(&judge, links->links[LINK_PROCESSES], links->count[LINK_PROCESSES], true, slow);
    if (!found && meter->hosts)
        found = find_one(&judge, links->links[LINK_HOSTS], links->count[LINK_HOSTS], true, slow);
    free(sample);
    return found;
}

void slow_link_clear(struct slow_link *slow)
{
    usual_times_clear(&slow->usual);
}

bool *slow_link_channels(const struct slow_link *slow, const struct transfer_meter *meter)
{
    const struct graph *graph = meter->graph;
    bool *slow_channels = memory_new(graph->channel_count * sizeof *slow_channels);
    for (size_t i = 0; i < graph->channel_count; i++) {
        const struct channel *channel = &graph->channels[i];
        slow_channels[i] = channel->send_location != GRAPH_NONE && channel->receive_location != GRAPH_NONE &&
                           slow_link_delays(slow, meter->hosts, meter->rows[channel->send_location],
                                            meter->rows[channel->receive_location]);
    }
    return slow_channels;
}

bool slow_link_delays(const struct slow_link *slow, const uint32_t *hosts, uint32_t sender, uint32_t receiver)
{
    for (size_t i = 0; i < slow->links.count; i++) {
        const struct link *link = &slow->links.link[i];
        if (link_has(link, hosts, sender, receiver))
            return slow->way == SLOW_BOTH_WAYS ||
                   link_leaves(link, hosts, sender, receiver) == (slow->way == SLOW_FROM_ONE);
    }
    return false;
}
