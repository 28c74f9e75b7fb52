/* SPDX-License-Identifier: BSD-3-Clause */
/* Sprof's result file: Figure 6 of its thesis byte for byte, and the speed-ups of its Tables 1 to 3 recomputed from the
   printed times (Jales Costa 2016). */
#include "render/reports/sprof_report.h"

#include "unit/hand_metrics.h"

enum { SIZES = 7, REGIONS_MOST = 5, TEXT_MOST = 1 << 16 };

static const char figure[] =
    "-----> Execution number 1 for ./targets/bodytrack:\n"
    "\n"
    "--> Result for 1 threads, application ./targets/bodytrack, arguments: /home/marcio/sequenceB_261, 4, 100, 6000, "
    "12, 3, 1, \n"
    "\n"
    "Parallel execution time of the region 1, lines 108 to 120 on file ParticleFilterOMP.h: 3.718798 seconds\n"
    "Speedup for the parallel region 1: 1.000000\n"
    "\n"
    "Parallel execution time of the region 2, lines 44 to 58 on file ParticleFilterOMP.h: 4.320774 seconds\n"
    "Speedup for the parallel region 2: 1.000000\n"
    "\n"
    "Parallel execution time of the region 3, lines 73 to 87 on file ParticleFilterOMP.h: 4.240621 seconds\n"
    "Speedup for the parallel region 3: 1.000000\n"
    "\n"
    "Parallel execution time of the region 4, lines 68 to 76 on file ParticleFilterOMP.h: 485.738586 seconds\n"
    "Speedup for the parallel region 4: 1.000000\n"
    "\n"
    "Parallel execution time of the region 5, lines 114 to 120 on file ParticleFilterOMP.h: 43.485641 seconds\n"
    "Speedup for the parallel region 5: 1.000000\n"
    "\n"
    "Total time of execution: 559.486284 seconds\n"
    "Speedup for the entire application: 1.000000\n"
    "\n"
    "--> Result for 2 threads, application ./targets/bodytrack, arguments: /home/marcio/sequenceB_261, 4, 100, 6000, "
    "12, 3, 1, \n"
    "\n"
    "Parallel execution time of the region 1, lines 108 to 120 on file ParticleFilterOMP.h: 1.888891 seconds\n"
    "Speedup for the parallel region 1: 1.968773\n"
    "\n"
    "Parallel execution time of the region 2, lines 44 to 58 on file ParticleFilterOMP.h: 2.183974 seconds\n"
    "Speedup for the parallel region 2: 1.978400\n"
    "\n"
    "Parallel execution time of the region 3, lines 73 to 87 on file ParticleFilterOMP.h: 2.140480 seconds\n"
    "Speedup for the parallel region 3: 1.981154\n"
    "\n"
    "Parallel execution time of the region 4, lines 68 to 76 on file ParticleFilterOMP.h: 247.850769 seconds\n"
    "Speedup for the parallel region 4: 1.959803\n";

static const char *const figure_regions[REGIONS_MOST] = {"ParticleFilterOMP.h:108-120", "ParticleFilterOMP.h:44-58",
                                                         "ParticleFilterOMP.h:73-87", "ParticleFilterOMP.h:68-76",
                                                         "ParticleFilterOMP.h:114-120"};

