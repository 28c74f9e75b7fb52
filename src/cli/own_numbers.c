/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/own_numbers.h"

enum status own_numbers_ask(struct own_metrics *own, const char *file, const char *only,
                            const struct common_options *common, const struct trace_options *trace, struct error *err)
{
    struct asking asking;
    /* Without definitions no progress of a pass that there is not. */
    if (!file)
        return own_metrics_ask(own, NULL, NULL, NULL, err);
    asking_begin(&asking, common, trace, 0);
    enum status status = own_metrics_ask(own, file, only, &asking.request, err);
    asking_end(&asking);
    return status;
}
