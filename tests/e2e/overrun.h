/* SPDX-License-Identifier: ISC */

/*
 * A run of the overseer for tests, on top of autorun.h: `llmc overseer` in the
 * background with its output in a file, real autod, tmux and git, and the
 * stand-in as agent of workers and repairs. over_end() ends everything by pid,
 * whatever happened; so does a guard, should the test be killed.
 *
 * What waits fails the test after a minute, with what the overseer said.
 */
#ifndef OVERRUN_H
#define OVERRUN_H

#include <stdbool.h>
#include <stddef.h>

#include "autorun.h"
#include "failure-table.h"

/* How an overseer ends: overseer(8). */
enum over_exit {
	OVER_STOPPED = 0,
	OVER_ERROR = 1,
	OVER_SPIRAL = 3,
	OVER_MANUAL = 4,
	OVER_UNREPAIRED = 5,
	OVER_REFUSED = 6,
};

/* A fleet with short limits; llmc is on PATH. */
void over_begin(void);
void over_begin_real(void); /* with the real Claude Code */
void over_end(void);

/* As e2e_hurry(); what limits other programs stays as it was, so set other
 * limits after it. */
void over_hurry(int times);

/* What the agent does in the worktrees at the end of every turn, as a shell
 * script that a repair can take away: over_mend() is the step for that. */
void over_culprit(const char *script);
const char *over_mend(void);

/* Steps of the repairing agent. Without `repairs` (_i of a loop test: 1) there
 * is no repair, and the second failure of a kind ends the overseer. */
void over_remedy(int off, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

void over_start(void);
/* Likewise with arguments, which end with NULL, to its end: the status. */
int over_run(const char *arg, ...);
void over_signal(int signo);
bool over_has_ended(void);
int over_wait_exit(void);
int over_pid(void);
/* SIGKILL; the daemon stays. */
void over_kill9(void);

/* What it has said so far; wait until it has said so (that often). */
const char *over_output(void);
void over_wait_says(const char *words);
void over_wait_says_times(const char *words, int times);

/* Wait until a daemon runs that is registered, alive, and not the one with that
 * pid (0: any); its pid. */
int over_daemon(int before);
/* Daemons of this root, by what /proc has; *ret_pid is one of them. */
int over_count_daemons(int *ret_pid);
/* Its instance id. */
const char *over_instance(void);
/* The text of a member of overseer.json, as auto_member(). */
const char *over_member(const char *path);

/* Lines of failures.jsonl of that kind with those words (NULL: any). */
int over_remembered(const char *kind, const char *words);

/* It repaired a failure of this class or verdict, and runs another daemon than
 * `before`; false when repairs are off: then it has ended with a spiral, landed
 * nothing and left nothing running. */
bool over_recovers(int off, const char *failure, int before);
/* Nothing happened: the same daemon, no failure, no repair. */
void over_undisturbed(int daemon);
/* Ctrl-C: status 0, and nothing is left running. */
void over_stop(void);
/* It ends by itself with that status and words, and no daemon and no repairing
 * session is left. */
void over_ends(int status, const char *words);

/* Is this process alive (a zombie is not)? */
bool over_alive(int pid);

/* A program of the test's own in the background; ends with the test. */
void over_leave_behind(const char *script);

/* The tests of one group of the table, each with its row: the names must be
 * those of the table. Rows that fail without repairs are run a second time that
 * way (_i is 1 then). */
struct over_test {
	const char *row;
	const TTest *test;
};
Suite *
over_suite(const char *program, const struct over_test *tests, size_t count);

#endif
