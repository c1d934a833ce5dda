/* SPDX-License-Identifier: ISC */

/* A check of text in the exposition format of Prometheus, for machines without
 * promtool: names, HELP and TYPE before the samples of a family, samples
 * together, no series twice, counters end in _total, buckets that grow up to
 * the count. */
#ifndef METRICS_LINT_H
#define METRICS_LINT_H

#include "unit.h"

/* Fails the test at the first fault. Returns the number of series. */
size_t metrics_lint(const char *text);
/* The first fault, or NULL; the caller frees it. */
char *metrics_fault(const char *text, size_t *ret_series);

/* The value of a series, as it is written ("llmc_tasks{step=\"waiting\"}");
 * fails the test if there is none. */
double metrics_value(const char *text, const char *series);

/* promtool's opinion, where it is installed: false = it is not. Fails the test
 * if it complains. */
bool metrics_promtool(const char *text);

#endif
