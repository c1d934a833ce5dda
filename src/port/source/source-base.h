/* SPDX-License-Identifier: ISC */

/*
 * What all types of task sources share, private to source*.c: the row of the
 * table that says what a type does, and the question that is being answered.
 */
#ifndef SOURCE_BASE_H
#define SOURCE_BASE_H

#include "source.h"

#define SOURCE_SETTLED_MS 200 /* a file that rests so long is complete */

struct folder_order;

struct source {
	const struct source_kind *kind;
	struct loop *loop;
	char *where, *owner;
	source_fn *fn; /* NULL = nobody is asking */
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
	/* Where those are that nobody has taken, below the folder; NULL with
	 * todo. */
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
	char *(*maker)(const char *where, const char *key);
	int (*drop)(const char *where, const char *key, struct err *err);
	int (*edit)(struct source *source, const char *key, const char *before,
	    const char *prompt, struct err *err);
};

const struct source_kind *source_kind_of(enum source_type type);

/* The part that all types share; the memory is the caller's. */
void source_base_init(struct source *source, const struct source_kind *kind,
    const struct source_options *options);
void source_base_release(struct source *source);

/* The question, as in source.h. */
void source_base_ask(struct source *source, const char *const *labels,
    const char *const *keys, source_fn *fn, void *arg);

/* Answer it. The owner may free the source in its callback: do not use it
 * afterwards. */
void source_base_answer(struct source *source, enum source_answer answer,
    const struct source_offer *offer, const struct source_failure *failure);

/* SOURCE_FAILED, "task_source". */
void source_base_fail(struct source *source, const struct err *err);

/* Ask the type again after SOURCE_SETTLED_MS, and later each time. */
void source_base_look_later(struct source *source);

void source_base_quarantine(struct source *source, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Is it in the list? NULL is an empty list. */
bool source_base_has(const char *const *list, const char *key);
/* Is it among the keys of the question? */
bool source_base_is_ours(const struct source *source, const char *key);

/* Did the task land, or was there nothing to do? */
bool source_base_is_done(enum task_outcome outcome);

/* Is it a lack of descriptors or memory, which says nothing about a file? */
bool source_base_is_shortage(int error);

/* One line of a task's text, as its title; the caller frees it. */
char *source_base_title(const char *text);

#endif
