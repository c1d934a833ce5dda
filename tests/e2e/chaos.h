/* SPDX-License-Identifier: ISC */

/*
 * The chaos run (test-chaos.c), its faults (chaos-faults.c) and its oracle
 * (chaos-oracle.c). The oracle checks git, the tasks in their source, tmux and
 * /proc; never what the daemon says.
 */
#ifndef CHAOS_H
#define CHAOS_H

#include "unit.h"

struct buf;
struct json_object;

#define CHAOS_TASKS_MAX 2000

enum chaos_source {
	CHAOS_FOLDER, /* the folder of tasks */
	CHAOS_COMMAND, /* a task_pool_command that gives each number once */
};

/* The folders that a task is in; bits. */
enum chaos_place {
	CHAOS_TODO = 1,
	CHAOS_DOING = 2,
	CHAOS_DONE = 4,
	CHAOS_FAILED = 8,
};

/* What was observed; tasks are numbered from 1. */
struct chaos_view {
	enum chaos_source source;
	int tasks, workers;
	const char *socket; /* of tmux */
	const char *head; /* of the default branch, at the last check */
	int given; /* number of tasks added to the source so far */
	unsigned places[CHAOS_TASKS_MAX + 1]; /* folder */
	int handed[CHAOS_TASKS_MAX + 1]; /* command: how often it was handed
					  * out */
	int failed[CHAOS_TASKS_MAX + 1]; /* how often it was reported as
					  * failed */
	int landed[CHAOS_TASKS_MAX + 1]; /* number of commits that have its
					  * file */
};

struct chaos_pane {
	char session[64];
	pid_t pid;
};
#define CHAOS_PANES_MAX 64

const char *chaos_task_name(int number); /* "task-0007" */

/* All panes of our tmux server; 0 if there is no server. */
size_t chaos_panes(
    const struct chaos_view *view, struct chaos_pane panes[CHAOS_PANES_MAX]);

/* Check what must hold at any time; false with the reason in `problem`. */
bool chaos_check(struct chaos_view *view, struct buf *problem);

/* The task has landed or was reported as failed; all of them have. */
bool chaos_has_settled(const struct chaos_view *view, int number);
bool chaos_all_settled(const struct chaos_view *view);

/* Check what must hold when nothing is in progress; `daemon` is its process. */
bool chaos_check_quiet(
    const struct chaos_view *view, pid_t daemon, struct buf *problem);

/* Check what must hold after it was stopped. */
bool chaos_check_ended(const struct chaos_view *view, struct buf *problem);

/* Kinds of open descriptors of a process, sorted, one per line. */
void chaos_descriptors(pid_t pid, struct buf *out);

/* --- faults ------------------------------------------------------------ */

#define CHAOS_LOCKS_MAX 8

struct chaos {
	struct chaos_view view;
	uint64_t random;
	int steps, step;
	int64_t began_ms;
	FILE *log;
	const char *log_path;
	struct procref daemon;
	struct {
		char *path; /* NULL = unused */
		ino_t inode;
		int until; /* remove it at this step */
	} locks[CHAOS_LOCKS_MAX];
	char *moved; /* what was settled at the last progress */
	int64_t moved_ms;
	int starts, failures, helped;
};

/* The random numbers of one step: always the same count, so that what happens
 * does not change later steps. */
struct chaos_draw {
	size_t fault, worker, a, b;
	int64_t gap_ms;
};

struct chaos_fault {
	const char *name; /* NULL = the end of the table */
	size_t weight;
	void (*fn)(struct chaos *c, const struct chaos_draw *draw);
	int count;
};
extern struct chaos_fault chaos_faults[];

size_t chaos_pick(struct chaos *c, size_t count);
void chaos_draw(struct chaos *c, struct chaos_draw *draw);
/* Remove the locks that end at this step. */
void chaos_lift_locks(struct chaos *c, int step);

/* Write to the log and to the terminal. */
void chaos_note(struct chaos *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Fail the test, with everything that is known in the log. */
void chaos_give_up(struct chaos *c, const char *words);

pid_t chaos_daemon_pid(const struct chaos *c);
/* Start it; it may have exited by itself when this returns. */
void chaos_daemon_up(struct chaos *c);
/* If it has exited by itself, note that and start it again. */
void chaos_daemon_tend(struct chaos *c);
void chaos_daemon_end(struct chaos *c, int signo);

#endif