/* A program of the tables: times by number of threads; regions end with the first without a name. */
static const unsigned threads[SIZES] = {1, 2, 4, 8, 16, 32, 64};
static const struct program {
    const char *name;
    double total[SIZES], total_speedup[SIZES];
    const char *regions[REGIONS_MOST + 1];
    double times[REGIONS_MOST][SIZES], speedups[REGIONS_MOST][SIZES];
} programs[] = {
    {"blackscholes",
     {501.448, 277.952, 166.025, 109.301, 80.887, 68.272, 60.688},
     {1, 1.804081, 3.020316, 4.587771, 6.199365, 7.344856, 8.262721},
     {"blackscholes.c:440-446"},
     {{448.754, 224.741, 112.657, 56.437, 28.337, 14.535, 7.964}},
     {{1, 1.996761, 3.983365, 7.951415, 15.836327, 30.874028, 56.347815}}},
    {"bodytrack",
     {559.482, 294.442, 156.550, 91.201, 54.815, 39.922, 31.270},
     {1, 1.900143, 3.573823, 6.134604, 10.206732, 14.014378, 17.891973},
     {"TrackingModelOMP.cpp:108-120", "TrackingModelOMP.cpp:44-58", "TrackingModelOMP.cpp:73-87",
      "ParticleFilterOMP.h:68-76", "ParticleFilterOMP.h:114-120"},
     {{3.719, 1.889, 0.988, 0.538, 0.355, 0.321, 0.385},
      {4.321, 2.184, 1.097, 0.558, 0.279, 0.169, 0.164},
      {4.241, 2.140, 1.075, 0.546, 0.278, 0.163, 0.149},
      {485.738, 247.851, 123.698, 64.954, 32.087, 18.539, 9.927},
      {43.486, 22.041, 11.254, 6.036, 3.184, 1.996, 1.628}},
     {{1, 1.968767, 3.764170, 6.912639, 10.476056, 11.585670, 9.659740},
      {1, 1.978480, 3.938924, 7.743728, 15.487455, 25.568047, 26.347561},
      {1, 1.981776, 3.945116, 7.767399, 15.255396, 26.018405, 28.463087},
      {1, 1.959798, 3.926806, 7.478185, 15.138156, 26.200874, 48.930996},
      {1, 1.972959, 3.864048, 7.204440, 13.657663, 21.786573, 26.711302}}},
    {"freqmine",
     {188.090, 99.929, 54.985, 32.531, 22.903, 18.309, 17.381},
     {1, 1.882236, 3.420751, 5.781870, 8.212461, 10.273090, 10.821587},
     {"fp_tree.cpp:541-636", "fp_tree.cpp:1078-1186", "fp_tree.cpp:213-289", "fp_tree.cpp:1377-1461"},
     {{1.468, 0.694, 0.441, 0.287, 0.234, 0.187, 0.204},
      {0.363, 0.152, 0.079, 0.052, 0.058, 0.040, 0.069},
      {0.495, 0.361, 0.184, 0.106, 0.074, 0.056, 0.035},
      {177.450, 89.486, 45.257, 23.055, 12.937, 8.724, 7.445}},
     {{1, 2.115274, 3.328798, 5.114983, 6.273504, 7.850267, 7.196078},
      {1, 2.388158, 4.594937, 6.980769, 6.258621, 9.075000, 5.260870},
      {1, 1.371191, 2.690217, 4.669811, 6.689189, 8.839286, 14.142857},
      {1, 1.982992, 3.920940, 7.696812, 13.716472, 20.340440, 23.834788}}},
};

static struct defs *region_defs(const char *const *names, size_t count)
{
    struct defs *defs = defs_new();
    for (size_t i = 0; i < count; i++)
        defs_add_state(defs, &(struct state_def){.name = (char *)(uintptr_t)names[i], .class = CLASS_USER});
    return defs;
}

/* What sprof_write writes; in a buffer of its own, to be freed. */
static char *written(const struct sprof_result *result)
{
    struct error err = {0};
    char path[] = "test_sprof.XXXXXX", *text = memory_new(TEXT_MOST);
    int file = mkstemp(path);
    struct output *output = output_open(path, (struct output_options){.replace = true}, &err);
    sprof_write(output, result);
    if (file < 0 || output_close(output, true, &err) != STATUS_OK)
        printf("# %s\n", err.text);
    FILE *stream = fopen(path, "r");
    size_t size = stream ? fread(text, 1, TEXT_MOST - 1, stream) : 0;
    text[size] = '\0';
    if (stream)
        fclose(stream);
    remove(path);
    return text;
}

