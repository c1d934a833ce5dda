/* SPDX-License-Identifier: ISC */

/* The sections of the view (view.h) that the state alone gives: workers,
 * tasks, budget, asks, and a part of head. The daemon adds what it knows
 * beside; without a daemon, this is what can be shown. */
#ifndef VIEW_STATE_H
#define VIEW_STATE_H

struct json_object;
struct metrics;
struct settings;
struct spiral_event;
struct state;
struct view_files;
struct workspace;

/* Rows of tasks that wait, and of those that are parked: so many are whole, so
 * many are shown at all (head.tasks_more counts the others), for the view must
 * fit into a line of the socket. head.steps counts all tasks. */
#define VIEW_TASKS_WHOLE 200
#define VIEW_TASKS_MAX   1000
#define VIEW_PARKED_MAX  500

/* Rows of tasks that were made before, for a caller that fills a view
 * repeatedly: those of tasks that have not changed are shared by the views, and
 * must not be changed. All zero: none are kept yet. */
struct view_kept {
	struct view_kept_row {
		uint64_t mark;
		struct json_object *row;
	} * rows; /* owned, in the order of the state's tasks */
	size_t count, at; /* at: of the next task, if nothing has changed */
};

void view_kept_clear(struct view_kept *kept);

/* Fill them into a view of view_new(): the part of head, the asks and those
 * others that are wanted (view_wants()). kept may be NULL. */
void view_state_fill(const struct state *state, const struct settings *settings,
    struct view_kept *kept, struct json_object *sections,
    struct json_object *view);

/* What a daemon knows better, for a reader that has only the files: the goals
 * and the landing branch. */
void
view_state_alone(const struct state *state, const struct settings *settings,
    const struct workspace *workspace, struct json_object *view);

/* The sections of the view that files give: repairs, the overseer, the failure
 * that stopped the daemon. Each file is read again only when it has changed. */

#define VIEW_REPAIRS_MAX 20 /* rows */

/* What is read, below .llmc: the names end with a NULL. */
extern const char *const view_files_names[];

/* Nothing is read before it is asked for. */
struct view_files *view_files_new(const struct workspace *workspace);
void view_files_free(struct view_files *files);

/* A row of "repairs", owned by the caller. */
struct json_object *view_repair_row(const struct spiral_event *event);

/* Fill "repairs" and members of "head". */
void view_files_fill(struct view_files *files, struct json_object *view);

/* The last events of logs/auto.log, oldest first, numbered from 1: an array
 * that the caller owns. */
struct json_object *view_files_events(const struct workspace *workspace);

/* What the state gives to metrics (metrics.h): everything that a daemon
 * does not have to be asked for. */

/* Fill it; counters are borrowed from the state. */
void metrics_state_fill(const struct state *state,
    const struct settings *settings, int64_t now_ms, struct metrics *metrics);

#endif
