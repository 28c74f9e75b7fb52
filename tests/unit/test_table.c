/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder's table against a plain array: keys come and go at random, many of them in one cluster. */
#include "record/table.h"
#include "unit/tap.h"

#include <stdlib.h>

enum { KEYS = 3000, STEPS = 200000 };
static uint64_t expected[KEYS]; /* 0: not there */

static uint64_t key_of(size_t i)
{
    return i % 3 == 0 ? i + 1 : UINT64_C(0x7f0000000000) + i * 64; /* small numbers, and addresses */
}

static size_t differences(const struct table *table)
{
    size_t count = 0, wrong = 0;
    for (size_t i = 0; i < KEYS; i++) {
        const uint64_t *value = table_find(table, key_of(i));
        wrong += (value ? *value : 0) != expected[i];
        count += expected[i] != 0;
    }
    return wrong + (count != table->count);
}

int main(void)
{
    struct table table = {0};
    tap_ok(table_find(&table, 5) == NULL, "an empty table has nothing");
    table_remove(&table, 5);
    srand(1);
    size_t wrong = 0;
    for (size_t step = 1; step <= STEPS; step++) {
        size_t i = (size_t)rand() % KEYS;
        if (rand() % 5 < 3) {
            *table_put(&table, key_of(i)) = expected[i] = step;
        } else {
            table_remove(&table, key_of(i));
            expected[i] = 0;
        }
        if (step % 20000 == 0)
            wrong += differences(&table);
    }
    tap_ok(wrong == 0, "keys that come and go");
    for (size_t i = 0; i < KEYS; i++) {
        table_remove(&table, key_of(i));
        expected[i] = 0;
    }
    tap_ok(differences(&table) == 0, "all removed");
    free(table.entries);
    return tap_done();
}
