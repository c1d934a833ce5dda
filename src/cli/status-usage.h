/* SPDX-License-Identifier: ISC */

/* llmc status: what all workers used, day by day. */
#ifndef STATUS_USAGE_H
#define STATUS_USAGE_H

struct daybook_day;
struct json_object;
struct schema;
struct status;

/* NULL: a day on which nothing was used. The caller owns it. */
struct json_object *status_usage_day(const struct daybook_day *day);
extern const struct schema status_usage_day_shape;

/* The list of days; a line for people if auto mode does not show one. */
void status_usage_show(struct status *status);
extern const struct schema status_usage_shape; /* of an entry of the list */

#endif
