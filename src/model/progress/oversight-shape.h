/* SPDX-License-Identifier: ISC */

/* What is recorded of a task, and the report, as JSON for programs. */
#ifndef OVERSIGHT_SHAPE_H
#define OVERSIGHT_SHAPE_H

struct schema;

/* An array of {"at_ms", "worker", and one of "iteration" with its "check",
 * "intervention", "outcome"}: its elements. */
extern const struct schema oversight_record_list;

/* As oversight_report_json() makes it: its members. */
extern const struct schema oversight_report_shape;

#endif
