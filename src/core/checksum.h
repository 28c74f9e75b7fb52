/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_CHECKSUM_H
#define SIGHT_CORE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* FNV-like hash of eight bytes at a time: detects damage, but does not protect against malice. */
enum { CHECKSUM_START = 1469598103 };
uint64_t checksum_add(uint64_t checksum, const void *data, size_t size);

#endif
