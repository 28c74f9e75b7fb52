/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/findings_json.h"

/* One function for each member, as tables of fields hold functions. */
#define GETTER(name, type, ...)                                                                                        \
    static struct value name(const void *context, const void *row)                                                     \
    {                                                                                                                  \
        const struct type *item = row;                                                                                 \
        (void)context;                                                                                                 \
        return __VA_ARGS__;                                                                                            \
    }
GETTER(get_id, finding, value_text(item->id))
GETTER(get_title, finding, value_text(item->title))
GETTER(get_waiting, finding, value_ratio(item->waiting_s))
GETTER(get_saving, finding, value_ratio(item->saving_s))
GETTER(get_share, finding, value_ratio(item->share))
GETTER(get_root, finding, value_text(item->root))
GETTER(code_name, finding_code, value_text(item->name))
/* Unknown files are empty texts in a finding, null in JSON. */
GETTER(code_file, finding_code, value_text(*item->file ? item->file : NULL))
GETTER(code_line, finding_code, value_if(item->line > 0, value_count((uint64_t)item->line)))
GETTER(code_called, finding_code, value_text(item->called))
GETTER(code_caller, finding_code, value_text(item->caller))
GETTER(code_excess, finding_code, value_ratio(item->excess_s))

static const struct field members[] = {
    {"id", NULL, get_id},           {"title", NULL, get_title}, {"waiting_s", NULL, get_waiting},
    {"saving_s", NULL, get_saving}, {"share", NULL, get_share}, {"root", NULL, get_root},
};
static const struct field code_members[] = {
    {"name", NULL, code_name},     {"file", NULL, code_file},     {"line", NULL, code_line},
    {"called", NULL, code_called}, {"caller", NULL, code_caller}, {"excess_s", NULL, code_excess},
};

static void json_ranks(struct json *json, const char *key, const struct ranks *ranks)
{
    json_open(json, key, '[');
    for (size_t i = 0; i < ranks->count; i++)
        json_value(json, NULL, value_count(ranks->rank[i]));
    json_close(json, ']');
}

void finding_write_members(struct json *json, const struct finding *finding)
{
    /* The members of all findings first; lists and texts, which differ in length, after them. */
    json_fields(json, members, sizeof members / sizeof *members, NULL, finding);
    json_ranks(json, "victims", &finding->victims);
    json_ranks(json, "causes", &finding->causes);
    json_open(json, "functions", '[');
    /* The list ends with the first that is not there. */
    for (size_t i = 0; i < FINDING_FUNCTIONS && finding->functions[i]; i++)
        json_value(json, NULL, value_text(finding->functions[i]));
    json_close(json, ']');
    json_open(json, "sites", '[');
    for (size_t i = 0; i < FINDING_SITES && finding->sites[i]; i++) {
        char site[SITE_TEXT_SIZE];
        json_value(json, NULL, value_text(site_text(site, finding->sites[i])));
    }
    json_close(json, ']');
    json_open(json, "code", '[');
    for (size_t i = 0; i < finding->code_count; i++) {
        const struct finding_code *code = &finding->code[i];
        json_open(json, NULL, '{');
        json_fields(json, code_members, sizeof code_members / sizeof *code_members, NULL, code);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_value(json, "from_s", value_ratio(finding->from_s));
    json_value(json, "to_s", value_ratio(finding->to_s));
    json_open(json, "evidence", '{');
    for (size_t i = 0; i < finding->evidence_count; i++)
        json_value(json, finding->evidence[i].name, value_ratio(finding->evidence[i].value));
    json_close(json, '}');
    json_value(json, "text", value_text(finding->text));
    json_value(json, "advice", value_text(finding->advice));
    json_value(json, "pattern", value_text(finding->pattern));
    json_value(json, "best_practice", value_text(finding->best_practice));
}

void finding_write_json(struct json *json, const struct finding *finding)
{
    json_open(json, NULL, '{');
    finding_write_members(json, finding);
    json_close(json, '}');
}

void clocks_write_json(struct json *json, const struct analysis *analysis)
{
    json_open(json, "clocks", '{');
    json_value(json, "early", value_count(analysis->early));
    /* How many messages are early and by how much decide what else may be believed: they come first. */
    json_value(json, "clock_error_s", value_time(analysis->clock_error));
    json_value(json, "roots_unknown", value_bool(!finding_roots_known(analysis)));
    json_value(json, "clocks_fixed", value_bool(analysis->clocks_fixed));
    if (analysis->clocks_fixed) {
        /* What was corrected is known only of clocks that were; the names say which of the times are meant. */
        json_value(json, "early_recorded", value_count(analysis->early_recorded));
        json_value(json, "clock_error_recorded_s", value_time(analysis->clock_error_recorded));
        json_value(json, "clock_rest_s", value_time(analysis->clock_rest));
        json_value(json, "clock_shift_s", value_time(analysis->clock_shift));
        json_value(json, "clock_bent_s", value_time(analysis->clock_bent));
        json_value(json, "median_wait_s", value_time(analysis->median_wait));
        json_value(json, "waits_uncertain", value_bool(finding_waits_uncertain(analysis)));
    }
    json_close(json, '}');
}
