/* SPDX-License-Identifier: ISC */

/*
 * What all types of task sources share, private to source*.c: the row of the
 * table that says what a type does, and the question that is being answered.
 */
#ifndef SOURCE_PRIVATE_H
#define SOURCE_PRIVATE_H

#include "source.h"
#include "work-record.h"

struct buf;
struct err;
struct folder_rank;
struct json_object;
struct source_kind;
struct stat;
struct task_head;

#define SOURCE_SETTLED_MS 200 /* a file that rests so long is complete */

struct folder_order;

struct source {
	const struct source_kind *kind;
	struct loop *loop;
	char *where, *owner;
	source_fn *fn; /* NULL = no request */
	void *arg;
	char **labels, **keys; /* of the question: strv */
	struct loop_call *call; /* look now */
	struct loop_timer *timer; /* for the next look; NULL = none planned */
	int64_t pause_ms; /* before the next look */
	char **quarantined; /* strv */
};

/* Each function as the one of that name in source.h. */
struct source_kind {
	const char *name;
	const char *setting;
	const char *origin;
	const char *elsewhere; /* "tasks come from ..."; if not editable: where
				* people change tasks */
	unsigned flags;
	size_t size; /* of its struct, whose first member is a struct source */
	int (*open)(struct source *source, const struct source_options *options,
	    struct err *err);
	void (*close)(struct source *source);
	/* Find an answer; called from the loop. Calls source_base_answer()
	 * once, or source_base_look_later(), which leads to another call. */
	void (*ask)(struct source *source);
	int (*take)(struct source *source, const char *key, const char *worker,
	    struct err *err);

	/* If these are NULL, nothing is done, or nothing is known. */
	int (*settle)(struct source *source, const char *key,
	    enum task_outcome outcome, const char *note, struct err *err);
	int (*recover)(
	    struct source *source, const char *const *keys, struct err *err);
	int (*watch)(struct source *source, void (*fn)(void *arg), void *arg,
	    struct err *err);
	struct json_object *(*list)(
	    const char *where, size_t limit, struct err *err);
	char *(*text)(const char *where, const char *key, const char *status);
	int64_t (*count_todo)(const char *where);
	/* Where free tasks are, below the folder; NULL with todo. */
	const char *todo_part;
	/* The first of them, in their order, as list() has them, and how many
	 * there are. order: kept from one call to the next. */
	struct json_object *(*todo)(const char *where,
	    struct folder_order *order, size_t most, int64_t *ret_count);

	/* NULL where the source alone decides. */
	int (*prioritize)(struct source *source, const char *key,
	    enum priority priority, struct err *err);

	/* Where the flags have SOURCE_RETRIES, else NULL. */
	int (*retry)(const char *where, const char *key, const char *commit,
	    struct err *err);

	/* All where the flags have SOURCE_EDITABLE, else none. */
	int (*add)(const char *where, const struct task_head *head,
	    const char *prompt, char **ret_key, char **ret_path,
	    struct err *err);
	char *(*maker)(
	    const char *where, const char *key, enum box_mode *ret_box);
	size_t (*made)(const char *where, const char *maker);
	int (*drop)(const char *where, const char *key, struct err *err);
	int (*edit)(struct source *source, const char *key, const char *before,
	    const char *prompt, struct err *err);
};

/* Answer the question. The owner may free the source in its callback: do not
 * use it afterwards. */
void source_base_answer(struct source *source, enum source_answer answer,
    const struct source_offer *offer, const struct source_failure *failure);

/* What the head of a task says about it; the contract is the caller's. */
void source_base_read_head(const struct task_head *head,
    struct source_offer *offer, struct json_object **ret_contract);

/* SOURCE_FAILED, "task_source". */
void source_base_fail(struct source *source, const struct err *err);

/* Ask the type, if there is a question; the source is arg. */
void source_base_look(void *arg);
/* Ask it again after SOURCE_SETTLED_MS, and later each time. */
void source_base_look_later(struct source *source);

