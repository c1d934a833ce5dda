/* SPDX-License-Identifier: ISC */

/*
 * For tests of what users see of auto mode: a workspace, files in it as the
 * daemon leaves them, and commands that read them.
 */
#ifndef SHOWN_H
#define SHOWN_H

#include "base.h"
#include "e2e.h"
#include "state.h"
#include "task.h"

extern const char *shown_root; /* of the running test */
void shown_setup(void);

/* Run llmc with one to three words; it must succeed without a message. */
struct e2e_run *
shown_must(const char *command, const char *first, const char *second);
/* It must fail with these words. */
void shown_fails(const char *words, const char *command, const char *first,
    const char *second);
/* The JSON output of a command, which must match its schema. */
struct json_object *
shown_json(const char *command, const char *first, const char *second);
/* llmc config set, which must succeed. */
void shown_set(const char *key, const char *value);
const char *shown_member(struct json_object *value, const char *key);
const char *shown_file(const char *name); /* of .llmc */
int64_t shown_now(void); /* seconds */

/* A state in which auto-1 works on t3, and t4 waits; written and released. */
void shown_fill_state(struct state *state);
void shown_save(struct state *state);

/* A task that ended an hour ago, owned by the caller; add it to those that
 * have ended. */
struct task *shown_ended(const char *id, const char *key,
    enum task_outcome outcome, const char *reason);
void shown_append_ended(const struct task *task);
void shown_append_new(const char *id, const char *key,
    enum task_outcome outcome, const char *reason);

/* Add a file to a folder of tasks, old enough that nobody still writes it. */
void shown_put_task(const char *folder, const char *name, const char *text);

#endif