static void figure_6(void)
{
    static const double times[2][REGIONS_MOST] = {{3.718798, 4.320774, 4.240621, 485.738586, 43.485641},
                                                  {1.888891, 2.183974, 2.140480, 247.850769, 22.041}};
    char *arguments[] = {(char[]){"/home/marcio/sequenceB_261"},
                         (char[]){"4"},
                         (char[]){"100"},
                         (char[]){"6000"},
                         (char[]){"12"},
                         (char[]){"3"},
                         (char[]){"1"}};
    struct defs *defs = region_defs(figure_regions, REGIONS_MOST);
    struct scaling_run runs[2];
    struct metrics *made[2];
    for (size_t i = 0; i < 2; i++) {
        made[i] = hand_metrics(defs, 1, i == 0 ? 559.486284 : 294.442, 0);
        for (size_t k = 0; k < REGIONS_MOST; k++)
            hand_calls(made[i], 0, figure_regions[k], times[i][k]);
        runs[i] = (struct scaling_run){.metrics = made[i], .processes = 1, .threads = (uint32_t)i + 1};
    }
    char *text = written(&(struct sprof_result){"./targets/bodytrack", arguments, 7, runs, 2});
    tap_ok(strncmp(text, figure, sizeof figure - 1) == 0, "Figure 6, byte for byte");
    tap_ok(strstr(text, "Total time of execution: 294.442000 seconds\n"), "and on");
    free(text);
    metrics_free(made[0]);
    metrics_free(made[1]);
    defs_free(defs);
}

/* Whether the text has this speed-up of the run and region (0: the whole) with 6 decimals. */
static bool has_speedup(const char *text, unsigned run_threads, size_t region, double speedup)
{
    char head[64], line[128];
    snprintf(head, sizeof head, "--> Result for %u threads", run_threads);
    const char *from = strstr(text, head), *next = from ? strstr(from + 1, "--> Result") : NULL;
    if (region > 0)
        snprintf(line, sizeof line, "Speedup for the parallel region %zu: %.6f\n", region, speedup);
    else
        snprintf(line, sizeof line, "Speedup for the entire application: %.6f\n", speedup);
    const char *at = from ? strstr(from, line) : NULL;
    return at && (!next || at < next);
}

static void table(const struct program *program)
{
    size_t regions = 0, wrong = 0;
    while (regions < REGIONS_MOST && program->regions[regions])
        regions++;
    struct defs *defs = region_defs(program->regions, regions);
    struct scaling_run runs[SIZES];
    struct metrics *made[SIZES];
    for (size_t i = 0; i < SIZES; i++) {
        size_t place = SIZES - 1 - i; /* the order in which runs are made does not matter */
        made[i] = hand_metrics(defs, 1, program->total[place], 0);
        for (size_t k = 0; k < regions; k++)
            hand_calls(made[i], 0, program->regions[k], program->times[k][place]);
        runs[i] = (struct scaling_run){.metrics = made[i], .processes = 1, .threads = threads[place]};
    }
    char *text = written(&(struct sprof_result){program->name, NULL, 0, runs, SIZES});
    for (size_t i = 0; i < SIZES; i++) {
        wrong += !has_speedup(text, threads[i], 0, program->total_speedup[i]);
        for (size_t k = 0; k < regions; k++)
            wrong += !has_speedup(text, threads[i], k + 1, program->speedups[k][i]);
    }
    tap_equal_int((long long)wrong, 0, "%s: the speed-ups of Tables 1 to 3, recomputed", program->name);
    free(text);
    for (size_t i = 0; i < SIZES; i++)
        metrics_free(made[i]);
    defs_free(defs);
}

/* Tests one after the other, each with its own reference; runs without a recording have a total alone. */
static void tests(void)
{
    static const struct scaling_run runs[] = {{.processes = 1, .threads = 2, .time_s = 6},
                                              {.processes = 1, .threads = 1, .time_s = 10},
                                              {.processes = 1, .threads = 1, .time_s = 12},
                                              {.processes = 1, .threads = 2, .time_s = 8}};
    char *text = written(&(struct sprof_result){"app", NULL, 0, runs, 4});
    const char *second = strstr(text, "-----> Execution number 2 for app:\n\n--> Result for 1 threads");
    tap_ok(second && has_speedup(text, 2, 0, 10.0 / 6) && strstr(second, "entire application: 1.500000\n"),
           "two tests, each with its own reference");
    free(text);
}

int main(void)
{
    figure_6();
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        table(&programs[i]);
    tests();
    return tap_done();
}
