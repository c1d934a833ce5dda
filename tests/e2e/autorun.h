/* SPDX-License-Identifier: ISC */

/*
 * A run of auto mode for tests, on top of fleet.h: tasks, `llmc up --auto` in
 * the foreground with its output in a file, what it wrote down, and how it
 * ended. fleet_end() ends it whatever happened; so does the guard that
 * fleet_begin() leaves behind, should the test be killed.
 *
 * What waits fails the test after 40 s, with the end of the daemon's log.
 * JSON that is returned lives until the test program ends.
 */
#ifndef AUTORUN_H
#define AUTORUN_H

#include <stdbool.h>

#include "fleet.h"

struct json_object;

/* --- before it runs --------------------------------------------------- */

/* A file of that name into .llmc/tasks/todo: written aside, renamed in. */
void auto_task(const char *name, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A shell script as task_pool_command; it is run in the root, and $POOL is a
 * folder of its own for what it wants to remember. */
void auto_pool(const char *script);
/* A setting: auto_set("auto.concurrency", "2"). */
void auto_set(const char *key, const char *value);

/* Steps that the agent plays behind those of every prompt, from its next one on
 * ("" = none): how it is broken. Before the first run; may change later. */
void auto_ails(const char *steps);

/* A gate: shell words that say that they are there and wait (a minute at most)
 * until the test opens it. As a step of an agent: "fake: run %s". */
const char *auto_gate(const char *name);
void auto_wait_gate(const char *name);
void auto_open_gate(const char *name);

/* --- the run ---------------------------------------------------------- */

/* `llmc up --auto` with these arguments, which end with NULL; returns when it
 * is registered and its heart has beaten. */
void auto_up(const char *arg, ...);
/* The same without waiting for anything. */
void auto_launch(const char *arg, ...);
/* From the beginning to the end: launch, wait, the exit status. */
int auto_run(const char *arg, ...);

/* A signal to the program that was started in the foreground. */
void auto_signal(int signo);
/* The exit status (128 + signal for a death by one). */
int auto_wait_exit(void);
bool auto_has_ended(void);
/* First SIGINT, and it must end with 0. */
void auto_drain(void);
/* SIGKILL to the daemon; returns when it is gone and so is what waited for it.
 */
void auto_kill9_daemon(void);
/* What it has printed last. */
const char *auto_output(void);

/* --- what it wrote down ------------------------------------------------ */

/* Events of auto.log of this type (NULL: any) with these words anywhere in the
 * line (NULL: any): how many, and wait until there are that many. */
int auto_events(const char *type, const char *words);
void auto_wait_event(const char *type, const char *words);
void auto_wait_events(const char *type, const char *words, int count);

/* Lines of .llmc/logs/<log> with these words. */
int auto_logged(const char *log, const char *words);
void auto_wait_logged(const char *log, const char *words);
/* Nothing for anybody to act on: no WARN and no ERROR in autod.log. */
void auto_no_complaints(void);

/* state.json, failure.json (NULL: there is none) and auto.heartbeat. */
struct json_object *auto_state(void);
struct json_object *auto_failure(void);
struct json_object *auto_heartbeat(void);
/* There is a failure of this class with these words (NULL: any). */
void auto_failed(const char *class, const char *words);
/* Members on the way, as in "tasks.0.step"; the text of the value, "" = none.
 */
const char *auto_member(struct json_object *json, const char *path);
/* Instead of what it is; nobody runs, or is to find out. */
void auto_put_state(struct json_object *state);
/* Until that member of state.json has this text. */
void auto_wait_state(const char *path, const char *text);

/* Tasks that have their outcome (tasks.jsonl): with it (NULL: any). */
int auto_finished(const char *outcome);
void auto_wait_finished(const char *outcome, int count);
/* The names in a folder of .llmc/tasks ("done"), sorted, a line each. */
const char *auto_folder(const char *name);

/* --- what git says ------------------------------------------------------ */

/* Commits on main beyond those when the first run began. */
int auto_landed(void);
void auto_wait_landed(int count);
/* History is a line, and each of these subjects is on main exactly once (ends
 * with NULL). */
void auto_history(const char *subject, ...) __attribute__((sentinel));

/* What a worker left behind was saved: a salvage ref has this file. */
void auto_salvaged(const char *worker, const char *file);

/* Until the script, run in the root, succeeds. */
void auto_wait_shell(const char *script);
/* No session of tmux's is left, and no process that we know of. */
void auto_no_sessions(void);

#endif
