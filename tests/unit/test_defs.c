/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions, and the small parts below them: map, open states, texts. */
#include "core/defs.h"

#include "core/event.h"
#include "core/open_states.h"
#include "core/text.h"
#include "unit/tap.h"

#include <stdlib.h>

static uint32_t add_state(struct defs *defs, const char *name)
{
    return defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t)name});
}

static void test_states(void)
{
    struct defs *defs = defs_new();
    tap_ok(defs->threads == 1 && defs_find_state(defs, "work") == EVENT_UNKNOWN, "new definitions are empty");
    uint32_t work = add_state(defs, "work"), send = add_state(defs, "MPI_Send"), again = add_state(defs, "work");
    uint32_t bcast = add_state(defs, "MPI_Bcast"), none = add_state(defs, NULL),
             tool = add_state(defs, "MPE_Comm_init");
    const struct state_def *states = defs->states;
    tap_ok(states[send].is_mpi && states[send].direction == DIRECTION_SEND && states[send].class == CLASS_P2P,
           "an MPI function is known by its name");
    tap_ok(states[bcast].rooted && !states[send].rooted && !states[work].is_mpi && !states[tool].is_mpi,
           "rooted; the user's and the tool's are not MPI");
    tap_equal_string(states[none].name, "", "no name counts as empty");
    tap_ok(states[again].first_of_name == work && states[work].first_of_name == work, "the first of a name");
    tap_equal_int(defs_find_state(defs, "work"), work, "found by name: the first");
    tap_ok(defs_name_is_shared(defs, work) && defs_name_is_shared(defs, again) && !defs_name_is_shared(defs, send),
           "shared names");
    char name[32];
    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof name, "state %d", i);
        add_state(defs, name);
    }
    bool found = true;
    for (int i = 0; i < 3000 && found; i++) {
        snprintf(name, sizeof name, "state %d", i);
        int32_t at = defs_find_state(defs, name);
        found = at != EVENT_UNKNOWN && strcmp(defs->states[at].name, name) == 0;
    }
    tap_ok(found, "3,000 states are found");
    tap_ok(defs_add_mark(defs, &(struct mark_def){.id = 7}) == 0 && defs_add_constant(defs, "one", 1) == 0 &&
               defs_add_site(defs, &(struct site_def){.id = 1, .line = 2, .file = (char *)"a.c"}) == 0 &&
               strcmp(defs->sites[0].file, "a.c") == 0 && !defs->sites[0].function,
           "marks, constants, sites");
    defs_free(defs);
    defs_free(NULL);
}

static void test_communicators(void)
{
    struct defs *defs = defs_new();
    int32_t world = defs_comm(defs, 0), other = defs_comm(defs, -5);
    defs->comms[world].world = true;
    tap_ok(defs_comm(defs, 0) == world && defs_find_comm(defs, -5) == other && defs_find_comm(defs, 9) == EVENT_UNKNOWN,
           "communicators by their ids");
    tap_ok(defs_world_rank(defs, world, 3) == 3 && defs_comm_rank(defs, world, 3) == 3,
           "in the world a rank is itself unless stated");
    tap_ok(defs_world_rank(defs, world, -1) == EVENT_UNKNOWN &&
               defs_world_rank(defs, world, PROCESS_LIMIT) == EVENT_UNKNOWN,
           "but not what can be no rank");
    tap_ok(defs_world_rank(defs, other, 0) == EVENT_UNKNOWN && defs_comm_rank(defs, other, 0) == EVENT_UNKNOWN,
           "elsewhere it is not known");
    defs_set_member(defs, other, 0, 6);
    defs_set_member(defs, other, 0, 4);
    defs_set_member(defs, other, 1, 4);
    tap_ok(defs_world_rank(defs, other, 0) == 6 && defs_comm_rank(defs, other, 6) == 0, "a member, both ways");
    tap_ok(defs_world_rank(defs, other, 1) == 4, "the first statement wins");
    tap_ok(defs_world_rank(defs, EVENT_UNKNOWN, 1) == EVENT_UNKNOWN, "nothing is known of an unknown communicator");
    defs_free(defs);
}

static void test_map(void)
{
    struct map map = {0};
    tap_ok(map_find(&map, 0) == NULL, "an empty map has nothing");
    bool right = true;
    for (uint64_t i = 0; i < 20000; i++)
        *map_put(&map, i << 32, i) += 1;
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t *value = map_find(&map, i << 32);
        right = right && value && *value == i + 1 && *map_put(&map, i << 32, 0) == i + 1 &&
                map_find(&map, (i << 32) + 1) == NULL;
    }
    tap_ok(right && map.count == 20000, "20,000 keys and nothing between them");
    *map_put(&map, UINT64_MAX - 1, 5) = 6;
    tap_equal_int((long long)*map_find(&map, UINT64_MAX - 1), 6, "the largest key");
    map_clear(&map);
    tap_ok(map.count == 0 && map_find(&map, 0) == NULL, "a cleared map is empty");
}

