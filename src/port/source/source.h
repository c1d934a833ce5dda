/* SPDX-License-Identifier: ISC */

/*
 * Where tasks come from, behind one interface:
 *
 *   command  any shell command that prints a task (source.c)
 *   files    a list of Claude Code's own task files (source-files.c)
 *   folder   a folder of text files, moved from todo/ through doing/ to done/
 *            or failed/ (source-folder.c)
 *
 * Each type is a row of a table (source-private.h). Callers use its flags and
 * texts, so that they need not compare types. source.h says which type
 * the settings choose.
 *
 * A task is taken in two steps. source_ask() offers one; the owner saves it;
 * source_take() takes it, so that it is not offered again. After a crash in
 * between the owner calls source_take() again. source_settle() says how it
 * ended. Taking or settling a second time has no effect.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include "task.h"
#include "work-record.h"

struct err;
struct json_object;
struct loop;
struct settings;
struct source;
struct source_kind;
struct source_todo;
struct task_head;
struct task_launch;
struct workspace;

enum source_type {
	SOURCE_COMMAND,
	SOURCE_FILES,
	SOURCE_FOLDER,
	SOURCE_TYPE_COUNT
};

enum {
	/* A task that was taken and not begun can be given back:
	 * source_settle() with OUTCOME_NONE. Otherwise each task is given once,
	 * and stays with its owner until it has an outcome. */
	SOURCE_KEEPS_CLAIMS = 1 << 0,
	/* source_add(), source_edit() and source_drop() work. Without it they
	 * say -ENOTSUP. */
	SOURCE_EDITABLE = 1 << 1,
	/* source_retry() works. Without it it says -ENOTSUP, and a task that
	 * has ended is known from its record only. */
	SOURCE_RETRIES = 1 << 2,
};

/* "command", "files", "folder": the name that is stored in a task. */
const char *source_type_name(enum source_type type);

/* False when no type has that name. */
bool source_type_parse(const char *name, enum source_type *ret_type);
unsigned source_type_flags(enum source_type type);

/* The setting that says where it is: "auto.tasks_dir". */
const char *source_type_setting(enum source_type type);

/* To be printed before the command or the folder: "the command: ". */
const char *source_type_origin(enum source_type type);

struct source_offer {
	const char *key; /* the source's own name for it */
	const char *title; /* NULL = from the text */
	const char *text;
	const char *label; /* NULL = none */
	enum priority priority;
	const char *landed_before; /* a commit; NULL = it is new */
	struct json_object *contract; /* borrowed; NULL = none */
	bool report; /* its result is a report, and no commit */
	const char *recovery; /* as in taskfile.h */
	const char *agent; /* likewise; NULL = any */
	const char *wants; /* the same; NULL = nothing */
	const char *maker, *sandbox; /* as in struct task; NULL = a person's */
	const struct task_launch *launch; /* NULL = as usual */
};

enum source_answer {
	SOURCE_OFFER,
	SOURCE_EMPTY, /* nothing now */
	SOURCE_FAILED, /* the source is broken: nothing can continue */
};

/* What went wrong, for failure.json. class: "task_pool_failed" (any exit status
 * but 0 and 4), "task_pool_claims" (3), "task_pool_timeout", "task_pool_text"
 * (not text, or too long), "task_source" (files or folder cannot be read). */
struct source_failure {
	const char *class;
	int status; /* exit status, -1 = none */
	const char *words; /* a sentence with the first lines of its output */
};

typedef void
source_fn(enum source_answer answer, const struct source_offer *offer,
    const struct source_failure *failure, void *arg);

struct source_options {
	struct loop *loop;
	enum source_type type;
	const char *where; /* the command, or the folder (absolute) */
	const char *cwd; /* of the command: the root */
	const char *run_dir; /* command: for its errands; made when missing */
	const char *log; /* command: task_pool.log, one record per call */
	int64_t timeout_ms; /* command */
	const char *owner; /* files, folder: who we are, unique for the root */
};

int source_new(const struct source_options *options, struct source **ret_source,
    struct err *err);

/* A running command continues; the next source with that run_dir finds it. */
void source_free(struct source *source);
const char *source_kind(const struct source *source); /* its type's name */
unsigned source_flags(const struct source *source);

/* Offer one task; labels: those in use (NULL terminated), keys: those that are
 * ours already (likewise) and are not offered again. One question at a time
 * (otherwise a fatal error). fn is called once, from the loop. */
void source_ask(struct source *source, const char *const *labels,
    const char *const *keys, source_fn *fn, void *arg);
bool source_asking(const struct source *source);

