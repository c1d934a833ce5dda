/* SPDX-License-Identifier: ISC */

/*
 * A run of the overseer for tests, on top of autorun.h: `llmc overseer` in the
 * background with its output in a file, real autod, tmux and git, and the fake
 * agent for workers and repairs. over_end() ends everything by pid, in any
 * case; so does a guard process, if the test is killed.
 *
 * Functions that wait in vain fail the test, with the overseer's output.
 */
#ifndef OVERRUN_H
#define OVERRUN_H

#include "autorun.h"
#include "failure-table.h"

/* Exit statuses of the overseer: overseer(8). */
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

/* Like e2e_hurry(); the limits for other programs stay the same, so set other
 * limits after it. */
void over_hurry(int times);

/* A shell script that the agent runs in the worktrees at the end of every turn,
 * and that a repair can remove: over_remove_culprit() is the step for that. */
void over_culprit(const char *script);
const char *over_remove_culprit(void);

/* Steps of the repairing agent. With `off` (_i of a loop test: 1) there is no
 * repair, and the second failure of a kind ends the overseer. */
void over_remedy(int off, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

void over_start(void);
/* The same with its output there; over_output() has none then. */
void over_start_on(const char *output);
/* The same with arguments, which end with NULL; waits for the end and returns
 * the status. */
int over_run(const char *arg, ...);
void over_signal(int signo);
bool over_has_ended(void);
int over_wait_exit(void);
int over_pid(void);
/* SIGKILL; the daemon stays. */
void over_kill9(void);

/* Its output so far; wait until it contains this (that often). */
const char *over_output(void);
void over_wait_says(const char *words);
void over_wait_says_times(const char *words, int times);

/* A WARN of this daemon in its log: a failure that is repaired. The history has
 * it with the words OVER_COMPLAINT. */
#define OVER_COMPLAINT "made up by a test"
void over_complain(int daemon);
/* SIGKILL to the daemon, and to the one after it: the first is only started
 * again, the second is repaired. Returns the pid of the second. */
int over_kill_twice(void);

/* Wait until a daemon is registered and alive that is not the one with that pid
 * (0: any); returns its pid. */
int over_daemon(int before);
/* Number of daemons of this root, according to /proc; *ret_pid is one of
 * them. */
int over_count_daemons(int *ret_pid);
/* Its instance id. */
const char *over_instance(void);
/* The text of a member of overseer.json, like auto_member(). */
const char *over_member(const char *path);

/* Number of lines in failures.jsonl of that kind with those words (NULL:
 * any). */
int over_remembered(const char *kind, const char *words);
/* So many are there, or at least so many, as soon as they are written. */
void over_remembers(const char *kind, const char *words, int count);
void over_remembers_least(const char *kind, const char *words, int count);

/* It repaired a failure of this class or verdict, and runs another daemon than
 * `before`. Returns false if repairs are off: then it has exited because of a
 * spiral, landed nothing and left nothing running. */
bool over_recovers(int off, const char *failure, int before);
/* Nothing happened: the same daemon, no failure, no repair. */
void over_undisturbed(int daemon);
/* Ctrl-C: status 0, and nothing is left running. */
void over_stop(void);
/* When work.txt has landed: stop it, and expect nothing else. */
void over_finish(void);
/* It exits by itself with that status and words, and no daemon and no repairing
 * session is left. */
void over_ends(int status, const char *words);

/* Is this process alive (a zombie is not)? */
bool over_alive(int pid);

/* Run a program in the background; ends with the test. */
void over_leave_behind(const char *script);

/* The tests of one group of the table, each with its row: the names must be
 * those of the table. Of the rows that fail without repairs, the first is also
 * run that way (_i is 1 then), in the soak all of them. */
struct over_test {
	const char *row;
	const TTest *test;
};
Suite *
over_suite(const char *program, const struct over_test *tests, size_t count);

#endif
