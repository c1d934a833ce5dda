/* SPDX-License-Identifier: ISC */

#include "cost-estimate.h"

#include <math.h>

double
cost_estimate(double own, const double *landed, size_t count)
{
	double most = NAN;

	if (own > 0)
		return own;
	if (count < COST_ESTIMATE_LEAST)
		return NAN;
	for (size_t i = 0; i < count; i++)
		if (!(most >= landed[i]))
			most = landed[i];
	return most;
}
