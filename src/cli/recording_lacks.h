/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_RECORDING_LACKS_H
#define SIGHT_CLI_RECORDING_LACKS_H

#include "convert/record/read_record.h"

/* Whether other hosts have, or had, files of the recording that are not here. */
bool recording_is_elsewhere(const struct record_summary *summary);

/* One line each on standard error for what a recording lacks. */
void recording_report_lacks(const struct record_summary *summary);

/* The same for processes and threads that had no place to record to. */
void recording_report_failed(const struct recordings *recordings);

#endif
