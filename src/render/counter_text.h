/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_COUNTER_TEXT_H
#define SIGHT_RENDER_COUNTER_TEXT_H

#include "core/text.h"

/* Values of a counter for people, by its unit ("": not known). */

/* With three digits: "173 ms", "19 MB", "2.41 GHz", "12.5 k". `rate`: what a sum grows per second; of times that is the
   share of the time, of joules watts. */
char *counter_text(char buffer[TEXT_NUMBER_SIZE], const char *unit, bool rate, double value);

/* The same for an amount, which without a unit is a count: "27,000". "-" for NAN. */
char *counter_amount_text(char buffer[TEXT_NUMBER_SIZE], const char *unit, double value);

#endif
