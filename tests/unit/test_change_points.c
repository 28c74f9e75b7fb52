/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of level that are planted in noise, and series without any. */
#include "runs/change_points.h"

#include "unit/random.h"
#include "unit/tap.h"

#include <math.h>
#include <stdlib.h>

enum { LENGTH = 60, ROUNDS = 200 };

static void planted(void)
{
    int exact = 0, near = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double values[LENGTH];
        size_t count;
        for (int i = 0; i < LENGTH; i++)
            values[i] = (i < 20 ? 10 : i < 45 ? 11 : 10.4) * (1 + 0.02 * random_normal()) * (i == 33 ? 2 : 1);
        struct change_point *found = change_points_of(values, LENGTH, 0.005, &count);
        if (count == 2) {
            exact += found[0].at == 20 && found[1].at == 45;
            near += labs((long)found[0].at - 20) <= 2 && labs((long)found[1].at - 45) <= 2 &&
                    fabs(found[0].before - 10) < 0.2 && fabs(found[0].after - 11) < 0.2 &&
                    fabs(found[1].after - 10.4) < 0.2;
        }
        free(found);
    }
    if (!tap_ok(near >= ROUNDS * 9 / 10, "two changes of 5 and 10 %% under 2 %% noise and an outlier: 9 in 10"))
        printf("# %d near, %d exact of %d\n", near, exact, ROUNDS);
}

static void none(void)
{
    int alarms = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double values[LENGTH];
        size_t count;
        for (int i = 0; i < LENGTH; i++)
            values[i] = 10 * (1 + 0.05 * random_normal());
        free(change_points_of(values, LENGTH, 0, &count));
        alarms += count > 0;
    }
    if (!tap_ok(alarms <= ROUNDS * 3 / 100, "noise has no change: at most 3 in 100"))
        printf("# %d of %d\n", alarms, ROUNDS);
}

static void few(void)
{
    static const double values[] = {1, 1, 1, 1, 1, 1, 1, 9, 9, 9, 9, 9, 9, 9}, equal[8] = {0};
    size_t count;
    struct change_point *found = change_points_of(values, 14, 0, &count);
    tap_ok(count == 1 && found[0].at == 7, "an exact step");
    free(found);
    free(change_points_of(values, 5, 0, &count));
    tap_ok(count == 0, "too few");
    free(change_points_of(equal, 8, 0, &count));
    tap_ok(count == 0, "all equal");
    free(change_points_of(equal, 0, 0, &count));
    tap_ok(count == 0, "none at all");
}

int main(void)
{
    planted();
    none();
    few();
    return tap_done();
}
