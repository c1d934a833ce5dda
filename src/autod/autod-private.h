/* SPDX-License-Identifier: ISC */

/* What the program autod does: the daemon with its floors, and jobs in a
 * process of their own. */
#ifndef AUTOD_PRIVATE_H
#define AUTOD_PRIVATE_H

struct auto_mode;
struct book;
struct core;
struct core_options;
struct err;
struct fleet;
struct forge_floor;
struct hosts_floor;
struct json_object;
struct landings;
struct loop;
struct oversight_floor;
struct plan_floor;
struct show_floor;
struct state;
struct team_floor;
struct workspace;

/* Puts the floors of the daemon together. */

struct floors {
	struct core *core;
	struct fleet *fleet;
	struct landings *landings;
	struct auto_mode *auto_mode;
	struct forge_floor *forge;
	struct hosts_floor *hosts; /* NULL = this host works alone */
	struct plan_floor *plan;
	struct oversight_floor *oversight;
	struct team_floor *team;
	struct show_floor *show;
};

/* On negative errno nothing is held. */
int floors_build(struct floors *floors, struct loop *loop,
    const struct workspace *workspace, const struct core_options *options,
    struct err *err);
void floors_free(struct floors *floors);

/*
 * One request while no daemon runs: read from standard input, handled with the
 * same lock and the same code, answered on standard output.
 */

/* Returns the exit status of the program: 0 if an answer was printed, even if
 * it is an error. */
int oneshot_run(struct core *core);

/*
 * The book for programs that do not link SQLite: read as it was committed last,
 * without the lock, whether or not a daemon runs or answers. look-view.c has
 * the view, and look-report.c what is reported.
 */

/* Print what was asked for, in JSON. Returns the exit status of the program; a
 * failure is printed on standard error.
 *
 *   state   the document of state.h; {} = there is none yet
 *   others  see look.c; with their parameters on standard input */
int look_run(const struct workspace *workspace, const char *name);

/*
 * What is asked of the book about what has ended: each takes its parameters as
 * an object and returns its answer, owned by the caller, or NULL with err.
 * These read only, in a process of their own, so they may take their time.
 */
typedef struct json_object *
look_fn(struct book *book, const struct workspace *workspace,
    struct json_object *params, struct err *err);

/* {"alive", "sections"}: the view (view.h) as far as the book and the files
 * tell it. alive: a daemon runs, but does not answer. Without a book, which
 * only the ended tasks need. */
look_fn look_view;

/* {"view" | "alive", "active", "now_ms", "since_ms", "to_ms" | "run", "charts",
 * "worker"}: the report (report.h). view: of a daemon; active: the last run
 * goes on; charts: with them. {"unknown_run": the last one or null} if there is
 * no such run. The other one: the charts of it alone (charts.h). */
look_fn look_report;
look_fn look_charts;

#define LOOK_ASKS_MAX 500 /* that are listed */

/* -ENOENT: there is none yet. -ENODATA with words: there was one (workspace.h).
 */
int look_read_state(
    const struct workspace *workspace, struct state *state, struct err *err);

/* A daemon that has ended has left the statuses of its workers in the state.
 * Their sessions may go on, but nothing attends to them. */
void look_set_offline(struct state *state);

/* Until a daemon has made the book, an empty one: *ret_dir is to be removed,
 * NULL = nothing is. -ENODATA as above. */
int look_open_history(const struct workspace *workspace, struct book **ret_book,
    char **ret_dir, struct err *err);

/* Add goals to the list: those that are open, as charts_goal() shows them, or
 * those that have ended, as overseer.goal.list has the others. */
int look_read_goals(
    struct book *book, bool open, struct json_object *list, struct err *err);

/*
 * autod --store-task: one job on the book (book-care.h), in a process of its
 * own, because it may take long. The daemon starts it; a person may too, if no
 * daemon runs.
 */

struct store_task {
	const char *name; /* check, copy, export, sql */
	const char *file; /* NULL = none */
	const char *sql; /* a query */
	const char *owner; /* pid of the daemon that started it, NULL = none */
};

/* The report as a line of JSON on standard output, or what is wrong on standard
 * error. Returns the exit status. */
int store_task_run(
    const struct workspace *workspace, const struct store_task *task);

/* For llmc doctor --rebuild: replace the state in the book by the document on
 * standard input; history and plans stay. A damaged book is put aside:
 * {"damaged": path or null}. Takes the lock. */
int store_rebuild(const struct workspace *workspace);

/*
 * autod --fleet VERB: what people do with the shared book of a fleet
 * (port/shared), in a process of its own that may wait: for llmc fleet, whether
 * or not a daemon runs here.
 */

struct fleet_task {
	const char *verb; /* init, migrate, join, check, hosts, drain, leave */
	const char *owner; /* address with the rights of the owner; NULL =
			    * fleet.database */
	const char *host; /* drain: which; NULL = this one */
	bool undo; /* drain: take tasks again */
};

/* What was done or found as a line of JSON on standard output, or what is wrong
 * on standard error. Returns the exit status. */
int fleet_task_run(
    const struct workspace *workspace, const struct fleet_task *task);

#endif