static void test_open_states(void)
{
    struct open_states open = {0};
    tap_equal_int(open_states_find(&open, 1), OPEN_STATES_NONE, "nothing is open");
    for (uint32_t i = 0; i < 20; i++)
        open_states_enter(&open, i % 4, i)->mark = i;
    ptrdiff_t at = open_states_find(&open, 1);
    tap_ok(at == 17 && open.frames[at].mark == 17 && open.frames[at].exclusive_ns == 0, "the latest instance");
    open_states_remove(&open, at);
    tap_ok(open.depth == 19 && open.frames[17].mark == 18 && open.frames[18].mark == 19 &&
               open_states_find(&open, 1) == 13,
           "one taken out of the middle");
    while (open.depth < DEPTH_LIMIT && open_states_enter(&open, 9, 0))
        ;
    tap_ok(open.depth == DEPTH_LIMIT && !open_states_enter(&open, 9, 0), "not more than the limit");
    open_states_free(&open);
    tap_ok(open.depth == 0 && open_states_enter(&open, 1, 0), "freed and used again");
    open_states_free(&open);
}

static void test_bytes(void)
{
    static const struct {
        const char *bytes, *want, *what;
    } cases[] = {{"Paj\xC3\xA9", "Paj\xC3\xA9", "UTF-8 stays"},
                 {"Paj\xE9", "Paj\xC3\xA9", "Latin-1 becomes UTF-8"},
                 {"\xC3\xA9\xC3", "\xC3\x83\xC2\xA9\xC3\x83", "a character that is cut is none"},
                 {"\xED\xA0\x80", "\xC3\xAD\xC2\xA0\xC2\x80", "a surrogate is none"},
                 {"\xC0\xAF", "\xC3\x80\xC2\xAF", "nor one that is too long"},
                 {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80", "four bytes"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = text_from_bytes(cases[i].bytes, strlen(cases[i].bytes));
        tap_equal_string(text, cases[i].want, "%s", cases[i].what);
        free(text);
    }
}

static void test_numbers(void)
{
    char text[TEXT_NUMBER_SIZE];
    tap_equal_string(text_thousands(text, 0), "0", "thousands");
    tap_equal_string(text_thousands(text, 999), "999", "thousands");
    tap_equal_string(text_thousands(text, 40108032), "40,108,032", "thousands");
    tap_equal_string(text_thousands(text, UINT64_MAX), "18,446,744,073,709,551,615", "thousands");
    static const struct {
        int64_t ns;
        const char *want;
    } durations[] = {{0, "0 s"},
                     {1, "1 ns"},
                     {12, "12 ns"},
                     {999, "999 ns"},
                     {1000, "1.00 µs"},
                     {789000, "789 µs"},
                     {999499, "999 µs"},
                     {999500, "1.00 ms"},
                     {45600000, "45.6 ms"},
                     {9995000, "10.0 ms"},
                     {99950000, "100 ms"},
                     {1230000000, "1.23 s"},
                     {1000000000000, "1,000 s"},
                     {9999499999999, "9,999 s"},
                     {9999500000000, "2.78 h"},
                     {172619000000000, "47.9 h"},
                     {172620000000000, "2.00 d"},
                     {86356700000000000, "999 d"},
                     {86356800000000000, "1,000 d"},
                     {-1500, "-1.50 µs"},
                     {INT64_MIN, "-106,752 d"}};
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++)
        tap_equal_string(text_duration(text, durations[i].ns), durations[i].want, "duration of %lld ns",
                         (long long)durations[i].ns);
    tap_equal_string(text_bytes(text, 512), "512 B", "bytes");
    tap_equal_string(text_bytes(text, 66000), "66 kB", "bytes");
    tap_equal_string(text_bytes(text, 1200000000), "1.2 GB", "bytes");
    tap_equal_string(text_bytes(text, UINT64_MAX), "18 EB", "bytes");
    tap_equal_string(text_share(text, 0.5), "50 %", "share");
    tap_equal_string(text_share(text, 0.0123), "1.2 %", "share");
    int64_t value = 1;
    tap_ok(text_parse_i64("-42", -100, 100, &value) && value == -42, "an integer is read");
    tap_ok(!text_parse_i64("", 0, 9, &value) && !text_parse_i64("1x", 0, 9, &value) &&
               !text_parse_i64("10", 0, 9, &value) && !text_parse_i64("99999999999999999999", 0, INT64_MAX, &value) &&
               value == -42,
           "no integer, or out of bounds: refused and left");
}

static void test_latin1(void)
{
    char *utf8 = text_from_latin1("a\xe4\xff\x80", 4);
    tap_equal_string(utf8, "a\xc3\xa4\xc3\xbf\xc2\x80", "Latin-1 as UTF-8");
    char *back = text_to_latin1(utf8);
    tap_equal_string(back, "a\xe4\xff\x80", "and back");
    free(back);
    back = text_to_latin1("\xe2\x82\xacx\xc3");
    tap_equal_string(back, "?x?", "what is not in Latin-1, and a cut character");
    free(back);
    free(utf8);
    bool same = true;
    for (int byte = 1; byte < 256; byte++) {
        char one = (char)byte;
        utf8 = text_from_latin1(&one, 1);
        back = text_to_latin1(utf8);
        same = same && back[0] == one && back[1] == '\0';
        free(back);
        free(utf8);
    }
    tap_ok(same, "every byte there and back");
}

int main(void)
{
    test_states();
    test_communicators();
    test_map();
    test_open_states();
    test_bytes();
    test_numbers();
    test_latin1();
    return tap_done();
}
