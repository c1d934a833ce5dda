/* SPDX-License-Identifier: ISC */

/*
 * A run of auto mode for tests, on top of fleet.h: tasks, `llmc up --auto` in
 * the foreground with its output in a file, the files it wrote, and how it
 * ended. fleet_end() ends it in any case; so does the guard process of
 * fleet_begin(), if the test is killed.
 *
 * Functions that wait in vain fail the test, with the end of the daemon's
 * log. Returned JSON is valid until the test program ends.
 */
#ifndef AUTORUN_H
#define AUTORUN_H

#include "fleet.h"

struct json_object;

/* --- before the run --------------------------------------------------- */

/* Add a file to .llmc/tasks/todo, atomically by rename. */
void auto_task(const char *name, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Set a shell script as task_pool_command; it runs in the root, and $POOL is a
 * folder where it can keep files. */
void auto_pool(const char *script);
/* A setting: auto_set("auto.concurrency", "2"). */
void auto_set(const char *key, const char *value);
/* Replace constants ("slice=100 slice_tools=1") of programs that start from now
 * on, and of a daemon that reads a change of the settings. */
void auto_tune(const char *tuning);

/* Steps that the agent runs after those of every prompt, starting with its next
 * one ("" = none): used to break it. Call it before the first run; may be
 * changed later. */
void auto_ails(const char *steps);

/* A gate: a shell command that reports that it was reached, and waits (a minute
 * at most) until the test opens the gate. As a step of an agent: "fake: run
 * %s". */
const char *auto_gate(const char *name);
/* The folder that a sandboxed agent must be able to write to for that. */
const char *auto_gates(void);
void auto_wait_gate(const char *name);
void auto_open_gate(const char *name);

/* --- the run ---------------------------------------------------------- */

/* `llmc up --auto` with these arguments, which end with NULL; returns when it
 * is registered and has written a heartbeat. */
void auto_up(const char *arg, ...);
/* The same without waiting. */
void auto_launch(const char *arg, ...);
/* Launch, wait for the end, return the exit status. */
int auto_run(const char *arg, ...);

/* Send a signal to the foreground program. */
void auto_signal(int signo);
/* The exit status (128 + signal if it was killed by one). */
int auto_wait_exit(void);
bool auto_has_ended(void);
/* Send SIGINT once; it must exit with 0. */
void auto_drain(void);
/* SIGKILL to the daemon; returns when it and the foreground program are
 * gone. */
void auto_kill9_daemon(void);
/* Its last output. */
const char *auto_output(void);

/* --- files it wrote ---------------------------------------------------- */

/* Events in auto.log of this type (NULL: any) with these words in the line
 * (NULL: any): the number of them, and wait until there are that many. */
int auto_events(const char *type, const char *words);
void auto_wait_event(const char *type, const char *words);
void auto_wait_events(const char *type, const char *words, int count);

/* Number of lines in .llmc/logs/<log> with these words. */
int auto_logged(const char *log, const char *words);
void auto_wait_logged(const char *log, const char *words);
/* No WARN and no ERROR in autod.log. */
void auto_no_complaints(void);

/* The state, failure.json (NULL: none) and auto.heartbeat. */
struct json_object *auto_state(void);
struct json_object *auto_failure(void);
struct json_object *auto_heartbeat(void);
/* There is a failure of this class with these words (NULL: any). */
void auto_failed(const char *class, const char *words);
/* The text of the member at a path such as "tasks.0.step", "" = none. */
const char *auto_member(struct json_object *json, const char *path);
/* Replace the state while no daemon runs. */
void auto_put_state(struct json_object *state);
/* Wait until that member of the state has this text. */
void auto_wait_state(const char *path, const char *text);

/* Number of finished tasks with this outcome (NULL: any). */
int auto_finished(const char *outcome);
void auto_wait_finished(const char *outcome, int count);
/* The file names in a folder of .llmc/tasks ("done"), sorted, one per line. */
const char *auto_folder(const char *name);

/* --- git ---------------------------------------------------------------- */

/* Number of commits on main since the first run began. */
int auto_landed(void);
void auto_wait_landed(int count);
/* History is linear, and each of these subjects (which end with NULL) is on
 * main exactly once. */
void auto_history(const char *subject, ...) __attribute__((sentinel));

/* Work of a worker was saved: a salvage ref has this file. */
void auto_salvaged(const char *worker, const char *file);

/* Wait until the script, run in the root, succeeds. */
void auto_wait_shell(const char *script);
/* No tmux session is left, and no process that we know of. */
void auto_no_sessions(void);

#endif
