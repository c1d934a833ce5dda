/* SPDX-License-Identifier: ISC */

/* A report (report-make.h) as text for people; local time. Pure. */
#ifndef REPORT_PRINT_H
#define REPORT_PRINT_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct json_object;

#define REPORT_LINES_MAX 100 /* of each list; the JSON has more */

/* How many there are of a list, with those that are left off. */
int64_t report_print_count(struct json_object *report, const char *list);

/* Appended. width and colours as for table_print(). */
void report_print(
    struct json_object *report, int width, bool colours, struct buf *out);

/* "run r17, 2026-01-31 09:15:30 to 2026-01-31 10:15:30 (1h)"; appended. */
void report_print_period(struct json_object *report, struct buf *out);

/* Of the list of what is done. */
const char *report_print_landed_title(struct json_object *report);

/* "9995c6d", or what stands for it; "+10 -2" where it is known; appended. */
void report_print_commit(struct json_object *task, struct buf *out);
void report_print_lines(struct json_object *task, struct buf *out);

/* "50 trees checked, 3 of them flaky (6 %)", and so on; appended. */
void report_print_landing(struct json_object *report, struct buf *out);

/* "3 detections, 1 intervention"; appended. */
void report_print_oversight(struct json_object *report, struct buf *out);

/* The rows of money: those that are always shown, and those that are if they
 * are not zero; ends with a title NULL. */
struct report_amount {
	const char *title, *member;
	bool always;
};
extern const struct report_amount report_amounts[];

/* A line of the repairs: "failure of class: words"; appended. */
void report_print_repair(struct json_object *row, struct buf *out);

#endif
