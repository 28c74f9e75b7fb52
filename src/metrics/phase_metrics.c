/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/phase_metrics.h"

const char *phase_source_name(enum phase_source source)
{
    static const char *const names[] = {
#define PHASE_SOURCE_NAME(source, word) word,
        PHASE_SOURCES(PHASE_SOURCE_NAME)
#undef PHASE_SOURCE_NAME
    };
    return names[source];
}

const char *loop_class_name(enum loop_class kind)
{
    static const char *const names[] = {"computing", "waiting", "communicating"};
    return names[kind];
}
