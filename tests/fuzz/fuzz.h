/* SPDX-License-Identifier: ISC */

/* Shared by the fuzz targets: what most of them need. */
#ifndef FUZZ_H
#define FUZZ_H

#include "base.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold, whatever the input is. */
static inline void
check(bool holds)
{
	if (!holds)
		abort();
}

#endif
