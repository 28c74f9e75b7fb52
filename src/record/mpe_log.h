/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_MPE_LOG_H
#define SIGHT_MPE_LOG_H

/* The logging part of MPE under the name that it has there. */
#include "mpe.h"

#endif