void source_base_quarantine(struct source *source, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Did the task land, or was there nothing to do? */
bool source_base_is_done(enum task_outcome outcome);

/* Is it a lack of descriptors or memory, which says nothing about a file? */
bool source_base_is_shortage(int error);

/* One line of a task's text, as its title; the caller frees it. */
char *source_base_title(const char *text);

/* The other types: source-files.c, source-folder.c. */
extern const struct source_kind source_files;
extern const struct source_kind source_folder;

/*
 * folder.c: the folder of text files that is a task source: its folders, what
 * counts as a task, moves that overwrite nothing, and notes of who took what.
 *
 *   <where>/todo/      what waits
 *   <where>/doing/     what is being worked on; .<hash>.by names the owner
 *   <where>/done/      what landed
 *   <where>/failed/    what did not, with <name>.why
 *   <where>/trash/     what a person removed
 *   <where>/.llmc.lock held while a task is taken
 */

enum folder_place {
	FOLDER_TODO,
	FOLDER_DOING,
	FOLDER_DONE,
	FOLDER_FAILED,
	FOLDER_TRASH,
	FOLDER_PLACE_COUNT
};

const char *folder_place_name(enum folder_place place); /* "todo" */
int folder_make(const char *where, struct err *err);

/* Paths; the caller frees. */
char *folder_path(const char *where, enum folder_place place, const char *name);
char *
folder_why_path(const char *where, enum folder_place place, const char *name);

/* May a task have this name? Not if it is hidden, temporary or a note. */
bool folder_is_task(const char *name);

/* The names of everything that could be a task (strv): in natural order (2
 * before 10), or the newest arrivals first. A missing folder counts as
 * empty. */
int folder_names(const char *where, enum folder_place place, bool newest_first,
    char ***ret_names, struct err *err);

bool folder_has(const char *where, enum folder_place place, const char *name);

/* The head of the task, and its prompt, cleaned and appended to text. */
enum folder_reading {
	FOLDER_READ,
	FOLDER_GONE,
	FOLDER_UNSETTLED, /* it changed while it was read */
	FOLDER_PROBLEM, /* words say what is wrong with it */
	FOLDER_SHORTAGE, /* we cannot read now */
};

enum folder_reading
folder_read(const char *where, enum folder_place place, const char *name,
    struct task_head *head, struct buf *text, struct buf *words);

/* False if the file may still be being written: then what was read just before
 * may be only a part. */
bool
folder_is_settled(const char *where, enum folder_place place, const char *name);

/* Move a file; it is on the disk when this returns. If the name is taken there,
 * it gets another one, *ret_name (may be NULL, owned by the caller). -ENOENT if
 * it does not exist. */
int folder_move(const char *where, enum folder_place from, const char *name,
    enum folder_place to, char **ret_name, struct err *err);

/* The same for a file at path, with the name it should get. */
int folder_move_in(const char *path, const char *where, enum folder_place to,
    const char *name, char **ret_name, struct err *err);

/* With exactly that name, or -EEXIST. */
int folder_move_exact(const char *where, enum folder_place from,
    enum folder_place to, const char *name, struct err *err);

/* Who took a task in doing/: {task, owner, worker}; NULL = unknown. */
struct json_object *folder_note_load(const char *where, const char *name);
int folder_note_save(const char *where, const char *name, const char *owner,
    const char *worker, struct err *err);
void folder_note_remove(const char *where, const char *name);

/* Remove the notes of owner whose task is gone. */
void folder_notes_sweep(const char *where, const char *owner);

struct folder_order {
	struct folder_rank *at; /* in natural order of the names */
	size_t count;
};

/* What the head of this file says; without reading its prompt. */
void folder_head_read(const char *path, struct task_head *ret_head);

/* names: those of todo/, in natural order; they are put into the order of the
 * tasks: those of people, then those that agents have added, each by priority.
 * A file that cannot be read has the default priority. */
void
folder_order_sort(struct folder_order *order, const char *where, char **names);
void folder_order_release(struct folder_order *order);

#define cleanup_folder_order __attribute__((cleanup(folder_order_release)))

#endif
