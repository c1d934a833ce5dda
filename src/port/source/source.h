/* SPDX-License-Identifier: ISC */

/*
 * Where tasks come from, behind one interface:
 *
 *   command  any shell command that prints a task (source-command.c)
 *   files    a list of Claude Code's own task files (source-files.c)
 *   folder   a folder of text files, moved from todo/ through doing/ to done/
 *            or failed/ (source-folder.c)
 *
 * A task changes hands in two steps. source_ask() offers one; the owner writes
 * it down; source_take() takes it, so that it is offered to nobody else. After
 * a crash in between the owner calls source_take() again. source_settle() tells
 * how it ended. Taking and settling twice does nothing more.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "task.h"

struct err;
struct json_object;
struct loop;
struct source;

struct source_offer {
	const char *key; /* the source's own name for it */
	const char *title; /* NULL = from the text */
	const char *text;
	const char *label; /* NULL = none */
	int priority;
};

enum source_answer {
	SOURCE_OFFER,
	SOURCE_EMPTY, /* nothing now */
	SOURCE_FAILED, /* the source is broken: nobody can go on */
};

/* What went wrong, for failure.json. class: "task_pool_failed" (any exit status
 * but 0 and 4), "task_pool_claims" (3), "task_pool_timeout", "task_pool_text"
 * (not text, or too long), "task_source" (files or folder cannot be read). */
struct source_failure {
	const char *class;
	int status; /* exit status, -1 = none */
	const char *words; /* a sentence with the first lines it said */
};

typedef void
source_fn(enum source_answer answer, const struct source_offer *offer,
    const struct source_failure *failure, void *arg);

struct source_options {
	struct loop *loop;
	const char *kind; /* "command", "files", "folder" */
	const char *where; /* the command, or the folder (absolute) */
	const char *cwd; /* of the command: the root */
	const char *run_dir; /* command: for its errands; made when missing */
	const char *log; /* command: task_pool.log, a record each call */
	int64_t timeout_ms; /* command */
	const char *owner; /* files, folder: who we are, unique for the root */
};

int source_new(const struct source_options *options, struct source **ret_source,
    struct err *err);
/* A command that runs goes on; the next source of that run_dir finds it. */
void source_free(struct source *source);
const char *source_kind(const struct source *source);

/* Offer one task; labels: those in use (NULL terminated), keys: those that are
 * ours already (likewise) and are not offered again. One question at a time (a
 * broken invariant else). fn comes once, from the loop. */
void source_ask(struct source *source, const char *const *labels,
    const char *const *keys, source_fn *fn, void *arg);
bool source_asking(const struct source *source);
/* End a command that runs: fn comes, with SOURCE_EMPTY. */
void source_cancel(struct source *source);

/* 0 = ours; -ESTALE = somebody else has it, or it is gone; another negative
 * errno = try again later. worker is for people. */
int source_take(struct source *source, const char *key, const char *worker,
    struct err *err);

/* How it ended; OUTCOME_NONE gives it back. note goes beside a failed one of
 * the folder (<name>.why). A file that is gone meanwhile is no error. */
int source_settle(struct source *source, const char *key,
    enum task_outcome outcome, const char *note, struct err *err);

/* At the start: what was taken by us and is not among keys (NULL terminated)
 * is given back: nobody works on it. Returns how many. */
int
source_recover(struct source *source, const char *const *keys, struct err *err);

/* fn when there may be something new (folder, files); a command never tells. */
int source_watch(
    struct source *source, void (*fn)(void *arg), void *arg, struct err *err);

/* Tasks that are there but cannot be used, in words, one each: for people.
 * Since the last source_ask(). NULL terminated, the source's. */
const char *const *source_quarantined(const struct source *source);

/* --- for llmc task ---------------------------------------------------- */

/* Every task that a folder or list of files has: [{key, title, status, owner?,
 * worker?, label?, priority?, problem?}], status todo, doing, done or failed.
 * Pure reading. done and failed: the newest `limit` of each (0 = all). The
 * caller owns it; NULL on failure. A command has none. */
struct json_object *
source_list(const char *kind, const char *where, size_t limit, struct err *err);

/* The folder: put a task into todo/ (numbered, so that later ones come later),
 * take a failed one back to todo/ (-ENOENT), remove one of todo/ or failed/
 * (to trash/, nothing is deleted). -EBUSY for one that a worker has.
 * *ret_key: owned by the caller, may be NULL. */
int source_folder_add(
    const char *where, const char *text, char **ret_key, struct err *err);
int source_folder_retry(const char *where, const char *key, struct err *err);
int source_folder_drop(const char *where, const char *key, struct err *err);

#endif
