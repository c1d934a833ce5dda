/* SPDX-License-Identifier: ISC */

/* What the tasks of a report cost. A task counts with all that it cost, in the
 * report of the period in which it ended. Pure. */
#ifndef REPORT_MONEY_H
#define REPORT_MONEY_H

#include <stdint.h>

struct buf;
struct json_object;
struct schema;

/* Of lists of rows with cost_micros (null: not known), cost_source and
 * attempts, and of the days of the budget that the period touches:
 * report-shape.c describes it. What was spent on those days is the total and
 * "elsewhere_micros", to the millionth of a dollar. The caller owns it. */
struct json_object *report_money(struct json_object *landed,
    struct json_object *not_landed, struct json_object *open,
    struct json_object *budget, int64_t from_ms, int64_t to_ms);

/* "$1.02", "$1.02 est." or "?" of a row; appended. */
void report_money_add(struct buf *out, struct json_object *row);

extern const struct schema report_money_schema;

#endif
