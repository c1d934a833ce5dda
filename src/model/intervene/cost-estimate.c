/* SPDX-License-Identifier: ISC */

#include "cost-estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

static int
compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

double
cost_estimate(double own, const double *landed, size_t count)
{
	cleanup_free double *sorted = NULL;

	if (own > 0)
		return own;
	if (count < COST_ESTIMATE_LEAST)
		return NAN;
	sorted = xcalloc(count, sizeof *sorted);
	memcpy(sorted, landed, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, compare);
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}