/* 0 = ours; -ESTALE = another owner has it, or it is gone; another negative
 * errno = try again later. worker is for people. */
int source_take(struct source *source, const char *key, const char *worker,
    struct err *err);

/* How it ended; OUTCOME_NONE gives it back. note is written beside a failed one
 * of the folder (<name>.why). It is no error if its file is gone. */
int source_settle(struct source *source, const char *key,
    enum task_outcome outcome, const char *note, struct err *err);

/* At the start: give back what we took and what is not among keys (NULL
 * terminated): no worker has it. Returns how many. */
int
source_recover(struct source *source, const char *const *keys, struct err *err);

/* Call fn when there may be something new (folder, files); a command never
 * does. */
int source_watch(
    struct source *source, void (*fn)(void *arg), void *arg, struct err *err);

/* Tasks that exist but cannot be used, one sentence each, for people; as of the
 * last source_ask(). NULL terminated, owned by the source. */
const char *const *source_quarantined(const struct source *source);

/* --- what people do with it ------------------------------------------- */

/* Add a task, behind those of its priority that wait. *ret_key, *ret_path (the
 * file that it is in): owned by the caller, each may be NULL. -EINVAL for a
 * text that can be no task. */
int source_add(struct source *source, const struct task_head *head,
    const char *prompt, char **ret_key, char **ret_path, struct err *err);

/* The worker whose agent added it, for the caller to free, and the sandbox that
 * was in; NULL = a person did, or that is not known. */
char *
source_maker(struct source *source, const char *key, enum box_mode *ret_box);

/* How many tasks that this worker's agent has added it still offers. */
size_t source_made(struct source *source, const char *maker);

/* Have a task that failed, or is done, wait again. commit: what it landed as,
 * for its next worker; NULL = it did not land, or as an unknown one. -ENOENT
 * when there is no such task, -EBUSY for one that a worker has, and -EALREADY
 * for one that waits. */
int source_retry(struct source *source, const char *key, const char *commit,
    struct err *err);

/* Change how soon a task that waits, has failed, or is ours is wanted. -EBUSY
 * for one that another owner has. */
int source_prioritize(struct source *source, const char *key,
    enum priority priority, struct err *err);

/* Remove one that waits or has failed; its file goes to trash/. -ENOENT, -EBUSY
 * as above. */
int source_drop(struct source *source, const char *key, struct err *err);

/* Replace the text of one that waits or has failed, as source_text() has it, in
 * one step. -ESTALE if it is not `before` any more, -ENOENT, -EBUSY as
 * above. */
int source_edit(struct source *source, const char *key, const char *before,
    const char *prompt, struct err *err);

/* --- looking only, without a source ------------------------------------ */

/* All tasks: [{key, title, status, owner?, worker?, label?, priority?,
 * problem?}], status todo, doing, done or failed. done and failed: the newest
 * `limit` of each (0 = all). The caller owns it; NULL on failure. For a command
 * nothing is known: the list is empty. */
struct json_object *source_list(
    enum source_type type, const char *where, size_t limit, struct err *err);

/* The text of one task of that list; the caller frees it. NULL if it cannot be
 * read. */
char *source_text(enum source_type type, const char *where, const char *key,
    const char *status);

/* How many wait, without reading them; -1 = unknown. */
int64_t source_count_todo(enum source_type type, const char *where);

extern const struct source_kind source_command;

struct source_choice {
	struct source_options options; /* without loop; strings below */
	char *where, *run_dir, *log, *owner;
};

/* root_id: of the state; NULL if the source is only shown, then options.owner
 * is NULL. settings and workspace stay the caller's and must outlive the
 * choice. */
void source_choice_init(struct source_choice *choice,
    const struct settings *settings, const struct workspace *workspace,
    const char *root_id);
void source_choice_release(struct source_choice *choice);

#define cleanup_source_choice __attribute__((cleanup(source_choice_release)))
#define SOURCE_TODO_MAX       200 /* rows */

/* Nothing is read before it is asked for. */
struct source_todo *source_todo_new(void);
void source_todo_free(struct source_todo *todo);

/* Fill the section "todo" (rows {key, title, status, priority, label, problem,
 * rank}, wanted by rank and then by name), and "todo" in the head: how many
 * there are, null = unknown. */
void source_todo_fill(struct source_todo *todo, const struct settings *settings,
    const struct workspace *workspace, struct json_object *view);

/* One of them has changed: read them again. */
void source_todo_refresh(struct source_todo *todo);

/* The folder that they are in; the caller frees it. NULL = there is none. */
char *source_todo_folder(
    const struct settings *settings, const struct workspace *workspace);

#endif
