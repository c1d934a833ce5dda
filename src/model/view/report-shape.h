/* SPDX-License-Identifier: ISC */

/* What a report (report-make.h) looks like. */
#ifndef REPORT_SHAPE_H
#define REPORT_SHAPE_H

#include "schema.h"

struct json_object;

/* Set "verdict" {level, words} of a report that has all its other members.
 * failure: words of a failure of the daemon that stands, or NULL. */
void report_verdict(struct json_object *report, const char *failure);

extern const struct schema_field report_shape;

#endif
