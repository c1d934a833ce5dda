/* SPDX-License-Identifier: ISC */

/* Parts of a report (report-make.h) that are made of its others, and what all
 * of it looks like. Pure. */
#ifndef REPORT_SHAPE_H
#define REPORT_SHAPE_H

#include "schema.h"

struct json_object;

/* What the tasks cost: of lists of rows with cost_micros (null: not known),
 * cost_source and attempts, and of the days of the budget that the period
 * touches. A task counts with all that it cost, in the report of the period in
 * which it ended. What was spent on those days is the total and
 * "elsewhere_micros", to the millionth of a dollar. The caller owns it. */
struct json_object *report_money(struct json_object *landed,
    struct json_object *not_landed, struct json_object *open,
    struct json_object *budget, int64_t from_ms, int64_t to_ms);

/* Set "verdict" {level, words} of a report that has all its other members.
 * failure: words of a failure of the daemon that stands, or NULL. */
void report_verdict(struct json_object *report, const char *failure);

extern const struct schema_field report_shape;

#endif
