/* SPDX-License-Identifier: ISC */

/*
 * A test bed for one agent, fake or real: a scratch repository, a private HOME
 * without first-run dialogs, its own tmux server, and a recorder for every
 * hook. The agent is driven as a supervisor would drive it.
 *
 * If something does not happen in time, the running test fails, with the screen
 * in the message. Only one bed at a time; bed_free() leaves no process.
 */
#ifndef BED_H
#define BED_H

#include "unit.h"

struct bed;
struct json_object;

#define BED_WAIT_MS 20000

/* env: "K=V" for the agent, NULL terminated, may be NULL. api: the path of the
 * stub of the API, which is started; may be NULL. */
struct bed *bed_new(const char *agent, const char *api, const char *const *env);
void bed_free(struct bed *bed);
void bed_cleanup(struct bed **bed);
#define cleanup_bed ended_by(bed_cleanup)

const char *bed_repo(const struct bed *bed);
const char *bed_home(const struct bed *bed);
/* A file in the recorder's folder, which the agent knows as $HOOK_RECORD. */
const char *bed_path(struct bed *bed, const char *name);

/* Start the agent in a pane, with --settings and the like, in bypass mode
 * unless args name another; args end with NULL. */
void bed_start(struct bed *bed, const char *const *args);
const char *bed_session(const struct bed *bed); /* --session-id given to it */

/* Paste in brackets and press Enter, in a way that was found to be safe. */
void bed_paste(struct bed *bed, const char *text);
void bed_paste_only(struct bed *bed, const char *text); /* no Enter */
void bed_key(struct bed *bed, const char *key); /* by tmux's name */
/* Press it again and again while this is the status: a dialog that has just
 * appeared may miss the first one. */
void bed_press_while(struct bed *bed, const char *key, const char *status);
void bed_signal(struct bed *bed, int signo);

/* Set the next answer to a hook of that event. */
void bed_answer(struct bed *bed, const char *event, const char *json);

/* The next event of that name after the last one waited for. Belongs to the
 * bed. */
struct json_object *bed_wait(struct bed *bed, const char *event);
/* Wait until SessionStart was recorded, but leave it for bed_wait(). */
void bed_wait_session(struct bed *bed);
void bed_wait_status(struct bed *bed, const char *status);
void bed_wait_file(struct bed *bed, const char *name); /* see bed_path */
void bed_wait_screen(struct bed *bed, const char *text);
int bed_wait_gone(struct bed *bed); /* exit status, 128 + signal */
bool bed_alive(const struct bed *bed);

/* All events so far. */
size_t bed_event_count(struct bed *bed);
struct json_object *bed_event(struct bed *bed, size_t index);
/* Their names, separated by blanks; the caller frees it. */
char *bed_event_names(struct bed *bed);

/* Run a shell command in the repository; it must succeed. Returns its output
 * without the final newline, owned by the caller. */
char *bed_shell(struct bed *bed, const char *command);

/* All lines of a JSONL file as an array, owned by the caller. Empty if there is
 * no file. */
struct json_object *bed_lines(const char *path);

#endif
