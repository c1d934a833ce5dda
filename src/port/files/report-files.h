/* SPDX-License-Identifier: ISC */

/* What a report is made of (report-make.h), read from the files of the
 * workspace. Only reads. */
#ifndef REPORT_FILES_H
#define REPORT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;
struct report_run;
struct settings;
struct state;
struct work_span;
struct workspace;

struct report_files {
	struct json_object *ended, *repairs, *events;
	struct work_span *spans;
	size_t span_count;
};

/* Read the run that is wanted, or the last one; its id stays NULL if there is
 * none. */
void
report_files_run(const struct workspace *workspace, struct report_run *run);

/* Of the time since from_ms; tasks: of all times. alive: the daemon that wrote
 * the state runs. */
void report_files_load(const struct workspace *workspace,
    const struct state *state, bool alive, int64_t from_ms, int64_t now_ms,
    struct report_files *ret_files);
void report_files_release(struct report_files *files);

/* What the state knows of the check command, as the member "check" of the
 * view's head: for when no daemon says it. */
void report_files_check(const struct state *state,
    const struct settings *settings, struct json_object *head);

/* The overseer writes down what a repair cost, and the next daemon books it:
 * add what none has booked yet to the days of the view's budget. */
void report_files_book_repairs(const struct report_files *files,
    const struct state *state, struct json_object *budget);

#endif
